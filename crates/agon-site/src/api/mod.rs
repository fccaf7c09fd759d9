//! The API: JSON for programs, under `/api/v1`. Who asks is known by a token (`Authorization: Bearer ...`); cookies count
//! for nothing here. Refusals are `application/problem+json`.

use axum::Json;
use axum::routing;
use serde::Serialize;

use crate::gate::Ask;
use crate::problem::Problem;
use crate::rights::Verb;
use crate::routes::{Of, Route, get};

/// All of the API lies below.
pub const ROOT: &str = "/api/";

/// The routes of the API.
pub const ROUTES: &[Route] = &[get("/api/v1/me", Verb::Own, Of::Contest, || routing::get(me))];

/// Who asks.
#[derive(Serialize)]
struct Me {
    name: String,
    organiser: bool,
    /// The team for which they play.
    team: Option<Team>,
}

/// A team.
#[derive(Serialize)]
struct Team {
    id: i64,
    name: String,
}

async fn me(ask: Ask) -> Result<Json<Me>, Problem> {
    let person = ask.whoever()?;
    let team = match person.team {
        Some(team) => ask.site.store().entrant(ask.site.contest(), team).await?,
        None => None,
    };
    let team = team.map(|team| Team { id: team.id.0, name: team.name });
    Ok(Json(Me { name: person.name.clone(), organiser: person.organiser, team }))
}
