//! The play order: which team's actions come first in a tick.

use agon_game::{Chance, Seeded};

use crate::rules::MAX_TEAMS;

/// The play order of every tick; only the first entries count, one per team.
pub type Schedule = Vec<[u8; MAX_TEAMS]>;

/// Draws the whole schedule from the match seed, stream `order`.
///
/// With n teams, a fresh order is drawn every n x n ticks (JB-ORDER-1). Before every tick, the first of a
/// block included, it is rotated by one to the left, so that in a block every team is first n times (JB-ORDER-2).
///
/// `recorded` are the orders of the first blocks, seats from 1, as they stand in the first tick of each: these are not drawn.
pub fn draw(seed: i64, teams: u8, ticks: u16, recorded: &[Vec<u8>]) -> Schedule {
    let mut chance = Seeded::stream(seed, "order");
    let teams = usize::from(teams);
    let mut order = [0, 1, 2, 3];
    let mut schedule = Schedule::with_capacity(usize::from(ticks));
    for tick in 0..usize::from(ticks) {
        if tick.is_multiple_of(teams * teams) {
            for last in (1..teams).rev() {
                order.swap(last, chance.below(last as u32 + 1) as usize);
            }
        }
        order[..teams].rotate_left(1);
        if let Some(first) =
            recorded.get(tick / (teams * teams)).filter(|_| tick.is_multiple_of(teams * teams))
        {
            for (place, seat) in order.iter_mut().zip(first) {
                *place = seat - 1;
            }
        }
        schedule.push(order);
    }
    schedule
}
