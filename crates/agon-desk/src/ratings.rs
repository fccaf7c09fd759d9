//! Ratings of all bots, from journals alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use agon_contest::{BotId, Entry, JournalHeader, journal, standing};
use agon_stats::{CrossTable, MatchBlock, Options, RankedMatch, RatingTable, Results, TableKey};
use serde::Serialize;

use crate::DeskError;
use crate::words::harmless;

/// Bots with a given rating, so that tables stay comparable.
#[derive(Default)]
pub struct Anchors {
    /// By label.
    anchors: Vec<(String, f64)>,
    /// Whether an anchor may be missing.
    lenient: bool,
}

impl Anchors {
    /// These, each `BOT=ELO`.
    ///
    /// # Errors
    /// When one is written otherwise, or given twice.
    pub fn new(anchors: &[String]) -> Result<Self, DeskError> {
        let anchor = |text: &String| {
            let (bot, elo) = text.rsplit_once('=').filter(|(bot, _)| !bot.is_empty())?;
            let elo: f64 = elo.parse().ok().filter(|elo: &f64| elo.abs() <= 10_000.0)?;
            Some((bot.to_owned(), elo))
        };
        let anchors = anchors.iter().map(|text| {
            anchor(text).ok_or_else(|| {
                let wanted = "write BOT=ELO, for example --anchor greedy=1500 (-10000 to 10000)";
                DeskError::Impossible(format!("--anchor {text}: {wanted}"))
            })
        });
        let how = Self { anchors: anchors.collect::<Result<_, _>>()?, lenient: false };
        for (place, (bot, _)) in how.anchors.iter().enumerate() {
            if how.anchors[..place].iter().any(|(earlier, _)| earlier == bot) {
                return Err(DeskError::Impossible(format!("--anchor {bot}: given twice")));
            }
        }
        Ok(how)
    }

    /// Refuses an anchor that is not one of these bots.
    ///
    /// # Errors
    /// When there is one.
    pub fn check(&self, bots: &[&str]) -> Result<(), DeskError> {
        match self.anchors.iter().find(|(anchor, _)| !bots.contains(&anchor.as_str())) {
            _ if self.lenient => Ok(()),
            None => Ok(()),
            Some((anchor, _)) => Err(DeskError::Impossible(format!(
                "--anchor {anchor}: not in the table; its bots are {}",
                harmless(&bots.join(", "))
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

/// What was read from journals.
pub struct JournalBlocks {
    journals: Vec<(JournalHeader, Vec<MatchBlock>)>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

impl JournalBlocks {
    /// Whether there is no finished block at all.
    pub fn is_empty(&self) -> bool {
        self.journals.iter().all(|(_, blocks)| blocks.is_empty())
    }

    /// The headers of the journals, in the order of their names.
    pub fn headers(&self) -> impl Iterator<Item = &JournalHeader> {
        self.journals.iter().map(|(header, _)| header)
    }
}

/// Reads journals. Blocks count as in the series itself: up to the first incomplete one.
///
/// # Errors
/// When one cannot be read.
pub fn read(paths: &[PathBuf]) -> Result<JournalBlocks, DeskError> {
    let mut read = JournalBlocks { journals: Vec::new(), notes: Vec::new() };
    let (mut known, mut identities) = (BTreeSet::new(), BTreeSet::new());
    for path in paths {
        let own = path.canonicalize().unwrap_or_else(|_| path.clone());
        if !known.insert(own) {
            read.notes.push(format!("{} was named twice and counts once", path.display()));
            continue;
        }
        let mut blocks: BTreeMap<u64, Vec<Entry>> = BTreeMap::new();
        let past = journal::read(path, |entry| blocks.entry(entry.block).or_default().push(entry))
            .map_err(|error| DeskError::Impossible(error.to_string()))?;
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
            let why = match left_out {
                1 => "1 match does not count, because its block, or an earlier one, is incomplete".to_owned(),
                _ => format!(
                    "{left_out} matches do not count, because their blocks, or earlier ones, are incomplete"
                ),
            };
            read.notes.push(format!("{}: {why}", path.display()));
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
            let matches = entries.iter().map(|entry| RankedMatch {
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
fn rounds(header: &JournalHeader, blocks: Vec<Vec<Entry>>) -> Vec<Vec<Entry>> {
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

/// A table of ratings: `agon rate --json` prints a list of these.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS), ts(rename = "Table"))]
#[expect(missing_docs, reason = "the other fields are named after what they are")]
pub struct RatedGame {
    /// The game's title.
    #[serde(skip)]
    pub title: String,
    pub rules: String,
    pub ratings: RatingTable,
    pub cross_table: CrossTable,
}

/// Rates the bots of each game and set of rules.
///
/// # Errors
/// When an anchor is not in the tables, or the results do not fit together.
pub fn tables(read: &JournalBlocks, anchors: &Anchors) -> Result<Vec<RatedGame>, DeskError> {
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
            let matches = block.matches.iter().map(|game| RankedMatch {
                bots: game.bots.iter().map(|bot| shown(bot)).collect(),
                ranks: game.ranks.clone(),
            });
            let block = MatchBlock { matches: matches.collect(), ..*block };
            results.push(&key, block).map_err(|error| DeskError::Impossible(error.to_string()))?;
        }
    }
    sorted.retain(|_, results| results.blocks().next().is_some());
    let known: BTreeSet<&str> = sorted.values().flat_map(Results::bots).collect();
    anchors.check(&known.into_iter().collect::<Vec<_>>())?;
    let rated = sorted.iter().map(|(key, results)| {
        let ratings = agon_stats::rate(results, &anchors.among(&results.bots()))
            .map_err(|error| DeskError::Impossible(format!("{}: {error}", key.game)))?;
        let game = agon_games::find(&key.game).map_or(key.game.as_str(), |game| game.info().title);
        // In the order of the ratings above it, so that a number means the same bot in both.
        let cross_table =
            CrossTable::new(results).in_order_of(ratings.bots.iter().map(|bot| bot.bot.as_str()));
        Ok(RatedGame { title: game.to_owned(), rules: titles[key].clone(), ratings, cross_table })
    });
    rated.collect()
}
