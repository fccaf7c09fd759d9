//! What the server tells the web app and what the app asks: `web/src/lib/generated/server.ts` is generated from these types
//! by the test below.

use agon_contest::{FaultCount, PairingCourse};
use agon_spec::MatchSpec;
use serde::{Deserialize, Serialize};

#[cfg(test)]
use ts_rs::TS;

/// The content of the start page: `GET /api/start`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Listing {
    /// The version of the program.
    pub version: &'static str,
    /// The files the user named.
    pub named: Vec<String>,
    /// The folder of recent matches.
    pub folder: String,
    /// The recent matches, the newest first.
    pub recent: Vec<Recent>,
    /// The recent series, the newest first.
    pub series: Vec<SeriesHead>,
    /// The games that can be played.
    pub games: Vec<GameOption>,
}

/// A game, as the form for a new match needs it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct GameOption {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name in texts.
    pub title: &'static str,
    /// What it is about, in a sentence.
    pub summary: &'static str,
    /// What a step of its matches is called: `turn`.
    pub step: &'static str,
    /// The minimum and maximum number of seats.
    pub seats: (u8, u8),
    /// Its rules presets; the first is the default.
    pub presets: Vec<Named>,
    /// The built-in maps.
    pub maps: Vec<GameMap>,
    /// Whether a map can be made from the seed.
    pub generates: bool,
    /// Whether its bots are scripts, which can be written in the page.
    pub scripts: bool,
    /// The built-in bots.
    pub builtins: Vec<Named>,
}

/// A preset or a built-in bot.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Named {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
}

/// A built-in map.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct GameMap {
    /// Its name.
    pub name: &'static str,
    /// The minimum and maximum number of seats it is for.
    pub seats: (u8, u8),
}

/// A file in the folder of recent matches.
#[derive(Debug, Serialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(TS))]
pub enum Recent {
    /// It holds a match.
    Match(Box<RecentMatch>),
    /// It cannot be read.
    Unreadable {
        /// The file.
        name: String,
        /// When it was written, in seconds since 1970.
        when: u64,
        /// Why not.
        error: String,
    },
}

/// A recent match.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct RecentMatch {
    /// The file.
    pub name: String,
    /// When it was written, in seconds since 1970.
    pub when: u64,
    /// The game's name on the command line.
    pub game: String,
    /// The name of the rules.
    pub rules: String,
    /// The name of the map.
    pub map: String,
    /// The seed, as a string: it has 64 bits.
    pub seed: String,
    /// Who played.
    pub seats: Vec<RecentSeat>,
    /// The number of steps played.
    pub steps: usize,
    /// Why it ended, in the game's words; null if it has no outcome.
    pub reason: Option<String>,
    /// Why it does not count.
    pub void: Option<String>,
    /// Whether the file stops before the end of the match.
    pub cut: bool,
}

/// A seat of a recent match.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct RecentSeat {
    /// The bot's label.
    pub label: String,
    /// Its score; null if the match has no outcome.
    pub score: Option<f64>,
    /// Its rank, from 1.
    pub rank: Option<u8>,
    /// The number of faults it made as a program.
    pub faults: usize,
}

/// A series, from the start of its journal.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct SeriesHead {
    /// The journal's file.
    pub name: String,
    /// `gauntlet`, `sprt` or `tournament`.
    pub kind: &'static str,
    /// The game's name on the command line.
    pub game: String,
    /// The game's name in texts.
    pub title: String,
    /// The name of the rules.
    pub rules: String,
    /// When it began, in seconds since 1970.
    pub started: u64,
    /// Seats in a match.
    pub seats: u8,
    /// The labels of the bots; matches refer to them by index.
    pub bots: Vec<String>,
}

/// A series with its matches: `GET /api/journal`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct SeriesPage {
    /// From the start of the journal.
    #[serde(flatten)]
    pub series: SeriesHead,
    /// How many matches precede the listed ones.
    pub left_out: u64,
    /// Whether its last line is incomplete.
    pub torn: bool,
    /// Its course, for a test and for each opponent of a gauntlet.
    #[cfg_attr(
        test,
        ts(
            type = "{ bots: number[]; elo: [number, number]; bounds: [number, number] | null; llr: [number, number]; points: { games: number; elo: number | null; low: number | null; high: number | null; llr: number | null }[] }[]"
        )
    )]
    pub courses: Vec<PairingCourse>,
    /// Its matches, in the order in which they ended.
    pub matches: Vec<JournalMatch>,
}

/// The step of a match that changed a seat's chance most: `GET /api/swing`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Swing {
    /// From 1; 0 if nothing was played.
    pub step: usize,
    /// The change of the chance, from -1 to 1.
    pub change: f64,
}

/// What a bot's losses in a series have in common, in sentences: `GET /api/why`, and `agon why`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Causes {
    /// How many matches it lost, of how many.
    pub heading: String,
    /// Groups of matches, by where and by how it lost.
    pub sorts: Vec<CauseSort>,
    /// What could not be compared, and why there is no group; sentences without their full stops.
    pub notes: Vec<String>,
}

/// Groups of matches of one kind.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct CauseSort {
    /// The kind.
    pub heading: &'static str,
    /// The most certain first.
    pub causes: Vec<GroupOfLosses>,
}

/// A group of matches that holds more of the losses than of the other matches.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct GroupOfLosses {
    /// How many of the losses are in it, and how many of the other matches.
    pub sentence: String,
    /// Its lost matches; first those in which most of the chance was lost at once.
    pub lost: Vec<LostMatch>,
}

/// A lost match of a group.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct LostMatch {
    /// The block, from 1.
    pub block: u64,
    /// The match in the block, from 1.
    pub game: u32,
    /// The step, from 1, at which the bot lost most of its chance at once; null without a replay.
    pub step: Option<usize>,
    /// How much it lost there, in the game's words.
    pub fell: Option<String>,
}

/// A match of a series.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct JournalMatch {
    /// The block, from 1.
    pub block: u64,
    /// The match in the block, from 1.
    pub game: u32,
    /// The seed, as a string: it has 64 bits.
    pub seed: String,
    /// The name of the map.
    pub map: String,
    /// The bot in each seat, by index in the series, from 0.
    pub bots: Vec<usize>,
    /// The score of each seat.
    pub scores: Vec<f64>,
    /// The rank of each seat, from 1.
    pub ranks: Vec<u8>,
    /// Why it ended, in the game's words.
    pub reason: String,
    /// The number of steps played.
    pub steps: u32,
    /// The longest answer of each seat, in milliseconds.
    pub max_ms: Vec<f64>,
    /// What bots did wrong as programs.
    #[cfg_attr(
        test,
        ts(type = "{ seat: number; kind: string; count: number; turn: string; message: string }[]")
    )]
    pub faults: Vec<FaultCount>,
    /// Whether its replay was kept.
    pub kept: bool,
    /// The command that plays it again.
    pub command: String,
}

/// The match the page wants played: the body of `POST /api/play`.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(TS))]
pub enum PlayRequest {
    /// A match of a journal, to be played again.
    Again {
        /// The journal's file.
        journal: String,
        /// The block, from 1.
        block: u64,
        /// The match in the block, from 1.
        game: u32,
    },
    /// A new match.
    New(NewMatch),
}

/// A match that the page asks for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(TS))]
pub struct NewMatch {
    /// The game.
    pub game: String,
    /// The bots, as on the command line, in the order of their seats.
    pub bots: Vec<String>,
    /// A preset, or empty.
    #[serde(default)]
    pub rules: String,
    /// A map, `generate`, or empty.
    #[serde(default)]
    pub map: String,
    /// The seed, or empty for a fresh one.
    #[serde(default)]
    pub seed: String,
}

impl TryFrom<NewMatch> for MatchSpec {
    type Error = String;

    fn try_from(wanted: NewMatch) -> Result<Self, String> {
        let NewMatch { game, bots, rules, map, seed } = wanted;
        let seed = match seed.trim() {
            "" => None,
            seed => Some(seed.parse().map_err(|_| format!("seed `{seed}`: write a 64-bit integer"))?),
        };
        let (rules, map) = (rules.trim().into(), map.trim().into());
        Ok(Self { rules, map, seed, ..Self::new(&game, bots) })
    }
}

/// The match that was started.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct StartedMatch {
    /// Its name: `live=` of a match.
    pub live: String,
}

/// Whether an order was a mistake of the bot that gave it, as far as is known: each line of `POST /api/trial`. Closing the
/// connection ends the trial.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct TrialSoFar {
    /// The policy's order, which the bot plays on from in every second future.
    pub better: String,
    /// The number of pairs of futures tried so far.
    pub futures: u32,
    /// The number there will be.
    pub of: u32,
    /// How much the other order raises its chance of coming first, from -1 to 1.
    pub gain: f64,
    /// The standard error of the gain.
    pub error: f64,
    /// A fault that the bot made on the way.
    pub fault: Option<String>,
    /// Whether it was a mistake; null before all futures are played.
    pub mistake: Option<bool>,
    /// Why it could not be tried.
    pub problem: Option<String>,
}

#[cfg(test)]
mod tests {
    use agon_testkit::generated;

    use super::*;
    use crate::script::ScriptText;

    #[test]
    fn the_web_app_reads_these_types() {
        let types = generated![
            Listing,
            GameOption,
            Named,
            GameMap,
            Recent,
            RecentMatch,
            RecentSeat,
            SeriesHead,
            SeriesPage,
            JournalMatch,
            Swing,
            Causes,
            CauseSort,
            GroupOfLosses,
            LostMatch,
            PlayRequest,
            NewMatch,
            StartedMatch,
            TrialSoFar,
            ScriptText,
        ];
        generated::check("web/src/lib/generated/server.ts", "crates/agon-web/src/api.rs", &types);
    }
}
