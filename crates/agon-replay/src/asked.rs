//! A match replayed as its bots met it: what each was asked, to the byte.
//!
//! A dialect remembers what a bot said besides its orders (a name, a state of its own) and sends it with later
//! questions. So the bots are also heard again, from the notes of what they sent.

use agon_game::{Answer, Heard, PackedAnswer, Seat, Seats, Session, Transport};

use crate::Replay;
use crate::data::note;

/// A match that is asked, heard and played again.
pub struct AskedAgain<'a> {
    session: Box<dyn Session>,
    replay: &'a Replay,
    /// The seats of programs, as far as known: each of their answers has its time.
    programs: Seats,
    /// The seat that the caller asks and hears itself.
    fed: Option<Seat>,
    message: Vec<u8>,
}

impl<'a> AskedAgain<'a> {
    /// The match of `replay`, whose start `session` is at.
    pub fn new(session: Box<dyn Session>, replay: &'a Replay) -> Self {
        Self::but(session, replay, None)
    }

    /// The same, except for a seat that the caller asks and hears itself, so that a bot there meets the match again.
    pub fn with(session: Box<dyn Session>, replay: &'a Replay, fed: Seat) -> Self {
        Self::but(session, replay, Some(fed))
    }

    fn but(session: Box<dyn Session>, replay: &'a Replay, fed: Option<Seat>) -> Self {
        let programs = replay.timing.keys().map(|(_, seat)| *seat).collect();
        let mut asked = Self { session, replay, programs, fed, message: Vec::new() };
        for seat in Seat::first(replay.header.seats.len() as u8).filter(|seat| Some(*seat) != fed) {
            asked.hear_notes(seat, 0, note::FIRST);
        }
        asked
    }

    /// How many steps were played.
    pub fn steps(&self) -> usize {
        self.session.steps() as usize
    }

    /// The match as it stands.
    pub fn session(&mut self) -> &mut dyn Session {
        self.session.as_mut()
    }

    /// The same, read-only.
    pub fn view(&self) -> &dyn Session {
        self.session.as_ref()
    }

    /// Asks every seat that was asked at this step, in order; `each` gets the messages. The fed seat is left to the
    /// caller.
    pub fn ask(&mut self, mut each: impl FnMut(Seat, &[u8])) {
        for seat in self.session.deciding().iter().collect::<Vec<_>>() {
            if self.ask_one(seat) {
                each(seat, &self.message);
            }
        }
    }

    /// Asks a seat, if it was asked at this step.
    pub fn ask_one(&mut self, seat: Seat) -> bool {
        let asks = Some(seat) != self.fed && self.was_asked(seat);
        if asks {
            self.hear_notes(seat, self.steps() as u32, note::EARLY);
            self.message.clear();
            self.session.ask(seat, &mut self.message);
        }
        asks
    }

    /// Hears and plays the recorded answers; false when there are no more.
    ///
    /// # Errors
    /// When the answers do not fit this match.
    pub fn play(&mut self) -> Result<bool, String> {
        let number = self.steps();
        let Some(step) = self.replay.steps.get(number) else { return Ok(false) };
        if self.session.deciding().is_empty() {
            return Ok(false);
        }
        let fed = self.fed;
        for (seat, answer) in step.answers.iter().filter(|(seat, _)| Some(*seat) != fed) {
            self.hear_notes(*seat, number as u32, note::SAID);
            self.hear_answer(*seat, number as u32, answer);
        }
        self.session.play(&step.answers)?;
        Ok(true)
    }

    /// Whether a seat is asked at this step. A program that has gone is not; one that was asked last, and did not
    /// answer before the match was stopped, is.
    pub fn was_asked(&self, seat: Seat) -> bool {
        let timed = |step: usize| self.replay.timing.contains_key(&(step as u32, seat));
        let gone = |step: &crate::Step| {
            step.answers
                .iter()
                .any(|(other, answer)| *other == seat && *answer == Answer::Missing(agon_game::Absence::Gone))
        };
        match self.replay.steps.get(self.steps()) {
            _ if !self.programs.contains(seat) => true,
            Some(_) => timed(self.steps()),
            None => !self.replay.steps.iter().any(gone),
        }
    }

    fn hear_notes(&mut self, seat: Seat, step: u32, kind: &str) {
        for text in self.replay.notes_of(seat, step, kind) {
            self.session.hear(seat, text.as_bytes());
        }
    }

    /// Lets the dialect hear an answer as it was sent, or else as a tidy bot would have sent it.
    fn hear_answer(&mut self, seat: Seat, step: u32, answer: &PackedAnswer) {
        let mut message = Vec::new();
        match (self.replay.notes_of(seat, step, note::RAW).next(), answer) {
            (Some(raw), Answer::Given { .. } | Answer::Malformed { .. }) => {
                message.extend_from_slice(raw.as_bytes())
            }
            (None, Answer::Given { order, .. }) => drop(self.session.say(seat, order, &mut message)),
            _ => return,
        }
        let lines = matches!(self.session.info().transport, Transport::Lines | Transport::Script);
        let parts: Vec<&[u8]> =
            if lines { message.split(|&byte| byte == b'\n').collect() } else { vec![&message] };
        // A dialect still waiting for an answer it gave up on takes the next message for it. Late messages are not
        // recorded, but that this question was answered is, so the answer is repeated until it is heard as one.
        for _ in 0..=step {
            for part in &parts {
                match self.session.hear(seat, part) {
                    Heard::More | Heard::Ignore(_) => {}
                    Heard::Answer(_) | Heard::Failed { .. } | Heard::Malformed(_) | Heard::Close(_) => return,
                }
            }
        }
    }
}
