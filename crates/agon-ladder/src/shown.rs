//! What the board shows of the table: each entrant once, with the version that stands for it.

use std::collections::BTreeMap;

use agon_api::{LadderRow, VersionRating};
use agon_stats::TableHead;

use crate::Table;

/// A version and its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StandingVersion {
    pub version: i64,
    /// Its number among the versions of its entrant.
    pub n: i64,
    /// The number of the entrant.
    pub team: i64,
    pub entrant: String,
    /// Whether the entrant is a boss.
    pub boss: bool,
    /// Whether it stands for its entrant now; else it did before.
    pub live: bool,
}

/// How sure it must be that one team is better than another before the one stands above.
pub const SURE: f64 = 0.95;

/// The board. A live version with fewer than `placing` matches leaves its place to the last one before it that has enough, so that nobody
/// drops during the first minutes of a new version.
pub fn shown(table: &Table, versions: &[StandingVersion], placing: u64) -> Vec<LadderRow> {
    // An index, not a search: a board of thousands is made while others wait for the same thread.
    let found = numbers(table);
    let is_placed = |version: i64| found.get(&version).is_some_and(|&at| table.places[at].matches >= placing);
    let mut own: BTreeMap<i64, Vec<&StandingVersion>> = BTreeMap::new();
    for version in versions {
        own.entry(version.team).or_default().push(version);
    }
    let mut rows: Vec<(usize, LadderRow)> = Vec::new();
    for live in versions.iter().filter(|version| version.live) {
        let before = own[&live.team]
            .iter()
            .copied()
            .filter(|other| other.n < live.n && is_placed(other.version))
            .max_by_key(|other| other.n)
            .filter(|_| !is_placed(live.version));
        let stands = before.unwrap_or(live);
        let at = found.get(&stands.version).copied();
        let unrated = || VersionRating { version: stands.version, ..VersionRating::default() };
        rows.push((
            at.unwrap_or(usize::MAX),
            LadderRow {
                team: live.team,
                name: live.entrant.clone(),
                boss: live.boss,
                live: Some(live.version),
                n: stands.n,
                placing: (!is_placed(live.version)).then_some(live.n),
                rating: VersionRating {
                    above_next: None,
                    ..at.map_or_else(unrated, |at| table.places[at].clone())
                },
                ..LadderRow::default()
            },
        ));
    }
    // The table is in order; versions that have not played yet come last, by name.
    rows.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.name.cmp(&b.1.name)));
    let (ats, mut rows): (Vec<usize>, Vec<LadderRow>) = rows.into_iter().unzip();
    let (mut next, mut last): (u32, Option<(u32, Option<f64>, u32)>) = (1, None);
    for row in &mut rows {
        let LadderRow { rating, rank, .. } = row;
        if rating.group == 0 || rating.matches < placing {
            continue;
        }
        let own = match last {
            Some((rank, elo, group)) if elo.is_some() && elo == rating.elo && group == rating.group => rank,
            _ => next,
        };
        *rank = Some(own);
        last = Some((own, rating.elo, rating.group));
        next += 1;
    }
    let ranked: Vec<usize> = (0..rows.len()).filter(|&row| rows[row].rank.is_some()).collect();
    for pair in ranked.windows(2) {
        rows[pair[0]].rating.above_next = table.sure(ats[pair[0]], ats[pair[1]]);
    }
    for &row in &ranked {
        // Every team that is surely better is above it, every one that is surely worse below.
        let above = |one: usize, other: usize| is_above(table, ats[one], ats[other]);
        let before = ranked.iter().filter(|&&other| above(other, row)).count();
        let behind = ranked.iter().filter(|&&other| above(row, other)).count();
        rows[row].places = Some([before as u32 + 1, (ranked.len() - behind) as u32]);
    }
    rows
}

/// Whether place `one` of a table is surely stronger than place `other`, both from 0. Their difference decides: it is known
/// better than either rating, so their intervals may overlap. Where it is unknown, as for a bot that won everything,
/// overlapping intervals decide nothing.
fn is_above(table: &Table, one: usize, other: usize) -> bool {
    let (own, their) = (&table.places[one], &table.places[other]);
    match (table.sure(one, other), own.low, their.high) {
        (Some(sure), _, _) => sure >= SURE,
        (None, Some(low), Some(high)) => own.group == their.group && low > high,
        (None, _, _) => false,
    }
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
pub fn head(table: &Table, lines: &[LadderRow], best: usize) -> Option<TableHead> {
    let numbers = numbers(table);
    let found = |line: &LadderRow| numbers.get(&line.rating.version).copied();
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
    Some(TableHead { these: below * drawn.these, order: below * drawn.order, ..drawn })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(version: i64, elo: f64, matches: u64) -> VersionRating {
        VersionRating { version, elo: Some(elo), matches, group: 1, ..VersionRating::default() }
    }

    fn standing(version: i64, entrant: &str, n: i64, live: bool) -> StandingVersion {
        let team = i64::from(entrant.as_bytes()[0]);
        StandingVersion { version, n, team, entrant: entrant.into(), boss: false, live }
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
            lines.iter().map(|line| (line.rank, line.name.as_str(), line.n, line.placing)).collect();
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
        let above: Vec<_> = lines.iter().map(|line| line.rating.above_next).collect();
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
            VersionRating { elo: None, ..place(3, 0.0, 30) },
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

    /// The places of versions with intervals of these ends, the last not yet placed, and these certainties.
    fn ranges(ends: &[(Option<f64>, Option<f64>)], sure: Vec<Vec<Option<f64>>>) -> Vec<Option<[u32; 2]>> {
        let last = ends.len() as i64 - 1;
        let rating = |(n, &(low, high)): (usize, &(Option<f64>, Option<f64>))| {
            let n = n as i64;
            VersionRating { low, high, ..place(n, 0.0, if n < last { 20 } else { 19 }) }
        };
        let places = ends.iter().enumerate().map(rating).collect();
        let versions: Vec<StandingVersion> =
            (0..=last).map(|n| standing(n, &"abcde"[n as usize..=n as usize], 1, true)).collect();
        let rows = shown(&Table { places, sure, ..Table::default() }, &versions, 20);
        rows.iter().map(|row| row.places).collect()
    }

    #[test]
    fn where_nothing_else_is_known_a_place_is_as_wide_as_the_intervals_say() {
        let ends = [
            (Some(50.0), None),
            (Some(10.0), Some(60.0)),
            (Some(-20.0), Some(40.0)),
            (Some(-90.0), Some(-30.0)),
            (Some(-500.0), Some(500.0)),
        ];
        assert_eq!(ranges(&ends, Vec::new()), [Some([1, 2]), Some([1, 3]), Some([2, 3]), Some([4, 4]), None]);
    }

    #[test]
    fn a_place_says_what_the_difference_says_and_not_what_intervals_do() {
        // The intervals of the first two overlap, yet the first is surely better; the third may be as good as the second.
        let ends = [
            (Some(-10.0), Some(300.0)),
            (Some(-200.0), Some(40.0)),
            (Some(-210.0), Some(30.0)),
            (None, None),
        ];
        let sure = vec![
            vec![Some(0.5), Some(0.99), Some(0.995), None],
            vec![Some(0.01), Some(0.5), Some(0.6), None],
            vec![Some(0.005), Some(0.4), Some(0.5), None],
            vec![None; 4],
        ];
        assert_eq!(ranges(&ends, sure), [Some([1, 1]), Some([2, 3]), Some([2, 3]), None]);
    }
}
