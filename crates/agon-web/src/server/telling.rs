//! How handlers tell what they found, and what many of them are asked about.

use std::convert::Infallible;

use agon_replay::Replay;
use agon_view::AskRefusal;
use axum::Json;
use axum::body::{Body, Bytes};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use tokio::sync::mpsc;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;

use crate::shelf::{Shelf, ShelfError};

/// A refusal in the form that the app reads.
pub(super) fn problem(code: StatusCode, why: &str) -> Response {
    (code, Json(AskRefusal::from(why))).into_response()
}

/// What takes long is done beside other requests.
///
/// # Errors
/// The answer to send, when it is refused or fails; `what` it was about is named then.
pub(super) async fn beside<T: Send + 'static, E: Into<AskRefusal> + Send + 'static>(
    what: &str,
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, Response> {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(refused)) => {
            let refusal: AskRefusal = refused.into();
            let code = if refusal.gone { StatusCode::GONE } else { StatusCode::UNPROCESSABLE_ENTITY };
            Err((code, Json(refusal)).into_response())
        }
        Err(_) => {
            let why = format!("agon failed on {what}; please report it");
            Err(problem(StatusCode::INTERNAL_SERVER_ERROR, &why))
        }
    }
}

/// Bytes that no browser displays.
pub(super) fn octets(bytes: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response()
}

/// What was answered; nothing is no content.
pub(super) fn sent(answer: Option<Vec<u8>>) -> Response {
    answer.map_or_else(|| StatusCode::NO_CONTENT.into_response(), octets)
}

/// Lines as they come.
pub(super) fn ndjson(lines: mpsc::Receiver<Bytes>) -> Response {
    let pieces = ReceiverStream::new(lines).map(Ok::<Bytes, Infallible>);
    ([(header::CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(pieces)).into_response()
}

/// Which replay: one on the shelf, or a match of a journal.
#[derive(Deserialize)]
pub(super) struct Which {
    replay: Option<String>,
    pub(super) journal: Option<String>,
    block: Option<u64>,
    game: Option<u32>,
}

impl Which {
    pub(super) fn read(&self, shelf: &Shelf) -> Result<Replay, ShelfError> {
        match (&self.journal, self.block, self.game) {
            (Some(journal), Some(block), Some(game)) => shelf.match_of(journal, block, game),
            _ => shelf.read(self.replay.as_deref().unwrap_or_default()),
        }
    }

    pub(super) fn bytes(&self, shelf: &Shelf) -> Result<Vec<u8>, ShelfError> {
        match (&self.journal, self.block, self.game) {
            (Some(journal), Some(block), Some(game)) => shelf.bytes_of(journal, block, game),
            _ => shelf.bytes(self.replay.as_deref().unwrap_or_default()),
        }
    }
}
