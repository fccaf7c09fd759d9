//! Matches that a team asks for: drafts and challenges. None is rated.

use agon_api::{Asked, Challenge, DraftQuery};
use agon_server::{Drafted, Wish};
use agon_store::acts::{self, AskedBot};
use agon_store::names::likeness;
use agon_store::reads::Eyes;
use agon_store::{EntrantId, MatchId, MatchState, Time, VersionId};
use axum::Json;
use axum::body::Body;
use axum::http::StatusCode;

use crate::api::read::{ReadQuery, Sent};
use crate::api::versions::{received, unfit};
use crate::gate::Visit;
use crate::incoming::UploadedBody;
use crate::problem::Refused;
use crate::rights::Object;
use crate::secrets;
use crate::site::Shown;

/// Tries out the file that was sent.
pub async fn draft(
    ask: Visit,
    ReadQuery(asked): ReadQuery<DraftQuery>,
    body: Body,
) -> Result<Json<Asked>, Refused> {
    let against = against(&ask, asked.against.as_deref(), asked.against_version).await?;
    let (UploadedBody { file, place }, team, _) = received(&ask, body).await?;
    let wish = wish(team, against, (asked.map, asked.seed, asked.seat))?;
    let drafted = ask.site.server.draft(&wish, &asked.name, file, ask.now).await?;
    drop(place);
    let own = match drafted {
        Drafted::Kept(own) => own,
        Drafted::Refused(cause) => return Err(unfit(cause)),
        Drafted::TooMany(at) => return Err(too_many(&ask, at)),
        Drafted::Full(at) => return Err(too_full(&ask, at)),
        Drafted::NotThere => return Err(not_there()),
    };
    plan(&ask, own, wish).await
}

/// Makes a version play.
pub async fn challenge(ask: Visit, Sent(asked): Sent<Challenge>) -> Result<Json<Asked>, Refused> {
    let Object::Team(team) = ask.object else { return Err(Refused::nothing()) };
    let own = match asked.version {
        Some(version) => VersionId(version),
        None => {
            let found = ask.site.store().entrant(team).await?;
            found.and_then(|team| team.live).ok_or_else(|| {
                Refused::wrong(
                    "No version of the team is live: name one with `version`, or try a bot out as a draft.",
                )
            })?
        }
    };
    let seed = asked.seed.as_deref().map(str::parse::<i64>).transpose();
    let seed = seed.map_err(|_| Refused::wrong("`seed` is a whole number of 64 bits, as a string."))?;
    let against = against(&ask, asked.against.as_deref(), asked.against_version).await?;
    let wish = wish(team, against, (asked.map, seed, asked.seat))?;
    plan(&ask, AskedBot::Version(own), wish).await
}

/// The state of a match that was asked for.
pub async fn one(ask: Visit) -> Result<Json<Asked>, Refused> {
    let team = ask.whoever()?.team.ok_or_else(Refused::nothing)?;
    Ok(Json(found(&ask, team, MatchId(ask.id)).await?))
}

async fn found(ask: &Visit, team: EntrantId, id: MatchId) -> Result<Asked, Refused> {
    let store = ask.site.store();
    // With the eyes of the team, which may have been made just now, so that the caller does not know of it yet.
    let asked = store.asked(team, id).await?.ok_or_else(Refused::nothing)?;
    let game = store.one_match(Eyes::Team(team), id).await?.ok_or_else(Refused::nothing)?;
    let why = asked.why.filter(|_| asked.state == MatchState::Dead);
    let cause = why.map(|(why, unfit)| ask.site.server.why_not(&why, unfit));
    Ok(Asked { game: crate::api::matches::told_of(&ask.site, game), cause })
}

fn wish(
    entrant: EntrantId,
    against: VersionId,
    asked: (Option<u32>, Option<i64>, Option<u32>),
) -> Result<Wish, Refused> {
    let (map, seed, seat) = place(asked)?;
    Ok(Wish { map, seed, seat, ..Wish::against(entrant, against) })
}

/// Where a match is played: the map and the seat, which come from 1, from 0, and the seed.
///
/// # Errors
/// When one of them is 0.
pub fn place(
    (map, seed, seat): (Option<u32>, Option<i64>, Option<u32>),
) -> Result<(i64, i64, usize), Refused> {
    let from_zero = |number: Option<u32>, what: &str| {
        let number = number.unwrap_or(1).checked_sub(1);
        number.ok_or_else(|| Refused::wrong(format!("`{what}` is counted from 1.")))
    };
    let (map, seat) = (from_zero(map, "map")?, from_zero(seat, "seat")?);
    // One short enough to type again.
    let seed = seed.unwrap_or_else(|| i64::from(u32::from_le_bytes(secrets::random()) >> 1));
    Ok((i64::from(map), seed, seat as usize))
}

async fn plan(ask: &Visit, own: AskedBot, wish: Wish) -> Result<Json<Asked>, Refused> {
    let team = wish.entrant;
    match ask.site.server.ask(own, wish, ask.now).await? {
        acts::MatchRequested::Planned(id) => Ok(Json(found(ask, team, id).await?)),
        acts::MatchRequested::TooMany(at) => Err(too_many(ask, at)),
        acts::MatchRequested::NotThere => Err(not_there()),
    }
}

/// The refusal of an opponent.
pub fn not_there() -> Refused {
    let text = "The opponent must be live, or a version of your own that has passed its check.";
    Refused::new(StatusCode::UNPROCESSABLE_ENTITY, "That version cannot play", text)
}

/// The refusal where the team's drafts take up all their space.
pub fn too_full(ask: &Visit, until: Time) -> Refused {
    let what = "The team's drafts of the last day take up all the space they may.";
    Refused::too_much(what, (until.0 - ask.now.0) / 1000 + 1)
}

/// The refusal where the team has asked for as many matches as it may.
pub fn too_many(ask: &Visit, until: Time) -> Refused {
    let what = "The team has used up its drafts and challenges for now.";
    Refused::too_much(what, (until.0 - ask.now.0) / 1000 + 1)
}

/// The version to play against.
async fn against(ask: &Visit, name: Option<&str>, version: Option<i64>) -> Result<VersionId, Refused> {
    if let Some(version) = version {
        return Ok(VersionId(version));
    }
    let shown = ask.site.shown().await?;
    let Some(name) = name else {
        let own = ask.person().and_then(|person| person.team);
        return next_above(&shown, own)
            .ok_or_else(|| Refused::wrong("Nobody else is on the ladder yet, so there is no opponent."));
    };
    let wanted = likeness(name);
    let found = shown.teams.values().find(|team| likeness(&team.name) == wanted);
    found.and_then(|team| team.live).ok_or_else(|| {
        let name: String = name.chars().filter(|sign| !sign.is_control()).take(40).collect();
        let known: Vec<&str> = shown.board.lines.iter().map(|line| line.name.as_str()).take(12).collect();
        Refused::wrong(format!("No live bot is called `{name}`. On the ladder are: {}.", known.join(", ")))
    })
}

/// The live version next above a team on the ladder: the first team meets the second, and a team not on the ladder meets the
/// last.
fn next_above(shown: &Shown, own: Option<EntrantId>) -> Option<VersionId> {
    let standing: Vec<_> = (shown.board.lines.iter())
        .filter_map(|line| shown.teams.get(&line.name))
        .filter_map(|team| Some((team.id, team.live?)))
        .collect();
    let place = standing.iter().position(|(team, _)| Some(*team) == own);
    let at = match place {
        Some(0) => 1,
        Some(place) => place - 1,
        None => standing.len().checked_sub(1)?,
    };
    standing.get(at).map(|(_, live)| *live)
}
