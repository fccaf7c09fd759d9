//! A team's bot, for everybody: its place, against whom it does better or worse than its rating says, its versions.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use agon_api::played::Viewpoint;
use agon_api::{LadderRow, VersionRating};
use agon_store::reads::{Ended, EndingCount, Filter, GroundCount, Rival};
use agon_store::{Entrant, EntrantId, EntrantVersion, Ruling, Time, VersionId, VersionState};
use maud::{Markup, html};

use crate::gate::{Visit, encoded};
use crate::pages::draw::{self, Axis, chip, icon};
use crate::pages::frame::{self, Here};
use crate::pages::trial::Trial;
use crate::pages::{ladder, matches, trial, upload, words};
use crate::problem::Refused;
use crate::rights::{Object, Verb, may};
use crate::site::Shown;

/// How many results against an opponent are drawn.
const LAST: usize = 10;
/// How many versions are drawn.
const MOST_DRAWN: usize = 24;

pub async fn page(ask: Visit) -> Result<Markup, Refused> {
    let shown = ask.site.shown().await?;
    let team = shown.teams.values().find(|team| team.id == EntrantId(ask.id)).ok_or_else(Refused::nothing)?;
    let line = shown.board.lines.iter().find(|line| line.name == team.name);
    let stands = line.and_then(LadderRow::rated).map(|place| VersionId(place.version));
    let store = ask.site.store();
    let (rivals, maps, last, (endings, faults)) = match stands {
        Some(version) => (
            store.rivals(version).await?,
            by_map(&ask, store.by_ground(version).await?).await?,
            store.last_against(version, LAST).await?,
            store.by_ending(version).await?,
        ),
        None => Default::default(),
    };
    let rivals = met(&shown, stands, &rivals, &last);
    let filter = Filter { team: Some(team.id), ..Filter::default() };
    let played = store.matches(ask.eyes(), &filter).await?;
    matches::learn_maps(&ask, &played).await?;
    let versions: Vec<&EntrantVersion> =
        shown.board.versions.iter().filter(|version| version.entrant == team.name).collect();
    let rulings = store.rulings().await?;
    let ruled = rulings.iter().rev().find(|ruled| ruled.entrant == team.id && ruled.version.is_none());
    let ruled = ruled.filter(|ruled| ruled.ruling == Ruling::Out);
    let heading = html! {
        div.heading {
            h1 { (team.name) " " @if team.boss { span.chip { "built in" } } }
            @if ask.person().is_some_and(|person| person.team == Some(team.id)) {
                (upload::way(&ask, "Submit a version"))
            } @else if ask.person().is_some_and(|person| person.team.is_some()) {
                @if let Some(live) = versions.iter().find(|version| version.state == VersionState::Live) {
                    div.row { a.button href=(format!("/challenge?against={}", live.id)) { "Challenge" } a.button href=(format!("/draft?against={}", live.id)) { "Try a draft against it" } }
                }
            }
        }
        p.lead { (lead(line, team)) (unlike(&rivals)) }
        @if let Some(ruled) = &ruled { p.note { (icon("warn")) span { "Disqualified on " (ask.settings.told(ruled.at, "%a %-d %b")) ": " (words::sentence(&ruled.reason)) " Its matches do not count, and it no longer plays. " a href="/rulings" { "All rulings" } } } }
    };
    let content = html! {
        div.halves {
            @if team.boss { (head_to_head(team, &rivals)) } @else { (chart(&ask, &shown, &versions)) }
            (maps_and_endings(team, &maps, &endings, faults))
        }
        @if !team.boss {
            div.halves {
                (head_to_head(team, &rivals))
                (versions_table(&ask, &shown, team, &versions).await?)
            }
        }
        section.card {
            header { h2 { "Matches" } a href=(format!("/matches?team={}", team.id)) { "All" } }
            @if played.is_empty() { p.empty { "No matches yet: its check match comes first." } }
            @else { (matches::table(&ask, &played[..played.len().min(10)], Some(Viewpoint::Team(team.id.0)))) }
        }
        p.faint.foot { "Matches and replays are public. Code, output and build logs are visible only to the team and the organiser." }
    };
    Ok(frame::with_heading(&ask, Here::Ladder, &team.name, heading, content))
}

fn lead(line: Option<&LadderRow>, team: &Entrant) -> String {
    let who = match ladder::people(&team.members, 5) {
        names if names.is_empty() || names == team.name => String::new(),
        names => format!(" By {names}."),
    };
    let Some(line) = line else {
        return format!("It is not on the ladder.{who}");
    };
    let rating = Some(&line.rating).and_then(|own| Some((own.elo?, own.low?, own.high?)));
    let rating = rating.map_or_else(String::new, |(elo, low, high)| match (high - low) / 2.0 {
        0.0 => format!(" with {} Elo", words::signed(elo)),
        half => format!(" with {} ± {half:.0} Elo", words::signed(elo)),
    });
    match line.places {
        Some(places) => format!("Place {}{rating}.{who}", words::place(places)),
        None => {
            format!(
                "It is being placed: it has played {} of the 20 rated matches needed.{who}",
                line.rating.matches
            )
        }
    }
}

fn place_of<'a>(shown: &'a Shown, version: &EntrantVersion) -> Option<&'a VersionRating> {
    shown.board.table.places.iter().find(|place| place.version == version.id.0)
}

/// The name of a state.
pub fn state_chip(version: &EntrantVersion) -> Markup {
    match version.state {
        VersionState::Live => chip("good", "check", "live"),
        VersionState::Failed => chip("bad", "cross", "cannot play"),
        VersionState::Former => chip("", "back", "former"),
        VersionState::Building => chip("live", "clock", "being built"),
        VersionState::Trial => chip("live", "clock", "in a trial"),
        _ => chip("live", "clock", "being checked"),
    }
}

async fn versions_table(
    ask: &Visit,
    shown: &Shown,
    team: &Entrant,
    versions: &[&EntrantVersion],
) -> Result<Markup, Refused> {
    let is_own = may(&ask.actor, Verb::Look, Object::Team(team.id));
    // Failures concern nobody else.
    let told: Vec<&&EntrantVersion> = versions
        .iter()
        .rev()
        .filter(|version| is_own || matches!(version.state, VersionState::Live | VersionState::Former))
        .take(30)
        .collect();
    let mut rows = Vec::new();
    for version in &told {
        rows.push((**version, Trial::of(ask, version.id).await?));
    }
    Ok(html! {
        section.card {
            header { h2 { "Versions" } @if !told.is_empty() { span.faint { (words::many(told.len() as i64, "version", "versions")) } } }
            @if told.is_empty() { p.empty { "None yet: the first that passes its check match appears here." } }
            @else {
                table.dense {
                    thead { tr { th scope="col" { "Version" } th scope="col" { "Age" } th.number scope="col" { "Rating" } th.wide scope="col" { "vs previous version" } th.number.wide scope="col" { "Matches" } th scope="col" { "" } } }
                    tbody { @for (version, trial) in &rows {
                        @let place = place_of(shown, version);
                        tr {
                            td { @if is_own { a.link href=(format!("/version/{}", version.id)) { b { "v" (version.n) } } } @else { b { "v" (version.n) } } }
                            td.time { (words::ago(version.received, ask.now)) }
                            td.number { @match place.and_then(|place| Some((place.elo?, place.low.zip(place.high)))) {
                                Some((elo, ends)) => { b { (words::signed(elo)) } @if let Some((low, high)) = ends.filter(|(low, high)| low < high) { span.faint { " ± " (format!("{:.0}", (high - low) / 2.0)) } } }
                                None => span.faint { "–" }
                            } }
                            td.wide { (trial::in_table(trial.as_ref())) }
                            td.number.wide { (words::count(place.map_or(0, |place| place.matches as i64))) }
                            td { (state_chip(version)) }
                        }
                    } }
                }
            }
        }
    })
}

/// A share of points with half of its 95 % interval (Wilson), from pairs taken as independent.
fn share(points: i64, count: i64) -> (f64, f64, f64) {
    let (n, p) = (count as f64, points as f64 / (2 * count) as f64);
    let z2 = 1.96f64 * 1.96;
    let middle = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = 1.96 / (1.0 + z2 / n) * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
    (p * 100.0, (middle - half) * 100.0, (middle + half) * 100.0)
}

/// How a version did on a map.
struct PlayedMap {
    name: String,
    /// Its number among the contest's own maps, from 0; none if the seed makes or picks it.
    number: Option<i64>,
    count: i64,
    points: i64,
}

/// What was played on the same map, the most played first.
async fn by_map(ask: &Visit, grounds: Vec<GroundCount>) -> Result<Vec<PlayedMap>, Refused> {
    let (site, own) = (ask.site.clone(), ask.settings.maps.len() as i64);
    // A seed's map is made to learn its name.
    let made = tokio::task::spawn_blocking(move || {
        let mut maps: Vec<PlayedMap> = Vec::new();
        for GroundCount { map, seed, count, points } in grounds {
            let name = site.map_of(map, seed);
            match maps.iter_mut().find(|known| known.name == name) {
                Some(known) => (known.count, known.points) = (known.count + count, known.points + points),
                None => maps.push(PlayedMap { name, number: (map < own).then_some(map), count, points }),
            }
        }
        maps.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
        maps
    });
    made.await.map_err(|_| Refused::ours())
}

fn maps_and_endings(team: &Entrant, maps: &[PlayedMap], endings: &[EndingCount], faults: i64) -> Markup {
    let axis = Axis::share(120.0);
    let count: i64 = endings.iter().map(EndingCount::count).sum();
    let reason = |ending: &EndingCount| match (&ending.exact, ending) {
        (Some(exact), _) => format!("/matches?team={}&reason={}", team.id, encoded(exact)),
        (None, EndingCount { drawn: 0, lost: 0, .. }) => format!("/matches?team={}&ended=won", team.id),
        (None, EndingCount { drawn: 0, won: 0, .. }) => format!("/matches?team={}&ended=lost", team.id),
        (None, _) => format!("/matches?team={}", team.id),
    };
    html! {
        section.card {
            header { h2 { "By map and ending" } }
            @if maps.is_empty() { p.empty { "No rated matches yet." } }
            @else {
                table.dense { tbody {
                    @for map in maps {
                        @let (value, low, high) = share(map.points, map.count);
                        tr {
                            td { @if let Some(number) = map.number { a href=(format!("/matches?team={}&map={number}", team.id)) { (map.name) } } @else { (map.name) } }
                            td.wide { (axis.expected(value, (low, high), None)) }
                            td.number { b { (format!("{value:.0}")) } span.faint { " ± " (format!("{:.0} % of points", (high - low) / 2.0)) } }
                            td.number.faint { (words::many(map.count, "match", "matches")) }
                        }
                    }
                    @for ending in endings.iter().take(8) { tr {
                        td { a href=(reason(ending)) { (ending.reason) } }
                        td.wide {}
                        td.number { b { (words::count(ending.won)) } " won" @if ending.drawn > 0 { ", " (words::count(ending.drawn)) " drawn" } }
                        td.number.faint { "of " (words::count(ending.count())) }
                    } }
                    @if faults > 0 { tr {
                        td { a href=(format!("/matches?team={}&ended=faults", team.id)) { "its own faults" } }
                        td.wide {}
                        td.number { b { (words::count(faults)) } }
                        td.number.faint { "of " (words::count(count)) }
                    } }
                } }
            }
        }
    }
}

/// An opponent of a version, and the results.
struct Met<'a> {
    rival: &'a Rival,
    /// Its share of points in percent, and the ends of the interval.
    share: (f64, f64, f64),
    /// The share expected from the two ratings.
    expected: Option<f64>,
    /// The last results, the newest first.
    last: &'a [Ended],
}

fn met<'a>(
    shown: &Shown,
    stands: Option<VersionId>,
    rivals: &'a [Rival],
    last: &'a BTreeMap<EntrantId, Vec<Ended>>,
) -> Vec<Met<'a>> {
    let elo = |version: i64| {
        shown.board.table.places.iter().find(|place| place.version == version).and_then(|place| place.elo)
    };
    let own = stands.and_then(|version| elo(version.0));
    let expected = |rival: &Rival| {
        let line = shown.board.lines.iter().find(|line| line.name == rival.name)?;
        let other = line.rating.elo?;
        Some(100.0 / (1.0 + 10f64.powf((other - own?) / 400.0)))
    };
    rivals
        .iter()
        .map(|rival| Met {
            rival,
            share: share(rival.points, rival.count),
            expected: expected(rival),
            last: last.get(&rival.team).map(Vec::as_slice).unwrap_or_default(),
        })
        .collect()
}

/// How much further than its 95 % interval a result must be from the expected one to be mentioned: with many opponents, one
/// in twenty lies outside by chance.
const UNLIKE: f64 = 1.5;

/// Opponents against whom it surely does better or worse than its rating says.
fn unlike(met: &[Met<'_>]) -> String {
    let how = |one: &Met<'_>| {
        let (value, low, high) = one.share;
        let off = value - one.expected?;
        let half = if off > 0.0 { value - low } else { high - value };
        Some(off / half.max(1e-9))
    };
    let most =
        met.iter().filter_map(|one| Some((how(one)?, one))).max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()));
    match most {
        Some((off, one)) if off > UNLIKE => {
            format!(" Against {} it does better than its rating says.", one.rival.name)
        }
        Some((off, one)) if off < -UNLIKE => {
            format!(" Against {} it does worse than its rating says.", one.rival.name)
        }
        _ => String::new(),
    }
}

fn head_to_head(team: &Entrant, met: &[Met<'_>]) -> Markup {
    let axis = Axis::share(110.0);
    html! {
        section.card {
            header { h2 { "Head to head" } span.faint { "● result · △ expected from the ratings" } }
            @if met.is_empty() { p.empty { "No rated matches yet." } }
            @else {
                table.dense.tight {
                    thead { tr {
                        th scope="col" { "Opponent" } th.wide scope="col" { (axis.head(|tick| format!("{tick:.0} %"))) }
                        th.number scope="col" { "Score" } th.number scope="col" { "Expected" } th.number.wide scope="col" { "Matches" } th.wide scope="col" { "Last 10" }
                    } }
                    tbody { @for one in met {
                        @let (value, low, high) = one.share;
                        tr {
                            td { a href=(format!("/matches?team={}&against={}", team.id, one.rival.team)) { b { (one.rival.name) } } }
                            td.wide { (axis.expected(value, (low, high), one.expected)) }
                            td.number { b { (format!("{value:.0}")) } span.faint { " ± " (format!("{:.0} %", (high - low) / 2.0)) } }
                            td.number.faint { @match one.expected { Some(share) => (format!("{share:.0} %")), None => "–" } }
                            td.number.faint.wide { (words::count(one.rival.count)) }
                            td.wide { (draw::last(one.last)) }
                        }
                    } }
                }
            }
        }
    }
}

/// Ratings of versions with their 95 % bands, over the time in which each was live; none is too narrow to be seen.
fn chart(ask: &Visit, shown: &Shown, versions: &[&EntrantVersion]) -> Markup {
    let known: Vec<(&EntrantVersion, f64, f64, f64)> = versions
        .iter()
        .filter_map(|version| {
            let place = place_of(shown, version)?;
            Some((*version, place.elo?, place.low?, place.high?))
        })
        .collect();
    let known = &known[known.len().saturating_sub(MOST_DRAWN)..];
    if known.is_empty() {
        return html! { section.card { header { h2 { "Rating by version" } } p.empty { "The first version that is rated appears here." } } };
    }
    let low = known.iter().map(|one| one.2).fold(f64::MAX, f64::min);
    let high = known.iter().map(|one| one.3).fold(f64::MIN, f64::max);
    let (width, height) = (620.0, 250.0);
    let y = |elo: f64| 24.0 + (high - elo) / (high - low).max(1.0) * (height - 56.0);
    let times: Vec<i64> = known.iter().map(|one| one.0.received.0).chain([ask.now.0]).collect();
    let lasted: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]).max(1) as f64).collect();
    let places = spread(&lasted, 46.0, width - 8.0);
    let mut grid = String::new();
    let lines: Vec<f64> = Axis::of([low, high].into_iter(), width).ticks().collect();
    for &elo in &lines {
        let _ = write!(grid, "M46 {:.0}H{width}", y(elo));
    }
    // A day is written below its first version.
    let day = |at: usize| ask.settings.told(Time(times[at]), "%a %-d");
    let named = |at: usize| (at == 0 || day(at) != day(at - 1)) && places[at + 1] - places[at] > 20.0;
    let last = known.len() - 1;
    html! {
        section.card {
            header { h2 { "Rating by version" } span.faint { "band: 95 %" } }
            div.in {
                svg.chart viewBox=(format!("0 0 {width} {height}")) role="img" aria-label="Ratings of the versions; the table of versions has the numbers" {
                    path.grid d=(grid) {}
                    @for &elo in &lines {
                        text x="40" y=(format!("{:.0}", y(elo) + 4.0)) text-anchor="end" { (words::signed(elo)) }
                    }
                    @for (at, (version, elo, low, high)) in known.iter().enumerate() {
                        @let now = if at == last { "now" } else { "" };
                        @let (from, to) = (places[at] + 1.0, places[at + 1] - 1.0);
                        rect.band.(now) x=(format!("{from:.1}")) y=(format!("{:.1}", y(*high))) width=(format!("{:.1}", to - from)) height=(format!("{:.1}", y(*low) - y(*high))) {}
                        path.value.(now) d=(format!("M{from:.1} {:.1}H{to:.1}", y(*elo))) {}
                        text x=(format!("{:.1}", (from + to) / 2.0)) y=(format!("{:.1}", y(*high) - 6.0)) text-anchor="middle" { "v" (version.n) }
                        @if named(at) { text x=(format!("{from:.1}")) y=(height - 8.0) { (day(at)) } }
                    }
                }
            }
        }
    }
}

/// Positions on a line from `from` to `to`, one more than there are lengths: spaced by these lengths, but at least half an
/// equal share apart.
fn spread(lengths: &[f64], from: f64, to: f64) -> Vec<f64> {
    let least = 0.5 / lengths.len().max(1) as f64;
    let sum: f64 = lengths.iter().sum();
    let shares = lengths.iter().map(|length| least + length / sum * (1.0 - least * lengths.len() as f64));
    let mut at = from;
    let mut places = vec![from];
    for share in shares {
        at += share * (to - from);
        places.push(at);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_stand_apart_as_long_as_they_stood_and_none_vanishes() {
        let places = spread(&[1.0, 8.0, 1.0], 0.0, 100.0);
        assert!((places[3] - 100.0).abs() < 1e-9 && places.is_sorted(), "{places:?}");
        assert!(places[1] > 16.0 && places[2] - places[1] > 50.0, "{places:?}");
        assert_eq!(spread(&[5.0], 46.0, 600.0), [46.0, 600.0]);
    }

    #[test]
    fn only_what_is_far_from_the_rating_is_spoken_of() {
        let rival = Rival { team: EntrantId(1), name: "Kestrel".into(), count: 64, points: 40 };
        let met = |points: i64, expected| {
            let share = share(points, 64);
            vec![Met { rival: &rival, share, expected: Some(expected), last: &[] }]
        };
        assert_eq!(unlike(&met(40, 55.0)), " Against Kestrel it does worse than its rating says.");
        assert_eq!(unlike(&met(110, 55.0)), " Against Kestrel it does better than its rating says.");
        assert_eq!(unlike(&met(60, 55.0)), "");
        assert_eq!(unlike(&[]), "");
    }

    #[test]
    fn a_share_of_few_matches_is_wide_and_stays_within_what_can_be() {
        let (value, low, high) = share(4, 2);
        assert!(value == 100.0 && low > 20.0 && low < 60.0 && high <= 100.1, "{low} {high}");
        let (_, low, high) = share(1000, 1000);
        assert!((high - low) / 2.0 < 3.2 && low < 50.0 && high > 50.0);
    }
}
