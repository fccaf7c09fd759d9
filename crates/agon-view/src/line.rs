//! What a viewer is told, as JSON. The viewer's types in `web/src/lib/generated` are generated from these.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
#[cfg(test)]
use ts_rs::TS;

pub use agon_game::Outcome;

/// The version of this format. The web app is built into the same program, but exported pages are not.
pub const VERSION: u32 = 2;

/// The match itself.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "camelCase")]
pub struct Head {
    /// The version of this format.
    pub view: u32,
    /// The program that recorded it.
    pub program: String,
    /// The game's name.
    pub game: String,
    /// The game's title.
    pub title: String,
    /// What the game calls a step: `turn`.
    pub step_word: String,
    /// Whether one seat decides at a time.
    pub alternating: bool,
    /// The preset and its changes.
    pub rules_name: String,
    /// The version of the rules.
    pub rules_version: u32,
    /// The rules themselves.
    #[cfg_attr(test, ts(type = "any"))]
    pub rules: Value,
    /// The map's name.
    pub map: String,
    /// The seed; a string, because it has more digits than a JavaScript number.
    pub seed: String,
    /// The clock the bots had, in words.
    pub clock: String,
    /// When the match began, in seconds since 1970.
    pub started: u64,
    /// Who sat where.
    pub seats: Vec<SeatLine>,
    /// The number of steps that can be shown; none while it is being played.
    pub steps: Option<u32>,
    /// The number of frames of each step; empty if steps have none, or while it is being played.
    pub frames: Vec<u32>,
    /// Whether it shows what belongs to one seat alone.
    pub private: bool,
    /// The command that plays it again.
    pub again: Option<String>,
    /// Who must answer first.
    pub deciding: Vec<u8>,
    /// Where it begins, in the game's words.
    pub moment: String,
    /// The scene before the first step.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub scene: Value,
    /// Each seat's chance of finishing first, at the start; none if the game does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub advantage: Option<Vec<f64>>,
    /// A sentence, if the match was recorded under another version of the rules: what is shown is what this program makes of
    /// its answers, as far as that agrees with the recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub other_rules: Option<String>,
    /// How it ended; none while it is being played.
    pub end: Option<End>,
}

/// Who sat in a seat.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct SeatLine {
    /// A short name.
    pub label: String,
    /// The bot as the user named it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub bot: Option<String>,
    /// The name under which it registered.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub registered: Option<String>,
}

/// One step.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct Line {
    /// Its number, from 1.
    pub step: u32,
    /// Where the match was, in the game's words.
    pub moment: String,
    /// What was answered, by seat.
    pub answers: Vec<AnswerLine>,
    /// Orders that the rules did not allow.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<_>", optional))]
    pub rejected: Vec<RejectionLine>,
    /// What the bots did wrong as programs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<_>", optional))]
    pub faults: Vec<FaultLine>,
    /// What happened, as the game writes its events.
    #[cfg_attr(test, ts(type = "{ event: string; [key: string]: any }[]"))]
    pub events: Box<RawValue>,
    /// The frames within the step, as the game writes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional, type = "unknown[]"))]
    pub frames: Option<Box<RawValue>>,
    /// The scene after it, as the difference from the head's scene ([`crate::delta`]); none if nothing differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional, type = "unknown"))]
    pub scene: Option<Value>,
    /// Who must answer next.
    pub deciding: Vec<u8>,
    /// Each seat's chance of finishing first, after it ([`agon_game::advantage()`]); none if the game does not say, or if
    /// the viewing seat may not know the whole board.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub advantage: Option<Vec<f64>>,
    /// The names under which the bots registered, by seat: in a match being played, whose head was sent earlier.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub registered: Option<Vec<Option<String>>>,
}

/// The answer of a seat.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct AnswerLine {
    /// The seat, from 1.
    pub seat: u8,
    /// The order in its canonical form; none if nothing usable came.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub text: Option<String>,
    /// Why nothing usable came.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub missing: Option<Missing>,
    /// Wall time in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub wall: Option<u64>,
    /// CPU time in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub cpu: Option<u64>,
    /// The limit in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub limit: Option<u64>,
    /// The answer as sent, if it differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub raw: Option<String>,
    /// What the bot wrote on standard error.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub stderr: Option<String>,
}

/// Why there is no order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub enum Missing {
    /// The time limit passed.
    #[serde(rename = "timed out")]
    TimedOut,
    /// The bot is gone.
    #[serde(rename = "gone")]
    Gone,
    /// It was never there.
    #[serde(rename = "never started")]
    NeverStarted,
    /// It was not an answer, for this reason.
    #[serde(rename = "malformed")]
    Malformed(String),
}

/// An order that the rules did not allow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct RejectionLine {
    /// The seat, from 1.
    pub seat: u8,
    /// The entry of its list, from 0.
    pub order: usize,
    /// The rule behind it.
    pub rule: &'static str,
    /// Why, as a sentence.
    pub why: String,
}

/// What a bot did wrong as a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct FaultLine {
    /// The seat, from 1.
    pub seat: u8,
    /// Its kind.
    pub kind: String,
    /// The rule, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub rule: Option<String>,
    /// What happened, for the bot's author.
    pub message: String,
}

/// How a match ended, and the state of its recording.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(TS))]
pub struct End {
    /// The state of the recording.
    pub end: EndWord,
    /// Why, if it is void or altered; where, if it is cut.
    pub why: Option<String>,
    /// How the match ended, if known.
    #[cfg_attr(test, ts(type = "{ scores: number[]; ranks: number[]; reason: string } | null"))]
    pub outcome: Option<Outcome>,
    /// Where the match was, in the game's words.
    pub moment: String,
}

/// The state of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(TS))]
#[serde(rename_all = "lowercase")]
pub enum EndWord {
    /// Complete, and matching what its answers lead to.
    Whole,
    /// Its end is missing.
    Cut,
    /// The match does not count.
    Void,
    /// Its answers do not lead to what it says.
    Altered,
}

#[cfg(test)]
mod tests {
    use agon_testkit::generated;

    use super::*;
    use crate::outlook::{Outlook, WinChance, Worth};
    use crate::play::{Sitter, Turn, WantedMatch};
    use crate::{Ask, AskRefusal, Begun, Opened, Reply};

    #[test]
    fn the_web_app_reads_these_types() {
        let mut types =
            generated![Head, SeatLine, Line, AnswerLine, Missing, RejectionLine, FaultLine, End, EndWord]
                .to_vec();
        types.extend(generated![Ask, Reply, Opened, Begun, AskRefusal, Sitter, WantedMatch, Turn]);
        types.extend(generated![Outlook, WinChance, Worth]);
        let sources = "crates/agon-view/src/line.rs, ask.rs, play.rs and outlook.rs";
        generated::check("web/src/lib/generated/view.ts", sources, &types);
    }
}
