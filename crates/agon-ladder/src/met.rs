//! How a version did against another one, in the blocks of the ladder in which both sat.

use std::cmp::Ordering;

use agon_stats::{Block, Estimate, Repeats, Shape, Tally, WinDrawLoss};

use crate::{Row, table};

/// The blocks in which two versions met.
#[derive(Clone, Debug, Default)]
pub struct Met {
    /// None before the first.
    tally: Option<Tally>,
    repeats: Repeats<()>,
}

impl Met {
    /// Takes in a complete block, its rows in the order of their rotations.
    pub fn add(&mut self, rows: &[Row], own: i64, other: i64) {
        let rank = |row: &Row, version| {
            row.versions.iter().position(|sat| *sat == version).and_then(|seat| row.ranks.get(seat)).copied()
        };
        let points = |row: &Row| {
            Some(match rank(row, own)?.cmp(&rank(row, other)?) {
                Ordering::Less => 2,
                Ordering::Equal => 1,
                Ordering::Greater => 0,
            })
        };
        let Some(points) = rows.iter().map(points).collect::<Option<Vec<u32>>>() else { return };
        let (start, fingerprint) = (table::start(rows), table::fingerprint(rows));
        let shape = Shape { games: rows.len() as u32, ..Shape::SINGLE };
        let Ok(tally) = self.tally.take().map_or_else(|| Tally::new(shape), Ok) else { return };
        let tally = self.tally.insert(tally);
        if tally.add(&Block { start, fingerprint, points }).is_ok() {
            self.repeats.add(start, fingerprint, ());
            tally.set_repeats(self.repeats.left_out());
        }
    }

    /// The matches in which it was ahead of the other, level with it, or behind.
    pub fn games(&self) -> WinDrawLoss {
        self.tally.as_ref().and_then(Tally::games).unwrap_or_default()
    }

    /// Its share of the points, with the interval of 95 %; none if they never met.
    pub fn estimate(&self) -> Option<Estimate> {
        self.tally.as_ref().map(|tally| Estimate::new(tally, 0.95))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(number: i64, versions: &[i64], ranks: [&[u8]; 2], answers: &str) -> Vec<Row> {
        let row = |rotation: usize| Row {
            block: number,
            rotation: rotation as i64,
            versions: match rotation {
                0 => versions.to_vec(),
                _ => versions.iter().rev().copied().collect(),
            },
            ranks: ranks[rotation].to_vec(),
            start: "start".to_owned(),
            answers: format!("{answers}{rotation}"),
        };
        (0..2).map(row).collect()
    }

    #[test]
    fn matches_are_counted_and_blocks_are_the_evidence() {
        let mut met = Met::default();
        assert_eq!((met.games(), met.estimate()), (WinDrawLoss::default(), None));
        // Both won from the first seat; then it won twice; then they were level once.
        met.add(&block(1, &[7, 8], [&[1, 2], &[1, 2]], "a"), 7, 8);
        assert_eq!(met.games(), WinDrawLoss { wins: 1, draws: 0, losses: 1 });
        let one = met.estimate().expect("they met");
        assert_eq!((one.score, one.score_low, one.score_high), (0.5, 0.0, 1.0), "one block says nothing");
        met.add(&block(2, &[7, 8], [&[1, 2], &[2, 1]], "b"), 7, 8);
        met.add(&block(3, &[7, 8], [&[1, 1], &[2, 1]], "c"), 7, 8);
        assert_eq!(met.games(), WinDrawLoss { wins: 4, draws: 1, losses: 1 });
        let varied = met.estimate().expect("they met");
        assert!((varied.score - 0.75).abs() < 1e-9 && varied.score_low < 0.5 && varied.score_high > 0.9);
        // Whoever was not there has met nobody.
        met.add(&block(4, &[7, 9], [&[1, 2], &[2, 1]], "d"), 7, 8);
        assert_eq!(met.games().games(), 6);
    }

    #[test]
    fn what_is_played_again_and_again_makes_nothing_more_certain() {
        let (mut same, mut other) = (Met::default(), Met::default());
        for number in 0..20 {
            same.add(&block(number, &[7, 8], [&[1, 2], &[2, 1]], "same"), 7, 8);
            other.add(&block(number, &[7, 8], [&[1, 2], &[2, 1]], &number.to_string()), 7, 8);
        }
        let (same, other) = (same.estimate().expect("met"), other.estimate().expect("met"));
        assert_eq!((same.score, other.score), (1.0, 1.0));
        assert!(same.score_low < 0.3 && other.score_low > 0.7, "{same:?} {other:?}");
    }
}
