//! What a contest remembers.
//!
//! **The database holds truth, objects hold bytes**, and everything else is derived. All SQL of the project
//! stands in this crate: [`acts`] change something, each in one short transaction; [`Store`]'s other functions only
//! read. Rows that go in and come out are types ([`rows`]). No act reads a clock: the time is a parameter.
//!
//! One task writes. It drains its channel into one transaction, so that many small acts share one commit; who
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

pub mod fsck;
pub mod names;

mod backend;
mod chain;
mod writer;

use std::path::Path;

use thiserror::Error;

pub use acts::Act;
pub use chain::{link, root};
pub use objects::{OBJECTS, Objects, Sha};
pub use rows::*;

use backend::Pool;

/// Why the store did not do what it was asked for. Nothing is half done then.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The database says no.
    #[error("the database: {0}")]
    Database(String),
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

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error.to_string())
    }
}

/// An open contest.
#[derive(Clone)]
pub struct Store {
    writer: writer::Writer,
    reader: Pool,
}

/// The name of the database in a contest's folder.
pub const DATABASE: &str = "agon.db";

impl Store {
    /// Opens the database in `folder`, and makes it or brings it up to date where that is needed. Needs a runtime
    /// of tokio.
    ///
    /// # Errors
    /// When it cannot be opened, or a later program made it.
    pub async fn open(folder: &Path) -> Result<Self, StoreError> {
        let file = folder.join(DATABASE);
        let mut connection = backend::connect(&file).await?;
        backend::migrate(&mut connection).await?;
        let reader = backend::readers(&file).await?;
        Ok(Self { writer: writer::Writer::start(connection), reader })
    }

    /// Does an act, and answers when it is written.
    ///
    /// # Errors
    /// When it could not be written; then nothing of it was.
    pub async fn act<A: Act>(&self, act: A) -> Result<A::Reply, StoreError> {
        self.writer.act(act).await
    }

    /// Ends the writer when all acts before it are written, and folds the journal of the database into it.
    pub async fn close(self) {
        self.reader.close().await;
        self.writer.close().await;
    }
}

/// Writes the database in `folder`, as it is at one moment, into the new file `into`; whoever has it open goes on.
///
/// # Errors
/// When it cannot be read, or the file is there already or cannot be written.
pub async fn snapshot(folder: &Path, into: &Path) -> Result<(), StoreError> {
    backend::snapshot(&folder.join(DATABASE), into).await
}
