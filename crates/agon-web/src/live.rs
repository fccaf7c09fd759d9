//! A match being played, for viewers: its lines come in, and any number of viewers read them.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agon_game::{Outcome, Session};
use agon_match::recorder::registered;
use agon_match::{MatchRecord, Observer, StepReport};
use agon_replay::{Header, Timing};
use tokio::sync::watch;

use agon_view::{FaultLine, Maker, Notes, Privacy, RecordingState, Unshowable};
use serde::Serialize;

/// The head of a match being played, its lines, and finally its end, each as JSON. Clones are the same match.
#[derive(Clone)]
pub struct Live(Arc<Inner>);

struct Inner {
    reel: Mutex<Reel>,
    /// Changes whenever a line is added.
    count: watch::Sender<usize>,
}

#[derive(Default)]
struct Reel {
    lines: Vec<Arc<str>>,
    done: bool,
}

impl Default for Live {
    fn default() -> Self {
        Self(Arc::new(Inner { reel: Mutex::default(), count: watch::Sender::new(0) }))
    }
}

impl Live {
    /// A camera for a match with this header.
    ///
    /// # Errors
    /// When the match cannot be set up a second time.
    pub fn camera(&self, header: &Header) -> Result<Camera, Unshowable> {
        let (maker, head) = Maker::begin(header, &serde_json::Value::Null, Privacy::Private)?;
        self.add(text(&head), false);
        Ok(Camera { maker: Some(maker), registered: None, live: self.clone() })
    }

    /// Ends a match that could not be played.
    pub fn fail(&self, why: &str) {
        self.add(serde_json::json!({ "error": why }).to_string(), true);
    }

    /// The lines from `from` on, and whether no more will come.
    pub fn since(&self, from: usize) -> (Vec<Arc<str>>, bool) {
        let reel = self.reel();
        (reel.lines[from.min(reel.lines.len())..].to_vec(), reel.done)
    }

    /// Signals when there are more lines.
    pub fn changes(&self) -> watch::Receiver<usize> {
        self.0.count.subscribe()
    }

    fn add(&self, line: String, last: bool) {
        let mut reel = self.reel();
        if !reel.done {
            reel.lines.push(line.into());
            reel.done = last;
        }
        let count = reel.lines.len();
        drop(reel);
        self.0.count.send_replace(count);
    }

    fn reel(&self) -> MutexGuard<'_, Reel> {
        self.0.reel.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One of our lines as JSON: all its keys are strings, so this cannot fail.
fn text(line: &impl Serialize) -> String {
    serde_json::to_string(line).unwrap_or_default()
}

/// Watches a match as it is played. It has a session of its own, because only the referee may query the one being played.
pub struct Camera {
    /// None after the end, or if the second session failed to follow: our defect, not the match's.
    maker: Option<Maker>,
    /// The names the bots registered under, as far as they have been sent: they come after the head.
    registered: Option<Vec<Option<String>>>,
    live: Live,
}

impl Camera {
    /// Ends the match.
    pub fn finish(mut self, record: &MatchRecord) {
        let ending = record.void_sentence().map_or(RecordingState::Whole, RecordingState::Void);
        self.end(record.outcome.as_ref(), ending);
    }

    fn end(&mut self, outcome: Option<&Outcome>, ending: RecordingState) {
        if let Some(maker) = self.maker.take() {
            self.live.add(text(&maker.end(outcome, ending)), true);
        }
    }
}

impl Observer for Camera {
    fn stepped(&mut self, session: &mut dyn Session, step: &StepReport<'_>) -> io::Result<()> {
        let Some(maker) = &mut self.maker else { return Ok(()) };
        let notes = |seat| {
            let takes = step.answers.iter().zip(step.takes);
            let take = takes.filter(|((of, _), take)| *of == seat && take.timed).map(|(_, take)| take).next();
            take.map_or_else(Notes::default, |take| Notes {
                raw: take.raw.as_ref().map(|raw| String::from_utf8_lossy(raw).into_owned()),
                stderr: String::from_utf8_lossy(&take.stderr).into_owned(),
                timing: Some(Timing {
                    wall_us: take.wall.as_micros() as u64,
                    cpu_us: take.cpu.map(|cpu| cpu.as_micros() as u64),
                }),
            })
        };
        let faults = step.faults.iter().map(|fault| FaultLine {
            seat: fault.seat.number(),
            kind: fault.kind.word().to_owned(),
            rule: None,
            message: fault.message.clone(),
        });
        match maker.step(step.answers, notes, faults.collect()) {
            Ok(mut line) => {
                let names = registered(session);
                if names != self.registered {
                    line.registered.clone_from(&names);
                    self.registered = names;
                }
                self.live.add(text(&line), false);
            }
            Err(why) => self.end(None, RecordingState::Altered(why)),
        }
        Ok(())
    }
}

/// A match that is dropped half-way has no more lines.
impl Drop for Camera {
    fn drop(&mut self) {
        self.end(None, RecordingState::Cut("the match stopped before its end".to_owned()));
    }
}
