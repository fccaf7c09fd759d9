//! Uploads arriving piece by piece: on disk until whole, so that many slow ones cost no memory and hold nobody up.

use std::time::Duration;

use agon_api::LARGEST_UPLOAD;
use agon_store::Incoming;
use axum::body::Bytes;
use axum::http::StatusCode;
use tokio_stream::{Stream, StreamExt as _};

use crate::gate::Ask;
use crate::limits::{Place, UPLOADS};
use crate::problem::Problem;

/// How long to wait for a piece.
const STALL: Duration = Duration::from_secs(60);
/// Seconds after which a client that found no place may ask again.
const AGAIN: i64 = 60;

/// An upload that arrived whole.
pub struct Came {
    /// The file.
    pub file: Incoming,
    /// It is counted until the file is kept.
    pub place: Place,
}

/// Begins to receive an upload.
///
/// # Errors
/// When the caller's uploads, or all of them, are at their limit.
fn begin(ask: &Ask) -> Result<Came, Problem> {
    let Some(place) = ask.site.limits.upload(ask.whoever()?.account) else {
        let what = format!("Too many files are being uploaded at once, or {UPLOADS} of them are yours.");
        return Err(Problem::too_much(&what, AGAIN));
    };
    let file = ask.site.server.objects().begin().map_err(unwritten)?;
    Ok(Came { file, place })
}

/// Receives a whole upload.
///
/// # Errors
/// When it is too large, breaks off or stalls: nothing is left of it then. When there is no place for it.
pub async fn take<E>(
    ask: &Ask,
    mut pieces: impl Stream<Item = Result<Bytes, E>> + Unpin,
) -> Result<Came, Problem> {
    let mut came = begin(ask)?;
    loop {
        let piece = match tokio::time::timeout(STALL, pieces.next()).await {
            Err(_) => return Err(stalled()),
            Ok(None) => return Ok(came),
            Ok(Some(piece)) => piece.map_err(|_| cut_off())?,
        };
        if came.file.size() + piece.len() as u64 > LARGEST_UPLOAD {
            return Err(too_large());
        }
        came.file.add(&piece).await.map_err(unwritten)?;
    }
}

/// The refusal of something that did not arrive whole.
pub fn cut_off() -> Problem {
    let text = "The upload was cut off. Nothing was done: send it again.";
    Problem::new(StatusCode::BAD_REQUEST, "Cut off", text)
}

fn stalled() -> Problem {
    let text = format!("Nothing arrived for {} s. Nothing was done: send it again.", STALL.as_secs());
    Problem::new(StatusCode::REQUEST_TIMEOUT, "Too slow", text)
}

fn too_large() -> Problem {
    let text = format!(
        "It is larger than {} MiB. Leave out what the bot does not need to play: `.git`, `target`, `node_modules`, training \
         data.",
        LARGEST_UPLOAD >> 20
    );
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "Too large", text)
}

/// For whoever runs the server; the cause concerns nobody else.
fn unwritten(error: std::io::Error) -> Problem {
    tracing::warn!("a file that comes in cannot be written: {error}");
    Problem::ours()
}
