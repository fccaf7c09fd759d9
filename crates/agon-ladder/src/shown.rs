//! What the board shows of the table: each entrant once, with the version that stands for it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use agon_stats::Head;

use crate::{Place, Table};

/// A version and its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    pub version: i64,
    /// Its number among the versions of its entrant.
    pub n: i64,
    pub entrant: String,
    /// Whether the entrant is a boss.
    pub boss: bool,
    /// Whether it stands for its entrant now; else it did before.
    pub live: bool,
}

/// A line of the board.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct Line {
    /// From 1; equal ratings share a rank. None while there are too few matches.
    pub rank: Option<u32>,
    /// The entrant.
    pub entrant: String,
    /// Whether it is a boss.
    pub boss: bool,
    /// The number of the version whose rating this is.
    pub n: i64,
    /// The number of a newer version that has too few matches so far.
    pub placing: Option<i64>,
    /// Its place in the table; none before its first complete block.
    pub place: Option<Place>,
    /// The probability that it is stronger than the next line that has a rank; none if unknown.
    pub above_next: Option<f64>,
}

/// The board. A live version with fewer than `placing` matches leaves its place to the last one before it that has enough, so that nobody
/// drops during the first minutes of a new version.
pub fn shown(table: &Table, versions: &[Standing], placing: u64) -> Vec<Line> {
    // An index, not a search: a board of thousands is made while others wait for the same thread.
    let found = numbers(table);
    let is_placed = |version: i64| found.get(&version).is_some_and(|&at| table.places[at].matches >= placing);
    let mut own: BTreeMap<&str, Vec<&Standing>> = BTreeMap::new();
    for version in versions {
        own.entry(&version.entrant).or_default().push(version);
    }
    let mut lines: Vec<(usize, Line)> = Vec::new();
    for live in versions.iter().filter(|version| version.live) {
        let before = own[&*live.entrant]
            .iter()
            .copied()
            .filter(|other| other.n < live.n && is_placed(other.version))
            .max_by_key(|other| other.n)
            .filter(|_| !is_placed(live.version));
        let stands = before.unwrap_or(live);
        let at = found.get(&stands.version).copied();
        lines.push((
            at.unwrap_or(usize::MAX),
            Line {
                rank: None,
                entrant: live.entrant.clone(),
                boss: live.boss,
                n: stands.n,
                placing: (!is_placed(live.version)).then_some(live.n),
                place: at.map(|at| table.places[at].clone()),
                above_next: None,
            },
        ));
    }
    // The table is in order; versions that have not played yet come last, by name.
    lines.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.entrant.cmp(&b.1.entrant)));
    let ats: Vec<usize> = lines.iter().map(|(at, _)| *at).collect();
    let mut lines: Vec<Line> = lines.into_iter().map(|(_, line)| line).collect();
    let (mut next, mut last): (u32, Option<(u32, Option<f64>, u32)>) = (1, None);
    for line in &mut lines {
        let Some(place) = line.place.as_ref().filter(|place| place.matches >= placing) else { continue };
        let rank = match last {
            Some((rank, elo, group)) if elo.is_some() && elo == place.elo && group == place.group => rank,
            _ => next,
        };
        line.rank = Some(rank);
        last = Some((rank, place.elo, place.group));
        next += 1;
    }
    let ranked: Vec<usize> = (0..lines.len()).filter(|&line| lines[line].rank.is_some()).collect();
    for pair in ranked.windows(2) {
        lines[pair[0]].above_next = table.sure(ats[pair[0]], ats[pair[1]]);
    }
    lines
}

/// The place of each version in the table.
fn numbers(table: &Table) -> BTreeMap<i64, usize> {
    table.places.iter().enumerate().map(|(at, place)| (place.version, at)).collect()
}

/// How certain the first `best` ranked lines are; if there are no more lines than that, all but the last. None where it is undefined: fewer
/// than two are ranked, or one of these has no finite rating or has no chain of matches to the others.
///
/// A version that lost everything has no finite rating either, and stands below: it counts to the degree that the last of these lines is
/// better than it.
pub fn head(table: &Table, lines: &[Line], best: usize) -> Option<Head> {
    let numbers = numbers(table);
    let found = |line: &Line| numbers.get(&line.place.as_ref()?.version).copied();
    let ranked: Vec<usize> =
        lines.iter().filter(|line| line.rank.is_some()).map(found).collect::<Option<_>>()?;
    let best = best.min(ranked.len().checked_sub(1)?);
    let (&leader, &last) = (ranked.first()?, ranked.get(best.checked_sub(1)?)?);
    let deviation = |i: usize, j: usize| *table.deviations.get(i)?.get(j)?;
    let (known, rest): (Vec<usize>, Vec<usize>) =
        ranked.iter().copied().partition(|&at| deviation(leader, at).is_some());
    if !known.starts_with(&ranked[..best]) {
        return None;
    }
    let ratings: Vec<f64> = known.iter().map(|&at| table.places[at].elo).collect::<Option<_>>()?;
    let drawn = agon_stats::head(
        &ratings,
        |i, j| deviation(known[i], known[j]).expect("both compare with the leader"),
        best,
    )?;
    let below = rest.iter().map(|&at| table.sure(last, at)).product::<Option<f64>>()?;
    Some(Head { these: below * drawn.these, order: below * drawn.order, ..drawn })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(version: i64, elo: f64, matches: u64) -> Place {
        Place { version, elo: Some(elo), low: None, high: None, matches, group: 1, above_next: None }
    }

    fn standing(version: i64, entrant: &str, n: i64, live: bool) -> Standing {
        Standing { version, n, entrant: entrant.into(), boss: false, live }
    }

    #[test]
    fn a_new_version_is_placed_before_it_is_shown() {
        let places = vec![place(2, 90.0, 4), place(1, 50.0, 200), place(4, 50.0, 30), place(3, -10.0, 30)];
        let table = Table { places, ..Table::default() };
        let versions = [
            standing(1, "ann", 1, false),
            standing(2, "ann", 2, true),
            standing(3, "bob", 1, true),
            standing(4, "cid", 1, true),
            standing(5, "dot", 1, true),
        ];
        let lines = shown(&table, &versions, 20);
        let seen: Vec<_> =
            lines.iter().map(|line| (line.rank, line.entrant.as_str(), line.n, line.placing)).collect();
        assert_eq!(
            seen,
            [
                (Some(1), "ann", 1, Some(2)),
                (Some(1), "cid", 1, None),
                (Some(3), "bob", 1, None),
                (None, "dot", 1, Some(1))
            ]
        );
        // Between them stand ann's second version, which is not shown, and nobody.
        let sure: Vec<Vec<_>> =
            (0..4).map(|one| (0..4).map(|other| Some(f64::from(10 * one + other))).collect()).collect();
        let lines = shown(&Table { sure, ..table.clone() }, &versions, 20);
        let above: Vec<_> = lines.iter().map(|line| line.above_next).collect();
        assert_eq!(above, [Some(12.0), Some(23.0), None, None], "of places 1, 2 and 3 of the table");
        let lines = shown(&table, &versions, 4);
        assert_eq!((lines[0].n, lines[0].placing), (2, None), "with enough matches it stands for itself");
    }

    #[test]
    fn the_head_of_the_board_is_as_sure_as_its_lines_are() {
        let places = vec![
            place(2, 90.0, 4),
            place(1, 50.0, 200),
            place(4, -100.0, 30),
            Place { elo: None, ..place(3, 0.0, 30) },
        ];
        // The last one lost everything; the second place is a retired version.
        let known = |i: usize, j: usize| (i < 3 && j < 3).then_some(if i == j { 0.0 } else { 40.0 });
        let square = |of: &dyn Fn(usize, usize) -> Option<f64>| -> Vec<Vec<Option<f64>>> {
            (0..4).map(|i| (0..4).map(|j| of(i, j)).collect()).collect()
        };
        let table = Table {
            places,
            deviations: square(&known),
            sure: square(&|_, _| Some(0.75)),
            ..Table::default()
        };
        let versions = [
            standing(1, "ann", 1, false),
            standing(2, "ann", 2, true),
            standing(3, "bob", 1, true),
            standing(4, "cid", 1, true),
        ];
        let lines = shown(&table, &versions, 20);
        let found = head(&table, &lines, 1).expect("two are below");
        // 150 Elo apart with a deviation of 40 is practically certain; the rest is the one that lost everything.
        assert!((found.these - 0.75).abs() < 0.001 && found.these == found.order, "{found:?}");
        assert_eq!(head(&table, &lines, 9).map(|head| head.bots), None, "nobody with a rating is below two");
        assert_eq!(head(&table, &lines[..1], 1), None, "nobody is below");
        assert_eq!(head(&Table { deviations: Vec::new(), ..table }, &lines, 1), None, "as it was read");
    }
}
