//! Where the points of a series came from: seats, maps, opponents, and how matches ended.

use std::io;

use agon_contest::journal::count;
use agon_contest::origin::{Gifts, OwnEnding, PointShare};
use agon_contest::{JournalHeader, Origin, ScoreMean, SeriesKind};
use agon_desk::words::thousands;
use maud::{Markup, html};

use crate::common::screen::{self, Screen};
use crate::common::table::{Cell, Table};
use crate::series::json;

/// How many maps and opponents are listed, those with the lowest scores first.
const LISTED: usize = 8;

/// One row: its subject, and the scores.
type Row = (&'static str, Vec<String>);

fn percent(mean: &ScoreMean) -> String {
    let share = mean.mean().map_or_else(|| "–".to_owned(), |mean| format!("{:.1}", mean * 100.0));
    match mean.error() {
        // Beyond half of the scale it says nothing.
        Some(error) if error < 0.5 => format!("{share} ± {:.1} %", error * 100.0),
        Some(_) => format!("{share} %"),
        None => format!("{share} %"),
    }
}

/// The scores by name, the lowest first.
fn by_name<'a>(means: impl Iterator<Item = (String, &'a ScoreMean)>) -> Vec<String> {
    let mut means: Vec<(String, &ScoreMean)> = means.collect();
    means.sort_by(|a, b| a.1.mean().unwrap_or(0.0).total_cmp(&b.1.mean().unwrap_or(0.0)));
    let more = means.len().saturating_sub(LISTED);
    let mut listed: Vec<String> =
        means.iter().take(LISTED).map(|(name, mean)| format!("{name} {}", percent(mean))).collect();
    if more > 0 {
        listed.push(format!("and {more} more"));
    }
    listed
}

fn rows(origin: &Origin, header: &JournalHeader) -> Vec<Row> {
    let in_seat = |(seat, mean): (usize, &ScoreMean)| format!("seat {} {}", seat + 1, percent(mean));
    let mut seats: Vec<String> = origin.seats.iter().enumerate().map(in_seat).collect();
    if let Some(last) = seats.last_mut() {
        last.push_str(" (whoever sat there)");
    }
    let Some(share) = origin.about(header) else { return vec![("by seat", seats)] };
    let own = share.seats.iter().map(|(seat, mean)| in_seat((*seat, mean))).collect();
    let mut rows = vec![("by seat", own), ("each seat", seats)];
    if share.maps.len() > 1 {
        rows.push(("by map", by_name(share.maps.iter().map(|(map, mean)| (screen::harmless(map), mean)))));
    }
    if share.opponents.len() > 1 {
        let label = |bot: usize| screen::harmless(&header.bots[bot].label);
        rows.push(("against", by_name(share.opponents.iter().map(|(bot, mean)| (label(*bot), mean)))));
    }
    if share.endings.keys().any(|ending| *ending != OwnEnding::Rules) {
        let endings = share.endings.iter().map(|(ending, mean)| {
            let matches = count(mean.count as usize, "match", "matches");
            format!("{}: {matches}, score {}", ending.word(), percent(mean))
        });
        rows.push(("by end", endings.collect()));
    }
    rows
}

/// A tournament's bots, one row each: how its matches ended and what it scored in each kind, and its worst and best
/// map. Scores against each opponent are in the cross table. Empty with a single map and no fault.
struct ByBot {
    head: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

fn by_bot(origin: &Origin, header: &JournalHeader) -> ByBot {
    let nothing = ByBot { head: Vec::new(), rows: Vec::new() };
    if header.kind != SeriesKind::Tournament {
        return nothing;
    }
    let happened = |ending: &OwnEnding| origin.bots.values().any(|share| share.endings.contains_key(ending));
    let faults: Vec<OwnEnding> =
        OwnEnding::ALL.into_iter().filter(|ending| *ending != OwnEnding::Rules && happened(ending)).collect();
    let has_maps = origin.bots.values().any(|share| share.maps.len() > 1);
    let mut head = vec!["bot"];
    if !faults.is_empty() {
        head.push(OwnEnding::Rules.word());
        head.extend(faults.iter().map(|ending| ending.word()));
    }
    if has_maps {
        head.extend(["worst map", "best map"]);
    }
    if head.len() == 1 {
        return nothing;
    }
    let row = |(&bot, share): (&usize, &PointShare)| {
        let mut row = vec![screen::harmless(&header.bots[bot].label)];
        if !faults.is_empty() {
            row.extend(std::iter::once(&OwnEnding::Rules).chain(&faults).map(|ending| {
                let mean = share.endings.get(ending);
                mean.map_or_else(String::new, |mean| {
                    format!("{} of {}", percent(mean), thousands(mean.count))
                })
            }));
        }
        if has_maps {
            let maps = share.worst_and_best_map();
            let shown =
                |(map, mean): (&str, &ScoreMean)| format!("{} {}", screen::harmless(map), percent(mean));
            row.extend(maps.map_or_else(|| [String::new(), String::new()], |maps| maps.map(shown)));
        }
        row
    };
    ByBot { head, rows: origin.bots.iter().map(row).collect() }
}

/// Says for each bot whose result rests on faults of others that it does; with many bots, those with the most such matches.
fn rest_on_faults(origin: &Origin, header: &JournalHeader) -> Vec<String> {
    let mut given: Vec<(usize, Gifts)> =
        origin.bots.iter().filter_map(|(&bot, share)| Some((bot, share.gifts()?))).collect();
    given.sort_by_key(|(bot, gifts)| (std::cmp::Reverse(gifts.given), *bot));
    let one = header.kind != SeriesKind::Tournament;
    let sentence = |(bot, gifts): &(usize, Gifts)| {
        let label = screen::harmless(&header.bots[*bot].label);
        let rest = match gifts.by_rules {
            Some(score) => {
                format!("in those decided by the rules alone {label} scores {:.1} %", score * 100.0)
            }
            None => "no match was decided by the rules alone".to_owned(),
        };
        let whose = if one { "This result".to_owned() } else { format!("The result of {label}") };
        let (given, all) = (thousands(gifts.given), thousands(gifts.all));
        format!("{whose} rests on others' faults in {given} of {all} matches; {rest}.")
    };
    given.iter().take(LISTED).map(sentence).collect()
}

/// Prints it for people.
pub fn show(
    out: &mut impl io::Write,
    screen: Screen,
    origin: &Origin,
    header: &JournalHeader,
) -> io::Result<()> {
    if origin.seats.is_empty() {
        return Ok(());
    }
    writeln!(out, "{}", screen.strong("Where the points came from"))?;
    for (what, scores) in rows(origin, header) {
        writeln!(out, "  {what:<8} {}", scores.join(", "))?;
    }
    let ByBot { head, rows } = by_bot(origin, header);
    if let [bot, columns @ ..] = &head[..] {
        let mut table = Table::new().names(bot);
        for (name, less_useful) in columns.iter().zip(1..) {
            table = table.numbers(*name, less_useful);
        }
        rows.into_iter().for_each(|row| table.row(row.into_iter().map(Cell::from).collect()));
        writeln!(out, "\n{}", table.text(screen::room()))?;
    }
    for note in rest_on_faults(origin, header) {
        writeln!(out, "  {}", screen.bad(&note))?;
    }
    writeln!(out)
}

/// The same as JSON.
pub fn json(origin: &Origin, header: &JournalHeader) -> json::Origin {
    let note = origin.about(header).and_then(|_| rest_on_faults(origin, header).pop());
    let all = origin.bots.iter().filter(|_| header.kind == SeriesKind::Tournament);
    json::Origin {
        seats: origin.seats.iter().map(json::Mean::from).collect(),
        share: origin.about(header).map_or_else(|| of_bot(&PointShare::default()), of_bot),
        bots: all.map(|(&bot, share)| json::OfBot { bot, share: of_bot(share) }).collect(),
        note,
    }
}

fn of_bot(share: &PointShare) -> json::Share {
    let opponents = share.opponents.iter().map(|(&bot, mean)| json::OfOpponent { bot, mean: mean.into() });
    let endings = share.endings.iter().map(|(&ending, mean)| json::OfEnding { ending, mean: mean.into() });
    json::Share {
        maps: share.maps.iter().map(|(map, mean)| (map.clone(), mean.into())).collect(),
        opponents: opponents.collect(),
        endings: endings.collect(),
    }
}

/// The same as a part of a page.
pub fn html(origin: &Origin, header: &JournalHeader) -> Markup {
    let ByBot { head, rows: by_bot } = by_bot(origin, header);
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
            @if !by_bot.is_empty() {
                div.card {
                    table {
                        thead { tr { @for (number, name) in head.iter().enumerate() { th.left[number == 0] { (name) } } } }
                        tbody {
                            @for row in &by_bot {
                                tr { @for (number, cell) in row.iter().enumerate() { td.name[number == 0] { (cell) } } }
                            }
                        }
                    }
                }
            }
            @for note in rest_on_faults(origin, header) {
                p { (note) }
            }
        }
    }
}
