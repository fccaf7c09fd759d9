//! What a contest remembers.
//!
//! **The database holds truth, objects hold bytes**, and everything else is derived. All SQL of the project
//! stands in this crate: [`acts`] change something, each in one short transaction; [`Store`]'s other functions only
//! read. Rows that go in and come out are types ([`rows`]). No act reads a clock: the time is a parameter.
//!
//! One task writes, in each server of a contest. It drains its channel into one transaction, so that many small acts share one commit; who
//! asked hears of it only after that. Every statement is the same in SQLite and PostgreSQL; what differs stands
//! in [`backend`](mod@backend).
//!
//! The life of a match: `planned → leased → posted → valid`, or void and planned again, or after three tries dead.
//! A row of `jobs` is there exactly while its match is planned or leased. `fsck` proves this and more.

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
mod chain;
mod duties;
mod moving;
mod writer;

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;

use thiserror::Error;

pub use acts::Act;
pub use chain::{link, root};
pub use duties::Alone;
pub use objects::{
    Incoming, LARGEST_OBJECT, OBJECTS, OBJECTS_AT, OBJECTS_KEY, Objects, place_objects, relocate_objects,
};
pub use rows::*;
pub use sha::Sha;

use backend::{Place, Pool};
use duties::Duties;

/// Why the store did not do what it was asked for. Nothing is half done then.
#[derive(Debug, Error)]
pub enum StoreError {
    /// What was asked for makes no sense: a sentence.
    #[error("{0}")]
    Wrong(String),
    /// The database says no.
    #[error("the database: {0}")]
    Database(String),
    /// The server of the database cannot be reached. What was asked for may have been written or not: it is asked for again.
    #[error("the database cannot be reached: {0}")]
    Away(String),
    /// The disk of the database is full. Nothing of what was asked for was done.
    #[error("the database has no room on its disk: {0}")]
    Full(String),
    /// The folder or a file in it.
    #[error("{0}: {1}")]
    File(String, std::io::Error),
    /// The database was made by a later program.
    #[error(
        "this contest was written by a later agon (schema {found}; this one knows {known}): use that one"
    )]
    Later {
        /// What the database says.
        found: i64,
        /// What this program knows.
        known: i64,
    },
    /// Something is in the database that cannot be.
    #[error("the database holds what cannot be: {0}")]
    Damaged(String),
    /// The writer has ended.
    #[error("the store is closed")]
    Closed,
}

impl StoreError {
    /// Whether a disk is full: what was asked for can be done once there is room.
    pub fn is_full(&self) -> bool {
        match self {
            Self::Full(_) => true,
            Self::File(_, error) => is_full(error),
            _ => false,
        }
    }
}

/// Whether the system says that a disk is full, or somebody's share of it.
fn is_full(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded)
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        use sqlx::Error::{Configuration, Database, Io, PoolTimedOut, Protocol, Tls, WorkerCrashed};
        // Of the whole address, which holds a password, only what is wrong with it is said.
        if let Configuration(why) = &error {
            return Self::Wrong(format!("the address of the database cannot be read: {why}"));
        }
        let is_away = match &error {
            Io(_) | Tls(_) | Protocol(_) | PoolTimedOut | WorkerCrashed => true,
            // It starts, it ends, or the connection has ended.
            Database(said) => {
                said.code().is_some_and(|code| code.starts_with("57P0") || code.starts_with("08"))
            }
            _ => false,
        };
        // As SQLite says it, and PostgreSQL.
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
    duties: Arc<Duties>,
}

/// The name of the database in a contest's folder.
pub const DATABASE: &str = "agon.db";
/// The name of the file there that says where the database is, when it is on a server.
pub const DATABASE_AT: &str = "database.url";

impl Store {
    /// Opens the database of `folder`, and makes it or brings it up to date where that is needed: a file in it, or
    /// where [`place`] has said it is. Needs a runtime of tokio.
    ///
    /// # Errors
    /// When it cannot be opened, or a later program made it.
    pub async fn open(folder: &Path) -> Result<Self, StoreError> {
        let place = place_of(folder)?;
        let mut connection = place.connect().await?;
        backend::migrate(&mut connection).await?;
        let reader = place.readers().await?;
        let duties = Arc::new(Duties::new(place.clone()));
        Ok(Self { writer: writer::Writer::start(connection, place), reader, duties })
    }

    /// Does an act, and answers when it is written.
    ///
    /// # Errors
    /// When it could not be written; then nothing of it was.
    pub async fn act<A: Act>(&self, act: A) -> Result<A::Reply, StoreError> {
        self.writer.act(act).await
    }

    /// Whether the database is on a server, which other servers of the contest may share.
    pub fn is_shared(&self) -> bool {
        self.duties.is_shared()
    }

    /// Ends the writer when all acts before it are written, and folds the journal of the database into it.
    pub async fn close(self) {
        self.duties.end().await;
        self.reader.close().await;
        self.writer.close().await;
    }
}

/// Says that the database of `folder` is on a PostgreSQL server, at an address as `postgres://USER:PASSWORD@HOST/NAME`. The file
/// that says so holds the password, and nobody else may read it.
///
/// # Errors
/// When it is no such address, or the folder has a database of its own.
pub fn place(folder: &Path, url: &str) -> Result<(), StoreError> {
    Place::server(url)?;
    let file = folder.join(DATABASE_AT);
    let failed = |error| StoreError::File(file.display().to_string(), error);
    if folder.join(DATABASE).exists() {
        return Err(failed(io::Error::other(format!("the contest has its database in {DATABASE}"))));
    }
    let mut options = fs::OpenOptions::new();
    let mut opened =
        options.write(true).create(true).truncate(true).mode(0o600).open(&file).map_err(failed)?;
    opened.write_all(format!("{url}\n").as_bytes()).map_err(failed)
}

fn place_of(folder: &Path) -> Result<Place, StoreError> {
    let file = folder.join(DATABASE_AT);
    match fs::read_to_string(&file) {
        Ok(url) => Place::server(url.trim()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Place::file(&folder.join(DATABASE)),
        Err(error) => Err(StoreError::File(file.display().to_string(), error)),
    }
}

/// Moves the database of `folder` to a server, or with no address back into a file of it: how many rows. Nobody may use it
/// meanwhile. The one that it leaves is kept as it was: a file as `agon.db.moved`.
///
/// # Errors
/// When it is there already, cannot be reached, or has a contest in it; then nothing has changed.
pub async fn relocate(folder: &Path, url: Option<&str>) -> Result<u64, StoreError> {
    let (file, said) = (folder.join(DATABASE), folder.join(DATABASE_AT));
    let moved = |error| StoreError::File(folder.display().to_string(), error);
    let from = place_of(folder)?;
    match (from.is_server(), url) {
        (false, None) => Err(StoreError::Wrong(format!("the database is in {DATABASE} already"))),
        (true, Some(_)) => {
            Err(StoreError::Wrong("the database is on a server already: move it back first".to_owned()))
        }
        (false, Some(url)) => {
            let rows = moving::copy(&from, &Place::server(url)?).await?;
            fs::rename(&file, file.with_extension("db.moved")).map_err(moved)?;
            place(folder, url)?;
            Ok(rows)
        }
        (true, None) => {
            let draft = file.with_extension("db.part");
            let _ = fs::remove_file(&draft);
            let rows = moving::copy(&from, &Place::file(&draft)?).await?;
            fs::rename(&draft, &file).and_then(|()| fs::remove_file(&said)).map_err(moved)?;
            Ok(rows)
        }
    }
}

/// Whether `folder` has a database, or says where it is.
pub fn is_there(folder: &Path) -> bool {
    folder.join(DATABASE).is_file() || folder.join(DATABASE_AT).is_file()
}

/// Writes the database of `folder`, as it is at one moment, into the new file `into`; whoever has it open goes on.
///
/// # Errors
/// When it cannot be read, or the file is there already or cannot be written.
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
