//! A match being played, for viewers: its lines come in, and any number of viewers read them.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agon_game::{Outcome, Session};
use agon_match::recorder::registered;
use agon_match::{MatchRecord, Observer, StepReport};
use agon_replay::{Header, Timing};
use tokio::sync::watch;

use agon_view::{FaultLine, Notes, Privacy, RecordingState, Reel, Unshowable};

/// The reel of a match being played. Clones are the same match.
#[derive(Clone)]
pub struct Live(Arc<Inner>);

struct Inner {
    reel: Mutex<Reel>,
    /// Changes whenever there is more.
    changed: watch::Sender<()>,
}

impl Default for Live {
    fn default() -> Self {
        Self(Arc::new(Inner { reel: Mutex::default(), changed: watch::Sender::new(()) }))
    }
}

impl Live {
    /// A camera for a match with this header.
    ///
    /// # Errors
    /// When the match cannot be set up a second time.
    pub fn camera(&self, header: &Header) -> Result<Camera, Unshowable> {
        self.turn(|reel| reel.begin(header, Privacy::Private))?;
        Ok(Camera(self.clone()))
    }

    /// Ends a match that could not be played.
    pub fn fail(&self, why: &str) {
        self.turn(|reel| reel.fail(why));
    }

    /// The lines from `from` on, and whether no more will come.
    pub fn since(&self, from: usize) -> (Vec<Arc<str>>, bool) {
        let reel = self.reel();
        (reel.since(from).to_vec(), reel.is_over())
    }

    /// Signals when there are more lines.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.0.changed.subscribe()
    }

    fn turn<T>(&self, act: impl FnOnce(&mut Reel) -> T) -> T {
        let done = act(&mut self.reel());
        self.0.changed.send_replace(());
        done
    }

    fn reel(&self) -> MutexGuard<'_, Reel> {
        self.0.reel.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Watches a match as it is played.
pub struct Camera(Live);

impl Camera {
    /// Ends the match.
    pub fn finish(self, record: &MatchRecord) {
        let ending = record.void_sentence().map_or(RecordingState::Whole, RecordingState::Void);
        self.end(record.outcome.as_ref(), ending);
    }

    fn end(&self, outcome: Option<&Outcome>, ending: RecordingState) {
        self.0.turn(|reel| reel.end(outcome, ending));
    }
}

impl Observer for Camera {
    fn stepped(&mut self, session: &mut dyn Session, step: &StepReport<'_>) -> io::Result<()> {
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
        self.0.turn(|reel| reel.step(step.answers, notes, faults.collect(), registered(session)));
        Ok(())
    }
}

/// A match that is dropped half-way has no more lines.
impl Drop for Camera {
    fn drop(&mut self) {
        self.end(None, RecordingState::Cut("the match stopped before its end".to_owned()));
    }
}
