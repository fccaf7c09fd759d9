//! Matches as somebody sees them who looks at pages. What belongs to one team alone is left out of the rows of others
//! here, and not where they are shown.

use crate::backend::Flag;
use crate::{
    AccountId, ContestId, EntrantId, Kind, MatchId, MatchState, Outcome, Sha, Store, StoreError, Time,
    VersionId,
};

/// Who looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eyes {
    /// Anybody: what all may see.
    Public,
    /// A member of this team: its own as well.
    Team(EntrantId),
    /// An organiser: all.
    Organiser,
}

impl Eyes {
    /// The team whose own things are seen; 0 for none.
    fn team(self) -> i64 {
        match self {
            Self::Team(team) => team.0,
            Self::Public | Self::Organiser => 0,
        }
    }
}

/// Which matches are looked for.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Those in which this team sat.
    pub team: Option<EntrantId>,
    /// Those in which this team sat as well.
    pub against: Option<EntrantId>,
    /// Those that ended for this reason, in the game's words.
    pub reason: Option<String>,
    /// Those in which this version sat.
    pub version: Option<VersionId>,
    /// How they ended for that team or version.
    pub ended: Option<Ended>,
    /// Those in which that team's or version's program did something wrong.
    pub faults: bool,
    /// Those on this map, from 0.
    pub map: Option<i64>,
    /// Those before this one.
    pub before: Option<MatchId>,
}

/// How a match ended for one seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ended {
    /// Alone first.
    Won,
    /// First with others.
    Drawn,
    /// Somebody else was first.
    Lost,
}

impl Ended {
    /// With this rank, where so many are first.
    pub fn of(rank: i64, firsts: usize) -> Self {
        match (rank, firsts) {
            (1, 1) => Self::Won,
            (1, _) => Self::Drawn,
            _ => Self::Lost,
        }
    }
}

/// A match with who sat in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Played {
    /// Its number.
    pub id: MatchId,
    /// What it is played for.
    pub kind: Kind,
    /// The number of its block.
    pub block: i64,
    /// Which of the contest's maps, from 0.
    pub map: i64,
    /// Its seed.
    pub seed: i64,
    /// Where it is in its life.
    pub state: MatchState,
    /// When it was planned.
    pub planned: Time,
    /// When its result was accepted.
    pub settled: Option<Time>,
    /// Its replay, once the result was accepted.
    pub replay: Option<Sha>,
    /// Its place in the log.
    pub log_seq: Option<i64>,
    /// Why it ended and after how many steps.
    pub end: Option<(String, u32)>,
    /// How many tries came to nothing.
    pub wasted: i64,
    /// Who sat where.
    pub seats: Vec<MatchSeat>,
}

/// A seat of a match.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchSeat {
    /// Who.
    pub version: VersionId,
    /// Its number among those of its team.
    pub n: i64,
    /// The team.
    pub team: EntrantId,
    /// The team's name.
    pub name: String,
    /// Whether it is a boss.
    pub boss: bool,
    /// The least is the best; none before the end.
    pub rank: Option<i64>,
    /// The score.
    pub score: Option<f64>,
    /// What its program did wrong: the kind alone where others look, for the sentence may quote what it wrote.
    pub fault: Option<String>,
    /// Its longest answer, in milliseconds.
    pub max_ms: Option<f64>,
}

impl Played {
    /// How it ended for a seat.
    pub fn result(&self, seat: usize) -> Option<Ended> {
        let own = self.seats.get(seat)?.rank?;
        let firsts = self.seats.iter().filter(|other| other.rank == Some(1)).count();
        Some(Ended::of(own, firsts))
    }
}

/// What went wrong how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What, in one word or a few.
    pub what: String,
    /// Whether it was ours: the machine's or the program's.
    pub ours: bool,
    /// How often.
    pub count: i64,
}

/// A page shows so many matches.
pub const PAGE: i64 = 50;

type Row =
    (i64, String, i64, i64, i64, String, i64, Option<i64>, Option<String>, Option<i64>, Option<String>, i64);

/// The columns of [`Row`], for a match `m` of a block `b`.
const COLUMNS: &str = "m.id, b.kind, b.n, b.map, b.seed, m.state, b.made_ms, m.settled_ms, \
     CASE WHEN m.state = 'valid' THEN m.replay_sha END, m.log_seq, m.outcome, (SELECT count(*) FROM attempts a \
     WHERE a.match_id = m.id AND a.how IN ('lost', 'void', 'mismatch'))";

/// What all may see are matches of the ladder; the others are for who sat in them, drafts for whose they are, and all for
/// organisers. What is only played again is for nobody.
const SEEN: &str = "b.kind <> 'again' AND (b.kind = 'ladder' OR $2 = 1 OR (b.kind = 'draft' AND b.asked_by = $3) OR b.kind <> 'draft' AND EXISTS (SELECT 1 FROM seats o JOIN versions ov ON ov.id = o.version_id \
     JOIN bots ob ON ob.id = ov.bot_id WHERE o.match_id = m.id AND ob.entrant_id = $3))";

/// What an outcome looks like, as it is kept, that has this reason.
fn with_reason(reason: &str) -> String {
    let json = serde_json::json!(reason).to_string();
    let plain: String =
        json.chars().flat_map(|sign| "!%_".contains(sign).then_some('!').into_iter().chain([sign])).collect();
    format!("%\"reason\":{plain}%")
}

/// A match that was played lately, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatelyPlayed {
    /// For what.
    pub kind: Kind,
    /// When it began, as far as it was announced; else when it was over.
    pub started: Time,
    /// When its result was accepted.
    pub settled: Time,
    /// Who played.
    pub versions: Vec<VersionId>,
}

impl Store {
    /// A page of matches that were begun, the newest first: at most [`PAGE`] and one, by which one knows that there are more.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn matches(
        &self,
        contest: ContestId,
        eyes: Eyes,
        filter: &Filter,
    ) -> Result<Vec<Played>, StoreError> {
        // Words of ours only; what somebody typed is bound.
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
                " AND m.id IN (SELECT s.match_id FROM bots q JOIN versions v ON v.bot_id = q.id \
                 JOIN seats s ON s.version_id = v.id WHERE q.entrant_id = $6{ended}{faults})"
            ),
        };
        let statement = format!(
            "SELECT {COLUMNS} FROM matches m JOIN blocks b ON b.id = m.block_id WHERE b.contest_id = $1 AND {SEEN} \
             AND m.state <> 'planned' AND m.id < $4 AND ($5 < 0 OR b.map = $5){own} \
             AND ($7 = 0 OR m.id IN (SELECT o.match_id FROM bots q JOIN versions v ON v.bot_id = q.id \
             JOIN seats o ON o.version_id = v.id WHERE q.entrant_id = $7)) \
             AND ($8 = '' OR m.outcome LIKE $8 ESCAPE '!') ORDER BY m.id DESC LIMIT {}",
            PAGE + 1
        );
        let whose = filter.version.map(|version| version.0).or(filter.team.map(|team| team.0));
        let rows: Vec<Row> = sqlx::query_as(sqlx::AssertSqlSafe(statement))
            .bind(contest.0)
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

    /// One match, where whoever looks may see it.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn one_match(
        &self,
        contest: ContestId,
        eyes: Eyes,
        id: MatchId,
    ) -> Result<Option<Played>, StoreError> {
        let statement = format!(
            "SELECT {COLUMNS} FROM matches m JOIN blocks b ON b.id = m.block_id WHERE b.contest_id = $1 AND {SEEN} \
             AND m.id = $4"
        );
        let row: Option<Row> = sqlx::query_as(sqlx::AssertSqlSafe(statement))
            .bind(contest.0)
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

    async fn played(&self, row: Row, eyes: Eyes) -> Result<Played, StoreError> {
        let (id, kind, block, map, seed, state, planned, settled, replay, log_seq, outcome, wasted) = row;
        let outcome: Option<Outcome> = match outcome {
            Some(text) => {
                Some(serde_json::from_str(&text).map_err(|error| StoreError::Damaged(error.to_string()))?)
            }
            None => None,
        };
        type SeatRow = (i64, i64, i64, String, Flag, Option<i64>, Option<f64>, Option<String>, Option<f64>);
        let seats: Vec<SeatRow> = sqlx::query_as(
            "SELECT v.id, v.n, e.id, e.name, e.boss = TRUE, s.rank, s.score, s.fault, s.max_ms FROM seats s \
             JOIN versions v ON v.id = s.version_id JOIN bots b ON b.id = v.bot_id \
             JOIN entrants e ON e.id = b.entrant_id WHERE s.match_id = $1 ORDER BY s.seat",
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
            let (version, team) = (VersionId(version), EntrantId(team));
            MatchSeat { version, n, team, name, boss, rank, score, fault, max_ms }
        };
        Ok(Played {
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
            end: outcome.map(|outcome| (outcome.reason, outcome.steps)),
            wasted,
            seats: seats.into_iter().map(seat).collect(),
        })
    }

    /// What went wrong since `since`: tries that came to nothing, which are ours, and what programs did wrong.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn failures(&self, contest: ContestId, since: Time) -> Result<Vec<Failure>, StoreError> {
        let rows: Vec<(String, i64)> = sqlx::query_as(
            "SELECT a.how, count(*) FROM attempts a JOIN matches m ON m.id = a.match_id JOIN blocks b ON b.id = m.block_id \
             WHERE b.contest_id = $1 AND a.ended_ms >= $2 AND a.how <> 'posted' AND a.how IN ('lost', 'void', 'mismatch', 'unfit') \
             GROUP BY a.how ORDER BY count(*) DESC",
        )
        .bind(contest.0)
        .bind(since.0)
        .fetch_all(&self.reader)
        .await?;
        let ours = |(how, count): (String, i64)| {
            let (what, ours) = match how.as_str() {
                "lost" => ("worker lost, played again", true),
                "void" => ("machine late or disturbed, played again", true),
                "mismatch" => ("result not what its replay says, played again", true),
                _ => ("upload cannot be built or started", false),
            };
            Failure { what: what.to_owned(), ours, count }
        };
        let mut all: Vec<Failure> = rows.into_iter().map(ours).collect();
        let said: Vec<(String, i64)> = sqlx::query_as(
            "SELECT s.fault, count(*) FROM seats s JOIN matches m ON m.id = s.match_id JOIN blocks b ON b.id = m.block_id \
             WHERE b.contest_id = $1 AND m.settled_ms >= $2 AND s.fault IS NOT NULL AND b.kind <> 'again' GROUP BY s.fault",
        )
        .bind(contest.0)
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

    /// The last matches whose results were accepted, the newest first, at most so many.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn lately_played(
        &self,
        contest: ContestId,
        most: i64,
    ) -> Result<Vec<LatelyPlayed>, StoreError> {
        let rows: Vec<(i64, String, i64, i64, i64)> = sqlx::query_as(
            "SELECT m.id, m.kind, m.started_ms, m.settled_ms, s.version_id FROM (SELECT m.id, b.kind, \
             coalesce(a.started_ms, m.settled_ms) AS started_ms, m.settled_ms FROM matches m \
             JOIN blocks b ON b.id = m.block_id JOIN attempts a ON a.match_id = m.id AND a.n = m.attempt \
             WHERE b.contest_id = $1 AND m.state = 'valid' AND b.kind <> 'again' ORDER BY m.id DESC LIMIT $2) m \
             JOIN seats s ON s.match_id = m.id ORDER BY m.id DESC, s.seat",
        )
        .bind(contest.0)
        .bind(most)
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
        Ok(all)
    }

    /// The number of the last entry of the audit log: whoever kept something looks whether it is the same.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn last_event(&self, contest: ContestId) -> Result<i64, StoreError> {
        let last = sqlx::query_scalar("SELECT coalesce(max(id), 0) FROM events WHERE contest_id = $1");
        Ok(last.bind(contest.0).fetch_one(&self.reader).await?)
    }

    /// The last thing that was announced, unless it was taken back: when, by whom, and the words.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn announced(&self, contest: ContestId) -> Result<Option<(Time, String, String)>, StoreError> {
        let row: Option<(i64, String, String)> = sqlx::query_as(
            "SELECT at_ms, actor, detail FROM events WHERE contest_id = $1 AND verb = 'announce' ORDER BY id DESC LIMIT 1",
        )
        .bind(contest.0)
        .fetch_optional(&self.reader)
        .await?;
        Ok(row.map(|(at, actor, text)| (Time(at), actor, text)).filter(|(.., text)| !text.is_empty()))
    }

    /// Who plays for a team now.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn plays_for(&self, team: EntrantId) -> Result<Vec<AccountId>, StoreError> {
        let ids: Vec<i64> =
            sqlx::query_scalar("SELECT account_id FROM members WHERE entrant_id = $1 AND to_ms IS NULL")
                .bind(team.0)
                .fetch_all(&self.reader)
                .await?;
        Ok(ids.into_iter().map(AccountId).collect())
    }
}
