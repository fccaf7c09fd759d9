//! The ladder: who leads, how certain that is, and what is open.

use std::collections::BTreeMap;

use agon_api::{COLUMNS, Figure, LadderRow};
use agon_ladder::{SURE, TableHead};
use agon_store::{EntrantId, Time, VersionId};
use axum::extract::Query;
use maud::{Markup, html};
use serde::Deserialize;

use crate::gate::Visit;
use crate::pages::draw::{self, Axis, chip};
use crate::pages::frame::{self, Here};
use crate::pages::words;
use crate::problem::Refused;
use crate::site::Shown;

/// The number of lines on a page.
const PAGE: usize = 50;

/// The part of it to show.
#[derive(Deserialize)]
pub(crate) struct Which {
    #[serde(default)]
    from: usize,
    #[serde(default)]
    find: String,
}

pub async fn page(ask: Visit, Query(which): Query<Which>) -> Result<Markup, Refused> {
    let shown = ask.site.shown().await?;
    let (answer, mut lead) = answer(&shown.board.lines, ask.settings.matches, ask.settings.is_over(ask.now));
    if let Some(head) = shown.head.filter(|head| head.bots > 1) {
        lead += &format!(" {}", best(&head));
    }
    let find = which.find.trim().to_lowercase();
    let found: Vec<usize> = (0..shown.board.lines.len())
        .filter(|&at| find.is_empty() || shown.board.lines[at].name.to_lowercase().contains(&find))
        .collect();
    let from = which.from.min(found.len().saturating_sub(1)) / PAGE * PAGE;
    let here = &found[from.min(found.len())..(from + PAGE).min(found.len())];
    let rows = html! {
        @if here.is_empty() {
            p.empty { "No bot has a name like that." }
        } @else {
            (table(&ask, &shown, here))
        }
    };
    let content = html! {
        div.bar {
            form.find method="get" action="/ladder" role="search" {
                input type="search" name="find" value=(which.find) placeholder="Find a bot" aria-label="Find a bot" maxlength="64";
            }
            (frame::live("made", "board", 10, html! { p.faint { (made(&shown, ask.now)) } }))
        }
        (frame::live("rows", "board acts", 10, rows))
        (pages(from, found.len()))
        p.faint.foot {
            "Place: every bot ranked higher is better, and every bot ranked lower worse, with 95 % certainty. Rating: Elo ± half the width of the 95 % interval; " (zero(&shown)) " Each version has one fixed strength; all numbers can be recomputed from the sealed log. "
            a href="/rulings" { "Rulings" }
        }
    };
    Ok(frame::page(&ask, Here::Ladder, &answer, &lead, content))
}

/// Who leads of those who take part, and what is open.
fn answer(lines: &[LadderRow], matches: u32, is_over: bool) -> (String, String) {
    let placed: Vec<&LadderRow> = lines.iter().filter(|line| line.rank.is_some()).collect();
    let needed = agon_server::status::PLACING;
    let Some(at) = placed.iter().position(|line| !line.boss) else {
        let lead = match (lines.len(), placed.len()) {
            (0, _) => {
                "No bot has passed its check match yet. The first one that does appears here.".to_owned()
            }
            _ if u64::from(matches) < needed => format!(
                "A version plays {matches} rated matches here, and a place needs {needed}. Only the organiser can change that."
            ),
            (_, 0) => {
                format!("A bot plays {needed} rated matches before it has a place; that takes a few minutes.")
            }
            _ if lines.iter().any(|line| !line.boss) => {
                format!(
                    "A bot plays {needed} rated matches before it has a place. So far only built-in bots have one."
                )
            }
            _ if is_over => "These are the built-in bots.".to_owned(),
            _ => "These are the built-in bots: submit one that beats them.".to_owned(),
        };
        let who = if placed.is_empty() { "Nobody is placed yet" } else { "No team is placed yet" };
        return (who.to_owned(), lead);
    };
    let first = placed[at];
    let above = |line: &LadderRow| line.rating.above_next;
    let mut said = Vec::new();
    match at {
        0 => {}
        1 => said.push(format!("The built-in bot {} is ahead of it.", placed[0].name)),
        more => said.push(format!("{more} built-in bots are ahead of it.")),
    }
    if let (Some(next), Some(share)) = (placed.get(at + 1), above(first)) {
        said.push(format!(
            "It is better than {0} with {1} certainty.",
            next.name,
            words::percent(share).replace("> ", "more than ")
        ));
    }
    let open = placed.iter().skip(1).take_while(|line| above(line).is_some_and(|share| share < SURE)).count();
    match open {
        0 => {}
        _ => said.push(format!("The order of places 2 to {} is not certain yet.", open + 2)),
    }
    let verb = if at == 0 { "leads" } else { "leads the teams" };
    (format!("{} {verb}", first.name), said.join(" "))
}

/// Whose rating is 0.
fn zero(shown: &Shown) -> String {
    let version = shown
        .board
        .table
        .zero
        .and_then(|zero| shown.board.versions.iter().find(|version| version.id.0 == zero));
    let Some(version) = version else {
        return match shown.board.table.places.is_empty() {
            true => String::new(),
            false => "0 is the mean of all bots until a reference bot has been rated.".to_owned(),
        };
    };
    let place = shown.board.table.places.iter().find(|place| place.version == version.id.0);
    // What was left out moves no other: then it may have moved the one that carries the zero.
    let is_zero = place.is_some_and(|place| place.elo == Some(0.0));
    let name = match version.boss {
        true => version.entrant.clone(),
        false => format!("{} v{}", version.entrant, version.n),
    };
    zero_is(is_zero, version.boss, &name)
}

/// What the zero of the scale is, given whether its bot still stands there.
fn zero_is(is_zero: bool, is_boss: bool, name: &str) -> String {
    match (is_zero, is_boss) {
        (false, _) => format!("0 is the rating of {name} before rulings were applied."),
        (true, true) => format!("0 is {name}, a built-in bot of the game."),
        (true, false) => format!("0 is {name}, the first that was placed."),
    }
}

/// How certain the head of the board is, in a sentence.
pub fn best(head: &TableHead) -> String {
    let (these, order) = (words::percent(head.these), words::percent(head.order));
    match head.bots {
        1 => format!("The first is the best with {these} certainty."),
        bots => {
            format!("Which bots are the top {bots} is {these} certain, their order {order} certain.")
        }
    }
}

fn made(shown: &Shown, now: Time) -> String {
    match shown.board.upto {
        0 => "No match is in the log yet.".to_owned(),
        upto => format!(
            "Rated {} ago from {} in the log",
            words::ago(shown.board.made, now),
            words::many(upto, "match", "matches")
        ),
    }
}

/// The lines of the board with these numbers.
pub fn table(ask: &Visit, shown: &Shown, here: &[usize]) -> Markup {
    let lines = &shown.board.lines;
    let axis = axis(here.iter().map(|&at| &lines[at]), 190.0);
    let own = ask.person().and_then(|person| person.team);
    let by_version = by_version(shown);
    html! {
        table.ladder {
            thead { tr {
                th.number scope="col" { "Place" }
                th scope="col" { "Bot" }
                th.number scope="col" { "Rating" }
                th.wide scope="col" { (axis.head(words::signed)) }
                th.number.wide scope="col" { "Better than the next" }
                th.wide scope="col" { "Last 20" }
                @for column in COLUMNS { th.number.wide scope="col" { (column.title) } }
                th.wide scope="col" { "By version" }
                th.wide scope="col" { "Version" }
            } }
            tbody {
                @for &at in here {
                    (row(shown, at, own, &axis, by_version.get(lines[at].name.as_str())))
                }
            }
        }
    }
}

pub fn axis<'a>(lines: impl Iterator<Item = &'a LadderRow>, width: f64) -> Axis {
    let ends = lines.flat_map(|line| [line.rating.elo, line.rating.low, line.rating.high]);
    Axis::of(ends.flatten(), width)
}

/// The ratings of each entrant's versions, the oldest first.
fn by_version(shown: &Shown) -> BTreeMap<&str, Vec<f64>> {
    let ratings: BTreeMap<i64, f64> =
        shown.board.table.places.iter().filter_map(|place| Some((place.version, place.elo?))).collect();
    let mut all: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for version in shown.board.versions.iter().filter(|version| !version.boss) {
        if let Some(elo) = ratings.get(&version.id.0) {
            all.entry(&version.entrant).or_default().push(*elo);
        }
    }
    all
}

fn row(shown: &Shown, at: usize, own: Option<EntrantId>, axis: &Axis, ratings: Option<&Vec<f64>>) -> Markup {
    let line = &shown.board.lines[at];
    let team = shown.teams.get(&line.name);
    let is_own = own.is_some() && team.map(|team| team.id) == own;
    let place = line.rated();
    let class = if is_own {
        "own"
    } else if line.boss {
        "boss"
    } else {
        ""
    };
    let last = place.and_then(|place| shown.board.last.get(&VersionId(place.version)));
    html! {
        tr.(class) {
            td.number { b { (line.places.map_or_else(|| "–".to_owned(), words::short_place)) } }
            td.name {
                a href=(team.map_or_else(String::new, |team| format!("/team/{}", team.id))) { b { (line.name) } }
                " "
                @if line.boss { span.chip { "built in" } }
                @else if let Some(team) = team.filter(|team| is_more_than_its_name(&team.members, &team.name)) {
                    span.faint.members { (people(&team.members, 3)) }
                }
            }
            td.number { (rating(line)) }
            td.wide { @if let Some((place, elo)) = place.and_then(|place| Some((place, place.elo?))) {
                (axis.interval(elo, (place.low, place.high), class))
            } }
            td.number.wide { @if let Some(share) = line.rating.above_next { (words::percent(share)) } }
            td.wide { (draw::last(last.map(Vec::as_slice).unwrap_or_default())) }
            @for column in COLUMNS { td.number.wide { (figure((column.figure)(&line.rating))) } }
            td.wide { (draw::sparkline(ratings.map(Vec::as_slice).unwrap_or_default())) }
            td.wide {
                @if line.boss { span.faint { "–" } } @else { "v" (line.n) }
                @match line.placing {
                    Some(n) if n != line.n => { " " (chip("live", "clock", &format!("v{n} is being placed"))) }
                    Some(_) => { " " (chip("live", "clock", "being placed")) }
                    None => {}
                }
            }
        }
    }
}

fn figure(figure: Figure) -> String {
    match figure {
        Figure::Count(number) => words::count(number as i64),
        Figure::Share(share) => share.map_or_else(String::new, words::percent),
    }
}

/// The rating of a line with half of its interval.
pub fn rating(line: &LadderRow) -> Markup {
    let Some(place) = line.rated() else { return html! { span.faint { "no match yet" } } };
    let half = place.low.zip(place.high).map(|(low, high)| (high - low) / 2.0);
    html! {
        @match (place.elo, half) {
            // The zero of the scale is what it is by definition.
            (Some(elo), Some(0.0)) => b { (words::signed(elo)) },
            (Some(elo), Some(half)) => { b { (words::signed(elo)) } span.faint { " ± " (words::count(half.round() as i64)) } }
            (Some(elo), None) => { b { (words::signed(elo)) } span.faint { " ± ?" } }
            (None, _) => { @match (place.low, place.high) {
                (Some(low), None) => { "above " b { (words::signed(low)) } }
                (None, Some(high)) => { "below " b { (words::signed(high)) } }
                _ => span.faint { "not known yet" }
            } }
        }
    }
}

/// The names of a team's members; their number if there are many.
pub fn people<T>(members: &[(T, String)], most: usize) -> String {
    match members.len() {
        0 => String::new(),
        few if few <= most => members.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(", "),
        many => format!("{many} people"),
    }
}

fn is_more_than_its_name<T>(members: &[(T, String)], name: &str) -> bool {
    !matches!(members, [(_, only)] if only == name)
}

fn pages(from: usize, all: usize) -> Markup {
    html! {
        @if all > PAGE {
            nav.pages aria-label="Parts of the ladder" {
                @if from >= PAGE { a href=(format!("/ladder?from={}", from - PAGE)) rel="prev" { "← Previous" } }
                span.faint { (from + 1) "–" ((from + PAGE).min(all)) " of " (all) }
                @if from + PAGE < all { a href=(format!("/ladder?from={}", from + PAGE)) rel="next" { "Next →" } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use agon_api::VersionRating;

    use super::*;

    fn line(name: &str, rank: Option<u32>, above_next: Option<f64>) -> LadderRow {
        LadderRow {
            rank,
            name: name.into(),
            n: 1,
            rating: VersionRating { group: 1, above_next, ..VersionRating::default() },
            ..LadderRow::default()
        }
    }

    #[test]
    fn a_bot_that_is_no_longer_at_zero_is_not_said_to_be() {
        assert_eq!(zero_is(true, true, "hunter"), "0 is hunter, a built-in bot of the game.");
        assert_eq!(zero_is(true, false, "Ann v1"), "0 is Ann v1, the first that was placed.");
        assert_eq!(zero_is(false, true, "hunter"), "0 is the rating of hunter before rulings were applied.");
    }

    #[test]
    fn the_answer_says_who_leads_how_surely_and_what_is_open() {
        let lines = [
            line("Kestrel", Some(1), Some(0.93)),
            line("Tidal", Some(2), Some(0.6)),
            line("Moss", Some(3), Some(0.7)),
            line("Wasps", Some(4), Some(0.99)),
            line("Herd", Some(5), None),
        ];
        let (said, lead) = answer(&lines, 420, false);
        assert_eq!(
            (said.as_str(), lead.as_str()),
            (
                "Kestrel leads",
                "It is better than Tidal with 93 % certainty. The order of places 2 to 4 is not certain yet."
            )
        );
        assert_eq!(answer(&[line("New", None, None)], 420, false).0, "Nobody is placed yet");
        assert!(answer(&[], 420, false).1.contains("No bot has passed"));
    }

    #[test]
    fn built_in_bots_are_no_headline() {
        let boss = |name: &str, rank, above| LadderRow { boss: true, ..line(name, rank, above) };
        let bosses = [boss("hunter", Some(1), Some(0.99)), boss("greedy", Some(2), Some(0.99))];
        let new = line("Ann", None, None);
        assert_eq!(answer(&bosses, 420, false).0, "No team is placed yet");
        assert!(answer(&bosses, 420, false).1.contains("submit one that beats them"));
        assert_eq!(answer(&bosses, 420, true).1, "These are the built-in bots.");
        let with_new = [bosses[0].clone(), bosses[1].clone(), new];
        assert!(answer(&with_new, 420, false).1.contains("So far only built-in bots have one"));
        let ann = line("Ann", Some(2), Some(0.97));
        let all = [boss("hunter", Some(1), Some(0.99)), ann, line("Bob", Some(3), None)];
        assert_eq!(
            answer(&all, 420, false),
            (
                "Ann leads the teams".to_owned(),
                "The built-in bot hunter is ahead of it. It is better than Bob with 97 % certainty."
                    .to_owned()
            )
        );
    }

    #[test]
    fn a_place_that_nobody_can_reach_is_not_promised() {
        let (_, lead) = answer(&[line("New", None, None)], 8, false);
        assert!(lead.contains("plays 8 rated matches here, and a place needs 20"), "{lead}");
    }
}
