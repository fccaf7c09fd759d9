//! A match while it is played: its lines, made once for all who watch, whenever they come.

use std::sync::Arc;

use agon_game::{Outcome, PackedAnswer, Seat, Session};
use agon_replay::Header;
use serde::Serialize;
use serde_json::Value;

use crate::line::FaultLine;
use crate::maker::{Maker, Notes, Privacy, RecordingState, Unshowable};

/// The head of a match being played, its lines so far, and finally its end: each as JSON that ends with a line feed.
#[derive(Default)]
pub struct Reel {
    /// None before the head, and after the end.
    maker: Option<Maker>,
    /// The names the bots registered under, as far as they are in it: they come after the head.
    registered: Option<Vec<Option<String>>>,
    lines: Vec<Arc<str>>,
    size: usize,
}

impl Reel {
    /// Begins with the head of the match with this header. It has a session of its own, because only the referee may query the one
    /// being played.
    ///
    /// # Errors
    /// When the match cannot be set up a second time.
    pub fn begin(&mut self, header: &Header, privacy: Privacy) -> Result<(), Unshowable> {
        let (maker, head) = Maker::begin(header, &Value::Null, privacy)?;
        self.maker = Some(maker);
        self.add(&head);
        Ok(())
    }

    /// Adds a step. `registered` are the names that bots have given so far, if known. If the step cannot be played, which is our defect
    /// and not the match's, the reel ends.
    pub fn step(
        &mut self,
        answers: &[(Seat, PackedAnswer)],
        notes: impl FnMut(Seat) -> Notes,
        faults: Vec<FaultLine>,
        registered: Option<Vec<Option<String>>>,
    ) {
        let Some(maker) = &mut self.maker else { return };
        match maker.step(answers, notes, faults) {
            Ok(mut line) => {
                if registered != self.registered {
                    line.registered.clone_from(&registered);
                    self.registered = registered;
                }
                self.add(&line);
            }
            Err(why) => self.end(None, RecordingState::Altered(why)),
        }
    }

    /// Ends it; nothing follows.
    pub fn end(&mut self, outcome: Option<&Outcome>, ending: RecordingState) {
        if let Some(maker) = self.maker.take() {
            self.add(&maker.end(outcome, ending));
        }
    }

    /// Ends that of a match that could not be played.
    pub fn fail(&mut self, why: &str) {
        if self.maker.take().is_some() || self.lines.is_empty() {
            self.add(&serde_json::json!({ "error": why }));
        }
    }

    /// The lines from `from` on.
    pub fn since(&self, from: usize) -> &[Arc<str>] {
        &self.lines[from.min(self.lines.len())..]
    }

    /// Whether no more will come.
    pub fn is_over(&self) -> bool {
        self.maker.is_none() && !self.lines.is_empty()
    }

    /// Its size in bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The match as it stands; none before the head, and after the end.
    pub fn session(&self) -> Option<&dyn Session> {
        self.maker.as_ref().map(Maker::session)
    }

    fn add(&mut self, line: &impl Serialize) {
        // All keys of our lines are strings, so this cannot fail.
        let mut text = serde_json::to_string(line).unwrap_or_default();
        text.push('\n');
        self.size += text.len();
        self.lines.push(text.into());
    }
}
