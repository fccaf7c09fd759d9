//! The fairness suite: players of our own that try to gain time, or to cost the other some, in real matches.
//!
//! Longer than 500 lines: the attacks, the matches that they play and the verdicts on them.
//!
//! Each attack is a program in a sandbox ([`player`](agon_sandbox::attack::player)) that answers the referee which every
//! match has, against one that does nothing wrong; both share one CPU. It counts for itself what it uses. The verdict
//! compares that with what the referee charged, stopped or blamed. Each has a control in which it must win: a suite that
//! nothing can fail proves nothing.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use agon_bot::{Confined, Launch, Level, Program, guard, inside, sys};
use agon_game::session::RunningMatch;
use agon_game::{Answer, Game, RulesChoice, Seat, Session, Setup};
use agon_match::record::Void;
use agon_match::{
    Clock, CpuShares, FaultKind, MatchRecord, Observer, Player, Ponder, StepReport, Terms, play_on,
};
use agon_sandbox::suite::{AttackOutcome, Controlled, SuiteResults};
use agon_sandbox::{SUBCOMMAND, attack::player};
use rustix::time::{ClockId, clock_gettime};

mod duel;

use duel::{Duel, DuelUse};

/// The texts that decide what the suite is, for its hash.
pub const SOURCES: &[&str] = &[include_str!("fairness.rs"), include_str!("fairness/duel.rs"), player::SOURCE];

/// The seats.
const OTHER: usize = 0;
const ATTACKER: usize = 1;
/// The first answers are part of the start.
const START: usize = 2;
/// A wait of this much and ten limits makes a match void here, so that no attack takes long.
const DOUBT: Duration = Duration::from_millis(50);
/// Uncharged time in the other's turn, from which on pondering has won, for each turn.
const GAIN: u64 = 1_500;
/// The same for a start, which is its own until the first question of the match.
const HEAD_START: u64 = 15_000;
/// A machine may be disturbed: an attack has won if it wins this often in a row.
const WINS: u32 = 3;
/// So often a control is tried until it wins: on a busy machine an attacker gets little done.
const TRIES: u32 = 8;

/// How long we look whether anybody else uses a CPU.
const LOOK: Duration = Duration::from_millis(20);

/// Where an attack must win.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Control {
    /// Without a cgroup, where processes are sampled.
    Sampled,
    /// Where bots may think in others' turns.
    Pondering,
    /// If only CPU time were charged.
    ByCpu,
}

/// How the winner is determined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Judge {
    /// It wins if it is charged much less than it used.
    Charge,
    /// It wins if it used time in the other's turn that it is not charged.
    Ponder,
    /// The same before its own first question.
    HeadStart,
    /// It wins if the other, which computes at the same time, gets much less than it.
    Starve,
    /// It wins if its lateness is the machine's fault, or the other's.
    Blame,
    /// It wins if the other is late, or the match void by the machine.
    Void,
}

#[derive(Clone, Copy)]
pub struct ClockAttack {
    /// Its name, and that of its player.
    pub name: &'static str,
    /// What it tries.
    pub attempt: &'static str,
    /// What holds it.
    pub wall: &'static str,
    /// The lowest level that still holds it.
    pub held_at: Level,
    judge: Judge,
    control: Control,
    /// Who plays the other seat.
    other: &'static str,
    /// Changes of the rules.
    sets: &'static [(&'static str, &'static str)],
}

impl ClockAttack {
    /// Where it must win, in words.
    pub fn control(&self) -> &'static str {
        match self.control {
            Control::Sampled => "without group",
            Control::Pondering => "with --ponder allow",
            Control::ByCpu => "charged by CPU time alone",
        }
    }

    /// Whether the seats take turns.
    fn alternates(&self) -> bool {
        !matches!(self.judge, Judge::Starve | Judge::Void)
    }
}

/// All attacks, in the order of the table.
pub fn all() -> Vec<ClockAttack> {
    const COUNT: &str = "CPU time of the cgroup";
    const CLOCK: &str = "the clock: only waiting for the machine is taken off";
    const FREEZE: &str = "freezer at the first beat, and CPU time of the cgroup";
    const SHARES: &str = "equal shares of the CPU";
    let new = |name, attempt, wall, held_at, judge, control| ClockAttack {
        name,
        attempt,
        wall,
        held_at,
        judge,
        control,
        other: "sleeps",
        sets: &[],
    };
    let works = |name, attempt| new(name, attempt, COUNT, Level::A, Judge::Charge, Control::Sampled);
    let waits = |name, attempt| new(name, attempt, CLOCK, Level::C, Judge::Charge, Control::ByCpu);
    let ponders = |name, attempt| new(name, attempt, FREEZE, Level::A, Judge::Ponder, Control::Pondering);
    let hides = |name, attempt| new(name, attempt, FREEZE, Level::A, Judge::Ponder, Control::Sampled);
    let starves = |name, attempt| ClockAttack {
        other: "races",
        ..new(name, attempt, SHARES, Level::A, Judge::Starve, Control::Sampled)
    };
    let blames = |name, attempt| ClockAttack {
        sets: &[("limit", "60"), ("question", "200000")],
        ..new(name, attempt, CLOCK, Level::C, Judge::Blame, Control::ByCpu)
    };
    vec![
        works("supervisors", "let twelve processes have work done by children of half a millisecond"),
        works("sharing-children", "have it done by children that share memory, as vfork makes them"),
        works("daemons", "have it done by orphans, each of whose parents is gone at once"),
        works("heirs", "hand the work from process to process, each of which ends"),
        works("own-sessions", "have it done by children of children in sessions of their own"),
        works("low-priority", "have it done by children while the program itself stands back"),
        works("page-faults", "have the kernel do it: children that touch memory as far as the limit allows"),
        works("disk", "have the kernel do it: children that write, sync and remove files"),
        works("kernel", "have the kernel do it: children that only make system calls"),
        waits("sleep", "sleep in its own turn"),
        waits("own-pipe", "wait for a pipe of its own"),
        waits("full-pipe", "wait until a pipe of its own has room"),
        waits("stopped-by-child", "be stopped and woken by its own child"),
        waits("behind-vfork", "stand still while a child has its memory"),
        ponders("spins", "compute in the other's turn until it is asked"),
        ponders("spinning-threads", "let a thread compute in the other's turn"),
        ponders("spinning-daemon", "let an orphan in a session of its own compute in the other's turn"),
        ponders("woken-helper", "wake a stopped process for the other's turn"),
        ponders("after-the-beat", "begin to compute when a check has just found nothing"),
        ponders("before-the-beat", "compute for 2 ms after each answer, before anybody checks"),
        hides("short-lived-children", "let children of a millisecond compute in the other's turn"),
        hides("called-java", "compute in the other's turn as a process called java"),
        ClockAttack {
            judge: Judge::HeadStart,
            other: "sleeps-long",
            ..ponders("head-start", "compute before its own first question")
        },
        ClockAttack {
            judge: Judge::HeadStart,
            other: "sleeps-long",
            ..hides(
                "head-start-of-children",
                "let short-lived children compute before its own first question",
            )
        },
        starves("crowd-of-sessions", "take the CPU with twelve processes in sessions of their own"),
        starves("crowd-of-priorities", "the same, and ask for every priority there is"),
        starves("crowd-of-sleepers", "the same with processes that sleep now and then, and are served first"),
        ClockAttack {
            judge: Judge::Void,
            other: "works-long",
            sets: &[("limit", "40")],
            ..starves(
                "crowd-afterwards",
                "let 24 processes and their children compute on, so that nobody can say how the other would have played",
            )
        },
        blames("stops-itself", "be stopped when it is late, as if the machine had stopped it"),
        blames("does-not-read", "leave its question in a full pipe, so that its clock does not start"),
    ]
}

/// Which attacks to run.
pub use agon_sandbox::suite::AttackChoice;

/// Runs attacks. `each` gets every outcome as it comes.
///
/// # Errors
/// A sentence, when no match can be played.
pub fn run(wanted: &AttackChoice, each: &mut dyn FnMut(&AttackOutcome)) -> Result<SuiteResults, String> {
    let found = inside::found()?;
    let (level, _) = found.at_most(wanted.level.unwrap_or(Level::A));
    if level == Level::D {
        return Err("there is no filter of system calls, so no attack is run here".to_owned());
    }
    let field = Field::make().map_err(|error| format!("the players' folder: {error}"))?;
    let held_at = (level != found.level).then_some(level);
    let mut attacks = Vec::new();
    for attack in all() {
        if !wanted.names(attack.name) {
            continue;
        }
        let may_win = level > attack.held_at;
        let mut came = field.stage(&attack, held_at, Ponder::Stop)?.judged(&attack, false);
        let mut disturbed = false;
        for _ in 1..WINS {
            if came.0 && !may_win {
                disturbed |= field.is_disturbed();
                came = field.stage(&attack, held_at, Ponder::Stop)?.judged(&attack, false);
            }
        }
        if came.0 && !may_win && (disturbed || field.is_disturbed()) {
            came = (false, format!("not judged, as other programs use this CPU: {}", came.1));
        }
        let control = match wanted.controls {
            true => Some(field.control(&attack)?),
            false => None,
        };
        let outcome = AttackOutcome {
            name: attack.name,
            attempt: attack.attempt,
            expected: if may_win { "won" } else { "held" },
            got: came.1,
            enforced_by: attack.wall,
            won: came.0,
            may_win,
            control,
        };
        each(&outcome);
        attacks.push(outcome);
    }
    Ok(SuiteResults { level, found: found.clone(), attacks })
}

/// The CPU, and the files of the players.
struct Field {
    program: PathBuf,
    folder: tempfile::TempDir,
    cpus: CpuShares,
}

impl Field {
    fn make() -> io::Result<Self> {
        let program = guard::program().ok_or(io::ErrorKind::NotFound)?.to_owned();
        let folder = tempfile::Builder::new().prefix("agon-fair-").tempdir()?;
        fs::create_dir(folder.path().join("bot"))?;
        // Players run as users of their own, and our umask is for nobody but us.
        let open = |path: &Path, mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode));
        open(folder.path(), 0o755)?;
        open(&folder.path().join("bot"), 0o755)?;
        Ok(Self { program, folder, cpus: CpuShares::claim(1, 1) })
    }

    /// Whether other programs use the CPU of the matches. What a seat is kept from is then the machine's doing, and what is
    /// noticed late is not the referee's.
    fn is_disturbed(&self) -> bool {
        let cpus = self.cpus.iter().next().unwrap_or_default();
        let looks = || {
            sys::stay_on(cpus);
            let used = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default();
            let (begun, before) = (Instant::now(), used());
            while begun.elapsed() < LOOK {}
            5 * (used() - before) < 4 * LOOK
        };
        std::thread::scope(|scope| scope.spawn(looks).join().unwrap_or(true))
    }

    fn control(&self, attack: &ClockAttack) -> Result<Controlled, String> {
        let mut won = (false, String::new());
        for _ in 0..TRIES {
            won = match attack.control {
                Control::Sampled => self.stage(attack, Some(Level::B), Ponder::Stop)?.judged(attack, false),
                Control::Pondering => self.stage(attack, None, Ponder::Allow)?.judged(attack, false),
                Control::ByCpu => self.stage(attack, None, Ponder::Stop)?.judged(attack, true),
            };
            if won.0 {
                break;
            }
        }
        Ok(Controlled { place: attack.control().to_owned(), got: won.1, won: Some(won.0) })
    }

    /// Plays a match, held no better than `level`.
    fn stage(&self, attack: &ClockAttack, level: Option<Level>, ponder: Ponder) -> Result<Seen, String> {
        let sets = attack.sets.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let rules = RulesChoice { sets, ..RulesChoice::default() };
        let setup = Setup { rules, seats: 2, seed: 1, ..Setup::default() };
        let mut session: Box<dyn Session> = match attack.alternates() {
            true => table::<true>(&setup)?,
            false => table::<false>(&setup)?,
        };
        let cpus = self.cpus.iter().next().unwrap_or_default();
        let mut players = Vec::new();
        for (seat, name) in Seat::first(2).zip([attack.other, attack.name]) {
            let launch = self.launch(name, level);
            let program = Program::start(&launch, seat.number(), Some(cpus), 1 << 10);
            players.push(Player::Program(Box::new(program.map_err(|error| error.to_string())?)));
        }
        let stop = AtomicBool::new(false);
        let clock = Clock { tolerant: false, ..Clock::ORIGINAL };
        let terms = Terms { doubt: DOUBT, ..Terms::new(clock, ponder, &stop) };
        let labels = ["the other".to_owned(), "the attacker".to_owned()];
        let mut seats = Watch::default();
        let record = std::thread::scope(|scope| {
            let referee = scope.spawn(|| {
                sys::stay_on(cpus);
                play_on(session.as_mut(), &mut players, &labels, &mut seats, &terms)
            });
            referee.join().map_err(|_| "the referee panicked".to_owned())
        })?;
        if let Some(void @ (Void::OwnFault(_) | Void::Stopped)) = &record.void {
            return Err(void.to_string());
        }
        Ok(Seen { record, seats: seats.0 })
    }

    fn launch(&self, name: &str, level: Option<Level>) -> Launch {
        let words = [SUBCOMMAND, "player", name].map(Into::into);
        Launch {
            program: self.program.clone().into(),
            arguments: words.to_vec(),
            folder: Some(self.folder.path().join("bot")),
            confined: Confined::Own,
            level,
            ..Launch::default()
        }
    }
}

fn table<const TURNS: bool>(setup: &Setup) -> Result<Box<dyn Session>, String> {
    let duel = Duel::<TURNS>::set_up(setup).map_err(|error| error.to_string())?;
    Ok(Box::new(RunningMatch::new(duel)))
}

/// An answer, in microseconds.
#[derive(Clone, Copy, Default)]
struct Answered {
    used: DuelUse,
    charged: u64,
    /// The part of it that it used in the other's turn.
    owed: u64,
    cpu: u64,
}

/// The answers of each seat.
#[derive(Default)]
struct Watch([Vec<Answered>; 2]);

impl Observer for Watch {
    fn stepped(&mut self, _: &mut dyn Session, step: &StepReport<'_>) -> io::Result<()> {
        let us = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        for ((seat, answer), take) in step.answers.iter().zip(step.takes) {
            let used = match answer {
                Answer::Given { order, .. } => DuelUse::of(order).unwrap_or_default(),
                _ => DuelUse::default(),
            };
            self.0[seat.index()].push(Answered {
                used,
                charged: us(take.charged),
                owed: take.counted.map_or(0, |counted| counted.owed_us),
                cpu: us(take.cpu.unwrap_or_default()),
            });
        }
        Ok(())
    }
}

/// What a match showed.
struct Seen {
    record: MatchRecord,
    seats: [Vec<Answered>; 2],
}

impl Seen {
    /// Whether the attack won, and what happened; `by_cpu` judges as if only CPU time were charged.
    fn judged(&self, attack: &ClockAttack, by_cpu: bool) -> (bool, String) {
        let sum = |seat: usize, from: usize, what: fn(&Answered) -> u64| -> u64 {
            self.seats[seat].iter().skip(from).map(what).sum()
        };
        let ms = |us: u64| us as f64 / 1e3;
        let void = self.record.void.as_ref();
        let late = |seat: usize| {
            let faults = &self.record.counts[seat].faults;
            faults.keys().any(|kind| matches!(kind, FaultKind::Timeout | FaultKind::Deaf))
        };
        let counts = matches!(attack.judge, Judge::Charge | Judge::Ponder | Judge::HeadStart | Judge::Starve);
        if let Some(fault) = self.record.faults.iter().find(|fault| counts && fault.seat.index() == ATTACKER)
        {
            return (false, fault.message.clone());
        }
        match attack.judge {
            Judge::Charge => {
                let used = sum(ATTACKER, START, |answer| answer.used.own);
                let charged = match by_cpu {
                    true => sum(ATTACKER, START, |answer| answer.cpu),
                    false => sum(ATTACKER, START, |answer| answer.charged),
                };
                let got = format!("{:.1} of {:.1} ms were charged", ms(charged), ms(used));
                (used > 0 && charged * 10 < used * 8, got)
            }
            Judge::Ponder => {
                let turns = self.seats[ATTACKER].len().saturating_sub(START) as u64;
                let used = sum(ATTACKER, START, |answer| answer.used.since);
                // What it used before its answer was taken is part of that answer.
                let late = |answer: &Answered| (answer.charged - answer.owed).saturating_sub(answer.used.own);
                let charged = sum(ATTACKER, START, |answer| answer.owed) + sum(ATTACKER, START - 1, late);
                let got =
                    format!("{:.1} ms in {turns} turns of the other, {:.1} charged", ms(used), ms(charged));
                (used > charged + GAIN * turns, got)
            }
            Judge::HeadStart => {
                let first = self.seats[ATTACKER][0];
                let (used, owed) = (first.used.since, first.owed);
                let got = format!("{:.1} ms before its first question, {:.1} charged", ms(used), ms(owed));
                (used > owed + HEAD_START, got)
            }
            Judge::Starve => {
                let [other, own] = [OTHER, ATTACKER].map(|seat| sum(seat, START, |answer| answer.used.own));
                let got = format!("the other got {:.1} ms beside its {:.1}", ms(other), ms(own));
                (other * 3 < own, got)
            }
            Judge::Void => match void {
                Some(Void::HostLate(why)) => (true, format!("void: {why}")),
                Some(void) => (false, void.to_string()),
                None if late(OTHER) => (true, "the other was late".to_owned()),
                None => (false, "the other played, and was charged for itself".to_owned()),
            },
            Judge::Blame => {
                let cpu = sum(ATTACKER, 0, |answer| answer.cpu);
                let by_cpu = by_cpu && void.is_none() && cpu < 60_000;
                match (void, late(OTHER), late(ATTACKER)) {
                    _ if by_cpu => (true, format!("{:.1} ms of CPU, in time", ms(cpu))),
                    (Some(void), ..) => (true, void.to_string()),
                    (None, true, _) => (true, "the other was late".to_owned()),
                    (None, false, false) => (true, "it was not late".to_owned()),
                    (None, false, true) => (false, "it was late, and nobody else".to_owned()),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn there_are_at_least_25_and_each_has_a_player_of_its_name() {
        let players: BTreeSet<&str> = player::all().iter().map(|player| player.name).collect();
        let names: BTreeSet<&str> = all().iter().map(|attack| attack.name).collect();
        assert!(names.len() >= 25 && names.len() == all().len(), "{}", names.len());
        let others: BTreeSet<&str> = all().iter().map(|attack| attack.other).collect();
        let missing: Vec<_> = names.union(&others).filter(|name| !players.contains(**name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    /// The rows of the guide's table.
    fn table() -> String {
        let line = |attack: ClockAttack| {
            let (name, attempt, wall, level) = (attack.name, attack.attempt, attack.wall, attack.held_at);
            format!("| `{name}` | {attempt} | {wall} | {level} | {} |\n", attack.control())
        };
        all().into_iter().map(line).collect()
    }

    /// `UPDATE_SECURITY=1 cargo test -p agon-worker --lib fairness` rewrites the table.
    #[test]
    fn the_guide_lists_every_attack() {
        const HEAD: &str =
            "| attack on the clock | it tries to | held by | down to level | wins |\n|---|---|---|---|---|\n";
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/security.md");
        let page = fs::read_to_string(&path).expect("the page");
        let (before, old) = page.split_once(HEAD).expect("the table");
        if std::env::var_os("UPDATE_SECURITY").is_some() {
            fs::write(&path, format!("{before}{HEAD}{}", table())).expect("written");
            return;
        }
        assert_eq!(old, table(), "run this test with UPDATE_SECURITY=1");
    }
}
