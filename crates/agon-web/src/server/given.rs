//! A match as one self-contained page, to be given away.

use std::sync::Arc;

use agon_replay::Replay;
use agon_view::Privacy;
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use super::AppState;
use super::answers::{Which, problem};
use crate::page;

/// The page of a match that this server knows by name.
pub(super) async fn of_name(State(app): State<Arc<AppState>>, Query(which): Query<Which>) -> Response {
    made(move || which.read(&app.shelf).map_err(|error| error.to_string())).await
}

/// The page of a replay that was dropped on the app.
pub(super) async fn of_bytes(bytes: Bytes) -> Response {
    made(move || Replay::read(&bytes).map_err(|error| error.to_string())).await
}

/// What belongs to one bot alone is left out: to get it into a page, use the command line.
async fn made(read: impl FnOnce() -> Result<Replay, String> + Send + 'static) -> Response {
    let written = tokio::task::spawn_blocking(move || {
        let mut made = Vec::new();
        page::write(read()?, Privacy::Redacted, &mut made).map_err(|error| error.to_string())?;
        Ok::<_, String>(made)
    });
    match written.await {
        // For saving: no browser displays this content type.
        Ok(Ok(made)) => ([(header::CONTENT_TYPE, "application/octet-stream")], made).into_response(),
        Ok(Err(why)) => problem(StatusCode::UNPROCESSABLE_ENTITY, &why),
        Err(_) => problem(StatusCode::INTERNAL_SERVER_ERROR, "agon failed on this replay; please report it"),
    }
}
