//! How a version does: against other teams, by map, and by how its matches end.

use agon_api::played::reason_seen_from;
use agon_api::{MatchResult, Proven};
use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::backend::Flag;
use crate::reads::Ended;
use crate::{EntrantId, Store, StoreError, VersionId};

/// How a version did in the matches of one map and seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroundCount {
    /// Which of the contest's maps, from 0.
    pub map: i64,
    /// The seed, which may make or pick the map.
    pub seed: i64,
    /// The number of pairs of seats compared.
    pub count: i64,
    /// Two points for a better rank than the other's, one for the same rank.
    pub points: i64,
}

/// How a version did against a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rival {
    /// The other team.
    pub team: EntrantId,
    /// Its name.
    pub name: String,
    /// The number of pairs of seats compared.
    pub count: i64,
    /// Two points for a better rank than the other's, one for the same rank.
    pub points: i64,
}

/// A version's matches that ended for the same reason, by result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndingCount {
    /// The reason, in the game's words, as seen from the version's seat.
    pub reason: String,
    /// The same as the matches have it; none where it differs between seats.
    pub exact: Option<String>,
    /// Matches won.
    pub won: i64,
    /// Matches in which it was first, tied with others.
    pub drawn: i64,
    /// Matches in which somebody else was first.
    pub lost: i64,
}

impl EndingCount {
    /// The number of all of them.
    pub fn count(&self) -> i64 {
        self.won + self.drawn + self.lost
    }
}

impl Store {
    /// How a version did in rated matches against each other team, the most frequent opponents first.
    ///
    /// # Errors
    /// Database errors.
    pub async fn rivals(&self, version: VersionId) -> Result<Vec<Rival>, StoreError> {
        let rows: Vec<(i64, String, i64, i64)> = sqlx::query_as(
            "SELECT e.id, e.name, count(*), sum(CASE WHEN s.rank < o.rank THEN 2 WHEN s.rank = o.rank THEN 1 ELSE 0 END) \
             FROM seats s JOIN matches m ON m.id = s.match_id JOIN blocks k ON k.id = m.block_id AND k.kind = 'ladder' \
             JOIN seats o ON o.match_id = s.match_id AND o.version_id <> s.version_id \
             JOIN versions v ON v.id = o.version_id JOIN entrants e ON e.id = v.entrant_id \
             WHERE s.version_id = $1 AND s.rank IS NOT NULL GROUP BY e.id, e.name ORDER BY count(*) DESC, e.id LIMIT 40",
        )
        .bind(version.0)
        .fetch_all(&self.reader)
        .await?;
        let rival = |(team, name, count, points)| Rival { team: EntrantId(team), name, count, points };
        Ok(rows.into_iter().map(rival).collect())
    }

    /// The results of a version's last rated matches against each other team, newest first: at most `most` for each, among the last
    /// thousand.
    ///
    /// # Errors
    /// Database errors.
    pub async fn last_against(
        &self,
        version: VersionId,
        most: usize,
    ) -> Result<BTreeMap<EntrantId, Vec<Ended>>, StoreError> {
        let rows: Vec<(i64, i64, i64)> = sqlx::query_as(
            "SELECT v.entrant_id, s.rank, o.rank FROM seats s JOIN matches m ON m.id = s.match_id \
             JOIN blocks k ON k.id = m.block_id AND k.kind = 'ladder' \
             JOIN seats o ON o.match_id = s.match_id AND o.version_id <> s.version_id \
             JOIN versions v ON v.id = o.version_id \
             WHERE s.version_id = $1 AND s.rank IS NOT NULL AND o.rank IS NOT NULL ORDER BY s.match_id DESC LIMIT 1000",
        )
        .bind(version.0)
        .fetch_all(&self.reader)
        .await?;
        let mut all: BTreeMap<EntrantId, Vec<Ended>> = BTreeMap::new();
        for (team, own, other) in rows {
            let last = all.entry(EntrantId(team)).or_default();
            if last.len() < most {
                last.push(match own.cmp(&other) {
                    Ordering::Less => Ended::Won,
                    Ordering::Equal => Ended::Drawn,
                    Ordering::Greater => Ended::Lost,
                });
            }
        }
        Ok(all)
    }

    /// Why the last 500 rated matches of a version ended, the most frequent reason first; and in how many of them its program committed a
    /// fault.
    ///
    /// # Errors
    /// Database errors.
    pub async fn by_ending(&self, version: VersionId) -> Result<(Vec<EndingCount>, i64), StoreError> {
        let rows: Vec<(String, i64, i64, i64, Flag)> = sqlx::query_as(
            "SELECT m.outcome, CAST(s.seat AS BIGINT), s.rank, (SELECT count(*) FROM seats o WHERE o.match_id = s.match_id AND o.rank = 1), s.fault IS NOT NULL \
             FROM seats s JOIN matches m ON m.id = s.match_id JOIN blocks b ON b.id = m.block_id \
             WHERE s.version_id = $1 AND s.rank IS NOT NULL AND m.outcome IS NOT NULL AND b.kind = 'ladder' \
             ORDER BY s.match_id DESC LIMIT 500",
        )
        .bind(version.0)
        .fetch_all(&self.reader)
        .await?;
        let mut all: Vec<EndingCount> = Vec::new();
        let mut faults = 0;
        for (outcome, seat, rank, firsts, Flag(fault)) in rows {
            let MatchResult { proven: Proven { reason: exact, ranks, .. }, .. } = super::read(&outcome)?;
            let number = usize::try_from(seat + 1).unwrap_or(0);
            let reason = reason_seen_from(number, ranks.len(), &exact);
            let at = all.iter().position(|one| one.reason == reason).unwrap_or_else(|| {
                all.push(EndingCount { reason, exact: Some(exact.clone()), won: 0, drawn: 0, lost: 0 });
                all.len() - 1
            });
            let one = &mut all[at];
            one.exact.take_if(|known| *known != exact);
            match Ended::with(rank, firsts as usize) {
                Ended::Won => one.won += 1,
                Ended::Drawn => one.drawn += 1,
                _ => one.lost += 1,
            }
            faults += i64::from(fault);
        }
        all.sort_by(|a, b| b.count().cmp(&a.count()).then_with(|| a.reason.cmp(&b.reason)));
        Ok((all, faults))
    }

    /// How a version did in rated matches on each map, and with each seed, which may make or pick the map.
    ///
    /// # Errors
    /// Database errors.
    pub async fn by_ground(&self, version: VersionId) -> Result<Vec<GroundCount>, StoreError> {
        let rows: Vec<(i64, i64, i64, i64)> = sqlx::query_as(
            "SELECT k.map, k.seed, count(*), sum(CASE WHEN s.rank < o.rank THEN 2 WHEN s.rank = o.rank THEN 1 ELSE 0 END) \
             FROM seats s JOIN matches m ON m.id = s.match_id JOIN blocks k ON k.id = m.block_id AND k.kind = 'ladder' \
             JOIN seats o ON o.match_id = s.match_id AND o.version_id <> s.version_id \
             WHERE s.version_id = $1 AND s.rank IS NOT NULL GROUP BY k.map, k.seed ORDER BY k.map, k.seed LIMIT 2000",
        )
        .bind(version.0)
        .fetch_all(&self.reader)
        .await?;
        Ok(rows
            .into_iter()
            .map(|(map, seed, count, points)| GroundCount { map, seed, count, points })
            .collect())
    }
}
