//! What a contest remembers.
//!
//! **The database holds truth, objects hold bytes**, and everything else is derived. All SQL of the project is in this crate: [`acts`]
//! change something, each in one short transaction; the other functions of [`Store`] only read. Rows go in and out as types ([`rows`]). No
//! act reads a clock: the time is a parameter.
//!
//! Each server of a contest has one thread that writes. It drains its channel into one transaction, so that many small acts share one commit;
//! callers are answered only after the commit. Every statement is the same in SQLite and PostgreSQL; the differences are in
//! [`backend`](mod@backend).
//!
//! The life of a match: `planned → leased → posted → valid`, or void and planned again, or dead after three tries. A row of `jobs` exists
//! exactly while its match is planned or leased. `fsck` checks this and more.

#![forbid(unsafe_code)]

// In reading order.
pub mod rows;

pub mod acts;
pub mod reads;

pub mod objects;
pub mod seeds;
pub mod sha;

pub mod fsck;
pub mod names;

mod backend;
mod callers;
mod chain;
mod checksums;
mod duties;
mod moving;
mod writer;

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use thiserror::Error;

pub use acts::Act;
pub use chain::{link, root};
pub use duties::{Alone, Lookout};
pub use moving::relocate;
pub use objects::{
    Incoming, LARGEST_OBJECT, OBJECTS, OBJECTS_AT, OBJECTS_KEY, Objects, place_objects, relocate_objects,
};
pub use rows::*;
pub use sha::Sha;

use backend::{Place, Pool};
use duties::Duties;
use rustix::fs::{Access, access};
use rustix::io::Errno;

/// Why the store refused or failed. Nothing is left half done.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The request makes no sense: a sentence saying why.
    #[error("{0}")]
    Wrong(String),
    /// The database reports an error.
    #[error("the database: {0}")]
    Database(String),
    /// The database server cannot be reached. The request may have been written or not: ask again.
    #[error("the database cannot be reached: {0}")]
    Away(String),
    /// The disk of the database is full. Nothing was written.
    #[error("the disk of the database is full: {0}")]
    Full(String),
    /// The folder or a file in it cannot be used.
    #[error("{0}: {1}")]
    File(String, std::io::Error),
    /// The contest's folder, or its database, cannot be written to.
    #[error(
        "{0} cannot be written to: {1}; a contest needs that even to be looked at. Give yourself the right to write there, or copy the \
         folder to where you have it"
    )]
    ReadOnly(String, std::io::Error),
    /// The database was made by a later version of the program.
    #[error(
        "this contest was written by a later agon (schema {found}; this one knows {known}): use that version"
    )]
    Later {
        /// The schema of the database.
        found: i64,
        /// The schema that this program knows.
        known: i64,
    },
    /// The database was made before the first release, in a form that this program does not read.
    #[error(
        "this contest was written by an agon from before the first release, and this one does not read it: play it to its end with that one, \
         which also exports it (`agon serve export`)"
    )]
    Earlier,
    /// The database holds something impossible.
    #[error("the database holds something impossible: {0}")]
    Damaged(String),
    /// The contest has left this copy.
    #[error("{}", moving::left(.place, *.at))]
    Moved {
        /// Where it is now, without a password.
        place: String,
        at: Time,
    },
    /// This copy is being made, and the contest is still where it was.
    #[error(
        "this copy of the contest is not in use: a move brings it here from {0}, or was interrupted; the contest is there, where `agon serve \
         move` finishes the move"
    )]
    Arriving(String),
    /// The objects have left the place that the folder names.
    #[error(
        "the bots and replays of this contest were moved to {place}{}, and what is left here is not used any more: write that place into \
         {OBJECTS_AT} of this folder",
        moving::on(*.at)
    )]
    ObjectsMoved { place: String, at: Time },
    /// The target of a move holds an older copy of the contest, which the move would replace: a sentence about it.
    #[error("{0}")]
    Older(String),
    /// The clock of this server is in doubt: what is wrong with it.
    #[error(
        "the clock of this server {0}: nothing is accepted, handed out or sealed there until its clocks have agreed for a minute and an \
         organiser has confirmed the time"
    )]
    Clock(String),
    /// The writer has ended.
    #[error("the store is closed")]
    Closed,
}

impl StoreError {
    /// The same, for somebody else who waited for it.
    fn copy(&self) -> Self {
        match self {
            Self::Damaged(why) => Self::Damaged(why.clone()),
            Self::Closed => Self::Closed,
            Self::Full(why) => Self::Full(why.clone()),
            Self::Away(why) => Self::Away(why.clone()),
            Self::Moved { place, at } => Self::Moved { place: place.clone(), at: *at },
            other => {
                let said = other.to_string();
                Self::Database(said.strip_prefix("the database: ").unwrap_or(&said).to_owned())
            }
        }
    }

    /// Whether the bucket with the objects does not answer: the request can succeed once it does.
    pub fn is_bucket_away(&self) -> bool {
        matches!(self, Self::File(_, error) if error.kind() == std::io::ErrorKind::HostUnreachable)
    }

    /// Whether a disk is full: the request can succeed once there is room.
    pub fn is_full(&self) -> bool {
        match self {
            Self::Full(_) => true,
            Self::File(_, error) => is_full(error),
            _ => false,
        }
    }
}

impl From<agon_api::UnknownWord> for StoreError {
    fn from(unknown: agon_api::UnknownWord) -> Self {
        Self::Damaged(unknown.to_string())
    }
}

/// Whether the system reports a full disk, or an exhausted quota.
fn is_full(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded)
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        use sqlx::Error::{Configuration, Database, Io, PoolTimedOut, Protocol, Tls, WorkerCrashed};
        // The address holds a password, so only what is wrong with it is reported.
        if let Configuration(why) = &error {
            return Self::Wrong(format!("the address of the database cannot be read: {why}"));
        }
        let is_away = match &error {
            Io(_) | Tls(_) | Protocol(_) | PoolTimedOut | WorkerCrashed => true,
            // The server is starting, shutting down, or the connection has ended.
            Database(said) => {
                said.code().is_some_and(|code| code.starts_with("57P0") || code.starts_with("08"))
            }
            _ => false,
        };
        // The codes of SQLite and of PostgreSQL.
        let is_full = |said: &dyn sqlx::error::DatabaseError| {
            said.code().is_some_and(|code| code == "13" || code == "53100")
        };
        match &error {
            _ if is_away => Self::Away(error.to_string()),
            Database(said) if is_full(said.as_ref()) => Self::Full(error.to_string()),
            _ => Self::Database(error.to_string()),
        }
    }
}

/// An open contest.
#[derive(Clone)]
pub struct Store {
    writer: writer::Writer,
    reader: Pool,
    callers: callers::Callers,
    duties: Arc<Duties>,
    heeded: Arc<OnceLock<Doubt>>,
}

/// Says what is wrong with the clock whose time acts are given, if anything is.
type Doubt = Box<dyn Fn() -> Option<String> + Send + Sync>;

/// One contest of a store. What concerns a contest as a whole is read here, so that nothing is read without saying of which contest; what
/// names a row of it (a match, a version, a team) is read from the store.
#[derive(Clone)]
pub struct ContestStore {
    store: Store,
    id: ContestId,
}

impl ContestStore {
    /// The number of the contest, for acts.
    pub fn id(&self) -> ContestId {
        self.id
    }

    /// Closes the store ([`Store::close`]).
    pub async fn close(self) {
        self.store.close().await;
    }
}

impl std::ops::Deref for ContestStore {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

/// Who changes settings in the audit log while the contest's file still founds it.
pub const FOUNDER: &str = "contest.toml";
/// The name of the database in a contest's folder.
pub const DATABASE: &str = "agon.db";
/// The name of the file there with the address of the database, when that is on a server.
pub const DATABASE_AT: &str = "database.url";

impl Store {
    /// Opens the database of `folder`, creating or migrating it as needed: a file in the folder, or the server named by [`place`]. Needs a
    /// tokio runtime.
    ///
    /// # Errors
    /// When it cannot be opened, was made by a later version of the program, or is a copy that the contest has left.
    pub async fn open(folder: &Path) -> Result<Self, StoreError> {
        match Self::open_as_said(folder).await {
            // This folder's own move may have been interrupted once it was decided.
            Err(StoreError::Moved { place, .. }) if moving::finish(folder, &place).await? => {
                Self::open_as_said(folder).await
            }
            opened => opened,
        }
    }

    async fn open_as_said(folder: &Path) -> Result<Self, StoreError> {
        let place = place_of(folder)?;
        if !place.is_server() {
            writable(folder)?;
        }
        let writer = writer::Writer::start(place.clone()).await?;
        let reader = place.readers().await?;
        let callers = callers::Callers::start(place.clone());
        let (duties, heeded) = (Arc::new(Duties::new(place)), Arc::default());
        Ok(Self { writer, reader, callers, duties, heeded })
    }

    /// Does an act, and returns once it is committed.
    ///
    /// # Errors
    /// When it could not be written; nothing of it is written then. [`StoreError::Clock`] while the time that it was given is in doubt.
    pub async fn act<A: Act>(&self, act: A) -> Result<A::Reply, StoreError> {
        if A::BY_CLOCK
            && let Some(why) = self.heeded.get().and_then(|doubt| doubt())
        {
            return Err(StoreError::Clock(why));
        }
        self.writer.act(act).await
    }

    /// From now on refuses acts while `doubt` says what is wrong with the clock: `jumped ahead by 1 h 0 min`. It is asked before each.
    pub fn heeds(&self, doubt: impl Fn() -> Option<String> + Send + Sync + 'static) {
        let _ = self.heeded.set(Box::new(doubt));
    }

    pub fn of(&self, contest: ContestId) -> ContestStore {
        ContestStore { store: self.clone(), id: contest }
    }

    /// Sees to it that nothing of what was deleted is left in the database's files: to be called after [`acts::Withdraw`]. On a server this
    /// needs some tables alone for a moment. What the server does only later (its write-ahead log, and what its user may not ask for) it does
    /// by itself.
    ///
    /// # Errors
    /// Database errors; nothing else is wrong then, and it can be called again.
    pub async fn scrub(&self) -> Result<(), StoreError> {
        let mut conn = self.duties.place().mover().await?;
        let done = backend::scrub(&mut conn).await;
        backend::close(conn).await;
        done
    }

    /// Whether the database is on a server, where other servers of the contest may share it.
    pub fn is_shared(&self) -> bool {
        self.duties.is_shared()
    }

    /// Ends the writer once all earlier acts are written, and folds the database's journal into its file.
    pub async fn close(self) {
        self.duties.end().await;
        self.callers.close().await;
        self.reader.close().await;
        self.writer.close().await;
    }
}

/// Checks that a contest can be run in `folder`, if there is such a folder: even a reader of the database writes beside it.
///
/// # Errors
/// [`StoreError::ReadOnly`], with what cannot be written to.
pub fn writable(folder: &Path) -> Result<(), StoreError> {
    let wanted = Access::WRITE_OK | Access::EXEC_OK;
    for (path, wanted) in [(folder.to_owned(), wanted), (folder.join(DATABASE), Access::WRITE_OK)] {
        match access(&path, wanted) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(StoreError::ReadOnly(path.display().to_string(), error.into())),
        }
    }
    Ok(())
}

/// Whether databases on PostgreSQL servers and objects in buckets are built in (the feature `scale`).
pub const HAS_SCALE: bool = cfg!(feature = "scale");

/// Says that what a folder or a caller wants is not built in.
fn lacks(what: &str) -> StoreError {
    StoreError::Wrong(format!(
        "this agon was built without {what}: `cargo install --path crates/agon --features scale` builds it in"
    ))
}

/// Checks that this program can have the database and objects of the contest in `folder`, which need not exist, at these places. Nothing is
/// written.
///
/// # Errors
/// When one is not such a place, or not for this program.
pub fn can_place(folder: &Path, database: Option<&str>, objects: Option<&str>) -> Result<(), StoreError> {
    database.map_or(Ok(()), |url| Place::server(url).map(drop))?;
    objects.map_or(Ok(()), |place| objects::can_be(folder, place))
}

/// Records that the database of `folder` is on a PostgreSQL server, at an address such as `postgres://USER:PASSWORD@HOST/NAME`. The file
/// that records it holds the password, so only its owner may read it.
///
/// # Errors
/// When it is not such an address, or the folder has a database of its own.
pub fn place(folder: &Path, url: &str) -> Result<(), StoreError> {
    Place::server(url)?;
    let file = folder.join(DATABASE_AT);
    if folder.join(DATABASE).exists() {
        let why = io::Error::other(format!("the contest has its database in {DATABASE}"));
        return Err(StoreError::File(file.display().to_string(), why));
    }
    write_address(&file, url)
}

/// Writes an address with its password, for its owner alone.
fn write_address(file: &Path, url: &str) -> Result<(), StoreError> {
    let failed = |error| StoreError::File(file.display().to_string(), error);
    let mut options = fs::OpenOptions::new();
    let mut opened =
        options.write(true).create(true).truncate(true).mode(0o600).open(file).map_err(failed)?;
    // One that was there keeps its rights otherwise.
    opened.set_permissions(fs::Permissions::from_mode(0o600)).map_err(failed)?;
    opened.write_all(format!("{url}\n").as_bytes()).and_then(|()| opened.sync_all()).map_err(failed)
}

fn place_of(folder: &Path) -> Result<Place, StoreError> {
    let file = folder.join(DATABASE_AT);
    match fs::read_to_string(&file) {
        Ok(url) => Place::server(url.trim()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Place::file(&folder.join(DATABASE)),
        Err(error) => Err(StoreError::File(file.display().to_string(), error)),
    }
}

/// Whether `folder` has a database, or the address of one.
pub fn is_there(folder: &Path) -> bool {
    folder.join(DATABASE).is_file() || folder.join(DATABASE_AT).is_file()
}

/// Writes the database of `folder`, as it is at one moment, into the new file `into`. Others may go on using it.
///
/// # Errors
/// When it cannot be read, or the file exists already or cannot be written.
pub async fn snapshot(folder: &Path, into: &Path) -> Result<(), StoreError> {
    let place = place_of(folder)?;
    if !place.is_server() {
        return backend::snapshot(&folder.join(DATABASE), into).await;
    }
    if into.exists() {
        return Err(StoreError::File(into.display().to_string(), io::ErrorKind::AlreadyExists.into()));
    }
    moving::copy(&place, &Place::file(into)?).await?;
    Ok(())
}
