//! `/match/N/lines`: a match for the viewer, a line of JSON for its head, each step and its end. While it is played they come as it is
//! played; a match that is over is sent from its replay. In between, what comes is said in lines of their own:
//!
//! - `{"wait": "..."}`: nothing comes for now, and why.
//! - `{"restart": "..."}`: it begins again, because its first try came to nothing.
//! - `{"error": "..."}`: nothing comes any more.
//!
//! Whoever may see the match gets the lines; what belongs to a team only those who may look into that team's seats
//! ([`own::seats`]).

use std::sync::Arc;
use std::time::Duration;

use agon_game::Seat;
use agon_server::live::MatchReel;
use agon_store::reads::StoredMatch;
use agon_store::{Kind, MatchState};
use agon_web::{Privacy, View};
use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;
use tokio::time::Instant;
use tokio_stream::wrappers::ReceiverStream;

use crate::answers;
use crate::gate::Visit;
use crate::pages::{matches, own};
use crate::problem::Refused;

/// The longest silence: after more of it, proxies and browsers give up.
const QUIET: Duration = Duration::from_secs(20);
/// How long a stream lasts; then the page comes back.
const LONGEST: Duration = Duration::from_secs(3600);
/// How many lines may wait to be taken by one reader.
const AHEAD: usize = 16;
/// How much is made of a replay at a time, in bytes.
const ENOUGH: usize = 64 << 10;
/// Seconds after which to come back when there is no room.
const AGAIN: i64 = 30;

/// A line that all readers share.
struct Shared(Arc<str>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// The lines of a match, to the caller.
pub async fn lines(ask: Visit) -> Result<Response, Refused> {
    matches::found(&ask).await?;
    let account = ask.person().map(|person| person.account);
    let Some(place) = ask.site.limits.stream(account, ask.from) else {
        let mut problem = Refused::too_much("Too many of your pages are live already.", AGAIN);
        problem.status = StatusCode::SERVICE_UNAVAILABLE;
        return Err(problem);
    };
    let (to, receiver) = mpsc::channel(AHEAD);
    let telling = Telling { to, sent: 0, n: None, stuck: None, said: "" };
    tokio::spawn(telling.tell(ask));
    let kind = HeaderValue::from_static("application/x-ndjson");
    let at_once = (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    let body = Body::from_stream(ReceiverStream::new(receiver));
    Ok(([(header::CONTENT_TYPE, kind), at_once], answers::held(body, place)).into_response())
}

/// The reader has gone, or nothing more can be told.
struct Gone;

impl From<Refused> for Gone {
    fn from(_: Refused) -> Self {
        Self
    }
}

/// What a reader has been told.
struct Telling {
    to: mpsc::Sender<Result<Bytes, std::convert::Infallible>>,
    /// How many lines: the head, and steps.
    sent: usize,
    /// Of which try the steps are.
    n: Option<i64>,
    /// The try of which this server can tell no more.
    stuck: Option<i64>,
    /// Why nothing comes, as said last.
    said: &'static str,
}

impl Telling {
    async fn tell(mut self, ask: Visit) {
        let until = Instant::now() + LONGEST;
        // Whether it was told to its end, or left midway, nothing follows.
        let _ = tokio::time::timeout_at(until, self.follow(&ask)).await;
    }

    /// Tells of the match until it is over.
    async fn follow(&mut self, ask: &Visit) -> Result<(), Gone> {
        let site = &ask.site;
        let (mut pulse, mut done, mut live) =
            (site.pulse(), site.server.done(), site.server.live().changes());
        loop {
            pulse.mark_unchanged();
            done.mark_unchanged();
            live.mark_unchanged();
            let played = matches::found(ask).await?;
            let own = own::seats(ask, &played);
            if played.replay.is_some() {
                return self.stored(ask, &played, own).await;
            }
            if played.state == MatchState::Dead {
                return self.say("error", "This match was abandoned; its page says why.").await;
            }
            let reel = site.server.live().of(played.id).filter(|_| played.state == MatchState::Leased);
            if let Some(reel) = reel.filter(|reel| self.stuck != Some(reel.n())) {
                self.live(&reel, &own).await?;
                continue;
            }
            if self.sent == 0 {
                self.head(ask, &played, !own.is_empty()).await?;
            }
            if played.kind == Kind::Ladder {
                site.server.live().look_for_one(site.now());
            }
            self.wait(match played.state {
                MatchState::Planned => "It waits for its turn.",
                MatchState::Leased => "It is being played. What is not shown yet comes when it is over.",
                _ => "It is being verified.",
            })
            .await?;
            let goes_on = tokio::select! {
                changed = pulse.changed() => changed.is_ok(),
                changed = done.changed() => changed.is_ok(),
                _ = live.changed() => true,
                () = tokio::time::sleep(QUIET) => self.still_here().await.is_ok(),
                () = self.to.closed() => false,
            };
            if !goes_on {
                return Err(Gone);
            }
        }
    }

    /// Tells of a match being played here, as long as there is news of it. The database is not asked meanwhile, however many listen.
    async fn live(&mut self, reel: &Arc<MatchReel>, own: &[Seat]) -> Result<(), Gone> {
        self.begin(reel.n()).await?;
        let mut more = reel.changes();
        loop {
            more.mark_unchanged();
            let (made, own, from) = (reel.clone(), own.to_vec(), self.sent);
            // Whoever comes first makes the lines, which takes a while.
            let made = spawn_blocking(move || made.lines(&own, from)).await;
            let (lines, is_stuck) = made.map_err(|_| Gone)?;
            for line in lines {
                self.send(Bytes::from_owner(Shared(line))).await?;
                self.sent += 1;
            }
            if is_stuck {
                self.stuck = Some(reel.n());
            }
            if is_stuck || reel.is_over() {
                return Ok(());
            }
            tokio::select! {
                _ = more.changed() => {}
                () = tokio::time::sleep(QUIET) => return self.still_here().await,
                () = self.to.closed() => return Err(Gone),
            }
        }
    }

    /// The steps that follow are those of this try. If some of another were told, it begins again.
    async fn begin(&mut self, n: i64) -> Result<(), Gone> {
        if self.sent > 1 && self.n != Some(n) {
            self.sent = 0;
            self.say("restart", "Its first try came to nothing; it is played again.").await?;
        }
        self.n = Some(n);
        Ok(())
    }

    /// The head of a match that has not begun.
    async fn head(&mut self, ask: &Visit, played: &StoredMatch, private: bool) -> Result<(), Gone> {
        let (site, played) = (ask.site.clone(), played.clone());
        let made = spawn_blocking(move || site.server.head_of(&played, private));
        let head = made.await.map_err(|_| Gone)?.map_err(|_| Gone)?;
        self.sent = 1;
        self.send(head.into()).await
    }

    /// A match that is over: from its replay, as far as it was not told while it was played.
    async fn stored(&mut self, ask: &Visit, played: &StoredMatch, own: Vec<Seat>) -> Result<(), Gone> {
        if self.sent > 1 {
            let tries = ask.site.store().attempts(played.id).await.map_err(|_| Gone)?;
            self.begin(tries.last().map_or(0, |(n, ..)| *n)).await?;
        }
        let replay = matches::seen(ask, played).await?;
        let privacy = if own.is_empty() { Privacy::Redacted } else { Privacy::Private };
        let opened = spawn_blocking(move || View::open(replay, privacy));
        let mut view = match opened.await.map_err(|_| Gone)? {
            Ok(view) => view,
            Err(why) => return self.say("error", &why.to_string()).await,
        };
        if self.sent == 0 {
            self.sent = 1;
            self.line(view.head()).await?;
        }
        while self.sent <= view.steps() as usize {
            let from = self.sent as u32;
            let made = spawn_blocking(move || {
                let (mut text, mut step) = (Vec::new(), from);
                while text.len() < ENOUGH
                    && let Some(line) = view.line(step)
                {
                    serde_json::to_writer(&mut text, &line)?;
                    text.push(b'\n');
                    step += 1;
                }
                Ok::<_, serde_json::Error>((view, text, step))
            });
            let text;
            (view, text, self.sent) = match made.await {
                Ok(Ok((view, text, step))) if step > from => (view, text, step as usize),
                _ => return Err(Gone),
            };
            self.send(text.into()).await?;
        }
        match view.head().end.clone() {
            Some(end) => self.line(&end).await,
            None => Ok(()),
        }
    }

    /// Says why nothing comes, once.
    async fn wait(&mut self, why: &'static str) -> Result<(), Gone> {
        if std::mem::replace(&mut self.said, why) == why {
            return Ok(());
        }
        self.say("wait", why).await
    }

    /// A line feed alone is no line: it shows that somebody is still here.
    async fn still_here(&mut self) -> Result<(), Gone> {
        self.send(Bytes::from_static(b"\n")).await
    }

    async fn say(&mut self, what: &str, text: &str) -> Result<(), Gone> {
        self.line(&json!({ what: text })).await
    }

    async fn line(&mut self, line: &impl serde::Serialize) -> Result<(), Gone> {
        let mut text = serde_json::to_vec(line).map_err(|_| Gone)?;
        text.push(b'\n');
        self.send(text.into()).await
    }

    async fn send(&mut self, bytes: Bytes) -> Result<(), Gone> {
        self.to.send(Ok(bytes)).await.map_err(|_| Gone)
    }
}
