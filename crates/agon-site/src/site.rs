//! What all requests share.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::SystemTime;

use agon_api::contest::Machine;
use agon_ladder::{Head, Line, Table};
use agon_server::{Board, Server};
use agon_store::reads::Pulse;
use agon_store::{ContestId, ContestStore, Entrant, Time};
use tokio::sync::{Mutex, watch};

use crate::bench::Bench;
use crate::exports::Exports;
use crate::limits::Limits;
use crate::metrics::Requests;
use crate::passwords::Passwords;
use crate::problem::Problem;
use crate::secrets;
use crate::settings::Settings;
use crate::throttle::Throttle;
use crate::tls::Tls;

/// How certain it must be that one bot is better than another before any page says so.
pub const SURE: f64 = 0.95;

/// How browsers reach the site.
#[derive(Clone, Debug)]
pub enum Way {
    /// From this machine only.
    Loopback,
    /// From private addresses, without encryption: passwords travel in the clear.
    Lan,
    /// Through a proxy on this machine that handles TLS, at this address: `https://contest.example`.
    Proxy(String),
    /// Encrypted by this program itself.
    Tls {
        tls: Arc<Tls>,
        /// Whether only private addresses are let in.
        private: bool,
    },
}

impl Way {
    /// Whether only private addresses are let in, of all that can reach this machine.
    pub fn is_private(&self) -> bool {
        matches!(self, Self::Lan | Self::Tls { private: true, .. })
    }
}

/// The ladder as last shown, with the last row of the log and the last entry of the audit log at that time.
type Kept = ((i64, i64), Arc<Shown>);

/// The site of a contest.
pub struct Site {
    pub server: Arc<Server>,
    /// How browsers reach it.
    pub way: Way,
    /// The limits on requests.
    pub limits: Limits,
    /// The limits on passwords that are tried.
    pub throttle: Throttle,
    /// The password hasher.
    pub passwords: Passwords,
    /// The requests answered so far.
    pub requests: Requests,
    /// Machines that wait for work.
    pub bench: Bench,
    folder: PathBuf,
    clock: Box<dyn Fn() -> Time + Send + Sync>,
    settings: RwLock<Arc<Settings>>,
    /// The modification time of the `contest.toml` read last.
    written: std::sync::Mutex<Option<SystemTime>>,
    shown: Mutex<Option<Kept>>,
    pulse: watch::Sender<Option<Pulse>>,
    machine: OnceLock<Machine>,
    /// The hash of the token that allows reading metrics from elsewhere.
    meter: OnceLock<String>,
    /// Where workers come to, if not to the site.
    workers_at: OnceLock<String>,
    /// Exports in progress.
    pub exports: Exports,
}

/// The ladder with what pages say about it.
pub struct Shown {
    pub board: Board,
    /// All teams by their names, which are unique.
    pub teams: BTreeMap<String, Entrant>,
    /// For each line of the board, the range of places it may hold; none before it is placed.
    pub places: Vec<Option<(usize, usize)>>,
    /// How certain it is who the best are.
    pub head: Option<Head>,
}

impl Site {
    /// The site of the contest in `folder`.
    ///
    /// # Errors
    /// A message that points into its `contest.toml`.
    pub fn new(
        server: Arc<Server>,
        folder: &Path,
        way: Way,
        clock: impl Fn() -> Time + Send + Sync + 'static,
    ) -> Result<Arc<Self>, String> {
        let written = std::sync::Mutex::new(written(folder));
        let settings = RwLock::new(Arc::new(Settings::read(folder)?));
        let (limits, throttle, passwords) = (Limits::default(), Throttle::default(), Passwords::default());
        let (folder, clock) = (folder.to_owned(), Box::new(clock));
        let (shown, pulse) = (Mutex::default(), watch::Sender::new(None));
        let (machine, meter, requests) = (OnceLock::new(), OnceLock::new(), Requests::default());
        let exports = Exports::default();
        Ok(Arc::new(Self {
            server,
            way,
            limits,
            throttle,
            passwords,
            requests,
            bench: Bench::default(),
            folder,
            clock,
            settings,
            written,
            shown,
            pulse,
            machine,
            meter,
            workers_at: OnceLock::new(),
            exports,
        }))
    }

    /// The current time.
    pub fn now(&self) -> Time {
        (self.clock)()
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

    /// The hash of the token that allows reading metrics from elsewhere; none where nobody may.
    pub fn meter(&self) -> Option<&str> {
        self.meter.get().map(String::as_str)
    }

    /// Lets whoever has this token read metrics from now on.
    pub fn measured_with(&self, token: &str) {
        let _ = self.meter.set(secrets::sha(token).to_string());
    }

    /// The settings as `contest.toml` was read last.
    pub fn settings(&self) -> Arc<Settings> {
        self.settings.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads `contest.toml` again.
    ///
    /// # Errors
    /// A message that points into it; the previous settings then stay.
    pub fn read_settings(&self) -> Result<(), String> {
        let fresh = Arc::new(Settings::read(&self.folder)?);
        *self.settings.write().unwrap_or_else(PoisonError::into_inner) = fresh;
        Ok(())
    }

    /// The ladder. Built once for each rating run and each act, and served from memory.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn shown(&self) -> Result<Arc<Shown>, Problem> {
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
        let places = places(&board);
        let head = agon_ladder::head(&board.table, &board.lines, self.settings().best);
        let teams = teams.into_iter().map(|team| (team.name.clone(), team)).collect();
        let shown = Arc::new(Shown { board, teams, places, head });
        *kept = Some((number, shown.clone()));
        Ok(shown)
    }

    /// Rereads `contest.toml` when somebody else has written it, such as another server of the contest or an editor. A file
    /// that cannot be read changes nothing.
    fn follow_settings(&self) {
        let fresh = written(&self.folder);
        let mut known = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if *known != fresh {
            *known = fresh;
            if let Err(why) = self.read_settings() {
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
        self.bench.close();
        self.pulse.send_replace(None);
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

fn written(folder: &Path) -> Option<SystemTime> {
    std::fs::metadata(folder.join(crate::settings::FILE)).and_then(|file| file.modified()).ok()
}

/// The range of places of each line: every team that is surely better is above it, every one that is surely worse below.
fn places(board: &Board) -> Vec<Option<(usize, usize)>> {
    let table = &board.table;
    let numbers: BTreeMap<i64, usize> =
        table.places.iter().enumerate().map(|(number, place)| (place.version, number)).collect();
    let placed = |line: &Line| {
        let own = line.place.as_ref().filter(|_| line.rank.is_some())?;
        numbers.get(&own.version).copied()
    };
    let all: Vec<usize> = board.lines.iter().filter_map(placed).collect();
    let place = |line: &Line| {
        let own = placed(line)?;
        let before = all.iter().filter(|&&other| is_above(table, other, own)).count();
        let behind = all.iter().filter(|&&other| is_above(table, own, other)).count();
        Some((before + 1, all.len() - behind))
    };
    board.lines.iter().map(place).collect()
}

/// Whether place `one` of a table is surely stronger than place `other`, both from 0. Their difference decides: it is known
/// better than either rating, so their intervals may overlap. Where it is unknown, as for a bot that won everything,
/// overlapping intervals decide nothing.
fn is_above(table: &Table, one: usize, other: usize) -> bool {
    let (own, their) = (&table.places[one], &table.places[other]);
    match (table.sure(one, other), own.low, their.high) {
        (Some(sure), _, _) => sure >= SURE,
        (None, Some(low), Some(high)) => own.group == their.group && low > high,
        (None, _, _) => false,
    }
}

#[cfg(test)]
mod tests {
    use agon_ladder::Place;

    use super::*;

    /// A board of versions with intervals of these ends, the last not yet placed, and these certainties.
    fn board(ends: &[(Option<f64>, Option<f64>)], sure: Vec<Vec<Option<f64>>>) -> Board {
        let place = |(n, &(low, high)): (usize, &(Option<f64>, Option<f64>))| Place {
            version: n as i64,
            elo: Some(0.0),
            low,
            high,
            matches: 20,
            group: 1,
            above_next: None,
        };
        let places: Vec<Place> = ends.iter().enumerate().map(place).collect();
        let line = |place: &Place| Line {
            rank: (place.version + 1 < ends.len() as i64).then_some(place.version as u32 + 1),
            entrant: "x".into(),
            boss: false,
            n: 1,
            placing: None,
            place: Some(place.clone()),
            above_next: None,
        };
        let lines = places.iter().map(line).collect();
        let table = Arc::new(Table { places, sure, ..Table::default() });
        Board { lines, table, versions: Vec::new(), last: BTreeMap::new(), upto: 0, made: Time(0) }
    }

    #[test]
    fn where_nothing_else_is_known_a_place_is_as_wide_as_the_intervals_say() {
        let ends = [
            (Some(50.0), None),
            (Some(10.0), Some(60.0)),
            (Some(-20.0), Some(40.0)),
            (Some(-90.0), Some(-30.0)),
            (Some(-500.0), Some(500.0)),
        ];
        let board = board(&ends, Vec::new());
        assert_eq!(places(&board), [Some((1, 2)), Some((1, 3)), Some((2, 3)), Some((4, 4)), None]);
    }

    #[test]
    fn a_place_says_what_the_difference_says_and_not_what_intervals_do() {
        // The intervals of the first two overlap, yet the first is surely better; the third may be as good as the second.
        let ends = [
            (Some(-10.0), Some(300.0)),
            (Some(-200.0), Some(40.0)),
            (Some(-210.0), Some(30.0)),
            (None, None),
        ];
        let sure = vec![
            vec![Some(0.5), Some(0.99), Some(0.995), None],
            vec![Some(0.01), Some(0.5), Some(0.6), None],
            vec![Some(0.005), Some(0.4), Some(0.5), None],
            vec![None; 4],
        ];
        assert_eq!(places(&board(&ends, sure)), [Some((1, 1)), Some((2, 3)), Some((2, 3)), None]);
    }
}
