//! What an organiser decides about a team or a version, and who is out by it.

use std::collections::BTreeSet;

use agon_store::acts::Rule;
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
        let reason = rule.reason.trim().to_owned();
        if reason.is_empty()
            || reason.chars().count() > LONGEST_REASON
            || reason.chars().any(char::is_control)
        {
            let why = format!(
                "a ruling has a reason that all can read: one line of up to {LONGEST_REASON} characters"
            );
            return Err(ServerError::Wrong(why));
        }
        let Some(ruled) = self.store.act(Rule { reason, ..rule }).await? else { return Ok(false) };
        self.learnt.lock().await.facts.read(&self.store, self.contest, ruled.seq).await?;
        self.keep_board(now, true).await?;
        Ok(true)
    }

    /// The versions that are out by what was read of the log.
    pub(crate) async fn out(&self, facts: &Facts) -> Result<BTreeSet<VersionId>, ServerError> {
        match facts.is_ruled() {
            true => Ok(facts.out(&self.store.owners(self.contest).await?)),
            false => Ok(BTreeSet::new()),
        }
    }
}
