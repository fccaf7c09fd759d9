//! What changes of settings lead to: versions to be checked again, and servers whose files say something else.

use std::collections::BTreeMap;

use crate::reads::CheckState;
use crate::{ContestServerRow, ContestStore, MatchId, StoreError, Time, VersionId};

impl ContestStore {
    /// The check matches that live versions have to pass in the contest's new image, oldest first: of each such version.
    ///
    /// # Errors
    /// Database errors.
    pub async fn rechecks(&self) -> Result<BTreeMap<VersionId, Vec<CheckState>>, StoreError> {
        type Row = (
            i64,
            Option<i64>,
            Option<String>,
            Option<String>,
            Option<String>,
            Option<String>,
            Option<String>,
        );
        let rows: Vec<Row> = sqlx::query_as(
            "SELECT r.version_id, m.id, m.state, s.fault, s.own_sha, a.why, a.how FROM rechecks r \
             JOIN versions v ON v.id = r.version_id JOIN entrants e ON e.id = v.entrant_id \
             LEFT JOIN (seats s JOIN matches m ON m.id = s.match_id JOIN blocks b ON b.id = m.block_id AND b.kind = 'check') \
             ON s.version_id = r.version_id AND s.match_id > r.after_match \
             LEFT JOIN attempts a ON a.match_id = m.id AND a.n = m.attempt WHERE e.contest_id = $1 ORDER BY r.version_id, m.id, s.seat",
        )
        .bind(self.id.0)
        .fetch_all(&self.reader)
        .await?;
        let mut all: BTreeMap<VersionId, Vec<CheckState>> = BTreeMap::new();
        for (version, game, state, fault, own, why, how) in rows {
            let checks = all.entry(VersionId(version)).or_default();
            let (Some(game), Some(state)) = (game, state) else { continue };
            let state = crate::MatchState::of(&state)?;
            let unfit = how.as_deref() == Some("unfit");
            let own = own.map(|own| own.parse()).transpose().map_err(StoreError::Damaged)?;
            checks.push(CheckState { game: MatchId(game), state, fault, own, why, unfit });
        }
        Ok(all)
    }

    /// The servers of the contest that were heard of since, by name.
    ///
    /// # Errors
    /// Database errors.
    pub async fn servers(&self, since: Time) -> Result<Vec<ContestServerRow>, StoreError> {
        let rows: Vec<(String, i64, String)> = sqlx::query_as(
            "SELECT name, seen_ms, file FROM servers WHERE contest_id = $1 AND seen_ms >= $2 ORDER BY name",
        )
        .bind(self.id.0)
        .bind(since.0)
        .fetch_all(&self.reader)
        .await?;
        let server =
            |(name, seen, file): (String, i64, String)| ContestServerRow { name, seen: Time(seen), file };
        Ok(rows.into_iter().map(server).collect())
    }
}
