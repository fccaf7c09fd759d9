//! Matches played on from a position by the game's quick policy, as an analysis needs them.
//!
//! Pure, and without a clock: the caller says how many futures it wants.

use agon_game::advantage::firsts;
use agon_game::{Answer, Chance as _, PackedAnswer, Position, Seat, Seeded, Session};

/// The policy plays at random in one of this many answers: otherwise deterministic bots would always see the same future.
pub const STRAYS: u32 = 10;
/// A match longer than this from a position on counts as shared by all.
const LONGEST: u32 = 20_000;

/// How a future begins.
#[derive(Clone, Copy, Debug)]
pub enum First<'a> {
    /// As the policy plays.
    Policy,
    /// With these answers of the deciding seats.
    Recorded(&'a [(Seat, PackedAnswer)]),
    /// With these answers, except for this seat, which plays as the policy does.
    Instead(&'a [(Seat, PackedAnswer)], Seat),
}

/// Plays the match of `session` on from `position` to its end, with the game's policy in all seats; returns each seat's
/// share of first place. `seed` identifies the future.
///
/// # Errors
/// When the position is not of this match, the game names no policy, or the first answers do not fit the step.
pub fn play_on(
    session: &mut dyn Session,
    position: &Position,
    first: First<'_>,
    seed: u64,
) -> Result<Vec<f64>, String> {
    begin_future(session, position, seed)?;
    let seats = session.recipe().seats;
    if session.outcome().is_none() {
        match first {
            First::Policy => {}
            First::Recorded(answers) => session.play(answers)?,
            First::Instead(answers, seat) => {
                let answers = instead(session, answers, seat);
                session.play(&answers)?;
            }
        }
    }
    let mut chance = Seeded::stream(seed as i64, "strays");
    let mut answers = Vec::new();
    for _ in 0..LONGEST {
        if let Some(outcome) = session.outcome() {
            return Ok(firsts(outcome));
        }
        answers.clear();
        for seat in session.deciding().iter() {
            // The policy is asked even if its answer is not used, so that it knows of every turn.
            let own = session.think(seat);
            let order = if chance.happens(1, STRAYS) { session.stray(seat, &mut chance) } else { own };
            answers.push((seat, Answer::Given { order, think_ms: 0 }));
        }
        session.play(&answers)?;
    }
    Ok(vec![1.0 / f64::from(seats); usize::from(seats)])
}

/// Goes to `position`, with the luck of the future `seed` and the policy in all seats.
pub(crate) fn begin_future(session: &mut dyn Session, position: &Position, seed: u64) -> Result<(), String> {
    if !session.go_to(&position.clone().redrawn(seed as i64)) {
        return Err("this position is not one of this match".to_owned());
    }
    let policy = session.info().policy;
    for seat in Seat::first(session.recipe().seats) {
        session.seat_builtin(seat, policy, &[], seed.wrapping_mul(31).wrapping_add(seat.index() as u64))?;
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
            let mut ends = std::collections::BTreeSet::new();
            for seed in 0..12 {
                let shares = play_on(session.as_mut(), &start, First::Policy, seed).expect("a policy");
                let end = session.hash();
                assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{}: {shares:?}", game.info().name);
                assert_eq!(
                    play_on(session.as_mut(), &start, First::Policy, seed),
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
