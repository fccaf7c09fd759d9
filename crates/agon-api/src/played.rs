//! Matches: those of the ladder, and those that a team asks for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::Moment;
use crate::version::Cause;

/// Which matches are looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MatchQuery {
    /// Those in which the team with this number sat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<i64>,
    /// Those in which this team sat as well: with `team` or `version` the matches of two against each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<i64>,
    /// Those in which the version with this number sat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    /// Those that ended for this reason, in the game's words, as `reason` of a match says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How they ended for that team or version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    /// Those in which the program of that team or version did something wrong.
    #[serde(default)]
    pub faults: bool,
    /// Those on this map, by its number from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<u32>,
    /// The cursor: matches with smaller numbers than this. `next` of the page before says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<i64>,
}

/// How a match ended for somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum Ended {
    /// Alone first.
    Won,
    /// First with others.
    Drawn,
    /// Somebody else was first.
    Lost,
}

/// A page of matches, the newest first: at most 50.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Matches {
    /// They.
    pub matches: Vec<Match>,
    /// With `before` of this number the next page is asked for; none where this is the last.
    pub next: Option<i64>,
}

/// A match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Match {
    /// By which it is asked for.
    pub id: i64,
    /// What it is played for.
    pub kind: Kind,
    /// Where it is in its life.
    pub state: MatchState,
    /// The number of its map, from 1.
    pub map: u32,
    /// Its seed.
    pub seed: String,
    /// When it was planned.
    pub planned: Moment,
    /// When its result was accepted.
    pub settled: Option<Moment>,
    /// Why it ended, in the game's words.
    pub reason: Option<String>,
    /// How many steps were played.
    pub steps: Option<u32>,
    /// Whether its replay can be had.
    pub has_replay: bool,
    /// How many tries of it came to nothing by our fault.
    pub void_tries: i64,
    /// Who sat where.
    pub seats: Vec<Seat>,
}

/// What a match is played for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// May this version go live?
    Check,
    /// Somebody tries out a bot that makes no version.
    Draft,
    /// Somebody wants to see it.
    Challenge,
    /// Is this version better than the one before?
    Promotion,
    /// The ladder: the only one that is rated.
    Ladder,
}

/// Where a match is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
#[serde(rename_all = "lowercase")]
pub enum MatchState {
    /// It waits for its turn.
    Planned,
    /// It is played.
    Leased,
    /// It was played, and is computed again before it counts.
    Posted,
    /// It is over.
    Valid,
    /// It was given up: three tries came to nothing, or a bot cannot be made ready.
    Dead,
}

impl MatchState {
    /// Whether nothing changes any more.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Valid | Self::Dead)
    }
}

/// A seat of a match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Seat {
    /// The team.
    pub team: i64,
    /// Its name.
    pub name: String,
    /// Whether it is a bot of the contest's own.
    pub boss: bool,
    /// The version that sat there.
    pub version: i64,
    /// Its number among those of the team; below 0 for a draft.
    pub n: i64,
    /// The least is the best; none before the end.
    pub rank: Option<i64>,
    /// The score.
    pub score: Option<f64>,
    /// What its program did wrong: of others the kind alone.
    pub fault: Option<String>,
    /// Its longest answer, in milliseconds.
    pub max_ms: Option<f64>,
}

impl Match {
    /// How it ended for a seat, from 0; none before the end.
    pub fn ended(&self, seat: usize) -> Option<Ended> {
        let own = self.seats.get(seat)?.rank?;
        let firsts = self.seats.iter().filter(|other| other.rank == Some(1)).count();
        Some(match (own, firsts) {
            (1, 1) => Ended::Won,
            (1, _) => Ended::Drawn,
            _ => Ended::Lost,
        })
    }
}

/// What of a match belongs to one's own team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Own {
    /// For each seat of the team.
    pub seats: Vec<OwnSeat>,
}

/// What of a match belongs to whoever sat in a seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct OwnSeat {
    /// The seat, from 1.
    pub seat: u32,
    /// What the program did wrong, in order.
    pub faults: Vec<Told>,
    /// What it wrote, in order: the last 256 KiB of it.
    pub notes: Vec<Note>,
    /// So many of the first notes were left out.
    pub left_out: u64,
}

/// What a program did wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Told {
    /// The step, from 1.
    pub step: u32,
    /// The same place in the game's words: `turn 12`.
    pub turn: String,
    /// The kind of fault, in words.
    pub kind: String,
    /// What happened.
    pub what: String,
    /// What to do about it.
    pub fix: Option<String>,
}

/// What a program wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Note {
    /// The step, from 1.
    pub step: u32,
    /// What it is: `stderr`, or `raw` for an answer as it was sent.
    pub kind: String,
    /// The text.
    pub text: String,
}

/// What the address of a draft says; the body is the file as it is. The match is not rated, and no version is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DraftQuery {
    /// What the file is called. Of a single file it says the language: `bot.py`.
    pub name: String,
    /// The team whose live bot it meets, by its name; where nothing is said, the one next above on the ladder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// A version that it meets instead: one that is live, or one's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against_version: Option<i64>,
    /// The map, from 1; the first where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<u32>,
    /// The seed; a fresh one where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
    /// The seat that it takes, from 1; the first where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seat: Option<u32>,
}

/// A match that is wanted: a version of one's own against a live bot, or against another one of one's own. It is not rated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Challenge {
    /// One's own version; the live one where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
    /// The team whose live bot it meets, by its name; where nothing is said, the one next above on the ladder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// A version that it meets instead: one that is live, or one's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against_version: Option<i64>,
    /// The map, from 1; the first where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<u32>,
    /// The seed, a whole number of 64 bits; a fresh one where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
    /// The seat that it takes, from 1; the first where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seat: Option<u32>,
}

/// A match that a team asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, TS)]
pub struct Asked {
    /// The match.
    #[serde(rename = "match")]
    pub game: Match,
    /// Why it came to nothing, where it did.
    pub cause: Option<Cause>,
}
