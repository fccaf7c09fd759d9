//! The table: a function of the rated rows of the log.
//!
//! Longer than 500 lines: half of it are tests of what must move nobody.

use std::collections::BTreeMap;

use agon_api::VersionRating;
use agon_stats::{Options, Pairs, Rated, RatingError, RatingTable, Results, Scale, TableKey, rate};
use serde::{Deserialize, Serialize};

use crate::{LadderState, Row, Whole};

/// All versions that have played, best first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    pub places: Vec<VersionRating>,
    /// The version whose rating is the zero of the scale; none while nobody can carry it: then the zero is the mean.
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

/// After how many blocks the ladder first looks who could carry the zero of its scale; then each time there are half as many more.
const FIRST_LOOK: usize = 8;

impl LadderState {
    /// The table of all complete blocks that no ruling left out, under the rules that `key` names.
    ///
    /// Its zero must not move with who plays. So one version carries it ([`zero`](Self::zero)), and its intervals are those of the
    /// difference to that one. Where rulings left versions out, those that remain keep the level that they have when everybody counts, in
    /// the median: what somebody was left out for must not move all others, not even if it was the one that carries the zero.
    pub fn table(&self, key: &TableKey, bosses: &[i64]) -> Table {
        let zero = self.zero(bosses);
        let Some((rated, own_zero)) =
            self.rated(key, zero, |whole| self.left_out.counts(whole.number, &whole.lineup))
        else {
            return Table::default();
        };
        let (zero, levels) = if self.left_out.versions.is_empty() {
            (own_zero, Vec::new())
        } else {
            let all = self.rated(key, zero, |whole| !self.left_out.blocks.contains(&whole.number));
            all.map_or((own_zero, Vec::new()), |(all, zero)| (zero, levels(&rated, &all)))
        };
        let at = |bot: &Rated, elo: Option<f64>| {
            let level = levels.get(bot.group as usize - 1).copied().unwrap_or(0.0);
            elo.map(|elo| tenth(elo - level))
        };
        let points = self.points();
        let place = |bot: &Rated| VersionRating {
            version: version(bot),
            elo: at(bot, bot.elo),
            low: at(bot, bot.interval.and_then(|interval| interval.low)),
            high: at(bot, bot.interval.and_then(|interval| interval.high)),
            matches: bot.matches,
            group: bot.group,
            above_next: bot.above_next,
            points: points.get(&version(bot)).map(|(gained, most)| *gained as f64 / *most as f64),
        };
        Table {
            places: rated.bots.iter().map(place).collect(),
            zero,
            blocks: rated.blocks,
            matches: rated.matches,
            repeats: rated.repeats,
            sure: rated.superiority,
            deviations: rated.deviations,
        }
    }

    /// The points that each version gained in blocks that count, and how many it could have.
    fn points(&self) -> BTreeMap<i64, (u64, u64)> {
        let mut points: BTreeMap<i64, (u64, u64)> = BTreeMap::new();
        let counts = |whole: &&Whole| self.left_out.counts(whole.number, &whole.lineup);
        for whole in self.whole.iter().filter(counts) {
            let most = 2 * (whole.lineup.len() as u64 - 1) * whole.block.matches.len() as u64;
            for (version, own) in whole.lineup.iter().zip(&whole.points) {
                let (gained, all) = points.entry(*version).or_default();
                (*gained, *all) = (*gained + u64::from(*own), *all + most);
            }
        }
        points
    }

    /// Rates the blocks that `counts` says. The zero is `zero`, if these have a finite rating for it; else it is their mean.
    fn rated(
        &self,
        key: &TableKey,
        zero: Option<i64>,
        counts: impl Fn(&Whole) -> bool,
    ) -> Option<(RatingTable, Option<i64>)> {
        let mut results = Results::new(key.clone());
        let counted = || self.whole.iter().filter(|whole| counts(whole));
        for whole in counted() {
            // Matches have as many ranks as seats, or they would not be in the log.
            let _ = results.push(key, whole.block.clone());
        }
        let zero = zero.filter(|zero| {
            let meetings = counted().flat_map(|whole| &whole.meetings).copied();
            Scale::core(&Pairs::new(self.numbers.len(), meetings))[self.numbers[zero]]
        });
        let anchors = zero.map(|zero| (name(zero), 0.0)).into_iter().collect();
        match rate(&results, &Options { anchors, ..Options::default() }) {
            Ok(rated) => Some((rated, zero)),
            Err(RatingError::Empty) => None,
            Err(error) => unreachable!("the anchor has played: {error}"),
        }
    }

    /// The version whose rating is the zero of the scale; none while nobody can carry it.
    ///
    /// It is the first of these `bosses` that is placed and has a finite rating among the teams, and if none of those that play is such, the
    /// first version that is placed. A boss that never scored has no distance to the others: what stands for it grows with each match that it
    /// loses, and all numbers with it. Whoever carries the zero keeps it, whatever is played or ruled later, except if most others are found
    /// to be on a scale of their own. So it is looked for in the log from its beginning, in everything that was played.
    fn zero(&self, bosses: &[i64]) -> Option<i64> {
        let (mut zero, mut look) = (None, FIRST_LOOK);
        let (mut pairs, mut new) = (Pairs::new(self.numbers.len(), []), Vec::new());
        let mut matches: BTreeMap<i64, u64> = BTreeMap::new();
        for (block, whole) in (1..).zip(&self.whole) {
            new.extend_from_slice(&whole.meetings);
            for version in &whole.lineup {
                *matches.entry(*version).or_default() += whole.block.matches.len() as u64;
            }
            if block == look {
                look += look / 2;
                pairs = pairs.with(self.numbers.len(), new.drain(..));
                let core = Scale::core(&pairs);
                let is_rated = |version: &i64| core[self.numbers[version]];
                if !zero.as_ref().is_some_and(is_rated) {
                    zero = carrier(bosses, &matches, is_rated).or(zero);
                }
            }
        }
        zero
    }
}

/// Who can carry the zero after so many matches of each version.
fn carrier(bosses: &[i64], matches: &BTreeMap<i64, u64>, is_rated: impl Fn(&i64) -> bool) -> Option<i64> {
    let played = |version: &i64| matches.get(version).copied().unwrap_or(0);
    let can = |version: &&i64| played(version) >= PLACED && is_rated(version);
    let team = matches.keys().filter(|version| !bosses.contains(version)).find(can)?;
    // One that is just being placed is waited for, unless it stopped playing.
    let waits = |boss: &i64, most: u64| (1..PLACED).contains(&played(boss)) && most < 4 * PLACED;
    let at = bosses.iter().position(|boss| can(&boss));
    let before = &bosses[..at.unwrap_or(bosses.len())];
    let carrier = at.map_or(*team, |at| bosses[at]);
    (!before.iter().any(|boss| waits(boss, played(&carrier)))).then_some(carrier)
}

/// For each group of a table, how far its ratings lie above those of the same versions in the table of all, in the median.
fn levels(rated: &RatingTable, all: &RatingTable) -> Vec<f64> {
    let known: BTreeMap<&str, (u32, f64)> =
        all.bots.iter().filter_map(|bot| Some((&*bot.bot, (bot.group, bot.elo?)))).collect();
    let level = |group: u32| {
        let own = rated.bots.iter().filter(|bot| bot.group == group);
        let above = own.filter_map(|bot| Some(bot.elo? - known.get(&*bot.bot).filter(|(of, _)| *of == 1)?.1));
        let mut above: Vec<f64> = above.collect();
        above.sort_by(f64::total_cmp);
        let middle = above.len() / 2;
        match above.len() {
            0 => 0.0,
            odd if odd % 2 == 1 => above[middle],
            _ => f64::midpoint(above[middle - 1], above[middle]),
        }
    };
    (1..=rated.groups).map(level).collect()
}

fn version(bot: &Rated) -> i64 {
    bot.bot.parse().unwrap_or(0)
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

    fn rows(blocks: i64) -> Vec<Row> {
        let mut rows = Vec::new();
        for block in 1..=blocks {
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
        let (mut one, mut other) = (LadderState::new(), LadderState::new());
        rows(30).into_iter().for_each(|row| one.feed(row));
        rows(30).into_iter().rev().for_each(|row| other.feed(row));
        let table = one.table(&key(), &[]);
        assert_eq!(table, other.table(&key(), &[]));
        assert_eq!((table.matches, table.blocks), (60, 30));
        assert_eq!(table.places.iter().map(|place| place.version).collect::<Vec<_>>(), [1, 2, 3]);
        let (zero, others) = table.places.split_first().expect("three");
        assert_eq!((table.zero, zero.elo, zero.low, zero.high), (Some(1), Some(0.0), Some(0.0), Some(0.0)));
        assert!(others.iter().all(|place| place.low < place.elo && place.elo < place.high));
    }

    #[test]
    fn points_are_the_share_of_what_could_be_gained() {
        let mut ladder = LadderState::new();
        let [won, drawn] = [[[1, 2], [2, 1]], [[1, 1], [1, 2]]];
        for (block, [first, second]) in (1..).zip([won, drawn]) {
            ladder.feed(row(block, 0, [1, 2], first));
            ladder.feed(row(block, 1, [2, 1], second));
        }
        let table = ladder.table(&key(), &[]);
        let points = table.places.iter().map(|place| (place.version, place.points));
        assert_eq!(points.collect::<Vec<_>>(), [(1, Some(0.625)), (2, Some(0.375))]);
    }

    #[test]
    fn without_somebody_differences_are_as_if_they_had_never_played_and_with_them_all_is_as_before() {
        let mut ladder = LadderState::new();
        rows(60).into_iter().for_each(|row| ladder.feed(row));
        let whole = ladder.table(&key(), &[]);
        let had = ladder.matches(1);
        ladder.leave_out(LeftOut { versions: [2].into(), ..LeftOut::default() });
        let mut others = LadderState::new();
        rows(60).into_iter().filter(|row| !row.versions.contains(&2)).for_each(|row| others.feed(row));
        // Only the level stays what it was.
        let own = ladder.table(&key(), &[]);
        let as_if = others.table(&key(), &[]);
        let level =
            own.places[0].elo.zip(as_if.places[0].elo).map(|(own, other)| own - other).expect("rated");
        let shift = |elo: Option<f64>| elo.map(|elo| tenth(elo + level));
        let moved = |place: &VersionRating| VersionRating {
            elo: shift(place.elo),
            low: shift(place.low),
            high: shift(place.high),
            ..place.clone()
        };
        assert_eq!(own.places, as_if.places.iter().map(moved).collect::<Vec<_>>());
        assert_eq!((own.matches, &own.sure), (as_if.matches, &as_if.sure));
        assert!(own.places.iter().all(|place| place.version != 2));
        assert_eq!(ladder.matches(1), others.matches(1), "what was played against it is owed again");
        assert!(ladder.matches(1) < had && ladder.matches(2) == 0);
        ladder.leave_out(LeftOut::default());
        assert_eq!((ladder.table(&key(), &[]), ladder.matches(1)), (whole, had));
    }

    #[test]
    fn without_a_block_the_table_is_as_if_it_had_not_been_played_also_while_it_is_not_whole() {
        let (mut ladder, mut others) = (LadderState::new(), LadderState::new());
        rows(30).into_iter().filter(|row| row.block != 7).for_each(|row| others.feed(row));
        // Its second match comes only after the ruling.
        let (late, rest): (Vec<Row>, Vec<Row>) =
            rows(30).into_iter().partition(|row| row.block == 7 && row.rotation == 1);
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
        let mut ladder = LadderState::new();
        ladder.feed(row(1, 1, [2, 1], [1, 2]));
        assert_eq!((ladder.table(&key(), &[]), ladder.matches(1)), (Table::default(), 1));
        ladder.feed(row(1, 0, [1, 2], [2, 1]));
        let table = ladder.table(&key(), &[]);
        assert_eq!((table.matches, table.places[0].version, table.places[0].elo), (2, 2, None));
    }

    /// Plays blocks between versions as often won as their strengths say, so that no result contradicts another.
    struct Play {
        ladder: LadderState,
        block: i64,
        round: u64,
    }

    impl Play {
        fn new() -> Self {
            Self { ladder: LadderState::new(), block: 0, round: 0 }
        }

        fn won(&mut self, pair: [i64; 2], wins: [bool; 2]) {
            self.block += 1;
            let ranks = |first: bool| if first { [1, 2] } else { [2, 1] };
            self.ladder.feed(row(self.block, 0, pair, ranks(wins[0])));
            self.ladder.feed(row(self.block, 1, [pair[1], pair[0]], ranks(!wins[1])));
        }

        /// A round robin of `rounds` blocks per pair of these, of which each has a strength in Elo.
        fn robin(&mut self, bots: &[(i64, f64)], rounds: u64) {
            for round in self.round..self.round + rounds {
                for (at, &(one, strength)) in bots.iter().enumerate() {
                    for &(other, its) in &bots[at + 1..] {
                        let wins = (200.0 * agon_stats::score_of_elo(strength - its)).round() as u64;
                        // Seventy-three and two hundred have no common divisor: in 100 rounds each place comes once.
                        let win = |game: u64| (2 * round + game) * 73 % 200 < wins;
                        self.won([one, other], [win(0), win(1)]);
                    }
                }
            }
            self.round += rounds;
        }

        fn table(&self, bosses: &[i64]) -> Table {
            self.ladder.table(&key(), bosses)
        }

        fn left_out(&mut self, versions: &[i64], bosses: &[i64]) -> Table {
            let versions = versions.iter().copied().collect();
            self.ladder.leave_out(LeftOut { versions, ..LeftOut::default() });
            self.table(bosses)
        }
    }

    fn place(table: &Table, version: i64) -> &VersionRating {
        table.places.iter().find(|place| place.version == version).expect("it played")
    }

    /// Nobody but `except` moved by more than half its ±.
    fn nobody_moved(what: &str, before: &Table, after: &Table, except: &[i64]) {
        let half = |place: &VersionRating| place.high.zip(place.low).map(|(high, low)| (high - low) / 2.0);
        let mut seen = 0;
        for was in before.places.iter().filter(|place| !except.contains(&place.version)) {
            let Some(is) = after.places.iter().find(|place| place.version == was.version) else { continue };
            let (Some(old), Some(new)) = (was.elo, is.elo) else { continue };
            let most = half(was).zip(half(is)).map_or(f64::INFINITY, |(was, is)| was.max(is)) / 2.0;
            assert!((old - new).abs() <= most, "{what}: {} from {old} to {new}, at most {most}", was.version);
            seen += 1;
        }
        assert!(seen >= 2, "{what}: {seen} compared");
    }

    /// Five teams; the strongest boss trades points with them, the others never score, against nobody.
    const TEAMS: [(i64, f64); 6] = [(1, 150.0), (2, 80.0), (3, 0.0), (4, -60.0), (5, -150.0), (9, 20.0)];

    #[test]
    fn nobody_moves_when_a_boss_takes_a_point_or_a_team_is_left_out() {
        let bosses = [9, 8, 7];
        let mut play = Play::new();
        for _ in 0..6 {
            play.robin(&TEAMS, 10);
            TEAMS.iter().for_each(|&(team, _)| play.won([team, 8], [true, true]));
        }
        let before = play.table(&bosses);
        assert_eq!(
            (before.zero, place(&before, 9).elo, place(&before, 9).low),
            (Some(9), Some(0.0), Some(0.0))
        );
        assert!(place(&before, 8).elo.is_none() && place(&before, 8).high.is_some());
        // One boss takes its first point: it is rated now, far below.
        play.won([8, 3], [true, false]);
        let after = play.table(&bosses);
        assert!(place(&after, 8).elo.is_some());
        nobody_moved("a boss is rated", &before, &after, &[]);
        // Each is disqualified, and returns.
        for team in [1, 2, 3, 4, 5] {
            let without = play.left_out(&[team], &bosses);
            // The carrier of the zero has no ± of its own.
            nobody_moved("a team is left out", &after, &without, &[9]);
            assert_eq!(without.zero, Some(9));
            assert!(place(&without, 9).elo.is_some_and(|elo| elo.abs() < 10.0));
            assert_eq!(play.left_out(&[], &bosses), after, "{team} is back");
        }
    }

    /// All bosses lose everything, for as long as one likes, and then one of them takes a point.
    #[test]
    fn bosses_that_never_score_carry_no_zero() {
        let bosses = [8, 7];
        let mut play = Play::new();
        let teams = &TEAMS[..5];
        play.robin(teams, 20);
        let lose = |play: &mut Play, times: usize| {
            for _ in 0..times {
                for &(team, _) in teams {
                    bosses.iter().for_each(|&boss| play.won([team, boss], [true, true]));
                }
                play.won([8, 7], [true, true]);
            }
        };
        lose(&mut play, 5);
        play.robin(teams, 5);
        let before = play.table(&bosses);
        assert_eq!(before.zero, Some(1), "the first version that was placed");
        lose(&mut play, 100);
        let after = play.table(&bosses);
        nobody_moved("bosses lost 100 times more", &before, &after, &[]);
        assert!(bosses.iter().all(|&boss| place(&after, boss).high.is_some_and(|high| high < -100.0)));
        let before = after;
        play.won([8, 5], [true, true]);
        let after = play.table(&bosses);
        assert_eq!(after.zero, Some(1), "whoever carries it keeps it");
        nobody_moved("the strongest boss is rated", &before, &after, &[]);
        // Not even the one that carries the zero moves the others when it is disqualified, and when it comes back.
        let without = play.left_out(&[1], &bosses);
        assert_eq!(without.zero, Some(1));
        nobody_moved("the carrier of the zero is left out", &after, &without, &[]);
        assert_eq!(play.left_out(&[], &bosses), after);
    }

    /// A boss scores against one team only, which lets it win; then this team is disqualified.
    #[test]
    fn nobody_moves_all_by_letting_a_boss_win() {
        let bosses = [8];
        let mut play = Play::new();
        for _ in 0..40 {
            play.robin(&TEAMS[..5], 1);
            play.won([8, 5], [true, true]);
            TEAMS[..5].iter().for_each(|&(team, _)| play.won([team, 8], [true, true]));
        }
        let before = play.table(&bosses);
        assert_eq!(before.zero, Some(8));
        let without = play.left_out(&[5], &bosses);
        assert!(place(&without, 8).elo.is_none(), "it scored against nobody else");
        nobody_moved("the one that let it win is left out", &before, &without, &[]);
        assert_eq!(play.left_out(&[], &bosses), before);
    }

    /// It loses on four of five maps, always alike, and plays at random on the one where it wins.
    #[test]
    fn noise_on_won_maps_wins_no_ladder() {
        let (mut ladder, mut block) = (LadderState::new(), 0);
        for round in 0..40 {
            for pair in [[1, 2], [1, 3], [2, 3]] {
                block += 1;
                let map = ladder.deal(&pair, block - 1, 5);
                let first = match pair {
                    [1, _] => map == 0,
                    _ => round % 2 == 0,
                };
                let varies = pair[0] != 1 || map == 0;
                for rotation in 0..2 {
                    let versions = if rotation == 0 { pair } else { [pair[1], pair[0]] };
                    let ranks = if first == (rotation == 0) { [1, 2] } else { [2, 1] };
                    let answers = if varies { format!("{block} {rotation}") } else { "always".to_owned() };
                    ladder.feed(Row {
                        start: format!("map {map}"),
                        answers,
                        ..row(block, rotation, versions, ranks)
                    });
                }
            }
        }
        let table = ladder.table(&key(), &[]);
        let places: Vec<i64> = table.places.iter().map(|place| place.version).collect();
        assert_eq!(places[2], 1, "{table:?}");
        // It scores 20 %: 241 Elo below the others.
        let elo = |version| place(&table, version).elo.expect("rated");
        assert!((elo(2) - elo(1) - 240.8).abs() < 1.0, "{table:?}");
    }

    #[test]
    fn whoever_has_played_much_has_a_number_or_a_bound() {
        // Each always beats the next: nobody has a finite rating that fits best.
        let mut play = Play::new();
        for _ in 0..100 {
            [[1, 2], [2, 3]].iter().for_each(|&pair| play.won(pair, [true, true]));
        }
        for place in play.table(&[3, 2]).places {
            assert!(place.elo.or(place.low).or(place.high).is_some(), "{place:?}");
        }
    }

    #[test]
    fn the_zero_waits_for_a_boss_that_is_being_placed() {
        let matches = |list: &[(i64, u64)]| list.iter().copied().collect::<BTreeMap<_, _>>();
        let of = |list: &[(i64, u64)]| carrier(&[9, 8], &matches(list), |_| true);
        assert_eq!(of(&[(8, 30), (9, 30)]), None, "no team is placed");
        assert_eq!(of(&[(1, 20), (8, 30), (9, 30)]), Some(9));
        assert_eq!(of(&[(1, 20), (8, 30), (9, 18)]), None);
        assert_eq!(of(&[(1, 20), (8, 80), (9, 18)]), Some(8), "it stopped playing");
        assert_eq!(of(&[(1, 20), (2, 20)]), Some(1), "without bosses");
        assert_eq!(of(&[(1, 20), (2, 20), (9, 2)]), None);
        assert_eq!(carrier(&[9], &matches(&[(1, 10), (2, 20), (9, 40)]), |one| *one != 9), Some(2));
    }
}
