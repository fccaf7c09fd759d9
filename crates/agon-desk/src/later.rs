//! Where a bot stands some turns after it took a seat of a recorded match.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use agon_bot::BotName;
use agon_game::{PackedAnswer, Seat, Session};
use agon_match::record::Void;
use agon_match::{Fault, Observer, StepReport, Terms, play_on};
use agon_replay::Replay;

use crate::DeskError;
use crate::replays::open;
use crate::seats::{labels, seat_all};

/// The standing of a bot some turns after it took a seat of a recorded match.
pub struct Later {
    /// The place, in the game's words.
    pub moment: String,
    /// Its score there.
    pub score: Option<f64>,
    /// Its chance to finish first.
    pub advantage: Option<f64>,
    /// Its faults as a program.
    pub faults: Vec<Fault>,
    /// Why it does not count, if so.
    pub void: Option<Void>,
}

impl Later {
    /// Leads a bot through a recorded match up to `turn`, from 0, then plays on for `turns` more, or to the end. `names` are the
    /// bots of the seats from there on; of `terms` the clock, what happens to bots that ponder, and what stops the match count.
    ///
    /// # Errors
    /// When the match cannot be played again, or a bot cannot be started.
    pub fn of(
        old: &Replay,
        names: &[BotName],
        seat: Seat,
        (turn, turns): (u32, u32),
        terms: &Terms<'_>,
    ) -> Result<Self, DeskError> {
        let given: Vec<Vec<(Seat, PackedAnswer)>> =
            old.steps.iter().take(turn as usize).map(|step| step.answers.clone()).collect();
        let mut session = open(old)?;
        let mut players = seat_all(session.as_mut(), names, terms.clock, terms.ponder)?;
        let enough = AtomicBool::new(false);
        let until = turn.saturating_add(turns);
        let mut stand = Stand { seat, until, stop: terms.stop, enough: &enough, seen: None };
        let terms = Terms { given: &given, ..Terms::new(terms.clock, terms.ponder, &enough) };
        let record = play_on(session.as_mut(), &mut players, &labels(names), &mut stand, &terms);
        drop(players);
        let over = stand.seen.is_some();
        let (moment, score, advantage) = stand.seen.unwrap_or_default();
        let faults = record.faults.into_iter().filter(|fault| fault.seat == seat).collect();
        // Stopping there was the plan.
        let void = record.void.filter(|void| !(over && *void == Void::Stopped));
        Ok(Self { moment, score, advantage, faults, void })
    }
}

/// Ends a match after some steps and records the standing of a seat there.
struct Stand<'a> {
    seat: Seat,
    /// The number of steps of the match.
    until: u32,
    stop: &'a AtomicBool,
    enough: &'a AtomicBool,
    seen: Option<(String, Option<f64>, Option<f64>)>,
}

impl Observer for Stand<'_> {
    fn stepped(&mut self, session: &mut dyn Session, _: &StepReport<'_>) -> io::Result<()> {
        if self.seen.is_none() && (session.steps() >= self.until || session.outcome().is_some()) {
            let own = self.seat.index();
            let (features, standing) = (session.info().advantage.len(), session.standing());
            let score = match session.outcome() {
                Some(outcome) => outcome.scores.get(own).copied(),
                // The score is the first of a game's features.
                None => standing.features.get(own * features).copied().filter(|_| features > 0),
            };
            let advantage = agon_game::advantage(session).and_then(|chances| chances.get(own).copied());
            self.seen = Some((session.moment(), score, advantage));
            self.enough.store(true, Ordering::Relaxed);
        }
        self.enough.fetch_or(self.stop.load(Ordering::Relaxed), Ordering::Relaxed);
        Ok(())
    }
}
