//! `agon rate`: ratings of all bots, from journals alone.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::PathBuf;

use agon_contest::{BotId, Entry, Header, journal, standing};
use agon_stats::{CrossTable, Match, MatchBlock, Options, RatingTable, Results, TableKey};
use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use serde_json::{Value, json};

use crate::common::folders::JOURNAL;
use crate::common::screen::{self, Screen};
use crate::common::{self, Done, Failure};
use crate::series::progress::{thousands, whole};

/// Examples for the help.
pub const EXAMPLES: &str =
    "The table depends on the results alone, not on their order. Results of another game or under other rules
stand in a table of their own. What the numbers mean: docs/statistics.md.

Examples:
  agon rate agon-series/cultist-wars-tournament-1
  agon rate agon-series/*                              everything ever played here
  agon rate mine.jsonl theirs.jsonl --csv > ratings.csv
  agon rate agon-series/cultist-wars-tournament-1 --html site";

/// Samples of the bootstrap unless told otherwise.
const USUAL_SAMPLES: u32 = 200;

/// Options of `agon rate`.
#[derive(Args, Debug)]
pub struct RateOptions {
    /// Journals, or folders of series
    #[arg(required = true, value_name = "JOURNAL")]
    pub journals: Vec<PathBuf>,
    /// How often the tournament is imagined again for the second interval; 0 for never
    #[arg(long, value_name = "N", default_value_t = USUAL_SAMPLES)]
    pub bootstrap: u32,
    /// Standard deviation, in Elo, of the prior; 0 for none
    #[arg(long, value_name = "ELO", default_value_t = 1000.0)]
    pub prior: f64,
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
pub struct How(Options);

impl Default for How {
    fn default() -> Self {
        Self(Options { bootstrap_samples: USUAL_SAMPLES, ..Options::default() })
    }
}

/// Runs `agon rate`.
pub fn run(options: &RateOptions) -> Done {
    if options.bootstrap > 100_000 {
        return Err(Failure::usage("--bootstrap: at most 100000"));
    }
    let paths: Vec<PathBuf> = options
        .journals
        .iter()
        .map(|path| if path.is_dir() { path.join(JOURNAL) } else { path.clone() })
        .collect();
    let read = read(&paths)?;
    for note in &read.notes {
        eprintln!("note: {note}");
    }
    if read.is_empty() {
        return Err(Failure::usage("these journals hold no finished block; there is nothing to rate"));
    }
    let prior = (options.prior != 0.0).then_some(options.prior);
    let how = How(Options { prior_sd: prior, bootstrap_samples: options.bootstrap, ..Options::default() });
    let tables = tables(&read, &how)?;
    if let Some(folder) = &options.html {
        crate::series::site::write(folder, &tables, &paths)?;
    }
    let mut out = io::stdout().lock();
    if options.json {
        let tables: Vec<Value> = tables.iter().map(json).collect();
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
    /// What the user should know.
    pub notes: Vec<String>,
}

impl Read {
    /// Whether there is no finished block at all.
    pub fn is_empty(&self) -> bool {
        self.journals.iter().all(|(_, blocks)| blocks.is_empty())
    }
}

/// Reads journals. Blocks count as in the series itself: those before the first that is not whole.
pub fn read(paths: &[PathBuf]) -> Result<Read, Failure> {
    let mut read = Read { journals: Vec::new(), notes: Vec::new() };
    let mut known = BTreeSet::new();
    for path in paths {
        let own = path.canonicalize().unwrap_or_else(|_| path.clone());
        if !known.insert(own) {
            read.notes.push(format!("{} was named twice and counts once", path.display()));
            continue;
        }
        let mut blocks: BTreeMap<u64, Vec<Entry>> = BTreeMap::new();
        let past = journal::read(path, |entry| blocks.entry(entry.block).or_default().push(entry))
            .map_err(|error| Failure::usage(error.to_string()))?;
        let games = past.header.plan(None).games() as usize;
        let whole: Vec<Vec<Entry>> = (1..)
            .map_while(|number| blocks.remove(&number).filter(|entries| entries.len() == games))
            .collect();
        let left_out = past.entries - (whole.len() * games) as u64;
        if left_out > 0 {
            read.notes.push(format!(
                "{}: {} of blocks that are not whole, or stand behind such a block, do not count",
                path.display(),
                journal::count(left_out as usize, "match", "matches")
            ));
        }
        if past.torn {
            read.notes.push(format!("{}: its last line was not whole and does not count", path.display()));
        }
        let blocks = whole.into_iter().map(|mut entries| {
            entries.sort_by_key(|entry| entry.game);
            let label = |bot: &usize| name(&past.header.bots[*bot]);
            let matches = entries.iter().map(|entry| Match {
                bots: entry.bots.iter().map(label).collect(),
                ranks: entry.ranks.clone(),
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
    let clocks: BTreeSet<&str> = read.journals.iter().map(|(header, _)| header.clock.as_str()).collect();
    if clocks.len() > 1 {
        let clocks = clocks.into_iter().collect::<Vec<_>>().join(", ");
        read.notes.push(format!("these journals were played under different clocks: {clocks}"));
    }
    Ok(read)
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
    /// The ratings.
    pub ratings: RatingTable,
    /// Who met whom, and how it went.
    pub cross: CrossTable,
}

/// Rates the bots of each game and set of rules.
pub fn tables(read: &Read, how: &How) -> Result<Vec<Rated>, Failure> {
    // A label is shown alone where it means one bot only.
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
    let rated =
        sorted.into_iter().filter(|(_, results)| results.blocks().next().is_some()).map(|(key, results)| {
            let ratings = agon_stats::rate(&results, how.0)
                .map_err(|error| Failure::usage(format!("{}: {error}", key.game)))?;
            let game = agon_games::find(&key.game).map_or(key.game.as_str(), |game| game.info().title);
            // In the order of the ratings above it, so that a number is the same bot in both.
            let cross =
                CrossTable::new(&results).in_order_of(ratings.bots.iter().map(|bot| bot.bot.as_str()));
            Ok(Rated { title: game.to_owned(), rules: titles[&key].clone(), ratings, cross })
        });
    rated.collect()
}

/// A table as JSON.
pub fn json(rated: &Rated) -> Value {
    json!({ "rules": rated.rules, "ratings": rated.ratings, "cross_table": rated.cross })
}

/// Prints a table for people.
pub fn show(out: &mut impl Write, screen: Screen, rated: &Rated) -> io::Result<()> {
    let Rated { title, rules, ratings, cross } = rated;
    let repeats = match ratings.repeats {
        0 => String::new(),
        repeats => format!(
            " · {} blocks only repeat what the same bots played from the same start and do not count",
            thousands(repeats)
        ),
    };
    let title = format!(
        "{title} · {rules} · {} matches in {} blocks{repeats}",
        thousands(ratings.matches),
        thousands(ratings.blocks)
    );
    writeln!(out, "{}\n", screen.strong(&title))?;
    let bootstrap = ratings.bots.iter().any(|bot| bot.bootstrap.is_some());
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let mut head = vec!["rank", "bot", "Elo", "95 %"];
    head.extend(bootstrap.then_some("95 % by bootstrap"));
    head.extend(["matches", "score", "above the next"]);
    let columns = head.len();
    table.set_header(head);
    for (place, bot) in ratings.bots.iter().enumerate() {
        let interval =
            |interval: &agon_stats::Interval| format!("{} to {}", whole(interval.low), whole(interval.high));
        let score =
            cross.bots.iter().position(|name| *name == bot.bot).and_then(|row| cross.totals[row].score());
        let mut row = vec![
            (place + 1).to_string(),
            screen::harmless(&bot.bot),
            whole(bot.elo),
            interval(&bot.interval),
        ];
        if bootstrap {
            row.push(bot.bootstrap.as_ref().map_or_else(|| "–".to_owned(), interval));
        }
        row.push(thousands(bot.matches));
        row.push(score.map_or_else(|| "–".to_owned(), |score| format!("{:.1} %", score * 100.0)));
        let above = ratings.superiority[place].get(place + 1);
        row.push(above.map_or_else(String::new, |above| format!("{:.1} %", above * 100.0)));
        table.add_row(row);
    }
    for column in (0..columns).filter(|column| *column != 1) {
        table.column_mut(column).expect("a column of ours").set_cell_alignment(CellAlignment::Right);
    }
    writeln!(out, "{}\n", table.trim_fmt())?;
    if !ratings.unconnected.is_empty() {
        let groups: Vec<String> = ratings.unconnected.iter().map(|group| group.join(", ")).collect();
        let groups = screen::harmless(&groups.join(" | "));
        writeln!(out, "These groups never met, so that their ratings cannot be compared: {groups}\n")?;
    }
    cross_table(out, cross)
}

/// The cross table, where it is narrow enough to be read.
fn cross_table(out: &mut impl Write, cross: &CrossTable) -> io::Result<()> {
    const WIDEST: usize = 12;
    if !(3..=WIDEST).contains(&cross.bots.len()) {
        return Ok(());
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let numbers = (1..=cross.bots.len()).map(|number| number.to_string());
    table.set_header(["ahead-level-behind".to_owned()].into_iter().chain(numbers));
    for (row, cells) in cross.cells.iter().enumerate() {
        let cells =
            cells.iter().enumerate().map(|(column, cell)| match row == column || cell.meetings() == 0 {
                true => "·".to_owned(),
                false => format!("{}-{}-{}", cell.ahead, cell.level, cell.behind),
            });
        let own = format!("{} {}", row + 1, screen::harmless(&cross.bots[row]));
        table.add_row([own].into_iter().chain(cells));
    }
    for column in 1..=cross.bots.len() {
        table.column_mut(column).expect("a column of ours").set_cell_alignment(CellAlignment::Right);
    }
    writeln!(out, "{}\n", table.trim_fmt())
}

/// The ratings as CSV, one row a bot.
fn csv(out: &mut impl Write, tables: &[Rated]) -> io::Result<()> {
    writeln!(out, "game,rules,rules_hash,rank,bot,elo,low,high,bootstrap_low,bootstrap_high,matches,score")?;
    for rated in tables {
        for (place, bot) in rated.ratings.bots.iter().enumerate() {
            let row = rated.cross.bots.iter().position(|name| *name == bot.bot);
            let score = row.and_then(|row| rated.cross.totals[row].score());
            let number =
                |number: Option<f64>| number.map_or_else(String::new, |number| format!("{number:.4}"));
            let key = &rated.ratings.key;
            writeln!(
                out,
                "{},{},{},{},{},{:.4},{:.4},{:.4},{},{},{},{}",
                quoted(&key.game),
                quoted(&rated.rules),
                key.rules,
                place + 1,
                quoted(&bot.bot),
                bot.elo,
                bot.interval.low,
                bot.interval.high,
                number(bot.bootstrap.map(|interval| interval.low)),
                number(bot.bootstrap.map(|interval| interval.high)),
                bot.matches,
                number(score)
            )?;
        }
    }
    Ok(())
}

/// A field of CSV. One that a spreadsheet would take for a formula is made harmless.
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
