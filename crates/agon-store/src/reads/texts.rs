//! Kept texts of the workbench, as their owners may see them: each query names the owner.

use sqlx::AssertSqlSafe;

use crate::{ContestStore, EntrantId, MatchId, StoreError, TextId, TextOwner, TextRow, Time, VersionId};

type Row = (
    i64,
    i64,
    Option<String>,
    String,
    i64,
    i64,
    Option<i64>,
    Option<i64>,
    Option<String>,
    Option<i64>,
    Option<i64>,
    Option<String>,
);

fn text(row: Row) -> TextRow {
    let (id, kept, note, files, more, fewer, game, seat, did, version, n, request) = row;
    TextRow {
        id: TextId(id),
        kept: Time(kept),
        note,
        files,
        lines: (more, fewer),
        run: game.zip(seat).map(|(game, seat)| (MatchId(game), usize::try_from(seat).unwrap_or(0))),
        did,
        version: version.map(VersionId).zip(n),
        request,
    }
}

impl ContestStore {
    /// The kept texts of somebody, newest first, without their files.
    ///
    /// # Errors
    /// Database errors.
    pub async fn texts(&self, owner: TextOwner) -> Result<Vec<TextRow>, StoreError> {
        self.texts_of(owner, "''", "ORDER BY t.id DESC").await
    }

    /// The newest text of somebody, and the one before it.
    ///
    /// # Errors
    /// Database errors.
    pub async fn newest_texts(&self, owner: TextOwner) -> Result<Vec<TextRow>, StoreError> {
        self.texts_of(owner, "t.files", "ORDER BY t.id DESC LIMIT 2").await
    }

    /// A text of somebody.
    ///
    /// # Errors
    /// Database errors.
    pub async fn text(&self, owner: TextOwner, id: TextId) -> Result<Option<TextRow>, StoreError> {
        Ok(self.texts_of(owner, "t.files", &format!("AND t.id = {id}")).await?.pop())
    }

    async fn texts_of(&self, owner: TextOwner, files: &str, which: &str) -> Result<Vec<TextRow>, StoreError> {
        // Assembled from our own texts, and a number.
        let select = format!(
            "SELECT t.id, t.kept_ms, t.note, {files}, t.more, t.fewer, t.match_id, t.seat, t.did, v.id, v.n, t.request \
             FROM texts t LEFT JOIN versions v ON v.id = t.version_id \
             WHERE t.contest_id = $1 AND t.account_id = $2 AND coalesce(t.entrant_id, 0) IN (0, $3) {which}"
        );
        let rows: Vec<Row> = sqlx::query_as(AssertSqlSafe(select))
            .bind(owner.contest.0)
            .bind(owner.account.0)
            .bind(owner.team.map_or(0, |team| team.0))
            .fetch_all(&self.reader)
            .await?;
        Ok(rows.into_iter().map(text).collect())
    }

    /// Texts whose last match is over, while what came of it is not written down: each with who asked for the match, and its seat.
    ///
    /// # Errors
    /// Database errors.
    pub async fn untold_texts(&self) -> Result<Vec<(TextId, EntrantId, MatchId, usize)>, StoreError> {
        let rows: Vec<(i64, i64, i64, i64)> = sqlx::query_as(
            "SELECT t.id, b.asked_by, t.match_id, t.seat FROM texts t JOIN matches m ON m.id = t.match_id \
             JOIN blocks b ON b.id = m.block_id WHERE t.contest_id = $1 AND t.match_id IS NOT NULL AND t.did IS NULL \
             AND m.state IN ('valid', 'dead') ORDER BY t.id LIMIT 200",
        )
        .bind(self.id.0)
        .fetch_all(&self.reader)
        .await?;
        let untold = |(text, team, game, seat): (i64, i64, i64, i64)| {
            (TextId(text), EntrantId(team), MatchId(game), usize::try_from(seat).unwrap_or(0))
        };
        Ok(rows.into_iter().map(untold).collect())
    }
}
