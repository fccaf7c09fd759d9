//! The journal: every finished match, one JSON line each.
//!
//! Longer than 500 lines: the format is read, written and checked in one place, with its tests.
//!
//! The first line is the [`JournalHeader`], each further line an [`Entry`]. A match counts only after its line was handed to the
//! operating system in one write, so nothing that happens to this program (`kill -9` included) loses a match that was
//! counted. In case the whole machine stops, the file is forced to the disk every second ([`Journal::sync`]) and when a
//! series ends: at most a second of matches must then be played again, and none is ever counted twice, because each line
//! says which match it is. A last line without its end is what a killed write leaves; it is dropped.
//!
//! Each match has an identity ([`Entry::id`]), drawn when it is made: it counts once, in whatever journals its line turns up.
//! Each line ends with its `chain`: the XXH3-64 of the line without this key, with the chain before it as seed; that of the
//! header is of the whole line, with seed 0. So a line that was changed, left out or moved by hand is noticed. That is no
//! proof against somebody who computes the chain anew; it is against mistakes and quick edits.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek as _, Write as _};
use std::path::{Component, Path, PathBuf};

use agon_api::result::{self, Fields, MatchResult, Proven};
use agon_bot::advised::NextCommand;
use agon_game::setup::seed_as_string;
use agon_game::{Outcome, RulesName};
use agon_spec::{MapSpec, MatchSpec, Ponder, RecordedClock, RulesSpec, spec};
use agon_stats::RulesHash;
use serde::de::{Deserializer, Error as _, MapAccess};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::format::{FormatId, FormatSpec, Schedule};
use crate::plan::{self, Plan, SeriesKind};
use crate::whole;

/// The version of the format. Version 3 adds identities of matches and the chain of lines.
pub const FORMAT: u32 = 3;
/// The longest line, in bytes; a longer one is damage.
const LONGEST_LINE: usize = 1 << 20;

/// The first line: everything that must stay the same for a series to be resumed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalHeader {
    /// The version of the format.
    pub agon_journal: u32,
    /// The program that wrote it.
    pub program: String,
    /// When the series began, in seconds since 1970.
    pub started: u64,
    /// The version of the plan: who sits where.
    #[serde(default)]
    pub plan: u32,
    /// The format of a tournament other than round robin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<FormatId>,
    /// The kind of series.
    pub kind: SeriesKind,
    pub game: String,
    /// The version of the game's rules.
    pub rules_version: u32,
    pub rules: RulesId,
    /// The maps, in the order in which rounds take them.
    pub maps: Vec<MapId>,
    /// Seats in a match.
    pub seats: u8,
    /// The bots; entries refer to them by index.
    pub bots: Vec<BotId>,
    /// The seed of the first round.
    #[serde(with = "seed_as_string")]
    pub seed: i64,
    /// The clock the bots play with; in the file, its words.
    pub clock: RecordedClock,
    /// What happens to a bot that computes in its opponent's time.
    pub ponder: Ponder,
    /// The test, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<TestId>,
    /// Options for `agon play` that play a match under the same conditions, for readers of the journal.
    #[serde(default)]
    pub options: Vec<String>,
}

/// Rules, and how to tell whether they changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RulesId {
    /// The preset or file, with any changes to it.
    pub name: String,
    /// A hash of all rules and their version.
    pub hash: RulesHash,
    /// The full rules, so that a change can be shown.
    pub text: String,
}

/// A map, and how to tell whether it changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct MapId {
    /// What the user asked for; empty for the game's default.
    pub name: String,
    /// A hash of its content.
    pub hash: String,
}

/// A bot, and how to tell whether it changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct BotId {
    /// As the user named it.
    pub bot: String,
    /// The name by which `agon play` finds it, if different.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub play: Option<String>,
    /// A short name.
    pub label: String,
    /// A hash of its content.
    pub hash: String,
}

impl BotId {
    /// The name to use on a command line.
    pub fn command_name(&self) -> &str {
        self.play.as_deref().unwrap_or(&self.bot)
    }
}

/// A test's hypotheses and error rates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct TestId {
    /// The model.
    pub model: agon_stats::Model,
    /// The hypothesis H0.
    pub elo0: f64,
    /// The hypothesis H1.
    pub elo1: f64,
    /// The probability of accepting H1 wrongly.
    pub alpha: f64,
    /// The probability of accepting H0 wrongly.
    pub beta: f64,
}

/// A finished match: its place in the series, and its result.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Entry {
    /// The identity of the match, drawn when it was made: 16 hexadecimal digits.
    pub id: MatchId,
    /// The block, from 1.
    pub block: u64,
    /// The match in the block, from 1.
    pub game: u32,
    #[serde(with = "seed_as_string")]
    pub seed: i64,
    /// The map played.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub map: String,
    /// The bot in each seat, by index in the header, from 0.
    pub bots: Vec<usize>,
    #[serde(flatten)]
    pub result: MatchResult,
    /// How many tries it took because the machine was late, where more than one.
    #[serde(skip_serializing_if = "is_once")]
    pub tries: u32,
    /// The replay, relative to the journal, if it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
}

impl Fields for Entry {
    fn take<'de, A: MapAccess<'de>>(&mut self, key: &str, object: &mut A) -> Result<bool, A::Error> {
        match key {
            "id" => self.id = object.next_value()?,
            "block" => self.block = object.next_value()?,
            "game" => self.game = object.next_value()?,
            "seed" => {
                let seed: String = object.next_value()?;
                self.seed = seed.parse().map_err(A::Error::custom)?;
            }
            "map" => self.map = object.next_value()?,
            "bots" => self.bots = object.next_value()?,
            "tries" => self.tries = object.next_value()?,
            "replay" => self.replay = object.next_value()?,
            _ => return self.result.take(key, object),
        }
        Ok(true)
    }
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        result::read(Self { tries: 1, ..Self::default() }, from)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_once(tries: &u32) -> bool {
    *tries == 1
}

impl Entry {
    /// Where the replay of this match is; none when it was not kept.
    ///
    /// # Errors
    /// When its path leads elsewhere than beside the journal: a journal may come from anybody, and must not make us read
    /// other files.
    pub fn kept_beside(&self, journal: &Path) -> Result<Option<PathBuf>, String> {
        let Some(kept) = self.replay.as_deref().map(Path::new) else { return Ok(None) };
        if !kept.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(format!("{}: not a file beside the journal", kept.display()));
        }
        Ok(Some(journal.with_file_name("").join(kept)))
    }

    /// The hash of all answers.
    pub fn fingerprint(&self) -> u64 {
        u64::from_str_radix(&self.result.proven.answers, 16).unwrap_or(0)
    }
}

/// The identity of a match, written as 16 hexadecimal digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MatchId(pub u64);

impl MatchId {
    /// A new one.
    pub fn fresh() -> Self {
        let mut bytes = [0; 8];
        if getrandom::fill(&mut bytes).is_err() {
            // The time tells matches of one machine apart.
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
            bytes = (now.as_nanos() as u64 ^ u64::from(std::process::id()) << 40).to_le_bytes();
        }
        Self(u64::from_le_bytes(bytes))
    }
}

impl std::fmt::Display for MatchId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl Serialize for MatchId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for MatchId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        hexadecimal(&text).map(Self).ok_or_else(|| {
            serde::de::Error::custom(format!(
                "the identity of a match is 16 hexadecimal digits, not `{text}`"
            ))
        })
    }
}

/// The number of 16 hexadecimal digits.
fn hexadecimal(text: &str) -> Option<u64> {
    let digits = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    digits.then(|| u64::from_str_radix(text, 16).ok()).flatten()
}

/// The chain of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Chain(u64);

/// How a chained line ends, but for the digits and the last two bytes.
const CHAIN: &[u8] = b",\"chain\":\"";

impl Chain {
    /// The chain after a header, which is one line with its end.
    fn of_header(line: &[u8]) -> Self {
        Self(xxh3_64_with_seed(line.trim_ascii_end(), 0))
    }

    /// Ends a line, an object without its chain, and goes on from it.
    fn close(&mut self, line: &mut Vec<u8>) {
        self.0 = xxh3_64_with_seed(line, self.0);
        line.pop();
        line.extend_from_slice(CHAIN);
        line.extend_from_slice(format!("{:016x}\"}}\n", self.0).as_bytes());
    }

    /// Takes the chain off a line that was read, and goes on from it; the error is a sentence.
    fn open(&mut self, line: &mut Vec<u8>) -> Result<(), String> {
        const NONE: &str = "it does not end with its chain: it was changed by hand, or is not whole";
        let text = line.trim_ascii_end();
        let digits = text.strip_suffix(b"\"}").filter(|text| text.len() >= 16 + CHAIN.len()).ok_or(NONE)?;
        let (body, digits) = digits.split_at(digits.len() - 16);
        let body = body.strip_suffix(CHAIN).ok_or(NONE)?.len();
        let given = std::str::from_utf8(digits).ok().and_then(hexadecimal).ok_or(NONE)?;
        line.truncate(body);
        line.push(b'}');
        self.0 = xxh3_64_with_seed(line, self.0);
        match self.0 == given {
            true => Ok(()),
            false => Err("its chain does not continue the line before it: one of the two was changed, left out or moved \
                          after it was written"
                .to_owned()),
        }
    }
}

/// A match that could not be played fairly, after all its tries.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VoidEntry {
    /// The block, from 1.
    pub block: u64,
    /// The match in the block, from 1.
    pub game: u32,
    #[serde(with = "seed_as_string")]
    pub seed: i64,
    /// The bot in each seat, by index in the header, from 0.
    pub bots: Vec<usize>,
    /// What happened on the last try.
    pub why: String,
    /// The bot that kept the others from being asked fairly, by index in the header; none when it was other load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub culprit: Option<usize>,
    /// The number of tries.
    pub tries: u32,
}

/// The journal line of a void match.
#[derive(Serialize, Deserialize)]
struct VoidLine {
    void: VoidEntry,
}

/// How such a line begins.
const VOID_LINE: &[u8] = b"{\"void\":";

/// Why a journal cannot be used.
#[derive(Debug, Error)]
pub enum JournalError {
    /// The system refused.
    #[error("journal {0}: {1}")]
    Io(PathBuf, #[source] io::Error),
    /// It already exists.
    #[error("journal {0} already exists: add --resume to continue it, or name another one")]
    Exists(PathBuf),
    /// Another program writes to it.
    #[error("journal {0} is being written by another agon; wait for it, or stop it")]
    Busy(PathBuf),
    /// It is something else.
    #[error("{0} is not a journal of agon: {1}")]
    Foreign(PathBuf, String),
    /// A line is not what it should be.
    #[error(
        "journal {path}, line {line}: {why}\n  what comes before it ({before}) is whole; to continue with that: \
         head -n {keep} {path} > repaired.jsonl",
        path = path.display(),
        before = count(line.saturating_sub(2), "match", "matches"),
        keep = line - 1
    )]
    Damaged {
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        why: String,
    },
}

/// `1 match`, `2 matches`.
pub fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

impl JournalHeader {
    /// The plan. The number of rounds is not part of a journal, so that a series can be extended.
    pub fn plan(&self, rounds: Option<u64>) -> Plan {
        Plan {
            free: self.format.is_some(),
            kind: self.kind,
            seats: self.seats,
            bots: self.bots.len(),
            maps: self.maps.len(),
            first_seed: self.seed,
            rounds,
        }
    }

    /// Groups of bots that are copies of one another: same content, same name.
    pub fn copies(&self) -> Vec<Vec<usize>> {
        let mut groups: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
        for (number, bot) in self.bots.iter().enumerate() {
            groups.entry((&bot.bot, &bot.hash)).or_default().push(number);
        }
        groups.into_values().filter(|group| group.len() > 1).collect()
    }

    /// How to play this match again under the same conditions.
    pub fn spec(&self, entry: &Entry) -> MatchSpec {
        self.spec_of(entry.block, entry.seed, &entry.bots)
    }

    /// The same for a match of this block, with this seed and these bots.
    pub fn spec_of(&self, block: u64, seed: i64, bots: &[usize]) -> MatchSpec {
        let plan = self.plan(None);
        let map = match plan.free {
            true => Some(plan.free_block(block, &[])),
            false => plan.block(block, &plan.pairings()),
        };
        let map = map.and_then(|block| self.maps.get(block.map));
        let rules = RulesName::parse(&self.rules.name);
        let game = agon_games::find(&self.game);
        let bots = bots.iter().map(|&bot| self.bots[bot].command_name().to_owned());
        MatchSpec {
            rules: game.map_or_else(
                || RulesSpec::from(rules.base.as_str()),
                |game| spec::preset(game.info(), rules.base.clone()),
            ),
            sets: rules.sets,
            map: map.map_or(MapSpec::Default, |map| MapSpec::from(map.name.as_str())),
            seed: Some(seed),
            clock: self.clock.clock(),
            ponder: self.ponder,
            ..MatchSpec::new(&self.game, bots)
        }
    }

    /// The command that plays this match again.
    pub fn command(&self, entry: &Entry) -> String {
        self.command_of(entry.block, entry.seed, &entry.bots)
    }

    /// The same for a match of this block, with this seed and these bots.
    pub fn command_of(&self, block: u64, seed: i64, bots: &[usize]) -> String {
        self.spec_of(block, seed, bots).command().unwrap_or_default()
    }

    /// What differs in `now`, in sentences; empty when the series may be resumed.
    pub fn changes(&self, now: &Self) -> Vec<String> {
        let mut changes = Vec::new();
        let mut plain = |what: &str, was: &dyn ToString, is: &dyn ToString| {
            let (was, is) = (was.to_string(), is.to_string());
            if was != is {
                changes.push(format!("{what}: was {was}, is {is}"));
            }
        };
        plain("command", &self.kind.word(), &now.kind.word());
        plain("game", &self.game, &now.game);
        plain("seats", &self.seats, &now.seats);
        plain("seed", &self.seed, &now.seed);
        plain("clock", &self.clock, &now.clock);
        plain("ponder", &self.ponder, &now.ponder);
        plain("number of bots", &self.bots.len(), &now.bots.len());
        plain("number of maps", &self.maps.len(), &now.maps.len());
        let format = |header: &Self| match &header.format {
            None => "round-robin".to_owned(),
            Some(format) => serde_json::to_string(format).unwrap_or_default(),
        };
        plain("format", &format(self), &format(now));
        if let (Some(was), Some(is)) = (&self.test, &now.test) {
            plain("model", &was.model, &is.model);
            plain("elo0", &was.elo0, &is.elo0);
            plain("elo1", &was.elo1, &is.elo1);
            plain("alpha", &was.alpha, &is.alpha);
            plain("beta", &was.beta, &is.beta);
        }
        for (number, (was, is)) in self.bots.iter().zip(&now.bots).enumerate() {
            let number = number + 1;
            if was.bot != is.bot {
                changes.push(format!("bot {number}: was `{}`, is `{}`", was.bot, is.bot));
            } else if was.hash != is.hash {
                let now_names = match (&was.play, &is.play) {
                    (Some(was), Some(is)) if was != is => format!(" (it was {was}, it is {is})"),
                    _ => format!(" (content was {}, is {})", was.hash, is.hash),
                };
                changes.push(format!("bot {number}, `{}`, has changed{now_names}", is.bot));
            }
        }
        if self.game == now.game && self.rules.hash != now.rules.hash {
            changes.push(rules_changed(self, now));
        }
        for (was, is) in self.maps.iter().zip(&now.maps) {
            let shown = |map: &MapId| match map.name.as_str() {
                "" => "the game's default".to_owned(),
                name => format!("`{name}`"),
            };
            if was.name != is.name {
                changes.push(format!("map: was {}, is {}", shown(was), shown(is)));
            } else if was.hash != is.hash && self.game == now.game {
                changes.push(format!("map {} has different content", shown(is)));
            }
        }
        changes
    }

    fn check(&self) -> Result<(), String> {
        if (self.agon_journal, self.plan) != (FORMAT, plan::VERSION) {
            let is_later = self.agon_journal > FORMAT || self.plan > plan::VERSION;
            return Err(format!(
                "it has format {} and plan {}, and this agon reads {FORMAT} and {}; {}",
                self.agon_journal,
                self.plan,
                plan::VERSION,
                match is_later {
                    true => "update agon".to_owned(),
                    false => format!(
                        "read it with the agon that wrote it, {}, or begin a new series",
                        self.program
                    ),
                }
            ));
        }
        if self.seats > agon_game::Seat::MAX || self.bots.len() > 10_000 {
            return Err(format!("it has {} seats and {} bots", self.seats, self.bots.len()));
        }
        self.plan(None).check()?;
        let Some(format) = &self.format else { return Ok(()) };
        let all: BTreeSet<usize> = format.seeding.iter().copied().collect();
        if format.seeding.len() != self.bots.len() || !all.into_iter().eq(0..self.bots.len()) {
            return Err("its seeding does not name every bot once".to_owned());
        }
        let rated = if matches!(format.form, FormatSpec::Placement { .. }) { self.bots.len() - 1 } else { 0 };
        if format.ratings.len() != rated {
            return Err(format!("it has {} ratings where {rated} belong", format.ratings.len()));
        }
        Schedule::new(format, self.bots.len(), self.seats).map(drop).map_err(|error| error.to_string())
    }
}

fn rules_changed(was: &JournalHeader, now: &JournalHeader) -> String {
    let value = |text: &str, key: &str| {
        text.lines()
            .find_map(|line| line.split_once('=').filter(|(name, _)| name.trim() == key))
            .map_or_else(|| "absent".to_owned(), |(_, value)| value.trim().to_owned())
    };
    let keys = now.rules.text.lines().chain(was.rules.text.lines()).filter_map(|line| line.split_once('='));
    let keys: BTreeSet<&str> = keys.map(|(key, _)| key.trim()).collect();
    let changed: Vec<String> = keys
        .into_iter()
        .map(|key| (key, value(&was.rules.text, key), value(&now.rules.text, key)))
        .filter(|(_, was, is)| was != is)
        .take(8)
        .map(|(key, was, is)| format!("{key}: was {was}, is {is}"))
        .collect();
    if !changed.is_empty() {
        format!("rules: {}", changed.join("; "))
    } else if was.rules_version != now.rules_version {
        format!("rules: version was {}, is {}", was.rules_version, now.rules_version)
    } else {
        format!("rules: were {}, are {}", was.rules.name, now.rules.name)
    }
}

/// The result of reading a journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Past {
    /// The first line.
    pub header: JournalHeader,
    /// The number of whole entries that followed.
    pub entries: u64,
    /// The matches that stayed void and have not been played since.
    pub voids: Vec<VoidEntry>,
    /// Whether the last line was incomplete; it was left out.
    pub torn: bool,
    /// The length of the whole lines, in bytes.
    whole: u64,
    /// Where the next line goes on.
    chain: Chain,
}

/// Reads only the header.
///
/// # Errors
/// When it is not a journal.
pub fn read_header(path: &Path) -> Result<JournalHeader, JournalError> {
    let failed = |error| JournalError::Io(path.to_owned(), error);
    let mut line = Vec::new();
    let file = BufReader::new(agon_replay::file::open(path).map_err(failed)?);
    io::Read::take(file, LONGEST_LINE as u64).read_until(b'\n', &mut line).map_err(failed)?;
    let foreign =
        |why: String| JournalError::Foreign(path.to_owned(), other_kind(path, &line).unwrap_or(why));
    parse_header(&line).map_err(foreign)
}

/// What a file that is no journal is instead, and what to do with it.
fn other_kind(path: &Path, start: &[u8]) -> Option<String> {
    Some(match start {
        [] => "it is empty".to_owned(),
        [b'P', b'K', 3, 4, ..] => {
            format!(
                "it is an archive; if it is an exported contest, `{}` shows its table",
                NextCommand::Verify.at(path)
            )
        }
        _ if start.starts_with(&agon_replay::MAGIC[..7]) => {
            format!("it is a replay; `{}` shows what happened in it", NextCommand::ReplayInfo.at(path))
        }
        [b'{', ..] => return None,
        _ => "its first line is not that of a series; name the folder of a series, or its journal.jsonl"
            .to_owned(),
    })
}

/// Keys of a header that later programs will write. Who does not know them must not go on with such a series.
const RESERVED: [&str; 4] = ["game_file", "bot_files", "points", "stages"];

/// Reads a first line; the error is a sentence.
fn parse_header(line: &[u8]) -> Result<JournalHeader, String> {
    let value: serde_json::Value = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    if let Some(key) = RESERVED.into_iter().find(|key| value.get(key).is_some()) {
        return Err(format!("a later agon wrote it, with `{key}`; update agon"));
    }
    let header: JournalHeader = serde_json::from_value(value).map_err(|error| error.to_string())?;
    header.check().map(|()| header)
}

/// Reads a journal; `each` gets every whole entry, in the order of the file.
///
/// # Errors
/// When it is not a journal, or is damaged. An incomplete last line is not damage.
pub fn read(path: &Path, each: impl FnMut(Entry)) -> Result<Past, JournalError> {
    let file = agon_replay::file::open(path).map_err(|error| JournalError::Io(path.to_owned(), error))?;
    read_from(path, BufReader::with_capacity(256 << 10, file), each)
}

/// Reads the content of a journal; `path` is for errors.
///
/// # Errors
/// Those of [`read`].
pub fn read_from(
    path: &Path,
    mut file: impl BufRead,
    mut each: impl FnMut(Entry),
) -> Result<Past, JournalError> {
    let mut line = Vec::new();
    let mut next = |line: &mut Vec<u8>| -> Result<bool, JournalError> {
        line.clear();
        let limited = &mut io::Read::take(&mut file, LONGEST_LINE as u64);
        limited.read_until(b'\n', line).map_err(|error| JournalError::Io(path.to_owned(), error))?;
        Ok(line.ends_with(b"\n"))
    };
    let foreign = |why: &str| JournalError::Foreign(path.to_owned(), why.to_owned());
    if !next(&mut line)? {
        return Err(match line.len() {
            0 => foreign("it is empty"),
            LONGEST_LINE => foreign("its first line has no end"),
            _ => foreign(&other_kind(path, &line).unwrap_or_else(|| {
                "its first line is not whole, so no match was finished; start again".to_owned()
            })),
        });
    }
    let header = parse_header(&line).map_err(|why| foreign(&other_kind(path, &line).unwrap_or(why)))?;
    let mut chain = Chain::of_header(&line);
    let follow = agon_games::find(&header.game).is_some_and(|game| game.info().ranks_follow_scores);
    let mut past =
        Past { header, entries: 0, voids: Vec::new(), torn: false, whole: line.len() as u64, chain };
    let plan = past.header.plan(None);
    let pairings = plan.pairings();
    let mut seen: BTreeSet<(u64, u32)> = BTreeSet::new();
    let mut identities: BTreeSet<MatchId> = BTreeSet::new();
    let mut voids: BTreeMap<(u64, u32), VoidEntry> = BTreeMap::new();
    for number in 2.. {
        let whole = next(&mut line)?;
        let damaged = |why: String| JournalError::Damaged { path: path.to_owned(), line: number, why };
        if !whole {
            if line.len() >= LONGEST_LINE {
                return Err(damaged("it has no end".to_owned()));
            }
            past.torn = !line.is_empty();
            break;
        }
        let unreadable = |error| damaged(format!("it cannot be read as a match: {error}"));
        let length = line.len() as u64;
        if line.starts_with(b"{") {
            chain.open(&mut line).map_err(damaged)?;
        }
        if line.starts_with(VOID_LINE) {
            let VoidLine { void } = serde_json::from_slice(&line).map_err(unreadable)?;
            belongs(&plan, &pairings, (void.block, void.game, void.seed, &void.bots)).map_err(damaged)?;
            past.whole += length;
            voids.insert((void.block, void.game), void);
            continue;
        }
        let entry: Entry = serde_json::from_slice(&line).map_err(unreadable)?;
        entry.check(&plan, &pairings).map_err(damaged)?;
        let Proven { ranks, scores, .. } = &entry.result.proven;
        if !Outcome::is_possible(scores, ranks, follow) {
            return Err(damaged(format!(
                "its ranks {ranks:?} do not follow from its scores {scores:?}: one of the two was changed"
            )));
        }
        if !seen.insert((entry.block, entry.game)) {
            return Err(damaged(format!("match {} of block {} appears twice", entry.game, entry.block)));
        }
        if !identities.insert(entry.id) {
            return Err(damaged(format!("match {} appears twice", entry.id)));
        }
        past.whole += length;
        past.entries += 1;
        each(entry);
    }
    past.chain = chain;
    past.voids = voids.into_iter().filter(|(key, _)| !seen.contains(key)).map(|(_, void)| void).collect();
    Ok(past)
}

/// Whether a match with this block, number, seed and bots belongs to the plan.
fn belongs(
    plan: &Plan,
    pairings: &[Vec<usize>],
    (block, game, seed, bots): (u64, u32, i64, &[usize]),
) -> Result<(), String> {
    let same = plan.block_with(block, game, bots, pairings).filter(|planned| planned.seed == seed);
    same.map(drop).ok_or_else(|| format!("match {game} of block {block} is not part of this series"))
}

impl Entry {
    /// Checks that this match belongs to the plan.
    fn check(&self, plan: &Plan, pairings: &[Vec<usize>]) -> Result<(), String> {
        let seats = usize::from(plan.seats);
        let MatchResult { proven, observed } = &self.result;
        belongs(plan, pairings, (self.block, self.game, self.seed, &self.bots))?;
        if self.id == MatchId::default() {
            return Err("it has no identity".to_owned());
        }
        if proven.ranks.len() != seats || proven.scores.len() != seats {
            return Err(format!("a match of {seats} seats needs that many ranks and scores"));
        }
        if hexadecimal(&proven.answers).is_none() {
            return Err(format!("`{}` is not the hash of answers", proven.answers));
        }
        if !proven.start.is_empty() && hexadecimal(&proven.start).is_none() {
            return Err(format!("`{}` is not the hash of a start", proven.start));
        }
        if observed.faults.counted().iter().any(|fault| !(1..=plan.seats).contains(&fault.seat)) {
            return Err("a fault names a seat that does not exist".to_owned());
        }
        if proven.silent.iter().any(|seat| !(1..=plan.seats).contains(seat)) {
            return Err("a seat that does not exist was silent".to_owned());
        }
        if !observed.rejected.is_empty() && observed.rejected.len() != seats {
            return Err(format!("a match of {seats} seats needs that many counts of rejected orders"));
        }
        Ok(())
    }
}

/// A journal open for writing, which keeps everybody else from writing to it.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    line: Vec<u8>,
    chain: Chain,
}

impl Journal {
    /// Creates a journal. It appears with its header or not at all.
    ///
    /// # Errors
    /// When it already exists, or the system refuses.
    pub fn create(path: &Path, header: &JournalHeader) -> Result<Self, JournalError> {
        let failed = |error| JournalError::Io(path.to_owned(), error);
        if path.exists() {
            return Err(JournalError::Exists(path.to_owned()));
        }
        let mut text = serde_json::to_vec(header).map_err(|error| failed(error.into()))?;
        text.push(b'\n');
        let begun = whole::create(path, |file| file.write_all(&text).and_then(|()| file.sync_data()));
        let file = begun.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => JournalError::Exists(path.to_owned()),
            _ => failed(error),
        })?;
        let journal = Self { path: path.to_owned(), file, line: Vec::new(), chain: Chain::of_header(&text) };
        journal.lock()?;
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty())
            && let Ok(folder) = File::open(folder)
        {
            let _ = folder.sync_all();
        }
        Ok(journal)
    }

    /// Opens a journal to continue it; an incomplete last line is cut off.
    ///
    /// # Errors
    /// When it is not a journal, is damaged, or is in use.
    pub fn reopen(path: &Path, each: impl FnMut(Entry)) -> Result<(Self, Past), JournalError> {
        let failed = |error| JournalError::Io(path.to_owned(), error);
        let file = OpenOptions::new().read(true).append(true).open(path).map_err(failed)?;
        let mut journal = Self { path: path.to_owned(), file, line: Vec::new(), chain: Chain::default() };
        journal.lock()?;
        agon_bot::rights::narrow(&journal.file).map_err(failed)?;
        let past = read(path, each)?;
        journal.chain = past.chain;
        if past.torn {
            journal.file.set_len(past.whole).map_err(failed)?;
        }
        (&journal.file).seek(io::SeekFrom::End(0)).map_err(failed)?;
        Ok((journal, past))
    }

    fn lock(&self) -> Result<(), JournalError> {
        rustix::fs::flock(&self.file, rustix::fs::FlockOperation::NonBlockingLockExclusive).map_err(|error| {
            match error {
                rustix::io::Errno::WOULDBLOCK => JournalError::Busy(self.path.clone()),
                error => JournalError::Io(self.path.clone(), error.into()),
            }
        })
    }

    /// Appends a finished match. Once this returns, killing this program does not lose it.
    ///
    /// # Errors
    /// Those of the file.
    pub fn write(&mut self, entry: &Entry) -> io::Result<()> {
        self.put(entry)
    }

    /// Records that a match stayed void.
    ///
    /// # Errors
    /// Those of the file.
    pub fn write_void(&mut self, void: VoidEntry) -> io::Result<()> {
        self.put(&VoidLine { void })
    }

    fn put(&mut self, what: &impl Serialize) -> io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, what)?;
        let mut chain = self.chain;
        chain.close(&mut self.line);
        self.file.write_all(&self.line)?;
        self.chain = chain;
        Ok(())
    }

    /// Forces everything written to the disk.
    ///
    /// # Errors
    /// Those of the file.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    /// A second handle on the file, to force it to the disk without holding up the writer.
    ///
    /// # Errors
    /// Those of the file.
    pub fn handle(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use agon_api::Observed;

    use super::*;

    pub(crate) fn header(kind: SeriesKind) -> JournalHeader {
        let bot = |name: &str| BotId {
            bot: name.to_owned(),
            play: None,
            label: name.to_owned(),
            hash: "00".to_owned(),
        };
        JournalHeader {
            agon_journal: FORMAT,
            program: "agon".to_owned(),
            started: 0,
            plan: plan::VERSION,
            format: None,
            kind,
            game: "chess".to_owned(),
            rules_version: 1,
            rules: RulesId {
                name: "standard".to_owned(),
                hash: RulesHash(1),
                text: "turns = 100\nfog = true\n".to_owned(),
            },
            maps: vec![MapId { name: String::new(), hash: "1".to_owned() }],
            seats: 2,
            bots: vec![bot("new"), bot("old")],
            seed: 7,
            clock: "original".to_owned().into(),
            ponder: Ponder::Stop,
            test: None,
            options: Vec::new(),
        }
    }

    pub(crate) fn entry(block: u64, game: u32) -> Entry {
        Entry {
            id: MatchId(block << 32 | u64::from(game)),
            block,
            game,
            seed: 6 + block as i64,
            map: String::new(),
            bots: if game == 1 { vec![0, 1] } else { vec![1, 0] },
            result: MatchResult {
                proven: Proven {
                    ranks: vec![1, 2],
                    scores: vec![3.0, 1.0],
                    reason: "turn limit".to_owned(),
                    steps: 100,
                    start: format!("{block:016x}"),
                    answers: format!("{:016x}", block * 10 + u64::from(game)),
                    silent: Vec::new(),
                },
                observed: Observed { max_ms: vec![0.5, 0.25], wall_us: 1, ..Observed::default() },
            },
            tries: 1,
            replay: None,
        }
    }

    /// The same with these ranks.
    pub(crate) fn with_ranks(mut entry: Entry, ranks: Vec<u8>) -> Entry {
        entry.result.proven.ranks = ranks;
        entry
    }

    fn place() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("journal.jsonl");
        (folder, path)
    }

    fn append(path: &Path, bytes: &[u8]) {
        OpenOptions::new()
            .append(true)
            .open(path)
            .and_then(|mut file| file.write_all(bytes))
            .expect("written");
    }

    #[test]
    fn what_was_written_is_read_and_a_torn_line_is_cut_off() {
        let (_folder, path) = place();
        let mut journal = Journal::create(&path, &header(SeriesKind::Gauntlet)).expect("a journal");
        journal.write(&entry(1, 1)).expect("written");
        journal.write(&entry(1, 2)).expect("written");
        drop(journal);
        append(&path, b"{\"block\":2,\"ga");
        let mut found = Vec::new();
        let past = read(&path, |entry| found.push(entry)).expect("read");
        assert!(past.torn && past.entries == 2);
        assert_eq!(found, [entry(1, 1), entry(1, 2)]);
        let (mut journal, past) = Journal::reopen(&path, |_| {}).expect("opened again");
        assert!(past.torn);
        journal.write(&entry(2, 1)).expect("written");
        drop(journal);
        let past = read(&path, |_| {}).expect("read");
        assert!(!past.torn && past.entries == 3, "{past:?}");
    }

    #[test]
    fn two_programs_never_write_to_one_journal() {
        let (_folder, path) = place();
        let held = Journal::create(&path, &header(SeriesKind::Gauntlet)).expect("a journal");
        assert!(matches!(
            Journal::create(&path, &header(SeriesKind::Gauntlet)),
            Err(JournalError::Exists(_))
        ));
        assert!(matches!(Journal::reopen(&path, |_| {}), Err(JournalError::Busy(_))));
        drop(held);
        assert!(Journal::reopen(&path, |_| {}).is_ok());
        assert_eq!(std::fs::read_dir(path.parent().expect("a folder")).expect("read").count(), 1);
    }

    #[test]
    fn damage_is_named_with_its_line() {
        let (_folder, path) = place();
        let error = |path: &Path| read(path, |_| {}).unwrap_err().to_string();
        std::fs::write(&path, "").expect("written");
        assert!(error(&path).contains("it is empty"));
        std::fs::write(&path, "{\"agon_jour").expect("written");
        assert!(error(&path).contains("start again"));
        std::fs::write(&path, "{\"some\": \"thing\"}\n").expect("written");
        assert!(error(&path).contains("is not a journal of agon"));
        std::fs::remove_file(&path).expect("removed");
        let mut journal = Journal::create(&path, &header(SeriesKind::Gauntlet)).expect("a journal");
        journal.write(&entry(1, 1)).expect("written");
        let twice = std::fs::read(&path).expect("read");
        journal.write(&entry(1, 1)).expect("written");
        assert!(error(&path).contains("line 3: match 1 of block 1 appears twice"), "{}", error(&path));
        std::fs::remove_file(&path).expect("removed");
        let mut journal = Journal::create(&path, &header(SeriesKind::Gauntlet)).expect("a journal");
        journal.write(&entry(1, 1)).expect("written");
        journal.write(&Entry { id: entry(1, 1).id, ..entry(1, 2) }).expect("written");
        assert!(error(&path).contains("line 3: match 0000000100000001 appears twice"), "{}", error(&path));
        std::fs::write(&path, &twice).expect("written");
        append(&path, b"garbage\n");
        let text = error(&path);
        assert!(text.contains("line 3: it cannot be read") && text.contains("head -n 2"), "{text}");
        assert!(text.contains("what comes before it (1 match) is whole"), "{text}");
        std::fs::write(&path, &twice).expect("written");
        let foreign = Entry { seed: 99, ..entry(2, 1) };
        append(&path, format!("{}\n", serde_json::to_string(&foreign).expect("text")).as_bytes());
        assert!(error(&path).contains("line 3: it does not end with its chain"), "{}", error(&path));
        std::fs::write(&path, &twice).expect("written");
        drop(journal);
        let (mut journal, _) = Journal::reopen(&path, |_| {}).expect("a journal");
        journal.write(&foreign).expect("written");
        assert!(error(&path).contains("is not part of this series"));
    }

    #[test]
    fn whatever_is_changed_by_hand_is_noticed() {
        let (_folder, path) = place();
        let mut journal = Journal::create(&path, &header(SeriesKind::Gauntlet)).expect("a journal");
        for block in 1..=3 {
            (1..=2).for_each(|game| journal.write(&entry(block, game)).expect("written"));
        }
        journal
            .write_void(VoidEntry {
                block: 4,
                game: 1,
                seed: 10,
                bots: vec![0, 1],
                why: "late".to_owned(),
                culprit: None,
                tries: 3,
            })
            .expect("written");
        drop(journal);
        let text = std::fs::read_to_string(&path).expect("read");
        assert_eq!(read(&path, |_| {}).expect("whole").entries, 6);
        let lines: Vec<&str> = text.lines().collect();
        let changed = |lines: &[String]| {
            std::fs::write(&path, lines.join("\n") + "\n").expect("written");
            read(&path, |_| {}).expect_err("noticed").to_string()
        };
        let with = |line: usize, from: &str, to: &str| {
            let mut all: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
            assert!(all[line].contains(from), "{}", all[line]);
            all[line] = all[line].replace(from, to);
            changed(&all)
        };
        assert!(with(2, "\"ranks\":[1,2]", "\"ranks\":[2,1]").contains("line 3: its chain"), "ranks");
        assert!(
            with(4, "\"scores\":[3.0,1.0]", "\"scores\":[9.0,1.0]").contains("line 5: its chain"),
            "scores"
        );
        assert!(
            with(0, "\"label\":\"new\"", "\"label\":\"mine\"").contains("line 2: its chain"),
            "the header"
        );
        let without: Vec<String> =
            lines.iter().enumerate().filter(|(at, _)| *at != 3).map(|(_, line)| (*line).to_owned()).collect();
        assert!(changed(&without).contains("line 4: its chain"), "a line left out");
        let mut moved: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        moved.swap(3, 4);
        assert!(changed(&moved).contains("line 4: its chain"), "lines moved");
    }

    /// Somebody who computes the chain anew has still to change both.
    #[test]
    fn ranks_that_do_not_follow_from_scores_are_noticed_where_the_chain_is_whole() {
        for (game, scores, ranks, is_wrong) in [
            ("cultist-wars", [3.0, 1.0], [2, 1], true),
            ("cultist-wars", [3.0, 1.0], [1, 1], true),
            ("cultist-wars", [3.0, 1.0], [1, 2], false),
            // Elimination decides, whoever owns more; equal scores are ordered by something else.
            ("deerhunt", [3.0, 1.0], [2, 1], false),
            ("terminal", [3.0, 3.0], [2, 1], false),
            ("deerhunt", [3.0, 1.0], [2, 2], true),
            ("chess", [3.0, 1.0], [1, 3], true),
        ] {
            let (_folder, path) = place();
            let header = JournalHeader { game: game.to_owned(), ..header(SeriesKind::Gauntlet) };
            let mut journal = Journal::create(&path, &header).expect("created");
            let mut changed = with_ranks(entry(1, 1), ranks.to_vec());
            changed.result.proven.scores = scores.to_vec();
            journal.write(&changed).expect("written");
            drop(journal);
            let found = read(&path, |_| {});
            let said = found.err().map(|error| error.to_string()).unwrap_or_default();
            assert_eq!(said.contains("line 2: its ranks"), is_wrong, "{game}: {said}");
            assert_eq!(said.is_empty(), !is_wrong, "{game}: {said}");
        }
    }

    #[test]
    fn a_journal_of_before_is_refused_with_the_program_that_reads_it() {
        let (_folder, path) = place();
        let said = |header: JournalHeader| {
            std::fs::write(&path, serde_json::to_string(&header).expect("text") + "\n").expect("written");
            read(&path, |_| {}).expect_err("refused").to_string()
        };
        let old = JournalHeader { program: "agon 0.0.9".to_owned(), ..header(SeriesKind::Gauntlet) };
        for (agon_journal, plan) in [(1, 1), (2, 2), (FORMAT, 1), (FORMAT, 2), (FORMAT, 0)] {
            let said = said(JournalHeader { agon_journal, plan, ..old.clone() });
            assert!(said.contains(&format!("format {agon_journal} and plan {plan}")), "{said}");
            assert!(said.contains("read it with the agon that wrote it, agon 0.0.9, or begin"), "{said}");
        }
        let later = JournalHeader { plan: plan::VERSION + 1, ..old };
        assert!(said(later).contains("update agon"));
    }

    #[test]
    fn what_a_later_program_decides_by_is_refused_by_name() {
        let (_folder, path) = place();
        for key in RESERVED {
            let mut later = serde_json::to_value(header(SeriesKind::Gauntlet)).expect("JSON");
            later[key] = 1.into();
            std::fs::write(&path, format!("{later}\n")).expect("written");
            let said = read(&path, |_| {}).expect_err("refused").to_string();
            assert!(said.contains(key) && said.contains("update agon"), "{said}");
        }
    }

    #[test]
    fn changes_are_told_one_by_one() {
        let was = header(SeriesKind::Sprt);
        assert_eq!(was.changes(&was), Vec::<String>::new());
        let mut now = was.clone();
        now.bots[1].hash = "11".to_owned();
        now.rules.hash = RulesHash(2);
        now.rules.text = "turns = 60\nfog = true\n".to_owned();
        now.maps[0].hash = "2".to_owned();
        now.clock = "original x 2".to_owned().into();
        let changes = was.changes(&now);
        let expected = [
            "clock: was original, is original x 2",
            "bot 2, `old`, has changed (content was 00, is 11)",
            "rules: turns: was 100, is 60",
            "map the game's default has different content",
        ];
        assert_eq!(changes, expected);
    }
}
