//! One match, for whoever has it played: seated, played, and what is known of it then.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use agon_api::MatchResult;
use agon_bot::BotName;
use agon_game::Session;
use agon_match::{
    Clock, MatchRecord, Observer, Ponder, Recorder, SeatError, StepReport, Terms, play_on, seat_all,
};
use agon_replay::{Header, SeatInfo};

use crate::same::AnswerHash;
use crate::told::{observed, proven};
use crate::work::Trouble;

/// A match to be played.
pub struct MatchOrder<'a> {
    /// The game before its first step.
    pub session: Box<dyn Session>,
    pub clock: Clock,
    /// What happens to bots that compute in their opponent's time.
    pub ponder: Ponder,
    /// Who sits in each seat, as the replay says.
    pub seats: Vec<SeatInfo>,
    pub bots: Vec<&'a BotName>,
    /// How many matches the bot of each seat has made void; empty for none.
    pub disturbed: &'a [u32],
    /// The identity of the match in its replay.
    pub id: Option<String>,
    /// Whether there is a replay.
    pub is_recorded: bool,
    /// Who else sees its steps; none for nobody.
    pub observer: Option<&'a mut dyn Observer>,
}

/// A match that is over.
pub struct FinishedMatch {
    /// What the referee saw, with the reason if it does not count.
    pub record: MatchRecord,
    session: Box<dyn Session>,
    answers: AnswerHash,
    recorder: Option<Recorder<Vec<u8>>>,
}

/// Plays a match on these CPUs until `halt` becomes true. `turn` counts its steps.
///
/// # Errors
/// When it cannot begin.
pub fn play_match<'a>(
    game: MatchOrder<'a>,
    cpus: &[usize],
    halt: &AtomicBool,
    turn: &'a AtomicU32,
) -> Result<FinishedMatch, Trouble> {
    let MatchOrder { mut session, clock, ponder, seats, bots, disturbed, id, is_recorded, observer } = game;
    let labels: Vec<String> = seats.iter().map(|seat| seat.label.clone()).collect();
    let begin = || Recorder::new(Vec::new(), &Header { id, ..Header::new(session.as_ref(), seats, clock) });
    let recorder = is_recorded.then(begin).transpose().map_err(no_memory)?;
    let mut watch = Watch { answers: AnswerHash::default(), recorder, turn, observer };
    let mut players = seat_all(session.as_mut(), bots, clock, ponder, cpus).map_err(|error| match error {
        SeatError::Name(why) => Trouble::CannotStart(why),
        SeatError::Machine(why) => Trouble::Machine(why),
    })?;
    let terms = Terms { disturbed, ..Terms::new(clock, ponder, halt) };
    let record = play_on(session.as_mut(), &mut players, &labels, &mut watch, &terms);
    let Watch { answers, recorder, .. } = watch;
    Ok(FinishedMatch { record, session, answers, recorder })
}

fn no_memory(error: io::Error) -> Trouble {
    Trouble::Own(format!("a replay cannot be kept in memory: {error}"))
}

impl FinishedMatch {
    /// The map and the result of a match that counts and began at `start`.
    ///
    /// # Errors
    /// When it has no outcome.
    pub fn result(&self, start: u64) -> Result<(String, MatchResult), Trouble> {
        let proven = proven(self.session.as_ref(), start, self.answers.clone());
        let proven =
            proven.ok_or_else(|| Trouble::Own("a match that is not void has no outcome".to_owned()))?;
        let map = self.session.recipe().map_name.clone();
        Ok((map, MatchResult { proven, observed: observed(&self.record) }))
    }

    /// Its replay; none if it was not recorded.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn replay(&mut self) -> Result<Option<Vec<u8>>, Trouble> {
        let (recorder, session) = (self.recorder.take(), self.session.as_mut());
        recorder.map(|recorder| recorder.finish(session, &self.record)).transpose().map_err(no_memory)
    }
}

/// Sees every step: for the fingerprint of the answers, for the replay, and for whoever waits.
struct Watch<'a> {
    answers: AnswerHash,
    recorder: Option<Recorder<Vec<u8>>>,
    turn: &'a AtomicU32,
    observer: Option<&'a mut dyn Observer>,
}

impl Observer for Watch<'_> {
    fn stepped(&mut self, session: &mut dyn Session, step: &StepReport<'_>) -> io::Result<()> {
        self.turn.store(session.steps(), Ordering::Relaxed);
        step.answers.iter().for_each(|(seat, answer)| self.answers.add(*seat, answer));
        self.recorder.as_mut().map_or(Ok(()), |recorder| recorder.stepped(session, step))?;
        self.observer.as_mut().map_or(Ok(()), |observer| observer.stepped(session, step))
    }
}
