//! Planning a block: its seed, its matches, and their jobs.

use crate::acts::Act;
use crate::backend::Conn;
use crate::{ContestId, Kind, MatchId, StoreError, Time, VersionId, seeds};

/// Plans a block. Its number, and with it the seed, is the contest's next: nobody chooses it.
#[derive(Clone, Debug)]
pub struct Plan {
    /// In which contest.
    pub contest: ContestId,
    /// What for.
    pub kind: Kind,
    /// Which of the contest's maps, from 0.
    pub map: i64,
    /// Who plays, in the order of the seats of the first match.
    pub lineup: Vec<VersionId>,
    /// How many of the rotations are played: all of them where the result counts.
    pub rotations: usize,
    /// Now.
    pub now: Time,
}

/// A block that was planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Its number.
    pub n: i64,
    /// Its seed.
    pub seed: i64,
    /// Its matches.
    pub matches: Vec<MatchId>,
}

/// In rotation `r` the first of the lineup sits in seat `r`.
pub(crate) fn seated(lineup: &[VersionId], r: usize) -> impl Iterator<Item = VersionId> + '_ {
    let seats = lineup.len();
    (0..seats).map(move |seat| lineup[(seat + seats - r % seats) % seats])
}

impl Act for Plan {
    type Reply = Planned;

    async fn run(&self, conn: &mut Conn) -> Result<Planned, StoreError> {
        let (n, secret): (i64, String) =
            sqlx::query_as("UPDATE contests SET blocks = blocks + 1 WHERE id = $1 RETURNING blocks, secret")
                .bind(self.contest.0)
                .fetch_one(&mut *conn)
                .await?;
        let seed = seeds::seed(&secret, n);
        let block: i64 = sqlx::query_scalar(
            "INSERT INTO blocks (contest_id, n, kind, map, seed, made_ms) VALUES ($1, $2, $3, $4, $5, $6) RETURNING id",
        )
        .bind(self.contest.0)
        .bind(n)
        .bind(self.kind.word())
        .bind(self.map)
        .bind(seed)
        .bind(self.now.0)
        .fetch_one(&mut *conn)
        .await?;
        let mut matches = Vec::new();
        for rotation in 0..self.rotations {
            let id: i64 = sqlx::query_scalar(
                "INSERT INTO matches (block_id, rotation, state, attempt) VALUES ($1, $2, 'planned', 0) RETURNING id",
            )
            .bind(block)
            .bind(rotation as i64)
            .fetch_one(&mut *conn)
            .await?;
            for (seat, version) in seated(&self.lineup, rotation).enumerate() {
                sqlx::query("INSERT INTO seats (match_id, seat, version_id) VALUES ($1, $2, $3)")
                    .bind(id)
                    .bind(seat as i64)
                    .bind(version.0)
                    .execute(&mut *conn)
                    .await?;
            }
            sqlx::query(
                "INSERT INTO jobs (match_id, contest_id, lane, not_before_ms, tries) VALUES ($1, $2, $3, $4, 0)",
            )
            .bind(id)
            .bind(self.contest.0)
            .bind(self.kind.lane())
            .bind(self.now.0)
            .execute(&mut *conn)
            .await?;
            matches.push(MatchId(id));
        }
        Ok(Planned { n, seed, matches })
    }
}
