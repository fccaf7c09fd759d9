//! `/events`: hints that something changed, for live pages. A hint says only what kind of thing it was; the page then asks
//! again, with the viewer's rights. A hint's id is what was known at that time, so that a page that reconnects hears at once
//! what it missed, even from a restarted server.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use agon_store::reads::Pulse;
use axum::body::{Body, Bytes};
use axum::extract::Query;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use tokio::sync::{mpsc, watch};
use tokio_stream::Stream;

use crate::gate::Visit;
use crate::limits::Ticket;
use crate::problem::Refused;

/// The longest silence: after more of it, proxies and browsers give up.
const QUIET: Duration = Duration::from_secs(20);
/// How long a stream lasts; then the browser reconnects.
const LONGEST: Duration = Duration::from_secs(3600);
/// Seconds after which to come back when there is no room.
const AGAIN: i64 = 30;

/// What changed between two moments, in the words of the pages.
fn hints(before: &Pulse, now: &Pulse) -> Vec<&'static str> {
    let mut hints = Vec::new();
    if before.board != now.board {
        hints.push("board");
    }
    if before.acts != now.acts {
        hints.push("acts");
    }
    if before.work != now.work {
        hints.push("work");
    }
    hints
}

/// What was known, as an id.
pub fn id(pulse: &Pulse) -> String {
    format!("{}-{}-{}", pulse.board, pulse.acts, pulse.work)
}

/// The knowledge behind an id; none if it is not one of ours.
fn known(id: &str) -> Option<Pulse> {
    let mut numbers = id.split('-').map(|part| part.parse().ok());
    let pulse = Pulse { board: numbers.next()??, acts: numbers.next()??, work: numbers.next()?? };
    numbers.next().is_none().then_some(pulse)
}

fn told(before: &Pulse, now: &Pulse) -> Option<Bytes> {
    let hints = hints(before, now);
    let text = || format!("id: {}\nevent: hint\ndata: {}\n\n", id(now), hints.join(" "));
    (!hints.is_empty()).then(|| text().into())
}

/// What a live page already knew.
#[derive(Deserialize)]
pub struct SeenEvents {
    #[serde(default)]
    seen: String,
}

/// The stream of hints.
pub async fn events(
    ask: Visit,
    Query(seen): Query<SeenEvents>,
    headers: HeaderMap,
) -> Result<Response, Refused> {
    let account = ask.person().map(|person| person.account);
    let Some(place) = ask.site.limits.stream(account, ask.from) else {
        let mut problem = Refused::too_much("Too many of your pages are live already.", AGAIN);
        problem.status = StatusCode::SERVICE_UNAVAILABLE;
        return Err(problem);
    };
    let last = headers.get("last-event-id").and_then(|id| known(id.to_str().ok()?)).or(known(&seen.seen));
    let (sender, receiver) = mpsc::channel(4);
    tokio::spawn(tell(ask.site.pulse(), last, sender));
    let kind = HeaderValue::from_static("text/event-stream");
    // nginx buffers answers until they are some kilobytes long, and hints never are.
    let at_once = (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    let body = Body::from_stream(Told { receiver, _place: place });
    Ok(([(header::CONTENT_TYPE, kind), at_once], body).into_response())
}

/// Reports each change until nobody listens, the stream has lasted long enough, or the server stops.
async fn tell(mut pulse: watch::Receiver<Option<Pulse>>, last: Option<Pulse>, to: mpsc::Sender<Bytes>) {
    let first = pulse.borrow_and_update().clone();
    let mut is_begun = first.is_some();
    let mut before = last.or(first);
    if to.send(Bytes::from_static(b"retry: 3000\n\n")).await.is_err() {
        return;
    }
    let end = tokio::time::Instant::now() + LONGEST;
    loop {
        let now = pulse.borrow_and_update().clone();
        // It existed and is gone: the server is stopping.
        if now.is_none() && is_begun {
            return;
        }
        is_begun |= now.is_some();
        let said = match (&before, &now) {
            (Some(before), Some(now)) => told(before, now),
            _ => None,
        };
        if let Some(said) = said
            && to.send(said).await.is_err()
        {
            return;
        }
        before = now.or(before);
        tokio::select! {
            changed = pulse.changed() => if changed.is_err() { return },
            () = to.closed() => return,
            () = tokio::time::sleep_until(end) => return,
            () = tokio::time::sleep(QUIET) => if to.send(Bytes::from_static(b": still here\n\n")).await.is_err() { return },
        }
    }
}

/// The hints, as the body of an answer; its place is freed when nobody listens any more.
struct Told {
    receiver: mpsc::Receiver<Bytes>,
    _place: Ticket,
}

impl Stream for Told {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.receiver.poll_recv(context).map(|piece| piece.map(Ok))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_says_what_changed_and_its_id_what_was_known() {
        let (before, now) = (Pulse { board: 3, acts: 9, work: 5 }, Pulse { board: 4, acts: 9, work: 6 });
        let said = told(&before, &now).expect("something changed");
        assert_eq!(said, "id: 4-9-6\nevent: hint\ndata: board work\n\n");
        assert_eq!((known("4-9-6"), told(&now, &now)), (Some(now), None));
        for foreign in ["", "4-9", "4-9-6-1", "a-b-c", "4-9-99999999999999999999"] {
            assert_eq!(known(foreign), None, "{foreign}");
        }
    }
}
