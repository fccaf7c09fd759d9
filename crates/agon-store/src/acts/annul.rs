//! Annulled results. The log keeps them; a row of it says that they do not count, and they are played again.

use std::collections::BTreeSet;

use crate::acts::plan::PlanBlocks;
use crate::acts::ruling::{decisions, write};
use crate::acts::seal::end_of;
use crate::acts::{Act, note};
use crate::backend::Conn;
use crate::{Annulled, ContestId, Kind, LogEntry, MatchId, StoreError, Time, VersionId, VersionState};

/// How many blocks go into one row of the log, the oldest first: the size of a row is limited. The act can be repeated.
pub const MOST_BLOCKS: usize = 50_000;

/// What is played again. Always whole blocks: one rotation alone would favour somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhatAgain {
    /// The block of this match.
    Match(MatchId),
    /// All blocks in which this version sat.
    Version(VersionId),
    /// All blocks of which the worker with this name posted a match.
    Worker(String),
}

/// Annuls results of the ladder.
#[derive(Clone, Debug)]
pub struct Annul {
    pub contest: ContestId,
    pub what: WhatAgain,
    /// The public reason.
    pub reason: String,
    pub actor: String,
    pub now: Time,
}

impl Act for Annul {
    /// The row of the log; none when there is nothing that counts or could still count.
    type Reply = Option<Annulled>;

    async fn run(&self, conn: &mut Conn) -> Result<Option<Annulled>, StoreError> {
        let (what, found) = self.blocks(conn).await?;
        let named = self.named(conn).await?;
        let known: BTreeSet<i64> = decisions(conn, self.contest)
            .await?
            .into_iter()
            .filter_map(|entry| if let LogEntry::Annulment(row) = entry { Some(row.blocks) } else { None })
            .flatten()
            .collect();
        let blocks: Vec<i64> =
            found.into_iter().filter(|block| !known.contains(block)).take(MOST_BLOCKS).collect();
        if blocks.is_empty() {
            return Ok(None);
        }
        let row = Annulled {
            seq: end_of(conn, self.contest).await?.0 + 1,
            blocks,
            what,
            reason: self.reason.clone(),
            at: self.now,
        };
        write(conn, self.contest, &LogEntry::Annulment(row.clone())).await?;
        let count = row.blocks.len();
        let detail = format!("{} ({count} {})", self.reason, if count == 1 { "block" } else { "blocks" });
        note(
            conn,
            self.contest,
            self.now,
            [&self.actor, "play again", named.as_ref().unwrap_or(&row.what), &detail],
        )
        .await?;
        // Planning makes up for the blocks of ladder versions anyway; a single block is replayed by those who sat in it.
        if let (WhatAgain::Match(_), [block]) = (&self.what, &row.blocks[..]) {
            self.plan(conn, *block).await?;
        }
        Ok(Some(row))
    }
}

impl Annul {
    /// What the audit log calls a version, which is renamed there with its team.
    async fn named(&self, conn: &mut Conn) -> Result<Option<String>, StoreError> {
        let WhatAgain::Version(version) = &self.what else { return Ok(None) };
        let name = sqlx::query_scalar(
            "SELECT e.name || ' v' || v.n FROM versions v JOIN entrants e ON e.id = v.entrant_id WHERE v.id = $1 AND e.contest_id = $2",
        );
        Ok(name.bind(version.0).bind(self.contest.0).fetch_optional(conn).await?)
    }

    /// A description of the target, and its blocks of which at least one match is over.
    async fn blocks(&self, conn: &mut Conn) -> Result<(String, Vec<i64>), StoreError> {
        let over = "b.contest_id = $1 AND b.kind = 'ladder' AND EXISTS (SELECT 1 FROM matches o WHERE o.block_id = b.id \
                    AND o.state IN ('posted', 'valid', 'dead')) ORDER BY b.n";
        // Assembled from our own texts.
        let select = |which: &str| {
            sqlx::AssertSqlSafe(format!(
                "SELECT DISTINCT b.n FROM blocks b JOIN matches m ON m.block_id = b.id {which} AND {over}"
            ))
        };
        Ok(match &self.what {
            WhatAgain::Match(game) => {
                let query = sqlx::query_scalar(select("WHERE m.id = $2")).bind(self.contest.0).bind(game.0);
                (format!("match {game}"), query.fetch_all(conn).await?)
            }
            WhatAgain::Version(version) => {
                let query = select("JOIN seats s ON s.match_id = m.id WHERE s.version_id = $2");
                let query = sqlx::query_scalar(query).bind(self.contest.0).bind(version.0);
                // A number: the name of whoever is deleted could not be taken out of the log.
                (format!("version {version}"), query.fetch_all(conn).await?)
            }
            WhatAgain::Worker(name) => {
                let query = select(
                    "JOIN attempts a ON a.match_id = m.id AND a.n = m.attempt AND a.how = 'posted' \
                     JOIN workers w ON w.id = a.worker_id WHERE w.name = $2",
                );
                let query = sqlx::query_scalar(query).bind(self.contest.0).bind(name);
                (format!("worker {name}"), query.fetch_all(conn).await?)
            }
        })
    }

    /// Plans the same block again, with the next seed, if all of its versions still stand for their bots.
    async fn plan(&self, conn: &mut Conn, block: i64) -> Result<(), StoreError> {
        let rows: Vec<(i64, i64, String)> = sqlx::query_as(
            "SELECT b.map, s.version_id, v.state FROM blocks b JOIN matches m ON m.block_id = b.id AND m.rotation = 0 \
             JOIN seats s ON s.match_id = m.id JOIN versions v ON v.id = s.version_id WHERE b.contest_id = $1 AND b.n = $2 \
             ORDER BY s.seat",
        )
        .bind(self.contest.0)
        .bind(block)
        .fetch_all(&mut *conn)
        .await?;
        let Some((map, ..)) = rows.first() else { return Ok(()) };
        if rows.iter().any(|(.., state)| state != VersionState::Live.word()) {
            return Ok(());
        }
        let plan = PlanBlocks {
            contest: self.contest,
            kind: Kind::Ladder,
            blocks: vec![(*map, rows.iter().map(|(_, version, _)| VersionId(*version)).collect())],
            rotations: rows.len(),
            now: self.now,
        };
        plan.run(conn).await?;
        Ok(())
    }
}
