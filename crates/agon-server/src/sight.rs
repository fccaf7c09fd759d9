//! What pages see of a server that runs: what is remembered, and the board as it was made last.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_ladder::{Line, Policy, Table};
use agon_store::reads::Ended;
use agon_store::{ContestId, Objects, Store, Time, Version, VersionId, VersionState};

use crate::status::lines;
use crate::{Server, ServerError};

/// The board as it was made last.
#[derive(Clone, Debug)]
pub struct Board {
    /// Each entrant once, best first.
    pub lines: Vec<Line>,
    /// All versions that have played, best first.
    pub table: Arc<Table>,
    /// All versions, the first first.
    pub versions: Vec<Version>,
    /// The last rated results of each version, the newest first: up to 20, whether they count or not.
    pub last: BTreeMap<VersionId, Vec<Ended>>,
    /// The last row of the log that it has seen.
    pub upto: i64,
    /// When it was made.
    pub made: Time,
}

impl Server {
    /// What is remembered.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Bytes by their hash.
    pub fn objects(&self) -> &Objects {
        &self.objects
    }

    /// Which contest it is.
    pub fn contest(&self) -> ContestId {
        self.contest
    }

    /// How the ladder is played.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The last row of the log that the board has seen: it is another board when this is another.
    pub async fn board_number(&self) -> i64 {
        self.learnt.lock().await.board.0
    }

    /// The board as it was made last, with the versions that are live now.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn board(&self) -> Result<Board, ServerError> {
        let (table, (upto, made), last, out) = {
            let learnt = self.learnt.lock().await;
            (learnt.table.clone(), learnt.board, learnt.facts.last.clone(), self.out(&learnt.facts).await?)
        };
        let known = self.known(std::iter::empty()).await?;
        let is_shown = |version: &&Version| version.state != VersionState::Draft;
        let versions: Vec<Version> = known.values().filter(is_shown).cloned().collect();
        let lines = lines(&table, &versions, &out);
        Ok(Board { lines, table, versions, last, upto, made })
    }
}
