//! What pages see of a running server: the store, and the latest board.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_ladder::{LadderRow, Table};
use agon_store::reads::{Ended, StoredMatch};
use agon_store::{ContestId, ContestStore, EntrantVersion, Objects, Time, VersionId, VersionState};
use agon_worker::ChangedGround;

use crate::status::lines;
use crate::{ContestServer, ServerError};

/// The rules of its own that a draft was played by, if it was.
pub fn changed_rules(played: &StoredMatch) -> Option<ChangedGround> {
    serde_json::from_str(played.rules.as_deref()?).ok()
}

/// The latest board.
#[derive(Clone, Debug)]
pub struct Board {
    /// Each entrant once, best first.
    pub lines: Vec<LadderRow>,
    /// All versions that have played, best first.
    pub table: Arc<Table>,
    /// All versions, oldest first.
    pub versions: Vec<EntrantVersion>,
    /// The last rated results of each version, newest first: up to 20, whether they count or not.
    pub last: BTreeMap<VersionId, Vec<Ended>>,
    /// The last row of the log that it covers.
    pub upto: i64,
    /// When it was made.
    pub made: Time,
}

impl ContestServer {
    pub fn store(&self) -> &ContestStore {
        &self.store
    }

    /// Bytes by their hash.
    pub fn objects(&self) -> &Objects {
        &self.objects
    }

    pub fn contest(&self) -> ContestId {
        self.store.id()
    }

    /// The last row of the log that the board covers: it changes with every new board.
    pub async fn board_number(&self) -> i64 {
        self.learnt.lock().await.board.0
    }

    /// The latest board, with the versions that are live now.
    ///
    /// # Errors
    /// Store errors.
    pub async fn board(&self) -> Result<Board, ServerError> {
        let owners = self.store.owners().await?;
        let (table, (upto, made), last, out) = {
            let learnt = self.learnt.lock().await;
            (learnt.table.clone(), learnt.board, learnt.facts.last.clone(), learnt.facts.out(&owners))
        };
        let known = self.known(std::iter::empty()).await?;
        let is_shown = |version: &&EntrantVersion| version.state != VersionState::Draft;
        let versions: Vec<EntrantVersion> = known.values().filter(is_shown).cloned().collect();
        let lines = lines(&table, &versions, &owners, &out);
        Ok(Board { lines, table, versions, last, upto, made })
    }
}
