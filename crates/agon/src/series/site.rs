//! A series as a site of plain files: tables, the list of matches, and every match whose replay was kept.
//!
//! It opens from a folder as well as from any web server. The matches share one copy of the viewer.
//! What belongs to one bot alone is not part of it. All text from bots is escaped.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use agon_contest::{Entry, Header, Kind, journal};
use agon_web::{app, page};

use crate::common::screen;
use crate::common::{Done, Failure};
use crate::replay;
use crate::series::cross::{circles, real_and_predicted};
use crate::series::picture;
use crate::series::rate::{Rated, figures};

/// So many matches of a journal are listed; of a longer one the last.
const LISTED: usize = 20_000;

/// Whether a site can be written at all: asked before anything is played for it.
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
pub fn write(folder: &Path, tables: &[Rated], journals: &[PathBuf]) -> Done {
    check()?;
    let failed = |error: io::Error| Failure::own(format!("{}: {error}", folder.display()));
    clear(&folder.join("matches")).map_err(failed)?;
    for (name, text) in page::shared() {
        fs::write(folder.join(name), text).map_err(failed)?;
    }
    let mut body = String::new();
    for (number, rated) in tables.iter().enumerate() {
        table(&mut body, number + 1, rated);
    }
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
            row(meetings.of(entry), &past.header, entry, (written == Some(true)).then_some(&name));
        }
        let game =
            agon_games::find(&past.header.game).map_or(past.header.game.as_str(), |game| game.info().title);
        let heading = match past.header.kind {
            Kind::Tournament => format!("Tournament of {game}"),
            Kind::Gauntlet => format!("Gauntlet of {game}"),
            Kind::Sprt => format!("Test of two versions, {game}"),
        };
        let labels: Vec<&str> = past.header.bots.iter().map(|bot| bot.label.as_str()).collect();
        body.push_str(&picture::html(&agon_contest::courses(&past.header, &entries), &labels));
        let standing = agon_contest::Standing::of(&past.header, &entries);
        body.push_str(&crate::series::origin::html(&standing.origin, &past.header, app::escape));
        let of = if journals.len() > 1 { format!(": {}", app::escape(&heading)) } else { String::new() };
        let _ = writeln!(body, "<h2>Matches{of}</h2>");
        if left_out > 0 {
            let _ = writeln!(body, "<p>The first {left_out} matches are not listed.</p>");
        }
        meetings.list(&mut body, number + 1, &past.header);
        headings.push(heading);
    }
    let title = match headings.as_slice() {
        [one] => app::escape(one),
        _ => "Ratings".to_owned(),
    };
    let text = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>{STYLE}</style></head>\n<body><h1>{title}</h1>\n{body}\
         <footer>Made by agon {}</footer></body></html>\n",
        env!("CARGO_PKG_VERSION")
    );
    fs::write(folder.join("index.html"), text).map_err(failed)?;
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

/// Makes the folder of the matches; pages that an earlier run wrote there go, and nothing else.
fn clear(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
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
    /// The bots that met, by their place in the header; the rows of their matches and how many there are.
    by_bots: BTreeMap<Vec<usize>, (String, usize)>,
}

impl Meetings {
    /// Where the row of a match belongs.
    fn of(&mut self, entry: &Entry) -> &mut String {
        let mut bots = entry.bots.clone();
        bots.sort_unstable();
        bots.dedup();
        let (rows, count) = self.by_bots.entry(bots).or_default();
        *count += 1;
        rows
    }

    fn list(&self, body: &mut String, journal: usize, header: &Header) {
        let open = if self.by_bots.len() == 1 { " open" } else { "" };
        for (bots, (rows, count)) in &self.by_bots {
            let names: Vec<String> = bots.iter().map(|&bot| app::escape(&header.bots[bot].label)).collect();
            let place = bots.iter().map(usize::to_string).collect::<Vec<_>>().join("-");
            let _ = writeln!(
                body,
                "<details class=\"card\" id=\"j{journal}-{place}\"{open}><summary>{} <span>{count} matches</span></summary>\n\
                 <table><thead><tr><th>match</th><th class=\"left\">bots and scores</th><th class=\"left wide-only\">map, seed</th>\
                 <th class=\"wide-only\">steps</th><th class=\"left wide-only\">end</th><th></th></tr></thead>\n<tbody>{rows}</tbody></table></details>",
                names.join(" – "),
            );
        }
    }
}

/// Writes the page of a match. None when there is no replay any more; false when it cannot be shown.
fn show(from: &Path, to: &Path) -> io::Result<Option<bool>> {
    if !from.is_file() {
        return Ok(None);
    }
    let Ok(replay) = replay::read(from) else { return Ok(Some(false)) };
    let mut file = BufWriter::new(File::create(to)?);
    match page::write_linked(replay, "..", &mut file) {
        Ok(()) => file.flush().map(|()| Some(true)),
        Err(page::PageError::Io(error)) => Err(error),
        Err(_) => {
            drop(file);
            fs::remove_file(to)?;
            Ok(Some(false))
        }
    }
}

fn row(rows: &mut String, header: &Header, entry: &Entry, page: Option<&String>) {
    let bots = entry.bots.iter().zip(&entry.scores).zip(&entry.ranks).map(|((&bot, score), &rank)| {
        let class = if rank == 1 { " class=\"first\"" } else { "" };
        let label = app::escape(&header.bots[bot].label);
        format!("<span{class}>{label} {}</span>", screen::score(*score))
    });
    let place = if entry.map.is_empty() { String::new() } else { format!("{}, ", app::escape(&entry.map)) };
    let link = page.map_or_else(String::new, |page| format!("<a href=\"{page}\">watch</a>"));
    let _ = writeln!(
        rows,
        "<tr><td>{}.{}</td><td class=\"name\">{}</td><td class=\"left wide-only\">{place}{}</td><td class=\"wide-only\">{}</td>\
         <td class=\"name wide-only\">{}</td><td>{link}</td></tr>",
        entry.block,
        entry.game,
        bots.collect::<Vec<_>>().join(" : "),
        entry.seed,
        entry.steps,
        app::escape(&entry.reason),
    );
}

/// The ratings and the cross table of one game under one set of rules.
fn table(body: &mut String, number: usize, rated: &Rated) {
    let Rated { title, rules, ratings, cross } = rated;
    let _ = write!(
        body,
        "<p>{} · {} · {} matches in {} blocks</p>\n<h2>Table</h2>\n<div class=\"card\"><table>\
         <thead><tr><th>rank</th><th class=\"left\">bot</th><th>Elo</th><th class=\"wide-only\">95 %</th><th class=\"wide-only\">matches</th>\
         <th>score</th></tr></thead><tbody>\n",
        app::escape(title),
        app::escape(rules),
        ratings.matches,
        ratings.blocks,
    );
    let (mut place, mut group) = (0, 1);
    for bot in &ratings.bots {
        if bot.group != group {
            (place, group) = (0, bot.group);
            body.push_str(
                "<tr><td></td><td class=\"name\" colspan=\"5\">These never met those above; the ratings cannot be compared.</td></tr>\n",
            );
        }
        place += 1;
        let (elo, interval) = figures(bot);
        let row = cross.bots.iter().position(|name| *name == bot.bot);
        let score = row.and_then(|row| cross.totals[row].score());
        let score = score.map_or_else(
            || "–".to_owned(),
            |score| {
                let share = score * 100.0;
                format!("{share:.1} %<span class=\"bar\"><i style=\"width:{share:.1}%\"></i></span>")
            },
        );
        let _ = writeln!(
            body,
            "<tr><td>{}</td><td class=\"name{}\">{}</td><td>{elo}</td><td class=\"wide-only\">{interval}</td><td class=\"wide-only\">{}</td><td>{score}</td></tr>",
            place,
            if place == 1 { " first" } else { "" },
            app::escape(&bot.bot),
            bot.matches,
        );
    }
    body.push_str("</tbody></table></div>\n");
    if cross.bots.len() < 3 {
        return;
    }
    let _ = write!(
        body,
        "<h2 id=\"cross{number}\">Who met whom</h2>\n<p>How often the bot of the row was ahead, level, and behind; below, its score : what the ratings predict.</p>\n\
         <div class=\"card\"><table class=\"cross\"><thead><tr><th></th><th class=\"left\">bot</th>"
    );
    (1..=cross.bots.len()).for_each(|number| {
        let _ = write!(body, "<th>{number}</th>");
    });
    body.push_str("</tr></thead><tbody>\n");
    for (row, cells) in cross.cells.iter().enumerate() {
        let _ =
            write!(body, "<tr><td>{}</td><td class=\"name\">{}</td>", row + 1, app::escape(&cross.bots[row]));
        for (column, cell) in cells.iter().enumerate() {
            let class = if cell.ahead > cell.behind { " class=\"ahead\"" } else { "" };
            let scores = real_and_predicted(ratings, &cross.bots[row], &cross.bots[column], cell);
            let _ = match scores.filter(|_| row != column) {
                None => write!(body, "<td>·</td>"),
                Some(scores) => write!(
                    body,
                    "<td{class}>{}-{}-{}<br><small>{scores}</small></td>",
                    cell.ahead, cell.level, cell.behind
                ),
            };
        }
        body.push_str("</tr>\n");
    }
    body.push_str("</tbody></table></div>\n");
    for sentence in circles(&ratings.cycles) {
        let _ = writeln!(body, "<p>{}</p>", app::escape(&sentence));
    }
}
