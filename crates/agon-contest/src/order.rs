//! Who sits behind whom: cyclic orders in which every neighbourhood is equally frequent.
//!
//! All rotations of one cyclic order put everybody in every seat, but everybody always has the same neighbour behind. With many seats that
//! decides a lot, so the cyclic order changes from block to block.

use agon_game::chance::{Chance as _, Seeded};

/// The number of cyclic orders of `seats` places that make every ordered neighbourhood, including that of the last seat and the first,
/// equally frequent.
pub fn count(seats: usize) -> u64 {
    match seats {
        0..=2 => 1,
        odd if odd % 2 == 1 => odd as u64 - 1,
        even => 2 * (even as u64 - 1),
    }
}

/// The cyclic order with this number, from 0 to below [`count`]: the places 0 to `seats - 1`, each once.
///
/// One place stays in front. The others stand on a circle and are visited in a zigzag (`0 1 -1 2 -2 ...`), which
/// makes steps of every width; each turn of the circle by one place is another order. On an odd circle the zigzag
/// makes only the odd steps, twice each, and the same orders backwards make the even ones. (The zigzag is
/// Walecki's, from Lucas, *Récréations mathématiques* II, 1883.)
pub fn cyclic(seats: usize, number: u64) -> Vec<usize> {
    let circle = seats - 1;
    if circle < 2 {
        return (0..seats).collect();
    }
    let (turn, backwards) = ((number as usize) % circle, number as usize >= circle);
    let zigzag = (0..circle).map(|step| match step % 2 {
        1 => step.div_ceil(2),
        _ => circle - step / 2,
    });
    let mut order: Vec<usize> = zigzag.map(|place| (place + turn) % circle).collect();
    if backwards {
        order.reverse();
    }
    order.insert(0, circle);
    order
}

/// The numbers 0 to `length - 1` in an order drawn from `seed` for this purpose.
pub fn shuffled(length: usize, seed: i64, purpose: &str) -> Vec<usize> {
    let mut chance = Seeded::stream(seed, purpose);
    let mut all: Vec<usize> = (0..length).collect();
    for last in (1..length).rev() {
        all.swap(last, chance.below(last as u32 + 1) as usize);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ordered_neighbourhood_is_equally_frequent() {
        for seats in 2..=32 {
            let mut behind = vec![vec![0u64; seats]; seats];
            for number in 0..count(seats) {
                let order = cyclic(seats, number);
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert_eq!(
                    sorted,
                    (0..seats).collect::<Vec<_>>(),
                    "{seats} seats, order {number}: {order:?}"
                );
                for place in 0..seats {
                    behind[order[place]][order[(place + 1) % seats]] += 1;
                }
            }
            let each = count(seats) / (seats as u64 - 1).max(1);
            for (one, row) in behind.iter().enumerate() {
                for (other, &times) in row.iter().enumerate().filter(|(other, _)| *other != one) {
                    assert_eq!(times, each, "{seats} seats: {other} behind {one}");
                }
            }
        }
    }

    #[test]
    fn a_shuffle_is_of_its_seed_and_purpose() {
        assert_eq!(shuffled(9, 7, "a"), shuffled(9, 7, "a"));
        assert_ne!(shuffled(9, 7, "a"), shuffled(9, 7, "b"));
        assert_eq!(shuffled(1, 7, "a"), [0]);
    }
}
