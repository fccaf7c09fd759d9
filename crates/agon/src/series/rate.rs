//! `agon rate`: ratings of all bots, from journals alone.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::PathBuf;

use agon_contest::{BotId, Entry, Header, journal, standing};
use agon_stats::{CrossTable, Interval, Match, MatchBlock, Options, RatingTable, Results, TableKey};
use clap::Args;

use crate::common::folders::JOURNAL;
use crate::common::screen::{self, Screen};
use crate::common::table::{Cell, Table};
use crate::common::{self, Done, Failure};
use crate::series::bars::{Scale, certainty};
use crate::series::cross;
use crate::series::json;
use crate::series::progress::thousands;

/// Examples for the help.
pub const EXAMPLES: &str =
    "The table depends on the results alone, not on their order. Results of another game or under other rules
get a table of their own. What the numbers mean: docs/statistics.md.

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

/// How ratings are made.
#[derive(Default)]
pub struct How {
    /// Bots with a given rating.
    anchors: Vec<(String, f64)>,
    /// Whether an anchor may be missing.
    lenient: bool,
}

impl How {
    /// Ratings with these anchors, each `BOT=ELO`.
    pub fn new(anchors: &[String]) -> Result<Self, Failure> {
        let anchor = |text: &String| {
            let (bot, elo) = text.rsplit_once('=').filter(|(bot, _)| !bot.is_empty())?;
            let elo: f64 = elo.parse().ok().filter(|elo: &f64| elo.abs() <= 10_000.0)?;
            Some((bot.to_owned(), elo))
        };
        let anchors = anchors.iter().map(|text| {
            anchor(text).ok_or_else(|| {
                let wanted = "write BOT=ELO, for example --anchor greedy=1500 (-10000 to 10000)";
                Failure::usage(format!("--anchor {text}: {wanted}"))
            })
        });
        let how = Self { anchors: anchors.collect::<Result<_, _>>()?, lenient: false };
        for (place, (bot, _)) in how.anchors.iter().enumerate() {
            if how.anchors[..place].iter().any(|(earlier, _)| earlier == bot) {
                return Err(Failure::usage(format!("--anchor {bot}: given twice")));
            }
        }
        Ok(how)
    }

    /// Refuses an anchor that is not one of these bots.
    pub fn check(&self, bots: &[&str]) -> Done {
        match self.anchors.iter().find(|(anchor, _)| !bots.contains(&anchor.as_str())) {
            _ if self.lenient => Ok(()),
            None => Ok(()),
            Some((anchor, _)) => Err(Failure::usage(format!(
                "--anchor {anchor}: not in the table; its bots are {}",
                screen::harmless(&bots.join(", "))
            ))),
        }
    }

    /// The same, except that anchors may be missing from the table: they may be bots that are still to play.
    pub fn lenient(&self) -> Self {
        Self { anchors: self.anchors.clone(), lenient: true }
    }

    /// The anchors among these bots.
    fn among(&self, bots: &[&str]) -> Options {
        let anchors = self.anchors.iter().filter(|(anchor, _)| bots.contains(&anchor.as_str()));
        Options { anchors: anchors.cloned().collect(), ..Options::default() }
    }
}

/// Runs `agon rate`.
pub fn run(options: &RateOptions) -> Done {
    let how = How::new(&options.anchor)?;
    let paths: Vec<PathBuf> = options
        .journals
        .iter()
        .map(|path| if path.is_dir() { path.join(JOURNAL) } else { path.clone() })
        .collect();
    let read = read(&paths)?;
    for note in &read.notes {
        eprintln!("note: {}", screen::harmless(note));
    }
    if read.is_empty() {
        return Err(Failure::usage("these journals hold no finished block; there is nothing to rate"));
    }
    let tables = tables(&read, &how)?;
    if let Some(folder) = &options.html {
        crate::series::site::write(folder, &tables, &paths)?;
    }
    let mut out = io::stdout().lock();
    if options.json {
        let tables: Vec<_> = tables.iter().map(json).collect();
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

/// What was read from journals.
pub struct Read {
    journals: Vec<(Header, Vec<MatchBlock>)>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

impl Read {
    /// Whether there is no finished block at all.
    pub fn is_empty(&self) -> bool {
        self.journals.iter().all(|(_, blocks)| blocks.is_empty())
    }

    /// The headers of the journals, in the order of their names.
    pub fn headers(&self) -> impl Iterator<Item = &Header> {
        self.journals.iter().map(|(header, _)| header)
    }
}

/// Reads journals. Blocks count as in the series itself: up to the first incomplete one.
pub fn read(paths: &[PathBuf]) -> Result<Read, Failure> {
    let mut read = Read { journals: Vec::new(), notes: Vec::new() };
    let (mut known, mut identities) = (BTreeSet::new(), BTreeSet::new());
    for path in paths {
        let own = path.canonicalize().unwrap_or_else(|_| path.clone());
        if !known.insert(own) {
            read.notes.push(format!("{} was named twice and counts once", path.display()));
            continue;
        }
        let mut blocks: BTreeMap<u64, Vec<Entry>> = BTreeMap::new();
        let past = journal::read(path, |entry| blocks.entry(entry.block).or_default().push(entry))
            .map_err(|error| Failure::usage(error.to_string()))?;
        // A match counts once, in whatever journals it stands.
        let (mut copied, mut elsewhere) = (0u64, BTreeSet::new());
        for (number, entries) in &mut blocks {
            let all = entries.len();
            entries.retain(|entry| identities.insert(entry.id));
            copied += (all - entries.len()) as u64;
            if entries.is_empty() {
                elsewhere.insert(*number);
            }
        }
        if copied > 0 {
            read.notes.push(format!(
                "{}: {} in a journal before it too, and {} once",
                path.display(),
                journal::count(copied as usize, "match stands", "matches stand"),
                if copied == 1 { "counts" } else { "count" }
            ));
        }
        let games = past.header.plan(None).games() as usize;
        // A block with a match that stayed void is skipped.
        let voids: BTreeSet<u64> = past.voids.iter().map(|void| void.block).collect();
        let whole: Vec<Vec<Entry>> = match past.header.format {
            // Results decide who meets whom, so no block waits for another.
            Some(_) => blocks.into_values().filter(|entries| entries.len() == games).collect(),
            None => (1..)
                .filter(|number| !voids.contains(number) && !elsewhere.contains(number))
                .map_while(|number| blocks.remove(&number).filter(|entries| entries.len() == games))
                .collect(),
        };
        let left_out = past.entries - copied - (whole.len() * games) as u64;
        if left_out > 0 {
            read.notes.push(format!(
                "{}: {} of incomplete blocks, or of blocks after one, do not count",
                path.display(),
                journal::count(left_out as usize, "match", "matches")
            ));
        }
        if !past.voids.is_empty() {
            read.notes.push(format!(
                "{}: {} stayed void, as the machine was late; their blocks do not count (agon ... --resume tries them again)",
                path.display(),
                journal::count(past.voids.len(), "match", "matches")
            ));
        }
        if past.torn {
            read.notes.push(format!("{}: its last line was incomplete and does not count", path.display()));
        }
        let blocks = rounds(&past.header, whole).into_iter().map(|entries| {
            let label = |bot: &usize| name(&past.header.bots[*bot]);
            let matches = entries.iter().map(|entry| Match {
                bots: entry.bots.iter().map(label).collect(),
                ranks: entry.result.proven.ranks.clone(),
            });
            MatchBlock {
                start: standing::start(&past.header, &entries),
                fingerprint: standing::fingerprint(&entries),
                matches: matches.collect(),
            }
        });
        let blocks = blocks.collect();
        read.journals.push((past.header, blocks));
    }
    let clocks: BTreeSet<String> = read.journals.iter().map(|(header, _)| header.clock.to_string()).collect();
    if clocks.len() > 1 {
        let clocks = clocks.into_iter().collect::<Vec<_>>().join(", ");
        read.notes.push(format!("these journals were played under different clocks: {clocks}"));
    }
    Ok(read)
}

/// The matches of each round: a block on each map of a pairing, as in the series itself. Where results decide who meets whom, each
/// block stands alone. The last round of a series that was interrupted may not be whole; its blocks count all the same.
fn rounds(header: &Header, blocks: Vec<Vec<Entry>>) -> Vec<Vec<Entry>> {
    let plan = header.plan(None);
    let (pairings, maps) = (plan.pairing_count().max(1) as u64, standing::blocks_in_round(&plan) as u64);
    let mut rounds: BTreeMap<(u64, u64), Vec<Entry>> = BTreeMap::new();
    for mut entries in blocks {
        entries.sort_by_key(|entry| entry.game);
        let Some(number) = entries.first().map(|entry| entry.block.saturating_sub(1)) else { continue };
        let round = match header.format {
            Some(_) => (number, 0),
            None => (number / pairings / maps, number % pairings),
        };
        rounds.entry(round).or_default().extend(entries);
    }
    rounds.into_values().collect()
}

/// What tells bots apart: label and content.
fn name(bot: &BotId) -> String {
    format!("{}\n{}", bot.label, bot.hash)
}

/// Everything about one game under one set of rules.
pub struct Rated {
    /// The game's title.
    pub title: String,
    /// The name of the rules.
    pub rules: String,
    pub ratings: RatingTable,
    /// Who met whom, and how it went.
    pub cross: CrossTable,
}

/// Rates the bots of each game and set of rules.
pub fn tables(read: &Read, how: &How) -> Result<Vec<Rated>, Failure> {
    // A label is shown alone if it stands for only one bot.
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for bot in read.journals.iter().flat_map(|(header, _)| &header.bots) {
        versions.entry(&bot.label).or_default().insert(&bot.hash);
    }
    let shown = |name: &str| -> String {
        let (label, hash) = name.split_once('\n').unwrap_or((name, ""));
        match versions.get(label).map_or(0, BTreeSet::len) {
            0 | 1 => label.to_owned(),
            _ => format!("{label} #{}", hash.get(..6).unwrap_or(hash)),
        }
    };
    let (mut sorted, mut titles) = (BTreeMap::new(), BTreeMap::new());
    for (header, blocks) in &read.journals {
        let key = TableKey { game: header.game.clone(), rules: header.rules.hash };
        titles.entry(key.clone()).or_insert_with(|| header.rules.name.clone());
        let results: &mut Results = sorted.entry(key.clone()).or_insert_with(|| Results::new(key.clone()));
        for block in blocks {
            let matches = block.matches.iter().map(|game| Match {
                bots: game.bots.iter().map(|bot| shown(bot)).collect(),
                ranks: game.ranks.clone(),
            });
            let block = MatchBlock { matches: matches.collect(), ..*block };
            results.push(&key, block).map_err(|error| Failure::usage(error.to_string()))?;
        }
    }
    sorted.retain(|_, results| results.blocks().next().is_some());
    let known: BTreeSet<&str> = sorted.values().flat_map(Results::bots).collect();
    how.check(&known.into_iter().collect::<Vec<_>>())?;
    let rated = sorted.iter().map(|(key, results)| {
        let ratings = agon_stats::rate(results, &how.among(&results.bots()))
            .map_err(|error| Failure::usage(format!("{}: {error}", key.game)))?;
        let game = agon_games::find(&key.game).map_or(key.game.as_str(), |game| game.info().title);
        // In the order of the ratings above it, so that a number means the same bot in both.
        let cross = CrossTable::new(results).in_order_of(ratings.bots.iter().map(|bot| bot.bot.as_str()));
        Ok(Rated { title: game.to_owned(), rules: titles[key].clone(), ratings, cross })
    });
    rated.collect()
}

pub fn json(rated: &Rated) -> json::Table<'_> {
    json::Table { rules: &rated.rules, ratings: &rated.ratings, cross_table: &rated.cross }
}

/// Prints a table for people.
pub fn show(out: &mut impl Write, screen: Screen, rated: &Rated) -> io::Result<()> {
    let Rated { title, rules, ratings, cross: all } = rated;
    let repeats = match ratings.repeats {
        0 => String::new(),
        repeats => format!(
            " · {} of them only repeat what the same bots played from the same start and make nothing more certain",
            thousands(repeats)
        ),
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
        .numbers("above the next", 0);
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
        if number < 0.0 && !is_zero { format!("−{text}") } else { text }
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
fn csv(out: &mut impl Write, tables: &[Rated]) -> io::Result<()> {
    writeln!(out, "game,rules,rules_hash,rank,bot,elo,low,high,matches,score,group")?;
    for rated in tables {
        let mut place = 0;
        let mut group = 0;
        for bot in &rated.ratings.bots {
            place = if bot.group == group { place + 1 } else { 1 };
            group = bot.group;
            let row = rated.cross.bots.iter().position(|name| *name == bot.bot);
            let score = row.and_then(|row| rated.cross.totals[row].score());
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
