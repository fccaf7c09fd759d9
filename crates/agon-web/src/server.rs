//! The local server: the app, matches to watch, recent matches, and matches played from the page.
//!
//! It shows private things and can start programs, so it listens only on the loopback, and answers only those who have its
//! key ([`gate`]); a foreign `Host` is refused, so no foreign name can be made to resolve here.

mod answers;
mod files;
mod gate;
mod given;
mod rulebook;
mod socket;
mod target;
mod trial;
mod workshop;

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agon_replay::Replay;
use agon_spec::MatchSpec;
use agon_view::Engines;
use serde::Deserialize;

pub use socket::Patient;
pub use target::{Misdirected, check as check_target};

use crate::api::{Causes, TrialSoFar};
use crate::hand::TakenSeat;
use crate::live::Live;
use crate::script::ScriptFile;
use crate::shelf::Shelf;

/// How a server is set up.
#[derive(Debug)]
pub struct Config {
    /// The address it listens on; the loopback unless the user asks for more.
    pub address: IpAddr,
    /// The port; 0 for a free one.
    pub port: u16,
    /// The key that lets clients in; none for a fresh one.
    pub key: Option<String>,
    /// The replays and journals the user named.
    pub files: Vec<PathBuf>,
    /// The script that the page may read and write.
    pub script: Option<ScriptFile>,
    /// The folder of recent matches.
    pub folder: PathBuf,
    /// The folder of series.
    pub series: PathBuf,
    /// How long a connection on which nothing moves may stay open.
    pub patience: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            address: Ipv4Addr::LOCALHOST.into(),
            port: 0,
            key: None,
            files: Vec::new(),
            script: None,
            folder: PathBuf::new(),
            series: PathBuf::new(),
            patience: Duration::from_secs(20),
        }
    }
}

/// Plays matches for the page: implemented by the command line, which knows how.
pub trait Host: Send + Sync + 'static {
    /// Starts a match on a thread of its own and shows it.
    ///
    /// # Errors
    /// A sentence for the user, when it cannot be played.
    fn play(&self, spec: &MatchSpec, live: Live) -> Result<(), String>;

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

/// A server that has its port but does not answer yet.
pub struct Server {
    listener: TcpListener,
    app: Arc<AppState>,
}

/// A handle on a server that is already answering on another thread.
#[derive(Clone)]
pub struct Handle(Arc<AppState>);

impl Handle {
    /// A fresh address to open, valid once. `place` is what to show there: `replay=...`.
    pub fn link(&self, place: &str) -> String {
        format!("{}/start?link={}", self.address(), self.0.add_link(place))
    }

    /// The server's address; a browser that opens it is asked for the key.
    pub fn address(&self) -> String {
        let mut address = self.0.address;
        if address.ip().is_unspecified() {
            // It listens on every address of this machine; this one works here.
            address.set_ip(Ipv4Addr::LOCALHOST.into());
        }
        format!("http://{address}")
    }

    /// Gives a seat away: whoever has the address has the seat, and nothing else of this server.
    pub fn give(&self, seat: TakenSeat) -> String {
        let token = fresh_secret();
        let mut seats = self.0.seats.lock().unwrap_or_else(PoisonError::into_inner);
        seats.insert(token.clone(), seat);
        format!("{}/#seat={token}", self.address())
    }

    /// Adds a match being played; returns the place where it is shown.
    pub fn add(&self, live: Live) -> String {
        format!("live={}", self.0.add(live))
    }
}

/// What all requests share.
struct AppState {
    key: String,
    /// Links not opened yet, and where they lead; the oldest first.
    links: Mutex<VecDeque<(String, String)>>,
    patience: Duration,
    address: SocketAddr,
    shelf: Shelf,
    script: Option<ScriptFile>,
    host: Box<dyn Host>,
    running: Mutex<HashMap<String, Live>>,
    /// Held while a bot is tried: two at a time would disturb each other's clocks.
    trying: Arc<tokio::sync::Semaphore>,
    /// Seats that people have taken, by the token that entitles to them.
    seats: Mutex<HashMap<String, TakenSeat>>,
    /// What the pages have open that do not compute their matches themselves.
    engines: Engines,
}

/// How many matches played here are kept.
const KEPT: usize = 20;
/// How many replays are kept open; a page whose replay was closed opens it again.
const OPEN: usize = 8;
/// How many links may be unopened.
const LINKS: usize = 16;

impl Server {
    /// Takes the port.
    ///
    /// # Errors
    /// When the port is not available.
    pub fn bind(config: Config, host: Box<dyn Host>) -> io::Result<Self> {
        let listener = TcpListener::bind((config.address, config.port))?;
        let address = listener.local_addr()?;
        let shelf = Shelf { named: config.files, folder: config.folder, series: config.series };
        let app = AppState {
            key: config.key.unwrap_or_else(fresh_secret),
            links: Mutex::default(),
            patience: config.patience,
            address,
            shelf,
            script: config.script,
            host,
            running: Mutex::default(),
            trying: Arc::new(tokio::sync::Semaphore::new(1)),
            seats: Mutex::default(),
            engines: Engines::keeping(OPEN),
        };
        Ok(Self { listener, app: Arc::new(app) })
    }

    /// A handle on this server for other threads.
    pub fn handle(&self) -> Handle {
        Handle(self.app.clone())
    }

    /// Answers until `stop` is set.
    ///
    /// # Errors
    /// When the system provides no threads or events.
    pub fn run(self, stop: &AtomicBool) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let done = runtime.block_on(async {
            self.listener.set_nonblocking(true)?;
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            let stopped = async {
                while !stop.load(Ordering::Relaxed) {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            };
            let patience = self.app.patience;
            tokio::select! {
                () = socket::serve(listener, answers::routes(self.app), patience) => {}
                () = stopped => {}
            }
            Ok(())
        });
        runtime.shutdown_background();
        done
    }
}

impl AppState {
    fn add(&self, live: Live) -> String {
        let name = fresh_secret()[..12].to_owned();
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.len() >= KEPT {
            running.retain(|_, live| !live.since(usize::MAX).1);
        }
        running.insert(name.clone(), live);
        name
    }

    fn add_link(&self, place: &str) -> String {
        let link = fresh_secret();
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        if links.len() >= LINKS {
            links.pop_front();
        }
        links.push_back((link.clone(), place.to_owned()));
        link
    }

    fn seat(&self, token: &str) -> Option<TakenSeat> {
        let seats = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
        seats.iter().find(|(own, _)| gate::same(own, token)).map(|(_, seat)| seat.clone())
    }

    /// Where a link leads; it works once.
    fn take_link(&self, link: &str) -> Option<String> {
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        let found = links.iter().position(|(own, _)| gate::same(own, link))?;
        links.remove(found).map(|(_, place)| place)
    }
}

/// 128 unguessable bits.
///
/// # Panics
/// When the system has no random numbers: nothing could be kept private then.
fn fresh_secret() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the system gives random numbers");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
