//! How well this machine can hold a program, found out by trying.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// How well a program is held. Better levels come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Level {
    /// Namespaces, a cgroup and the filter.
    A,
    /// Without a cgroup: memory and CPU are not counted for a group of processes.
    B,
    /// Without namespaces: it sees other processes and the network's names.
    C,
    /// Without a filter of system calls: not held at all.
    D,
}

impl Level {
    /// Its meaning, in a line.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::A => "namespaces, cgroup, filter of system calls: fit for strangers' programs",
            Self::B => {
                "no cgroup: memory and processes are limited one by one; strangers' programs one at a time"
            }
            Self::C => "no namespaces: your own programs only",
            Self::D => "programs are not confined at all",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::A => "A",
            Self::B => "B",
            Self::C => "C",
            Self::D => "D",
        })
    }
}

/// Something that is missing, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Shortcoming {
    pub what: &'static str,
    /// The wall that it is, if it is one.
    #[serde(skip)]
    pub wall: Option<crate::Wall>,
    /// What was seen.
    pub why: String,
    /// A command, or other advice.
    pub fix: String,
}

/// What was found on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Found {
    pub level: Level,
    /// The walls available here at that level.
    pub walls: BTreeSet<crate::Wall>,
    /// What the next level lacks, and what else would help.
    pub missing: Vec<Shortcoming>,
    /// Whether each slot has its own users.
    pub own_users: bool,
    /// Whether sandboxes that compute at the same time have equal shares of the CPUs.
    pub shares: bool,
}

impl Found {
    /// The level and the walls of a machine that allows no more than `level`: never better than this one.
    pub fn at_most(&self, level: Level) -> (Level, BTreeSet<crate::Wall>) {
        let level = level.max(self.level);
        let mut walls = self.walls.clone();
        if level >= Level::B {
            walls.remove(&crate::Wall::Group);
        }
        if level >= Level::C {
            walls.remove(&crate::Wall::Namespaces);
        }
        (level, walls)
    }

    /// Pretends, for tests, that this machine has less: withdraws the named means, separated by commas (`namespaces`,
    /// `cgroup`, `landlock`, `filter`). Never adds any.
    pub fn withdraw(&mut self, names: &str) {
        for name in names.split(',').map(str::trim) {
            let why = || "withdrawn for a test".to_owned();
            let fix = || "unset AGON_SANDBOX_WITHOUT".to_owned();
            let (wall, what, level) = match name {
                "namespaces" | "userns" => (crate::Wall::Namespaces, "namespaces", Level::C),
                "cgroup" => (crate::Wall::Group, "a cgroup", Level::B),
                "landlock" => (crate::Wall::Landlock, "Landlock", Level::A),
                "filter" | "seccomp" => (crate::Wall::Filter, "the filter of system calls", Level::D),
                _ => continue,
            };
            self.walls.remove(&wall);
            self.level = self.level.max(level);
            self.missing.insert(0, Shortcoming { what, wall: Some(wall), why: why(), fix: fix() });
        }
    }
}

/// Determines the level. `program` is ours and understands [`SUBCOMMAND`](crate::SUBCOMMAND).
#[cfg(not(target_os = "linux"))]
pub fn probe(_program: &Path) -> Found {
    let why = "this system is not Linux".to_owned();
    let fix = "run agon in a Linux virtual machine".to_owned();
    let missing = vec![Missing { what: "a sandbox", wall: None, why, fix }];
    Found { level: Level::D, walls: BTreeSet::new(), missing, own_users: false, shares: false }
}

#[cfg(target_os = "linux")]
pub use on_linux::{probe, probe_with};

#[cfg(target_os = "linux")]
mod on_linux {
    use std::os::fd::AsFd as _;
    use std::time::Duration;

    use super::*;
    use crate::claim::CLAIM;
    use crate::message::StepRefusal;
    use crate::{Confinement, Launcher, Means, Order, ShownPath, Wall, landlock};

    /// How long the probe's program, which does nothing, may take.
    const PATIENCE: Duration = Duration::from_secs(30);

    /// What is tried without, one after the other, and the level that this leaves. What had to be left out is what this
    /// machine lacks.
    const WITHOUT: [(&[Wall], Level); 8] = [
        (&[], Level::A),
        (&[Wall::Landlock], Level::A),
        (&[Wall::Group], Level::B),
        (&[Wall::Namespaces], Level::C),
        (&[Wall::Group, Wall::Namespaces], Level::C),
        (&[Wall::Filter], Level::D),
        (&[Wall::Filter, Wall::Namespaces], Level::D),
        (&[Wall::Filter, Wall::Namespaces, Wall::Group], Level::D),
    ];

    /// Determines the level. `program` is ours and understands [`SUBCOMMAND`](crate::SUBCOMMAND).
    pub fn probe(program: &Path) -> Found {
        match Launcher::start(program, Means::find()) {
            Ok(launcher) => probe_with(&launcher, program),
            Err(error) => {
                let why = format!("{}: {error}", program.display());
                let fix = "reinstall agon".to_owned();
                let missing = vec![Shortcoming { what: "the spawner", wall: None, why, fix }];
                Found { level: Level::D, walls: BTreeSet::new(), missing, own_users: false, shares: false }
            }
        }
    }

    /// The same with an existing launcher.
    pub fn probe_with(launcher: &Launcher, program: &Path) -> Found {
        let mut missing = Vec::new();
        let mut all = BTreeSet::from(Wall::ALL);
        if let Err(why) = &launcher.means().groups {
            all.remove(&Wall::Group);
            // Without a claim nothing was tried.
            missing.extend(launcher.means().claims.is_ok().then(|| of_group(why)));
        }
        if landlock::version().is_none() {
            all.remove(&Wall::Landlock);
            missing.push(of_landlock("the kernel has none".to_owned()));
        }
        let shares = launcher.means().groups.as_ref().is_ok_and(|groups| groups.has_shares());
        let at_best = if all.contains(&Wall::Group) { Level::A } else { Level::B };
        let mut refusals: Vec<(&[Wall], StepRefusal)> = Vec::new();
        for (without, level) in
            WITHOUT.iter().filter(|(without, _)| without.iter().all(|wall| all.contains(wall)))
        {
            let mut walls: BTreeSet<Wall> =
                all.difference(&without.iter().copied().collect()).copied().collect();
            match try_out(launcher, program, &walls) {
                Err(refusal) => {
                    let is_of_a_wall = refusal.step != CLAIM;
                    refusals.push((without, refusal));
                    if !is_of_a_wall {
                        break;
                    }
                }
                Ok(()) => {
                    for wall in *without {
                        // What happened when this wall was the only one of them that was not left out.
                        let others = |left_out: &[Wall]| {
                            without.iter().all(|other| other == wall || left_out.contains(other))
                        };
                        let refusal = refusals
                            .iter()
                            .find(|(left_out, _)| others(left_out) && !left_out.contains(wall));
                        missing.splice(0..0, refusal.map(|(_, refusal)| of_wall(*wall, refusal)));
                    }
                    if *level == Level::D {
                        walls.clear();
                    }
                    return Found {
                        level: at_best.max(*level),
                        walls,
                        missing,
                        own_users: launcher.means().users,
                        shares,
                    };
                }
            }
        }
        // None of the walls is the reason.
        missing.splice(0..0, refusals.into_iter().next().map(|(_, refusal)| of_another(&refusal)));
        Found { level: Level::D, walls: BTreeSet::new(), missing, own_users: launcher.means().users, shares }
    }

    /// Runs a program that does nothing.
    fn try_out(launcher: &Launcher, program: &Path, walls: &BTreeSet<Wall>) -> Result<(), StepRefusal> {
        let refuse = |error: std::io::Error| StepRefusal::new("a pipe", error);
        let nothing = std::fs::File::open("/dev/null").map_err(refuse)?;
        let sink = std::fs::File::options().write(true).open("/dev/null").map_err(refuse)?;
        let place = ShownPath { outside: program.to_owned(), inside: "/agon".into() };
        let confinement = Confinement { readable: vec![place], ..Confinement::default() };
        let sandbox = launcher.prepare(&confinement, walls)?;
        sandbox.ready()?;
        let order = Order {
            program: sandbox.seen(program).unwrap_or_default(),
            arguments: vec![crate::SUBCOMMAND.to_owned(), "nothing".to_owned()],
            ..Order::default()
        };
        sandbox.run(&order, [nothing.as_fd(), sink.as_fd(), sink.as_fd()])?;
        match sandbox.wait(PATIENCE) {
            Some(exit) if exit.code == 0 => Ok(()),
            Some(exit) => {
                let why = format!("a program that does nothing ended with {}", exit.code);
                Err(StepRefusal { step: "the first program".into(), why, errno: 0 })
            }
            None => {
                let why = "a program that does nothing did not end".to_owned();
                Err(StepRefusal { step: "the first program".into(), why, errno: 0 })
            }
        }
    }

    fn of_wall(wall: Wall, refusal: &StepRefusal) -> Shortcoming {
        match wall {
            Wall::Group => of_group(&refusal.to_string()),
            Wall::Landlock => of_landlock(refusal.to_string()),
            Wall::Filter => Shortcoming {
                what: "the filter of system calls",
                wall: Some(wall),
                why: refusal.to_string(),
                fix: "use a kernel with CONFIG_SECCOMP_FILTER".to_owned(),
            },
            _ => of_namespaces(refusal),
        }
    }

    fn of_landlock(why: String) -> Shortcoming {
        let fix = "boot with lsm=landlock,... (Linux 5.13 or later); namespaces work without it".to_owned();
        Shortcoming { what: "Landlock", wall: Some(Wall::Landlock), why, fix }
    }

    /// What every sandbox needs, whatever its walls.
    fn of_another(refusal: &StepRefusal) -> Shortcoming {
        let fix = match (refusal.step.as_str(), refusal.errno) {
            (CLAIM, _) => {
                "set XDG_RUNTIME_DIR to a folder that only this user can enter, or end some of the programs"
            }
            (_, libc::EAGAIN | libc::ENOMEM) => "this machine has no room for another process: end some",
            (_, libc::EMFILE | libc::ENFILE) => "raise the limit of open files: ulimit -n",
            (_, libc::ENOSPC) => "make room on the disk",
            _ => "run agon doctor again; if it says the same, please report it",
        };
        Shortcoming {
            what: "a place for a sandbox",
            wall: None,
            why: refusal.to_string(),
            fix: fix.to_owned(),
        }
    }

    /// What leaves room for all walls in a container of podman, for whom the file is there that it puts into each.
    fn podman() -> Option<&'static str> {
        Path::new("/run/.containerenv").exists().then_some(
            "podman run --cgroupns=private --security-opt seccomp=unconfined --security-opt apparmor=unconfined \
             --security-opt unmask=ALL ..., without --user (agon docs container)",
        )
    }

    fn of_group(why: &str) -> Shortcoming {
        let version_2 = Path::new("/sys/fs/cgroup/cgroup.controllers").exists();
        let fix = if let Some(podman) = podman() {
            if version_2 { podman } else { "give the container's cgroup to its user (agon docs container)" }
        } else if Path::new("/.dockerenv").exists() {
            "docker run --cgroupns=private -v /sys/fs/cgroup:/sys/fs/cgroup:rw ..."
        } else if Path::new("/run/systemd/system").exists() {
            match rustix::process::geteuid().is_root() {
                true => "systemd-run --scope -p Delegate=yes agon ...",
                false => "systemd-run --user --scope -p Delegate=yes agon ...",
            }
        } else {
            "run agon as root, or in a cgroup that its user can write to (with memory and pids)"
        };
        Shortcoming { what: "a cgroup", wall: Some(Wall::Group), why: why.to_owned(), fix: fix.to_owned() }
    }

    fn of_namespaces(refusal: &StepRefusal) -> Shortcoming {
        let apparmor = Path::new("/proc/sys/kernel/apparmor_restrict_unprivileged_userns");
        let apparmor = std::fs::read_to_string(apparmor).is_ok_and(|text| text.trim() == "1");
        let docker = Path::new("/.dockerenv").exists();
        let fix = match (refusal.step.as_str(), refusal.errno, podman()) {
            ("namespaces", libc::ENOSPC, _) => "sudo sysctl user.max_user_namespaces=10000",
            (.., Some(podman)) => podman,
            ("namespaces", libc::EPERM | libc::ENOSYS, None) if docker => {
                "docker run --security-opt seccomp=unconfined --security-opt systempaths=unconfined ..."
            }
            ("namespaces", libc::EPERM, None) => "sudo sysctl kernel.unprivileged_userns_clone=1",
            ("namespaces", libc::EINVAL | libc::ENOSYS, None) => {
                "use a kernel with user namespaces, 5.12 or later"
            }
            (step, ..) if step.contains("/proc") => "docker run --security-opt systempaths=unconfined ...",
            _ if apparmor => {
                "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0, or a profile: agon docs security"
            }
            _ if docker => {
                "docker run --security-opt apparmor=unconfined --security-opt seccomp=unconfined ..."
            }
            _ => "see agon docs security",
        };
        let wall = Some(Wall::Namespaces);
        Shortcoming { what: "namespaces", wall, why: refusal.to_string(), fix: fix.to_owned() }
    }
}
