//! Runs the attacks, each in its own sandbox, and reports who won.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde::Serialize;

use crate::attack::{self, Attack, Control, Judge, Target, victim};
use crate::course::{Came, Course, drain};
use crate::message::{Step as _, StepRefusal};
use crate::{Confinement, Found, Launcher, Level, Means, Order, SUBCOMMAND, ShownPath, Wall, probe_with};

/// How long an attack may take; a control gets longer, since we wait for its end.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);
pub(crate) const CONTROL_PATIENCE: Duration = Duration::from_secs(60);
/// How long after the end something may hold the output before it counts as alive.
pub(crate) const AFTERLIFE: Duration = Duration::from_secs(1);

/// Which attacks to run.
#[derive(Clone, Debug, Default)]
pub struct AttackChoice {
    /// Whether to run the controls, too.
    pub controls: bool,
    /// Run at a level worse than the machine's.
    pub level: Option<Level>,
    /// Only those whose name begins with one of these; all if empty.
    pub only: Vec<String>,
}

impl AttackChoice {
    /// Whether it is to be run.
    pub fn names(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|start| name.starts_with(start.as_str()))
    }
}

/// The result of a control.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Controlled {
    /// Where it was run.
    pub place: String,
    /// What happened.
    pub got: String,
    /// Whether it won there, as it must; none if this machine lacks what the attack needs.
    pub won: Option<bool>,
}

/// The result of an attack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AttackOutcome {
    pub name: &'static str,
    /// What it tries.
    pub attempt: &'static str,
    /// `held`; or `won` if it is accepted, or known to win at this level.
    pub expected: &'static str,
    /// What happened, in words.
    pub got: String,
    /// What holds it, or why it is accepted.
    pub enforced_by: &'static str,
    pub won: bool,
    /// Whether it was expected to win at this level.
    pub may_win: bool,
    /// Its control, if that was run.
    pub control: Option<Controlled>,
}

impl AttackOutcome {
    /// Whether a wall is broken, or the control proves nothing.
    pub fn is_bad(&self) -> bool {
        (self.won && !self.may_win) || self.control.as_ref().is_some_and(|control| control.won == Some(false))
    }
}

/// The machine, the level and all outcomes.
#[derive(Clone, Debug, Serialize)]
pub struct SuiteResults {
    /// The level they were run at.
    pub level: Level,
    /// What the machine has.
    pub found: Found,
    pub attacks: Vec<AttackOutcome>,
}

/// Runs attacks with the program `program`, which is ours and understands [`SUBCOMMAND`]. `each` gets every
/// outcome as it comes.
///
/// # Errors
/// When no sandbox can be made to attack.
pub fn run(
    program: &Path,
    wanted: &AttackChoice,
    each: &mut dyn FnMut(&AttackOutcome),
) -> Result<SuiteResults, StepRefusal> {
    let mut field = Field::make(program)?;
    // A control needs the walls it does not withdraw.
    let best = field.found.walls.clone();
    let (level, walls) = field.found.at_most(wanted.level.unwrap_or(Level::A));
    let mut attacks = Vec::new();
    if level == Level::D {
        let why = "there is no filter of system calls, so no attack is run here".to_owned();
        return Err(StepRefusal { step: "the attacks".into(), why, errno: 0 });
    }
    for attack in attack::all().into_iter().filter(|attack| wanted.names(attack.name)) {
        let accepted = attack.control == Control::Everywhere;
        let may_win = accepted || level > attack.held_at;
        let came = field.stage(&attack, &walls, &tight(), true)?;
        let control = match attack.control {
            _ if !wanted.controls => None,
            Control::Everywhere => None,
            control => Some(field.control(&attack, control, &best)?),
        };
        let outcome = AttackOutcome {
            name: attack.name,
            attempt: attack.attempt,
            expected: if may_win { "won" } else { "held" },
            got: came.got,
            enforced_by: attack.wall,
            won: came.won == Some(true),
            may_win,
            control,
        };
        each(&outcome);
        attacks.push(outcome);
    }
    Ok(SuiteResults { level, found: field.found.clone(), attacks })
}

/// The limits for an attack.
fn tight() -> Confinement {
    Confinement {
        memory: 64 << 20,
        processes: 24,
        cpu: Some(20),
        disk: 8 << 20,
        files: 256,
        descriptors: 64,
        ..Confinement::default()
    }
}

/// The limits for a control: more than the attack wants, and too little to hurt the machine.
fn roomy() -> Confinement {
    let (memory, processes, cpu) = (300 << 20, 200, Some(20));
    Confinement {
        memory,
        processes,
        cpu,
        disk: 128 << 20,
        files: 4096,
        descriptors: 1000,
        ..Confinement::default()
    }
}

/// A launcher, a victim, and the files to attack.
struct Field {
    launcher: Launcher,
    found: Found,
    target: Target,
    program: PathBuf,
    folder: tempfile::TempDir,
    victim: Child,
    user: Option<u32>,
}

impl Drop for Field {
    fn drop(&mut self) {
        // When its input closes, it ends and removes what it made.
        drop(self.victim.stdin.take());
        let _ = self.victim.wait();
        victim::clear(&self.target);
    }
}

impl Field {
    fn make(program: &Path) -> Result<Self, StepRefusal> {
        let (name, secret) = victim::SECRET.split_once('=').unwrap_or_default();
        let start = |command: &mut Command| {
            command.env(name, secret);
        };
        let launcher = Launcher::start_with(program, Means::find(), start).step("the spawner")?;
        let found = probe_with(&launcher, program);
        let folder = tempfile::Builder::new().prefix("agon-attack-").tempdir().step("a folder")?;
        // All attacks run in the same slot, one after the other, as the same user.
        let user = match found.level {
            Level::D => None,
            _ => launcher.prepare(&Confinement::default(), &found.walls)?.user(),
        };
        lay_out(folder.path(), user).step("the files to be attacked")?;
        let program = within_reach(program, folder.path()).step("a copy of the program")?;
        let (victim, target) = victim(&program, folder.path(), user)?;
        Ok(Self { launcher, found, target, program, folder, victim, user })
    }

    /// Restarts the victim if an attack, or the end of one, has killed it.
    fn revive(&mut self) -> Result<(), StepRefusal> {
        if matches!(self.victim.try_wait(), Ok(None)) {
            return Ok(());
        }
        victim::clear(&self.target);
        let (victim, target) = victim(&self.program, self.folder.path(), self.user)?;
        (self.victim, self.target) = (victim, target);
        Ok(())
    }

    fn control(
        &mut self,
        attack: &Attack,
        control: Control,
        best: &BTreeSet<Wall>,
    ) -> Result<Controlled, StepRefusal> {
        let (place, walls, confinement) = match control {
            Control::Outside => ("outside".to_owned(), BTreeSet::new(), roomy()),
            Control::Roomy => ("with wide limits".to_owned(), best.clone(), roomy()),
            Control::Without(missing) => {
                let names: Vec<String> =
                    missing.iter().map(|wall| format!("{wall:?}").to_lowercase()).collect();
                let left = best.iter().copied().filter(|wall| !missing.contains(wall)).collect();
                (format!("without {}", names.join(", ")), left, tight())
            }
            Control::Everywhere => ("everywhere".to_owned(), best.clone(), tight()),
        };
        lay_out(self.folder.path(), None).step("the files to be attacked")?;
        let mut came = self.stage(attack, &walls, &confinement, false)?;
        // Without a cgroup, limits on each process stay tight, and without namespaces nobody is root in one.
        let lacks = match control {
            Control::Roomy => !walls.contains(&Wall::Group),
            Control::Without(_) => !best.contains(&Wall::Namespaces),
            _ => false,
        };
        if lacks && came.won == Some(false) {
            came.won = None;
        }
        lay_out(self.folder.path(), None).step("the files to be attacked")?;
        Ok(Controlled { place, got: came.got, won: came.won })
    }

    /// Runs an attack; `inside` means that it is not a control.
    fn stage(
        &mut self,
        attack: &Attack,
        walls: &BTreeSet<Wall>,
        confinement: &Confinement,
        inside: bool,
    ) -> Result<Came, StepRefusal> {
        let mut came = self.once(attack, walls, confinement, inside)?;
        if attack.judge == Judge::Twice && came.won == Some(false) {
            came = self.once(attack, walls, confinement, inside)?;
        }
        Ok(came)
    }

    fn once(
        &mut self,
        attack: &Attack,
        walls: &BTreeSet<Wall>,
        confinement: &Confinement,
        inside: bool,
    ) -> Result<Came, StepRefusal> {
        self.revive()?;
        let own = self.folder.path().join("bot");
        let readable = vec![
            ShownPath { outside: self.program.clone(), inside: "/agon".into() },
            ShownPath { outside: own.clone(), inside: "/bot".into() },
        ];
        let confinement = Confinement { readable, ..confinement.clone() };
        let sandbox = self.launcher.prepare(&confinement, walls)?;
        sandbox.ready()?;
        let program = sandbox.seen(&self.program).unwrap_or_default();
        let own = sandbox.seen(&own).unwrap_or_default();
        let target = Target { program: program.clone(), own, ..self.target.clone() };
        let target = serde_json::to_string(&target).map_err(io::Error::other).step("the target")?;
        let words = [SUBCOMMAND, "attack", attack.name, &target].map(str::to_owned);
        let order = Order { program, arguments: words.to_vec(), ..Order::default() };
        let (input, mut ask) = io::pipe().step("a pipe")?;
        let (output, said) = io::pipe().step("a pipe")?;
        let (errors, complained) = io::pipe().step("a pipe")?;
        sandbox.run(&order, [input.as_fd(), said.as_fd(), complained.as_fd()])?;
        drop((input, said, complained));
        let patience = if inside { PATIENCE } else { CONTROL_PATIENCE };
        let mut course = Course { sandbox, output, errors, words: Vec::new(), exit: None };
        match attack.judge {
            Judge::Word | Judge::Twice => {
                course.listen(1, patience);
                Ok(course.by_word())
            }
            Judge::Flood => Ok(course.by_flood(inside)),
            Judge::Charge => {
                course.listen(1, patience);
                Ok(course.by_charge())
            }
            Judge::Ponder => {
                course.listen(1, patience);
                let stopped = course.sandbox.freeze(true).is_ok();
                let before = course.sandbox.charge();
                std::thread::sleep(Duration::from_millis(200));
                let after = course.sandbox.charge();
                let _ = course.sandbox.freeze(false);
                let _ = ask.write_all(b"\n");
                course.listen(2, patience);
                let cpu = |charge: Option<crate::Charge>| charge.map_or(0, |charge| charge.cpu.as_millis());
                let pondered = cpu(after).saturating_sub(cpu(before));
                Ok(match stopped {
                    true if pondered < 20 => {
                        Came { won: Some(false), got: format!("stopped: {pondered} ms of CPU") }
                    }
                    true => Came { won: Some(true), got: format!("{pondered} ms of CPU while stopped") },
                    false => Came { won: Some(true), got: "nothing stopped it".into() },
                })
            }
            Judge::Outlives => {
                course.listen(1, patience);
                let Course { sandbox, mut output, .. } = course;
                let end = sandbox.end();
                if drain(&mut output, AFTERLIFE) && end.is_ok() {
                    return Ok(Came { won: Some(false), got: "nothing is left".into() });
                }
                // It ends when its input closes; until then it would count as a process of the next attack.
                drop(ask);
                let _ = drain(&mut output, CONTROL_PATIENCE);
                let got = end.map_or_else(|left| left.to_string(), |()| "it outlived its sandbox".to_owned());
                Ok(Came { won: Some(true), got })
            }
        }
    }
}

/// Starts the victim as the attacks' user; it reports what there is to attack.
fn victim(program: &Path, folder: &Path, user: Option<u32>) -> Result<(Child, Target), StepRefusal> {
    let (name, secret) = victim::SECRET.split_once('=').unwrap_or_default();
    let _ = fs::remove_file(folder.join("open/socket"));
    let mut command = Command::new(program);
    command.args([SUBCOMMAND, "victim", &user.map_or("-".to_owned(), |user| user.to_string())]);
    let unique = format!("agon-victim-{}", std::process::id());
    command.arg(folder).arg(unique).env(name, secret).current_dir("/");
    let mut victim = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().step("the victim")?;
    let mut line = String::new();
    if let Some(output) = victim.stdout.take() {
        BufReader::new(output).read_line(&mut line).step("the victim")?;
    }
    let target: Target = serde_json::from_str(&line).map_err(io::Error::other).step("the victim")?;
    Ok((victim, Target { folder: folder.to_owned(), ..target }))
}

/// Lays out the files to attack, replacing those an attack has changed.
fn lay_out(folder: &Path, owner: Option<u32>) -> io::Result<()> {
    let mode = |path: &Path, mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    mode(folder, 0o755)?;
    let (open, bot) = (folder.join("open"), folder.join("bot"));
    fs::create_dir_all(&open)?;
    fs::create_dir_all(&bot)?;
    fs::write(folder.join("secret"), victim::SECRET)?;
    fs::write(folder.join("journal"), "the first line\n")?;
    mode(&folder.join("secret"), 0o644)?;
    mode(&folder.join("journal"), 0o666)?;
    for name in ["made", "renamed", "second"] {
        let _ = fs::remove_file(open.join(name));
    }
    for name in ["remove-me", "rename-me", "own"] {
        fs::OpenOptions::new().create(true).append(true).open(open.join(name))?;
    }
    if owner.is_some() {
        std::os::unix::fs::chown(open.join("own"), owner, owner)?;
        std::os::unix::fs::chown(&bot, owner, owner)?;
    }
    // An attack may have left it to somebody else.
    let _ = mode(&bot, 0o755);
    mode(&open, 0o777)
}

/// The program where every user can run it: itself, or a copy.
fn within_reach(program: &Path, folder: &Path) -> io::Result<PathBuf> {
    let program = program.canonicalize()?;
    let open = |path: &Path| fs::metadata(path).is_ok_and(|data| data.permissions().mode() & 0o001 != 0);
    if program.ancestors().all(open) {
        return Ok(program);
    }
    let copy = folder.join("agon");
    fs::copy(&program, &copy)?;
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755))?;
    Ok(copy)
}
