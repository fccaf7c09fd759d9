//! A series as a site of plain files: tables, the list of matches, and every match whose replay was kept.
//!
//! It opens from a folder as well as from any web server. The matches share one copy of the viewer.
//! Whatever belongs to one bot alone is left out. Text from bots appears as text: maud escapes it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use agon_bot::rights;
use agon_contest::{Entry, JournalHeader, SeriesKind, journal};
use agon_desk::ratings::RatedGame;
use agon_desk::replays;
use agon_stats::{CrossTable, RatingTable};
use agon_web::page::LinkedPlace;
use agon_web::{Privacy, app, page};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::common::screen;
use crate::common::{Done, Failure};
use crate::series::cross::{circles, real_and_predicted};
use crate::series::picture;
use crate::series::rate::{figures, is_ranked};

/// How many matches of a journal are listed; of a longer one, the last.
const LISTED: usize = 20_000;

/// Whether a site can be written at all; checked before anything is played for it.
pub fn check() -> Done {
    match app::is_built() {
        true => Ok(()),
        false => Err(Failure::usage(format!(
            "this agon was built without its web app ({}), so it cannot write a site",
            app::MISSING.trim()
        ))),
    }
}

/// Writes the site.
pub fn write(folder: &Path, tables: &[RatedGame], journals: &[PathBuf]) -> Done {
    check()?;
    let failed = |error: io::Error| Failure::own(format!("{}: {error}", folder.display()));
    clear(&folder.join("matches")).map_err(failed)?;
    for (name, text) in page::shared() {
        rights::write_public(&folder.join(name), text).map_err(failed)?;
    }
    let mut body: Vec<Markup> =
        tables.iter().enumerate().map(|(number, rated)| table(number + 1, rated)).collect();
    let (mut shown, mut broken) = (0, 0);
    let mut headings = Vec::new();
    for (number, path) in journals.iter().enumerate() {
        let mut entries = Vec::new();
        let past = journal::read(path, |entry| entries.push(entry))
            .map_err(|error| Failure::usage(error.to_string()))?;
        entries.sort_by_key(|entry| (entry.block, entry.game));
        let left_out = entries.len().saturating_sub(LISTED);
        let mut meetings = Meetings::default();
        for entry in &entries[left_out..] {
            let name = format!("matches/{}-{}-{}.html", number + 1, entry.block, entry.game);
            let written = match entry.replay.as_deref().map(|kept| path.with_file_name("").join(kept)) {
                Some(kept) => show(&kept, &folder.join(&name)).map_err(failed)?,
                None => None,
            };
            shown += usize::from(written == Some(true));
            broken += usize::from(written == Some(false));
            meetings.add(entry, row(&past.header, entry, (written == Some(true)).then_some(&name)));
        }
        let game =
            agon_games::find(&past.header.game).map_or(past.header.game.as_str(), |game| game.info().title);
        let heading = match past.header.kind {
            SeriesKind::Tournament => format!("Tournament of {game}"),
            SeriesKind::Gauntlet => format!("Gauntlet of {game}"),
            SeriesKind::Sprt => format!("Test of two versions, {game}"),
        };
        let labels: Vec<&str> = past.header.bots.iter().map(|bot| bot.label.as_str()).collect();
        body.push(picture::html(&agon_contest::courses(&past.header, &entries), &labels));
        let standing = agon_contest::SeriesStanding::of(&past.header, &entries);
        body.push(crate::series::origin::html(&standing.origin, &past.header));
        body.push(html! {
            h2 { "Matches" @if journals.len() > 1 { ": " (heading) } }
            @if left_out > 0 {
                p { "The first " (left_out) " matches are not listed." }
            }
            (meetings.list(number + 1, &past.header))
        });
        headings.push(heading);
    }
    let title = match headings.as_slice() {
        [one] => one,
        _ => "Ratings",
    };
    let text = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (title) }
                @for part in &body { (part) }
                footer { "Made by agon " (env!("CARGO_PKG_VERSION")) }
            }
        }
    };
    rights::write_public(&folder.join("index.html"), text.into_string()).map_err(failed)?;
    let dim = |text: &str| screen::errors().dim(text);
    eprintln!("{}", dim(&format!("{}: {shown} matches to watch", folder.join("index.html").display())));
    if broken > 0 {
        eprintln!(
            "note: {broken} replays could not be read or computed again; their matches are only listed"
        );
    }
    Ok(())
}

const STYLE: &str = include_str!("site.css");

/// Makes the folder of the matches and removes pages that an earlier run wrote there, nothing else.
fn clear(folder: &Path) -> io::Result<()> {
    rights::create_public_folder(folder)?;
    for file in fs::read_dir(folder)? {
        let file = file?;
        let name = file.file_name();
        let ours = name.to_str().and_then(|name| name.strip_suffix(".html")).is_some_and(|name| {
            name.split('-').count() == 3 && name.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
        });
        if ours {
            fs::remove_file(file.path())?;
        }
    }
    Ok(())
}

/// The matches of a journal by who met whom.
#[derive(Default)]
struct Meetings {
    /// The bots that met, by their index in the header, and the rows of their matches.
    by_bots: BTreeMap<Vec<usize>, Vec<Markup>>,
}

impl Meetings {
    fn add(&mut self, entry: &Entry, row: Markup) {
        let mut bots = entry.bots.clone();
        bots.sort_unstable();
        bots.dedup();
        self.by_bots.entry(bots).or_default().push(row);
    }

    fn list(&self, journal: usize, header: &JournalHeader) -> Markup {
        let names = |bots: &[usize]| {
            bots.iter().map(|&bot| header.bots[bot].label.as_str()).collect::<Vec<_>>().join(" – ")
        };
        let place = |bots: &[usize]| bots.iter().map(usize::to_string).collect::<Vec<_>>().join("-");
        html! {
            @for (bots, rows) in &self.by_bots {
                details.card id={ "j" (journal) "-" (place(bots)) } open[self.by_bots.len() == 1] {
                    summary { (names(bots)) " " span { (rows.len()) " matches" } }
                    table {
                        thead {
                            tr {
                                th { "match" }
                                th.left { "bots and scores" }
                                th.left.wide-only { "map, seed" }
                                th.wide-only { "steps" }
                                th.left.wide-only { "end" }
                                th {}
                            }
                        }
                        tbody { @for row in rows { (row) } }
                    }
                }
            }
        }
    }
}

/// Where the pages of matches belong.
const ABOVE: LinkedPlace<'_> = LinkedPlace {
    home: Some(("Matches", "../index.html")),
    title: None,
    zone: None,
    privacy: Privacy::Redacted,
};

/// Writes the page of a match. None when the replay is gone; false when it cannot be shown.
fn show(from: &Path, to: &Path) -> io::Result<Option<bool>> {
    if !from.is_file() {
        return Ok(None);
    }
    let Ok(replay) = replays::read(from) else { return Ok(Some(false)) };
    let mut file = BufWriter::new(rights::create_public(to)?);
    match page::write_linked(replay, "..", &ABOVE, &mut file) {
        Ok(()) => file.flush().map(|()| Some(true)),
        Err(page::PageError::Io(error)) => Err(error),
        Err(_) => {
            drop(file);
            fs::remove_file(to)?;
            Ok(Some(false))
        }
    }
}

fn row(header: &JournalHeader, entry: &Entry, page: Option<&String>) -> Markup {
    let bots =
        || entry.bots.iter().zip(&entry.result.proven.scores).zip(&entry.result.proven.ranks).enumerate();
    html! {
        tr {
            td { (entry.block) "." (entry.game) }
            td.name {
                @for (number, ((&bot, &score), &rank)) in bots() {
                    @if number > 0 { " : " }
                    span.first[rank == 1] { (header.bots[bot].label) " " (screen::score(score)) }
                }
            }
            td.left.wide-only { @if !entry.map.is_empty() { (entry.map) ", " } (entry.seed) }
            td.wide-only { (entry.result.proven.steps) }
            td.name.wide-only { (entry.result.proven.reason) }
            td { @if let Some(page) = page { a href=(page) { "watch" } } }
        }
    }
}

/// The ratings and the cross table of one game under one set of rules.
fn table(number: usize, rated: &RatedGame) -> Markup {
    let RatedGame { title, rules, ratings, cross_table: cross } = rated;
    let (mut place, mut group) = (0, 1);
    // In each group, places count from one.
    let placed: Vec<(bool, usize, &agon_stats::Rated)> = ratings
        .bots
        .iter()
        .map(|bot| {
            let begins = bot.group != group;
            (place, group) = (if begins { 1 } else { place + 1 }, bot.group);
            (begins, place, bot)
        })
        .collect();
    html! {
        p { (title) " · " (rules) " · " (ratings.matches) " matches in " (ratings.blocks) " blocks" }
        h2 { "Table" }
        div.card {
            table {
                thead {
                    tr {
                        th { "rank" }
                        th.left { "bot" }
                        th { "Elo" }
                        th.wide-only { "95 %" }
                        th.wide-only { "matches" }
                        th { "score" }
                    }
                }
                tbody {
                    @for (begins, place, bot) in placed {
                        @if begins {
                            tr {
                                td {}
                                td.name colspan="5" { "These never met those above; the ratings cannot be compared." }
                            }
                        }
                        (rank(place, bot, cross))
                    }
                }
            }
        }
        @if cross.bots.len() >= 3 {
            (met(number, ratings, cross))
        }
    }
}

/// A row of the table.
fn rank(place: usize, bot: &agon_stats::Rated, cross: &CrossTable) -> Markup {
    let (elo, interval) = figures(bot);
    let row = cross.bots.iter().position(|name| *name == bot.bot);
    let share = row.and_then(|row| cross.totals[row].score()).map(|score| score * 100.0);
    html! {
        tr {
            td { @if is_ranked(bot) { (place) } @else { "–" } }
            td.name.first[place == 1] { (bot.bot) }
            td { (elo) }
            td.wide-only { (interval) }
            td.wide-only { (bot.matches) }
            td {
                @match share {
                    None => "–",
                    Some(share) => {
                        (format!("{share:.1} %"))
                        span.bar { i style=(format!("width:{share:.1}%")) {} }
                    }
                }
            }
        }
    }
}

/// Who met whom, with what the ratings predict.
fn met(number: usize, ratings: &RatingTable, cross: &CrossTable) -> Markup {
    let cell = |row: usize, column: usize| {
        let cell = &cross.cells[row][column];
        let scores = real_and_predicted(ratings, &cross.bots[row], &cross.bots[column], cell);
        html! {
            @match scores.filter(|_| row != column) {
                None => td { "·" },
                Some(scores) => {
                    td.ahead[cell.ahead > cell.behind] {
                        (cell.ahead) "-" (cell.level) "-" (cell.behind) br; small { (scores) }
                    }
                }
            }
        }
    };
    let count = cross.bots.len();
    html! {
        h2 id={ "cross" (number) } { "Who met whom" }
        p {
            "How often the bot of the row was ahead, level, and behind; below, its score : what the ratings predict."
        }
        div.card {
            table.cross {
                thead { tr { th {} th.left { "bot" } @for number in 1..=count { th { (number) } } } }
                tbody {
                    @for row in 0..count {
                        tr {
                            td { (row + 1) }
                            td.name { (cross.bots[row]) }
                            @for column in 0..count { (cell(row, column)) }
                        }
                    }
                }
            }
        }
        @for sentence in circles(&ratings.cycles) {
            p { (sentence) }
        }
    }
}
