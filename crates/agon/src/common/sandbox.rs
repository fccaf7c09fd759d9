//! `--sandbox`: which bots run in a sandbox.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};

use agon_api::contest::Machine;
use agon_bot::build::cache;
use agon_bot::image::Images;
use agon_bot::{BotName, Confined, Level, NameKind, Run};
use agon_match::record::{self, Held};
use clap::{Args, ValueEnum};

use crate::common::screen;

/// Options of the sandbox.
#[derive(Args, Debug, Clone, Default)]
pub struct SandboxOptions {
    /// Which bots run in a sandbox (`agon docs security`) [default: what AGON_SANDBOX says, else auto]
    #[arg(long, value_enum, value_name = "WHEN", help_heading = "Sandbox")]
    sandbox: Option<When>,
    /// Saves the files that sandboxed bots wrote in this folder (they write only to a copy of their own)
    #[arg(long, value_name = "FOLDER", help_heading = "Sandbox")]
    keep_files: Option<PathBuf>,
    /// The memory of each bot, in bytes, where a contest's conditions say so.
    #[arg(skip)]
    memory: Option<u64>,
    /// The image that strangers' bots run in, by its hash, where a contest's conditions say so.
    #[arg(skip)]
    image: Option<String>,
}

/// When bots run in a sandbox.
#[derive(ValueEnum, Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum When {
    /// Archives, downloads and bots from a contest do; your own files and folders do not
    #[default]
    Auto,
    /// All do
    On,
    /// All do, as bots of others: they see an image in place of this machine's programs, as in a contest
    Stranger,
    /// None do: they run with your rights
    Off,
}

impl SandboxOptions {
    /// The bots of a command with these options.
    pub fn bots(&self) -> Bots {
        let run = Run {
            kept: self.keep_files.clone(),
            memory: self.memory,
            image: self.image.clone(),
            ..Run::default()
        };
        Bots { when: self.sandbox.unwrap_or_else(usual), run }
    }

    /// Contains all bots if this machine can, unless the user chose otherwise, with the memory and, if it is here, in the image of
    /// the contest whose conditions are used.
    pub fn hold_all(&mut self, there: &Machine) {
        self.memory = there.memory;
        self.image = there.image.clone().filter(|image| Images::own().named(image).is_ok());
        let said = std::env::var_os("AGON_SANDBOX").is_some_and(|said| !said.is_empty());
        if self.sandbox.is_none()
            && !said
            && agon_bot::inside::found().is_ok_and(|found| found.level <= Level::C)
        {
            self.sandbox = Some(if self.image.is_some() { When::Stranger } else { When::On });
        }
    }
}

/// The choice for all commands, by the variable.
fn usual() -> When {
    static NOTED: Once = Once::new();
    let said = std::env::var("AGON_SANDBOX").unwrap_or_default();
    When::from_str(&said, true).unwrap_or_else(|_| {
        if !said.is_empty() {
            NOTED.call_once(|| {
                eprintln!(
                    "note: AGON_SANDBOX={} is none of auto, on, stranger, off",
                    screen::harmless(&said)
                );
            });
        }
        When::Auto
    })
}

/// How a command runs its bots: made once from its options, and handed to whatever names bots.
#[derive(Clone, Debug)]
pub struct Bots {
    /// Which of them run in a sandbox.
    pub when: When,
    /// What holds for all of them.
    pub run: Run,
}

impl Bots {
    /// Those of a command without options for them.
    pub fn usual() -> Self {
        SandboxOptions::default().bots()
    }

    /// The bot, to be run so; `archive` marks one that was unpacked.
    pub fn take(&self, name: BotName, archive: bool) -> BotName {
        let foreign = archive || matches!(&name.kind, NameKind::Path(path) if is_strangers(path));
        let confined = match (self.when, foreign) {
            (When::Off, _) | (When::Auto, false) => Confined::No,
            (When::On, false) => Confined::Own,
            (When::Stranger, false) => Confined::Foreign,
            (_, true) => Confined::Foreign,
        };
        BotName { confined, run: Arc::new(self.run.clone()), ..name }
    }

    /// Whether files of strangers are unpacked in a sandbox: when wanted, and when this machine has one. Without one
    /// their bots do not start either, and our own unpacking code follows no link.
    pub fn holds_strangers(&self) -> bool {
        let wanted = self.when != When::Off;
        wanted && agon_bot::inside::found().is_ok_and(|found| found.level <= Level::B)
    }
}

/// How the bots of a series are contained, as a sentence.
pub fn containment<'a>(bots: impl Iterator<Item = (&'a str, &'a BotName)>) -> String {
    let held = |name: &BotName| match (&name.kind, name.confined) {
        (NameKind::Path(_) | NameKind::Command(_), Confined::No) => Held::Free,
        (NameKind::Path(_) | NameKind::Command(_), _) => agon_bot::inside::found()
            .map_or(Held::NoProgram, |found| Held::Inside { level: found.level, shares: found.shares }),
        _ => Held::NoProgram,
    };
    let (labels, held): (Vec<&str>, Vec<Held>) = bots.map(|(label, name)| (label, held(name))).unzip();
    record::containment(&held, |bot| labels[bot].to_owned())
}

/// Whether a file or folder came from elsewhere: an unpacked archive, or a download.
fn is_strangers(path: &Path) -> bool {
    let full = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let places = agon_bot::inside::User::own().downloads.into_iter().chain([cache().join("unpacked")]);
    places.filter_map(|place| place.canonicalize().ok()).any(|place| full.starts_with(place))
}
