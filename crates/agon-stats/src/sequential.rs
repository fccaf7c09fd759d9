//! A running test: fed block by block, it says when to stop.

use serde::{Deserialize, Serialize};

use crate::{Block, BlockError, Corrected, Estimate, Repeats, Sprt, Tally, stopping};

/// What to do after a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Play on.
    Continue,
    /// The difference is `elo0` rather than `elo1`.
    AcceptH0,
    /// The difference is `elo1` rather than `elo0`.
    AcceptH1,
    /// These bots do not vary, and what they play from the available starts is not enough to decide: vary maps, seeds or
    /// opponents.
    OutOfGames {
        /// The number of blocks that are evidence. In JSON it keeps its first name, because scripts read decisions.
        #[serde(rename = "distinct")]
        counted: u64,
    },
}

/// Where the test stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct Status {
    /// The decision. Once it is no longer `continue`, it never changes.
    pub decision: Decision,
    /// The log-likelihood ratio: positive values favour H1.
    pub llr: f64,
    /// H0 is accepted at or below this.
    pub lower: f64,
    /// H1 is accepted at or above this.
    pub upper: f64,
    /// Blocks that are evidence, not repeats.
    pub counted: u64,
    /// All blocks fed.
    pub blocks: u64,
    /// `counts[p]` of all blocks gave `p` points.
    pub counts: Vec<u64>,
    /// Elo with its interval. All blocks are part of its mean.
    pub estimate: Estimate,
    /// The difference, corrected for having stopped when the results looked clearest; none before a decision.
    #[serde(default)]
    pub corrected: Option<Corrected>,
    /// The share of drawn games; none before the first.
    pub draw_ratio: Option<f64>,
    /// How many more blocks the test takes if it continues as so far; none while the LLR has no direction, or after the
    /// decision.
    pub expected_blocks: Option<u64>,
}

/// A test in progress.
///
/// Feed the blocks in the order in which they were drawn, not in which they finished: short games finish first, and a
/// test that stops early would see too many of them.
#[derive(Clone, Debug)]
pub struct Sequential {
    sprt: Sprt,
    tally: Tally,
    repeats: Repeats<()>,
    fed: u64,
    repeats_in_a_row: u64,
    /// How many blocks make what is fed: one on each map of the series.
    maps: u64,
    decision: Decision,
    /// The number of blocks that counted at the decision.
    decided_after: u64,
    /// The LLR after each block, up to the decision.
    path: Vec<f32>,
}

/// The minimum number of repeated blocks in a row before a test says that there are no new ones.
const PATIENCE: u64 = 20;

impl Sequential {
    /// A test before its first block.
    pub fn new(sprt: Sprt) -> Self {
        Self::in_rounds(sprt, 1)
    }

    /// The same where what is fed are rounds, of a block on each of this many maps ([`Shape::times`](crate::Shape::times)).
    pub fn in_rounds(sprt: Sprt, maps: u64) -> Self {
        let tally = Tally::new(sprt.shape()).expect("a test has a shape that was checked");
        let (repeats, decision) = (Repeats::default(), Decision::Continue);
        Self {
            sprt,
            tally,
            repeats,
            fed: 0,
            repeats_in_a_row: 0,
            maps,
            decision,
            decided_after: 0,
            path: Vec::new(),
        }
    }

    /// Adds a finished block. A block that repeats its start keeps its weight in the mean and makes nothing more certain,
    /// unless a later one differs. Blocks after the decision still refine the estimate; the decision stands. The numbers behind it are in
    /// [`Self::status`].
    ///
    /// # Errors
    /// When the block does not have the shape of this test; it is not counted then.
    pub fn feed(&mut self, block: &Block) -> Result<Decision, BlockError> {
        self.tally.check(block)?;
        let is_news = !self.repeats.add(block.start, block.fingerprint, ()).is_empty();
        self.repeats_in_a_row = if is_news { 0 } else { self.repeats_in_a_row + 1 };
        self.tally.add(block)?;
        self.tally.set_repeats(self.repeats.left_out());
        self.fed += 1;
        if self.decision == Decision::Continue {
            let llr = self.llr();
            self.path.push(llr as f32);
            self.decision = self.decide(llr);
            self.decided_after = self.counted();
        }
        Ok(self.decision)
    }

    /// Ends the test for lack of games: the series has no more seeds, maps or opponents.
    pub fn out_of_games(&mut self) -> Decision {
        if self.decision == Decision::Continue {
            self.decision = Decision::OutOfGames { counted: self.counted() };
        }
        self.decision
    }

    /// Where the test stands.
    pub fn status(&self) -> Status {
        let (lower, upper) = self.sprt.bounds();
        let llr = self.llr();
        Status {
            decision: self.decision,
            llr,
            lower,
            upper,
            counted: self.counted(),
            blocks: self.fed,
            counts: self.tally.counts().to_vec(),
            estimate: Estimate::new(&self.tally, 0.95),
            corrected: stopping::corrected(&self.sprt, &self.tally, self.decision, self.decided_after),
            draw_ratio: self.tally.games().and_then(|games| games.draw_ratio()),
            expected_blocks: self.expected_blocks(llr),
        }
    }

    /// All blocks, and how many of them are evidence.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The LLR after each block, up to the decision.
    pub fn path(&self) -> &[f32] {
        &self.path
    }

    /// How often each start was played at least, if none ever varied.
    pub fn least_of_constant(&self) -> Option<u64> {
        self.repeats.least_of_constant()
    }

    fn decide(&self, llr: f64) -> Decision {
        let (lower, upper) = self.sprt.bounds();
        if llr >= upper {
            Decision::AcceptH1
        } else if llr <= lower {
            Decision::AcceptH0
        } else if self.repeats_in_a_row >= PATIENCE.div_ceil(self.maps).max(3 * (self.counted() + 1)) {
            // If one more block existed, as likely as each of those seen, missing it 3 (counted + 1) times in a row
            // would have a chance below 1 in 20.
            Decision::OutOfGames { counted: self.counted() }
        } else {
            Decision::Continue
        }
    }

    fn llr(&self) -> f64 {
        self.sprt.llr(&self.tally).expect("a tally of fed blocks knows its draws")
    }

    fn counted(&self) -> u64 {
        self.repeats.counted()
    }

    fn expected_blocks(&self, llr: f64) -> Option<u64> {
        let (lower, upper) = self.sprt.bounds();
        let bound = if llr > 0.0 { upper } else { lower };
        let more = self.counted() as f64 * (bound / llr - 1.0);
        (self.decision == Decision::Continue && more.is_finite() && more < 1e9).then_some(more.ceil() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Model, Shape};

    fn test(elo1: f64) -> Sequential {
        Sequential::new(Sprt::new(Model::Normalized, (0.0, elo1), (0.05, 0.05), Shape::PAIR).unwrap())
    }

    fn run(test: &mut Sequential, blocks: impl Iterator<Item = (u64, [u32; 2])>) -> Status {
        for (start, points) in blocks {
            if test.feed(&Block { start, fingerprint: 0, points: points.to_vec() }).unwrap()
                != Decision::Continue
            {
                break;
            }
        }
        test.status()
    }

    #[test]
    fn constant_results_are_decided() {
        let won = run(&mut test(10.0), (0..100_000).map(|seed| (seed, [2, 2])));
        assert_eq!(won.decision, Decision::AcceptH1);
        assert!(won.counted < 200, "{}", won.counted);
        let lost = run(&mut test(10.0), (0..100_000).map(|seed| (seed, [0, 0])));
        assert_eq!(lost.decision, Decision::AcceptH0);
        assert!(lost.counted < 200, "{}", lost.counted);
        let drawn = run(&mut test(10.0), (0..100_000).map(|seed| (seed, [1, 1])));
        assert_eq!((drawn.decision, drawn.draw_ratio), (Decision::AcceptH0, Some(1.0)));
    }

    #[test]
    fn a_bot_that_crashes_at_once_on_most_boards_is_rejected() {
        // Its first answers are equal wherever it crashes, but each board is a different start.
        let mut test = test(10.0);
        for board in 0.. {
            let crashes = board % 10 < 7;
            let points = if crashes { vec![0, 0] } else { vec![2, 2] };
            let fingerprint = if crashes { 1 } else { board };
            if test.feed(&Block { start: board, fingerprint, points }).unwrap() != Decision::Continue {
                break;
            }
        }
        let status = test.status();
        assert_eq!((status.decision, status.counted), (Decision::AcceptH0, status.blocks));
    }

    #[test]
    fn a_bot_that_crashes_at_random_on_one_board_is_rejected() {
        // Seven of ten pairs are crashes and equal in every answer; the rest all differ.
        let mut test = test(10.0);
        let mut state = 1u64;
        for game in 0.. {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let crashes = (state >> 33) % 10 < 7;
            let points = if crashes { vec![0, 0] } else { vec![2, 2] };
            let fingerprint = if crashes { 1 } else { 2 + game };
            if test.feed(&Block { start: 5, fingerprint, points }).unwrap() != Decision::Continue {
                break;
            }
        }
        assert_eq!(test.status().decision, Decision::AcceptH0);
    }

    #[test]
    fn a_start_that_repeats_is_no_new_evidence() {
        let mut test = test(10.0);
        let status = run(&mut test, (0..500).map(|game| (game % 7, [2, 2])));
        assert_eq!(status.decision, Decision::OutOfGames { counted: 7 });
        assert_eq!((status.counted, status.blocks), (7, 7 + 24));
        assert_eq!(status.counts, [0, 0, 0, 0, 31]);
    }

    #[test]
    fn new_blocks_now_and_then_keep_the_test_going() {
        let status = run(&mut test(10.0), (0..300).map(|game| (game / 10, [1, 1])));
        assert_eq!((status.decision, status.counted, status.blocks), (Decision::Continue, 30, 300));
    }

    #[test]
    fn the_first_decision_stands() {
        let mut test = test(50.0);
        let status = run(&mut test, (0..).map(|seed| (seed, [2, 1])));
        assert_eq!(status.decision, Decision::AcceptH1);
        for seed in 1_000_000..1_000_500 {
            test.feed(&Block { start: seed, fingerprint: 0, points: vec![0, 0] }).unwrap();
        }
        assert_eq!(test.status().decision, Decision::AcceptH1);
        assert!(test.status().llr < status.lower);
        assert_eq!(test.out_of_games(), Decision::AcceptH1);
    }

    #[test]
    fn a_series_without_more_seeds_ends_undecided() {
        let mut test = test(10.0);
        run(&mut test, (0..30).map(|seed| (seed, [2, 0])));
        assert_eq!(test.out_of_games(), Decision::OutOfGames { counted: 30 });
    }

    #[test]
    fn the_status_is_plain_data() {
        let mut test = test(10.0);
        let status = run(&mut test, (0..30).map(|seed| (seed, [2, seed as u32 % 3])));
        let text = serde_json::to_string(&status).unwrap();
        assert_eq!(serde_json::from_str::<Status>(&text).unwrap(), status);
        assert!(status.expected_blocks.unwrap() > 0);
    }
}
