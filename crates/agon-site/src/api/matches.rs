//! Matches.

use agon_api::{Match, MatchQuery, Matches, Own};
use agon_store::reads::{Filter, PAGE, StoredMatch};
use agon_store::{EntrantId, MatchId, VersionId};
use axum::Json;
use axum::response::Response;

use crate::api::read::ReadQuery;
use crate::api::told;
use crate::gate::Visit;
use crate::pages;
use crate::problem::Refused;
use crate::site::Site;

/// A page of matches.
pub async fn list(ask: Visit, ReadQuery(asked): ReadQuery<MatchQuery>) -> Result<Json<Matches>, Refused> {
    let about_somebody = asked.team.is_some() || asked.version.is_some();
    if (asked.ended.is_some() || asked.faults) && !about_somebody {
        return Err(Refused::wrong(
            "`ended` and `faults` need a team or a version: add `team` or `version`.",
        ));
    }
    if asked.map == Some(0) {
        return Err(Refused::wrong("Maps are counted from 1."));
    }
    let filter = Filter {
        team: asked.team.map(EntrantId),
        against: asked.against.map(EntrantId),
        version: asked.version.map(VersionId),
        reason: asked.reason.filter(|reason| !reason.is_empty()),
        ended: asked.ended,
        faults: asked.faults,
        map: asked.map.map(|map| i64::from(map) - 1),
        before: asked.before.map(MatchId),
    };
    let mut found = ask.site.store().matches(ask.eyes(), &filter).await?;
    let more = found.len() > PAGE as usize;
    found.truncate(PAGE as usize);
    let next = found.last().filter(|_| more).map(|last| last.id.0);
    let site = ask.site.clone();
    // A seed's map is made to learn its name.
    let told =
        tokio::task::spawn_blocking(move || found.into_iter().map(|played| told_of(&site, played)).collect());
    Ok(Json(Matches { matches: told.await.map_err(|_| Refused::ours())?, next }))
}

/// A match with the name of its map.
pub fn told_of(site: &Site, played: StoredMatch) -> Match {
    let map_name = site.map_of(played.map, played.seed);
    told::game(played, map_name)
}

async fn found(ask: &Visit) -> Result<StoredMatch, Refused> {
    let found = ask.site.store().one_match(ask.eyes(), MatchId(ask.id)).await?;
    found.ok_or_else(Refused::nothing)
}

pub async fn one(ask: Visit) -> Result<Json<Match>, Refused> {
    Ok(Json(told_of(&ask.site, found(&ask).await?)))
}

pub async fn replay(ask: Visit) -> Result<Response, Refused> {
    pages::replay(ask).await
}

/// The part of it that belongs to the caller's team.
pub async fn own(ask: Visit) -> Result<Json<Own>, Refused> {
    let team = ask.whoever()?.team.ok_or_else(Refused::nothing)?;
    let played = found(&ask).await?;
    if !played.seats.iter().any(|seat| seat.team == team.0) {
        return Err(Refused::nothing());
    }
    let own = ask.site.server.own_of_match(team, played.id).await?;
    Ok(Json(Own { seats: own.into_iter().map(told::own).collect() }))
}
