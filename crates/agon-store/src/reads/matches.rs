//! Matches as the pages show them. What belongs to one team alone is left out of other viewers' rows here, not where they are shown.

use agon_api::MatchResult;
use agon_api::played::{Ended, SeatOutcome};
use sqlx::AssertSqlSafe;

use crate::backend::Flag;
use crate::{
    AccountId, ContestStore, EntrantId, Kind, MatchId, MatchState, Sha, Store, StoreError, Time, VersionId,
};

/// The viewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eyes {
    /// Anybody: sees what is public.
    Public,
    /// A member of this team: sees its own things, too.
    Team(EntrantId),
    /// An organiser: sees everything.
    Organiser,
}

impl Eyes {
    /// The team whose private things are visible; 0 for none.
    fn team(self) -> i64 {
        match self {
            Self::Team(team) => team.0,
            Self::Public | Self::Organiser => 0,
        }
    }
}

/// Which matches to look for.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Those in which this team sat.
    pub team: Option<EntrantId>,
    /// Those in which this team also sat.
    pub against: Option<EntrantId>,
    /// Those that ended for this reason, in the game's words.
    pub reason: Option<String>,
    /// Those in which this version sat.
    pub version: Option<VersionId>,
    /// How they ended for that team or version.
    pub ended: Option<Ended>,
    /// Those in which the program of that team or version committed a fault.
    pub faults: bool,
    /// Those on this map, from 0.
    pub map: Option<i64>,
    /// Those before this one.
    pub before: Option<MatchId>,
}

/// A match with its seats.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredMatch {
    pub id: MatchId,
    pub kind: Kind,
    /// The number of its block.
    pub block: i64,
    /// Which of the contest's maps, from 0.
    pub map: i64,
    pub seed: i64,
    pub state: MatchState,
    /// When it was planned.
    pub planned: Time,
    /// When its result was accepted.
    pub settled: Option<Time>,
    /// Its replay, once the result was accepted.
    pub replay: Option<Sha>,
    /// Its place in the log.
    pub log_seq: Option<i64>,
    /// Why it ended, and after how many steps.
    pub end: Option<(String, u32)>,
    /// The number of failed tries.
    pub wasted: i64,
    /// Who sat where: of a fault only the kind for other viewers, because the sentence may quote what the program wrote.
    pub seats: Vec<SeatOutcome>,
}

/// A kind of failure, and how often it occurred.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The kind, in one word or a few.
    pub what: String,
    /// Whether it was ours: of the machine or of Agon itself.
    pub ours: bool,
    /// How often.
    pub count: i64,
}

/// Matches per page.
pub const PAGE: i64 = 50;

type Row =
    (i64, String, i64, i64, i64, String, i64, Option<i64>, Option<String>, Option<i64>, Option<String>, i64);

/// The columns of [`Row`], for a match `m` of a block `b`.
const COLUMNS: &str = "m.id, b.kind, b.n, b.map, b.seed, m.state, b.made_ms, m.settled_ms, \
     CASE WHEN m.state = 'valid' THEN m.replay_sha END, m.log_seq, m.outcome, (SELECT count(*) FROM attempts a \
     WHERE a.match_id = m.id AND a.how IN ('lost', 'void', 'mismatch'))";

/// Matches of the ladder are public; others are visible to the teams that sat in them, drafts to their owner, and all to organisers.
/// Matches that are played again are visible to nobody.
const SEEN: &str = "b.kind <> 'again' AND (b.kind = 'ladder' OR $2 = 1 OR (b.kind = 'draft' AND b.asked_by = $3) OR b.kind <> 'draft' AND EXISTS (SELECT 1 FROM seats o JOIN versions ov ON ov.id = o.version_id \
     WHERE o.match_id = m.id AND ov.entrant_id = $3))";

/// A pattern for stored outcomes with this reason.
fn with_reason(reason: &str) -> String {
    let json = serde_json::json!(reason).to_string();
    let plain: String =
        json.chars().flat_map(|sign| "!%_".contains(sign).then_some('!').into_iter().chain([sign])).collect();
    format!("%\"reason\":{plain}%")
}

/// A recently played match, with its times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatelyPlayed {
    pub kind: Kind,
    /// When it began, if that was announced; else when it was over.
    pub started: Time,
    /// When its result was accepted.
    pub settled: Time,
    pub versions: Vec<VersionId>,
}

impl ContestStore {
    /// A page of matches that have begun, newest first: at most [`PAGE`] and one more, which shows that there is a next page.
    ///
    /// # Errors
    /// Database errors.
    pub async fn matches(&self, eyes: Eyes, filter: &Filter) -> Result<Vec<StoredMatch>, StoreError> {
        // Only our own words; user input is bound.
        let ended = match filter.ended {
            None => "",
            Some(Ended::Won) => {
                " AND s.rank = 1 AND NOT EXISTS (SELECT 1 FROM seats t WHERE t.match_id = s.match_id \
                 AND t.seat <> s.seat AND t.rank = 1)"
            }
            Some(Ended::Drawn) => {
                " AND s.rank = 1 AND EXISTS (SELECT 1 FROM seats t WHERE t.match_id = s.match_id \
                 AND t.seat <> s.seat AND t.rank = 1)"
            }
            Some(Ended::Lost) => " AND s.rank > 1",
        };
        let faults = if filter.faults { " AND s.fault IS NOT NULL" } else { "" };
        let own = match (filter.version, filter.team) {
            (None, None) => String::new(),
            (Some(_), _) => {
                format!(
                    " AND m.id IN (SELECT s.match_id FROM seats s WHERE s.version_id = $6{ended}{faults})"
                )
            }
            (None, Some(_)) => format!(
                " AND m.id IN (SELECT s.match_id FROM versions v JOIN seats s ON s.version_id = v.id WHERE v.entrant_id = $6{ended}{faults})"
            ),
        };
        let statement = format!(
            "SELECT {COLUMNS} FROM matches m JOIN blocks b ON b.id = m.block_id WHERE b.contest_id = $1 AND {SEEN} \
             AND m.state <> 'planned' AND m.id < $4 AND ($5 < 0 OR b.map = $5){own} \
             AND ($7 = 0 OR m.id IN (SELECT o.match_id FROM versions v JOIN seats o ON o.version_id = v.id WHERE v.entrant_id = $7)) \
             AND ($8 = '' OR m.outcome LIKE $8 ESCAPE '!') ORDER BY m.id DESC LIMIT {}",
            PAGE + 1
        );
        let whose = filter.version.map(|version| version.0).or(filter.team.map(|team| team.0));
        let rows: Vec<Row> = sqlx::query_as(sqlx::AssertSqlSafe(statement))
            .bind(self.id.0)
            .bind(i64::from(eyes == Eyes::Organiser))
            .bind(eyes.team())
            .bind(filter.before.map_or(i64::MAX, |before| before.0))
            .bind(filter.map.unwrap_or(-1))
            .bind(whose.unwrap_or(0))
            .bind(filter.against.map_or(0, |team| team.0))
            .bind(filter.reason.as_deref().map_or_else(String::new, with_reason))
            .fetch_all(&self.reader)
            .await?;
        let mut all = Vec::new();
        for row in rows {
            all.push(self.played(row, eyes).await?);
        }
        Ok(all)
    }

    /// One match, if the viewer may see it.
    ///
    /// # Errors
    /// Database errors.
    pub async fn one_match(&self, eyes: Eyes, id: MatchId) -> Result<Option<StoredMatch>, StoreError> {
        let statement = format!(
            "SELECT {COLUMNS} FROM matches m JOIN blocks b ON b.id = m.block_id WHERE b.contest_id = $1 AND {SEEN} \
             AND m.id = $4"
        );
        let row: Option<Row> = sqlx::query_as(sqlx::AssertSqlSafe(statement))
            .bind(self.id.0)
            .bind(i64::from(eyes == Eyes::Organiser))
            .bind(eyes.team())
            .bind(id.0)
            .fetch_optional(&self.reader)
            .await?;
        match row {
            Some(row) => Ok(Some(self.played(row, eyes).await?)),
            None => Ok(None),
        }
    }

    /// What went wrong since `since`: failed tries, which are ours, and faults of programs.
    ///
    /// # Errors
    /// Database errors.
    pub async fn failures(&self, since: Time) -> Result<Vec<Failure>, StoreError> {
        let rows: Vec<(String, i64)> = sqlx::query_as(
            "SELECT CASE WHEN a.by_seat IS NULL THEN a.how ELSE 'disturbed' END, count(*) FROM attempts a \
             JOIN matches m ON m.id = a.match_id JOIN blocks b ON b.id = m.block_id \
             WHERE b.contest_id = $1 AND a.ended_ms >= $2 AND a.how <> 'posted' AND a.how IN ('lost', 'void', 'mismatch', 'unfit') \
             GROUP BY CASE WHEN a.by_seat IS NULL THEN a.how ELSE 'disturbed' END ORDER BY count(*) DESC",
        )
        .bind(self.id.0)
        .bind(since.0)
        .fetch_all(&self.reader)
        .await?;
        let ours = |(how, count): (String, i64)| {
            let (what, ours) = match how.as_str() {
                "lost" => ("worker lost, played again", true),
                "void" => ("machine late, played again", true),
                "disturbed" => ("a bot kept another from playing, played again", false),
                "mismatch" => ("result contradicted by its replay, played again", true),
                _ => ("upload cannot be built or started", false),
            };
            Failure { what: what.to_owned(), ours, count }
        };
        let mut all: Vec<Failure> = rows.into_iter().map(ours).collect();
        let said: Vec<(String, i64)> = sqlx::query_as(
            "SELECT s.fault, count(*) FROM seats s JOIN matches m ON m.id = s.match_id JOIN blocks b ON b.id = m.block_id \
             WHERE b.contest_id = $1 AND m.settled_ms >= $2 AND s.fault IS NOT NULL AND b.kind <> 'again' GROUP BY s.fault",
        )
        .bind(self.id.0)
        .bind(since.0)
        .fetch_all(&self.reader)
        .await?;
        let mut theirs: std::collections::BTreeMap<String, i64> = Default::default();
        for (fault, count) in said {
            *theirs.entry(fault.split(':').next().unwrap_or_default().to_owned()).or_default() += count;
        }
        let mut theirs: Vec<(String, i64)> = theirs.into_iter().collect();
        theirs.sort_by_key(|(_, count)| -count);
        all.extend(theirs.into_iter().map(|(what, count)| Failure { what, ours: false, count }));
        Ok(all)
    }

    /// The last matches whose results were accepted, newest first, at most `most`.
    ///
    /// # Errors
    /// Database errors.
    pub async fn lately_played(&self, most: u32) -> Result<Vec<LatelyPlayed>, StoreError> {
        // Found from the end of the log, and of the index of those that are in no log (drafts, and what is played again, which is nobody's
        // match). Searching all matches for them takes as long as the contest is old.
        let rows: Vec<(i64, String, i64, i64, i64)> = sqlx::query_as(AssertSqlSafe(format!(
            "SELECT m.id, b.kind, coalesce(a.started_ms, m.settled_ms), m.settled_ms, s.version_id FROM matches m \
             JOIN blocks b ON b.id = m.block_id JOIN attempts a ON a.match_id = m.id AND a.n = m.attempt \
             JOIN seats s ON s.match_id = m.id WHERE m.id IN \
             (SELECT match_id FROM (SELECT match_id FROM log WHERE contest_id = $1 AND match_id IS NOT NULL \
             ORDER BY seq DESC LIMIT {most}) AS sealed UNION ALL \
             SELECT id FROM (SELECT id FROM matches WHERE log_seq = 0 ORDER BY id DESC LIMIT {most}) AS aside) \
             AND b.contest_id = $1 AND b.kind <> 'again' ORDER BY m.settled_ms DESC, m.id DESC, s.seat",
        )))
        .bind(self.id.0)
        .fetch_all(&self.reader)
        .await?;
        let mut all: Vec<LatelyPlayed> = Vec::new();
        let mut before = None;
        for (id, kind, started, settled, version) in rows {
            if before.replace(id) != Some(id) {
                let (started, settled) = (Time(started), Time(settled));
                all.push(LatelyPlayed { kind: Kind::of(&kind)?, started, settled, versions: Vec::new() });
            }
            if let Some(game) = all.last_mut() {
                game.versions.push(VersionId(version));
            }
        }
        all.truncate(most as usize);
        Ok(all)
    }

    /// The number of the last entry of the audit log, by which a cache tells whether it is still current.
    ///
    /// # Errors
    /// Database errors.
    pub async fn last_event(&self) -> Result<i64, StoreError> {
        let last = sqlx::query_scalar("SELECT coalesce(max(id), 0) FROM events WHERE contest_id = $1");
        Ok(last.bind(self.id.0).fetch_one(&self.reader).await?)
    }

    /// The last announcement, unless it was withdrawn: when, by whom, and the text.
    ///
    /// # Errors
    /// Database errors.
    pub async fn announced(&self) -> Result<Option<(Time, String, String)>, StoreError> {
        let row: Option<(i64, String, String)> = sqlx::query_as(
            "SELECT at_ms, actor, detail FROM events WHERE contest_id = $1 AND verb = 'announce' ORDER BY id DESC LIMIT 1",
        )
        .bind(self.id.0)
        .fetch_optional(&self.reader)
        .await?;
        Ok(row.map(|(at, actor, text)| (Time(at), actor, text)).filter(|(.., text)| !text.is_empty()))
    }
}

impl ContestStore {
    /// The team that was last told to lead, by its name of now; none if none was.
    ///
    /// # Errors
    /// Database errors.
    pub async fn told_leader(&self) -> Result<Option<String>, StoreError> {
        let last = "SELECT object FROM events WHERE contest_id = $1 AND verb = 'tell leader' ORDER BY id DESC LIMIT 1";
        Ok(sqlx::query_scalar(last).bind(self.id.0).fetch_optional(&self.reader).await?)
    }
}

impl Store {
    async fn played(&self, row: Row, eyes: Eyes) -> Result<StoredMatch, StoreError> {
        let (id, kind, block, map, seed, state, planned, settled, replay, log_seq, outcome, wasted) = row;
        let outcome: Option<MatchResult> = match outcome {
            Some(text) => {
                Some(serde_json::from_str(&text).map_err(|error| StoreError::Damaged(error.to_string()))?)
            }
            None => None,
        };
        type SeatRow = (i64, i64, i64, String, Flag, Option<i64>, Option<f64>, Option<String>, Option<f64>);
        let seats: Vec<SeatRow> = sqlx::query_as(
            "SELECT v.id, v.n, e.id, e.name, e.boss = TRUE, s.rank, s.score, s.fault, s.max_ms FROM seats s \
             JOIN versions v ON v.id = s.version_id JOIN entrants e ON e.id = v.entrant_id WHERE s.match_id = $1 ORDER BY s.seat",
        )
        .bind(id)
        .fetch_all(&self.reader)
        .await?;
        let seat = |(version, n, team, name, Flag(boss), rank, score, fault, max_ms): SeatRow| {
            let is_own = eyes == Eyes::Organiser || eyes.team() == team;
            let fault = fault.map(|said| match said.split_once(':') {
                Some((kind, _)) if !is_own => kind.to_owned(),
                _ => said,
            });
            SeatOutcome { team, name, boss, version, n, rank, score, fault, max_ms }
        };
        Ok(StoredMatch {
            id: MatchId(id),
            kind: Kind::of(&kind)?,
            block,
            map,
            seed,
            state: MatchState::of(&state)?,
            planned: Time(planned),
            settled: settled.map(Time),
            replay: replay.map(|sha| sha.parse().map_err(StoreError::Damaged)).transpose()?,
            log_seq,
            end: outcome.map(|outcome| (outcome.proven.reason, outcome.proven.steps)),
            wasted,
            seats: seats.into_iter().map(seat).collect(),
        })
    }

    /// The present members of a team.
    ///
    /// # Errors
    /// Database errors.
    pub async fn plays_for(&self, team: EntrantId) -> Result<Vec<AccountId>, StoreError> {
        let ids: Vec<i64> =
            sqlx::query_scalar("SELECT account_id FROM members WHERE entrant_id = $1 AND to_ms IS NULL")
                .bind(team.0)
                .fetch_all(&self.reader)
                .await?;
        Ok(ids.into_iter().map(AccountId).collect())
    }
}
