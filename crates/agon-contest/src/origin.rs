//! Where the points came from: seats, maps, opponents, and how matches ended.

use std::collections::BTreeMap;

use agon_match::FaultKind;
use agon_stats::twin::half_opponents_beaten;
use serde::Serialize;

use crate::journal::{Entry, JournalHeader};
use crate::plan::SeriesKind;

/// The mean of scores, and its uncertainty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ScoreMean {
    /// The number of scores.
    pub count: u64,
    sum: f64,
    squares: f64,
}

impl ScoreMean {
    /// Adds a score from 0 to 1.
    pub fn add(&mut self, score: f64) {
        self.count += 1;
        self.sum += score;
        self.squares += score * score;
    }

    /// The mean; none without scores.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    /// The distance to each side within which the true mean lies (95 %, normal approximation); none for fewer than two.
    /// Scores that are all alike do not show how they vary: the error is then what another score could change whose chance
    /// `p` is small enough to have been missed, `(1 - p)^n = 2.5 %`.
    pub fn error(&self) -> Option<f64> {
        let mean = self.mean().filter(|_| self.count > 1)?;
        let n = self.count as f64;
        let variance = (self.squares / n - mean * mean).max(0.0) * n / (n - 1.0);
        if variance < 1e-12 {
            return Some((1.0 - 0.025f64.powf(1.0 / n)) * mean.max(1.0 - mean));
        }
        Some(1.96 * (variance / n).sqrt())
    }
}

/// How a match ended, as seen by the bot that a series is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum OwnEnding {
    /// By the rules, with no fault that cost an answer.
    Rules,
    /// Another bot crashed or gave no playable answer.
    OthersFault,
    /// Another bot was too late.
    OthersTimeout,
    /// It crashed itself or gave no playable answer.
    OwnFault,
    /// It was too late itself.
    OwnTimeout,
}

impl OwnEnding {
    /// All of them, in display order.
    pub const ALL: [Self; 5] =
        [Self::Rules, Self::OthersFault, Self::OthersTimeout, Self::OwnFault, Self::OwnTimeout];

    pub fn word(self) -> &'static str {
        match self {
            Self::Rules => "by the rules alone",
            Self::OthersFault => "another bot failed",
            Self::OthersTimeout => "another bot was late",
            Self::OwnFault => "it failed",
            Self::OwnTimeout => "it was late",
        }
    }

    /// Whether the points are owed to the opponents' faults.
    pub fn is_a_gift(self) -> bool {
        matches!(self, Self::OthersFault | Self::OthersTimeout)
    }

    /// How this match ended for the bot in this seat (an index). Its own fault comes first, because it can fix that.
    pub fn of(entry: &Entry, seat: usize) -> Self {
        let breaks =
            |kind: &str| FaultKind::ALL.into_iter().find(|known| known.word() == kind && known.breaks());
        let faults = entry.result.observed.faults.counted().iter().filter_map(|fault| {
            let own = usize::from(fault.seat) == seat + 1;
            breaks(&fault.kind).map(|kind| match (own, kind) {
                (true, FaultKind::Timeout) => Self::OwnTimeout,
                (true, _) => Self::OwnFault,
                (false, FaultKind::Timeout) => Self::OthersTimeout,
                (false, _) => Self::OthersFault,
            })
        });
        let found: Vec<Self> = faults.collect();
        let order = [Self::OwnFault, Self::OwnTimeout, Self::OthersFault, Self::OthersTimeout];
        order.into_iter().find(|ending| found.contains(ending)).unwrap_or(Self::Rules)
    }
}

/// Where the points of a series came from. Every score is the share of opponents beaten, a tie counting half.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// What each seat scored, whoever sat there; one score per block.
    pub seats: Vec<ScoreMean>,
    /// Where the points of single bots came from, by index in the header: of all bots in a tournament, otherwise of the one
    /// that the series is about.
    pub bots: BTreeMap<usize, PointShare>,
}

/// Where the points of a bot came from.
#[derive(Clone, Debug, Default)]
pub struct PointShare {
    /// What it scored in each seat.
    pub seats: BTreeMap<usize, ScoreMean>,
    /// What it scored on each map.
    pub maps: BTreeMap<String, ScoreMean>,
    /// What it scored against each other bot, by index in the header.
    pub opponents: BTreeMap<usize, ScoreMean>,
    /// What it scored by the way matches ended.
    pub endings: BTreeMap<OwnEnding, ScoreMean>,
}

impl Origin {
    /// Adds a block that counts. The bot that the series is about is number 0; none if it is about all of them.
    pub fn add(&mut self, entries: &[Entry], about: Option<usize>) {
        let seats = entries.first().map_or(0, |entry| entry.result.proven.ranks.len());
        self.seats.resize(seats.max(self.seats.len()), ScoreMean::default());
        let share = |entry: &Entry, seat: usize| {
            f64::from(half_opponents_beaten(&entry.result.proven.ranks, seat)) / (2.0 * (seats - 1) as f64)
        };
        for (seat, scored) in self.seats.iter_mut().enumerate() {
            scored.add(entries.iter().map(|entry| share(entry, seat)).sum::<f64>() / entries.len() as f64);
        }
        for entry in entries {
            for (seat, &bot) in entry.bots.iter().enumerate() {
                if about.is_none_or(|about| about == bot) {
                    self.bots.entry(bot).or_default().add(entry, seat, share(entry, seat));
                }
            }
        }
    }

    /// The share of the bot that the series is about; none in a tournament and before the first block.
    pub fn about(&self, header: &JournalHeader) -> Option<&PointShare> {
        self.bots.get(&0).filter(|_| header.kind != SeriesKind::Tournament)
    }
}

impl PointShare {
    fn add(&mut self, entry: &Entry, seat: usize, score: f64) {
        self.seats.entry(seat).or_default().add(score);
        self.maps.entry(entry.map.clone()).or_default().add(score);
        self.endings.entry(OwnEnding::of(entry, seat)).or_default().add(score);
        for (other, &bot) in entry.bots.iter().enumerate().filter(|(other, _)| *other != seat) {
            let pair = [entry.result.proven.ranks[seat], entry.result.proven.ranks[other]];
            let met = self.opponents.entry(bot).or_default();
            met.add(f64::from(half_opponents_beaten(&pair, 0)) / 2.0);
        }
    }

    /// The maps with the lowest and the highest score; none with fewer than two maps.
    pub fn worst_and_best_map(&self) -> Option<[(&str, &ScoreMean); 2]> {
        let mut maps: Vec<(&str, &ScoreMean)> =
            self.maps.iter().map(|(map, mean)| (map.as_str(), mean)).collect();
        maps.sort_by(|a, b| a.1.mean().unwrap_or(0.0).total_cmp(&b.1.mean().unwrap_or(0.0)));
        match maps[..] {
            [worst, .., best] => Some([worst, best]),
            _ => None,
        }
    }

    /// What others gave away by faults; none if nothing was.
    pub fn gifts(&self) -> Option<Gifts> {
        let all = self.endings.values().map(|mean| mean.count).sum();
        let given =
            self.endings.iter().filter(|(ending, _)| ending.is_a_gift()).map(|(_, mean)| mean.count).sum();
        let by_rules = self.endings.get(&OwnEnding::Rules).and_then(ScoreMean::mean);
        (given > 0).then_some(Gifts { given, all, by_rules })
    }
}

/// The matches that others gave a bot by their faults.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gifts {
    /// How many were given away.
    pub given: u64,
    /// Of how many.
    pub all: u64,
    /// Its score in the matches decided by the rules alone, from 0 to 1; none if there were none.
    pub by_rules: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_api::{FaultCount, FaultsTold};

    use crate::journal::tests::{entry, with_ranks};

    fn fault(seat: u8, kind: &str) -> FaultCount {
        let (turn, message) = (String::new(), String::new());
        FaultCount { seat, kind: kind.to_owned(), count: 1, turn, message, stderr: Vec::new() }
    }

    fn with_faults(mut entry: Entry, faults: Vec<FaultCount>) -> Entry {
        entry.result.observed.faults = FaultsTold::Counted(faults);
        entry
    }

    #[test]
    fn points_are_told_apart_by_where_they_came_from() {
        let mut origin = Origin::default();
        // The bot wins both matches of a block; in one the other crashed. The bot's stray output decides nothing.
        let first = with_faults(entry(1, 1), vec![fault(2, "crash"), fault(1, "stray output")]);
        let second = Entry { map: "b".to_owned(), ..with_ranks(entry(1, 2), vec![2, 1]) };
        origin.add(&[first, second], Some(0));
        // Each wins in the first seat; in one match the bot itself was late.
        let second = with_faults(entry(2, 2), vec![fault(2, "timeout"), fault(1, "crash")]);
        origin.add(&[entry(2, 1), second], Some(0));
        let means = |mean: &ScoreMean| (mean.count, mean.mean());
        let share = &origin.bots[&0];
        assert_eq!(origin.bots.len(), 1, "the series is about one bot");
        assert_eq!(origin.seats.iter().map(means).collect::<Vec<_>>(), [(2, Some(0.75)), (2, Some(0.25))]);
        assert_eq!(share.seats.values().map(means).collect::<Vec<_>>(), [(2, Some(1.0)), (2, Some(0.5))]);
        assert_eq!(means(&share.maps[""]), (3, Some(2.0 / 3.0)));
        assert_eq!(means(&share.maps["b"]), (1, Some(1.0)));
        assert_eq!(means(&share.opponents[&1]), (4, Some(0.75)));
        assert_eq!(means(&share.endings[&OwnEnding::OthersFault]), (1, Some(1.0)));
        assert_eq!(means(&share.endings[&OwnEnding::OwnTimeout]), (1, Some(0.0)));
        assert_eq!(share.gifts(), Some(Gifts { given: 1, all: 4, by_rules: Some(1.0) }));
    }

    #[test]
    fn in_a_tournament_each_bot_has_its_own() {
        let mut origin = Origin::default();
        let second = Entry { map: "b".to_owned(), ..with_faults(entry(1, 2), vec![fault(2, "crash")]) };
        origin.add(&[entry(1, 1), second], None);
        let score = |bot: usize| origin.bots[&bot].endings.values().map(|mean| (mean.count, mean.mean()));
        for bot in [0, 1] {
            assert_eq!(score(bot).map(|(count, _)| count).sum::<u64>(), 2, "both matches of bot {bot}");
        }
        let [worst, best] = origin.bots[&0].worst_and_best_map().expect("two maps");
        assert!(worst.1.mean() <= best.1.mean() && worst.0 != best.0);
        let crashed =
            origin.bots.values().filter(|share| share.endings.contains_key(&OwnEnding::OwnFault)).count();
        let given = origin.bots.values().filter(|share| share.gifts().is_some()).count();
        assert_eq!((crashed, given), (1, 1), "who crashed, and to whom it gave the match");
    }

    #[test]
    fn the_error_of_a_mean_is_that_of_its_scores() {
        let mut mean = ScoreMean::default();
        assert_eq!((mean.mean(), mean.error()), (None, None));
        [0.0, 1.0].repeat(50).into_iter().for_each(|score| mean.add(score));
        let error = mean.error().expect("a hundred scores");
        assert!((error - 1.96 * 0.05).abs() < 1e-3, "{error}");
        // A hundred draws, and a hundred wins: a result with a chance of 3.6 % may have been missed.
        for (score, furthest) in [(0.5, 0.5), (1.0, 1.0)] {
            let mut mean = ScoreMean::default();
            (0..100).for_each(|_| mean.add(score));
            let error = mean.error().expect("a hundred scores");
            assert!((error - 0.0362 * furthest).abs() < 1e-3, "{error}");
        }
    }
}
