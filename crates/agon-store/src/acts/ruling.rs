//! Rulings: an organiser's decisions about a team or a version. A ruling is a row of the sealed log like any other, so the table stays a
//! function of the log: nothing is taken out of the log, and nothing is ever deleted.

use crate::acts::seal::end_of;
use crate::acts::version::{enter_state, step_down};
use crate::acts::{Act, note};
use crate::backend::Conn;
use crate::{
    ContestId, EntrantId, LogEntry, Ruled, Ruling, StoreError, Time, VersionId, VersionState, chain, out,
};

/// Rules on a team, or on one of its versions.
#[derive(Clone, Debug)]
pub struct GiveRuling {
    pub contest: ContestId,
    pub ruling: Ruling,
    pub entrant: EntrantId,
    /// The one version it is about; none: all versions, future ones included.
    pub version: Option<VersionId>,
    /// The public reason.
    pub reason: String,
    pub actor: String,
    pub now: Time,
}

/// The rows of the log that belong to no match.
pub(crate) async fn decisions(conn: &mut Conn, contest: ContestId) -> Result<Vec<LogEntry>, StoreError> {
    let bodies: Vec<String> =
        sqlx::query_scalar("SELECT body FROM log WHERE contest_id = $1 AND match_id IS NULL ORDER BY seq")
            .bind(contest.0)
            .fetch_all(conn)
            .await?;
    bodies.iter().map(|body| crate::reads::read(body)).collect()
}

/// Appends a row that belongs to no match to the log.
pub(crate) async fn write(conn: &mut Conn, contest: ContestId, entry: &LogEntry) -> Result<(), StoreError> {
    let (seq, before) = end_of(conn, contest).await?;
    let body = serde_json::to_string(entry).map_err(|error| StoreError::Damaged(error.to_string()))?;
    sqlx::query("INSERT INTO log (contest_id, seq, match_id, body, sha) VALUES ($1, $2, NULL, $3, $4)")
        .bind(contest.0)
        .bind(seq + 1)
        .bind(&body)
        .bind(chain::link(&before, &body).to_string())
        .execute(conn)
        .await?;
    Ok(())
}

impl Act for GiveRuling {
    /// The row of the log; none when nothing would change, or there is no such team or version.
    type Reply = Option<Ruled>;

    async fn run(&self, conn: &mut Conn) -> Result<Option<Ruled>, StoreError> {
        let name: Option<String> =
            sqlx::query_scalar("SELECT name FROM entrants WHERE id = $1 AND contest_id = $2 AND NOT boss")
                .bind(self.entrant.0)
                .bind(self.contest.0)
                .fetch_optional(&mut *conn)
                .await?;
        let Some(mut object) = name else { return Ok(None) };
        let mut state = None;
        if let Some(version) = self.version {
            let row: Option<(i64, String)> = sqlx::query_as(
                "SELECT v.n, v.state FROM versions v WHERE v.id = $1 AND v.entrant_id = $2 \
                 AND v.n > 0",
            )
            .bind(version.0)
            .bind(self.entrant.0)
            .fetch_optional(&mut *conn)
            .await?;
            let Some((n, word)) = row else { return Ok(None) };
            object = format!("{object} v{n}");
            state = Some(VersionState::of(&word)?);
            // A version that does not play yet cannot be taken out.
            if state.is_some_and(VersionState::is_waiting) {
                return Ok(None);
            }
        }
        let decided = decisions(conn, self.contest).await?.into_iter();
        let rulings: Vec<Ruled> = decided
            .filter_map(|entry| if let LogEntry::Ruling(ruled) = entry { Some(ruled) } else { None })
            .collect();
        let is_out = out(&rulings).contains(&(self.entrant, self.version));
        if is_out == (self.ruling == Ruling::Out) {
            return Ok(None);
        }
        let ruled = Ruled {
            seq: end_of(conn, self.contest).await?.0 + 1,
            ruling: self.ruling,
            entrant: self.entrant,
            version: self.version,
            reason: self.reason.clone(),
            at: self.now,
        };
        write(conn, self.contest, &LogEntry::Ruling(ruled.clone())).await?;
        // A version that is out does not stand for its team; when it comes back, the team chooses.
        if let (Ruling::Out, Some(version)) = (self.ruling, self.version) {
            match state {
                Some(VersionState::Live) => step_down(conn, version.0, self.now).await?,
                Some(VersionState::Trial) => {
                    enter_state(conn, version, VersionState::Former, self.now).await?;
                }
                _ => {}
            }
        }
        note(
            conn,
            self.contest,
            self.now,
            [&self.actor, self.ruling.verb(self.version), &object, &self.reason],
        )
        .await?;
        Ok(Some(ruled))
    }
}
