//! Bots at their seats, and the replay file of their match.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use agon_bot::{BotName, rights};
use agon_game::{Seat, Session};
use agon_match::{MatchRecord, Recorder};
use agon_replay::Header;

use crate::common::disk::Named;
use crate::common::{Done, Failure, folders, screen};

/// Says on standard error what is odd about how the bots of a match are started.
pub fn tell_all_notes(session: &dyn Session, names: &[BotName]) {
    for name in names {
        tell_notes(name);
        if let Ok(Some(bot)) = agon_match::arrival::bot_below(session, name) {
            eprintln!("note: {} is not a bot itself; the bot in it is {}", name.text, bot.display());
        }
    }
}

/// Says on standard error what is odd about how a bot is started.
pub fn tell_notes(name: &BotName) {
    if let Ok(Some(launch)) = agon_bot::Launch::of(name) {
        launch.notes.iter().for_each(|note| eprintln!("note: {}", screen::harmless(note)));
    }
}

/// The seat that `--view` names; none for all.
pub fn eyes(view: &str, seats: usize) -> Result<Option<Seat>, Failure> {
    match view.parse::<usize>() {
        _ if view == "all" => Ok(None),
        Ok(seat) if (1..=seats).contains(&seat) => Ok(Some(Seat::new(seat as u8 - 1))),
        _ => Err(Failure::usage(format!("--view {view}: write a seat from 1 to {seats}, or all"))),
    }
}

/// A replay's file, created when all bots are seated. Dropping this value removes the file, unless it was
/// [kept](Self::keep).
pub struct ReplayFile {
    path: PathBuf,
    kept: bool,
}

impl ReplayFile {
    /// Creates the given file, or a new one in [`folders::REPLAYS`], and begins the replay in it.
    pub fn begin(
        wanted: Option<&Path>,
        header: &Header,
    ) -> Result<(Self, Recorder<BufWriter<Named>>), Failure> {
        let failed = |path: &Path, error: io::Error| {
            Failure::own(format!(
                "cannot write the replay {}: {error} (--no-replay plays without one)",
                path.display()
            ))
        };
        let (path, file) = match wanted {
            Some(path) => {
                (path.to_owned(), rights::create_private(path).map_err(|error| failed(path, error))?)
            }
            None => {
                let folder = Path::new(folders::REPLAYS);
                std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
                next_file(folder, header).map_err(|(path, error)| failed(&path, error))?
            }
        };
        // Something that is not a regular file, such as /dev/null, was there before.
        let kept = !file.metadata().is_ok_and(|about| about.is_file());
        let own = Self { path, kept };
        let recorder = Recorder::new(BufWriter::new(Named::new(own.path.clone(), file)), header)
            .map_err(|error| failed(&own.path, error))?;
        Ok((own, recorder))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file stays.
    pub fn is_kept(&self) -> bool {
        self.kept
    }

    /// Keeps the replay if the match left one: a match for which not all bots came, or that is void and played again,
    /// leaves nothing.
    pub fn keep(&mut self, record: &MatchRecord, again: bool) {
        self.kept |= !again && record.began;
        if self.kept && self.path.parent() == Some(Path::new(folders::REPLAYS)) {
            folders::remember(&self.path);
        }
    }
}

impl Drop for ReplayFile {
    fn drop(&mut self) {
        if !self.kept {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// A new file for a replay in `folder`.
fn next_file(folder: &Path, header: &Header) -> Result<(PathBuf, File), (PathBuf, io::Error)> {
    let (game, seed) = (&header.game, header.recipe.seed);
    for number in 1.. {
        let name = match number {
            1 => format!("{game}-{seed}.replay"),
            _ => format!("{game}-{seed}-{number}.replay"),
        };
        let path = folder.join(name);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err((path, error)),
        }
    }
    unreachable!("some number is free")
}

/// The word for an order that the rules do not allow.
pub const REJECTED: &str = "rejected order";
/// Prints the orders that the rules did not allow, the first of each seat and rule.
pub fn rejections(
    out: &mut impl io::Write,
    screen: screen::Screen,
    record: &MatchRecord,
    labels: &[String],
) -> Done {
    let mut told: Vec<(Seat, &str)> = Vec::new();
    for order in &record.rejected {
        let key = (order.seat, order.rule);
        if told.contains(&key) {
            continue;
        }
        told.push(key);
        let more = record.rejected.iter().filter(|other| (other.seat, other.rule) == key).count() - 1;
        let more = if more > 0 { format!(" (and {more} more under the same rule)") } else { String::new() };
        let bot = screen.seat(order.seat, &screen::harmless(&labels[order.seat.index()]));
        let why = screen::harmless(&order.message);
        let place =
            order.place.as_ref().map_or_else(String::new, |place| format!(" ({})", screen::harmless(place)));
        writeln!(out, "{bot}, {}: {REJECTED} [{}]: {why}{place}{more}", order.turn, order.rule)?;
    }
    Ok(())
}
