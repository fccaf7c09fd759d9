//! Is a version better than the one before it?
//!
//! Half of the blocks are mirrored matches of the two against each other; the other half are twin matches, in which each of them plays the
//! same seed in the same seats against the same field of the nearest opponents. Strength against one's own past alone misleads where bots
//! beat each other in a circle. In games of more than two seats all blocks are twins.
//!
//! Both count on one scale, that of twins ([`Shape::twins`]). A direct game counts half as much on it as it could: its winner is ahead by ½
//! of an expected score, where a twin can be ahead by 1.

use std::collections::BTreeMap;
use std::fmt;

pub use agon_api::version::Says;
use agon_stats::twin::half_opponents_beaten;
use agon_stats::{Block, Estimate, Repeats, Shape, Tally, Twin, elo_of_score};
use serde::{Deserialize, Serialize};

use crate::{LadderState, Row, table};

/// Upper limit on the blocks of a trial.
pub const BLOCKS: u32 = 50;
/// Upper limit on its time, in milliseconds.
pub const PATIENCE_MS: i64 = 600_000;
/// How many opponents the fields of twins are taken from.
pub const OPPONENTS: usize = 5;
/// How many blocks must have been played on a map for a statement about it.
const ENOUGH: u64 = 4;
/// The confidence of the verdict.
const CONFIDENCE: f64 = 0.95;
/// The confidence about a single map, which is higher because there are several to be wrong about.
const OF_A_MAP: f64 = 0.99;

/// What is played next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// The two against each other.
    Mirrored,
    /// Each of them against this field.
    Twin(Vec<i64>),
}

/// What comes after `planned` blocks, with these opponents, the nearest first; none if there is nobody to play against.
pub fn next(planned: u32, seats: usize, opponents: &[i64]) -> Option<Next> {
    let turn = planned as usize;
    let field = |from: usize| {
        let nearest =
            opponents.iter().take(OPPONENTS).cycle().skip(from % opponents.len().clamp(1, OPPONENTS));
        nearest.take(seats - 1).copied().collect()
    };
    match (seats, opponents) {
        (2, []) => Some(Next::Mirrored),
        (2, _) if turn.is_multiple_of(2) => Some(Next::Mirrored),
        (2, _) => Some(Next::Twin(field(turn / 2))),
        (_, []) => None,
        _ => Some(Next::Twin(field(turn))),
    }
}

/// The map of what comes after `planned` blocks, from 0. Where mirrored blocks and twins alternate, each map gets one of both, so that
/// neither is played more often where it suits one of the versions.
pub fn map(planned: u32, seats: usize, maps: i64) -> i64 {
    let turn = if seats == 2 { planned / 2 } else { planned };
    i64::from(turn) % maps.max(1)
}

/// The number of blocks in a round of a trial: one of each kind on each map. Where a trial has not enough blocks for that, a map is a draw,
/// and each block a round.
fn round(seats: usize, maps: i64) -> u32 {
    let each = if seats == 2 { 2 } else { 1 };
    u32::try_from(maps.max(1) * each).ok().filter(|round| *round <= BLOCKS).unwrap_or(1)
}

/// How many blocks a trial has at most: whole rounds.
pub fn most(seats: usize, maps: i64) -> u32 {
    BLOCKS / round(seats, maps) * round(seats, maps)
}

/// A complete block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The map, from 0.
    pub map: i64,
    /// The matches of the new version.
    pub new: Vec<Row>,
    /// Those of its twin; empty if the two met.
    pub old: Vec<Row>,
}

/// What is known about the difference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct Evidence {
    /// The conclusion.
    pub says: Says,
    /// The number of blocks played.
    pub blocks: u32,
    /// The number that are evidence: repeats of the same match prove nothing.
    pub counted: u32,
    /// The difference in Elo; none if no finite one fits.
    pub elo: Option<f64>,
    /// The lower end of its 95 % interval; none if it is open.
    pub low: Option<f64>,
    /// The upper end; none if it is open.
    pub high: Option<f64>,
    /// Maps on which it is worse, from 0, if there are several.
    pub worse_on: Vec<i64>,
    /// Maps on which it is better.
    pub better_on: Vec<i64>,
}

/// What these blocks, in the order in which they were planned on this many maps, say about `new` against `old`.
///
/// Every map has the same weight, so only whole rounds count, which gave each map its blocks. Within them a block is evidence of its own:
/// there are too few rounds, and what differs from map to map only makes the verdict more careful.
pub fn verdict(trials: &[Trial], seats: usize, maps: i64, new: i64, old: i64) -> Evidence {
    let shape = Shape::twins(seats as u32);
    let whole: Vec<(i64, Block)> =
        trials.iter().filter_map(|trial| Some((trial.map, block(trial, seats, new, old)?))).collect();
    let rounds = in_whole_rounds(&whole, seats, maps);
    let is_round = !rounds.is_empty();
    let all = match is_round {
        true => tally(rounds.into_iter(), shape),
        false => tally(whole.iter().map(|(_, block)| block), shape),
    };
    let (says, estimate) = judge(&all, CONFIDENCE);
    let says = if is_round { says } else { Says::Unknown };
    let mut maps: BTreeMap<i64, Vec<&Block>> = BTreeMap::new();
    whole.iter().for_each(|(map, block)| maps.entry(*map).or_default().push(block));
    let on = |wanted: Says| {
        let judged = maps.iter().filter(|_| maps.len() > 1).filter(|(_, blocks)| {
            let tally = tally(blocks.iter().copied(), shape);
            tally.evidence() >= ENOUGH && judge(&tally, OF_A_MAP).0 == wanted
        });
        judged.map(|(map, _)| *map).collect()
    };
    Evidence {
        says,
        blocks: whole.len() as u32,
        counted: all.evidence() as u32,
        elo: elo(estimate.score),
        low: elo(estimate.score_low),
        high: elo(estimate.score_high),
        worse_on: on(Says::Worse),
        better_on: on(Says::Better),
    }
}

/// The blocks of whole rounds: as many on each map as on the one that has the fewest, the first ones. Where there are more maps than a trial
/// has blocks for, a map is a draw, and all count.
fn in_whole_rounds(blocks: &[(i64, Block)], seats: usize, maps: i64) -> Vec<&Block> {
    let (maps, each) = (maps.max(1), if seats == 2 { 2 } else { 1 });
    if round(seats, maps) == 1 {
        return blocks.iter().map(|(_, block)| block).collect();
    }
    let on = |map: i64| blocks.iter().filter(|(own, _)| *own == map).count() as i64;
    let most = (0..maps).map(on).min().unwrap_or(0) / each * each;
    (0..maps)
        .flat_map(|map| blocks.iter().filter(move |(own, _)| *own == map).take(most as usize))
        .map(|(_, block)| block)
        .collect()
}

/// The Elo difference for a score of twins, which is even at ½ and moves half as fast as the expected score of a game.
fn elo(score: f64) -> Option<f64> {
    elo_of_score(2.0 * score - 0.5)
}

fn judge(tally: &Tally, confidence: f64) -> (Says, Estimate) {
    let estimate = Estimate::new(tally, confidence);
    let says = match tally.evidence() {
        0 => Says::Unknown,
        _ if estimate.score_low > 0.5 => Says::Better,
        _ if estimate.score_high < 0.5 => Says::Worse,
        _ => Says::Unknown,
    };
    (says, estimate)
}

/// All blocks; those that only repeat others are no evidence.
fn tally<'a>(blocks: impl Iterator<Item = &'a Block>, shape: Shape) -> Tally {
    let mut tally = Tally::new(shape).expect("a match has two seats at least");
    let mut repeats = Repeats::default();
    for block in blocks {
        // All of them have this shape.
        if tally.add(block).is_ok() {
            repeats.add(block.start, block.fingerprint, ());
        }
    }
    tally.set_repeats(repeats.left_out());
    tally
}

/// The points of a block; none if one of its matches is missing.
fn block(trial: &Trial, seats: usize, new: i64, old: i64) -> Option<Block> {
    let rows = |rows: &[Row]| {
        let mut rows = rows.to_vec();
        rows.sort_by_key(|row| row.rotation);
        (rows.len() == seats).then_some(rows)
    };
    let seat = |row: &Row, version| row.versions.iter().position(|own| *own == version);
    let (own, twins) = (rows(&trial.new)?, if trial.old.is_empty() { Vec::new() } else { rows(&trial.old)? });
    let points = match twins.is_empty() {
        true => own
            .iter()
            .map(|row| Some(seats as u32 - 1 + half_opponents_beaten(&row.ranks, seat(row, new)?)))
            .collect::<Option<Vec<u32>>>()?,
        false => own
            .iter()
            .zip(&twins)
            .map(|(one, other)| {
                let seat = seat(one, new).filter(|own| seat(other, old) == Some(*own))?;
                Twin { seat, new: one.ranks.clone(), old: other.ranks.clone() }.points()
            })
            .collect::<Option<Vec<u32>>>()?,
    };
    let both = [own, twins].concat();
    Some(Block { start: table::start(&both), fingerprint: table::fingerprint(&both), points })
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.blocks == 0 || self.says == Says::Unknown {
            f.write_str("not known yet: ")?;
        }
        self.figures().fmt(f)
    }
}

impl Evidence {
    /// The figures alone, without whether they settle anything.
    pub fn figures(&self) -> impl fmt::Display {
        fmt::from_fn(|f| self.write_figures(f))
    }

    fn write_figures(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.blocks == 0 {
            return f.write_str("no block was played");
        }
        // With the minus of a keyboard, as consoles and scripts have it; pages show a true one.
        let signed = |elo: f64| match elo.round() {
            0.0 => "0".to_owned(),
            whole => format!("{whole:+}"),
        };
        match (self.elo, self.low, self.high) {
            (Some(elo), Some(low), Some(high)) => {
                write!(f, "{} ± {:.0} Elo", signed(elo), (high - low) / 2.0)?;
            }
            (Some(elo), _, _) => write!(f, "about {} Elo", signed(elo))?,
            (None, Some(low), _) => write!(f, "more than {} Elo", signed(low))?,
            (None, _, Some(high)) => write!(f, "less than {} Elo", signed(high))?,
            (None, None, None) => f.write_str("no figure yet")?,
        }
        if self.says == Says::Unknown {
            write!(f, " after {} {}", self.blocks, if self.blocks == 1 { "block" } else { "blocks" })?;
        }
        for (word, maps) in [("worse", &self.worse_on), ("better", &self.better_on)] {
            let maps: Vec<String> = maps.iter().map(|map| (map + 1).to_string()).collect();
            match &maps[..] {
                [] => {}
                [one] => write!(f, ", {word} on map {one}")?,
                more => write!(f, ", {word} on maps {}", more.join(", "))?,
            }
        }
        Ok(())
    }
}

impl LadderState {
    /// The versions of `among` that are nearest to `version` in rating, the nearest first.
    pub fn nearest(&mut self, version: i64, among: &[i64], count: usize) -> Vec<i64> {
        let number = self.number(version);
        let own = self.known.elo(number);
        let mut others: Vec<(f64, i64)> = Vec::new();
        for &other in among.iter().filter(|other| **other != version) {
            let number = self.number(other);
            others.push(((self.known.elo(number) - own).abs(), other));
        }
        others.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        others.into_iter().take(count).map(|(_, other)| other).collect()
    }
}

#[cfg(test)]
mod tests {
    use agon_game::Seeded;

    use super::*;

    const NEW: i64 = 7;
    const OLD: i64 = 6;

    fn row(block: i64, rotation: i64, versions: &[i64], ranks: &[u8]) -> Row {
        Row {
            block,
            rotation,
            versions: versions.to_vec(),
            ranks: ranks.to_vec(),
            start: block.to_string(),
            answers: format!("{block} {rotation} {ranks:?}"),
        }
    }

    /// A block of two seats, with the winner of each game.
    fn met(number: i64, map: i64, wins: [bool; 2]) -> Trial {
        let ranks = |new_wins: bool| if new_wins { [1, 2] } else { [2, 1] };
        let [first, second] = wins.map(ranks);
        let second = [second[1], second[0]];
        let new = vec![row(number, 0, &[NEW, OLD], &first), row(number, 1, &[OLD, NEW], &second)];
        Trial { map, new, old: Vec::new() }
    }

    fn twins(number: i64, map: i64, new: [bool; 2], old: [bool; 2]) -> Trial {
        let rows = |version: i64, wins: [bool; 2]| {
            let [first, second] = wins.map(|wins| if wins { [1, 2] } else { [2, 1] });
            vec![
                row(number, 0, &[version, 1], &first),
                row(number, 1, &[1, version], &[second[1], second[0]]),
            ]
        };
        Trial { map, new: rows(NEW, new), old: rows(OLD, old) }
    }

    #[test]
    fn half_of_the_blocks_are_twins_against_the_five_nearest_in_turn() {
        let opponents = [1, 2, 3, 4, 5, 9];
        let plan: Vec<Next> = (0..12).filter_map(|block| next(block, 2, &opponents)).collect();
        assert!(plan.iter().step_by(2).all(|next| *next == Next::Mirrored));
        let fields: Vec<&Next> = plan.iter().skip(1).step_by(2).collect();
        let wanted: Vec<Next> = [1, 2, 3, 4, 5, 1].map(|one| Next::Twin(vec![one])).into();
        assert_eq!(fields, wanted.iter().collect::<Vec<_>>());
        let maps: Vec<i64> = (0..12).map(|block| map(block, 2, 4)).collect();
        assert_eq!(maps, [0, 0, 1, 1, 2, 2, 3, 3, 0, 0, 1, 1], "each map gets one of both");
        assert_eq!((map(7, 4, 4), map(7, 2, 0)), (3, 0));
        assert_eq!(next(1, 2, &[]), Some(Next::Mirrored));
        assert_eq!(next(1, 4, &[]), None);
        assert_eq!(next(3, 4, &[1, 2]), Some(Next::Twin(vec![2, 1, 2])));
    }

    #[test]
    fn nothing_is_known_of_little_and_of_the_same_match_again() {
        assert_eq!(verdict(&[], 2, 1, NEW, OLD).to_string(), "not known yet: no block was played");
        let one = verdict(&[met(1, 0, [true, true])], 2, 1, NEW, OLD);
        assert_eq!((one.says, one.blocks, one.counted), (Says::Unknown, 1, 1));
        let same = vec![met(1, 0, [true, true]); 50];
        let same = verdict(&same, 2, 1, NEW, OLD);
        assert_eq!((same.says, same.blocks, same.counted), (Says::Unknown, 50, 1));
        let even = Evidence { elo: Some(0.3), low: Some(-21.0), high: Some(21.0), blocks: 50, ..same };
        assert_eq!(even.to_string(), "not known yet: 0 ± 21 Elo after 50 blocks");
        // A block with a missing match does not count.
        let mut cut = met(1, 0, [true, true]);
        cut.new.pop();
        assert_eq!(verdict(&[cut], 2, 1, NEW, OLD).blocks, 0);
    }

    /// A trial that was cut short, or a bot that varies on some maps only, does not weigh maps differently.
    #[test]
    fn every_map_has_the_same_weight() {
        // It wins on the first two of five maps, at random only there. After a round they come once more.
        let trial = |block: i64| {
            let map = map(block as u32, 2, 5);
            let mut trial = match (block % 2, map < 2) {
                (0, won) => met(block, map, [won, won]),
                (_, won) => twins(block, map, [won, won], [!won, !won]),
            };
            if map >= 2 {
                let same = |row: &mut Row| {
                    (row.start, row.answers) = (format!("map {map}"), format!("always {}", row.rotation));
                };
                trial.new.iter_mut().chain(&mut trial.old).for_each(same);
            }
            trial
        };
        let of = |blocks: i64| verdict(&(0..blocks).map(trial).collect::<Vec<_>>(), 2, 5, NEW, OLD);
        // Four of the fourteen blocks are on the first map and four on the second.
        let cut = of(14);
        assert!(cut.elo.is_some_and(|elo| elo < 0.0), "{cut:?}");
        assert_eq!((cut.blocks, of(8).says), (14, Says::Unknown), "before a whole round nothing is said");
        let all = of(50);
        assert!(all.says != Says::Better && all.elo.is_some_and(|elo| elo < 0.0), "{all:?}");
    }

    #[test]
    fn better_everywhere_but_on_one_map_is_said_so() {
        let trials: Vec<Trial> = (0..50)
            .map(|block| {
                // Twelve blocks on each of four maps: less is not enough for 99 %, even where all are lost.
                let (map, ahead) = (block / 2 % 4, block % 7 != 0);
                match (map == 2, block % 2) {
                    (true, 0) => met(block, map, [false, false]),
                    (true, _) => twins(block, map, [false, false], [true, true]),
                    (false, 0) => met(block, map, [true, ahead]),
                    (false, _) => twins(block, map, [true, true], [false, !ahead]),
                }
            })
            .collect();
        let verdict = verdict(&trials, 2, 4, NEW, OLD);
        assert_eq!(
            (verdict.says, verdict.blocks, verdict.counted),
            (Says::Better, 50, 48),
            "six whole rounds count"
        );
        assert_eq!([most(2, 4), most(2, 1), most(3, 7), most(2, 40)], [48, 50, 49, 50]);
        assert_eq!(verdict.worse_on, [2], "{verdict:?}");
        assert!(verdict.low.is_some_and(|low| low > 0.0), "{verdict:?}");
        let said = verdict.to_string();
        assert!(said.contains("Elo, worse on map 3"), "{said}");
    }

    /// Of verdicts on equal versions one in twenty says that they differ; a difference of 150 Elo is detected.
    #[test]
    fn verdicts_are_as_sure_as_they_say() {
        let mut chance = Seeded::stream(3, "verdicts");
        let mut random = move || (chance.bits() >> 11) as f64 / (1u64 << 53) as f64;
        let mut play = |elo: f64| random() < agon_stats::score_of_elo(elo);
        let mut run = |difference: f64| {
            let trials: Vec<Trial> = (0..50)
                .map(|block| match block % 2 {
                    0 => met(block, 0, [play(difference), play(difference)]),
                    _ => twins(block, 0, [play(difference), play(difference)], [play(0.0), play(0.0)]),
                })
                .collect();
            verdict(&trials, 2, 1, NEW, OLD)
        };
        let even: Vec<Evidence> = (0..400).map(|_| run(0.0)).collect();
        let wrong = even.iter().filter(|verdict| verdict.says != Says::Unknown).count();
        assert!((6..=36).contains(&wrong), "{wrong} of 400");
        let better: Vec<Evidence> = (0..200).map(|_| run(150.0)).collect();
        assert!(better.iter().all(|verdict| verdict.says != Says::Worse));
        let seen = better.iter().filter(|verdict| verdict.says == Says::Better).count();
        assert!(seen > 120, "{seen} of 200");
        let mean = better.iter().filter_map(|verdict| verdict.elo).sum::<f64>() / 200.0;
        assert!((110.0..190.0).contains(&mean), "{mean}");
    }

    #[test]
    fn the_nearest_are_those_of_the_nearest_ratings() {
        let mut ladder = LadderState::new();
        for block in 1..=40 {
            for (one, other) in [(1, 2), (2, 3), (3, 4)] {
                let number = block * 10 + one;
                let first = [if block % 4 == 0 { 2 } else { 1 }, if block % 4 == 0 { 1 } else { 2 }];
                ladder.feed(row(number, 0, &[one, other], &first));
                ladder.feed(row(number, 1, &[other, one], &[first[1], first[0]]));
            }
        }
        ladder.known.refit();
        assert_eq!(ladder.nearest(1, &[1, 2, 3, 4], 2), [2, 3]);
        assert_eq!(ladder.nearest(4, &[1, 2, 3], 5), [3, 2, 1]);
    }
}
