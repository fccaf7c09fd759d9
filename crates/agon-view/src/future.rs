//! Matches played on from a position by a built-in bot, the policy, as an analysis needs them.
//!
//! Pure, and without a clock: the caller says how many futures it wants.

use agon_game::advantage::firsts;
use agon_game::{Answer, Chance as _, GameInfo, PackedAnswer, Position, Seat, Seeded, Session};

/// The policy plays at random in one of this many answers: otherwise deterministic bots would always see the same future.
pub const STRAYS: u32 = 10;
/// A match longer than this from a position on counts as shared by all.
const LONGEST: u32 = 20_000;

/// The built-in bot that plays on in all seats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayoutPolicy {
    /// As it is written: `hunter?nodes=100`.
    text: String,
    name: String,
    options: Vec<(String, String)>,
}

impl PlayoutPolicy {
    /// A built-in bot of a game with its options, as after `builtin:`.
    ///
    /// # Errors
    /// A sentence, when the game has none of that name or with such options.
    pub fn of(info: &GameInfo, text: &str) -> Result<Self, String> {
        let text = text.strip_prefix("builtin:").unwrap_or(text);
        let (name, rest) = text.split_once('?').unwrap_or((text, ""));
        let option = |option: &str| {
            let (key, value) = option.split_once('=')?;
            Some((key.to_owned(), value.to_owned()))
        };
        let options: Option<Vec<_>> = rest.split('&').filter(|part| !part.is_empty()).map(option).collect();
        let options = options.ok_or_else(|| format!("`{text}`: options are written as KEY=VALUE"))?;
        info.check_builtin(name, &options)?;
        Ok(Self { text: text.to_owned(), name: name.to_owned(), options })
    }

    /// As it is written: `hunter?nodes=100`.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Seats it.
    pub(crate) fn sit(&self, session: &mut dyn Session, seat: Seat, seed: u64) -> Result<(), String> {
        session.seat_builtin(seat, &self.name, &self.options, seed)
    }
}

/// How a future begins.
#[derive(Clone, Copy, Debug)]
pub enum First<'a> {
    /// As the policy plays.
    Policy,
    /// With these answers of the deciding seats.
    Recorded(&'a [(Seat, PackedAnswer)]),
    /// With these answers, except for this seat, which plays as the policy does.
    Instead(&'a [(Seat, PackedAnswer)], Seat),
    /// With this answer of one seat; those that decide beside it play as the policy does: it could not know what they do.
    Alone(Seat, &'a PackedAnswer),
}

/// Plays the match of `session` on from `position` to its end, with the policy in all seats; returns each seat's share of
/// first place. `seed` identifies the future.
///
/// # Errors
/// When the position is not of this match, the policy cannot be seated, or the first answers do not fit the step.
pub fn play_on(
    session: &mut dyn Session,
    position: &Position,
    policy: &PlayoutPolicy,
    first: First<'_>,
    seed: u64,
) -> Result<Vec<f64>, String> {
    let seats = session.recipe().seats;
    let end = play_for(session, position, policy, first, seed, LONGEST)?;
    Ok(end.unwrap_or_else(|| vec![1.0 / f64::from(seats); usize::from(seats)]))
}

/// The same for at most so many steps after the first answers; none if the match goes on then.
pub(crate) fn play_for(
    session: &mut dyn Session,
    position: &Position,
    policy: &PlayoutPolicy,
    first: First<'_>,
    seed: u64,
    steps: u32,
) -> Result<Option<Vec<f64>>, String> {
    begin_future(session, position, policy, seed)?;
    let mut chance = Seeded::stream(seed as i64, "strays");
    let mut answers = Vec::new();
    if session.outcome().is_none() {
        match first {
            First::Policy => {}
            First::Recorded(answers) => session.play(answers)?,
            First::Instead(answers, seat) => {
                let answers = instead(session, answers, seat);
                session.play(&answers)?;
            }
            First::Alone(own, answer) => {
                think(session, &mut chance, &mut answers);
                answers
                    .iter_mut()
                    .filter(|(seat, _)| *seat == own)
                    .for_each(|(_, given)| *given = answer.clone());
                session.play(&answers)?;
            }
        }
    }
    for _ in 0..steps {
        if session.outcome().is_some() {
            break;
        }
        think(session, &mut chance, &mut answers);
        session.play(&answers)?;
    }
    Ok(session.outcome().map(firsts))
}

/// What the policy answers in all deciding seats, now and then at random.
fn think(session: &mut dyn Session, chance: &mut Seeded, answers: &mut Vec<(Seat, PackedAnswer)>) {
    answers.clear();
    for seat in session.deciding().iter() {
        // The policy is asked even if its answer is not used, so that it knows of every turn.
        let own = session.think(seat);
        let order = if chance.happens(1, STRAYS) { session.stray(seat, chance) } else { own };
        answers.push((seat, Answer::Given { order, think_ms: 0 }));
    }
}

/// Goes to `position`, with the luck of the future `seed` and the policy in all seats.
pub(crate) fn begin_future(
    session: &mut dyn Session,
    position: &Position,
    policy: &PlayoutPolicy,
    seed: u64,
) -> Result<(), String> {
    if !session.go_to(&position.clone().redrawn(seed as i64)) {
        return Err("this position is not one of this match".to_owned());
    }
    for seat in Seat::first(session.recipe().seats) {
        policy.sit(session, seat, seed.wrapping_mul(31).wrapping_add(seat.index() as u64))?;
    }
    Ok(())
}

/// These answers, with that of `seat` replaced by what the bot seated there would play.
pub(crate) fn instead(
    session: &mut dyn Session,
    answers: &[(Seat, PackedAnswer)],
    seat: Seat,
) -> Vec<(Seat, PackedAnswer)> {
    let mut answers = answers.to_vec();
    for (_, answer) in answers.iter_mut().filter(|(other, _)| *other == seat) {
        *answer = Answer::Given { order: session.think(seat), think_ms: 0 };
    }
    answers
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_game::Setup;

    #[test]
    fn the_same_future_is_the_same_and_another_is_another() {
        for game in agon_games::all() {
            let setup = Setup { seats: game.info().usual_seats(), seed: 4, ..Setup::default() };
            let mut session = game.open(&setup).expect("it sets up");
            let start = session.position();
            let policy = PlayoutPolicy::of(game.info(), game.info().policy).expect("a policy");
            let mut ends = std::collections::BTreeSet::new();
            for seed in 0..12 {
                let shares =
                    play_on(session.as_mut(), &start, &policy, First::Policy, seed).expect("a policy");
                let end = session.hash();
                assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{}: {shares:?}", game.info().name);
                assert_eq!(
                    play_on(session.as_mut(), &start, &policy, First::Policy, seed),
                    Ok(shares),
                    "{}",
                    game.info().name
                );
                assert_eq!(session.hash(), end, "{}", game.info().name);
                ends.insert(end);
            }
            assert!(ends.len() > 6, "{}: {} of 12 futures differ", game.info().name, ends.len());
        }
    }
}
