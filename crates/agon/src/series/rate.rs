//! `agon rate`: ratings of all bots, from journals alone.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use agon_desk::ratings::{Anchors, RatedGame, read, tables};
use agon_desk::words::thousands;
use agon_stats::{CrossTable, Interval};
use clap::Args;

use crate::common::folders::JOURNAL;
use crate::common::screen::{self, Screen};
use crate::common::table::{Cell, Table};
use crate::common::{self, Done, Failure};
use crate::series::bars::{Scale, certainty};
use crate::series::cross;

/// Examples for the help.
pub const EXAMPLES: &str =
    "The table depends on the results alone, not on their order. Results of another game or under other rules
get a table of their own. What the numbers mean: agon docs statistics.

Examples:
  agon rate agon-series/cultist-wars-tournament-1
  agon rate agon-series/*                              everything ever played here
  agon rate mine.jsonl theirs.jsonl --csv > ratings.csv
  agon rate agon-series/* --anchor greedy=1500         a table that keeps its level from week to week
  agon rate agon-series/cultist-wars-tournament-1 --html site";

/// Options of `agon rate`.
#[derive(Args, Debug)]
pub struct RateOptions {
    /// Journals, or folders of series
    #[arg(required = true, value_name = "JOURNAL")]
    pub journals: Vec<PathBuf>,
    /// Fixes the rating of a bot, so that tables stay comparable from week to week; may be repeated
    #[arg(long, value_name = "BOT=ELO")]
    pub anchor: Vec<String>,
    /// Prints the ratings as CSV
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// Prints everything as JSON
    #[arg(long)]
    pub json: bool,
    /// Writes a site into this folder: tables, and every match whose replay was kept
    #[arg(long, value_name = "DIR")]
    pub html: Option<PathBuf>,
}

/// The journals, each once: `agon-series/*` holds the last one under two names.
fn each_once(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut seen = BTreeSet::new();
    let mut kept: Vec<PathBuf> = Vec::new();
    // What is named directly comes before the link to it.
    let (own, links): (Vec<PathBuf>, Vec<PathBuf>) =
        paths.into_iter().partition(|path| !path.parent().is_some_and(Path::is_symlink));
    for path in own.into_iter().chain(links) {
        if seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())) {
            kept.push(path);
        }
    }
    kept
}

/// Runs `agon rate`.
pub fn run(options: &RateOptions) -> Done {
    let anchors = Anchors::new(&options.anchor)?;
    let paths: Vec<PathBuf> = options
        .journals
        .iter()
        .map(|path| if path.is_dir() { path.join(JOURNAL) } else { path.clone() })
        .collect();
    let paths = each_once(paths);
    let read = read(&paths)?;
    for note in &read.notes {
        eprintln!("note: {}", screen::harmless(note));
    }
    if read.is_empty() {
        return Err(Failure::usage("these journals hold no finished block; there is nothing to rate"));
    }
    let tables = tables(&read, &anchors)?;
    if let Some(folder) = &options.html {
        crate::series::site::write(folder, &tables, &paths)?;
    }
    let mut out = io::stdout().lock();
    if options.json {
        common::print_json(&mut out, &tables)?;
    } else if options.csv {
        csv(&mut out, &tables)?;
    } else {
        for table in &tables {
            show(&mut out, screen::output(), table)?;
        }
    }
    Ok(())
}

/// Prints a table for people.
pub fn show(out: &mut impl Write, screen: Screen, rated: &RatedGame) -> io::Result<()> {
    let RatedGame { title, rules, ratings, cross_table: all } = rated;
    let repeats = match ratings.repeats {
        0 => String::new(),
        1 => " · 1 block is an exact repeat and adds no certainty".to_owned(),
        repeats => format!(" · {} blocks are exact repeats and add no certainty", thousands(repeats)),
    };
    let title = format!(
        "{title} · {rules} · {} matches in {} blocks{repeats}",
        thousands(ratings.matches),
        thousands(ratings.blocks)
    );
    writeln!(out, "{}\n", screen.strong(&screen::harmless(&title)))?;
    if ratings.groups > 1 {
        writeln!(
            out,
            "{} groups of bots never met, directly or by a chain of matches; their ratings cannot be compared.\n",
            ratings.groups
        )?;
    }
    for group in ratings.bots.chunk_by(|one, next| one.group == next.group) {
        if ratings.groups > 1 {
            writeln!(out, "Group {} of {}\n", group[0].group, ratings.groups)?;
        }
        let table = all.only(group.iter().map(|bot| bot.bot.as_str()));
        standings(out, group, &table)?;
        cross::show(out, ratings, &table)?;
    }
    for sentence in cross::circles(&ratings.cycles) {
        writeln!(out, "{}\n", screen::harmless(&sentence))?;
    }
    Ok(())
}

/// The bots of one group, best first.
fn standings(out: &mut impl Write, group: &[agon_stats::Rated], cross: &CrossTable) -> io::Result<()> {
    let ends = |bot: &agon_stats::Rated| {
        let Interval { low, high } = bot.interval.unwrap_or(Interval { low: None, high: None });
        [low, bot.elo, high]
    };
    // Anchors may hold a table anywhere; the scale is about its middle.
    let rated: Vec<f64> = group.iter().filter_map(|bot| bot.elo).collect();
    let middle = rated.iter().sum::<f64>() / rated.len().max(1) as f64;
    let about = |elo: Option<f64>| elo.map(|elo| elo - middle);
    let scale = Scale::of(group.iter().flat_map(ends).filter_map(about));
    let axis = if middle.abs() < 0.5 { scale.title() } else { String::new() };
    let mut table = Table::new()
        .numbers("rank", 0)
        .names("bot")
        .numbers("Elo", 0)
        .numbers(axis, 0)
        .numbers("95 %", 3)
        .numbers("matches", 2)
        .numbers("score", 1)
        .numbers("P(better than next)", 0);
    for (place, bot) in group.iter().enumerate() {
        let (elo, interval) = figures(bot);
        let rank = if is_ranked(bot) { (place + 1).to_string() } else { "–".to_owned() };
        let score = cross.totals[place].score().map(|share| format!("{:.1} %", share * 100.0));
        let [low, point, high] = ends(bot).map(about);
        table.row(vec![
            Cell::from(rank),
            Cell::from(screen::harmless(&bot.bot)),
            Cell::from(elo),
            Cell::from(if bot.anchor { String::new() } else { scale.bar(low, point, high) }),
            Cell::from(interval),
            Cell::from(thousands(bot.matches)),
            Cell::from(score.unwrap_or_else(|| "–".to_owned())),
            Cell::from(bot.above_next.map(certainty).unwrap_or_default()),
        ]);
    }
    writeln!(out, "{}", table.text(screen::room()))
}

/// An interval of more Elo than this is shown without tenths.
const WIDE: f64 = 100.0;

/// Whether a bot has a rank: not if it never scored against those it is compared with, or nothing compares it. It stands below.
pub fn is_ranked(bot: &agon_stats::Rated) -> bool {
    bot.elo.is_some() || bot.interval.is_some_and(|interval| interval.low.is_some())
}

/// A bot's rating and interval in words.
pub fn figures(bot: &agon_stats::Rated) -> (String, String) {
    // No tenths where hundreds are in doubt.
    let is_wide = match bot.interval {
        Some(Interval { low: Some(low), high: Some(high) }) => high - low > WIDE,
        _ => !bot.anchor,
    };
    let number = |number: f64| {
        let digits = usize::from(!is_wide);
        let text = format!("{:.digits$}", number.abs());
        let is_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
        if number < 0.0 && !is_zero { format!("-{text}") } else { text }
    };
    let interval = match bot.interval {
        _ if bot.anchor => "given".to_owned(),
        Some(Interval { low: Some(low), high: Some(high) }) => format!("{} to {}", number(low), number(high)),
        Some(Interval { low: Some(low), high: None }) => format!("above {}", number(low)),
        Some(Interval { low: None, high: Some(high) }) => format!("below {}", number(high)),
        _ => "–".to_owned(),
    };
    (bot.elo.map_or_else(|| "–".to_owned(), number), interval)
}

/// Writes the ratings as CSV, one row a bot.
fn csv(out: &mut impl Write, tables: &[RatedGame]) -> io::Result<()> {
    writeln!(out, "game,rules,rules_hash,rank,bot,elo,low,high,matches,score,group")?;
    for rated in tables {
        let mut place = 0;
        let mut group = 0;
        for bot in &rated.ratings.bots {
            place = if bot.group == group { place + 1 } else { 1 };
            group = bot.group;
            let row = rated.cross_table.bots.iter().position(|name| *name == bot.bot);
            let score = row.and_then(|row| rated.cross_table.totals[row].score());
            let number = |number: Option<f64>, digits| {
                number.map_or_else(String::new, |number| format!("{number:.digits$}"))
            };
            let key = &rated.ratings.key;
            writeln!(
                out,
                "{},{},{},{place},{},{},{},{},{},{},{group}",
                quoted(&key.game),
                quoted(&rated.rules),
                key.rules,
                quoted(&bot.bot),
                number(bot.elo, 1),
                number(bot.interval.and_then(|interval| interval.low), 1),
                number(bot.interval.and_then(|interval| interval.high), 1),
                bot.matches,
                number(score, 4)
            )?;
        }
    }
    Ok(())
}

/// A CSV field. One that a spreadsheet would take for a formula is made harmless.
fn quoted(text: &str) -> String {
    let text =
        if text.starts_with(['=', '+', '-', '@', '\t']) { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn fields_of_csv_are_safe() {
        assert_eq!(quoted("plain"), "plain");
        assert_eq!(quoted("a, \"b\""), "\"a, \"\"b\"\"\"");
        assert_eq!(quoted("=1+1"), "'=1+1");
    }
}
