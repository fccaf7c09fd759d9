//! The local server: the app, matches to watch, recent matches, and matches played from the page.
//!
//! It shows private things and can start programs, so it listens only on the loopback, and answers only those who have its
//! key ([`gate`]); a foreign `Host` is refused, so no foreign name can be made to resolve here.

mod answers;
mod code;
mod files;
mod gate;
mod given;
mod rulebook;
mod socket;
mod state;
mod telling;
mod trial;
mod workshop;

use std::io;
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agon_view::Engines;

pub use socket::Patient;
use state::{AppState, OPEN, fresh_secret};
pub use state::{Host, PlayBegun, TrialWanted};

use crate::bench::Bench;
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
    /// The bot that is written in the page.
    pub bench: Option<Bench>,
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
            bench: None,
            folder: PathBuf::new(),
            series: PathBuf::new(),
            patience: Duration::from_secs(20),
        }
    }
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
            bench: config.bench,
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
