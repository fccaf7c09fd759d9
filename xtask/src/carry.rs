//! The way over for a contest that was begun before the first release, when the schema had thirteen steps, and an entrant and its bot
//! were two rows. It leaves the project with the first release, together with its test and the backup there.
//!
//! It takes a backup made by the program of then and makes the contest's folder in the form of now. Everything but the database is taken
//! over byte for byte, and so are all rows, with one exception: ratings are made by another method since then, which the terms name, and
//! the hashes of the log begin at the terms. So those of such a contest are new, and its rows are the same. The database is the only SQL outside of `agon-store`, which knows no form but its own.

use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use sha2::{Digest as _, Sha256};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, SqliteConnection};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

/// The schema of now.
const SCHEMA: &str = include_str!("../../crates/agon-store/src/migrations/0001.sql");
/// How SQLite numbers rows there.
const ID: &str = "INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL";
/// The schemas of then from which this is the way: the later ones only added columns that may be empty, and a table.
const SCHEMAS: std::ops::RangeInclusive<i64> = 11..=13;
/// The method of ratings of now (`METHOD` of `agon-stats`).
const RATINGS: u64 = 2;
/// The database in a backup.
const DATABASE: &str = "agon.db";

/// Makes the folder of a contest from a backup of then, and checks it as `agon serve restore` does.
///
/// # Errors
/// When the file is not such a backup, or the folder exists already or cannot be made; there is none then.
pub fn run(root: &Path, arguments: &[String]) -> Result<bool> {
    let [backup, new] = arguments else { bail!("carry-over takes a BACKUP and the NEW folder") };
    let place = tempfile::tempdir()?;
    let carried = place.path().join("carried.backup");
    let rows = carry(Path::new(backup), &carried)?;
    eprintln!("{backup}: {rows} rows are carried over");
    let mut restore = crate::cargo();
    restore.args(["run", "--quiet", "--profile", "test", "--package", "agon", "--manifest-path"]);
    restore.arg(root.join("Cargo.toml")).args(["--", "serve", "restore"]).arg(&carried).arg(new);
    Ok(restore.status().context("cargo cannot be started")?.success())
}

/// Writes a backup of now from one of then. Returns the number of rows.
///
/// # Errors
/// When it is not one of then.
pub fn carry(backup: &Path, into: &Path) -> Result<u64> {
    let no = || format!("{}: not a backup that `agon serve backup` wrote", backup.display());
    let mut from = ZipArchive::new(BufReader::new(File::open(backup).with_context(no)?)).with_context(no)?;
    let place = tempfile::tempdir()?;
    let (then, now) = (place.path().join("then.db"), place.path().join("now.db"));
    io::copy(&mut from.by_name(DATABASE).with_context(no)?, &mut File::create(&then)?)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let rows = runtime.block_on(database(&then, &now)).with_context(|| backup.display().to_string())?;
    let mut made = ZipWriter::new(BufWriter::new(File::create_new(into)?));
    for index in 0..from.len() {
        let entry = from.by_index_raw(index)?;
        if entry.name()? == DATABASE {
            made.start_file(DATABASE, SimpleFileOptions::default().large_file(true))?;
            io::copy(&mut File::open(&now)?, &mut made)?;
        } else {
            made.raw_copy_file(entry)?;
        }
    }
    made.finish()?;
    Ok(rows)
}

/// Makes a database of now from one of then. Returns the number of rows.
async fn database(then: &Path, now: &Path) -> Result<u64> {
    let options = SqliteConnectOptions::new().filename(now).create_if_missing(true);
    let mut conn = SqliteConnection::connect_with(&options).await?;
    sqlx::query("ATTACH $1 AS then_").bind(then.to_string_lossy()).execute(&mut conn).await?;
    let found: Option<i64> =
        sqlx::query_scalar("SELECT max(version) FROM then_.schema_version").fetch_one(&mut conn).await?;
    let old: i64 = sqlx::query_scalar("SELECT count(*) FROM then_.sqlite_master WHERE name = 'bots'")
        .fetch_one(&mut conn)
        .await?;
    ensure!(old == 1, "its contest has the form of now already: `agon serve restore` takes it");
    ensure!(
        found.is_some_and(|found| SCHEMAS.contains(&found)),
        "its schema is {}, and only those from {} on are carried over: open the contest with the last program before this one, and make \
         the backup with that",
        found.unwrap_or(0),
        SCHEMAS.start()
    );
    let mut rows = 0;
    conn.execute("BEGIN").await?;
    conn.execute(AssertSqlSafe(SCHEMA.replace("@id", ID))).await?;
    conn.execute("CREATE TABLE schema_version (version BIGINT NOT NULL)").await?;
    conn.execute("INSERT INTO schema_version VALUES (1)").await?;
    let tables: Vec<String> = sqlx::query_scalar(
        "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'schema_version' \
         ORDER BY rowid",
    )
    .fetch_all(&mut conn)
    .await?;
    for table in &tables {
        // Those that then had as well; the owner of a version is in another place.
        let columns: Vec<String> = sqlx::query_scalar(
            "SELECT name FROM pragma_table_info($1, 'main') WHERE $1 = 'versions' AND name = 'entrant_id' \
             OR name IN (SELECT name FROM pragma_table_info($1, 'then_')) ORDER BY cid",
        )
        .bind(table)
        .fetch_all(&mut conn)
        .await?;
        if columns.is_empty() {
            continue;
        }
        // An entrant has its bot itself.
        let read = columns.join(", ").replace(
            "entrant_id",
            match table.as_str() {
                "versions" => "(SELECT b.entrant_id FROM then_.bots b WHERE b.id = bot_id)",
                _ => "entrant_id",
            },
        );
        let copy =
            format!("INSERT INTO main.{table} ({}) SELECT {read} FROM then_.{table}", columns.join(", "));
        let copied = conn.execute(AssertSqlSafe(copy)).await?.rows_affected();
        let there: i64 = sqlx::query_scalar(AssertSqlSafe(format!("SELECT count(*) FROM then_.{table}")))
            .fetch_one(&mut conn)
            .await?;
        ensure!(u64::try_from(there).ok() == Some(copied), "{copied} of {there} rows of {table} were copied");
        rows += copied;
    }
    if rechain(&mut conn).await? {
        eprintln!(
            "its table is made by method {RATINGS} of ratings from now on, which its terms say now; so the hashes of its log are new, while its \
             rows are the same. What was published of it is verified by the program of then: keep the backup, and an export by that program"
        );
    }
    // Numbers that were given once are not given again.
    conn.execute("DELETE FROM main.sqlite_sequence").await?;
    conn.execute(
        "INSERT INTO main.sqlite_sequence SELECT name, seq FROM then_.sqlite_sequence WHERE name <> 'bots'",
    )
    .await?;
    let broken = sqlx::query("PRAGMA main.foreign_key_check").fetch_all(&mut conn).await?;
    ensure!(broken.is_empty(), "{} rows name others that are not there", broken.len());
    conn.execute("COMMIT").await?;
    conn.close().await?;
    Ok(rows)
}

/// Writes the method of ratings of now into the terms, and the hashes that follow from them. Returns whether it was another.
async fn rechain(conn: &mut SqliteConnection) -> Result<bool> {
    let contests: Vec<(i64, String, String)> =
        sqlx::query_as("SELECT id, terms, secret_sha FROM main.contests").fetch_all(&mut *conn).await?;
    let mut changed = false;
    for (contest, terms, secret) in contests {
        let now = match terms.strip_suffix('}') {
            Some(rest) if !terms.contains("\"ratings\":") => format!("{rest},\"ratings\":{RATINGS}}}"),
            _ => continue,
        };
        changed = true;
        sqlx::query("UPDATE main.contests SET terms = $2 WHERE id = $1")
            .bind(contest)
            .bind(&now)
            .execute(&mut *conn)
            .await?;
        let mut sha = hash(&format!("agon log\n{secret}\n{now}"));
        let rows: Vec<(i64, String)> =
            sqlx::query_as("SELECT seq, body FROM main.log WHERE contest_id = $1 ORDER BY seq")
                .bind(contest)
                .fetch_all(&mut *conn)
                .await?;
        for (seq, body) in rows {
            sha = hash(&format!("{sha}\n{body}"));
            sqlx::query("UPDATE main.log SET sha = $3 WHERE contest_id = $1 AND seq = $2")
                .bind(contest)
                .bind(seq)
                .bind(&sha)
                .execute(&mut *conn)
                .await?;
        }
    }
    Ok(changed)
}

fn hash(text: &str) -> String {
    crate::dist::hex(&Sha256::digest(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All rows of what is asked, as text.
    async fn rows(database: &Path, asked: &'static str) -> Vec<String> {
        let file = SqliteConnectOptions::new().filename(database);
        let mut conn = SqliteConnection::connect_with(&file).await.expect("opens");
        sqlx::query_scalar(asked).fetch_all(&mut conn).await.expect("read")
    }

    /// The backup is of a contest of commit 4240ce8d: five teams, of which one handed in twice, a draft, and 25 rated matches.
    #[test]
    fn a_contest_of_then_is_whole_in_the_form_of_now() {
        let then = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/then.backup"));
        let place = tempfile::tempdir().expect("a folder");
        let (carried, folder) = (place.path().join("carried"), place.path().join("cup"));
        let count = carry(then, &carried).expect("carried over");
        let old = place.path().join("then.db");
        let mut backup = ZipArchive::new(File::open(then).expect("there")).expect("a backup");
        io::copy(&mut backup.by_name(DATABASE).expect("there"), &mut File::create(&old).expect("room"))
            .expect("read");
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads");
        runtime.block_on(async {
            // Its restoring checks it as `fsck` does: objects, the chain, and what every row says of others.
            let (_, found) = agon_server::backup::restore(&carried, &folder).await.expect("restored");
            assert_eq!(found, Vec::<String>::new());
            let status = agon_server::status::status(&folder).await.expect("a contest");
            assert_eq!((status.counts.sealed, status.board.len()), (25, 6));
            let new = folder.join(DATABASE);
            for asked in [
                "SELECT seq || body FROM log ORDER BY seq",
                "SELECT id || name || likeness || password || organiser || made_ms FROM accounts ORDER BY id",
                "SELECT id || account_id || sha || kind || ends_ms || idle_ms FROM logins ORDER BY id",
                "SELECT account_id || ' ' || entrant_id || ' ' || from_ms FROM members ORDER BY account_id",
                "SELECT id || name || boss || coalesce(join_code, '') FROM entrants ORDER BY id",
                "SELECT id || state || attempt || coalesce(outcome, '') || coalesce(replay_sha, '') || coalesce(log_seq, '') FROM matches \
                 ORDER BY id",
                "SELECT match_id || ' ' || seat || ' ' || version_id || ' ' || rank || ' ' || score || coalesce(own_sha, '') FROM seats \
                 ORDER BY match_id, seat",
                "SELECT match_id || ' ' || n || worker_id || how || coalesce(result_sha, '') FROM attempts ORDER BY match_id, n",
                "SELECT id || actor || verb || object || detail FROM events ORDER BY id",
                "SELECT name || seq FROM sqlite_sequence WHERE name <> 'bots' ORDER BY name",
            ] {
                let was = rows(&old, asked).await;
                assert!(!was.is_empty() && was == rows(&new, asked).await, "{asked}");
            }
            let owners = "SELECT v.id || ' ' || b.entrant_id || ' ' || v.n || v.source_sha || v.state FROM versions v \
                          JOIN bots b ON b.id = v.bot_id ORDER BY v.id";
            let now = "SELECT id || ' ' || entrant_id || ' ' || n || source_sha || state FROM versions ORDER BY id";
            assert_eq!(rows(&old, owners).await, rows(&new, now).await);
            assert!(count > 200, "{count}");
        });
        // The second time it is a contest of now.
        let error = carry(&carried, &place.path().join("twice")).expect_err("of now");
        assert!(format!("{error:#}").contains("`agon serve restore` takes it"), "{error:#}");
    }
}
