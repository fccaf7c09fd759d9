//! What teams learn from: puzzles, the answers to them, and the positions in which uploads are tried.

use crate::acts::{Act, note};
use crate::backend::Conn;
use crate::{ContestId, EntrantId, MatchId, StoreError, Time};

/// How many puzzles of its own a team keeps: beyond that the oldest go.
pub const MOST_PUZZLES: i64 = 300;
/// How many puzzles an organiser may set.
pub const MOST_SET: i64 = 200;
/// How many answers to a puzzle are kept of a team.
pub const MOST_TRIES: i64 = 50;
/// How many positions a team may keep as tests.
pub const MOST_TESTS: i64 = 50;

/// Keeps what was found in a lost match of the ladder. What was found before stays.
#[derive(Clone, Debug)]
pub struct KeepLesson {
    pub contest: ContestId,
    /// The team that lost.
    pub entrant: EntrantId,
    pub game: MatchId,
    /// From 0.
    pub seat: i64,
    /// As JSON.
    pub lesson: String,
    pub now: Time,
}

impl Act for KeepLesson {
    /// The number of the puzzle; none if the team did not lose such a match in this seat.
    type Reply = Option<i64>;

    async fn run(&self, conn: &mut Conn) -> Result<Option<i64>, StoreError> {
        let lost: Option<i64> = sqlx::query_scalar(
            "SELECT m.id FROM matches m JOIN blocks b ON b.id = m.block_id JOIN seats s ON s.match_id = m.id \
             JOIN versions v ON v.id = s.version_id WHERE m.id = $1 AND b.contest_id = $2 AND b.kind = 'ladder' \
             AND m.state = 'valid' AND s.seat = $3 AND s.rank > 1 AND v.entrant_id = $4",
        )
        .bind(self.game.0)
        .bind(self.contest.0)
        .bind(self.seat)
        .bind(self.entrant.0)
        .fetch_optional(&mut *conn)
        .await?;
        if lost.is_none() {
            return Ok(None);
        }
        let known: Option<i64> = sqlx::query_scalar(
            "SELECT id FROM puzzles WHERE entrant_id = $1 AND match_id = $2 AND seat = $3",
        )
        .bind(self.entrant.0)
        .bind(self.game.0)
        .bind(self.seat)
        .fetch_optional(&mut *conn)
        .await?;
        if known.is_some() {
            return Ok(known);
        }
        let old: Vec<i64> = sqlx::query_scalar(
            "SELECT id FROM puzzles WHERE entrant_id = $1 ORDER BY id DESC LIMIT 100 OFFSET $2",
        )
        .bind(self.entrant.0)
        .bind(MOST_PUZZLES - 1)
        .fetch_all(&mut *conn)
        .await?;
        for puzzle in old {
            forget(conn, puzzle).await?;
        }
        let id: i64 = sqlx::query_scalar(
            "INSERT INTO puzzles (contest_id, match_id, seat, entrant_id, lesson, made_ms) \
             VALUES ($1, $2, $3, $4, $5, $6) RETURNING id",
        )
        .bind(self.contest.0)
        .bind(self.game.0)
        .bind(self.seat)
        .bind(self.entrant.0)
        .bind(&self.lesson)
        .bind(self.now.0)
        .fetch_one(conn)
        .await?;
        Ok(Some(id))
    }
}

/// Sets a puzzle for everybody, from a match of the ladder.
#[derive(Clone, Debug)]
pub struct SetPuzzle {
    pub contest: ContestId,
    pub game: MatchId,
    /// From 0.
    pub seat: i64,
    /// As JSON.
    pub lesson: String,
    pub title: String,
    pub concept: String,
    /// Who sets it.
    pub actor: String,
    pub now: Time,
}

impl Act for SetPuzzle {
    /// Its number; none if there is no such match, or there are too many puzzles.
    type Reply = Option<i64>;

    async fn run(&self, conn: &mut Conn) -> Result<Option<i64>, StoreError> {
        let fits: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM matches m JOIN blocks b ON b.id = m.block_id JOIN seats s ON s.match_id = m.id \
             WHERE m.id = $1 AND b.contest_id = $2 AND b.kind = 'ladder' AND m.state = 'valid' AND s.seat = $3",
        )
        .bind(self.game.0)
        .bind(self.contest.0)
        .bind(self.seat)
        .fetch_one(&mut *conn)
        .await?;
        let set: i64 =
            sqlx::query_scalar("SELECT count(*) FROM puzzles WHERE contest_id = $1 AND entrant_id IS NULL")
                .bind(self.contest.0)
                .fetch_one(&mut *conn)
                .await?;
        if fits == 0 || set >= MOST_SET {
            return Ok(None);
        }
        let id: i64 = sqlx::query_scalar(
            "INSERT INTO puzzles (contest_id, match_id, seat, lesson, title, concept, made_ms) \
             VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id",
        )
        .bind(self.contest.0)
        .bind(self.game.0)
        .bind(self.seat)
        .bind(&self.lesson)
        .bind(&self.title)
        .bind(&self.concept)
        .bind(self.now.0)
        .fetch_one(&mut *conn)
        .await?;
        note(conn, self.contest, self.now, [&self.actor, "set puzzle", &format!("puzzle {id}"), &self.title])
            .await?;
        Ok(Some(id))
    }
}

/// Takes a puzzle that an organiser has set away again, with all answers to it.
#[derive(Clone, Debug)]
pub struct DropPuzzle {
    pub contest: ContestId,
    pub puzzle: i64,
    /// Who drops it.
    pub actor: String,
    pub now: Time,
}

impl Act for DropPuzzle {
    /// Whether there was one.
    type Reply = bool;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        let there: Option<String> = sqlx::query_scalar(
            "SELECT title FROM puzzles WHERE id = $1 AND contest_id = $2 AND entrant_id IS NULL",
        )
        .bind(self.puzzle)
        .bind(self.contest.0)
        .fetch_optional(&mut *conn)
        .await?;
        let Some(title) = there else { return Ok(false) };
        forget(conn, self.puzzle).await?;
        let object = format!("puzzle {}", self.puzzle);
        note(conn, self.contest, self.now, [&self.actor, "drop puzzle", &object, &title]).await?;
        Ok(true)
    }
}

async fn forget(conn: &mut Conn, puzzle: i64) -> Result<(), StoreError> {
    for statement in ["DELETE FROM puzzle_tries WHERE puzzle_id = $1", "DELETE FROM puzzles WHERE id = $1"] {
        sqlx::query(statement).bind(puzzle).execute(&mut *conn).await?;
    }
    Ok(())
}

/// An answer to a puzzle.
#[derive(Clone, Debug, PartialEq)]
pub struct PuzzleAnswer {
    /// `hand` or `shown`.
    pub how: String,
    /// As a bot writes it.
    pub answer: String,
    /// The chance after it, and its standard error.
    pub chance: f64,
    pub error: f64,
    pub solved: bool,
}

/// Keeps an answer of a team to one of its puzzles, or to one set for everybody.
#[derive(Clone, Debug)]
pub struct KeepTry {
    pub contest: ContestId,
    pub entrant: EntrantId,
    pub puzzle: i64,
    pub answer: PuzzleAnswer,
    pub now: Time,
}

impl Act for KeepTry {
    /// Whether it was kept: the puzzle is there, and there is room.
    type Reply = bool;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        let may: Option<i64> = sqlx::query_scalar(
            "SELECT id FROM puzzles WHERE id = $1 AND contest_id = $2 AND (entrant_id IS NULL OR entrant_id = $3)",
        )
        .bind(self.puzzle)
        .bind(self.contest.0)
        .bind(self.entrant.0)
        .fetch_optional(&mut *conn)
        .await?;
        let n: i64 = sqlx::query_scalar(
            "SELECT coalesce(max(n), 0) + 1 FROM puzzle_tries WHERE puzzle_id = $1 AND entrant_id = $2",
        )
        .bind(self.puzzle)
        .bind(self.entrant.0)
        .fetch_one(&mut *conn)
        .await?;
        if may.is_none() || n > MOST_TRIES {
            return Ok(false);
        }
        sqlx::query(
            "INSERT INTO puzzle_tries (puzzle_id, entrant_id, n, how, answer, chance, error, solved, at_ms) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        )
        .bind(self.puzzle)
        .bind(self.entrant.0)
        .bind(n)
        .bind(&self.answer.how)
        .bind(&self.answer.answer)
        .bind(self.answer.chance)
        .bind(self.answer.error)
        .bind(self.answer.solved)
        .bind(self.now.0)
        .execute(conn)
        .await?;
        Ok(true)
    }
}

/// Keeps a position as a test of a team. The same one again replaces what was wanted there.
#[derive(Clone, Debug)]
pub struct KeepPosition {
    pub contest: ContestId,
    pub entrant: EntrantId,
    pub game: MatchId,
    /// From 0.
    pub seat: i64,
    /// From 1.
    pub step: i64,
    /// What the answer must be, as JSON.
    pub wanted: String,
    pub now: Time,
}

impl Act for KeepPosition {
    /// Whether it was kept: there is such a match of the ladder, and there is room.
    type Reply = bool;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        let fits: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM matches m JOIN blocks b ON b.id = m.block_id JOIN seats s ON s.match_id = m.id \
             WHERE m.id = $1 AND b.contest_id = $2 AND b.kind = 'ladder' AND m.state = 'valid' AND s.seat = $3",
        )
        .bind(self.game.0)
        .bind(self.contest.0)
        .bind(self.seat)
        .fetch_one(&mut *conn)
        .await?;
        sqlx::query(
            "DELETE FROM team_tests WHERE entrant_id = $1 AND match_id = $2 AND seat = $3 AND step = $4",
        )
        .bind(self.entrant.0)
        .bind(self.game.0)
        .bind(self.seat)
        .bind(self.step)
        .execute(&mut *conn)
        .await?;
        let kept: i64 = sqlx::query_scalar("SELECT count(*) FROM team_tests WHERE entrant_id = $1")
            .bind(self.entrant.0)
            .fetch_one(&mut *conn)
            .await?;
        if fits == 0 || kept >= MOST_TESTS {
            return Ok(false);
        }
        sqlx::query(
            "INSERT INTO team_tests (entrant_id, match_id, seat, step, wanted, made_ms) VALUES ($1, $2, $3, $4, $5, $6)",
        )
        .bind(self.entrant.0)
        .bind(self.game.0)
        .bind(self.seat)
        .bind(self.step)
        .bind(&self.wanted)
        .bind(self.now.0)
        .execute(conn)
        .await?;
        Ok(true)
    }
}

/// Drops a test of a team.
#[derive(Clone, Copy, Debug)]
pub struct DropPosition {
    pub entrant: EntrantId,
    pub test: i64,
}

impl Act for DropPosition {
    /// Whether there was one.
    type Reply = bool;

    async fn run(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        let gone = sqlx::query("DELETE FROM team_tests WHERE id = $1 AND entrant_id = $2")
            .bind(self.test)
            .bind(self.entrant.0);
        Ok(gone.execute(conn).await?.rows_affected() > 0)
    }
}

/// What is deleted with a team: its puzzles with all answers, its own answers to those of others, its tests.
pub(crate) async fn forget_team(conn: &mut Conn, entrant: EntrantId) -> Result<(), StoreError> {
    for statement in [
        "DELETE FROM puzzle_tries WHERE entrant_id = $1 \
         OR puzzle_id IN (SELECT id FROM puzzles WHERE entrant_id = $1)",
        "DELETE FROM puzzles WHERE entrant_id = $1",
        "DELETE FROM team_tests WHERE entrant_id = $1",
    ] {
        sqlx::query(statement).bind(entrant.0).execute(&mut *conn).await?;
    }
    Ok(())
}
