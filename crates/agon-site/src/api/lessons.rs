//! What a team learns from its losses.

use agon_api::{TeamLossCause, TeamLosses, TeamTests};
use axum::Json;

use crate::gate::Visit;
use crate::pages::puzzle;
use crate::problem::Refused;

/// What goes with the losses of the caller's team.
pub async fn losses(ask: Visit) -> Result<Json<TeamLosses>, Refused> {
    let Some(team) = ask.whoever()?.team else { return Ok(Json(TeamLosses::default())) };
    let name = ask.site.store().entrant(team).await?.map(|team| team.name).unwrap_or_default();
    let site = ask.site.clone();
    let losses = ask.site.server.losses(team, &name, |map, seed| site.map_of(map, seed)).await?;
    let mut causes = Vec::new();
    for (heading, groups) in losses.sorts() {
        causes.extend(groups.iter().map(|group| TeamLossCause {
            heading: heading.to_owned(),
            sentence: group.sentence.clone(),
            matches: group.matches.iter().filter_map(|loss| loss.replay.as_ref()?.parse().ok()).collect(),
        }));
    }
    let (heading, course, notes) = (losses.heading(), losses.course_lines(), losses.notes.clone());
    Ok(Json(TeamLosses { heading, causes, course, notes }))
}

/// The positions in which uploads of the caller's team are tried.
pub async fn tests(ask: Visit) -> Result<Json<TeamTests>, Refused> {
    let Some(team) = ask.whoever()?.team else { return Ok(Json(TeamTests::default())) };
    Ok(Json(TeamTests { tests: puzzle::tests(&ask, team).await? }))
}
