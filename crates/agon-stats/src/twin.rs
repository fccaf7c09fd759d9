//! Games of more than two seats: normalised ranks, and twin matches.
//!
//! In a twin match NEW plays in some seat among a field of other bots, and OLD plays the same seed, seat
//! and field. Only the difference between the two counts, so the luck of the seed, the seat and the field
//! cancels. A block is one twin match in every rotation of the seats.

use serde::{Deserialize, Serialize};

use crate::Block;

/// The opponents left behind, a tie counting half, in half opponents: from 0 (last) to `2 * (seats - 1)`
/// (sole first). Divided by that it is the normalised rank. Ranks count from 1 for the best; only their
/// order matters. `seat` is an index into `ranks`.
pub fn half_opponents_beaten(ranks: &[u8], seat: usize) -> u32 {
    let own = ranks[seat];
    let opponents = ranks.iter().enumerate().filter(|&(other, _)| other != seat);
    opponents
        .map(|(_, &rank)| match rank.cmp(&own) {
            std::cmp::Ordering::Greater => 2,
            std::cmp::Ordering::Equal => 1,
            std::cmp::Ordering::Less => 0,
        })
        .sum()
}

/// The same match twice: with NEW and with OLD in the seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Twin {
    /// The seat, as an index into the ranks.
    pub seat: usize,
    /// The ranks of all seats with NEW in the seat.
    pub new: Vec<u8>,
    /// The ranks of all seats with OLD in the seat.
    pub old: Vec<u8>,
}

impl Twin {
    /// The points of NEW, from 0 (last where OLD was first) over `2 * (seats - 1)` (the same) to
    /// `4 * (seats - 1)` (first where OLD was last): the difference of the normalised ranks, shifted to
    /// `0..=1`, as a whole number. None unless both matches have the same number of seats, at least two.
    pub fn points(&self) -> Option<u32> {
        let seats = self.new.len();
        if seats < 2 || self.old.len() != seats || self.seat >= seats {
            return None;
        }
        let even = 2 * (seats as u32 - 1);
        Some(even + half_opponents_beaten(&self.new, self.seat) - half_opponents_beaten(&self.old, self.seat))
    }
}

/// The block of these twin matches, of the shape [`crate::Shape::twins`]; none if one of them does not
/// have `seats` seats or there is not one for every rotation.
pub fn twin_block(start: u64, fingerprint: u64, seats: u32, twins: &[Twin]) -> Option<Block> {
    let fits = twins.len() == seats as usize && twins.iter().all(|twin| twin.new.len() == seats as usize);
    let points = twins.iter().map(Twin::points).collect::<Option<Vec<_>>>()?;
    fits.then_some(Block { start, fingerprint, points })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Estimate, Shape, Tally};

    #[test]
    fn a_normalised_rank_is_the_share_of_opponents_left_behind() {
        assert_eq!([0, 1, 2, 3].map(|seat| half_opponents_beaten(&[2, 1, 4, 2], seat)), [3, 6, 0, 3]);
        assert_eq!(half_opponents_beaten(&[1, 1], 0), 1);
    }

    #[test]
    fn only_the_difference_between_the_twins_counts() {
        let twin = |new: [u8; 4], old: [u8; 4]| Twin { seat: 1, new: new.to_vec(), old: old.to_vec() };
        assert_eq!(twin([2, 1, 3, 4], [1, 4, 2, 3]).points(), Some(12));
        assert_eq!(twin([1, 4, 2, 3], [2, 1, 3, 4]).points(), Some(0));
        // As good as before, whether both were good or both bad.
        assert_eq!(twin([2, 1, 3, 4], [4, 1, 2, 3]).points(), Some(6));
        assert_eq!(twin([1, 4, 2, 3], [2, 4, 3, 1]).points(), Some(6));
        assert_eq!(Twin { seat: 0, new: vec![1, 2], old: vec![1, 2, 3] }.points(), None);
    }

    #[test]
    fn twin_blocks_feed_the_same_statistics() {
        let better = Twin { seat: 0, new: vec![1, 2, 3], old: vec![2, 1, 3] };
        let same = Twin { seat: 0, new: vec![1, 2, 3], old: vec![1, 3, 2] };
        let block = twin_block(4, 5, 3, &[better.clone(), same.clone(), better]).unwrap();
        assert_eq!(block.points, [6, 4, 6]);
        let mut tally = Tally::new(Shape::twins(3)).unwrap();
        tally.add(&block).unwrap();
        assert!((Estimate::new(&tally, 0.95).score - 16.0 / 24.0).abs() < 1e-15);
        assert_eq!(twin_block(4, 5, 3, &[same]), None);
    }
}
