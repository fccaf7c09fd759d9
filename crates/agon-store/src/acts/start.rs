//! The start of a match.

use std::collections::BTreeMap;

use sqlx::AssertSqlSafe;

use crate::acts::Act;
use crate::acts::building::check_begins;
use crate::backend::{Conn, many};
use crate::{Attempt, Kind, StoreError, Time, WorkerId};

/// The worker begins to play a match. If it vanishes from now on, this match counts as tried.
#[derive(Clone, Debug)]
pub struct Start {
    pub worker: WorkerId,
    /// The match and try.
    pub attempt: Attempt,
    pub now: Time,
}

impl Act for Start {
    /// Whether the worker holds the match.
    type Reply = bool;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        Ok(Self::run_all(&[self], conn).await? == [true])
    }

    async fn run_all(acts: &[&Self], conn: &mut Conn) -> Result<Vec<bool>, StoreError> {
        let mut begun: BTreeMap<(i64, i64, i64), Kind> = BTreeMap::new();
        for acts in many::padded(acts) {
            let update = format!(
                "UPDATE attempts SET checksum = NULL, started_ms = coalesce(started_ms, asked.column4) FROM (VALUES {}) AS asked \
                 WHERE match_id = asked.column1 AND n = asked.column2 AND worker_id = asked.column3 AND ended_ms IS NULL \
                 RETURNING match_id, n, worker_id, \
                 (SELECT b.kind FROM matches m JOIN blocks b ON b.id = m.block_id WHERE m.id = attempts.match_id)",
                many::rows(acts.len(), "(@, @, @, @)", 1)
            );
            let mut update = sqlx::query_as(AssertSqlSafe(update));
            for act in acts {
                update =
                    update.bind(act.attempt.game.0).bind(act.attempt.n).bind(act.worker.0).bind(act.now.0);
            }
            let rows: Vec<(i64, i64, i64, String)> = update.fetch_all(&mut *conn).await?;
            for (game, n, worker, kind) in rows {
                begun.insert((game, n, worker), Kind::of(&kind)?);
            }
        }
        let mut replies = Vec::with_capacity(acts.len());
        for act in acts {
            let kind = begun.get(&(act.attempt.game.0, act.attempt.n, act.worker.0));
            // Nearly all matches belong to the ladder, and say nothing about a version's admission.
            if matches!(kind, Some(Kind::Check | Kind::Draft)) {
                check_begins(conn, act.worker, act.attempt, act.now).await?;
            }
            replies.push(kind.is_some());
        }
        Ok(replies)
    }
}
