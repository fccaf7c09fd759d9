//! An organiser's decisions about teams and versions, and who is out because of them.

use std::collections::BTreeSet;

use agon_store::acts::{Annul, GiveRuling};
use agon_store::{Time, VersionId};

use crate::facts::Facts;
use crate::{ContestServer, ServerError};

/// The longest reason, in characters.
pub const LONGEST_REASON: usize = 300;

impl ContestServer {
    /// Writes a ruling into the log, and computes the table with or without its subject. Returns whether that changed anything.
    ///
    /// # Errors
    /// Store errors; a sentence, if the reason is missing or too long.
    pub async fn rule(&self, rule: GiveRuling, now: Time) -> Result<bool, ServerError> {
        let reason = checked(&rule.reason)?;
        let Some(ruled) = self.store.act(GiveRuling { reason, ..rule }).await? else { return Ok(false) };
        self.follow(ruled.seq, now).await?;
        Ok(true)
    }

    /// Annuls results of the ladder, which are played again. Returns the number of blocks.
    ///
    /// # Errors
    /// Store errors; a sentence, if the reason is missing or too long.
    pub async fn annul(&self, annul: Annul, now: Time) -> Result<usize, ServerError> {
        let reason = checked(&annul.reason)?;
        let Some(row) = self.store.act(Annul { reason, ..annul }).await? else { return Ok(0) };
        self.follow(row.seq, now).await?;
        Ok(row.blocks.len())
    }

    /// Computes the table again, with organisers' decisions up to this row of the log.
    async fn follow(&self, row: i64, now: Time) -> Result<(), ServerError> {
        self.learnt.lock().await.facts.read(&self.store, row).await?;
        self.keep_board(now, true).await
    }

    /// The versions that are out, by the part of the log that was read.
    pub(crate) async fn out(&self, facts: &Facts) -> Result<BTreeSet<VersionId>, ServerError> {
        match facts.is_ruled() {
            true => Ok(facts.out(&self.store.owners().await?)),
            false => Ok(BTreeSet::new()),
        }
    }
}

/// A reason in the form in which it is stored.
fn checked(reason: &str) -> Result<String, ServerError> {
    let reason = reason.trim();
    if reason.is_empty() || reason.chars().count() > LONGEST_REASON || reason.chars().any(char::is_control) {
        let why = format!(
            "a ruling needs a reason that everyone can read: one line of up to {LONGEST_REASON} characters"
        );
        return Err(ServerError::Wrong(why));
    }
    Ok(reason.to_owned())
}
