//! Where the points of a series came from: seats, maps, opponents, and how matches ended.

use std::io;

use agon_contest::{Header, Kind, Mean, Origin};
use maud::{Markup, html};

use crate::common::screen::{self, Screen};
use crate::series::json;
use crate::series::progress::thousands;

/// So many maps and opponents are listed, those with the lowest scores first.
const LISTED: usize = 8;

/// One row: what it is about, and the scores.
type Row = (&'static str, Vec<String>);

fn percent(mean: &Mean) -> String {
    let share = mean.mean().map_or_else(|| "–".to_owned(), |mean| format!("{:.1}", mean * 100.0));
    match mean.error() {
        Some(error) => format!("{share} ± {:.1} %", error * 100.0),
        None => format!("{share} %"),
    }
}

/// The scores by name, the lowest first.
fn by_name<'a>(means: impl Iterator<Item = (String, &'a Mean)>) -> Vec<String> {
    let mut means: Vec<(String, &Mean)> = means.collect();
    means.sort_by(|a, b| a.1.mean().unwrap_or(0.0).total_cmp(&b.1.mean().unwrap_or(0.0)));
    let more = means.len().saturating_sub(LISTED);
    let mut listed: Vec<String> =
        means.iter().take(LISTED).map(|(name, mean)| format!("{name} {}", percent(mean))).collect();
    if more > 0 {
        listed.push(format!("and {more} more"));
    }
    listed
}

fn rows(origin: &Origin, header: &Header) -> Vec<Row> {
    let seats =
        origin.seats.iter().enumerate().map(|(seat, mean)| format!("seat {} {}", seat + 1, percent(mean)));
    let mut rows = vec![("seats", seats.collect())];
    if origin.maps.len() > 1 {
        rows.push(("maps", by_name(origin.maps.iter().map(|(map, mean)| (screen::harmless(map), mean)))));
    }
    if origin.opponents.len() > 1 {
        let label = |bot: usize| screen::harmless(&header.bots[bot].label);
        rows.push(("against", by_name(origin.opponents.iter().map(|(bot, mean)| (label(*bot), mean)))));
    }
    if origin.endings.keys().any(|ending| *ending != agon_contest::Ending::Rules) {
        let endings = origin.endings.iter().map(|(ending, mean)| {
            format!("{} {} of {}", ending.word(), percent(mean), thousands(mean.count))
        });
        rows.push(("endings", endings.collect()));
    }
    rows
}

/// Whether a result rests on what others did wrong, as a sentence.
fn rests_on_faults(origin: &Origin, header: &Header) -> Option<String> {
    let (gifts, all, by_rules) = origin.gifts()?;
    let label = screen::harmless(&header.bots[0].label);
    let rest = match by_rules {
        Some(score) => format!("in those that went by the rules alone {label} scores {:.1} %", score * 100.0),
        None => "no match went by the rules alone".to_owned(),
    };
    Some(format!(
        "This result rests on others' faults in {} of {} matches; {rest}.",
        thousands(gifts),
        thousands(all)
    ))
}

/// Prints it for people.
pub fn show(out: &mut impl io::Write, screen: Screen, origin: &Origin, header: &Header) -> io::Result<()> {
    if origin.seats.is_empty() {
        return Ok(());
    }
    writeln!(out, "{}", screen.strong("Where the points came from"))?;
    for (what, scores) in rows(origin, header) {
        writeln!(out, "  {what:<8} {}", scores.join(", "))?;
    }
    if let Some(note) = rests_on_faults(origin, header) {
        writeln!(out, "  {}", screen.bad(&note))?;
    }
    writeln!(out)
}

/// The same as JSON.
pub fn json(origin: &Origin, header: &Header) -> json::Origin {
    let opponents = origin.opponents.iter().map(|(&bot, mean)| json::OfOpponent { bot, mean: mean.into() });
    let endings = origin.endings.iter().map(|(&ending, mean)| json::OfEnding { ending, mean: mean.into() });
    let note = (header.kind != Kind::Tournament).then(|| rests_on_faults(origin, header)).flatten();
    json::Origin {
        seats: origin.seats.iter().map(json::Mean::from).collect(),
        maps: origin.maps.iter().map(|(map, mean)| (map.clone(), mean.into())).collect(),
        opponents: opponents.collect(),
        endings: endings.collect(),
        note,
    }
}

/// The same as a part of a page.
pub fn html(origin: &Origin, header: &Header) -> Markup {
    html! {
        @if !origin.seats.is_empty() {
            h2 { "Where the points came from" }
            div.card {
                table {
                    tbody {
                        @for (what, scores) in rows(origin, header) {
                            tr {
                                td.left { (what) }
                                td.left {
                                    @for (number, score) in scores.iter().enumerate() {
                                        @if number > 0 { br; }
                                        (score)
                                    }
                                }
                            }
                        }
                    }
                }
            }
            @if let Some(note) = rests_on_faults(origin, header) {
                p { (note) }
            }
        }
    }
}
