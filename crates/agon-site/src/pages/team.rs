//! A team's bot, for everybody: where it stands, against whom it differs from its rating, its versions.

use agon_ladder::Place;
use agon_store::reads::{Filter, Rival};
use agon_store::{Entrant, EntrantId, Ruling, Version, VersionId, VersionState};
use maud::{Markup, html};
use std::fmt::Write as _;

use crate::gate::Ask;
use crate::pages::draw::{Axis, chip, icon};
use crate::pages::frame::{self, Here};
use crate::pages::{ladder, matches, words};
use crate::problem::Problem;
use crate::rights::{Object, Verb, may};
use crate::site::Shown;

/// The page.
pub async fn page(ask: Ask) -> Result<Markup, Problem> {
    let shown = ask.site.shown().await?;
    let team = shown.teams.values().find(|team| team.id == EntrantId(ask.id)).ok_or_else(Problem::nothing)?;
    let at = shown.board.lines.iter().position(|line| line.entrant == team.name);
    let line = at.map(|at| &shown.board.lines[at]);
    let stands = line.and_then(|line| line.place.as_ref()).map(|place| VersionId(place.version));
    let (store, contest) = (ask.site.store(), ask.site.contest());
    let (rivals, maps) = match stands {
        Some(version) => (store.rivals(version).await?, store.by_map(version).await?),
        None => Default::default(),
    };
    let filter = Filter { team: Some(team.id), ..Filter::default() };
    let played = store.matches(contest, ask.eyes(), &filter).await?;
    let versions: Vec<&Version> =
        shown.board.versions.iter().filter(|version| version.entrant == team.name).collect();
    let rulings = store.rulings(contest).await?;
    let ruled = rulings.iter().rev().find(|ruled| ruled.entrant == team.id && ruled.version.is_none());
    let ruled = ruled.filter(|ruled| ruled.ruling == Ruling::Out);
    let heading = html! {
        div.heading {
            h1 { (team.name) " " @if team.boss { span.chip { "built in" } } }
            @if ask.person().is_some_and(|person| person.team == Some(team.id)) {
                a.button.main href="/upload" { "Hand in a version" }
            } @else if ask.person().is_some_and(|person| person.team.is_some()) {
                @if let Some(live) = versions.iter().find(|version| version.state == VersionState::Live) {
                    div.row { a.button href=(format!("/challenge?against={}", live.id)) { "Challenge" } a.button href=(format!("/draft?against={}", live.id)) { "Try a draft against it" } }
                }
            }
        }
        p.lead { (lead(&shown, at, team)) }
        @if let Some(ruled) = &ruled { p.note { (icon("warn")) span { "Disqualified on " (ask.settings.told(ruled.at, "%a %-d %b")) ": " (ruled.reason) " Its matches do not count, and it plays no more. " a href="/rulings" { "All rulings" } } } }
    };
    let content = html! {
        div.halves {
            @if !team.boss { (versions_table(&ask, &shown, team, &versions)) }
            (map_table(&ask, &maps))
        }
        @if versions.len() > 1 && !team.boss { (chart(&shown, &versions)) }
        (head_to_head(&shown, stands, &rivals))
        section.card {
            header { h2 { "Matches" } a href=(format!("/matches?team={}", team.id)) { "All" } }
            @if played.is_empty() { p.empty { "No matches yet: its check match comes first." } }
            @else { (matches::table(&ask, &played[..played.len().min(10)], Some(team.id))) }
        }
        p.faint.foot { "Matches and replays are public. Code, output and build logs are the team's and the organiser's alone." }
    };
    Ok(frame::with_heading(&ask, Here::Ladder, &team.name, heading, content))
}

fn lead(shown: &Shown, at: Option<usize>, team: &Entrant) -> String {
    let who = match ladder::people(&team.members, 5) {
        names if names.is_empty() || names == team.name => String::new(),
        names => format!(" By {names}."),
    };
    let Some((at, line)) = at.map(|at| (at, &shown.board.lines[at])) else {
        return format!("It is not on the ladder.{who}");
    };
    let rating = line.place.as_ref().and_then(|place| Some((place.elo?, place.low?, place.high?)));
    let rating = rating.map_or_else(String::new, |(elo, low, high)| {
        format!(" with {} ± {:.0} Elo", words::signed(elo), (high - low) / 2.0)
    });
    match shown.places[at] {
        Some(places) => format!("Place {}{rating}.{who}", words::place(places)),
        None => format!(
            "It is being placed: 20 rated matches are needed, it has {}.{who}",
            line.place.as_ref().map_or(0, |place| place.matches)
        ),
    }
}

fn place_of<'a>(shown: &'a Shown, version: &Version) -> Option<&'a Place> {
    shown.board.table.places.iter().find(|place| place.version == version.id.0)
}

/// What a state is called.
pub fn state_chip(version: &Version) -> Markup {
    match version.state {
        VersionState::Live => chip("good", "check", "live"),
        VersionState::Failed => chip("bad", "cross", "cannot play"),
        VersionState::Former => chip("", "back", "former"),
        VersionState::Building => chip("live", "clock", "being built"),
        VersionState::Trial => chip("live", "clock", "against the one before"),
        _ => chip("live", "clock", "being checked"),
    }
}

fn versions_table(ask: &Ask, shown: &Shown, team: &Entrant, versions: &[&Version]) -> Markup {
    let is_own = may(&ask.actor, Verb::Look, Object::Team(team.id));
    // That something failed concerns nobody else.
    let told: Vec<&&Version> = versions
        .iter()
        .rev()
        .filter(|version| is_own || matches!(version.state, VersionState::Live | VersionState::Former))
        .take(30)
        .collect();
    html! {
        section.card {
            header { h2 { "Versions" } @if !told.is_empty() { span.faint { (words::many(told.len() as i64, "version", "versions")) } } }
            @if told.is_empty() { p.empty { "None yet: the first that passes its check match stands here." } }
            @else {
                table.dense {
                    thead { tr { th scope="col" { "Version" } th scope="col" { "Age" } th.number scope="col" { "Rating" } th.number.wide scope="col" { "Matches" } th scope="col" { "" } } }
                    tbody { @for version in told {
                        @let place = place_of(shown, version);
                        tr {
                            td { @if is_own { a.link href=(format!("/version/{}", version.id)) { b { "v" (version.n) } } } @else { b { "v" (version.n) } } }
                            td.time { (words::ago(version.received, ask.now)) }
                            td.number { @match place.and_then(|place| Some((place.elo?, place.low.zip(place.high)))) {
                                Some((elo, ends)) => { b { (words::signed(elo)) } @if let Some((low, high)) = ends { span.faint { " ± " (format!("{:.0}", (high - low) / 2.0)) } } }
                                None => span.faint { "–" }
                            } }
                            td.number.wide { (words::count(place.map_or(0, |place| place.matches as i64))) }
                            td { (state_chip(version)) }
                        }
                    } }
                }
            }
        }
    }
}

/// A share of points with half of its interval of 95 %, by Wilson, from pairs that are taken as independent.
fn share(points: i64, count: i64) -> (f64, f64, f64) {
    let (n, p) = (count as f64, points as f64 / (2 * count) as f64);
    let z2 = 1.96f64 * 1.96;
    let middle = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = 1.96 / (1.0 + z2 / n) * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
    (p * 100.0, (middle - half) * 100.0, (middle + half) * 100.0)
}

fn map_table(ask: &Ask, maps: &[Rival]) -> Markup {
    let axis = Axis::share(120.0);
    html! {
        section.card {
            header { h2 { "By map" } span.faint { "share of points" } }
            @if maps.is_empty() { p.empty { "No rated match yet." } }
            @else {
                table.dense { tbody { @for map in maps {
                    @let (value, low, high) = share(map.points, map.count);
                    tr {
                        td { (ask.settings.map(map.name.parse().unwrap_or(-1))) }
                        td.wide { (axis.interval(value, (Some(low), Some(high)), "")) }
                        td.number { b { (format!("{value:.0}")) } span.faint { " ± " (format!("{:.0} %", (high - low) / 2.0)) } }
                        td.number.faint { (words::count(map.count)) }
                    }
                } } }
            }
        }
    }
}

fn head_to_head(shown: &Shown, stands: Option<VersionId>, rivals: &[Rival]) -> Markup {
    let axis = Axis::share(140.0);
    let elo = |version: i64| {
        shown.board.table.places.iter().find(|place| place.version == version).and_then(|place| place.elo)
    };
    let own = stands.and_then(|version| elo(version.0));
    let expected = |rival: &Rival| {
        let line = shown.board.lines.iter().find(|line| line.entrant == rival.name)?;
        let other = line.place.as_ref()?.elo?;
        Some(100.0 / (1.0 + 10f64.powf((other - own?) / 400.0)))
    };
    html! {
        @if !rivals.is_empty() {
            section.card {
                header { h2 { "Head to head" } span.faint { "share of points of the version that stands for it" } }
                table.dense {
                    thead { tr {
                        th scope="col" { "Opponent" } th.wide scope="col" { (axis.head(|tick| format!("{tick:.0} %"))) }
                        th.number scope="col" { "Score" } th.number scope="col" { "Expected" } th.number scope="col" { "Matches" }
                    } }
                    tbody { @for rival in rivals {
                        @let (value, low, high) = share(rival.points, rival.count);
                        tr {
                            td { a href=(format!("/team/{}", rival.team)) { b { (rival.name) } } }
                            td.wide { (axis.interval(value, (Some(low), Some(high)), "")) }
                            td.number { b { (format!("{value:.0}")) } span.faint { " ± " (format!("{:.0} %", (high - low) / 2.0)) } }
                            td.number.faint { @match expected(rival) { Some(share) => (format!("{share:.0} %")), None => "–" } }
                            td.number.faint { (words::count(rival.count)) }
                        }
                    } }
                }
            }
        }
    }
}

/// Ratings of versions with their bands of 95 %, the first first.
fn chart(shown: &Shown, versions: &[&Version]) -> Markup {
    let known: Vec<(i64, f64, f64, f64)> = versions
        .iter()
        .filter_map(|version| {
            let place = place_of(shown, version)?;
            Some((version.n, place.elo?, place.low?, place.high?))
        })
        .collect();
    if known.len() < 2 {
        return html! {};
    }
    let known = &known[known.len().saturating_sub(24)..];
    let low = known.iter().map(|one| one.2).fold(f64::MAX, f64::min);
    let high = known.iter().map(|one| one.3).fold(f64::MIN, f64::max);
    let (width, height) = (1180.0, 180.0);
    let y = |elo: f64| 20.0 + (high - elo) / (high - low).max(1.0) * (height - 30.0);
    let step = (width - 60.0) / known.len() as f64;
    let x = |number: usize| 50.0 + number as f64 * step;
    let mut grid = String::new();
    for elo in [low, (low + high) / 2.0, high] {
        let _ = write!(grid, "M50 {:.0}H{width}", y(elo));
    }
    let last = known.len() - 1;
    html! {
        section.card {
            header { h2 { "Rating by version" } span.faint { "band: 95 %" } }
            div.in {
                svg.chart viewBox=(format!("0 0 {width} {height}")) role="img" aria-label="Ratings of the versions; the table of versions has the numbers" {
                    path.grid d=(grid) {}
                    @for elo in [low, (low + high) / 2.0, high] {
                        text x="44" y=(format!("{:.0}", y(elo) + 4.0)) text-anchor="end" { (words::signed(elo)) }
                    }
                    @for (number, (n, elo, low, high)) in known.iter().enumerate() {
                        @let now = if number == last { "now" } else { "" };
                        rect.band.(now) x=(format!("{:.1}", x(number) + 2.0)) y=(format!("{:.1}", y(*high))) width=(format!("{:.1}", step - 4.0)) height=(format!("{:.1}", y(*low) - y(*high))) {}
                        path.value.(now) d=(format!("M{:.1} {:.1}h{:.1}", x(number) + 2.0, y(*elo), step - 4.0)) {}
                        text x=(format!("{:.1}", x(number) + step / 2.0)) y=(format!("{:.1}", y(*high) - 5.0)) text-anchor="middle" { "v" (n) }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_few_matches_is_wide_and_stays_within_what_can_be() {
        let (value, low, high) = share(4, 2);
        assert!(value == 100.0 && low > 20.0 && low < 60.0 && high <= 100.1, "{low} {high}");
        let (_, low, high) = share(1000, 1000);
        assert!((high - low) / 2.0 < 3.2 && low < 50.0 && high > 50.0);
    }
}
