//! `--sandbox`: which bots run behind walls.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use agon_bot::build::cache;
use agon_bot::{BotName, Confined, Kind, Level};
use agon_match::record::{self, Held};
use clap::{Args, ValueEnum};

use crate::common::screen;

/// Options of the sandbox.
#[derive(Args, Debug, Clone, Default)]
pub struct SandboxOptions {
    /// Which bots run in a sandbox (`agon docs security`) [default: what AGON_SANDBOX says, else auto]
    #[arg(long, value_enum, value_name = "WHEN", help_heading = "Sandbox")]
    sandbox: Option<When>,
    /// Where files are kept that bots in a sandbox wrote in their folders: they write to a copy
    #[arg(long, value_name = "FOLDER", help_heading = "Sandbox")]
    keep_files: Option<PathBuf>,
}

/// When bots run in a sandbox.
#[derive(ValueEnum, Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum When {
    /// Archives, downloads and what comes from a contest do; files and folders of yours do not
    #[default]
    Auto,
    /// All do
    On,
    /// None does: they run with your rights
    Off,
}

static CHOSEN: OnceLock<When> = OnceLock::new();

impl SandboxOptions {
    /// Bots that are named from now on are held like this.
    pub fn apply(&self) {
        if let Some(own) = self.sandbox {
            let _ = CHOSEN.set(own);
        }
        if let Some(folder) = &self.keep_files {
            agon_bot::inside::keep_files(folder.clone());
        }
    }
}

/// Unless somebody chose otherwise all bots are held, where this machine can: as the contest does whose conditions are taken.
pub fn hold_all() {
    let said = std::env::var_os("AGON_SANDBOX").is_some_and(|said| !said.is_empty());
    if !said && agon_bot::inside::found().is_ok_and(|found| found.level <= Level::C) {
        let _ = CHOSEN.set(When::On);
    }
}

/// What was chosen: by the option, or for all commands by the variable.
fn chosen() -> When {
    *CHOSEN.get_or_init(|| {
        let said = std::env::var("AGON_SANDBOX").unwrap_or_default();
        When::from_str(&said, true).unwrap_or_else(|_| {
            if !said.is_empty() {
                eprintln!("note: AGON_SANDBOX={} is none of auto, on, off", screen::harmless(&said));
            }
            When::Auto
        })
    })
}

/// Whether a bot runs in a sandbox; `archive` is one that was unpacked.
pub fn confined(name: &BotName, archive: bool) -> Confined {
    let foreign = archive || matches!(&name.kind, Kind::Path(path) if is_strangers(path));
    match (chosen(), foreign) {
        (When::Off, _) | (When::Auto, false) => Confined::No,
        (When::On, false) => Confined::Own,
        (_, true) => Confined::Foreign,
    }
}

/// Whether what strangers made is unpacked in a sandbox: it is wanted, and this machine has one. Where it has none their
/// bots do not start either, and what unpacks is code of ours that follows no link.
pub fn holds_strangers() -> bool {
    let wanted = chosen() != When::Off;
    wanted && agon_bot::inside::found().is_ok_and(|found| found.level <= Level::B)
}

/// How bots of a series are held, as a sentence.
pub fn containment<'a>(bots: impl Iterator<Item = (&'a str, &'a BotName)>) -> String {
    let held = |name: &BotName| match (&name.kind, name.confined) {
        (Kind::Path(_) | Kind::Command(_), Confined::No) => Held::Free,
        (Kind::Path(_) | Kind::Command(_), _) => {
            agon_bot::inside::found().map_or(Held::NoProgram, |found| Held::Inside(found.level))
        }
        _ => Held::NoProgram,
    };
    let (labels, held): (Vec<&str>, Vec<Held>) = bots.map(|(label, name)| (label, held(name))).unzip();
    record::containment(&held, |bot| labels[bot].to_owned())
}

/// Whether a file or folder came from somewhere else: what was unpacked from an archive, and downloads.
fn is_strangers(path: &Path) -> bool {
    let full = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let places = agon_bot::inside::User::own().downloads.into_iter().chain([cache().join("unpacked")]);
    places.filter_map(|place| place.canonicalize().ok()).any(|place| full.starts_with(place))
}
