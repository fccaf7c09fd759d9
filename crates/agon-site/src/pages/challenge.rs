//! Matches that somebody asks for: challenges with a version, drafts of code that is no version yet. Neither is rated.

use std::convert::Infallible;

use agon_game::Starter;
use agon_server::{Drafted, ServerError, Wish};
use agon_store::acts::{AskedBot, MatchRequested};
use agon_store::reads::Allowances;
use agon_store::{EntrantId, Time, VersionId, VersionState};
use agon_worker::pack;
use axum::Form;
use axum::extract::{Multipart, Query};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use serde::Deserialize;

use crate::api::versions;
use crate::gate::Visit;
use crate::incoming::{self, UploadedBody};
use crate::pages::frame::{self, Here, field, token, wrong};
use crate::pages::{rulings, upload};
use crate::problem::Refused;
use crate::redirect;
use crate::secrets;
use crate::site::Shown;

/// How many opponents are offered, the best first.
const OFFERED: usize = 200;
/// The longest text of the editor, in bytes.
const LONGEST: usize = 512 << 10;

/// The request: what the forms send, and what a link fills in.
#[derive(Clone, Default, Deserialize)]
pub(crate) struct Wanted {
    #[serde(default)]
    own: String,
    #[serde(default)]
    against: String,
    #[serde(default)]
    map: String,
    #[serde(default)]
    seed: String,
    #[serde(default)]
    seat: String,
    #[serde(default)]
    language: String,
}

impl Wanted {
    /// The same request again, as the query of an address.
    pub fn again(against: VersionId, map: i64, seed: i64, seat: usize) -> String {
        format!("against={against}&map={}&seed={seed}&seat={}", map + 1, seat + 1)
    }

    /// The wish this stands for, of `own` for `entrant`.
    fn wish(&self, entrant: EntrantId) -> Result<Wish, String> {
        let number = |text: &str, what: &str, usual: i64| match text.trim() {
            "" => Ok(usual),
            text => text.parse::<i64>().map_err(|_| format!("The {what} must be a whole number, or empty.")),
        };
        let against = self.against.parse().map(VersionId).map_err(|_| "Choose an opponent.".to_owned())?;
        let seat = number(&self.seat, "seat", 1)?;
        let seat = usize::try_from(seat - 1).map_err(|_| "Seats are counted from 1.".to_owned())?;
        let chance = i64::from(u32::from_le_bytes(secrets::random()) >> 1);
        let (map, seed) = (number(&self.map, "map", 1)? - 1, number(&self.seed, "seed", chance)?);
        Ok(Wish { map, seed, seat, ..Wish::against(entrant, against) })
    }
}

/// How much a team may still ask for: the sentence, and whether there is room.
fn room(ask: &Visit, quota: Option<&Allowances>) -> (String, bool) {
    let most = ask.settings.held.asked_an_hour;
    let Some(used) = quota.map(|quota| quota.asked_an_hour) else {
        return (format!("Up to {most} challenges and drafts an hour."), true);
    };
    match used.until {
        Some(until) => {
            let text = format!(
                "The team has asked for {} matches this hour, the limit. It can ask again {}.",
                used.used,
                upload::until(ask, until)
            );
            (text, false)
        }
        None => (format!("Challenges and drafts: {} of {} this hour.", used.used, used.most), true),
    }
}

async fn quota(ask: &Visit) -> Result<Option<Allowances>, Refused> {
    match ask.person().and_then(|person| person.team) {
        Some(team) => Ok(Some(ask.site.store().quota(team, ask.now).await?)),
        None => Ok(None),
    }
}

/// Opponent, map, seed and seat: the same for both forms.
fn choices(ask: &Visit, shown: &Shown, wanted: &Wanted) -> Markup {
    let team = ask.person().and_then(|person| person.team);
    let own_name = shown.teams.values().find(|one| Some(one.id) == team).map(|team| team.name.as_str());
    let live = shown.board.lines.iter().filter_map(|line| {
        let mut versions = shown.board.versions.iter();
        versions.find(|version| version.entrant == line.name && version.state == VersionState::Live)
    });
    let live: Vec<_> = live.take(OFFERED).collect();
    let own = shown
        .board
        .versions
        .iter()
        .rev()
        .filter(|version| Some(version.entrant.as_str()) == own_name && version.state.can_play())
        // Each bot is offered once.
        .filter(|version| !live.iter().any(|live| live.id == version.id));
    let seats = ask.site.server.policy().seats;
    let chosen = |id: VersionId| wanted.against == id.to_string();
    html! {
        (field("Against", "Any live bot, or an old version of your own.", html! {
            select name="against" required {
                optgroup label="Live" { @for version in &live {
                    option value=(version.id) selected[chosen(version.id)] { (version.entrant) @if !version.boss { " v" (version.n) } }
                } }
                optgroup label="Your versions" { @for version in own.take(40) {
                    option value=(version.id) selected[chosen(version.id)] { "v" (version.n) }
                } }
            }
        }))
        div.three {
            @if ask.settings.maps.len() > 1 {
                (field("Map", "", html! { select name="map" { @for map in 0..ask.settings.maps.len() as i64 {
                    option value=(map + 1) selected[wanted.map == (map + 1).to_string()] { (ask.settings.map(map)) }
                } } }))
            }
            (field("Seat", "", html! { select name="seat" { @for seat in 1..=seats { option value=(seat) selected[wanted.seat == seat.to_string()] { (seat) } } } }))
            (field("Seed", "Leave empty for a random seed.", html! { input name="seed" value=(wanted.seed) inputmode="numeric" maxlength="19" autocomplete="off"; }))
        }
    }
}

/// The form of a challenge.
pub async fn form(ask: Visit, Query(wanted): Query<Wanted>) -> Result<Markup, Refused> {
    page(&ask, &wanted, None).await
}

async fn page(ask: &Visit, wanted: &Wanted, why: Option<&str>) -> Result<Markup, Refused> {
    rulings::admit(ask).await?;
    let shown = ask.site.shown().await?;
    let team = ask.person().and_then(|person| person.team);
    let own = match team {
        Some(team) => ask.site.store().own_versions(team).await?,
        None => Vec::new(),
    };
    let own: Vec<_> = own.iter().map(|own| &own.version).filter(|own| own.state.can_play()).collect();
    if own.is_empty() {
        let content = html! { p.row { a.button.main href="/draft" { "Try a draft" } a.button href="/upload" { "Submit a version" } } };
        let lead = "Submit a version and let it pass its check, or try a draft, which needs none.";
        return Ok(frame::page(ask, Here::Home, "You have no version to challenge with yet", lead, content));
    }
    let (room, is_room) = room(ask, quota(ask).await?.as_ref());
    let content = html! {
        form.card.form method="post" action="/challenge" {
            (wrong(why))
            (token(ask))
            (field("With", "", html! { select name="own" { @for version in &own {
                option value=(version.id) selected[wanted.own == version.id.to_string()] { "v" (version.n) @if version.state == VersionState::Live { ", live" } }
            } } }))
            (choices(ask, &shown, wanted))
            p.faint { (room) }
            button.main disabled[!is_room] { "Challenge" }
        }
        p { "Not a version yet? " a href="/draft" { "Try a draft" } "." }
    };
    let lead = "It is played within seconds and changes no rating. You see what your program wrote; the other team sees the match too.";
    Ok(frame::page(ask, Here::Home, "Challenge a bot", lead, content))
}

pub async fn challenge(ask: Visit, Form(wanted): Form<Wanted>) -> Result<Response, Refused> {
    let team = ask.whoever()?.team.ok_or_else(Refused::ours)?;
    let wish = wanted.own.parse().map_err(|_| "Choose a version.".to_owned());
    match wish.and_then(|own| Ok((AskedBot::Version(VersionId(own)), wanted.wish(team)?))) {
        Ok((own, wish)) => match asked(&ask, own, wish).await? {
            Ok(to) => Ok(to),
            Err((status, why)) => Ok((status, page(&ask, &wanted, Some(&why)).await?).into_response()),
        },
        Err(why) => {
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page(&ask, &wanted, Some(&why)).await?).into_response())
        }
    }
}

fn too_many(ask: &Visit, at: Time) -> String {
    let next = upload::until(ask, at);
    format!("The team has used up its matches for now; it can ask again {next}.")
}

/// Asks for a match: where it will be, or why there is none.
async fn asked(
    ask: &Visit,
    own: AskedBot,
    wish: Wish,
) -> Result<Result<Response, (StatusCode, String)>, Refused> {
    let unfit = StatusCode::UNPROCESSABLE_ENTITY;
    Ok(match ask.site.server.ask(own, wish, ask.now).await {
        Ok(MatchRequested::Planned(game)) => Ok(redirect::to(&format!("/match/{game}")).into_response()),
        Ok(MatchRequested::TooMany(at)) => Err((StatusCode::TOO_MANY_REQUESTS, too_many(ask, at))),
        Ok(MatchRequested::NotThere) => Err((unfit, NOT_LIVE.to_owned())),
        Err(ServerError::Wrong(why)) => Err((unfit, cannot_be_played(&why))),
        Err(error) => return Err(error.into()),
    })
}

const NOT_LIVE: &str = "That version is no longer live: choose another one.";

fn cannot_be_played(why: &str) -> String {
    format!("That cannot be played: {why}.")
}

/// The starter that the editor begins with: of the language wanted, otherwise the first.
fn starter(ask: &Visit, language: &str) -> Option<&'static Starter> {
    let starters = agon_games::find(&ask.settings.game)?.info().starters;
    starters.iter().find(|starter| starter.language.name() == language).or_else(|| starters.first())
}

pub async fn draft_form(ask: Visit, Query(wanted): Query<Wanted>) -> Result<Markup, Refused> {
    rulings::admit(&ask).await?;
    draft_page(&ask, &wanted, None, None).await
}

async fn draft_page(
    ask: &Visit,
    wanted: &Wanted,
    code: Option<&str>,
    why: Option<&str>,
) -> Result<Markup, Refused> {
    let shown = ask.site.shown().await?;
    let starter = starter(ask, &wanted.language);
    let languages = agon_games::find(&ask.settings.game).map_or(&[][..], |game| game.info().starters);
    let (room, is_room) = room(ask, quota(ask).await?.as_ref());
    let begun = starter.and_then(|own| own.files.iter().find(|(name, _)| *name == own.strategy));
    let content = html! {
        @if languages.len() > 1 {
            div.bar { div.tabs role="group" aria-label="Language" { @for one in languages {
                a href=(format!("/draft?language={}", one.language.name())) aria-current=[starter.is_some_and(|own| own.language == one.language).then_some("true")] { (one.language.title()) }
            } } }
        }
        form.card.form.editor method="post" action="/draft" enctype="multipart/form-data" {
            (wrong(why))
            (token(ask))
            @if let Some(starter) = starter {
                input type="hidden" name="language" value=(starter.language.name());
                label.field {
                    span { (starter.strategy) }
                    textarea name="code" rows="22" spellcheck="false" autocapitalize="off" autocomplete="off" wrap="off" { "\n" (code.or(begun.map(|(_, text)| *text)).unwrap_or_default()) }
                    small { "This is the " (starter.language.title()) " starter; its other files are included. Switching language discards your edits." }
                }
            }
            (choices(ask, &shown, wanted))
            label.field {
                span { "Or upload a file instead" }
                input type="file" name="file";
                small { "An archive or a single file, as for a version." }
            }
            p.faint { (room) }
            button.main disabled[!is_room] { "Play" }
        }
        (frame::way_to_code())
    };
    let lead = "No version is created, the match is unrated, and only your team and the organiser see it. The result appears within seconds, with what your program wrote.";
    Ok(frame::page(ask, Here::Home, "Try a draft", lead, content))
}

/// The files of a starter with another strategy, as an archive.
fn with_strategy(starter: &Starter, code: &str) -> Result<Vec<u8>, Refused> {
    // Browsers send line ends as CR LF.
    let code = code.replace("\r\n", "\n");
    let files = starter.files.iter().map(|(name, text)| {
        (*name, if *name == starter.strategy { code.as_bytes() } else { text.as_bytes() })
    });
    pack::of_files(files).map_err(|_| Refused::ours())
}

/// Asks for a draft to be played.
pub async fn draft(ask: Visit, mut form: Multipart) -> Result<Response, Refused> {
    let (mut is_ours, mut wanted, mut code, mut file) = (false, Wanted::default(), String::new(), None);
    while let Some(field) = form.next_field().await.map_err(|_| incoming::cut_off())? {
        let name = field.name().unwrap_or_default().to_owned();
        // The token comes first: if the form is not ours, nothing more of it is read.
        if name == "form" {
            ask.check_form(&upload::short(field, upload::LONGEST_FIELD).await?)?;
            is_ours = true;
            continue;
        }
        if !is_ours {
            ask.check_form("")?;
        }
        match name.as_str() {
            "file" => {
                let called = field.file_name().unwrap_or_default().to_owned();
                let came = incoming::take(&ask, field).await;
                let came = came.map_err(|problem| problem.then("The form", "/draft"))?;
                file = (came.file.size() > 0).then_some((called, came));
            }
            "code" => code = upload::short(field, LONGEST).await?,
            name => {
                let text = upload::short(field, upload::LONGEST_FIELD).await?;
                match name {
                    "against" => wanted.against = text,
                    "map" => wanted.map = text,
                    "seed" => wanted.seed = text,
                    "seat" => wanted.seat = text,
                    "language" => wanted.language = text,
                    _ => {}
                }
            }
        }
    }
    let kept = code.clone();
    let again = async |status: StatusCode, why: &str| -> Result<Response, Refused> {
        let code = (!kept.is_empty()).then_some(kept.as_str());
        Ok((status, draft_page(&ask, &wanted, code, Some(why)).await?).into_response())
    };
    let unfit = StatusCode::UNPROCESSABLE_ENTITY;
    let (name, UploadedBody { file, place }) = match (file, starter(&ask, &wanted.language)) {
        (Some(file), _) => file,
        (None, Some(starter)) if !code.trim().is_empty() => {
            let whole = with_strategy(starter, &code)?.into();
            let came = incoming::take(&ask, tokio_stream::once(Ok::<_, Infallible>(whole))).await?;
            ("draft.tar".to_owned(), came)
        }
        _ => return again(unfit, "Write something, or choose a file.").await,
    };
    let team = match upload::team(&ask).await? {
        Ok(team) => team,
        Err(why) => return again(unfit, &why).await,
    };
    let wish = match wanted.wish(team) {
        Ok(wish) => wish,
        Err(why) => return again(unfit, &why).await,
    };
    let drafted = match ask.site.server.draft(&wish, &name, file, ask.now).await {
        Err(ServerError::Wrong(why)) => return again(unfit, &cannot_be_played(&why)).await,
        drafted => drafted?,
    };
    drop(place);
    let own = match drafted {
        Drafted::Kept(own) => own,
        Drafted::Refused(cause) => return again(unfit, &versions::unfit(cause).text).await,
        Drafted::TooMany(at) => return again(StatusCode::TOO_MANY_REQUESTS, &too_many(&ask, at)).await,
        Drafted::Full(at) => {
            let next = upload::until(&ask, at);
            let why = format!(
                "The team's drafts of the last 24 hours use all their space. There is room again {next}."
            );
            return again(StatusCode::TOO_MANY_REQUESTS, &why).await;
        }
        Drafted::NotThere => return again(unfit, NOT_LIVE).await,
    };
    match asked(&ask, own, wish).await? {
        Ok(to) => Ok(to),
        Err((status, why)) => again(status, &why).await,
    }
}
