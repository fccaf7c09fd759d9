//! What is known after a match.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use agon_bot::Level;
use agon_game::{Outcome, Seat};
use agon_replay::{SeatInfo, Wait};
use serde::Serialize;

use crate::{Fault, FaultKind, Player, RejectedOrder};

/// What the referee knows after a match.
#[derive(Clone, Debug)]
pub struct MatchRecord {
    /// How it ended; none when it is void or was stopped.
    pub outcome: Option<Outcome>,
    /// Why it does not count: the machine was late, a bot disturbed another, we failed, or the user stopped it.
    pub void: Option<Void>,
    /// What was counted when it became void because a seat was kept waiting.
    pub wait: Option<Wait>,
    /// The bots' faults as programs, in order. Only the first of each seat and kind are listed.
    pub faults: Vec<Fault>,
    /// Orders the rules did not allow, in order. Only the first of each seat are listed.
    pub rejected: Vec<RejectedOrder>,
    /// Counts for each seat, including what is not listed.
    pub counts: Vec<SeatCounts>,
    /// The time each seat used.
    pub times: Vec<SeatTime>,
    /// How many steps were played.
    pub steps: u32,
    /// Whether all bots arrived, so that there was a match.
    pub began: bool,
    /// Wall time of the match in microseconds.
    pub wall_us: u64,
    /// What could not be measured.
    pub notes: Vec<String>,
    /// How each seat's program was held.
    pub held: Vec<Held>,
    /// The hashes of the images that programs ran in.
    pub images: BTreeSet<String>,
}

/// How a seat's program was held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Held {
    /// There was no program: a built-in, a bot that runs elsewhere, or nobody.
    #[default]
    NoProgram,
    /// It ran with our user's rights.
    Free,
    /// It ran in a sandbox.
    Inside {
        level: Level,
        /// Whether bots that compute at the same time had equal shares of the CPUs.
        shares: bool,
    },
}

impl Held {
    /// The words used in tables and files: `off`, or the level and what of the time it does not settle; none without a
    /// program.
    pub fn word(self) -> Option<String> {
        match self {
            Self::NoProgram => None,
            Self::Free => Some("off".to_owned()),
            Self::Inside { level, shares } => Some(match unsettled(level, shares) {
                Some(what) => format!("{level}, {what}"),
                None => level.to_string(),
            }),
        }
    }

    /// How a player's program is held.
    pub fn of(player: &Player) -> Self {
        match player {
            Player::Program(program) if !program.is_elsewhere() => match program.cage() {
                Some(cage) => Self::Inside { level: cage.level(), shares: cage.has_shares() },
                None => Self::Free,
            },
            _ => Self::NoProgram,
        }
    }
}

/// What a sandbox leaves open about the time of its bots: without a cgroup their CPU time is sampled and not counted, and
/// without its controller those that think at the same time share the CPUs as the system likes.
fn unsettled(level: Level, shares: bool) -> Option<&'static str> {
    match (level, shares) {
        (Level::A, true) => None,
        (Level::A, false) => Some("shares not equal"),
        _ => Some("CPU sampled"),
    }
}

/// How the programs of a match were held, as a sentence.
///
/// `who` names the owner of the program at an index.
pub fn containment(held: &[Held], who: impl Fn(usize) -> String) -> String {
    let of = |held: Held| match held {
        Held::NoProgram => None,
        Held::Free => Some("with the rights of the user who started agon".to_owned()),
        Held::Inside { level, shares } => {
            let what = unsettled(level, shares).map_or_else(String::new, |what| format!(" ({what})"));
            let weak = if level <= Level::B { "" } else { ", which contains mistakes but not enemies" };
            Some(format!("in a sandbox of level {level}{what}{weak}"))
        }
    };
    let seats: Vec<(usize, String)> =
        held.iter().enumerate().filter_map(|(seat, held)| Some((seat, of(*held)?))).collect();
    match &seats[..] {
        [] => "all bots were built in; no program was started".to_owned(),
        [(_, first), rest @ ..] if rest.iter().all(|(_, other)| other == first) => {
            format!("bots ran {first}")
        }
        all => {
            let all: Vec<String> =
                all.iter().map(|(seat, how)| format!("{} ran {how}", who(*seat))).collect();
            all.join("; ")
        }
    }
}

/// Why a match does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Void {
    /// This machine was too slow to be fair: play again.
    HostLate(String),
    /// The bot of a seat took the machine from another one: play again. The third match that it would make void
    /// goes on without it instead, if the caller counts (see [`Terms::disturbed`](crate::Terms::disturbed)).
    Disturbed {
        /// The seat that did it.
        by: Seat,
        /// The observation, as a sentence.
        why: String,
    },
    /// The program itself failed: report it.
    OwnFault(String),
    /// The user stopped it.
    Stopped,
}

impl Void {
    /// Why the machine, or a bot that disturbed another, made it void: played again, it may go well.
    pub fn unfair(&self) -> Option<&str> {
        match self {
            Self::HostLate(why) | Self::Disturbed { why, .. } => Some(why),
            Self::OwnFault(_) | Self::Stopped => None,
        }
    }

    /// The seat that caused it, if known.
    pub fn culprit(&self) -> Option<Seat> {
        if let Self::Disturbed { by, .. } = self { Some(*by) } else { None }
    }
}

impl fmt::Display for Void {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HostLate(why) => write!(f, "void: this machine was too busy to be fair ({why})"),
            Self::Disturbed { by, why } => write!(f, "void: seat {by} disturbed another bot ({why})"),
            Self::OwnFault(why) => write!(f, "void: agon itself failed ({why}); please report it"),
            Self::Stopped => f.write_str("stopped before its end"),
        }
    }
}

/// How often a seat did something wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeatCounts {
    pub faults: BTreeMap<FaultKind, u64>,
    /// Orders that the rules did not allow.
    pub rejected: u64,
}

impl SeatCounts {
    /// Faults of all kinds.
    pub fn all_faults(&self) -> u64 {
        self.faults.values().sum()
    }
}

/// The time a seat used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct SeatTime {
    /// The number of answers.
    pub answers: u32,
    /// Wall time of all answers, in milliseconds.
    pub wall_ms: f64,
    /// The part of it that counts against the limit: the time this machine kept the bot waiting is left out.
    pub charged_ms: f64,
    /// CPU time of all answers, in milliseconds; none if unknown.
    pub cpu_ms: Option<f64>,
    /// CPU time outside answers (starting, and the turns of others), in milliseconds; none if unknown.
    pub between_ms: Option<f64>,
    /// CPU time of all its processes from start to end, in milliseconds, of those that were waited for.
    pub total_cpu_ms: Option<f64>,
    /// The most memory one of its processes occupied, in MiB.
    pub memory_mib: Option<f64>,
    /// How long this machine kept it from running, in milliseconds, over the answers that took long.
    pub kept_waiting_ms: f64,
    /// The longest answer, in milliseconds of wall time.
    pub max_ms: f64,
    /// The step of the longest answer, from 0.
    pub max_step: u32,
    /// The most that was charged for one answer, in milliseconds.
    pub max_charged_ms: f64,
    /// What was charged for the answer that came nearest to its limit, in milliseconds: a first answer often takes longest, and has a
    /// limit of its own.
    pub nearest_ms: f64,
    /// The limit of that answer, in milliseconds; none without limits.
    pub nearest_limit_ms: Option<f64>,
}

impl SeatTime {
    /// Takes in an answer for which `charged_ms` of `limit_ms` was charged.
    pub(crate) fn near(&mut self, charged_ms: f64, limit_ms: Option<f64>) {
        let Some(limit_ms) = limit_ms.filter(|limit_ms| *limit_ms > 0.0) else { return };
        let is_nearest =
            self.nearest_limit_ms.is_none_or(|nearest| charged_ms / limit_ms > self.nearest_ms / nearest);
        if is_nearest {
            (self.nearest_ms, self.nearest_limit_ms) = (charged_ms, Some(limit_ms));
        }
    }
}

/// The result of a match, as every command that plays a single one prints it with `--json`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct PrintedMatch {
    /// The game.
    pub game: &'static str,
    /// The seed, as a string.
    pub seed: String,
    /// The name of the rules.
    pub rules: String,
    /// The name of the map.
    pub map: String,
    /// The seats in order.
    pub seats: Vec<SeatResult>,
    /// The number of steps played.
    pub turns: u32,
    /// How it ended.
    pub outcome: OutcomeResult,
    /// The path of the replay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
    /// Why the match does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub void: Option<String>,
    /// What could not be measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// How the bots were contained, as a sentence.
    pub containment: String,
}

/// The result of one seat.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct SeatResult {
    /// The seat, from 1.
    pub seat: u8,
    /// The bot's label.
    pub bot: String,
    /// The name under which it registered, if the protocol has one: untrusted text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registered: Option<String>,
    /// Its score; none when the match does not count.
    pub score: Option<f64>,
    /// Its rank.
    pub rank: Option<u8>,
    /// Its faults, which are program errors; only the first of each kind if there were very many.
    pub faults: Vec<Fault>,
    /// The number of faults not listed.
    #[serde(skip_serializing_if = "is_none")]
    pub more_faults: u64,
    /// The number of its orders that the rules did not allow: bad moves, not faults.
    pub rejected: u64,
    /// The first of these orders.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rejections: Vec<RejectedOrder>,
    /// The time it used.
    pub time: SeatTime,
    /// How its program was contained: `off`, or the level of its sandbox, and what that leaves open about its time
    /// (`B, CPU sampled`; `A, shares not equal`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<String>,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

/// How a match ended.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
pub struct OutcomeResult {
    /// Why, in the game's words.
    pub reason: String,
    /// The seat that won; none for a draw.
    pub winner: Option<u8>,
}

impl MatchRecord {
    pub fn faults_of(&self, seat: Seat) -> impl Iterator<Item = &Fault> {
        self.faults.iter().filter(move |fault| fault.seat == seat)
    }

    /// The orders of one seat that the rules did not allow.
    pub fn rejected_of(&self, seat: Seat) -> impl Iterator<Item = &RejectedOrder> {
        self.rejected.iter().filter(move |order| order.seat == seat)
    }

    /// How the bots were held, as a sentence.
    pub fn containment(&self) -> String {
        containment(&self.held, |seat| format!("seat {}", seat + 1))
    }

    /// The longest answer of each seat, in milliseconds of wall time, rounded to the microsecond.
    pub fn max_ms(&self) -> Vec<f64> {
        self.times.iter().map(|time| (time.max_ms * 1e3).round() / 1e3).collect()
    }

    /// Whether `seat` has a fault of this kind.
    pub fn has(&self, seat: Seat, kind: FaultKind) -> bool {
        self.faults_of(seat).any(|fault| fault.kind == kind)
    }

    /// Why the match does not count, as a sentence.
    pub fn void_sentence(&self) -> Option<String> {
        self.void.as_ref().map(Void::to_string)
    }

    /// The result object.
    pub fn result(
        &self,
        session: &dyn agon_game::Session,
        labels: &[String],
        replay: Option<String>,
    ) -> PrintedMatch {
        let recipe = session.recipe();
        let outcome = self.outcome.as_ref();
        let seats = Seat::first(recipe.seats).map(|seat| {
            let faults: Vec<Fault> = self.faults_of(seat).cloned().collect();
            let counts = &self.counts[seat.index()];
            SeatResult {
                seat: seat.number(),
                bot: SeatInfo::called(&labels[seat.index()], session.registered(seat).as_deref()).to_owned(),
                registered: session.registered(seat),
                score: outcome.map(|outcome| outcome.scores[seat.index()]),
                rank: outcome.map(|outcome| outcome.ranks[seat.index()]),
                more_faults: counts.all_faults() - faults.len() as u64,
                faults,
                rejected: counts.rejected,
                rejections: self.rejected_of(seat).cloned().collect(),
                time: self.times[seat.index()],
                sandbox: self.held[seat.index()].word(),
            }
        });
        PrintedMatch {
            game: session.info().name,
            seed: recipe.seed.to_string(),
            rules: recipe.rules_name.clone(),
            map: recipe.map_name.clone(),
            seats: seats.collect(),
            turns: self.steps,
            outcome: OutcomeResult {
                reason: outcome.map_or_else(|| "none".to_owned(), |outcome| outcome.reason.clone()),
                winner: outcome.and_then(Outcome::winner).map(Seat::number),
            },
            replay,
            void: self.void_sentence(),
            notes: self.notes.clone(),
            containment: self.containment(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_sandbox_does_not_settle_about_time_is_said_with_its_level() {
        let said = |level, shares| {
            let held = Held::Inside { level, shares };
            (held.word().expect("a program"), containment(&[held], |_| String::new()))
        };
        let text = |word: &str, how: &str| (word.to_owned(), format!("bots ran in a sandbox of level {how}"));
        assert_eq!(said(Level::A, true), text("A", "A"));
        assert_eq!(said(Level::A, false), text("A, shares not equal", "A (shares not equal)"));
        assert_eq!(said(Level::B, false), text("B, CPU sampled", "B (CPU sampled)"));
        let weak = "C (CPU sampled), which contains mistakes but not enemies";
        assert_eq!(said(Level::C, false), text("C, CPU sampled", weak));
    }
}
