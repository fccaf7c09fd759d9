//! Clocks in doubt, and what a clock can be compared with.

use crate::backend::Flag;
use crate::{ClockDoubt, ContestStore, StoreError, Time};

impl ContestStore {
    /// The servers whose clocks are in doubt, by name.
    ///
    /// # Errors
    /// Database errors.
    pub async fn clock_doubts(&self) -> Result<Vec<ClockDoubt>, StoreError> {
        let rows: Vec<(String, i64, i64, Option<i64>, Flag)> = sqlx::query_as(
            "SELECT server, since_ms, ahead_ms, apart_ms, confirmed = TRUE FROM clock_doubts WHERE contest_id = $1 ORDER BY server",
        )
        .bind(self.id.0)
        .fetch_all(&self.reader)
        .await?;
        let doubt = |(server, since, ahead_ms, apart_ms, confirmed): (_, _, _, _, Flag)| ClockDoubt {
            server,
            since: Time(since),
            ahead_ms,
            apart_ms,
            confirmed: confirmed.0,
        };
        Ok(rows.into_iter().map(doubt).collect())
    }

    /// The time of the last entry of the audit log or of the last result in the log, whichever is later; 0 where there is none.
    ///
    /// # Errors
    /// Database errors.
    pub async fn last_time(&self) -> Result<Time, StoreError> {
        let event: Option<i64> =
            sqlx::query_scalar("SELECT at_ms FROM events WHERE contest_id = $1 ORDER BY id DESC LIMIT 1")
                .bind(self.id.0)
                .fetch_optional(&self.reader)
                .await?;
        let settled: Option<i64> = sqlx::query_scalar(
            "SELECT m.settled_ms FROM log l JOIN matches m ON m.id = l.match_id WHERE l.contest_id = $1 ORDER BY l.seq DESC LIMIT 1",
        )
        .bind(self.id.0)
        .fetch_optional(&self.reader)
        .await?;
        Ok(Time(event.max(settled).unwrap_or(0)))
    }
}
