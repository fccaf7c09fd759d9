//! What an organiser decides about a team or a version, and who is out by it.

use std::collections::BTreeSet;

use agon_store::acts::{Annul, Rule};
use agon_store::{Time, VersionId};

use crate::facts::Facts;
use crate::{Server, ServerError};

/// The longest reason, in characters.
pub const LONGEST_REASON: usize = 300;

impl Server {
    /// Writes a ruling into the log, and makes the table without or with whom it is about: whether that changed anything.
    ///
    /// # Errors
    /// Those of the store; a sentence, when no reason is given, or one that is too long.
    pub async fn rule(&self, rule: Rule, now: Time) -> Result<bool, ServerError> {
        let reason = checked(&rule.reason)?;
        let Some(ruled) = self.store.act(Rule { reason, ..rule }).await? else { return Ok(false) };
        self.follow(ruled.seq, now).await?;
        Ok(true)
    }

    /// Takes back results of the ladder, which are played again: how many blocks.
    ///
    /// # Errors
    /// Those of the store; a sentence, when no reason is given, or one that is too long.
    pub async fn annul(&self, annul: Annul, now: Time) -> Result<usize, ServerError> {
        let reason = checked(&annul.reason)?;
        let Some(row) = self.store.act(Annul { reason, ..annul }).await? else { return Ok(0) };
        self.follow(row.seq, now).await?;
        Ok(row.blocks.len())
    }

    /// Makes the table anew, with what an organiser has decided up to this row of the log.
    async fn follow(&self, row: i64, now: Time) -> Result<(), ServerError> {
        self.learnt.lock().await.facts.read(&self.store, self.contest, row).await?;
        self.keep_board(now, true).await
    }

    /// The versions that are out by what was read of the log.
    pub(crate) async fn out(&self, facts: &Facts) -> Result<BTreeSet<VersionId>, ServerError> {
        match facts.is_ruled() {
            true => Ok(facts.out(&self.store.owners(self.contest).await?)),
            false => Ok(BTreeSet::new()),
        }
    }
}

/// A reason as it is kept.
fn checked(reason: &str) -> Result<String, ServerError> {
    let reason = reason.trim();
    if reason.is_empty() || reason.chars().count() > LONGEST_REASON || reason.chars().any(char::is_control) {
        let why =
            format!("a ruling has a reason that all can read: one line of up to {LONGEST_REASON} characters");
        return Err(ServerError::Wrong(why));
    }
    Ok(reason.to_owned())
}
