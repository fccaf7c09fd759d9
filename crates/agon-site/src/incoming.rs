//! A file that comes in, piece by piece: on disk until it is whole, so that many slow ones cost no memory and hold nobody up.

use std::time::Duration;

use agon_api::LARGEST_UPLOAD;
use agon_store::Incoming;
use axum::body::Bytes;
use axum::http::StatusCode;
use tokio_stream::{Stream, StreamExt as _};

use crate::gate::Ask;
use crate::limits::{Place, UPLOADS};
use crate::problem::Problem;

/// No piece is waited for longer.
const STALL: Duration = Duration::from_secs(60);
/// Whoever finds no place may ask again after so many seconds.
const AGAIN: i64 = 60;

/// A file that came whole.
pub struct Came {
    /// The file.
    pub file: Incoming,
    /// It is counted until it is kept.
    pub place: Place,
}

/// Somebody's file begins to come.
///
/// # Errors
/// When as many of theirs, or of all, come already as may.
fn begin(ask: &Ask) -> Result<Came, Problem> {
    let Some(place) = ask.site.limits.upload(ask.whoever()?.account) else {
        let what = format!("Too many files come in at once, or {UPLOADS} of yours do already.");
        return Err(Problem::too_much(&what, AGAIN));
    };
    let file = ask.site.server.objects().begin().map_err(unwritten)?;
    Ok(Came { file, place })
}

/// Somebody's file, whole.
///
/// # Errors
/// When it is too large, breaks off or stands still: then nothing is left of it. When there is no place for it.
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

/// That something did not come whole.
pub fn cut_off() -> Problem {
    let text = "What was sent did not come whole. Nothing was done: send it again.";
    Problem::new(StatusCode::BAD_REQUEST, "Cut off", text)
}

fn stalled() -> Problem {
    let text = format!("Nothing came for {} s. Nothing was done: send it again.", STALL.as_secs());
    Problem::new(StatusCode::REQUEST_TIMEOUT, "Too slow", text)
}

fn too_large() -> Problem {
    let text = format!(
        "It is larger than {} MiB. Leave out what the bot does not need to play: `.git`, `target`, `node_modules`, data of \
         training.",
        LARGEST_UPLOAD >> 20
    );
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "Too large", text)
}

/// For whoever runs the server; what it is concerns nobody else.
fn unwritten(error: std::io::Error) -> Problem {
    tracing::warn!("a file that comes in cannot be written: {error}");
    Problem::ours()
}
