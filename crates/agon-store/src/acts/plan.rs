//! Planning a block: its seed, its matches, and their jobs.

use crate::acts::Act;
use crate::backend::Conn;
use crate::{ContestId, EntrantId, Kind, MatchId, StoreError, Time, VersionId, seeds};

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
        let (n, secret) = next_number(conn, self.contest).await?;
        let seed = seeds::seed(&secret, n);
        let block = Block {
            contest: self.contest,
            n,
            kind: self.kind,
            map: self.map,
            seed,
            lineup: &self.lineup,
            rotations: self.rotations,
            asked_by: None,
            trial: None,
            twin_of: None,
            not_before: self.now,
            now: self.now,
        };
        let matches = lay(conn, &block).await?;
        Ok(Planned { n, seed, matches })
    }
}

/// Plans the next block of a version's trial: the two against each other, or twins that share a seed, each of them against
/// the same field.
#[derive(Clone, Debug)]
pub struct PlanTrial {
    /// In which contest.
    pub contest: ContestId,
    /// The new version.
    pub version: VersionId,
    /// The one that it follows.
    pub against: VersionId,
    /// The field of twins; none where the two meet.
    pub field: Option<Vec<VersionId>>,
    /// Which of the contest's maps, from 0.
    pub map: i64,
    /// Now.
    pub now: Time,
}

impl Act for PlanTrial {
    /// How many matches were planned.
    type Reply = usize;

    async fn run(&self, conn: &mut Conn) -> Result<usize, StoreError> {
        let lineups = match &self.field {
            None => vec![vec![self.version, self.against]],
            Some(field) => [self.version, self.against]
                .map(|own| std::iter::once(own).chain(field.iter().copied()).collect())
                .into(),
        };
        let (mut first, mut planned) = (None, 0);
        for lineup in &lineups {
            let (n, secret) = next_number(conn, self.contest).await?;
            let block = Block {
                contest: self.contest,
                n,
                kind: Kind::Promotion,
                map: self.map,
                seed: seeds::seed(&secret, first.unwrap_or(n)),
                lineup,
                rotations: lineup.len(),
                asked_by: None,
                trial: Some(self.version),
                twin_of: first,
                not_before: self.now,
                now: self.now,
            };
            planned += lay(conn, &block).await?.len();
            first = Some(n);
        }
        Ok(planned)
    }
}

/// The next number of a contest's blocks, and the secret from which its seed follows.
async fn next_number(conn: &mut Conn, contest: ContestId) -> Result<(i64, String), StoreError> {
    let next =
        sqlx::query_as("UPDATE contests SET blocks = blocks + 1 WHERE id = $1 RETURNING blocks, secret");
    Ok(next.bind(contest.0).fetch_one(conn).await?)
}

/// A block with all that is known of it.
pub(crate) struct Block<'a> {
    pub contest: ContestId,
    pub n: i64,
    pub kind: Kind,
    pub map: i64,
    pub seed: i64,
    pub lineup: &'a [VersionId],
    pub rotations: usize,
    pub asked_by: Option<EntrantId>,
    pub trial: Option<VersionId>,
    pub twin_of: Option<i64>,
    /// Its jobs wait until then.
    pub not_before: Time,
    pub now: Time,
}

/// Writes a block with its matches and their jobs.
pub(crate) async fn lay(conn: &mut Conn, block: &Block<'_>) -> Result<Vec<MatchId>, StoreError> {
    let id: i64 = sqlx::query_scalar(
        "INSERT INTO blocks (contest_id, n, kind, map, seed, made_ms, asked_by, trial_id, twin_of) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id",
    )
    .bind(block.contest.0)
    .bind(block.n)
    .bind(block.kind.word())
    .bind(block.map)
    .bind(block.seed)
    .bind(block.now.0)
    .bind(block.asked_by.map(|entrant| entrant.0))
    .bind(block.trial.map(|version| version.0))
    .bind(block.twin_of)
    .fetch_one(&mut *conn)
    .await?;
    let mut matches = Vec::new();
    for rotation in 0..block.rotations {
        let game: i64 = sqlx::query_scalar(
            "INSERT INTO matches (block_id, rotation, state, attempt) VALUES ($1, $2, 'planned', 0) RETURNING id",
        )
        .bind(id)
        .bind(rotation as i64)
        .fetch_one(&mut *conn)
        .await?;
        for (seat, version) in seated(block.lineup, rotation).enumerate() {
            sqlx::query("INSERT INTO seats (match_id, seat, version_id) VALUES ($1, $2, $3)")
                .bind(game)
                .bind(seat as i64)
                .bind(version.0)
                .execute(&mut *conn)
                .await?;
        }
        sqlx::query(
            "INSERT INTO jobs (match_id, contest_id, lane, not_before_ms, tries) VALUES ($1, $2, $3, $4, 0)",
        )
        .bind(game)
        .bind(block.contest.0)
        .bind(block.kind.lane())
        .bind(block.not_before.0)
        .execute(&mut *conn)
        .await?;
        matches.push(MatchId(game));
    }
    Ok(matches)
}
