//! One file, for a class on a laptop.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use sqlx::{Executor as _, Row as _};

use super::{Conn, Place};
use crate::StoreError;

/// The type of a number that the database assigns.
pub const ID: &str = "INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL";

/// The address of a file, whatever its name.
pub fn url(file: &Path) -> Result<String, StoreError> {
    let file =
        std::path::absolute(file).map_err(|error| StoreError::File(file.display().to_string(), error))?;
    let mut url = String::from("sqlite://");
    for byte in file.as_os_str().as_bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                url.push(char::from(*byte))
            }
            other => url.push_str(&format!("%{other:02X}")),
        }
    }
    url.push_str("?mode=rwc");
    Ok(url)
}

/// Sets up a new connection. Another process, such as a command beside the server, may hold the database for a moment. A power cut may lose
/// the last moments, but never leaves anything half done. What is deleted is overwritten.
pub async fn prepare(conn: &mut Conn, reads_only: bool) -> Result<(), sqlx::Error> {
    let pragmas = "PRAGMA busy_timeout = 20000; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; \
                   PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON";
    conn.execute(pragmas).await?;
    if reads_only {
        conn.execute("PRAGMA query_only = ON").await?;
    }
    Ok(())
}

/// Writes the database as it is at one moment into a new file, while others keep writing.
pub async fn snapshot(file: &Path, into: &Path) -> Result<(), StoreError> {
    let mut conn = Place::file(file)?.connect().await?;
    let into = into.to_str().ok_or_else(|| StoreError::Database("the path is not UTF-8".to_owned()))?;
    sqlx::query("VACUUM INTO $1").bind(into).execute(&mut conn).await?;
    super::close(conn).await;
    Ok(())
}

/// The statements that made the database, in order. They are read as bytes: one that is not text ends the driver's thread, and whoever waits
/// for that waits forever.
pub async fn schema(conn: &mut Conn) -> Result<Vec<String>, StoreError> {
    let read = "SELECT hex(type || ' ' || name || ' ' || tbl_name || ' ' || coalesce(sql, '')) FROM sqlite_master \
                WHERE name NOT LIKE 'sqlite_stat%' ORDER BY 1";
    let all: Vec<String> = sqlx::query_scalar(read).fetch_all(conn).await?;
    let text = |hex: String| {
        let pairs =
            hex.as_bytes().chunks(2).map(|two| u8::from_str_radix(str::from_utf8(two).ok()?, 16).ok());
        String::from_utf8(pairs.collect::<Option<Vec<u8>>>()?).ok()
    };
    let all: Option<Vec<String>> = all.into_iter().map(text).collect();
    all.ok_or_else(|| StoreError::Damaged("a statement of its schema is not text".to_owned()))
}

/// What the database reports about its file; empty when all is well.
pub async fn integrity(conn: &mut Conn) -> Result<Vec<String>, StoreError> {
    let mut said: Vec<String> =
        sqlx::query_scalar("PRAGMA integrity_check(20)").fetch_all(&mut *conn).await?;
    said.retain(|line| line != "ok");
    let dangling = sqlx::query("PRAGMA foreign_key_check").fetch_all(conn).await?;
    said.extend(dangling.iter().take(20).map(|row| {
        let text = |place: usize| row.try_get::<String, _>(place).unwrap_or_default();
        format!("a row of {} refers to one of {} that does not exist", text(0), text(2))
    }));
    Ok(said)
}
