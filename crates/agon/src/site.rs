//! A series as a site of plain files: tables, the list of matches, and every match whose replay was kept.
//!
//! It opens from a folder as well as from any web server. The matches share one copy of the viewer.
//! What belongs to one bot alone is not part of it. All text from bots is escaped.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use agon_contest::{Entry, Header, journal};
use agon_web::{Privacy, app, page};

use crate::common::{Done, Failure};
use crate::progress::whole;
use crate::rate::Rated;
use crate::{replay, screen};

/// So many matches of a journal are listed; of a longer one the last.
const LISTED: usize = 20_000;

/// Writes the site.
pub fn write(folder: &Path, tables: &[Rated], journals: &[PathBuf]) -> Done {
    if !app::is_built() {
        return Err(Failure::usage(format!(
            "this agon was built without its web app ({}), so it cannot write a site",
            app::MISSING.trim()
        )));
    }
    let failed = |error: io::Error| Failure::own(format!("{}: {error}", folder.display()));
    fs::create_dir_all(folder.join("matches")).map_err(failed)?;
    fs::write(folder.join("app.js"), app::SCRIPT).map_err(failed)?;
    fs::write(folder.join("app.css"), app::STYLE).map_err(failed)?;
    let mut body = String::new();
    tables.iter().for_each(|rated| table(&mut body, rated));
    let (mut shown, mut broken) = (0, 0);
    for (number, path) in journals.iter().enumerate() {
        let mut entries = Vec::new();
        let past = journal::read(path, |entry| entries.push(entry))
            .map_err(|error| Failure::usage(error.to_string()))?;
        entries.sort_by_key(|entry| (entry.block, entry.game));
        let first = entries.len().saturating_sub(LISTED);
        let mut rows = String::new();
        for entry in &entries[first..] {
            let name = format!("matches/{}-{}-{}.html", number + 1, entry.block, entry.game);
            let written = match entry.replay.as_deref().map(|kept| path.with_file_name("").join(kept)) {
                Some(kept) => show(&kept, &folder.join(&name)).map_err(failed)?,
                None => None,
            };
            shown += usize::from(written == Some(true));
            broken += usize::from(written == Some(false));
            row(&mut rows, &past.header, entry, (written == Some(true)).then_some(&name));
        }
        let title = past.header.kind.word();
        let _ = write!(
            body,
            "<h2>Matches of the {title}</h2>\n<div class=\"wide\"><table><thead><tr><th>block</th><th>bots and scores</th>\
             <th>map, seed</th><th>steps</th><th>end</th><th></th></tr></thead>\n<tbody>{rows}</tbody></table></div>\n"
        );
    }
    let titles: Vec<&str> = tables.iter().map(|rated| rated.title.as_str()).collect();
    let title = app::escape(&titles.join(", "));
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

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}\
table{border-collapse:collapse}th,td{text-align:right;padding:.25rem .7rem;border-bottom:1px solid #8884;vertical-align:top}\
td.name,th.name,td:nth-child(2){text-align:left;overflow-wrap:anywhere}.wide{overflow-x:auto}.first{font-weight:700}\
.faint,footer,caption{opacity:.75}caption{text-align:left}footer{margin-top:3rem}";

/// Writes the page of a match. None when there is no replay any more; false when it cannot be shown.
fn show(from: &Path, to: &Path) -> io::Result<Option<bool>> {
    if !from.is_file() {
        return Ok(None);
    }
    let Ok(replay) = replay::read(from) else { return Ok(Some(false)) };
    let mut file = BufWriter::new(File::create(to)?);
    match page::write_linked(replay, Privacy::Redacted, "..", &mut file) {
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
        "<tr><td>{}.{}</td><td>{}</td><td>{place}{}</td><td>{}</td><td class=\"name\">{}</td><td>{link}</td></tr>",
        entry.block,
        entry.game,
        bots.collect::<Vec<_>>().join(" : "),
        entry.seed,
        entry.steps,
        app::escape(&entry.reason),
    );
}

/// The ratings and the cross table of one game under one set of rules.
fn table(body: &mut String, rated: &Rated) {
    let Rated { title, rules, ratings, cross } = rated;
    let _ = write!(
        body,
        "<h2>{} · {}</h2>\n<div class=\"wide\"><table><caption>{} matches in {} blocks; Elo with its 95 % interval</caption>\
         <thead><tr><th>rank</th><th class=\"name\">bot</th><th>Elo</th><th>95 %</th><th>matches</th><th>score</th></tr></thead><tbody>",
        app::escape(title),
        app::escape(rules),
        ratings.matches,
        ratings.blocks,
    );
    for (place, bot) in ratings.bots.iter().enumerate() {
        let row = cross.bots.iter().position(|name| *name == bot.bot);
        let score = row.and_then(|row| cross.totals[row].score());
        let _ = writeln!(
            body,
            "<tr><td>{}</td><td class=\"name\">{}</td><td>{}</td><td>{} to {}</td><td>{}</td><td>{}</td></tr>",
            place + 1,
            app::escape(&bot.bot),
            whole(bot.elo),
            whole(bot.interval.low),
            whole(bot.interval.high),
            bot.matches,
            score.map_or_else(|| "–".to_owned(), |score| format!("{:.1} %", score * 100.0)),
        );
    }
    body.push_str("</tbody></table></div>\n");
    if cross.bots.len() < 3 {
        return;
    }
    body.push_str("<h2>Who met whom</h2>\n<div class=\"wide\"><table><caption>ahead-level-behind</caption><thead><tr><th></th><th class=\"name\">bot</th>");
    (1..=cross.bots.len()).for_each(|number| {
        let _ = write!(body, "<th>{number}</th>");
    });
    body.push_str("</tr></thead><tbody>\n");
    for (row, cells) in cross.cells.iter().enumerate() {
        let _ =
            write!(body, "<tr><td>{}</td><td class=\"name\">{}</td>", row + 1, app::escape(&cross.bots[row]));
        for (column, cell) in cells.iter().enumerate() {
            let _ = match row == column || cell.meetings() == 0 {
                true => write!(body, "<td>·</td>"),
                false => write!(body, "<td>{}-{}-{}</td>", cell.ahead, cell.level, cell.behind),
            };
        }
        body.push_str("</tr>\n");
    }
    body.push_str("</tbody></table></div>\n");
}
