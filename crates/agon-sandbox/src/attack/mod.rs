//! The attacks: small programs of our own that try what a hostile bot would.
//!
//! Each states what it tries, what holds it, from which level on, and a control in which it must win: an attack
//! that fails everywhere proves nothing. It runs as a separate program and prints one line: `won`, `held` or
//! `absent` (this kernel lacks what it needs), and why. Every loop is bounded, and network attempts aim only at
//! the loopback.

mod files;
mod kernel;
mod memory;
mod network;
mod opponent;
pub mod player;
mod processes;
mod talk;
pub mod victim;

use std::io::{self, Write as _};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Level, Wall};

/// The texts that decide what the suite is: whoever names its hash names these attacks, and how they are judged.
pub const SOURCES: &[&str] = &[
    include_str!("mod.rs"),
    include_str!("opponent.rs"),
    include_str!("files.rs"),
    include_str!("memory.rs"),
    include_str!("processes.rs"),
    include_str!("network.rs"),
    include_str!("kernel.rs"),
    include_str!("talk.rs"),
    include_str!("victim.rs"),
    include_str!("../suite.rs"),
    include_str!("../course.rs"),
];

/// What there is to attack: a victim running as the same user outside the sandbox, and files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    pub pid: i32,
    /// Its System V shared memory, semaphores and messages.
    pub ids: [i32; 3],
    /// The name of its message queue, abstract socket and file in `/dev/shm`.
    pub name: String,
    /// Its port on the loopback, for TCP and UDP.
    pub port: u16,
    /// A folder of ours with `secret`, `journal` (writable by anybody), `open/` and `open/socket`.
    pub folder: PathBuf,
    /// The attack's own program, at the path it sees.
    pub program: PathBuf,
    /// The bot's folder, at the path the attack sees.
    pub own: PathBuf,
}

/// What an attack achieved; an error says how it was held.
pub type AttackTry = io::Result<String>;

/// Where an attack must win.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Without any sandbox, as the same ordinary user.
    Outside,
    /// In a sandbox without these walls.
    Without(&'static [Wall]),
    /// In a sandbox with wide limits.
    Roomy,
    /// Everywhere: it is accepted, and the sandbox does not promise to hold it.
    Everywhere,
}

/// How the winner is determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judge {
    /// By the attack's own report.
    Word,
    /// It is run twice in a row, and the second run reports.
    Twice,
    /// It wins if part of it still runs after the end.
    Outlives,
    /// It reports how much CPU it used, and wins if much less was charged.
    Charge,
    /// It computes while it is stopped, and reports how much.
    Ponder,
    /// It writes more than anybody reads.
    Flood,
}

#[derive(Clone, Debug)]
pub struct Attack {
    pub name: &'static str,
    /// What it tries.
    pub attempt: &'static str,
    /// What holds it.
    pub wall: &'static str,
    /// The lowest level that still holds it.
    pub held_at: Level,
    /// Where it must win.
    pub control: Control,
    /// How the winner is determined.
    pub judge: Judge,
    run: fn(&Target) -> AttackTry,
}

impl Attack {
    fn new(
        name: &'static str,
        attempt: &'static str,
        wall: &'static str,
        run: fn(&Target) -> AttackTry,
    ) -> Self {
        let (held_at, control, judge) = (Level::C, Control::Outside, Judge::Word);
        Self { name, attempt, wall, held_at, control, judge, run }
    }

    fn at(self, held_at: Level) -> Self {
        Self { held_at, ..self }
    }

    fn control(self, control: Control) -> Self {
        Self { control, ..self }
    }

    fn judge(self, judge: Judge) -> Self {
        Self { judge, ..self }
    }
}

/// All attacks, in the order of the table.
pub fn all() -> Vec<Attack> {
    let lists = [
        opponent::list(),
        files::list(),
        memory::list(),
        processes::list(),
        network::list(),
        kernel::list(),
        talk::list(),
    ];
    lists.concat()
}

/// The life of an attack as a program.
pub fn live(name: &str, target: &str) -> bool {
    let (Ok(target), Some(attack)) =
        (serde_json::from_str::<Target>(target), all().into_iter().find(|attack| attack.name == name))
    else {
        return false;
    };
    let line = match (attack.run)(&target) {
        Ok(won) => format!("won {won}"),
        Err(error) if error.kind() == io::ErrorKind::Unsupported => format!("absent {error}"),
        Err(error) => format!("held {error}"),
    };
    let _ = writeln!(io::stdout(), "{}", line.replace('\n', " "));
    let _ = io::stdout().flush();
    true
}

/// The error for a kernel that lacks what the attack needs.
fn absent(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, why.to_owned())
}

/// The result for an attempt that did not work, though nothing was refused.
fn held<T>(why: impl Into<String>) -> io::Result<T> {
    Err(io::Error::other(why.into()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn there_are_more_than_a_hundred_and_each_has_a_name_of_its_own() {
        let all = all();
        let names: BTreeSet<&str> = all.iter().map(|attack| attack.name).collect();
        assert_eq!(names.len(), all.len());
        assert!(all.len() >= 100, "{}", all.len());
        assert!(all.iter().all(|attack| !attack.attempt.is_empty() && !attack.wall.is_empty()));
    }
}
