//! Planning blocks: their seeds, their matches, and their jobs.

use std::collections::BTreeMap;

use sqlx::AssertSqlSafe;

use crate::acts::{Act, ActTurn};
use crate::backend::{Conn, many};
use crate::{ContestId, EntrantId, Kind, MatchId, StoreError, Time, VersionId, seeds};

/// Plans blocks. They take the contest's next numbers, and with them their seeds: nobody chooses them.
#[derive(Clone, Debug)]
pub struct PlanBlocks {
    pub contest: ContestId,
    pub kind: Kind,
    /// For each block its map, from 0, and its versions, in the order of the seats of the first match.
    pub blocks: Vec<(i64, Vec<VersionId>)>,
    /// How many of the rotations are played: all of them if the result counts.
    pub rotations: usize,
    pub now: Time,
}

/// A block that was planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    pub n: i64,
    pub seed: i64,
    pub matches: Vec<MatchId>,
}

/// The seating in rotation `r`, where the first of the lineup sits in seat `r`.
pub(crate) fn seated(lineup: &[VersionId], r: usize) -> impl Iterator<Item = VersionId> + '_ {
    let seats = lineup.len();
    (0..seats).map(move |seat| lineup[(seat + seats - r % seats) % seats])
}

impl Act for PlanBlocks {
    type Reply = Vec<Planned>;

    const TURN: ActTurn = ActTurn::Last;

    async fn run(&self, conn: &mut Conn) -> Result<Vec<Planned>, StoreError> {
        let (last, secret) = next_numbers(conn, self.contest, self.blocks.len()).await?;
        let first = last - self.blocks.len() as i64 + 1;
        let block = |(n, (map, lineup)): (i64, &'_ (i64, Vec<VersionId>))| Block {
            contest: self.contest,
            n,
            kind: self.kind,
            map: *map,
            seed: seeds::seed(&secret, n),
            lineup: lineup.clone(),
            rotations: self.rotations,
            asked_by: None,
            trial: None,
            twin_of: None,
            rules: None,
            not_before: self.now,
            now: self.now,
        };
        let blocks: Vec<Block> = (first..).zip(&self.blocks).map(block).collect();
        let laid = lay(conn, &blocks).await?;
        let planned =
            |(block, matches): (Block, Vec<MatchId>)| Planned { n: block.n, seed: block.seed, matches };
        Ok(blocks.into_iter().zip(laid).map(planned).collect())
    }
}

/// Plans the next block of a version's trial: the two against each other, or twins that share a seed, each of them against the same field.
#[derive(Clone, Debug)]
pub struct PlanTrial {
    pub contest: ContestId,
    /// The new version.
    pub version: VersionId,
    /// The version before it.
    pub against: VersionId,
    /// The field of twins; none where the two meet.
    pub field: Option<Vec<VersionId>>,
    /// Which of the contest's maps, from 0.
    pub map: i64,
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
            let (n, secret) = next_numbers(conn, self.contest, 1).await?;
            let block = Block {
                contest: self.contest,
                n,
                kind: Kind::Promotion,
                map: self.map,
                seed: seeds::seed(&secret, first.unwrap_or(n)),
                lineup: lineup.clone(),
                rotations: lineup.len(),
                asked_by: None,
                trial: Some(self.version),
                twin_of: first,
                rules: None,
                not_before: self.now,
                now: self.now,
            };
            planned += lay(conn, &[block]).await?.iter().map(Vec::len).sum::<usize>();
            first = Some(n);
        }
        Ok(planned)
    }
}

/// Takes the next block numbers of a contest: returns the last of them, and the secret from which their seeds are derived.
async fn next_numbers(
    conn: &mut Conn,
    contest: ContestId,
    count: usize,
) -> Result<(i64, String), StoreError> {
    let next = sqlx::query_as(
        "UPDATE contests SET checksum = NULL, blocks = blocks + $2 WHERE id = $1 RETURNING blocks, secret",
    );
    Ok(next.bind(contest.0).bind(count as i64).fetch_one(conn).await?)
}

/// A block with everything known about it.
pub(crate) struct Block {
    pub contest: ContestId,
    pub n: i64,
    pub kind: Kind,
    pub map: i64,
    pub seed: i64,
    pub lineup: Vec<VersionId>,
    pub rotations: usize,
    pub asked_by: Option<EntrantId>,
    pub trial: Option<VersionId>,
    pub twin_of: Option<i64>,
    /// Rules of its own, as JSON: only a draft's.
    pub rules: Option<String>,
    /// When its jobs may be leased.
    pub not_before: Time,
    pub now: Time,
}

/// Writes blocks with their matches and jobs, and returns the matches of each.
pub(crate) async fn lay(conn: &mut Conn, blocks: &[Block]) -> Result<Vec<Vec<MatchId>>, StoreError> {
    let mut ids: BTreeMap<i64, i64> = BTreeMap::new();
    for blocks in many::slices(blocks) {
        let rows = many::rows(blocks.len(), "(@, @, @, @, @, @, @, @, @)", 1);
        let insert = format!(
            "INSERT INTO blocks (contest_id, n, kind, map, seed, made_ms, asked_by, trial_id, twin_of) VALUES {rows} \
             RETURNING n, id"
        );
        let mut insert = sqlx::query_as(AssertSqlSafe(insert));
        for block in blocks {
            insert = insert.bind(block.contest.0).bind(block.n).bind(block.kind.word()).bind(block.map);
            insert = insert.bind(block.seed).bind(block.now.0).bind(block.asked_by.map(|entrant| entrant.0));
            insert = insert.bind(block.trial.map(|version| version.0)).bind(block.twin_of);
        }
        let fresh: Vec<(i64, i64)> = insert.fetch_all(&mut *conn).await?;
        ids.extend(fresh);
    }
    let id = |block: &Block| ids.get(&block.n).copied().unwrap_or_default();
    for block in blocks {
        let Some(rules) = &block.rules else { continue };
        let insert = sqlx::query("INSERT INTO own_rules (block_id, rules) VALUES ($1, $2)");
        insert.bind(id(block)).bind(rules).execute(&mut *conn).await?;
    }
    let games: Vec<(&Block, usize)> =
        blocks.iter().flat_map(|block| (0..block.rotations).map(move |rotation| (block, rotation))).collect();
    let mut matches: BTreeMap<(i64, i64), i64> = BTreeMap::new();
    for games in many::slices(&games) {
        let rows = many::rows(games.len(), "(@, @, 'planned', 0)", 1);
        let insert = format!(
            "INSERT INTO matches (block_id, rotation, state, attempt) VALUES {rows} RETURNING block_id, rotation, id"
        );
        let mut insert = sqlx::query_as(AssertSqlSafe(insert));
        for (block, rotation) in games {
            insert = insert.bind(id(block)).bind(*rotation as i64);
        }
        let fresh: Vec<(i64, i64, i64)> = insert.fetch_all(&mut *conn).await?;
        matches.extend(fresh.into_iter().map(|(block, rotation, id)| ((block, rotation), id)));
    }
    let game = |block: &Block, rotation: usize| {
        matches.get(&(id(block), rotation as i64)).copied().unwrap_or_default()
    };
    let mut seats: Vec<(i64, usize, VersionId)> = Vec::new();
    for &(block, rotation) in &games {
        let seated = seated(&block.lineup, rotation).enumerate();
        seats.extend(seated.map(|(seat, version)| (game(block, rotation), seat, version)));
    }
    for seats in many::slices(&seats) {
        let rows = many::rows(seats.len(), "(@, @, @)", 1);
        let insert = format!("INSERT INTO seats (match_id, seat, version_id) VALUES {rows}");
        let mut insert = sqlx::query(AssertSqlSafe(insert));
        for (game, seat, version) in seats {
            insert = insert.bind(*game).bind(*seat as i64).bind(version.0);
        }
        insert.execute(&mut *conn).await?;
    }
    for games in many::slices(&games) {
        let rows = many::rows(games.len(), "(@, @, @, @, 0)", 1);
        let insert =
            format!("INSERT INTO jobs (match_id, contest_id, lane, not_before_ms, tries) VALUES {rows}");
        let mut insert = sqlx::query(AssertSqlSafe(insert));
        for (block, rotation) in games {
            insert = insert.bind(game(block, *rotation)).bind(block.contest.0);
            insert = insert.bind(block.kind.lane()).bind(block.not_before.0);
        }
        insert.execute(&mut *conn).await?;
    }
    let of = |block: &Block| (0..block.rotations).map(|rotation| MatchId(game(block, rotation))).collect();
    Ok(blocks.iter().map(of).collect())
}
