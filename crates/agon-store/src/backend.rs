//! What differs between databases. Another one is a second module of this shape; the statements stay.

use std::path::Path;
use std::str::FromStr as _;
use std::time::Duration;

use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteRow, SqliteSynchronous,
};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, Row as _};

use crate::StoreError;
use crate::names::likeness;

/// A connection.
pub type Conn = sqlx::SqliteConnection;
/// Connections that read.
pub type Pool = sqlx::SqlitePool;
/// A row.
pub type DbRow = SqliteRow;

/// How a number that the database gives is written down.
const ID: &str = "INTEGER PRIMARY KEY AUTOINCREMENT";
/// All schemas, each on top of the one before. One that was published never changes.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001.sql"),
    include_str!("migrations/0002.sql"),
    include_str!("migrations/0003.sql"),
    include_str!("migrations/0004.sql"),
    include_str!("migrations/0005.sql"),
    include_str!("migrations/0006.sql"),
    include_str!("migrations/0007.sql"),
    include_str!("migrations/0008.sql"),
];
/// Another process may hold the database for a moment: a command line beside the server.
const PATIENCE: Duration = Duration::from_secs(20);
/// How many connections read at once.
const READERS: u32 = 4;

fn options(file: &Path) -> Result<SqliteConnectOptions, StoreError> {
    Ok(SqliteConnectOptions::from_str("sqlite:")?
        .filename(file)
        .journal_mode(SqliteJournalMode::Wal)
        // A power cut may take the last moments, but never leaves anything half done.
        .synchronous(SqliteSynchronous::Normal)
        .foreign_keys(true)
        .busy_timeout(PATIENCE))
}

/// The connection that writes.
pub async fn connect(file: &Path) -> Result<Conn, StoreError> {
    Ok(Conn::connect_with(&options(file)?.create_if_missing(true)).await?)
}

/// The connections that read.
pub async fn readers(file: &Path) -> Result<Pool, StoreError> {
    let options = options(file)?.pragma("query_only", "ON");
    Ok(SqlitePoolOptions::new().max_connections(READERS).connect_with(options).await?)
}

/// Writes the database as it is at one moment into a new file, while others write on.
pub async fn snapshot(file: &Path, into: &Path) -> Result<(), StoreError> {
    let mut conn = Conn::connect_with(&options(file)?).await?;
    let into = into.to_str().ok_or_else(|| StoreError::Database("the path is not UTF-8".to_owned()))?;
    sqlx::query("VACUUM INTO $1").bind(into).execute(&mut conn).await?;
    close(conn).await;
    Ok(())
}

/// Begins a transaction that will write.
pub async fn begin(conn: &mut Conn) -> Result<(), StoreError> {
    run(conn, "BEGIN IMMEDIATE").await
}

/// Ends a transaction.
pub async fn commit(conn: &mut Conn) -> Result<(), StoreError> {
    run(conn, "COMMIT").await
}

/// Takes back what was done since [`begin`].
pub async fn rollback(conn: &mut Conn) -> Result<(), StoreError> {
    run(conn, "ROLLBACK").await
}

/// Closes the connection. The last one to go leaves one file instead of three.
pub async fn close(conn: Conn) {
    let _ = conn.close().await;
}

/// What the database itself has to say about its files; empty when all is well.
pub async fn integrity(pool: &Pool) -> Result<Vec<String>, StoreError> {
    let mut said: Vec<String> = sqlx::query_scalar("PRAGMA integrity_check(20)").fetch_all(pool).await?;
    said.retain(|line| line != "ok");
    let dangling = sqlx::query("PRAGMA foreign_key_check").fetch_all(pool).await?;
    said.extend(dangling.iter().take(20).map(|row: &DbRow| {
        let text = |place: usize| row.try_get::<String, _>(place).unwrap_or_default();
        format!("a row of {} names one of {} that is not there", text(0), text(2))
    }));
    Ok(said)
}

async fn run(conn: &mut Conn, statement: &'static str) -> Result<(), StoreError> {
    conn.execute(statement).await?;
    Ok(())
}

/// Brings the schema up to date. Each step is one transaction with the number it leads to.
pub async fn migrate(conn: &mut Conn) -> Result<(), StoreError> {
    let known = MIGRATIONS.len() as i64;
    run(conn, "CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)").await?;
    loop {
        match version(conn).await? {
            found if found > known => return Err(StoreError::Later { found, known }),
            found if found == known => return Ok(()),
            _ => {}
        }
        begin(conn).await?;
        // Somebody else may have been quicker.
        let found = version(conn).await?;
        if found >= known {
            rollback(conn).await?;
            continue;
        }
        let script = MIGRATIONS[found as usize].replace("@id", &format!("{ID} NOT NULL"));
        // Our own text, with one word put in.
        conn.execute(AssertSqlSafe(script)).await?;
        if found + 1 == NAMES {
            compare_anew(conn).await?;
        }
        sqlx::query("INSERT INTO schema_version (version) VALUES ($1)")
            .bind(found + 1)
            .execute(&mut *conn)
            .await?;
        commit(conn).await?;
    }
}

/// Up to this schema names were compared by their letters and digits alone.
const NAMES: i64 = 8;

/// Writes down anew how names are compared. Where two that were different are alike now both stay, the later one with its number
/// behind what it looks like: both are found by their own names, and nobody else takes one that looks like either.
async fn compare_anew(conn: &mut Conn) -> Result<(), StoreError> {
    for table in ["accounts", "entrants"] {
        // One of two words of ours. What was withdrawn is called like nobody.
        let select = format!("SELECT id, name FROM {table} WHERE withdrawn_ms IS NULL ORDER BY id");
        let rows: Vec<(i64, String)> = sqlx::query_as(AssertSqlSafe(select)).fetch_all(&mut *conn).await?;
        // First aside, for one may be called now what another one was called before.
        let update = format!("UPDATE {table} SET likeness = $2 WHERE id = $1");
        for (id, _) in &rows {
            let aside = sqlx::query(AssertSqlSafe(update.clone())).bind(id).bind(format!("~{id}"));
            aside.execute(&mut *conn).await?;
        }
        let mut taken = std::collections::BTreeSet::new();
        for (id, name) in rows {
            let mut like = likeness(&name);
            if !taken.insert(like.clone()) {
                like = format!("{like}~{id}");
            }
            sqlx::query(AssertSqlSafe(update.clone())).bind(id).bind(like).execute(&mut *conn).await?;
        }
    }
    Ok(())
}

async fn version(conn: &mut Conn) -> Result<i64, StoreError> {
    let found: Option<i64> =
        sqlx::query_scalar("SELECT max(version) FROM schema_version").fetch_one(conn).await?;
    Ok(found.unwrap_or(0))
}
