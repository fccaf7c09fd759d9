//! How many of what there are.

use crate::{ContestId, Store, StoreError, Time};

/// How the matches of a contest stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Waiting.
    pub planned: i64,
    /// With a worker.
    pub leased: i64,
    /// Posted and not yet checked.
    pub posted: i64,
    /// Valid.
    pub valid: i64,
    /// Given up.
    pub dead: i64,
    /// Of them those with a bot that could not be made ready, which is nobody's fault but its author's.
    pub unfit: i64,
    /// In the log.
    pub sealed: i64,
    /// Tries that were void, lost, or did not match their replay.
    pub wasted: i64,
    /// When the oldest job was planned; none without jobs.
    pub oldest: Option<Time>,
}

/// Counts matches of a contest of which something is so that an index knows.
macro_rules! counted {
    ($what:literal) => {
        concat!(
            "SELECT count(*) FROM matches m JOIN blocks b ON b.id = m.block_id WHERE b.contest_id = $1 AND ",
            $what
        )
    };
}

impl Store {
    /// How the matches stand. It takes as long for a log of a million rows as for one of ten: indices hold all that is counted, and the
    /// log knows its own length.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn counts(&self, contest: ContestId) -> Result<Counts, StoreError> {
        let count = async |statement: &'static str| -> Result<i64, StoreError> {
            Ok(sqlx::query_scalar(statement).bind(contest.0).fetch_one(&self.reader).await?)
        };
        let (waiting, leased): (i64, i64) = sqlx::query_as(
            "SELECT count(*), count(lease_id) FROM jobs WHERE contest_id = $1 AND but_id IS NULL",
        )
        .bind(contest.0)
        .fetch_one(&self.reader)
        .await?;
        let sealed = count("SELECT coalesce(max(seq), 0) FROM log WHERE contest_id = $1").await?;
        let rulings = count("SELECT count(*) FROM log WHERE contest_id = $1 AND match_id IS NULL").await?;
        let unsealed =
            count(counted!("m.state = 'valid' AND m.log_seq IS NULL AND b.kind <> 'again'")).await?;
        let drafts = count(counted!("m.log_seq = 0 AND b.kind = 'draft'")).await?;
        let oldest: Option<i64> = sqlx::query_scalar(
            "SELECT min(b.made_ms) FROM jobs j JOIN matches m ON m.id = j.match_id JOIN blocks b ON b.id = m.block_id \
             WHERE b.contest_id = $1 AND j.but_id IS NULL",
        )
        .bind(contest.0)
        .fetch_one(&self.reader)
        .await?;
        let wasted = "SELECT count(*) FROM attempts a JOIN matches m ON m.id = a.match_id JOIN blocks b ON b.id = m.block_id \
                      WHERE b.contest_id = $1 AND a.how <> 'posted' AND a.how IN ('lost', 'void', 'mismatch')";
        let unfit = "SELECT count(DISTINCT m.id) FROM attempts a JOIN matches m ON m.id = a.match_id JOIN blocks b ON b.id = m.block_id \
                     WHERE b.contest_id = $1 AND a.how <> 'posted' AND a.how = 'unfit' AND m.state = 'dead'";
        Ok(Counts {
            planned: waiting - leased,
            leased,
            posted: count(counted!("m.state = 'posted' AND b.kind <> 'again'")).await?,
            valid: sealed - rulings + unsealed + drafts,
            dead: count(counted!("m.state = 'dead' AND b.kind <> 'again'")).await?,
            unfit: count(unfit).await?,
            sealed,
            wasted: count(wasted).await?,
            oldest: oldest.map(Time),
        })
    }
}
