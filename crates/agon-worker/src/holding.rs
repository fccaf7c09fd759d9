//! How a worker holds strangers' bots, and the proof that it does.
//!
//! Below level B nobody's bot is played, unless the organiser trusts all of them, and a contest does not fall below the
//! level at which it was founded unless its organiser says so. Before the first match its walls, and the
//! referee's clock and verdicts, are attacked. The table of results is kept; it is valid until the machine restarts, or runs another kernel or
//! program.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use agon_bot::image::Images;
use agon_bot::{Confined, Level, Run, build, guard, inside, sys, tools};
use agon_contest::whole;
use agon_sandbox::suite::{self, AttackChoice, AttackOutcome};
use agon_sandbox::{Found, SUBCOMMAND};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::fairness;

/// How bots are held here: in a sandbox fit for strangers, or without one only if their organiser trusts them; never as
/// root, and never at a lower level than `least`.
///
/// # Errors
/// What this machine lacks, how to fix it, and how to declare trust.
pub fn hold(trusted: bool, least: Option<Level>) -> Result<Confined, String> {
    held(inside::found()?, trusted, least, rustix::process::geteuid().is_root())
}

fn held(found: &Found, trusted: bool, least: Option<Level>, is_root: bool) -> Result<Confined, String> {
    let level = found.level;
    let lacks = found.missing.first().map_or_else(String::new, |missing| {
        format!(" Missing: {} ({}); {}.", missing.what, missing.why, missing.fix)
    });
    let is = format!("level {level}, {}.{lacks} `agon doctor` says more.", level.meaning());
    if let Some(least) = least.filter(|least| level > *least) {
        return Err(format!(
            "the bots of this contest must be contained at level {least} or better, as its settings say (level), and this \
             machine has {is} Only its organiser can lower that."
        ));
    }
    let cannot = format!("this machine cannot contain strangers' bots: {is}");
    match level {
        Level::A | Level::B => Ok(Confined::Foreign),
        // A wall may be done without by trust; something else that failed may work again in a moment.
        _ if !trusted && found.missing.first().is_some_and(|missing| missing.wall.is_some()) => Err(format!(
            "{cannot} If you trust everybody who submits a bot, write in contest.toml before its first start:\n[sandbox]\ntrust_bots = true\n\
             Later `agon serve set` says so: trust_bots=true."
        )),
        _ if !trusted => Err(cannot),
        Level::C if !is_root || found.own_users => Ok(Confined::Own),
        _ if is_root => Err(format!(
            "{cannot} Trusted or not, bots never run as root: start agon as an ordinary user who owns the contest's folder, \
             for instance with User= in its systemd service, or docker run --user."
        )),
        _ => Ok(Confined::No),
    }
}

/// Checks that this machine has free memory for one match of this many bots.
///
/// # Errors
/// How much a match takes and how much there is, and what to do.
pub fn check_memory(confined: Confined, run: &Run, seats: usize) -> Result<(), String> {
    let (each, free) = (inside::memory_of(run), sys::free_memory());
    if confined == Confined::No || each.saturating_mul(seats as u64) <= free {
        return Ok(());
    }
    Err(format!(
        "this machine has {} MB of free memory, and a match takes {seats} bots of {} MB: end other programs, or have the \
         organiser lower `memory` (`agon serve set`)",
        free >> 20,
        each >> 20
    ))
}

/// How long advice is tried.
const TRIAL: Duration = Duration::from_secs(20);

/// What a machine at level B means for rated matches, and what leads to level A, which is tried before it is said; none at
/// any other level.
pub fn at_level_b() -> Option<String> {
    let found = inside::found().ok().filter(|found| found.level == Level::B)?;
    let missing = found.missing.first();
    let lacks =
        missing.map_or_else(String::new, |missing| format!(" (missing: {}: {})", missing.what, missing.why));
    let to_a = missing.map_or_else(String::new, |missing| {
        match guard::program().map(|own| leads_to(&missing.fix, own)) {
            Some(Some(Level::A)) => format!("\nThis leads to level A, as tried just now: {}", missing.fix),
            Some(Some(level)) => {
                format!("\nThis leads to level A on most machines, but to {level} here: {}", missing.fix)
            }
            _ => format!("\nThis may lead to level A, and was not tried: {}", missing.fix),
        }
    });
    Some(format!(
        "This machine contains bots at level B{lacks}. CPU time is sampled there and not counted: a bot can hide what it uses, as \
         `agon sandbox test --fairness` shows, and each result says `CPU sampled`.{to_a}"
    ))
}

/// The level of this machine if `program` is started as advice for people says (`systemd-run ... agon ...`); none where that is
/// no command that starts it, or does not work.
fn leads_to(advice: &str, program: &Path) -> Option<Level> {
    let words: Vec<&str> = advice.strip_suffix(" agon ...")?.split_whitespace().collect();
    let mut command = Command::new(words.first()?);
    command.args(&words[1..]).arg(program).args([SUBCOMMAND, "level"]);
    let said = tools::answer(&mut command, TRIAL)?;
    // systemd-run may say first what it does.
    let last = said.lines().last()?.trim();
    [Level::A, Level::B, Level::C, Level::D].into_iter().find(|level| level.to_string() == last)
}

/// The word for results and workers: the level of the sandbox, if there is one.
pub fn word(level: Option<Level>) -> String {
    level.map_or_else(|| "not confined".to_owned(), |level| level.to_string())
}

/// What a machine that joins asks of the image of this name: its list, or part of a file of it, by the file's hash and where the part
/// begins.
///
/// # Errors
/// It is not here.
pub fn image(name: &str, file: Option<(&str, u64)>) -> Result<Vec<u8>, String> {
    let images = Images::own();
    let found = match file {
        None => images.list_of(name),
        Some((file, from)) => images.part_of(name, file, from),
    };
    found.map_err(|error| error.to_string())
}

/// The level at which bots held this way are held here.
pub fn level(confined: Confined) -> Option<Level> {
    inside::found().ok().filter(|_| confined != Confined::No).map(|found| found.level)
}

/// The hash of both suites, of the walls and of fairness: a result names it, so that it is known what its machine has held off.
pub fn suites() -> String {
    static HASH: LazyLock<String> = LazyLock::new(|| {
        let all: Vec<&str> = agon_sandbox::attack::SOURCES.iter().chain(fairness::SOURCES).copied().collect();
        format!("{:016x}", agon_contest::content::of_text(all.concat().as_bytes()))
    });
    HASH.clone()
}

/// The attacks on this machine's walls and on its clock, and their results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// When they were run, in seconds since the epoch.
    pub at: u64,
    /// How long they took, in milliseconds.
    pub took_ms: u64,
    /// The kernel, its machine, and when it started.
    pub kernel: String,
    pub program: String,
    pub level: String,
    /// The hash of the suites.
    #[serde(default)]
    pub suites: String,
    /// The attacks, with their results.
    pub attacks: Vec<AttackResult>,
}

/// An attack and its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttackResult {
    pub name: String,
    /// `held`, or `won` if it is accepted, or known to win at this level.
    pub expected: String,
    /// Which of the two happened.
    pub came_to: String,
    /// What happened, in words.
    pub got: String,
    /// What holds it.
    pub enforced_by: String,
}

impl AttackResult {
    fn of(outcome: &AttackOutcome) -> Self {
        Self {
            name: outcome.name.to_owned(),
            expected: outcome.expected.to_owned(),
            came_to: if outcome.won { "won" } else { "held" }.to_owned(),
            got: outcome.got.clone(),
            enforced_by: outcome.enforced_by.to_owned(),
        }
    }
}

impl Proof {
    /// The attacks that won but must not.
    pub fn broken(&self) -> Vec<&str> {
        let won = |attack: &&AttackResult| attack.came_to == "won" && attack.expected == "held";
        self.attacks.iter().filter(won).map(|attack| attack.name.as_str()).collect()
    }
}

/// Attacks the walls, unless that was done since the machine started, and keeps the table in `folder`.
///
/// # Errors
/// When the walls cannot be attacked, or one does not hold.
pub fn prove(folder: &Path) -> Result<Proof, String> {
    let failed = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
    let program = guard::program().ok_or("this process cannot make sandboxes")?;
    let level = inside::found()?.level;
    let about = About::find(program, level);
    let common = build::cache().join("walls");
    fs::create_dir_all(&common).map_err(|error| failed(&common, error))?;
    let known = common.join(about.name());
    // Two workers starting at once must not attack at the same time.
    let lock = known.with_extension("lock");
    let held = File::create(&lock).map_err(|error| failed(&lock, error))?;
    flock(&held, FlockOperation::LockExclusive).map_err(|error| failed(&lock, error.into()))?;
    let text = fs::read(&known).ok().and_then(|text| serde_json::from_slice::<Proof>(&text).ok());
    let proof = match text.filter(|proof| proof.broken().is_empty()) {
        Some(proof) => proof,
        None => {
            let proof = attack(program, level, &about)?;
            keep(&known, &proof).map_err(|error| failed(&known, error))?;
            proof
        }
    };
    drop(held);
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let own = folder.join(about.name());
    keep(&own, &proof).map_err(|error| failed(&own, error))?;
    let broken = proof.broken();
    if broken.is_empty() {
        return Ok(proof);
    }
    Err(format!(
        "the sandbox or the referee of this machine does not hold: {} won; the table is {}. Please report it, with the output of `agon doctor`",
        broken.join(", "),
        own.display()
    ))
}

fn attack(program: &Path, level: Level, about: &About) -> Result<Proof, String> {
    let begun = Instant::now();
    let wanted = AttackChoice { level: Some(level), ..AttackChoice::default() };
    let results = suite::run(program, &wanted, &mut |_| {}).map_err(|refusal| refusal.to_string())?;
    let fair = fairness::run(&wanted, &mut |_| {})?;
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    Ok(Proof {
        at: seconds,
        took_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        kernel: about.kernel.clone(),
        program: about.program.clone(),
        level: results.level.to_string(),
        suites: suites(),
        attacks: results.attacks.iter().chain(&fair.attacks).map(AttackResult::of).collect(),
    })
}

/// Writes a table completely or not at all.
fn keep(path: &Path, proof: &Proof) -> io::Result<()> {
    whole::write(path, &serde_json::to_vec_pretty(proof).map_err(io::Error::other)?)
}

/// What a proof applies to.
struct About {
    kernel: String,
    program: String,
    level: Level,
}

impl About {
    fn find(program: &Path, level: Level) -> Self {
        let own = rustix::system::uname();
        let word = |word: &std::ffi::CStr| word.to_string_lossy().into_owned();
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let kernel = format!(
            "{} {} {} {}",
            word(own.release()),
            word(own.version()),
            word(own.machine()),
            boot.trim()
        );
        let state = fs::metadata(program).ok();
        let changed = state.as_ref().and_then(|state| state.modified().ok());
        let changed = changed.and_then(|changed| changed.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
        let size = state.map_or(0, |state| state.len());
        let (version, user) = (env!("CARGO_PKG_VERSION"), rustix::process::geteuid().as_raw());
        let program = format!(
            "agon {version}, {size} bytes of {}.{:09}, user {user}",
            changed.as_secs(),
            changed.subsec_nanos()
        );
        Self { kernel, program, level }
    }

    /// The name of its table.
    fn name(&self) -> PathBuf {
        let all = format!("{}\n{}\n{}", self.kernel, self.program, self.level);
        format!("{:016x}.json", agon_contest::content::of_text(all.as_bytes())).into()
    }
}

#[cfg(test)]
mod tests {
    use agon_sandbox::{Shortcoming, Wall};

    use super::*;

    fn found(level: Level, wall: Option<Wall>, own_users: bool) -> Found {
        let missing = vec![Shortcoming { what: "something", wall, why: "why".into(), fix: "fix".into() }];
        Found { level, walls: [].into(), missing, own_users, shares: false }
    }

    #[test]
    fn nobody_plays_below_the_level_of_the_founding_trusted_or_not() {
        let a_fallen = found(Level::D, Some(Wall::Filter), true);
        for trusted in [false, true] {
            let why = held(&a_fallen, trusted, Some(Level::A), false).unwrap_err();
            assert!(why.contains("at level A or better") && why.contains("something (why); fix"), "{why}");
            assert!(!why.contains("trust_bots"), "{why}");
        }
        let b = found(Level::B, Some(Wall::Group), true);
        assert!(held(&b, false, Some(Level::A), false).is_err());
        assert_eq!(held(&b, false, Some(Level::B), false), Ok(Confined::Foreign));
        assert_eq!(held(&b, false, None, true), Ok(Confined::Foreign));
    }

    #[test]
    fn advice_is_tried_before_it_is_given() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let script = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("a file");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("our own file");
            path
        };
        let run = script("run", "shift; echo Running as unit; exec \"$@\"");
        let tried = |program: &Path| leads_to(&format!("{} --scope agon ...", run.display()), program);
        assert_eq!(tried(&script("a", "[ \"$2\" = level ] && echo A")), Some(Level::A));
        assert_eq!(tried(&script("b", "echo B")), Some(Level::B));
        assert_eq!(tried(&script("none", "echo no")), None);
        assert_eq!(leads_to("boot with lsm=landlock,...", &script("c", "echo A")), None);
        assert_eq!(leads_to("/nowhere/at/all agon ...", &script("d", "echo A")), None);
    }

    #[test]
    fn no_bot_runs_as_root() {
        for (level, own_users) in [(Level::C, false), (Level::D, true), (Level::D, false)] {
            let why = held(&found(level, Some(Wall::Filter), own_users), true, None, true).unwrap_err();
            assert!(why.contains("never run as root"), "{why}");
        }
        // There each slot has a user of its own.
        assert_eq!(held(&found(Level::C, Some(Wall::Namespaces), true), true, None, true), Ok(Confined::Own));
        assert_eq!(held(&found(Level::D, Some(Wall::Filter), false), true, None, false), Ok(Confined::No));
    }

    #[test]
    fn trust_is_asked_for_only_where_a_wall_is_missing() {
        let why = |wall| held(&found(Level::D, wall, true), false, None, false).unwrap_err();
        assert!(why(Some(Wall::Filter)).contains("trust_bots = true"));
        assert!(!why(None).contains("trust_bots"), "{}", why(None));
    }

    #[test]
    fn a_table_says_which_walls_broke() {
        let attack = |name: &str, expected: &str, came_to: &str| AttackResult {
            name: name.to_owned(),
            expected: expected.to_owned(),
            came_to: came_to.to_owned(),
            got: String::new(),
            enforced_by: String::new(),
        };
        let attacks = vec![
            attack("a", "held", "held"),
            attack("b", "won", "won"),
            attack("c", "held", "won"),
            attack("d", "won", "held"),
        ];
        let (at, took_ms) = (1, 2);
        let [kernel, program, level, suites] = ["k", "p", "A", "s"].map(str::to_owned);
        let proof = Proof { at, took_ms, kernel, program, level, suites, attacks };
        assert_eq!(proof.broken(), ["c"]);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.json");
        keep(&path, &proof).expect("kept");
        let again: Proof = serde_json::from_slice(&fs::read(&path).expect("there")).expect("a table");
        assert_eq!(again, proof);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn another_kernel_another_program_or_another_level_needs_another_proof() {
        let about = |kernel: &str, program: &str, level| About {
            kernel: kernel.into(),
            program: program.into(),
            level,
        };
        let names = [
            about("k", "p", Level::A).name(),
            about("l", "p", Level::A).name(),
            about("k", "q", Level::A).name(),
            about("k", "p", Level::B).name(),
        ];
        let different: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(different.len(), 4);
    }
}
