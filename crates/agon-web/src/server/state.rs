//! What all requests share, and who plays matches for them.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agon_replay::Replay;
use agon_spec::MatchSpec;
use agon_view::Engines;
use serde::Deserialize;

use crate::api::{Causes, TrialSoFar};
use crate::bench::Bench;
use crate::gate::same;
use crate::hand::TakenSeat;
use crate::live::Live;
use crate::script::ScriptFile;
use crate::shelf::Shelf;

/// A match that has begun.
#[derive(Debug, Default)]
pub struct PlayBegun {
    /// Where its replay is once it is over; none if it cannot be written.
    pub replay: Option<PathBuf>,
    /// The addresses of seats that people take.
    pub seats: Vec<String>,
}

/// Plays matches for the page: implemented by the command line, which knows how.
pub trait Host: Send + Sync + 'static {
    /// Starts a match on a thread of its own and shows it.
    ///
    /// # Errors
    /// A sentence for the user, when it cannot be played.
    fn play(&self, spec: &MatchSpec, live: Live) -> Result<PlayBegun, String>;

    /// Builds a bot that must be built and has changed.
    ///
    /// # Errors
    /// A sentence for the user with what the compiler says, when it cannot be built.
    fn build(&self, bot: &str) -> Result<(), String>;

    /// Leads a bot to a turn and lets it play on, with its own order there and with the policy's. `told` receives what is
    /// known so far, finally the verdict; `stop` ends it.
    ///
    /// # Errors
    /// A sentence for the user, when it cannot be tried.
    fn try_bot(
        &self,
        replay: &Replay,
        wanted: &TrialWanted,
        told: &mut dyn FnMut(TrialSoFar),
        stop: &AtomicBool,
    ) -> Result<(), String>;

    /// Looks for what goes along with the losses of a bot in a journal; the bot by index there, from 0.
    ///
    /// # Errors
    /// A sentence for the user, when the journal cannot be read or has no such bot.
    fn why(&self, journal: &Path, bot: usize) -> Result<Causes, String>;
}

/// Which bot to try where.
#[derive(Clone, Debug, Deserialize)]
pub struct TrialWanted {
    /// The step, from 1.
    pub step: u32,
    /// The seat whose order it is, from 1.
    pub seat: u8,
    /// The bot, as on the command line.
    pub bot: String,
    /// Who plays in the other seats; empty for the policy.
    #[serde(default)]
    pub against: String,
}

/// What all requests share.
pub(super) struct AppState {
    pub(super) key: String,
    /// Links not opened yet, and where they lead; the oldest first.
    pub(super) links: Mutex<VecDeque<(String, String)>>,
    pub(super) patience: Duration,
    pub(super) address: SocketAddr,
    pub(super) shelf: Shelf,
    pub(super) script: Option<ScriptFile>,
    pub(super) bench: Option<Bench>,
    pub(super) host: Box<dyn Host>,
    pub(super) running: Mutex<HashMap<String, Live>>,
    /// Held while a bot is tried: two at a time would disturb each other's clocks.
    pub(super) trying: Arc<tokio::sync::Semaphore>,
    /// Seats that people have taken, by the token that entitles to them.
    pub(super) seats: Mutex<HashMap<String, TakenSeat>>,
    /// What the pages have open that do not compute their matches themselves.
    pub(super) engines: Engines,
}

/// How many matches played here are kept.
const KEPT: usize = 20;
/// How many replays are kept open; a page whose replay was closed opens it again.
pub(super) const OPEN: usize = 8;
/// How many links may be unopened.
const LINKS: usize = 16;

impl AppState {
    pub(super) fn add(&self, live: Live) -> String {
        let name = fresh_secret()[..12].to_owned();
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.len() >= KEPT {
            running.retain(|_, live| !live.since(usize::MAX).1);
        }
        running.insert(name.clone(), live);
        name
    }

    pub(super) fn add_link(&self, place: &str) -> String {
        let link = fresh_secret();
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        if links.len() >= LINKS {
            links.pop_front();
        }
        links.push_back((link.clone(), place.to_owned()));
        link
    }

    pub(super) fn seat(&self, token: &str) -> Option<TakenSeat> {
        let seats = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
        seats.iter().find(|(own, _)| same(own, token)).map(|(_, seat)| seat.clone())
    }

    /// Where a link leads; it works once.
    pub(super) fn take_link(&self, link: &str) -> Option<String> {
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        let found = links.iter().position(|(own, _)| same(own, link))?;
        links.remove(found).map(|(_, place)| place)
    }
}

/// 128 unguessable bits.
///
/// # Panics
/// When the system has no random numbers: nothing could be kept private then.
pub(super) fn fresh_secret() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the system gives random numbers");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
