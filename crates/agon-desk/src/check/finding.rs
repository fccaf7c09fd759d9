//! Turns observations into findings, with what to change.

use std::path::PathBuf;
use std::time::Duration;

use agon_bot::advised::NextCommand;
use agon_bot::program::ProgramEnd;
use agon_game::{GameInfo, MapChoice, Seat, Setup, Transport};
use agon_match::{Fault, FaultKind, RejectedOrder};
use serde::Serialize;

use super::examine::{Seen, Time};
use super::situation::{Kind, Situation};
use crate::words::milliseconds;

/// One line of the report.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS), ts(rename = "Finding"))]
pub struct CheckFinding {
    /// What was examined.
    pub what: &'static str,
    /// Its state.
    pub status: FindingStatus,
    /// What was seen.
    pub seen: String,
    /// The rule that says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The situation and the turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// What the bot wrote on standard error at that point.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stderr: Vec<String>,
    /// What to change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
    /// A command that reproduces it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again: Option<String>,
}

/// The state of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "described", derive(ts_rs::TS), ts(rename = "Status"))]
pub enum FindingStatus {
    /// Good.
    Passed,
    /// Wrong.
    Failed,
    /// Not wrong, but unwise.
    Warning,
    /// Worth knowing.
    Note,
}

impl CheckFinding {
    pub(super) fn new(what: &'static str, status: FindingStatus, seen: impl Into<String>) -> Self {
        Self {
            what,
            status,
            seen: seen.into(),
            rule: None,
            place: None,
            stderr: Vec::new(),
            change: None,
            again: None,
        }
    }

    fn change(mut self, change: impl Into<String>) -> Self {
        self.change = Some(change.into());
        self
    }
}

/// Keeps a replay under this name; returns where it is now, or none where it cannot be kept.
pub type KeepReplay<'a> = dyn Fn(&str, &[u8]) -> Option<PathBuf> + 'a;

/// Above this share of the limit, an answer is close to it.
const CLOSE: f64 = 0.7;
/// What helps a bot that starts slowly.
const SOONER: &str =
    "load and compute less before the first answer; keep tables in a file or compute them later";
/// More than one rejected order in this many answers is too many.
const FEW: usize = 10;

/// The kinds of situations that get findings of their own.
const SITUATIONS: [(Kind, &str); 4] = [
    (Kind::Little, "with few units left"),
    (Kind::Much, "on a crowded board"),
    (Kind::Last, "on the last turn"),
    (Kind::Big, "with the largest input"),
];

/// All findings, in the order of a bot's life. `rest`: the first match again, and how the bot ends; none when that was hopeless.
pub fn all(
    info: &GameInfo,
    bot: &str,
    situations: &[Situation],
    seen: &[Seen],
    rest: Option<(Seen, Option<(ProgramEnd, Duration)>)>,
    keep: &KeepReplay<'_>,
) -> Vec<CheckFinding> {
    let report = Report { info, bot, situations, seen, keep };
    let mut findings = vec![report.starts()];
    let unanswered =
        [FaultKind::Timeout, FaultKind::Crash, FaultKind::Flood, FaultKind::Deaf, FaultKind::Resources];
    findings.push(report.faults("answers every turn", &unanswered, FindingStatus::Failed, report.answered()));
    let form = "every answer had the right form".to_owned();
    findings.push(report.faults("form of answers", &[FaultKind::Malformed], FindingStatus::Failed, form));
    if report.own(&[FaultKind::Exception]).next().is_some() {
        findings.push(report.faults(
            "no exceptions",
            &[FaultKind::Exception],
            FindingStatus::Failed,
            String::new(),
        ));
    }
    findings.extend(report.rejected());
    // A bot that never answers has nothing to show in single situations.
    let is_silent = report.times().next().is_none();
    let shown: &[(Kind, &'static str)] = if is_silent { &[] } else { &SITUATIONS };
    for &(kind, what) in shown {
        findings.extend(report.situation(kind, what));
    }
    findings.extend(report.time());
    let quiet = "as many answers as questions".to_owned();
    findings.push(report.faults("no stray output", &[FaultKind::Stray], FindingStatus::Failed, quiet));
    if info.alternating {
        let still = "it computes only in its own turns".to_owned();
        findings.push(report.faults(
            "idle in others' turns",
            &[FaultKind::Pondering],
            FindingStatus::Warning,
            still,
        ));
    }
    // Without any answers, nothing about answers can pass.
    findings.retain(|finding| !is_silent || finding.status != FindingStatus::Passed);
    findings.extend(report.memory());
    let Some((again, ending)) = rest else {
        let (played, all) = (seen.len(), situations.len() + 1);
        let cut = format!("{played} of {all} matches: the others would only wait for it in the same way");
        findings.push(CheckFinding::new("cut short", FindingStatus::Note, cut));
        return findings;
    };
    findings.push(match seen[0].answers == again.answers {
        true => {
            CheckFinding::new("repeatable", FindingStatus::Note, "yes: the same answers in the same match")
        }
        false => CheckFinding::new(
            "repeatable",
            FindingStatus::Note,
            "no: different answers in the same match, by chance or by the clock: no fault, but no mistake of it can be repeated at will",
        ),
    });
    findings.extend(ends(info, ending));
    findings
}

/// The answer that came closest to its limit, first answers left out: how long it took, and the limit.
pub fn slowest(seen: &[Seen]) -> Option<(Duration, Duration)> {
    let timed = seen.iter().flat_map(|seen| &seen.times).filter(|time| !time.first && time.limit_ms > 0.0);
    let worst = timed.max_by(|a, b| (a.ms / a.limit_ms).total_cmp(&(b.ms / b.limit_ms)))?;
    let time = |ms: f64| Duration::try_from_secs_f64(ms / 1e3).unwrap_or_default();
    Some((time(worst.ms), time(worst.limit_ms)))
}

impl Time {
    /// How close to a limit it came. Beyond the soft limit an answer costs something, but not the match.
    fn status(&self) -> FindingStatus {
        match self.ms {
            ms if ms >= self.limit_ms => FindingStatus::Failed,
            ms if ms > CLOSE * self.soft_ms.map_or(self.limit_ms, |soft| soft.min(self.limit_ms)) => {
                FindingStatus::Warning
            }
            _ => FindingStatus::Passed,
        }
    }

    /// The limits in words.
    fn limits(&self) -> String {
        let hard = milliseconds(self.limit_ms);
        match self.soft_ms.filter(|soft| *soft < self.limit_ms) {
            Some(soft) => format!("{} without a penalty (it is stopped at {hard})", milliseconds(soft)),
            None => hard,
        }
    }
}

struct Report<'a> {
    info: &'a GameInfo,
    bot: &'a str,
    situations: &'a [Situation],
    seen: &'a [Seen],
    keep: &'a KeepReplay<'a>,
}

impl<'a> Report<'a> {
    fn matches(&self) -> impl Iterator<Item = (&'a Situation, &'a Seen)> {
        self.situations.iter().zip(self.seen)
    }

    fn times(&self) -> impl Iterator<Item = (&'a Situation, &'a Time)> {
        self.matches().flat_map(|(situation, seen)| seen.times.iter().map(move |time| (situation, time)))
    }

    fn own(&self, kinds: &'a [FaultKind]) -> impl Iterator<Item = (usize, &'a Fault)> {
        self.matches().enumerate().flat_map(move |(number, (situation, seen))| {
            let own = seen.record.faults_of(situation.seat);
            own.filter(|fault| kinds.contains(&fault.kind)).map(move |fault| (number, fault))
        })
    }

    fn place(&self, number: usize, turn: &str) -> String {
        format!("{turn}, {}", self.situations[number].what)
    }

    /// A command that shows a match again, or its replay if no command can set it up.
    fn again(&self, number: usize) -> Option<String> {
        let situation = &self.situations[number];
        if let Some(setup) = set_up(situation).filter(|_| situation.setup.seats == 2) {
            let other = format!("builtin:{}", situation.opponent);
            let (bot, other) = (self.bot.to_owned(), other);
            let bots = if situation.seat == Seat::new(0) { [bot, other] } else { [other, bot] };
            let game = [self.info.name.to_owned()];
            return Some(NextCommand::Play.about(game.into_iter().chain(bots).chain(setup)));
        }
        let name = format!("check-{}-{}.replay", self.info.name, number + 1);
        let file = (self.keep)(&name, &self.seen[number].replay)?;
        Some(NextCommand::ReplayInfo.at(&file))
    }

    /// A finding about faults; `good` is its text when there is none.
    fn faults(
        &self,
        what: &'static str,
        kinds: &'a [FaultKind],
        bad: FindingStatus,
        good: String,
    ) -> CheckFinding {
        let Some((number, first)) = self.own(kinds).next() else {
            return CheckFinding::new(what, FindingStatus::Passed, good);
        };
        let more = self.own(kinds).count() - 1;
        let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
        let mut finding =
            CheckFinding::new(what, bad, format!("{}: {}{more}", first.kind.word(), first.message));
        finding.place = Some(self.place(number, &first.turn));
        finding.stderr.clone_from(&first.stderr);
        finding.change = first.kind.change().map(str::to_owned);
        finding.again = self.again(number);
        finding
    }

    fn starts(&self) -> CheckFinding {
        const WHAT: &str = "starts in time";
        let never = self.faults(WHAT, &[FaultKind::NeverStarted], FindingStatus::Failed, String::new());
        if never.status == FindingStatus::Failed {
            return never;
        }
        // Where its first question went unanswered, there is no time of a first answer to compare.
        let missed = self.matches().filter(|(situation, seen)| {
            let is_late = |fault: &Fault| fault.kind == FaultKind::Timeout;
            seen.times.is_empty() && seen.record.faults_of(situation.seat).any(is_late)
        });
        if let missed @ 1.. = missed.count() {
            let all = self.seen.len();
            let seen = format!("no first answer in {missed} of {all} matches");
            return CheckFinding::new(WHAT, FindingStatus::Failed, seen).change(SOONER);
        }
        let firsts: Vec<&Time> = self.times().map(|(_, time)| time).filter(|time| time.first).collect();
        let slowest = firsts.iter().max_by(|a, b| a.ms.total_cmp(&b.ms));
        let Some(slowest) = slowest else {
            return CheckFinding::new(WHAT, FindingStatus::Failed, "it never answered");
        };
        let seen = format!(
            "the slowest of {} first answers took {} of {}",
            firsts.len(),
            milliseconds(slowest.ms),
            slowest.limits()
        );
        let status = slowest.status();
        let finding = CheckFinding::new(WHAT, status, seen);
        match status {
            FindingStatus::Passed => finding,
            _ => finding.change(SOONER),
        }
    }

    fn answered(&self) -> String {
        let answers = self.times().count();
        format!("{answers} answers in {} matches", self.seen.len())
    }

    /// Orders that the rules reject, one finding for each rule.
    fn rejected(&self) -> Vec<CheckFinding> {
        const WHAT: &str = "allowed orders";
        let answers = self.times().count();
        let all: Vec<(usize, &RejectedOrder)> = self
            .matches()
            .enumerate()
            .flat_map(|(number, (situation, seen))| {
                seen.record.rejected_of(situation.seat).map(move |order| (number, order))
            })
            .collect();
        let mut rules: Vec<&str> = all.iter().map(|(_, order)| order.rule).collect();
        rules.sort_unstable();
        rules.dedup();
        let mut findings = Vec::new();
        for rule in rules {
            let (harmless, of_rule): (Vec<_>, Vec<_>) = all
                .iter()
                .copied()
                .filter(|(_, order)| order.rule == rule)
                .partition(|(_, order)| order.harmless);
            if let [(number, first), ..] = harmless[..] {
                let times = harmless.len();
                let seen = format!("{times} of its orders asked for what was already so: {}", first.message);
                let mut finding = CheckFinding::new("needless orders", FindingStatus::Note, seen);
                finding.rule = Some(rule.to_owned());
                finding.place = Some(self.place(number, &first.turn));
                findings.push(finding);
            }
            if of_rule.is_empty() {
                continue;
            }
            let (number, first) = of_rule[0];
            // If a rejected order ends the match, one is too many.
            let is_fatal = |number: usize, order: &RejectedOrder| {
                let record = &self.seen[number].record;
                let seat = self.situations[number].seat;
                let lost = record.outcome.as_ref().is_some_and(|outcome| outcome.ranks[seat.index()] > 1);
                lost && order.step + 1 == record.steps
            };
            let fatal = of_rule.iter().find(|(number, order)| is_fatal(*number, order));
            let many = of_rule.len() * FEW > answers;
            let status = if fatal.is_some() || many { FindingStatus::Failed } else { FindingStatus::Warning };
            let (number, first) = fatal.map_or((number, first), |(number, order)| (*number, *order));
            let lost = match of_rule.iter().filter(|(number, order)| is_fatal(*number, order)).count() {
                0 => String::new(),
                1 => ", which lost a match".to_owned(),
                many => format!(", which lost {many} matches"),
            };
            let orders =
                if of_rule.len() == 1 { "1 order".to_owned() } else { format!("{} orders", of_rule.len()) };
            let seen = format!("{orders} in {answers} answers rejected{lost}: {}", first.message);
            let mut finding = CheckFinding::new(WHAT, status, seen);
            finding.rule = Some(rule.to_owned());
            finding.place = Some(self.place(number, &first.turn));
            finding.change = Some(format!(
                "`{}` shows the rule, its code and its test",
                NextCommand::Explain.about([rule])
            ));
            finding.again = self.again(number);
            findings.push(finding);
        }
        if all.iter().all(|(_, order)| order.harmless) {
            findings.push(CheckFinding::new(
                WHAT,
                FindingStatus::Passed,
                format!("none of {answers} answers was rejected"),
            ));
        }
        findings
    }

    /// Whether the bot kept going in all situations of a kind.
    fn situation(&self, kind: Kind, what: &'static str) -> Option<CheckFinding> {
        let own: Vec<(usize, &Seen)> = self
            .seen
            .iter()
            .enumerate()
            .filter(|(number, _)| self.situations[*number].kind == kind)
            .collect();
        if own.is_empty() {
            return None;
        }
        for (number, seen) in &own {
            let seat = self.situations[*number].seat;
            let broken = seen.record.faults_of(seat).find(|fault| fault.kind.breaks());
            if let Some(fault) = broken {
                let mut finding = CheckFinding::new(
                    what,
                    FindingStatus::Failed,
                    format!("{}: {}", fault.kind.word(), fault.message),
                );
                finding.place = Some(self.place(*number, &fault.turn));
                finding.stderr.clone_from(&fault.stderr);
                finding.change = fault.kind.change().map(str::to_owned);
                finding.again = self.again(*number);
                return Some(finding);
            }
        }
        let answers: usize = own
            .iter()
            .map(|(number, seen)| {
                let given = self.situations[*number].given.len() as u32;
                seen.times.iter().filter(|time| time.step >= given).count()
            })
            .sum();
        let words = match kind {
            Kind::Big => self.situations[own[0].0].what.trim_start_matches("the largest input: ").to_owned(),
            _ => format!("from {} positions reached by other bots", own.len()),
        };
        let words = match answers {
            0 => return Some(CheckFinding::new(what, FindingStatus::Note, "it was never asked there")),
            1 => format!("1 answer; {words}"),
            _ => format!("{answers} answers; {words}"),
        };
        let whole = own.iter().all(|(_, seen)| seen.whole);
        debug_assert!(whole, "a match without a fault goes on to its end");
        Some(CheckFinding::new(what, FindingStatus::Passed, words))
    }

    /// Times against the limit, first answers left out.
    fn time(&self) -> Option<CheckFinding> {
        const WHAT: &str = "time";
        let mut all: Vec<(&Situation, &Time)> = self.times().filter(|(_, time)| !time.first).collect();
        all.sort_by(|a, b| a.1.ms.total_cmp(&b.1.ms));
        let (_, median) = all.get(all.len() / 2)?;
        let part = |time: &Time| time.ms / time.limit_ms.max(0.001);
        let (situation, worst) = all.iter().max_by(|a, b| part(a.1).total_cmp(&part(b.1)))?;
        let seen = format!(
            "median {}, worst {} of {}",
            milliseconds(median.ms),
            milliseconds(worst.ms),
            worst.limits()
        );
        let status = worst.status();
        let mut finding = CheckFinding::new(WHAT, status, seen);
        if status != FindingStatus::Passed {
            finding.place = Some(format!("{} {}, {}", self.info.step, worst.step + 1, situation.what));
            finding.change = Some(
                "leave a margin: the contest's machine may be slower and busier; limit thinking by the clock, not by depth"
                    .to_owned(),
            );
        }
        Some(finding)
    }

    fn memory(&self) -> Option<CheckFinding> {
        let own =
            |(situation, seen): (&Situation, &Seen)| seen.record.times[situation.seat.index()].memory_mib;
        let most = self.matches().filter_map(own).max_by(f64::total_cmp)?;
        Some(CheckFinding::new("memory", FindingStatus::Note, format!("at most {most:.0} MiB")))
    }
}

/// How the bot ends.
fn ends(info: &GameInfo, ending: Option<(ProgramEnd, Duration)>) -> Option<CheckFinding> {
    const WHAT: &str = "exits at end of input";
    let (ending, after) = ending?;
    let waits = match info.transport {
        Transport::Lines => "after its input ended",
        _ => "after its connection closed",
    };
    Some(match ending {
        ProgramEnd::Runs => CheckFinding::new(WHAT, FindingStatus::Warning, format!("it ran on for a second {waits}, and was killed"))
            .change("end the loop when reading gives nothing more (Python: `line == ''`, C++: `if (!getline(...)) return`)"),
        ProgramEnd::Code(0) => {
            let ms = milliseconds(after.as_secs_f64() * 1e3);
            CheckFinding::new(WHAT, FindingStatus::Passed, format!("{ms} after its input was closed"))
        }
        ProgramEnd::Code(code) => {
            CheckFinding::new(WHAT, FindingStatus::Note, format!("yes, with exit code {code} (0 would be cleaner)"))
        }
        other => CheckFinding::new(WHAT, FindingStatus::Note, format!("{other}, {waits}")),
    })
}

/// The options that set a whole match up again; none if it depends on files.
fn set_up(situation: &Situation) -> Option<Vec<String>> {
    let Setup { rules, map, seed, .. } = &situation.setup;
    if situation.kind != Kind::Whole || rules.file.is_some() {
        return None;
    }
    let mut words = vec!["--seed".to_owned(), seed.to_string()];
    let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
    match map {
        MapChoice::Default => {}
        MapChoice::Named(name) => add("--map", name.clone()),
        MapChoice::Generated => add("--map", "generate".to_owned()),
        MapChoice::File(..) => return None,
    }
    if !rules.preset.is_empty() {
        add("--rules", rules.preset.clone());
    }
    for (name, value) in &rules.sets {
        add("--set", format!("{name}={value}"));
    }
    Some(words)
}
