//! Versions whose matches keep failing are suspended, so that they waste nobody's time: their ratings stay, and nothing is planned with
//! them until their team or an organiser lifts the suspension. A new version of the bot is not affected.

use crate::acts::version::named;
use crate::acts::{Act, note};
use crate::backend::Conn;
use crate::{ContestId, StoreError, Time, VersionId};

/// How many ladder matches in a row must have been given up to suspend a version.
pub const DEAD: i64 = 3;
/// In how many ladder matches in a row its own program must have failed.
pub const BROKEN: i64 = 20;

/// Finds versions to suspend, and suspends them.
#[derive(Clone, Debug)]
pub struct Suspend {
    pub contest: ContestId,
    pub now: Time,
}

/// Finds the live version of a team that is not suspended and whose last $2 ladder matches were all like this; of several, the one with
/// most such matches. Only blocks planned since its last suspension was lifted count, and none with another version that was suspended
/// after they were planned: whoever met that one did nothing wrong. Only the newest 10,000 matches are considered. They are found first, by
/// their numbers: joined the other way round, every match is read.
macro_rules! worst {
    ($like:literal) => {
        concat!(
            "WITH said AS (SELECT s.version_id AS version, s.match_id AS game, m.state AS state, s.fault AS fault FROM seats s \
             CROSS JOIN matches m CROSS JOIN blocks k WHERE m.id = s.match_id AND k.id = m.block_id \
             AND s.match_id > (SELECT coalesce(max(id), 0) - 10000 FROM matches) AND k.contest_id = $1 AND k.kind = 'ladder' \
             AND m.state IN ('valid', 'dead') AND k.made_ms >= (SELECT coalesce(max(u.to_ms), 0) FROM suspensions u \
             WHERE u.version_id = s.version_id) AND NOT EXISTS (SELECT 1 FROM seats o JOIN suspensions x \
             ON x.version_id = o.version_id AND x.from_ms >= k.made_ms WHERE o.match_id = s.match_id \
             AND o.version_id <> s.version_id) AND s.version_id IN (SELECT v.id FROM versions v JOIN entrants e ON e.id = v.entrant_id WHERE e.contest_id = $1 AND NOT e.boss AND v.state = 'live') \
             AND NOT EXISTS (SELECT 1 FROM suspensions y WHERE y.version_id = s.version_id AND y.to_ms IS NULL)), \
             placed AS (SELECT version, state, fault, row_number() OVER (PARTITION BY version ORDER BY game DESC) AS place FROM said) \
             SELECT version FROM placed GROUP BY version HAVING sum(CASE WHEN place <= $2 AND ",
            $like,
            " THEN 1 ELSE 0 END) = $2 ORDER BY sum(CASE WHEN ",
            $like,
            " THEN 1 ELSE 0 END) DESC, version LIMIT 1"
        )
    };
}

impl Act for Suspend {
    /// The versions suspended.
    type Reply = Vec<VersionId>;

    async fn run(&self, conn: &mut Conn) -> Result<Vec<VersionId>, StoreError> {
        let looks = [
            (worst!("state = 'dead'"), DEAD, "matches in a row failed and were abandoned"),
            (worst!("fault IS NOT NULL"), BROKEN, "matches in a row ended with a fault of its program"),
        ];
        let mut rest = Vec::new();
        for (statement, count, why) in looks {
            // One by one: suspending the first may excuse the others.
            loop {
                let found: Option<i64> = sqlx::query_scalar(statement)
                    .bind(self.contest.0)
                    .bind(count)
                    .fetch_optional(&mut *conn)
                    .await?;
                let Some(version) = found.map(VersionId) else { break };
                let Some((_, _, _, name)) = named(conn, version, |_| true).await? else { break };
                let why = format!("{count} {why}");
                sqlx::query("INSERT INTO suspensions (version_id, from_ms, why) VALUES ($1, $2, $3)")
                    .bind(version.0)
                    .bind(self.now.0)
                    .bind(&why)
                    .execute(&mut *conn)
                    .await?;
                note(conn, self.contest, self.now, ["server", "suspend", &name, &why]).await?;
                rest.push(version);
            }
        }
        Ok(rest)
    }
}

/// Lifts the suspension of a version.
#[derive(Clone, Debug)]
pub struct Lift {
    pub version: VersionId,
    /// Who asks for it.
    pub actor: String,
    pub now: Time,
}

impl Act for Lift {
    /// Whether it was suspended.
    type Reply = bool;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        let lifted = sqlx::query(
            "UPDATE suspensions SET checksum = NULL, to_ms = $2 WHERE version_id = $1 AND to_ms IS NULL",
        )
        .bind(self.version.0)
        .bind(self.now.0)
        .execute(&mut *conn)
        .await?
        .rows_affected();
        if lifted > 0
            && let Some((contest, _, _, name)) = named(conn, self.version, |_| true).await?
        {
            note(conn, contest, self.now, [&self.actor, "lift suspension", &name, ""]).await?;
        }
        Ok(lifted > 0)
    }
}
