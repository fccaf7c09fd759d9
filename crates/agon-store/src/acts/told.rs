//! How much of what programs write is kept.

use crate::acts::Act;
use crate::backend::Conn;
use crate::{EntrantId, StoreError};

/// Counts what the programs of entrants have written on a day, and forgets the days before.
#[derive(Clone, Debug)]
pub struct CountTold {
    /// The day, counted from 1970.
    pub day: i64,
    /// The bytes that were stored of each entrant since it was last counted.
    pub more: Vec<(EntrantId, i64)>,
}

impl Act for CountTold {
    /// The bytes of that day so far, of all entrants, from all servers.
    type Reply = Vec<(EntrantId, i64)>;

    async fn run(&self, conn: &mut Conn) -> Result<Self::Reply, StoreError> {
        for (entrant, bytes) in &self.more {
            sqlx::query(
                "INSERT INTO told (entrant_id, day, bytes) VALUES ($1, $2, $3) \
                 ON CONFLICT (entrant_id, day) DO UPDATE SET checksum = NULL, bytes = told.bytes + excluded.bytes",
            )
            .bind(entrant.0)
            .bind(self.day)
            .bind(bytes)
            .execute(&mut *conn)
            .await?;
        }
        sqlx::query("DELETE FROM told WHERE day < $1").bind(self.day).execute(&mut *conn).await?;
        let all: Vec<(i64, i64)> = sqlx::query_as("SELECT entrant_id, bytes FROM told WHERE day = $1")
            .bind(self.day)
            .fetch_all(conn)
            .await?;
        Ok(all.into_iter().map(|(entrant, bytes)| (EntrantId(entrant), bytes)).collect())
    }
}
