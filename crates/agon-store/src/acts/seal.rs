//! The sealer: gives valid results their places in the log, without gaps, each chained to all before it.

use agon_api::MatchResult;
use std::collections::BTreeMap;

use sqlx::AssertSqlSafe;

use crate::acts::{Act, ActTurn};
use crate::backend::{Conn, many};
use crate::{ContestId, Kind, MatchId, Sealed, Sha, StoreError, Time, VersionId, chain};

/// Seals results that are valid and not in the log, the oldest matches first.
#[derive(Clone, Debug)]
pub struct Seal {
    pub contest: ContestId,
}

impl Seal {
    /// Upper limit on the results sealed by one act: machines that ask for work wait while it is written.
    pub const MOST: usize = 128;
}

type Found = (i64, i64, i64, String, i64, i64, String, String, i64, String);

impl Act for Seal {
    /// The results sealed; as many as fit into one act.
    type Reply = Vec<Sealed>;

    const TURN: ActTurn = ActTurn::Last;

    async fn run(&self, conn: &mut Conn) -> Result<Vec<Sealed>, StoreError> {
        let rows: Vec<Found> = sqlx::query_as(AssertSqlSafe(format!(
            // Finds the unsealed results first, by their own index: joined the other way round, every match is read.
            "SELECT m.id, b.n, m.rotation, b.kind, b.map, b.seed, m.outcome, m.replay_sha, m.settled_ms, w.name \
             FROM matches m JOIN blocks b ON b.id = m.block_id \
             JOIN attempts a ON a.match_id = m.id AND a.n = m.attempt JOIN workers w ON w.id = a.worker_id \
             WHERE m.id IN (SELECT id FROM matches WHERE state = 'valid' AND log_seq IS NULL ORDER BY id LIMIT {}) \
             AND b.contest_id = $1 ORDER BY m.id",
            Self::MOST
        )))
        .bind(self.contest.0)
        .fetch_all(&mut *conn)
        .await?;
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let mut seats = seats(conn, &rows).await?;
        let (mut seq, mut sha) = end_of(conn, self.contest).await?;
        let mut audit = audited(conn, self.contest, seq + 1).await?;
        let (mut sealed, mut written) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
        for (id, block, rotation, kind, map, seed, outcome, replay, settled, worker) in rows {
            let seated = seats.remove(&id).unwrap_or_default();
            seq += 1;
            let row = Sealed {
                seq,
                game: MatchId(id),
                block,
                rotation,
                kind: Kind::of(&kind)?,
                map,
                seed,
                seats: seated.iter().map(|(version, _)| *version).collect(),
                sources: seated.into_iter().map(|(_, source)| source).collect(),
                outcome: read::<MatchResult>(&outcome)?,
                replay: replay.parse().map_err(StoreError::Damaged)?,
                worker,
                settled: Time(settled),
                audit: audit.take(),
            };
            let body = serde_json::to_string(&row).map_err(|error| StoreError::Damaged(error.to_string()))?;
            sha = chain::link(&sha, &body);
            written.push((seq, id, body, sha));
            sealed.push(row);
        }
        for rows in many::slices(&written) {
            let insert = format!(
                "INSERT INTO log (contest_id, seq, match_id, body, sha) VALUES {}",
                many::rows(rows.len(), "($1, @, @, @, @)", 2)
            );
            let mut insert = sqlx::query(AssertSqlSafe(insert)).bind(self.contest.0);
            for (seq, id, body, sha) in rows {
                insert = insert.bind(*seq).bind(*id).bind(body).bind(sha.to_string());
            }
            insert.execute(&mut *conn).await?;
        }
        for rows in many::padded(&written) {
            let update = format!(
                "UPDATE matches SET checksum = NULL, log_seq = fresh.column2 FROM (VALUES {}) AS fresh WHERE matches.id = fresh.column1",
                many::rows(rows.len(), "(@, @)", 1)
            );
            let mut update = sqlx::query(AssertSqlSafe(update));
            for (seq, id, _, _) in rows {
                update = update.bind(*id).bind(*seq);
            }
            update.execute(&mut *conn).await?;
        }
        Ok(sealed)
    }
}

fn read<T: serde::de::DeserializeOwned>(json: &str) -> Result<T, StoreError> {
    serde_json::from_str(json).map_err(|error| StoreError::Damaged(error.to_string()))
}

/// The seats of these matches, each with its version and that version's source. No join: with one, a database whose statistics are old
/// may begin with all versions.
async fn seats(conn: &mut Conn, found: &[Found]) -> Result<BTreeMap<i64, Vec<(VersionId, Sha)>>, StoreError> {
    let mut seats: BTreeMap<i64, Vec<(VersionId, Sha)>> = BTreeMap::new();
    for found in many::slices(found) {
        let select = format!(
            "SELECT s.match_id, s.version_id, (SELECT v.source_sha FROM versions v WHERE v.id = s.version_id) FROM seats s \
             WHERE s.match_id IN ({}) ORDER BY s.match_id, s.seat",
            many::rows(found.len(), "@", 1)
        );
        let mut select = sqlx::query_as(AssertSqlSafe(select));
        for (game, ..) in found {
            select = select.bind(*game);
        }
        let rows: Vec<(i64, i64, String)> = select.fetch_all(&mut *conn).await?;
        for (game, version, source) in rows {
            let source = source.parse().map_err(StoreError::Damaged)?;
            seats.entry(game).or_default().push((VersionId(version), source));
        }
    }
    Ok(seats)
}

/// The hash of the last entry of the audit log, if no row of the log holds it: the one at `seq` does then.
async fn audited(conn: &mut Conn, contest: ContestId, seq: i64) -> Result<Option<Sha>, StoreError> {
    let last: Option<(i64, Option<String>, Option<i64>)> =
        sqlx::query_as("SELECT id, sha, log_seq FROM events WHERE contest_id = $1 ORDER BY id DESC LIMIT 1")
            .bind(contest.0)
            .fetch_optional(&mut *conn)
            .await?;
    let Some((id, Some(sha), None)) = last else { return Ok(None) };
    sqlx::query("UPDATE events SET checksum = NULL, log_seq = $2 WHERE id = $1")
        .bind(id)
        .bind(seq)
        .execute(conn)
        .await?;
    sha.parse().map(Some).map_err(StoreError::Damaged)
}

/// The last place in the log, and its hash.
pub(crate) async fn end_of(conn: &mut Conn, contest: ContestId) -> Result<(i64, Sha), StoreError> {
    let last: Option<(i64, String)> =
        sqlx::query_as("SELECT seq, sha FROM log WHERE contest_id = $1 ORDER BY seq DESC LIMIT 1")
            .bind(contest.0)
            .fetch_optional(&mut *conn)
            .await?;
    if let Some((seq, sha)) = last {
        return Ok((seq, sha.parse().map_err(StoreError::Damaged)?));
    }
    let (terms, secret): (String, String) =
        sqlx::query_as("SELECT terms, secret_sha FROM contests WHERE id = $1")
            .bind(contest.0)
            .fetch_one(conn)
            .await?;
    Ok((0, chain::root(&terms, &secret)))
}
