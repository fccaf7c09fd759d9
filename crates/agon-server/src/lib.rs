//! The core of a contest's server.
//!
//! It joins three crates: [`agon_store`] remembers, [`agon_ladder`] decides, [`agon_worker`] plays. This crate has what happens when a
//! worker asks ([`asked`]), what the server does by itself ([`tick`]), and what a viewer sees ([`status`]). Pages and the wire protocol
//! call the same functions. All of them take the time as a parameter, so that three days of a contest pass in minutes of a test.

#![forbid(unsafe_code)]

// In reading order.
pub mod asked;
pub mod clock;
mod planning;
pub mod quotas;
pub mod results;
pub mod tick;

pub mod fleet;
pub mod inside;
pub mod lessons;
pub mod mail;
pub mod marks;
pub mod nightly;
pub mod room;
pub mod rulings;
pub mod settings;
pub mod sight;
pub mod status;
pub mod trials;
pub mod uploads;
pub mod watched;

pub mod backup;
pub mod export;
pub mod recomputed;

mod archive;
mod behind;
mod causes;
mod facts;
mod packed;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use agon_ladder::{PLACED, Policy, Shares};
use agon_stats::{RulesHash, TableKey};
use agon_store::acts::{Add, Added, FoundContest, SeatBosses, TakeInSettings};
use agon_store::names;
use agon_store::{
    ContestRow, ContestSettings, ContestStore, EntrantVersion, Objects, Store, StoreError, Time, VersionId,
    seeds,
};
use agon_worker::{ContestTerms, PreparedGame};
use serde_json::Value;
use thiserror::Error;
use tokio::sync::{Mutex, broadcast, watch};

use clock::ServerClock;
use facts::Facts;
use planning::{Plans, Wanted};
use quotas::Quotas;
use room::Room;
use settings::FileSettings;

pub use agon_stats::METHOD;
pub use inside::Inside;
pub use sight::Board;
pub use status::ContestStatus;
pub use tick::Ticked;
pub use trials::EndedTrial;
pub use uploads::{Drafted, Upload, UploadOutcome, Wish};

/// Why the server cannot do something.
#[derive(Debug, Error)]
pub enum ServerError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The organiser's mistake: a sentence saying what.
    #[error("{0}")]
    Wrong(String),
    /// There is no contest where one was named: a sentence saying so.
    #[error("{0}")]
    Missing(String),
}

/// What a contest is founded on.
#[derive(Clone, Debug)]
pub struct Setting {
    pub name: String,
    /// What decides results.
    pub terms: ContestTerms,
    /// The settings that it begins with. The database has those that hold since.
    pub founding: ContestSettings,
}

/// An open contest.
pub struct ContestServer {
    store: ContestStore,
    objects: Objects,
    room: Room,
    /// As last read: whoever accepts something reads them again.
    settings: RwLock<Arc<ContestSettings>>,
    /// What this server's file says, under the server's name.
    file: std::sync::Mutex<Option<(String, FileSettings)>>,
    /// The clock that it goes by; in tests there may be none.
    clock: OnceLock<Arc<ServerClock>>,
    terms: ContestTerms,
    table: Arc<PreparedGame>,
    key: TableKey,
    learnt: Mutex<Learnt>,
    /// A second copy of the log's facts, for the table: computing that takes longer than anybody may wait for work.
    rated: Mutex<Facts>,
    wanted: Wanted,
    plans: Plans,
    quotas: Quotas,
    /// Whether results of the last round are valid but not yet sealed. Not in `learnt`, because recomputing must not wait for whoever plans.
    unsealed: AtomicBool,
    /// One rated match in this many is played again; the secret determines which.
    share: u64,
    secret: String,
    /// Notified when a worker posts results or gives something up.
    brought: watch::Sender<()>,
    /// Notified when those have been processed, so that there may be more to play.
    done: watch::Sender<()>,
    /// The trials that end here.
    ended: broadcast::Sender<EndedTrial>,
    /// All versions, as of this entry of the audit log.
    known: Mutex<(i64, Arc<BTreeMap<VersionId, EntrantVersion>>)>,
    /// Why teams lose, as last looked at.
    lessons: Mutex<lessons::KnownLosses>,
}

/// The facts of the log, and the table made of them.
struct Learnt {
    facts: Facts,
    /// The last row covered by the table that was last kept, and when that was.
    board: (i64, Time),
    table: Arc<agon_ladder::Table>,
    /// How much each kind of work has had.
    shares: Shares,
    /// How many matches are planned ahead: none before the first request for work.
    ahead: usize,
    /// When it was last checked that as many are.
    looked_ahead: Time,
    /// When this server last said that it is there.
    said: Time,
    /// When leases were last looked through.
    expired: Time,
    /// When drafts were last forgotten.
    forgot: Time,
    /// When unnamed objects were last looked for.
    swept: Time,
}

impl ContestServer {
    /// Opens the contest in `folder`, and founds it if there is none.
    ///
    /// # Errors
    /// When its terms are not those that it began with, or something cannot be read.
    pub async fn open(folder: &Path, setting: &Setting, now: Time) -> Result<Self, ServerError> {
        let store = Store::open(folder).await?;
        let objects = Objects::open_in_use(folder).await?;
        let store = match store.named(&setting.name).await? {
            Some(own) => own,
            None => {
                let secret = seeds::secret().map_err(|error| {
                    ServerError::Wrong(format!("the system gives no randomness: {error}"))
                })?;
                let (name, game) = (setting.name.clone(), setting.terms.game.clone());
                let found = FoundContest { name, game, terms: json(&setting.terms), secret, now };
                store.of(store.act(found).await?)
            }
        };
        // A contest of a program before this one has none either.
        let founding = TakeInSettings { contest: store.id(), settings: setting.founding.clone() };
        store.act(founding).await?;
        let contest = store.now().await?;
        check_terms(&terms_of(&store, &contest).await?, &setting.terms)?;
        let table = Arc::new(PreparedGame::new(&setting.terms).map_err(ServerError::Wrong)?);
        let server = Self {
            store,
            room: Room::of(folder, &objects),
            objects,
            settings: RwLock::new(Arc::new(contest.settings.unwrap_or_default())),
            file: std::sync::Mutex::default(),
            clock: OnceLock::new(),
            terms: setting.terms.clone(),
            table,
            key: key(&setting.terms),
            learnt: Mutex::new(Learnt {
                facts: Facts::new(),
                board: (0, Time(0)),
                table: Arc::default(),
                shares: Shares::default(),
                ahead: 0,
                looked_ahead: Time(0),
                said: Time(0),
                expired: Time(0),
                forgot: Time(0),
                swept: Time(0),
            }),
            rated: Mutex::new(Facts::new()),
            share: watched::SHARE,
            secret: contest.secret,
            wanted: Wanted::default(),
            plans: Plans::default(),
            quotas: Quotas::default(),
            unsealed: AtomicBool::new(false),
            brought: watch::Sender::new(()),
            done: watch::Sender::new(()),
            ended: broadcast::Sender::new(trials::MOST_ENDED),
            known: Mutex::default(),
            lessons: Mutex::default(),
        };
        let built_ins = agon_contest::content::BUILT_INS;
        server.store.act(SeatBosses { contest: server.contest(), built_ins, now }).await?;
        server.learnt.lock().await.facts.read(&server.store, i64::MAX).await?;
        server.keep_board(now, true).await?;
        Ok(server)
    }

    /// The settings that hold, as last read: at most a moment ago.
    pub fn settings(&self) -> Arc<ContestSettings> {
        self.settings.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The contest as it is now. Its settings are known from then on.
    ///
    /// # Errors
    /// Store errors.
    pub async fn now(&self) -> Result<ContestRow, ServerError> {
        let contest = self.store.now().await?;
        let held = contest.settings.clone().unwrap_or_default();
        if *self.settings() != held {
            *self.settings.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(held);
        }
        Ok(contest)
    }

    /// Says what the file of this server, which has this name, says of settings, so that an organiser sees where files differ.
    pub fn publish(&self, name: String, file: FileSettings) {
        *self.file.lock().unwrap_or_else(PoisonError::into_inner) = Some((name, file));
    }

    /// The same again, after somebody has edited that file.
    pub fn publish_again(&self, file: FileSettings) {
        if let Some((_, own)) = self.file.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            *own = file;
        }
    }

    /// How the ladder is played.
    pub fn policy(&self) -> Policy {
        Policy { seats: self.seats(), placing: PLACED as u32, enough: self.settings().matches }
    }

    /// How many play in a match.
    fn seats(&self) -> usize {
        self.table.seats()
    }

    /// The disks that the contest fills.
    pub fn room(&self) -> &Room {
        &self.room
    }

    /// How much those who bring something have made this server store today.
    pub fn quotas(&self) -> &Quotas {
        &self.quotas
    }

    /// Everything that decides results.
    pub fn terms(&self) -> &ContestTerms {
        &self.terms
    }

    /// Rules and maps, parsed: the server's own worker plays with them.
    pub fn table(&self) -> &PreparedGame {
        &self.table
    }

    /// Changes when a worker has brought something, so that it is time for a [`tick`](Self::tick). A hint: it does not tell what other
    /// servers of the same contest received.
    pub fn brought(&self) -> watch::Receiver<()> {
        self.brought.subscribe()
    }

    /// Changes when a tick has done something, so that there may be more to play. A hint like [`brought`](Self::brought).
    pub fn done(&self) -> watch::Receiver<()> {
        self.done.subscribe()
    }

    /// The trials that end on this server from now on. Of several servers, the one that looks after the contest ends them.
    pub fn ended(&self) -> broadcast::Receiver<EndedTrial> {
        self.ended.subscribe()
    }

    /// Closes the database cleanly. Later calls get an error.
    pub async fn close(&self) {
        self.store.clone().close().await;
    }
}

/// Tells the server of a folder from others of its contest: the machine's name and the folder's.
pub fn server_name(folder: &Path) -> String {
    let machine = rustix::system::uname().nodename().to_string_lossy().into_owned();
    format!("{machine} {}", name_of(folder))
}

/// The name of a contest that was given none: that of its folder.
pub fn name_of(folder: &Path) -> String {
    let full = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    full.file_name().map_or_else(|| "contest".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// Takes in what an organiser hands in, a tar of a bot's files, whether the contest is running or not: first the object, then one short
/// transaction. It goes live after its check match.
///
/// # Errors
/// When it cannot be kept.
pub async fn hand_in(
    store: &ContestStore,
    objects: &Objects,
    entrant: &str,
    archive: &[u8],
    (actor, now): (&str, Time),
) -> Result<Added, ServerError> {
    let entrant = check_name(entrant, "a team").map_err(ServerError::Wrong)?;
    let source = objects.put(archive).await.map_err(|error| StoreError::File("objects".to_owned(), error))?;
    let add = Add {
        contest: store.id(),
        entrant,
        boss: false,
        builtin: None,
        source,
        received: now,
        only_if_better: false,
        bytes: archive.len() as i64,
        counts: false,
        actor: actor.to_owned(),
    };
    Ok(store.act(add).await?)
}

/// The name of `whose` (`a team`, `an account`, `a machine`), as it is stored: what was typed, in Unicode's composed form.
///
/// # Errors
/// A sentence that says what it must be.
pub fn check_name(typed: &str, whose: &str) -> Result<String, String> {
    names::named(typed).map_err(|why| {
        let typed: String = typed.chars().take(40).collect();
        format!("`{typed}` is not a name for {whose}: {why}")
    })
}

/// The terms that a contest began with.
async fn terms_of(store: &ContestStore, contest: &ContestRow) -> Result<ContestTerms, ServerError> {
    let terms: ContestTerms = serde_json::from_str(&contest.terms)
        .map_err(|error| ServerError::Wrong(format!("the terms of the contest cannot be read: {error}")))?;
    if terms.ratings == METHOD {
        return Ok(terms);
    }
    let board = store.boards().await?.into_iter().max_by_key(|board| board.upto);
    let program = board.and_then(|board| Some(board.program.split_once(", ratings")?.0.to_owned()));
    let program = program.unwrap_or_else(|| "the agon that founded it".to_owned());
    Err(ServerError::Wrong(other_method(&format!("contest {}", contest.name), terms.ratings, &program)))
}

/// Refuses what was made under another method of ratings.
fn other_method(what: &str, method: u32, program: &str) -> String {
    format!(
        "{what}: its table follows from its log by method {method} of ratings, and this agon knows {METHOD}; verify it with {program}"
    )
}

/// Checks that the terms are the same; the error says which differ.
fn check_terms(was: &ContestTerms, now: &ContestTerms) -> Result<(), ServerError> {
    let mut changed = Vec::new();
    let mut note = |what: &str, same: bool| {
        if !same {
            changed.push(what.to_owned());
        }
    };
    note("the game", was.game == now.game);
    note("the version of the rules", was.rules_version == now.rules_version);
    note("the clock", was.clock == now.clock);
    note("ponder", was.ponder == now.ponder);
    note("the number of maps", was.grounds.len() == now.grounds.len());
    for (was, now) in was.grounds.iter().zip(&now.grounds) {
        note("the rules", (&was.rules_name, &was.rules) == (&now.rules_name, &now.rules));
        note("the maps", was.map == now.map);
        note("the seats", was.seats == now.seats);
    }
    changed.dedup();
    if changed.is_empty() {
        return Ok(());
    }
    Err(ServerError::Wrong(format!(
        "contest.toml is not what this contest began with: {} changed, and one table would mix matches of both; \
         undo that, or start another contest in a new folder",
        changed.join(", ")
    )))
}

/// What made a table: this program, and the version of the method of ratings. A stored table of another is made again.
pub(crate) fn method() -> String {
    format!("{}, ratings {METHOD}", agon_replay::data::PROGRAM)
}

/// The bosses among these versions ([`facts::bosses`]).
pub(crate) fn bosses_of(game: &str, versions: &[EntrantVersion]) -> Vec<i64> {
    facts::bosses(
        game,
        versions.iter().map(|version| (version.id, version.builtin.as_deref().filter(|_| version.boss))),
    )
}

/// What must be equal for results to stand in one table.
fn key(terms: &ContestTerms) -> TableKey {
    let first = terms.grounds.first().map_or("", |ground| ground.rules.as_str());
    let rules = format!("{} {}\n{first}", terms.game, terms.rules_version);
    TableKey { game: terms.game.clone(), rules: RulesHash(agon_contest::content::of_text(rules.as_bytes())) }
}

fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("plain data")
}

/// Whether what was written of a table follows from it. What was written before a column was added lacks it.
fn bears_out(table: &agon_ladder::Table, written: &str) -> bool {
    fn holds(now: &Value, then: &Value) -> bool {
        match (now, then) {
            (Value::Object(now), Value::Object(then)) => {
                then.iter().all(|(key, then)| now.get(key).is_some_and(|now| holds(now, then)))
            }
            (Value::Array(now), Value::Array(then)) => {
                now.len() == then.len() && now.iter().zip(then).all(|(now, then)| holds(now, then))
            }
            _ => now == then,
        }
    }
    let parsed = |text: &str| serde_json::from_str::<Value>(text).ok();
    parsed(written).zip(parsed(&json(table))).is_some_and(|(then, now)| holds(&now, &then))
}

fn read<T: serde::de::DeserializeOwned>(json: impl AsRef<[u8]>) -> Result<T, StoreError> {
    serde_json::from_slice(json.as_ref()).map_err(|error| StoreError::Damaged(error.to_string()))
}

/// The number of a version, as the ladder knows it.
fn number(version: VersionId) -> i64 {
    version.0
}
