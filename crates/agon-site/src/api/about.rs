//! The contest, its ladder, and the caller.

use std::path::Path;

use agon_api::contest::{Ground, ImageQuery, Limits, Machine, Map};
use agon_api::{Best, Contest, LARGEST_UPLOAD, Ladder, Me, Team};
use agon_store::acts::version::{MOST_A_DAY, MOST_AN_HOUR, MOST_BYTES};
use agon_worker::holding;
use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use crate::api::read::ReadQuery;
use crate::api::told;
use crate::gate::Visit;
use crate::problem::Refused;

/// What is played.
pub async fn contest(ask: Visit) -> Result<Json<Contest>, Refused> {
    let (server, settings) = (&ask.site.server, &ask.settings);
    let own = ask.site.store().now().await?;
    let terms = server.terms();
    let maps = terms.grounds.iter().enumerate().map(|(at, ground)| Ground {
        number: told::from_one(at as i64),
        name: settings.map(at as i64),
        rules_name: ground.rules_name.clone(),
        rules: ground.rules.clone(),
        map: match &ground.map {
            agon_worker::protocol::MapSource::Default => Map::Default,
            agon_worker::protocol::MapSource::Generated => Map::Generated,
            agon_worker::protocol::MapSource::Whole { name, content } => {
                // A file is called by its last path component: where it is on the server is nobody's concern.
                let name = Path::new(name)
                    .file_name()
                    .map_or(name.clone(), |name| name.to_string_lossy().into_owned());
                Map::Whole { name, content: content.clone() }
            }
        },
    });
    Ok(Json(Contest {
        title: settings.title.clone(),
        program: agon_replay::data::PROGRAM.to_owned(),
        game: terms.game.clone(),
        rules_version: terms.rules_version,
        seats: server.table().seats().try_into().unwrap_or(u8::MAX),
        maps: maps.collect(),
        clock: terms.clock.to_string(),
        ponder: terms.ponder.to_string(),
        machine: Machine {
            image: settings.image.clone(),
            ..ask.site.machine().cloned().unwrap_or_else(|| nobody_plays(server.table().cpus()))
        },
        state: own.state(),
        opens: settings.opens.map(|at| at.0),
        closes: settings.closes.map(|at| at.0),
        time_zone: settings.zone_name(),
        team_size: settings.team_size,
        rated_matches: settings.matches,
        seeds_sha256: own.secret_sha,
        limits: Limits {
            upload_bytes: LARGEST_UPLOAD,
            uploads_an_hour: MOST_AN_HOUR,
            uploads_a_day: MOST_A_DAY,
            asked_an_hour: settings.held.asked_an_hour.into(),
            team_bytes: MOST_BYTES,
        },
        now: ask.now.0,
    }))
}

/// What is known of the machine before anybody has played there.
fn nobody_plays(cpus: usize) -> Machine {
    Machine {
        sandbox: None,
        cpus: cpus as u32,
        memory: None,
        processes: None,
        disk: None,
        speed: None,
        packages: Vec::new(),
        languages: Vec::new(),
        image: None,
    }
}

/// The contest's image, or a part of a file of it.
///
/// # Errors
/// The contest has none, or it is not here.
pub async fn image(ask: Visit, ReadQuery(wanted): ReadQuery<ImageQuery>) -> Result<Response, Refused> {
    let name = ask.settings.image.clone().ok_or_else(|| {
        let text = "This contest names no image: each of its machines makes one of what a bot needs.";
        Refused::wrong(text)
    })?;
    let read = move || holding::image(&name, wanted.file.as_deref().map(|file| (file, wanted.from)));
    let bytes = tokio::task::spawn_blocking(read).await.map_err(|_| Refused::ours())?;
    let bytes = bytes.map_err(|why| Refused::new(StatusCode::NOT_FOUND, "The image is not here", why))?;
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response())
}

pub async fn ladder(ask: Visit) -> Result<Json<Ladder>, Refused> {
    let shown = ask.site.shown().await?;
    let best = shown.head.map(|head| Best { teams: head.bots as u32, these: head.these, order: head.order });
    Ok(Json(Ladder {
        lines: shown.board.lines.clone(),
        best,
        upto: shown.board.upto,
        made: shown.board.made.0,
    }))
}

pub async fn me(ask: Visit) -> Result<Json<Me>, Refused> {
    let (person, store) = (ask.whoever()?, ask.site.store());
    let team = match person.team {
        Some(team) => store.entrant(team).await?,
        None => None,
    };
    let quota = match &team {
        Some(team) => Some(told::quota(&store.quota(team.id, ask.now).await?)),
        None => None,
    };
    let team = team.map(|team| Team { id: team.id.0, name: team.name });
    Ok(Json(Me { name: person.name.clone(), organiser: person.organiser, team, quota }))
}
