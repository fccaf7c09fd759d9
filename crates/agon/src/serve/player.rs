//! The server's own worker: it plays under the settings that hold, and begins again when they change.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use agon_bot::image::Images;
use agon_bot::{Confined, Level, Run};
use agon_server::{ContestServer, Inside};
use agon_store::ContestSettings;
use agon_worker::{PlaySettings, VersionShelf, holding};

use crate::common::screen::harmless;
use crate::serve::now;

/// Size limit of the unpacked and built versions, in bytes: those not played for longest are made ready again when they are needed.
const MOST_UNPACKED: u64 = 8 << 30;
/// How often it is looked whether settings have changed.
const TICK: Duration = Duration::from_millis(50);

/// The server's own worker.
pub struct OwnWorker<'a> {
    pub server: &'a ContestServer,
    pub inside: &'a Inside<'a>,
    /// Where versions are unpacked and built.
    pub work: PathBuf,
    pub confined: Confined,
    /// What holds for all bots here, whatever the organiser decides.
    pub all: Run,
    pub jobs: usize,
}

impl OwnWorker<'_> {
    /// Plays until `halt` is set, under the settings that hold: when they change it gives back what it plays, and begins again under them.
    pub fn play(&self, halt: &AtomicBool) {
        let begun = format!("{}-{}", std::process::id(), now().0);
        let mut round = 0;
        while !halt.load(Ordering::Relaxed) {
            let held = self.server.settings();
            let changed = AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    while !halt.load(Ordering::Relaxed) && is_same(&held, &self.server.settings()) {
                        std::thread::sleep(TICK);
                    }
                    changed.store(true, Ordering::Relaxed);
                });
                match self.unfit(&held) {
                    Some(why) => tracing::warn!("no match is played here: {}", harmless(&why)),
                    None => self.under(&held, format!("{begun}-{round}"), &changed),
                }
            });
            round += 1;
        }
    }

    /// Why nothing can be played here under these settings.
    fn unfit(&self, held: &ContestSettings) -> Option<String> {
        if self.jobs == 0 {
            return None;
        }
        if let Some(Err(why)) = held.image.as_ref().map(|image| Images::own().keep(image)) {
            return Some(format!("the contest's image: {why}; `agon image get URL` fetches it"));
        }
        match holding::hold(held.trust_bots, level_of(held)) {
            Ok(confined) if confined == self.confined => None,
            Ok(_) => Some("bots are to be held in another way; start this server again".to_owned()),
            Err(why) => Some(why),
        }
    }

    fn under(&self, held: &ContestSettings, run: String, stop: &AtomicBool) {
        let all = Run { memory: memory_of(held), image: held.image.clone(), ..self.all.clone() };
        let versions = VersionShelf::new(self.work.clone(), self.confined, &self.server.terms().game)
            .under(all)
            .bounded(MOST_UNPACKED);
        let settings = PlaySettings {
            jobs: self.jobs,
            run,
            beat: Duration::from_secs(20),
            idle: Duration::from_millis(200),
            aside: true,
        };
        agon_worker::run(self.inside, self.server.table(), &versions, &settings, stop);
    }
}

/// Whether bots are played under both alike.
fn is_same(one: &ContestSettings, other: &ContestSettings) -> bool {
    let conditions =
        |held: &ContestSettings| (held.image.clone(), held.memory, held.level.clone(), held.trust_bots);
    conditions(one) == conditions(other)
}

/// The memory of each bot, in bytes.
pub fn memory_of(held: &ContestSettings) -> Option<u64> {
    held.memory.map(|megabytes| megabytes << 20)
}

/// The lowest level of the sandbox at which bots are played, if that is decided.
pub fn level_of(held: &ContestSettings) -> Option<Level> {
    let word = held.level.as_deref()?;
    [Level::A, Level::B, Level::C, Level::D].into_iter().find(|level| level.to_string() == word)
}
