//! Asks a bot whether its order was a mistake: it plays on while somebody watches.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agon_replay::Replay;
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use tokio::sync::mpsc;

use super::state::{AppState, TrialWanted};
use super::telling::{Which, ndjson, problem};
use crate::api::TrialSoFar;

/// How often the current knowledge is repeated, so that a client that has gone is noticed.
const AGAIN: Duration = Duration::from_millis(500);

/// How long to wait for a trial that was just stopped to end.
const PATIENT: Duration = Duration::from_secs(3);

/// Tries a bot; the answer grows while it plays. A replay dropped on the page comes in the body.
pub(super) async fn begin(
    State(app): State<Arc<AppState>>,
    Query(which): Query<Which>,
    Query(wanted): Query<TrialWanted>,
    bytes: Bytes,
) -> Response {
    let free = tokio::time::timeout(PATIENT, app.trying.clone().acquire_owned());
    let Ok(Ok(place)) = free.await else {
        return problem(StatusCode::CONFLICT, "a bot is being tried in another tab; stop it there first");
    };
    let (line, lines) = mpsc::channel::<Bytes>(8);
    let (report, mut reports) = mpsc::unbounded_channel::<TrialSoFar>();
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = stop.clone();
    tokio::task::spawn_blocking(move || {
        let _place = place;
        let read = || match bytes.is_empty() {
            true => which.read(&app.shelf).map_err(|error| error.to_string()),
            false => Replay::read(&bytes).map_err(|error| error.to_string()),
        };
        let tell = |so_far| drop(report.send(so_far));
        let tried = read().and_then(|replay| app.host.try_bot(&replay, &wanted, &mut { tell }, &stopped));
        if let Err(why) = tried {
            drop(report.send(TrialSoFar { problem: Some(why), ..TrialSoFar::default() }));
        }
    });
    tokio::spawn(async move {
        let mut last = TrialSoFar::default();
        loop {
            match tokio::time::timeout(AGAIN, reports.recv()).await {
                Ok(Some(so_far)) => last = so_far,
                Ok(None) => return,
                Err(_) => {}
            }
            let Ok(mut text) = serde_json::to_vec(&last) else { return };
            text.push(b'\n');
            if line.send(text.into()).await.is_err() {
                // The client has gone.
                stop.store(true, Ordering::SeqCst);
                return;
            }
        }
    });
    ndjson(lines)
}
