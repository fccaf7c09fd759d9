//! How a worker holds strangers' bots, and the proof that it does.
//!
//! Below level B nobody's bot is played, unless the organiser trusts all of them. Before the first match the walls are
//! attacked. The table of results is kept; it is valid until the machine restarts, or runs another kernel or program.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use agon_bot::{Confined, Level, build, guard, inside};
use agon_contest::whole;
use agon_sandbox::suite::{self, Outcome, Wanted};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

/// How bots are held here: in a sandbox fit for strangers, or without one only if their organiser trusts them.
///
/// # Errors
/// What this machine lacks, how to fix it, and how to declare trust.
pub fn hold(trusted: bool) -> Result<Confined, String> {
    let found = inside::found()?;
    match found.level {
        Level::A | Level::B => return Ok(Confined::Foreign),
        Level::C if trusted => return Ok(Confined::Own),
        _ if trusted => return Ok(Confined::No),
        _ => {}
    }
    let lacks = found.missing.first().map_or_else(String::new, |missing| {
        format!(" Missing: {} ({}); {}.", missing.what, missing.why, missing.fix)
    });
    Err(format!(
        "this machine cannot hold strangers' bots: level {}, {}.{lacks} `agon doctor` says more. If you trust everybody \
         who hands in a bot, write in contest.toml:\n[sandbox]\ntrust_bots = true",
        found.level,
        found.level.meaning()
    ))
}

/// The word for results and workers: the level of the sandbox, if there is one.
pub fn word(level: Option<Level>) -> String {
    level.map_or_else(|| "not confined".to_owned(), |level| level.to_string())
}

/// The level at which bots held this way are held here.
pub fn level(confined: Confined) -> Option<Level> {
    inside::found().ok().filter(|_| confined != Confined::No).map(|found| found.level)
}

/// The attacks on this machine's walls, and their results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof {
    /// When they were run, in seconds since the epoch.
    pub at: u64,
    /// How long they took, in milliseconds.
    pub took_ms: u64,
    /// The kernel, its machine, and when it started.
    pub kernel: String,
    /// The program.
    pub program: String,
    /// The level.
    pub level: String,
    /// The attacks, with their results.
    pub attacks: Vec<Attack>,
}

/// An attack and its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attack {
    /// Its name.
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

impl Attack {
    fn of(outcome: &Outcome) -> Self {
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
        let won = |attack: &&Attack| attack.came_to == "won" && attack.expected == "held";
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
        "the sandbox of this machine does not hold: {} won; the table is {}. Please report it, with the output of `agon doctor`",
        broken.join(", "),
        own.display()
    ))
}

fn attack(program: &Path, level: Level, about: &About) -> Result<Proof, String> {
    let begun = Instant::now();
    let wanted = Wanted { level: Some(level), ..Wanted::default() };
    let results = suite::run(program, &wanted, &mut |_| {}).map_err(|refusal| refusal.to_string())?;
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    Ok(Proof {
        at: seconds,
        took_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        kernel: about.kernel.clone(),
        program: about.program.clone(),
        level: results.level.to_string(),
        attacks: results.attacks.iter().map(Attack::of).collect(),
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
    use super::*;

    #[test]
    fn a_table_says_which_walls_broke() {
        let attack = |name: &str, expected: &str, came_to: &str| Attack {
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
        let [kernel, program, level] = ["k", "p", "A"].map(str::to_owned);
        let proof = Proof { at, took_ms, kernel, program, level, attacks };
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
