//! Puzzles, the answers to them, and the positions in which a team's uploads are tried.

use crate::acts::puzzle::PuzzleAnswer;
use crate::backend::Flag;
use crate::{ContestStore, EntrantId, MatchId, Sha, Store, StoreError, Time};

/// A puzzle, as a team sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredPuzzle {
    pub id: i64,
    pub game: MatchId,
    /// From 0.
    pub seat: usize,
    /// What was found, as JSON.
    pub lesson: String,
    /// What it is called and what it is about, where an organiser has set it.
    pub set: Option<(String, String)>,
    pub made: Time,
    /// How many answers the team has given, whether one of them solved it, and whether it looked at the best order.
    pub tries: i64,
    pub solved: bool,
    pub shown: bool,
    /// How many teams have solved it.
    pub solvers: i64,
}

/// A position in which a team's uploads are tried.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredPosition {
    pub id: i64,
    pub game: MatchId,
    /// From 0.
    pub seat: usize,
    /// From 1.
    pub step: u32,
    /// What the answer must be, as JSON.
    pub wanted: String,
    /// The replay of the match.
    pub replay: Sha,
}

type Row = (i64, i64, i64, String, Option<String>, Option<String>, i64, i64, i64, i64, i64);

/// The columns of [`Row`], for a team.
const PUZZLE: &str = "SELECT p.id, p.match_id, p.seat, p.lesson, p.title, p.concept, p.made_ms, \
     (SELECT count(*) FROM puzzle_tries t WHERE t.puzzle_id = p.id AND t.entrant_id = $2 AND t.how <> 'shown'), \
     (SELECT count(*) FROM puzzle_tries t WHERE t.puzzle_id = p.id AND t.entrant_id = $2 AND t.solved), \
     (SELECT count(*) FROM puzzle_tries t WHERE t.puzzle_id = p.id AND t.entrant_id = $2 AND t.how = 'shown'), \
     (SELECT count(DISTINCT t.entrant_id) FROM puzzle_tries t WHERE t.puzzle_id = p.id AND t.solved) \
     FROM puzzles p WHERE p.contest_id = $1";

fn puzzle(row: Row) -> StoredPuzzle {
    let (id, game, seat, lesson, title, concept, made, tries, solved, shown, solvers) = row;
    StoredPuzzle {
        id,
        game: MatchId(game),
        seat: usize::try_from(seat).unwrap_or(0),
        lesson,
        set: title.map(|title| (title, concept.unwrap_or_default())),
        made: Time(made),
        tries,
        solved: solved > 0,
        shown: shown > 0,
        solvers,
    }
}

impl ContestStore {
    /// The puzzles of a team's own matches, the latest match first.
    ///
    /// # Errors
    /// Database errors.
    pub async fn own_puzzles(&self, team: EntrantId) -> Result<Vec<StoredPuzzle>, StoreError> {
        let own = format!("{PUZZLE} AND p.entrant_id = $2 ORDER BY p.match_id DESC, p.seat");
        self.puzzles(own, team, 0).await
    }

    /// The puzzles that organisers have set, those most teams have solved first, as a team sees them.
    ///
    /// # Errors
    /// Database errors.
    pub async fn set_puzzles(&self, team: Option<EntrantId>) -> Result<Vec<StoredPuzzle>, StoreError> {
        let set = format!("{PUZZLE} AND p.entrant_id IS NULL ORDER BY 11 DESC, p.id");
        self.puzzles(set, team.unwrap_or(EntrantId(0)), 0).await
    }

    /// One puzzle, if the team may see it: its own, or one that was set for everybody.
    ///
    /// # Errors
    /// Database errors.
    pub async fn puzzle(&self, id: i64, team: Option<EntrantId>) -> Result<Option<StoredPuzzle>, StoreError> {
        let one = format!("{PUZZLE} AND p.id = $3 AND (p.entrant_id IS NULL OR p.entrant_id = $2)");
        Ok(self.puzzles(one, team.unwrap_or(EntrantId(0)), id).await?.pop())
    }

    async fn puzzles(
        &self,
        select: String,
        team: EntrantId,
        id: i64,
    ) -> Result<Vec<StoredPuzzle>, StoreError> {
        let mut select = sqlx::query_as(sqlx::AssertSqlSafe(select)).bind(self.id.0).bind(team.0);
        if id > 0 {
            select = select.bind(id);
        }
        let rows: Vec<Row> = select.fetch_all(&self.reader).await?;
        Ok(rows.into_iter().map(puzzle).collect())
    }
}

impl Store {
    /// The answers of a team to a puzzle, in order.
    ///
    /// # Errors
    /// Database errors.
    pub async fn puzzle_answers(&self, puzzle: i64, team: EntrantId) -> Result<Vec<PuzzleAnswer>, StoreError> {
        type Row = (String, String, f64, f64, Flag);
        let rows: Vec<Row> = sqlx::query_as(
            "SELECT how, answer, chance, error, solved = TRUE FROM puzzle_tries \
             WHERE puzzle_id = $1 AND entrant_id = $2 ORDER BY n",
        )
        .bind(puzzle)
        .bind(team.0)
        .fetch_all(&self.reader)
        .await?;
        let answer = |(how, answer, chance, error, Flag(solved)): Row| PuzzleAnswer {
            how,
            answer,
            chance,
            error,
            solved,
        };
        Ok(rows.into_iter().map(answer).collect())
    }

    /// The names of the teams that have solved a puzzle, in the order in which they did.
    ///
    /// # Errors
    /// Database errors.
    pub async fn solvers(&self, puzzle: i64) -> Result<Vec<String>, StoreError> {
        let names = sqlx::query_scalar(
            "SELECT e.name FROM puzzle_tries t JOIN entrants e ON e.id = t.entrant_id WHERE t.puzzle_id = $1 AND t.solved \
             GROUP BY e.id, e.name ORDER BY min(t.at_ms), e.id",
        );
        Ok(names.bind(puzzle).fetch_all(&self.reader).await?)
    }

    /// The positions in which a team's uploads are tried, in the order in which they were kept.
    ///
    /// # Errors
    /// Database errors.
    pub async fn positions(&self, team: EntrantId) -> Result<Vec<StoredPosition>, StoreError> {
        let rows: Vec<(i64, i64, i64, i64, String, String)> = sqlx::query_as(
            "SELECT t.id, t.match_id, t.seat, t.step, t.wanted, m.replay_sha FROM team_tests t \
             JOIN matches m ON m.id = t.match_id WHERE t.entrant_id = $1 AND m.replay_sha IS NOT NULL ORDER BY t.id",
        )
        .bind(team.0)
        .fetch_all(&self.reader)
        .await?;
        let position = |(id, game, seat, step, wanted, replay): (i64, i64, i64, i64, String, String)| {
            Ok(StoredPosition {
                id,
                game: MatchId(game),
                seat: usize::try_from(seat).unwrap_or(0),
                step: u32::try_from(step).unwrap_or(0),
                wanted,
                replay: replay.parse().map_err(StoreError::Damaged)?,
            })
        };
        rows.into_iter().map(position).collect()
    }
}
