//! Which blocks are evidence, and which only repeat what was known.
//!
//! A block is played from a **start**: rules, map, state, and who sits where. Deterministic bots give the
//! same answers from the same start every time, and playing it again proves nothing: such a start is one piece
//! of evidence. As soon as two blocks of a start differ in any answer, something varies there. Then each of its
//! blocks is a separate draw and all of them are evidence, including equal ones: dropping those would thin out what
//! happens often and keep what is rare.
//!
//! This decides how certain a mean is, never what it is. All blocks are part of the mean, because it is the schedule
//! that gives a start its weight: a bot must not be able to give it more by playing at random there.

use std::collections::BTreeMap;

/// The starts so far and what was played from them.
#[derive(Clone, Debug)]
pub struct Repeats<T> {
    starts: BTreeMap<u64, Start<T>>,
    counted: u64,
    left_out: u64,
}

#[derive(Clone, Debug)]
enum Start<T> {
    /// Played once, with these answers.
    Once(u64),
    /// Played again with the same answers, this many times.
    Same(u64, T, u64),
    /// Two of its blocks differ.
    Varied,
}

impl<T> Default for Repeats<T> {
    fn default() -> Self {
        Self { starts: BTreeMap::new(), counted: 0, left_out: 0 }
    }
}

impl<T: Clone> Repeats<T> {
    /// Adds a block with these answers from this start and returns the blocks that count from now on: none
    /// if it repeats the start; if it is the first that differs, it and all that were left out.
    pub fn add(&mut self, start: u64, answers: u64, block: T) -> Vec<T> {
        let (known, counts) = match self.starts.remove(&start) {
            None => (Start::Once(answers), vec![block]),
            Some(Start::Once(same)) if same == answers => (Start::Same(same, block, 1), Vec::new()),
            Some(Start::Same(same, one, again)) if same == answers => {
                (Start::Same(same, one, again + 1), Vec::new())
            }
            Some(Start::Same(_, one, again)) => {
                self.left_out -= again;
                let mut counts = vec![one; again as usize];
                counts.push(block);
                (Start::Varied, counts)
            }
            Some(Start::Once(_) | Start::Varied) => (Start::Varied, vec![block]),
        };
        self.starts.insert(start, known);
        self.counted += counts.len() as u64;
        self.left_out += u64::from(counts.is_empty());
        counts
    }

    /// The number of blocks that count.
    pub fn counted(&self) -> u64 {
        self.counted
    }

    /// The number of blocks that do not count because they only repeat their start.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// How often each start was played at least, if no start ever varied; none if one did, or before the first block.
    pub fn least_of_constant(&self) -> Option<u64> {
        let times = self.starts.values().map(|start| match start {
            Start::Once(_) => Some(1),
            Start::Same(_, _, again) => Some(again + 1),
            Start::Varied => None,
        });
        times.min().flatten()
    }

    /// The number of starts from which the same was played again and again.
    pub fn repeated_starts(&self) -> u64 {
        self.starts.values().filter(|start| matches!(start, Start::Same(..))).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_that_never_varies_is_one_piece_of_evidence() {
        let mut repeats = Repeats::default();
        assert_eq!(repeats.add(1, 7, 'a'), ['a']);
        assert_eq!(repeats.add(1, 7, 'a'), []);
        assert_eq!(repeats.add(1, 7, 'a'), []);
        assert_eq!(repeats.add(2, 7, 'a'), ['a'], "equal answers from another start are another game");
        assert_eq!((repeats.counted(), repeats.left_out(), repeats.repeated_starts()), (2, 2, 1));
        assert_eq!(repeats.least_of_constant(), Some(1), "the second start was played once");
        repeats.add(2, 7, 'a');
        assert_eq!(repeats.least_of_constant(), Some(2));
        repeats.add(2, 8, 'a');
        assert_eq!(repeats.least_of_constant(), None);
    }

    #[test]
    fn from_the_first_difference_on_all_blocks_of_the_start_count() {
        let mut repeats = Repeats::default();
        repeats.add(1, 7, 'a');
        repeats.add(1, 7, 'a');
        repeats.add(1, 7, 'a');
        assert_eq!(repeats.add(1, 8, 'b'), ['a', 'a', 'b'], "those left out before are counted now");
        assert_eq!(repeats.add(1, 7, 'a'), ['a']);
        assert_eq!(repeats.add(1, 8, 'b'), ['b']);
        assert_eq!((repeats.counted(), repeats.left_out(), repeats.repeated_starts()), (6, 0, 0));
    }
}
