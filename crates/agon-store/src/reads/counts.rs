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

/// Matches of which something is so that an index knows, in blocks of such a kind. Their blocks are looked up one by one: joined, a
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

/// Tries that came to nothing, of which something is so, whose matches are in such a state.
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

/// All in one statement, which sees one moment: a match that is sealed meanwhile is counted once.
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
    // Jobs are numbered as they are planned.
    ", (SELECT b.made_ms FROM jobs j JOIN matches m ON m.id = j.match_id JOIN blocks b ON b.id = m.block_id \
     WHERE j.contest_id = $1 AND j.but_id IS NULL ORDER BY j.id LIMIT 1) \
     FROM (SELECT count(*) AS jobs, count(lease_id) AS leased FROM jobs WHERE contest_id = $1 AND but_id IS NULL) AS open"
);

/// As that statement gives them.
type Row = (i64, i64, i64, i64, i64, i64, i64, i64, i64, Option<i64>);

impl Store {
    /// How the matches stand. It takes as long for a log of a million rows as for one of ten: indices hold all that is counted, and the
    /// log knows its own length.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn counts(&self, contest: ContestId) -> Result<Counts, StoreError> {
        let row: Row = sqlx::query_as(COUNTS).bind(contest.0).fetch_one(&self.reader).await?;
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
