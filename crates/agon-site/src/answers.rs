//! Answers, which may be taken slowly: neither memory nor a thread waits for whoever takes one.

use std::io::{self, Seek as _, Write as _};
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::Error;
use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use hyper::body::{Frame, SizeHint};
use tokio::fs::File;
use tokio::io::AsyncReadExt as _;
use tokio_util::io::ReaderStream;

use crate::limits::Ticket;
use crate::problem::Refused;
use crate::site::Site;

/// Answers of more bytes than this wait on disk until they are taken: a thousand connections then cost no more than this each.
const LARGEST_HELD: u64 = 256 << 10;
/// The size of the pieces in which a file is sent, in bytes.
const PIECE: usize = 64 << 10;

/// The first bytes of a file as the body of an answer, read as they are taken.
pub fn of_file(file: File, bytes: u64) -> Body {
    Body::from_stream(ReaderStream::with_capacity(file.take(bytes), PIECE))
}

/// The same answer; a large one that is in memory is put on disk, into a file without a name.
pub async fn aside(site: &Site, response: Response) -> Response {
    let Some(bytes) = response.body().size_hint().exact().filter(|bytes| *bytes > LARGEST_HELD) else {
        return response;
    };
    let (mut head, body) = response.into_parts();
    let Ok(whole) = to_bytes(body, usize::MAX).await else { return Refused::ours().into_response() };
    let folder = site.folder().to_owned();
    let written = tokio::task::spawn_blocking(move || put(&folder, &whole)).await;
    match written.map_err(io::Error::other).flatten() {
        Ok(file) => {
            head.headers.insert(header::CONTENT_LENGTH, bytes.into());
            Response::from_parts(head, of_file(File::from_std(file), bytes))
        }
        Err(error) => {
            tracing::warn!("a large answer cannot be put aside: {error}");
            axum::http::StatusCode::INSUFFICIENT_STORAGE.into_response()
        }
    }
}

fn put(folder: &std::path::Path, whole: &[u8]) -> io::Result<std::fs::File> {
    let mut file = tempfile::tempfile_in(folder)?;
    file.write_all(whole)?;
    file.rewind()?;
    Ok(file)
}

/// The same body; the place is taken until it has been sent.
pub fn held(body: Body, place: Ticket) -> Body {
    Body::new(Held { body, _place: place })
}

struct Held {
    body: Body,
    _place: Ticket,
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
