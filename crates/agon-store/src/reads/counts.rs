//! Counts.

use crate::{ContestStore, StoreError, Time};

/// The number of a contest's matches in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Waiting for a worker.
    pub planned: i64,
    /// With a worker.
    pub leased: i64,
    /// Posted and not yet checked.
    pub posted: i64,
    pub valid: i64,
    /// Given up.
    pub dead: i64,
    /// Dead ones with a bot that could not be made ready, for which only its author is at fault.
    pub unfit: i64,
    /// Rows of the log: results, and decisions about them.
    pub sealed: i64,
    /// Tries that were void, lost, or did not match their replay.
    pub wasted: i64,
    /// When the oldest job was planned; none without jobs.
    pub oldest: Option<Time>,
}

/// Counts matches by a condition that an index covers, in blocks of a given kind. Their blocks are looked up one by one: for a join, a
/// database may read all blocks for a few matches.
macro_rules! counted {
    ($what:literal, $kind:literal) => {
        concat!(
            "(SELECT count(*) FROM matches m WHERE ",
            $what,
            " AND (SELECT b.kind FROM blocks b WHERE b.id = m.block_id AND b.contest_id = $1) ",
            $kind,
            ")"
        )
    };
}

/// Counts failed tries that meet a condition, whose matches are in a given state.
macro_rules! in_vain {
    ($count:literal, $how:literal, $state:literal) => {
        concat!(
            "(SELECT ",
            $count,
            " FROM attempts a WHERE a.how <> 'posted' AND a.how IN (",
            $how,
            ") AND (SELECT m.state FROM matches m JOIN blocks b ON b.id = m.block_id \
             WHERE m.id = a.match_id AND b.contest_id = $1) ",
            $state,
            ")"
        )
    };
}

/// One statement, which sees one moment: a match that is sealed meanwhile is counted once.
const COUNTS: &str = concat!(
    "SELECT open.jobs, open.leased, ",
    counted!("m.state = 'posted'", "<> 'again'"),
    ", (SELECT coalesce(max(seq), 0) FROM log WHERE contest_id = $1), \
     (SELECT count(*) FROM log WHERE contest_id = $1 AND match_id IS NULL), ",
    counted!("m.state = 'valid' AND m.log_seq IS NULL", "<> 'again'"),
    " + ",
    counted!("m.log_seq = 0", "= 'draft'"),
    ", ",
    counted!("m.state = 'dead'", "<> 'again'"),
    ", ",
    in_vain!("count(DISTINCT a.match_id)", "'unfit'", "= 'dead'"),
    ", ",
    in_vain!("count(*)", "'lost', 'void', 'mismatch'", "IS NOT NULL"),
    // Jobs are numbered in the order of planning.
    ", (SELECT b.made_ms FROM jobs j JOIN matches m ON m.id = j.match_id JOIN blocks b ON b.id = m.block_id \
     WHERE j.contest_id = $1 AND j.but_id IS NULL ORDER BY j.id LIMIT 1) \
     FROM (SELECT count(*) AS jobs, count(lease_id) AS leased FROM jobs WHERE contest_id = $1 AND but_id IS NULL) AS open"
);

/// The row that the statement returns.
type Row = (i64, i64, i64, i64, i64, i64, i64, i64, i64, Option<i64>);

impl ContestStore {
    /// The number of matches in each state. It takes as long for a log of a million rows as for one of ten: everything counted is in an
    /// index, and the log knows its own length.
    ///
    /// # Errors
    /// Database errors.
    pub async fn counts(&self) -> Result<Counts, StoreError> {
        let row: Row = sqlx::query_as(COUNTS).bind(self.id.0).fetch_one(&self.reader).await?;
        let (jobs, leased, posted, sealed, rulings, aside, dead, unfit, wasted, oldest) = row;
        Ok(Counts {
            planned: jobs - leased,
            leased,
            posted,
            valid: sealed - rulings + aside,
            dead,
            unfit,
            sealed,
            wasted,
            oldest: oldest.map(Time),
        })
    }
}
