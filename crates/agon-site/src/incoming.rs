//! Uploads and results arriving piece by piece: on disk until whole, so that many slow ones cost no memory and hold nobody up.

use std::path::Path;
use std::time::Duration;

use agon_api::LARGEST_UPLOAD;
use agon_store::{Incoming, WorkerId};
use agon_worker::wire::{Arriving, MOST_POSTS};
use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_stream::{Stream, StreamExt as _};

use crate::gate::Visit;
use crate::limits::{Ticket, UPLOADS};
use crate::problem::Refused;

/// How long to wait for a piece.
const STALL: Duration = Duration::from_secs(60);
/// Seconds after which a client that found no place may ask again.
const AGAIN: i64 = 60;

/// An upload that arrived whole.
pub struct UploadedBody {
    pub file: Incoming,
    /// It is counted until the file is kept.
    pub place: Ticket,
}

/// Begins to receive an upload.
///
/// # Errors
/// When the caller's uploads, or all of them, are at their limit.
fn begin(ask: &Visit) -> Result<UploadedBody, Refused> {
    let Some(place) = ask.site.limits.upload(ask.whoever()?.account) else {
        let what = format!("Too many files are being uploaded at once, or {UPLOADS} of them are yours.");
        return Err(Refused::too_much(&what, AGAIN));
    };
    let file = ask.site.server.objects().begin().map_err(unwritten)?;
    Ok(UploadedBody { file, place })
}

/// Receives a whole upload.
///
/// # Errors
/// When it is too large, breaks off or stalls: nothing is left of it then. When there is no place for it.
pub async fn take<E>(
    ask: &Visit,
    mut pieces: impl Stream<Item = Result<Bytes, E>> + Unpin,
) -> Result<UploadedBody, Refused> {
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

/// How many posts are taken in at once: each is then in memory whole. Nobody holds a permit while bytes arrive.
static ROOM: Semaphore = Semaphore::const_new(8);

/// A post of results, or of a bot for a fleet, that arrived whole.
pub struct PostedBody {
    /// What was sent.
    pub bytes: Vec<u8>,
    _room: SemaphorePermit<'static>,
    _place: Option<Ticket>,
}

/// A place for a post of this worker.
///
/// # Errors
/// When too many of it are under way.
pub fn place(ask: &Visit, worker: WorkerId) -> Result<Ticket, Refused> {
    ask.site.limits.post(worker).ok_or_else(|| {
        let what = format!("{MOST_POSTS} posts of this worker are under way already.");
        Refused::too_much(&what, 1)
    })
}

/// Receives a post of at most `most` bytes; what becomes large waits in this folder. Its place is taken until it has been dealt with.
///
/// # Errors
/// When it is too large, breaks off or stalls: nothing is left of it then.
pub async fn whole(
    folder: &Path,
    body: Body,
    most: u64,
    place: Option<Ticket>,
) -> Result<PostedBody, Refused> {
    let (mut arriving, mut pieces) = (Arriving::new(folder, most), body.into_data_stream());
    loop {
        let piece = match tokio::time::timeout(STALL, pieces.next()).await {
            Err(_) => return Err(stalled()),
            Ok(None) => break,
            Ok(Some(piece)) => piece.map_err(|_| cut_off())?,
        };
        if !arriving.add(&piece).map_err(unwritten)? {
            let text = format!("The request is larger than {} KiB. Nothing was done.", most >> 10);
            return Err(Refused::new(StatusCode::PAYLOAD_TOO_LARGE, "Too large", text));
        }
    }
    let room = ROOM.acquire().await.map_err(|_| Refused::ours())?;
    Ok(PostedBody { bytes: arriving.whole().map_err(unwritten)?, _room: room, _place: place })
}

/// The refusal of something that did not arrive whole.
pub fn cut_off() -> Refused {
    let text = "The upload was cut off. Nothing was done: send it again.";
    Refused::new(StatusCode::BAD_REQUEST, "Cut off", text)
}

fn stalled() -> Refused {
    let text = format!("Nothing arrived for {} s. Nothing was done: send it again.", STALL.as_secs());
    Refused::new(StatusCode::REQUEST_TIMEOUT, "Too slow", text)
}

fn too_large() -> Refused {
    let text = format!(
        "It is larger than {} MiB. Leave out what the bot does not need to play: `.git`, `target`, `node_modules`, training \
         data.",
        LARGEST_UPLOAD >> 20
    );
    Refused::new(StatusCode::PAYLOAD_TOO_LARGE, "Too large", text)
}

/// For whoever runs the server; the cause concerns nobody else.
fn unwritten(error: std::io::Error) -> Refused {
    tracing::warn!("a file that comes in cannot be written: {error}");
    Refused::ours()
}
