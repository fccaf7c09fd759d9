//! A match as one self-contained page, to be given away.

use std::sync::Arc;

use agon_replay::Replay;
use agon_view::{AskRefusal, Privacy};
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::response::Response;

use super::state::AppState;
use super::telling::{Which, beside, octets};
use crate::page;

/// The page of a match that this server knows by name.
pub(super) async fn of_name(
    State(app): State<Arc<AppState>>,
    Query(which): Query<Which>,
) -> Result<Response, Response> {
    beside("this replay", move || made(which.read(&app.shelf)?)).await.map(octets)
}

/// The page of a replay that was dropped on the app.
pub(super) async fn of_bytes(bytes: Bytes) -> Result<Response, Response> {
    beside("this replay", move || made(Replay::read(&bytes)?)).await.map(octets)
}

/// What belongs to one bot alone is left out: to get it into a page, use the command line.
fn made(replay: Replay) -> Result<Vec<u8>, AskRefusal> {
    let mut made = Vec::new();
    page::write(replay, Privacy::Redacted, &mut made)?;
    Ok(made)
}
