//! The machine that bots play on, as described to participants.

use std::path::Path;

use agon_api::contest::{Language, Machine};
use agon_bot::{Confined, inside};
use agon_worker::{holding, speed};

use crate::common::languages::{self, Answer};

/// What bots have here: `cpus` for a match, the packages in these folders, and this much memory if not the usual. Takes some seconds when programs are slow
/// to print their versions.
pub fn look(confined: Confined, cpus: usize, packages: &[String], memory: Option<u64>) -> Machine {
    let limits = inside::limits();
    let held = confined != Confined::No;
    let name = |place: &String| Path::new(place).file_name().map(|name| name.to_string_lossy().into_owned());
    let told = languages::ask().into_iter();
    let told = told.filter_map(|(tool, answer)| match answer {
        Answer::Version(version) => Some(Language { name: tool.program.to_owned(), version }),
        Answer::Fails(_) | Answer::Missing => None,
    });
    Machine {
        sandbox: Some(holding::word(holding::level(confined))),
        cpus: u32::try_from(cpus).unwrap_or(u32::MAX),
        memory: held.then_some(memory.unwrap_or(limits.memory)),
        processes: held.then_some(limits.processes),
        disk: held.then_some(limits.disk),
        speed: Some(speed::measure()),
        packages: packages.iter().filter_map(name).collect(),
        languages: told.collect(),
        image: None,
    }
}
