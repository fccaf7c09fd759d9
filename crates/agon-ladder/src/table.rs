//! The table: a function of the rated rows of the log.

use agon_stats::{Options, RatingError, Results, TableKey, rate};
use serde::{Deserialize, Serialize};

use crate::{Ladder, Row};

/// A version in the table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct Place {
    /// The version.
    pub version: i64,
    /// Its rating in Elo; none if no finite one fits, as for a version that won everything.
    pub elo: Option<f64>,
    /// The lower end of its 95 % interval; none if it is open.
    pub low: Option<f64>,
    /// The upper end; none if it is open.
    pub high: Option<f64>,
    /// The number of rated matches it played.
    pub matches: u64,
    /// Its group, from 1: ratings of different groups cannot be compared.
    pub group: u32,
    /// The probability that it is stronger than the next of its group, which may be a version that no longer plays.
    pub above_next: Option<f64>,
}

/// All versions that have played, best first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// The places.
    pub places: Vec<Place>,
    /// The version whose rating is the zero of the scale; none in a table without matches.
    #[serde(default)]
    pub zero: Option<i64>,
    /// The number of blocks.
    pub blocks: u64,
    /// The number of matches in them.
    pub matches: u64,
    /// The number of blocks that are no new evidence because they only repeat their start.
    pub repeats: u64,
    /// For each place, the probability that it is stronger than each other one. Empty when there are more than some hundreds, and for a
    /// table that was read back: it is not stored, sealed or exported.
    #[serde(skip)]
    pub sure: Vec<Vec<Option<f64>>>,
    /// For each place, the standard deviation of its difference to each other one, in Elo; kept like `sure`.
    #[serde(skip)]
    pub deviations: Vec<Vec<Option<f64>>>,
}

impl Table {
    /// The probability that place `one` is stronger than place `other`, both from 0.
    pub fn sure(&self, one: usize, other: usize) -> Option<f64> {
        match self.sure.get(one).and_then(|row| row.get(other)) {
            Some(sure) => *sure,
            None => self.places.get(one).filter(|_| other == one + 1)?.above_next,
        }
    }
}

/// How many rated matches a version has before it is placed, at least.
pub const PLACED: u64 = 20;

/// Rounds to a tenth, without a negative zero.
fn tenth(number: f64) -> f64 {
    (number * 10.0).round() / 10.0 + 0.0
}

/// The name of a version in statistics: the order of names is that of numbers.
pub fn name(version: i64) -> String {
    format!("{version:012}")
}

/// FNV-1a: small, and never changes.
fn hash<'a>(parts: impl Iterator<Item = &'a [u8]>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in parts.flatten() {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    }
    hash
}

/// A hash of a block's start: state and map, and the versions in their seats.
pub fn start(rows: &[Row]) -> u64 {
    let texts: Vec<String> = rows.iter().map(|row| format!("{} {:?};", row.start, row.versions)).collect();
    hash(texts.iter().map(String::as_bytes))
}

/// A hash of all answers of a block.
pub fn fingerprint(rows: &[Row]) -> u64 {
    let texts: Vec<String> = rows.iter().map(|row| format!("{};", row.answers)).collect();
    hash(texts.iter().map(String::as_bytes))
}

impl Ladder {
    /// The table of all complete blocks that no ruling left out, under the rules that `key` names.
    ///
    /// Its zero must not move with who plays: it is the first of these `bosses` that has played, else the first version that was placed.
    /// One that never scored has no rating, but a place on the scale, which carries the zero just as well.
    pub fn table(&self, key: &TableKey, bosses: &[i64]) -> Table {
        let mut results = Results::new(key.clone());
        for whole in &self.whole {
            if self.left_out.counts(whole.number, &whole.lineup) {
                // Matches have as many ranks as seats, or they would not be in the log.
                let _ = results.push(key, whole.block.clone());
            }
        }
        let rated = match rate(&results, &Options::default()) {
            Ok(rated) => rated,
            Err(RatingError::Empty) => return Table::default(),
            Err(error) => unreachable!("ratings without anchors: {error}"),
        };
        let version = |bot: &agon_stats::Rated| bot.bot.parse::<i64>().unwrap_or(0);
        let find = |wanted: i64| rated.bots.iter().position(|bot| version(bot) == wanted);
        let first_placed = || {
            let placed = rated.bots.iter().enumerate().filter(|(_, bot)| bot.matches >= PLACED);
            placed.min_by_key(|(_, bot)| version(bot)).map(|(at, _)| at)
        };
        let earliest = || (0..rated.bots.len()).min_by_key(|&at| version(&rated.bots[at]));
        let zero = bosses.iter().find_map(|&boss| find(boss)).or_else(first_placed).or_else(earliest);
        // Ratings of other groups cannot be compared with it; each has its own mean.
        let level = |bot: &agon_stats::Rated| match zero {
            Some(zero) if rated.bots[zero].group == bot.group => rated.placed[zero],
            _ => 0.0,
        };
        let at = |bot: &agon_stats::Rated, elo: Option<f64>| elo.map(|elo| tenth(elo - level(bot)));
        let place = |bot: &agon_stats::Rated| Place {
            version: version(bot),
            elo: at(bot, bot.elo),
            low: at(bot, bot.interval.and_then(|interval| interval.low)),
            high: at(bot, bot.interval.and_then(|interval| interval.high)),
            matches: bot.matches,
            group: bot.group,
            above_next: bot.above_next,
        };
        Table {
            places: rated.bots.iter().map(place).collect(),
            zero: zero.map(|zero| version(&rated.bots[zero])),
            blocks: rated.blocks,
            matches: rated.matches,
            repeats: rated.repeats,
            sure: rated.superiority,
            deviations: rated.deviations,
        }
    }
}

#[cfg(test)]
mod tests {
    use agon_stats::RulesHash;

    use super::*;
    use crate::LeftOut;

    fn row(block: i64, rotation: i64, versions: [i64; 2], ranks: [u8; 2]) -> Row {
        let answers = format!("{block}-{rotation}-{ranks:?}");
        Row {
            block,
            rotation,
            versions: versions.into(),
            ranks: ranks.into(),
            start: block.to_string(),
            answers,
        }
    }

    fn key() -> TableKey {
        TableKey { game: "any".into(), rules: RulesHash(1) }
    }

    fn rows() -> Vec<Row> {
        let mut rows = Vec::new();
        for block in 1..=30 {
            let (a, b) = ([1, 2, 3][block as usize % 3], [2, 3, 1][block as usize % 3]);
            // The smaller number wins three out of four.
            let upset = block % 4 == 0;
            let first = (a < b) != upset;
            rows.push(row(block, 0, [a, b], if first { [1, 2] } else { [2, 1] }));
            rows.push(row(block, 1, [b, a], if first { [2, 1] } else { [1, 2] }));
        }
        rows
    }

    #[test]
    fn the_order_in_which_matches_ended_decides_nothing() {
        let (mut one, mut other) = (Ladder::new(), Ladder::new());
        rows().into_iter().for_each(|row| one.feed(row));
        rows().into_iter().rev().for_each(|row| other.feed(row));
        let table = one.table(&key(), &[]);
        assert_eq!(table, other.table(&key(), &[]));
        assert_eq!((table.matches, table.blocks), (60, 30));
        assert_eq!(table.places.iter().map(|place| place.version).collect::<Vec<_>>(), [1, 2, 3]);
        assert!(table.places.iter().all(|place| place.low < place.elo && place.elo < place.high));
    }

    #[test]
    fn without_somebody_the_table_is_as_if_they_had_never_played_and_with_them_as_before() {
        let mut ladder = Ladder::new();
        rows().into_iter().for_each(|row| ladder.feed(row));
        let whole = ladder.table(&key(), &[]);
        let had = ladder.matches(1);
        ladder.leave_out(LeftOut { versions: [2].into(), ..LeftOut::default() });
        let mut others = Ladder::new();
        rows().into_iter().filter(|row| !row.versions.contains(&2)).for_each(|row| others.feed(row));
        assert_eq!(ladder.table(&key(), &[]), others.table(&key(), &[]));
        assert!(ladder.table(&key(), &[]).places.iter().all(|place| place.version != 2));
        assert_eq!(ladder.matches(1), others.matches(1), "what was played against it is owed again");
        assert!(ladder.matches(1) < had && ladder.matches(2) == 0);
        ladder.leave_out(LeftOut::default());
        assert_eq!((ladder.table(&key(), &[]), ladder.matches(1)), (whole, had));
    }

    #[test]
    fn without_a_block_the_table_is_as_if_it_had_not_been_played_also_while_it_is_not_whole() {
        let (mut ladder, mut others) = (Ladder::new(), Ladder::new());
        rows().into_iter().filter(|row| row.block != 7).for_each(|row| others.feed(row));
        // Its second match comes only after the ruling.
        let (late, rest): (Vec<Row>, Vec<Row>) =
            rows().into_iter().partition(|row| row.block == 7 && row.rotation == 1);
        rest.into_iter().for_each(|row| ladder.feed(row));
        ladder.leave_out(LeftOut { blocks: [7].into(), ..LeftOut::default() });
        late.into_iter().for_each(|row| ladder.feed(row));
        assert_eq!(ladder.table(&key(), &[]), others.table(&key(), &[]));
        for version in 1..=3 {
            assert_eq!(ladder.matches(version), others.matches(version));
        }
    }

    #[test]
    fn a_block_counts_when_it_is_whole() {
        let mut ladder = Ladder::new();
        ladder.feed(row(1, 1, [2, 1], [1, 2]));
        assert_eq!((ladder.table(&key(), &[]), ladder.matches(1)), (Table::default(), 1));
        ladder.feed(row(1, 0, [1, 2], [2, 1]));
        let table = ladder.table(&key(), &[]);
        assert_eq!((table.matches, table.places[0].version, table.places[0].elo), (2, 2, None));
    }

    /// Three teams and a boss that trade points, and a boss that never scores, until it takes a point; a team leaves.
    #[test]
    fn nobody_moves_when_a_boss_takes_a_point_or_a_team_is_left_out() {
        let mut ladder = Ladder::new();
        let bosses = [5, 4];
        let mut block = 0;
        let mut play = |ladder: &mut Ladder, pair: [i64; 2], first: bool| {
            block += 1;
            let ranks = |first: bool| if first { [1, 2] } else { [2, 1] };
            ladder.feed(row(block, 0, pair, ranks(first)));
            ladder.feed(row(block, 1, [pair[1], pair[0]], ranks(!first)));
        };
        // As often as their strengths say, so that no result contradicts another.
        for round in 0..60 {
            for (pair, wins) in
                [([1, 2], 60), ([2, 3], 60), ([1, 3], 69), ([1, 5], 77), ([2, 5], 69), ([3, 5], 60)]
            {
                play(&mut ladder, pair, round * 37 % 100 < wins);
            }
            if round % 2 == 0 {
                (1..=3).for_each(|team| play(&mut ladder, [team, 4], true));
            }
        }
        let before = ladder.table(&key(), &bosses);
        assert_eq!(before.zero, Some(5));
        let elo = |table: &Table, version: i64| {
            let place = table.places.iter().find(|place| place.version == version).expect("it played");
            (place.elo.expect("rated"), (place.high.expect("known") - place.low.expect("known")) / 2.0)
        };
        // One boss takes its first points: it is rated now, far below.
        play(&mut ladder, [4, 3], true);
        let after = ladder.table(&key(), &bosses);
        assert!(before.places.iter().any(|place| place.version == 4 && place.elo.is_none()));
        assert!(after.places.iter().any(|place| place.version == 4 && place.elo.is_some()));
        // The third team is disqualified.
        ladder.leave_out(LeftOut { versions: [3].into(), ..LeftOut::default() });
        let without = ladder.table(&key(), &bosses);
        for team in [1, 2] {
            for (one, other) in [(&before, &after), (&after, &without)] {
                let ((was, half), (is, _)) = (elo(one, team), elo(other, team));
                assert!((was - is).abs() <= half / 2.0, "{team}: {was} ± {half}, then {is}");
            }
        }
    }
}
