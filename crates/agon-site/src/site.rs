//! What all requests share.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::SystemTime;

use agon_api::contest::Machine;
use agon_ladder::TableHead;
use agon_server::{Board, ContestServer};
use agon_store::reads::Pulse;
use agon_store::{ContestId, ContestStore, Entrant, StoreError, Time};
use ipnet::IpNet;
use tokio::sync::{Mutex, watch};

use crate::bench::LoadTest;
use crate::exports::Exports;
use crate::limits::RequestLimits;
use crate::mail::Mailer;
use crate::metrics::Requests;
use crate::nights::Nights;
use crate::passwords::Passwords;
use crate::problem::Refused;
use crate::secrets;
use crate::settings::{MADE_MAP, OwnFile, Settings, network};
use crate::throttle::Throttle;
use crate::tls::Tls;
use crate::webhook::Webhook;

/// How many names of maps are kept: a few hundred bytes each.
const MOST_GROUNDS: usize = 20_000;

/// How browsers reach the site.
#[derive(Clone, Debug)]
pub enum Way {
    /// From this machine only.
    Loopback,
    /// From private addresses, without encryption: passwords travel in the clear.
    Lan,
    /// Through a proxy that handles TLS, at this address: `https://contest.example`. It is on this machine, or one that the settings
    /// name.
    Proxy(String),
    /// Encrypted by this program itself.
    Tls {
        tls: Arc<Tls>,
        /// Whether only private addresses are let in.
        private: bool,
    },
}

impl Way {
    /// Where it listens unless told otherwise ([`listen`](crate::listen())).
    pub fn at(&self, bind: Option<IpAddr>, port: u16) -> SocketAddr {
        let usual: IpAddr = match self {
            Self::Lan | Self::Tls { .. } => [0, 0, 0, 0].into(),
            Self::Loopback | Self::Proxy(_) => [127, 0, 0, 1].into(),
        };
        (bind.unwrap_or(usual), port).into()
    }

    /// Whether only private addresses are let in, of all that can reach this machine.
    pub fn is_private(&self) -> bool {
        matches!(self, Self::Lan | Self::Tls { private: true, .. })
    }
}

/// The ladder as last shown, with the last row of the log and the last entry of the audit log at that time.
type Kept = ((i64, i64), Arc<Shown>);

/// The site of a contest.
pub struct Site {
    pub server: Arc<ContestServer>,
    /// How browsers reach it.
    pub way: Way,
    /// The limits on requests.
    pub limits: RequestLimits,
    /// The limits on passwords that are tried.
    pub throttle: Throttle,
    /// The mail on its way.
    pub mailer: Arc<Mailer>,
    /// What the webhook is told.
    pub webhook: Webhook,
    /// The nights' archives.
    pub nights: Arc<Nights>,
    /// The password hasher.
    pub passwords: Passwords,
    /// The requests answered so far.
    pub requests: Requests,
    /// Machines that wait for work.
    pub bench: LoadTest,
    folder: PathBuf,
    clock: Box<dyn Fn() -> Time + Send + Sync>,
    own: RwLock<Arc<OwnFile>>,
    /// Made of the file here and of what the organiser has decided, as they were last read.
    settings: RwLock<Arc<Settings>>,
    /// The modification time of the `contest.toml` read last.
    written: std::sync::Mutex<Option<SystemTime>>,
    /// The names of maps that the seed makes or picks, by the number of the ground and the seed.
    grounds: std::sync::Mutex<BTreeMap<(i64, i64), Arc<str>>>,
    shown: Mutex<Option<Kept>>,
    pulse: watch::Sender<Option<Pulse>>,
    /// Whether the database does not answer.
    away: watch::Sender<bool>,
    machine: OnceLock<Machine>,
    /// Proxies that the command line names, besides those of the settings.
    proxies: OnceLock<Vec<IpNet>>,
    /// The hash of the token that allows reading metrics from elsewhere.
    meter: OnceLock<String>,
    /// Where workers come to, if not to the site.
    workers_at: OnceLock<String>,
    /// Where people come to, as the program has printed it.
    people_at: OnceLock<String>,
    /// Exports in progress.
    pub exports: Exports,
}

/// The ladder with what pages say about it.
pub struct Shown {
    pub board: Board,
    /// All teams by their names, which are unique.
    pub teams: BTreeMap<String, Entrant>,
    /// How certain it is who the best are.
    pub head: Option<TableHead>,
}

impl Site {
    /// The site of the contest in `folder`.
    ///
    /// # Errors
    /// A message that points into its `contest.toml`.
    pub fn new(
        server: Arc<ContestServer>,
        folder: &Path,
        way: Way,
        clock: impl Fn() -> Time + Send + Sync + 'static,
    ) -> Result<Arc<Self>, String> {
        let written = std::sync::Mutex::new(written(folder));
        let own = OwnFile::read(folder)?;
        let settings = RwLock::new(Arc::new(Settings::new(&own, server.settings())));
        let own = RwLock::new(Arc::new(own));
        let (limits, throttle, passwords) =
            (RequestLimits::default(), Throttle::default(), Passwords::default());
        let (folder, clock) = (folder.to_owned(), Box::new(clock));
        let (shown, pulse) = (Mutex::default(), watch::Sender::new(None));
        let (machine, meter, requests) = (OnceLock::new(), OnceLock::new(), Requests::default());
        let (exports, webhook) = (Exports::default(), Webhook::new(server.ended()));
        Ok(Arc::new(Self {
            server,
            way,
            limits,
            throttle,
            mailer: Arc::default(),
            webhook,
            nights: Arc::default(),
            passwords,
            requests,
            bench: LoadTest::default(),
            folder,
            clock,
            own,
            settings,
            written,
            grounds: std::sync::Mutex::default(),
            shown,
            pulse,
            away: watch::Sender::new(false),
            machine,
            proxies: OnceLock::new(),
            meter,
            workers_at: OnceLock::new(),
            people_at: OnceLock::new(),
            exports,
        }))
    }

    /// The current time.
    pub fn now(&self) -> Time {
        (self.clock)()
    }

    /// The name of the map of a match: the contest's own, or the one that its seed makes or picks.
    pub fn map_of(&self, map: i64, seed: i64) -> String {
        let settings = self.settings();
        if usize::try_from(map).is_ok_and(|map| map < settings.maps.len()) {
            return settings.map(map);
        }
        let known = |grounds: &BTreeMap<(i64, i64), Arc<str>>| grounds.get(&(map, seed)).cloned();
        let mut grounds = self.grounds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(name) = known(&grounds) {
            return name.to_string();
        }
        drop(grounds);
        let session = self.server.table().open(usize::try_from(map).unwrap_or(usize::MAX), seed);
        let name: Arc<str> = match session {
            Ok(session) if session.recipe().map_name != "generated" => {
                session.recipe().map_name.as_str().into()
            }
            _ => MADE_MAP.into(),
        };
        grounds = self.grounds.lock().unwrap_or_else(PoisonError::into_inner);
        if grounds.len() >= MOST_GROUNDS {
            grounds.clear();
        }
        grounds.insert((map, seed), name.clone());
        name.to_string()
    }

    /// The contest's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn store(&self) -> &ContestStore {
        self.server.store()
    }

    /// The contest's id.
    pub fn contest(&self) -> ContestId {
        self.server.contest()
    }

    /// The resources of bots where they play; none while nobody has said.
    pub fn machine(&self) -> Option<&Machine> {
        self.machine.get()
    }

    /// Sets the resources of bots where they play.
    pub fn plays_on(&self, machine: Machine) {
        let _ = self.machine.set(machine);
    }

    /// The address that workers come to, if it is not the site's.
    pub fn workers_at(&self) -> Option<&str> {
        self.workers_at.get().map(String::as_str)
    }

    /// Sets that address.
    pub fn workers_come_to(&self, address: String) {
        let _ = self.workers_at.set(address);
    }

    /// The address that people come to, for links in mail: never what a request says of itself, which anybody may have written.
    pub fn people_at(&self) -> Option<&str> {
        self.people_at.get().map(String::as_str)
    }

    /// Sets that address.
    pub fn people_come_to(&self, address: String) {
        let _ = self.people_at.set(address);
    }

    /// The hash of the token that allows reading metrics from elsewhere; none where nobody may.
    pub fn meter(&self) -> Option<&str> {
        self.meter.get().map(String::as_str)
    }

    /// Lets whoever has this token read metrics from now on.
    pub fn measured_with(&self, token: &str) {
        let _ = self.meter.set(secrets::sha(token).to_string());
    }

    /// What holds, as this server last heard of it: a moment ago. Whoever accepts something reads it again, in the same transaction.
    pub fn settings(&self) -> Arc<Settings> {
        let held = self.server.settings();
        let known = self.settings.read().unwrap_or_else(PoisonError::into_inner).clone();
        if Arc::ptr_eq(&known.held, &held) {
            return known;
        }
        let own = self.own.read().unwrap_or_else(PoisonError::into_inner).clone();
        let fresh = Arc::new(Settings::new(&own, held));
        *self.settings.write().unwrap_or_else(PoisonError::into_inner) = fresh.clone();
        fresh
    }

    /// Whether this is the address of one of its proxies.
    pub fn is_proxy(&self, address: IpAddr) -> bool {
        matches!(self.way, Way::Proxy(_))
            && (is_proxy(address, &self.settings().proxies)
                || self.proxies.get().is_some_and(|proxies| is_proxy(address, proxies)))
    }

    /// Whether a proxy on another machine may connect.
    pub fn has_proxies(&self) -> bool {
        !self.settings().proxies.is_empty() || self.proxies.get().is_some_and(|proxies| !proxies.is_empty())
    }

    /// Takes requests from these proxies too, addresses or networks.
    ///
    /// # Errors
    /// Which of them is neither.
    pub fn trust(&self, proxies: &[String]) -> Result<(), String> {
        let proxies = proxies.iter().map(|text| network(text)).collect::<Result<_, _>>()?;
        let _ = self.proxies.set(proxies);
        Ok(())
    }

    /// Reads `contest.toml` again: what is this machine's own, and what it says of the rest.
    fn read_own(&self) -> Result<(), String> {
        let own = OwnFile::read(&self.folder)?;
        self.server.publish_again(own.settings.clone());
        let settings = Arc::new(Settings::new(&own, self.server.settings()));
        *self.own.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(own);
        *self.settings.write().unwrap_or_else(PoisonError::into_inner) = settings;
        Ok(())
    }

    /// The ladder. Built once for each rating run and each act, and served from memory.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn shown(&self) -> Result<Arc<Shown>, Refused> {
        let board = self.server.board_number().await;
        let number = (board, self.store().last_event().await?);
        let mut kept = self.shown.lock().await;
        if let Some((own, shown)) = kept.as_ref()
            && *own == number
        {
            return Ok(shown.clone());
        }
        let board = self.server.board().await?;
        let teams = self.store().entrants().await?;
        let head = agon_ladder::head(&board.table, &board.lines, self.settings().best);
        let teams = teams.into_iter().map(|team| (team.name.clone(), team)).collect();
        let shown = Arc::new(Shown { board, teams, head });
        *kept = Some((number, shown.clone()));
        Ok(shown)
    }

    /// Rereads `contest.toml` when somebody has written it. A file that cannot be read changes nothing.
    fn follow_settings(&self) {
        let fresh = written(&self.folder);
        let mut known = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if *known != fresh {
            *known = fresh;
            if let Err(why) = self.read_own() {
                tracing::warn!("what was read before goes on: {why}");
            }
        }
    }

    /// The changes, for live pages.
    pub fn pulse(&self) -> watch::Receiver<Option<Pulse>> {
        self.pulse.subscribe()
    }

    /// Lets live pages and waiting machines go: nothing changes any more.
    pub fn farewell(&self) {
        self.nights.end();
        self.bench.close();
        self.pulse.send_replace(None);
    }

    /// Whether the database does not answer.
    pub fn away(&self) -> watch::Receiver<bool> {
        self.away.subscribe()
    }

    /// Asks the database whether it is there, again and again.
    pub async fn look_out(&self) {
        let tell = |asked: Result<(), StoreError>| {
            let is_away = asked.is_err();
            if let Err(why) = asked
                && !*self.away.borrow()
            {
                tracing::warn!("{why}; pages say so until it answers");
            }
            self.away.send_if_modified(|away| std::mem::replace(away, is_away) != is_away);
        };
        self.server.look_out(tell).await;
    }

    /// Checks whether something changed, if anybody is watching.
    pub async fn beat(&self) {
        self.follow_settings();
        if self.pulse.receiver_count() == 0 {
            return;
        }
        let store = self.store();
        let board = self.server.board_number().await;
        // What cannot be read now is read at the next beat.
        let (Ok(acts), Ok(work)) = (store.last_event().await, store.work().await) else {
            return;
        };
        let now = Some(Pulse { board, acts, work });
        self.pulse.send_if_modified(|known| {
            let is_new = *known != now;
            *known = now;
            is_new
        });
    }

    /// Whether browsers reach it encrypted.
    pub fn is_secure(&self) -> bool {
        match &self.way {
            Way::Loopback | Way::Lan => false,
            Way::Proxy(address) => address.starts_with("https://"),
            Way::Tls { .. } => true,
        }
    }

    /// Whether browsers may be told to use only encryption for a year. Not with a self-signed certificate: once it is
    /// replaced, they would let nobody through.
    pub fn is_for_good(&self) -> bool {
        self.is_secure() && !matches!(&self.way, Way::Tls { tls, .. } if tls.is_own())
    }
}

/// Whether this address is on this machine or in one of these networks.
pub fn is_proxy(address: IpAddr, proxies: &[IpNet]) -> bool {
    address.is_loopback() || proxies.iter().any(|one| one.contains(&address))
}

fn written(folder: &Path) -> Option<SystemTime> {
    std::fs::metadata(folder.join(crate::settings::FILE)).and_then(|file| file.modified()).ok()
}
