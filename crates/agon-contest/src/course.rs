//! The course of a series, for charts: Elo with its interval, and the LLR of a test, over the matches played.

use std::collections::BTreeMap;

use agon_stats::{Estimate, Sprt, Tally};
use serde::Serialize;

use crate::journal::{Entry, JournalHeader};
use crate::plan::SeriesKind;
use crate::standing::{SeriesStanding, shape};

/// A moment of a series.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Matches played so far.
    pub games: u64,
    /// The difference in Elo; none while every point was won, or lost.
    pub elo: Option<f64>,
    /// The lower end of its 95 % interval; none where that is open.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// The LLR of a test.
    pub llr: Option<f64>,
}

/// The course of one pairing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairingCourse {
    /// The bots, by index in the header; the figures are those of the first.
    pub bots: Vec<usize>,
    /// The moments, in order; the last is the end.
    pub points: Vec<Point>,
    /// The lowest and the highest Elo of the chart.
    pub elo: [f64; 2],
    /// The LLR at which a test accepts H0, and at which H1.
    pub bounds: Option<[f64; 2]>,
    /// The lowest and the highest LLR of the chart.
    pub llr: [f64; 2],
}

/// The most moments in a chart.
const MOST_POINTS: u64 = 200;
/// How many pairings of a gauntlet get a chart.
const MOST_COURSES: usize = 8;
/// The share of first moments that do not set the range of a chart, because their intervals are very wide.
const EARLY: f64 = 0.1;

/// The courses of a test, or of a gauntlet with each opponent; none for a tournament. `entries` are all matches of the
/// journal.
pub fn courses(header: &JournalHeader, entries: &[Entry]) -> Vec<PairingCourse> {
    if header.kind == SeriesKind::Tournament {
        return Vec::new();
    }
    let plan = header.plan(None);
    let (pairings, games) = (plan.pairings(), plan.games() as usize);
    let sprt = header.test.as_ref().and_then(|test| {
        Sprt::new(test.model, (test.elo0, test.elo1), (test.alpha, test.beta), shape(&plan)).ok()
    });
    let mut blocks: BTreeMap<u64, Vec<&Entry>> = BTreeMap::new();
    entries.iter().for_each(|entry| blocks.entry(entry.block).or_default().push(entry));
    blocks.retain(|_, entries| entries.len() == games);
    let each = (blocks.len() as u64).div_ceil(pairings.len() as u64);
    let step = each.div_ceil(MOST_POINTS).max(1);
    let mut standing = SeriesStanding::new(&plan, None);
    let mut points: Vec<Vec<Point>> = vec![Vec::new(); pairings.len()];
    for (number, entries) in blocks {
        let mut entries: Vec<Entry> = entries.into_iter().cloned().collect();
        entries.sort_by_key(|entry| entry.game);
        let Some(block) = plan.block_with(number, 1, &entries[0].bots, &pairings) else { continue };
        standing.feed(&block, header, &entries);
        let pairing = &standing.pairings[block.pairing];
        // Every so many blocks, at the end of a round.
        let last = points[block.pairing].last().map_or(0, |last: &Point| last.games);
        let now = pairing.blocks * games as u64;
        if pairing.open() == 0 && now >= last + step * games as u64 {
            let now = |tally| point(now, tally, sprt.as_ref());
            points[block.pairing].extend(pairing.tally.as_ref().map(now));
        }
    }
    let drawn = pairings.into_iter().zip(points).zip(&standing.pairings).take(MOST_COURSES);
    drawn
        .filter_map(|((bots, mut points), pairing)| {
            let end = pairing.blocks * games as u64;
            if points.last().is_none_or(|last| last.games < end) {
                let tally = pairing.tally.as_ref().filter(|tally| tally.blocks() > 0)?;
                points.push(point(end, tally, sprt.as_ref()));
            }
            let bounds = sprt.as_ref().map(|sprt| <[f64; 2]>::from(sprt.bounds()));
            let llr = points.iter().filter_map(|point| point.llr).chain(bounds.into_iter().flatten());
            let early = end as f64 * EARLY;
            let late = points.iter().filter(|point| point.games as f64 >= early);
            let elo = late.flat_map(|point| [point.elo, point.low, point.high]).flatten();
            Some(PairingCourse { bots, elo: range(elo), llr: range(llr), bounds, points })
        })
        .collect()
}

fn point(games: u64, tally: &Tally, sprt: Option<&Sprt>) -> Point {
    let Estimate { elo, elo_low: low, elo_high: high, .. } = Estimate::new(tally, 0.95);
    Point { games, elo, low, high, llr: sprt.and_then(|sprt| sprt.llr(tally)) }
}

/// The minimum and maximum of these and 0, with some margin.
fn range(numbers: impl Iterator<Item = f64>) -> [f64; 2] {
    let (low, high) = numbers.fold((0.0f64, 0.0f64), |(low, high), one| (low.min(one), high.max(one)));
    let room = ((high - low) * 0.06).max(0.1);
    [low - room, high + room]
}

#[cfg(test)]
mod tests {
    use agon_stats::Model;

    use super::*;
    use crate::journal::TestId;
    use crate::journal::tests::{entry, header, with_ranks};

    /// Blocks in which NEW wins one match each and the other in every third.
    fn entries(blocks: u64) -> Vec<Entry> {
        let ranks = |block: u64, game: u32| match (game, block % 3) {
            (1, _) | (2, 0) => vec![[1, 2], [2, 1]][game as usize - 1].to_vec(),
            _ => vec![1, 2],
        };
        let all = (1..=blocks).flat_map(|block| [1, 2].map(|game| (block, game)));
        let entry = |(block, game)| {
            let mut entry = with_ranks(entry(block, game), ranks(block, game));
            entry.result.proven.start = format!("start {block}");
            entry
        };
        all.map(entry).collect()
    }

    #[test]
    fn the_course_of_a_test_ends_where_its_result_is() {
        let test = TestId { model: Model::Normalized, elo0: 0.0, elo1: 20.0, alpha: 0.05, beta: 0.05 };
        let header = JournalHeader { test: Some(test), ..header(SeriesKind::Sprt) };
        let entries = entries(450);
        let found = courses(&header, &entries);
        let [course] = &found[..] else { panic!("{found:?}") };
        assert_eq!(course.bots, [0, 1]);
        assert!((100..=201).contains(&course.points.len()), "{}", course.points.len());
        assert!(course.points.windows(2).all(|two| two[0].games < two[1].games));
        let last = course.points.last().expect("an end");
        let standing = SeriesStanding::of(&header, &entries);
        let estimate = standing.pairings[0].estimate().expect("an estimate");
        assert_eq!((last.games, last.elo, last.low), (900, estimate.elo, estimate.elo_low));
        let [lower, upper] = course.bounds.expect("a test has bounds");
        assert!(lower < 0.0 && upper > 0.0 && course.llr[1] > upper && course.llr[0] < lower);
        assert!(last.llr.is_some_and(|llr| (course.llr[0]..course.llr[1]).contains(&llr)));
        let inside = |elo: f64| (course.elo[0]..course.elo[1]).contains(&elo);
        assert!(last.low.is_some_and(inside) && last.high.is_some_and(inside) && inside(0.0));
    }

    #[test]
    fn a_gauntlet_has_no_bounds_and_a_tournament_no_course() {
        let found = courses(&header(SeriesKind::Gauntlet), &entries(1));
        assert_eq!((found.len(), found[0].points.len(), found[0].bounds), (1, 1, None));
        assert!(courses(&header(SeriesKind::Gauntlet), &[]).is_empty());
        assert!(courses(&header(SeriesKind::Tournament), &entries(4)).is_empty());
    }
}
