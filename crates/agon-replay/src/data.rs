//! What a replay holds.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use agon_game::{GameInfo, Outcome, PackedAnswer, Recipe, Seat, Session};
use agon_spec::{Clock, MatchSpec, RecordedClock};
use serde::{Deserialize, Serialize};

/// The start of a replay, as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The program that wrote it: `agon 0.9.0`.
    pub program: String,
    pub game: String,
    /// The version of the game's rules.
    pub rules_version: u32,
    /// Rules, map, seats and seed.
    pub recipe: Recipe,
    /// Who sat where.
    pub seats: Vec<SeatInfo>,
    /// When the match began, in seconds since 1970.
    pub started: u64,
    /// Whether thinking time is part of play, so that each answer carries it.
    pub timed: bool,
    /// The clock the bots had; in the file as words: `original`, `site-2026`, `no limits`, `original x 4`.
    pub clock: RecordedClock,
    /// The identity of the match, 16 hexadecimal digits, as in the journal of its series; none for a match of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// This program's name and version, as written into files.
pub const PROGRAM: &str = concat!("agon ", env!("CARGO_PKG_VERSION"));

impl Header {
    /// The header of a match that begins now, for which `session` is set up.
    pub fn new(session: &dyn Session, seats: Vec<SeatInfo>, clock: Clock) -> Self {
        let info = session.info();
        Self {
            program: PROGRAM.to_owned(),
            game: info.name.to_owned(),
            rules_version: info.rules_version,
            recipe: session.recipe().clone(),
            seats,
            started: now(),
            timed: info.time_is_played,
            clock: clock.into(),
            id: None,
        }
    }

    /// The match as one would ask for it, to play it again under the same clock. Its labels follow from the bots' names,
    /// because a header does not say which labels somebody chose.
    pub fn spec(&self, info: &GameInfo) -> MatchSpec {
        let bots = self.seats.iter().map(|seat| seat.bot.clone());
        MatchSpec { clock: self.clock.clock(), ..MatchSpec::of_recipe(info, &self.recipe, bots) }
    }
}

/// Seconds since 1970; 0 where there is no clock.
fn now() -> u64 {
    if cfg!(target_family = "wasm") {
        return 0;
    }
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// Who sat in a seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatInfo {
    /// The bot as the user named it.
    pub bot: String,
    /// A short name for it.
    pub label: String,
    /// A hash of its files, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}

impl SeatInfo {
    /// The display name of a bot with this label that registered or was announced under a name. Only a `join:` label is
    /// replaced: a place that others join says nothing about who came.
    pub fn called<'a>(label: &'a str, registered: Option<&'a str>) -> &'a str {
        registered.filter(|_| label.starts_with("join:")).unwrap_or(label)
    }
}

/// One step: the answers the game played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// One answer per deciding seat, ascending.
    pub answers: Vec<(Seat, PackedAnswer)>,
    /// The low four bits of the state's hash after the step.
    pub check: u8,
}

/// How long an answer took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Timing {
    /// Wall time in microseconds.
    pub wall_us: u64,
    /// CPU time of the bot's processes in microseconds; none if unknown.
    pub cpu_us: Option<u64>,
}

/// What was counted and measured of an answer beside its [`Timing`], from which its charge follows. Known where the bot was
/// in a sandbox whose CPU time the kernel counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counted {
    /// The number of CPUs it could use, at least 1.
    pub cpus: u8,
    /// CPU time of everything in the sandbox, from the question to the answer, in microseconds.
    pub cpu_us: u64,
    /// How long the machine kept it waiting meanwhile, as measured, in microseconds.
    pub waited_us: u64,
    /// CPU time in others' turns since its last answer, as far as it counts, in microseconds.
    pub owed_us: u64,
}

impl Counted {
    /// What an answer is charged that took this long, in microseconds: its wall time, without what the machine kept it
    /// waiting, and what it owed. On no account did it wait while it used all of its CPUs.
    pub fn charged_us(self, wall_us: u64) -> u64 {
        let idle = wall_us.saturating_sub(self.cpu_us / u64::from(self.cpus.max(1)));
        (wall_us - self.waited_us.min(idle)).saturating_add(self.owed_us)
    }
}

/// The kinds of notes.
pub mod note {
    /// What it wrote on standard error.
    pub const STDERR: &str = "stderr";
    /// The answer as sent, where it differs from the canonical one.
    pub const RAW: &str = "raw";
    /// Something it said that is not an answer but was heard (its name): before the first question of the match.
    pub const FIRST: &str = "said-first";
    /// The same: before the question of the step.
    pub const EARLY: &str = "said-early";
    /// The same: after the question.
    pub const SAID: &str = "said";
    /// What it did wrong as a program, as JSON: told of a match while it is played. A replay has the faults at its end.
    pub const FAULT: &str = "fault";
}

/// What is kept about a seat besides its answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatNote {
    /// The step it belongs to, from 0.
    pub step: u32,
    /// What it is ([`note`]).
    pub kind: String,
    /// The text; bytes that are not UTF-8 are replaced.
    pub text: String,
}

/// The end of a replay, as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndInfo {
    /// How many steps were played.
    pub steps: u32,
    /// How the match ended; none if it was stopped or void.
    pub outcome: Option<Outcome>,
    /// The hash of the last state, in hexadecimal.
    pub state: String,
    /// The hash over header and steps, in hexadecimal.
    pub chain: String,
    /// What the bots did wrong as programs, and anything else worth recording; free form.
    #[serde(default)]
    pub facts: serde_json::Value,
}

/// A replay as read.
#[derive(Clone, Debug, PartialEq)]
pub struct Replay {
    pub header: Header,
    pub steps: Vec<Step>,
    /// Timing by `(step, seat)`.
    pub timing: BTreeMap<(u32, Seat), Timing>,
    /// What was counted, likewise.
    pub counted: BTreeMap<(u32, Seat), Counted>,
    /// The private notes by seat.
    pub notes: BTreeMap<Seat, Vec<SeatNote>>,
    /// The end; none if the file is cut off.
    pub end: Option<EndInfo>,
    /// The hash over header and steps, as computed while reading.
    pub chain: u64,
}
