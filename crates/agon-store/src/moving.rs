//! Moves a database and everything in it to another one: from a file to a server, and back.
//!
//! One of the two is SQLite, and the tables and columns are read from that one: nothing is listed here, so a later schema cannot be missed.
//!
//! At any moment exactly one of the two copies can be played, whatever is killed. The one that is left holds the lock of its writers from
//! the first row read until it is marked as left, and that one row decides: before it, the new copy is marked as arriving, or does not have
//! its name yet; after it, whoever opens the folder finishes the move ([`finish`]). A marked copy refuses every transaction that would
//! write, so a server that had it open stops, and one that is started again does not begin.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use futures_util::TryStreamExt as _;
use sqlx::any::AnyArguments;
use sqlx::{Arguments as _, AssertSqlSafe, Row as _};

use crate::backend::tables::{ColumnKind, TableOf, tables};
use crate::backend::{self, Conn, Flag, MoveMark, Place};
use crate::{DATABASE, DATABASE_AT, StoreError, Time, place_of, write_address};

/// A file that is being filled, until it has its name.
const DRAFT: &str = "agon.db.part";
/// The address of the server to which a folder's database is moving.
const NEW_AT: &str = "database.url.new";
/// What is left in the folder of a database that has moved to a server.
const LEFT: &str = "agon.db.moved";

/// Moves the database of `folder` to a server, or without an address back into a file there. Returns the number of rows. The copy that it
/// leaves is marked, and not opened again. A target that holds such a copy of this contest, or one with a part of its log, is emptied if
/// it `replaces` that.
///
/// # Errors
/// When it is there already, a server plays the contest, or the target cannot be reached or holds something else; the contest is where it
/// was then. [`StoreError::Older`] when the target holds an older copy that may not be replaced.
pub async fn relocate(
    folder: &Path,
    url: Option<&str>,
    replaces: bool,
    now: Time,
) -> Result<u64, StoreError> {
    // Finishes an earlier move, and refuses a folder that the contest has left.
    crate::Store::open(folder).await?.close().await;
    let from = place_of(folder)?;
    let into = match (from.is_server(), url) {
        (false, None) => return Err(StoreError::Wrong(format!("the database is already in {DATABASE}"))),
        (true, Some(_)) => {
            return Err(StoreError::Wrong(
                "the database is already on a server: move it back first".to_owned(),
            ));
        }
        (false, Some(url)) => {
            let into = Place::server(url)?;
            write_address(&folder.join(NEW_AT), url)?;
            into
        }
        (true, None) if folder.join(DATABASE).exists() => {
            return Err(StoreError::Wrong(format!(
                "{}: there is a {DATABASE} that is not in use, because {DATABASE_AT} is there: move it out of the way first",
                folder.display()
            )));
        }
        (true, None) => {
            let draft = folder.join(DRAFT);
            for file in ["", "-wal", "-shm"].map(|end| PathBuf::from(format!("{}{end}", draft.display()))) {
                removed(&file)?;
            }
            Place::file(&draft)?
        }
    };
    let (here, there) = (shown(&from, folder), shown(&into, folder));
    let mut source = from.mover().await?;
    let mut decided = false;
    let moved = async {
        still(&mut source).await?;
        // From here until it is marked, nobody else writes there.
        backend::begin(&mut source).await?;
        let mark = MoveMark { place: here, at: now, is_arriving: true };
        let mut target = into.mover().await?;
        let copied = async {
            backend::migrate(&mut target).await?;
            if into.is_server() {
                still(&mut target).await?;
            }
            fill(&mut source, &mut target, replaces, into.is_server().then_some(&mark)).await
        };
        let copied = copied.await;
        // A file is whole only when it is closed.
        backend::close(target).await;
        let rows = copied?;
        let mark = MoveMark { place: there.clone(), at: now, is_arriving: false };
        decided = true;
        backend::set_mark(&mut source, Some(&mark)).await?;
        backend::commit(&mut source).await?;
        // The mark is in the file itself, even if a command has it open.
        backend::fold(&mut source).await?;
        Ok(rows)
    };
    let moved = moved.await;
    backend::close(source).await;
    if moved.is_ok() {
        finish(folder, &there).await?;
    } else if !decided {
        // It holds a password. Once it is decided, the next start needs it.
        let _ = removed(&folder.join(NEW_AT));
    }
    moved
}

/// Finishes a move of this folder's database to `there`, which was decided and may have been interrupted then. False if it was no move of
/// this folder, or is finished.
pub(crate) async fn finish(folder: &Path, there: &str) -> Result<bool, StoreError> {
    let failed = |error| StoreError::File(folder.display().to_string(), error);
    let (file, new) = (folder.join(DATABASE), folder.join(NEW_AT));
    if place_of(folder)?.is_server() {
        let draft = folder.join(DRAFT);
        if shown(&Place::file(&file)?, folder) != there || !(draft.exists() || file.exists()) {
            return Ok(false);
        }
        renamed(&draft, &file).and_then(|()| gone(&folder.join(DATABASE_AT))).map_err(failed)?;
        return Ok(true);
    }
    let Ok(url) = fs::read_to_string(&new) else { return Ok(false) };
    let target = Place::server(url.trim())?;
    if shown(&target, folder) != there {
        return Ok(false);
    }
    let mut target = target.mover().await?;
    let opened = async {
        backend::begin_anyway(&mut target).await?;
        if backend::mark(&mut target).await?.is_some_and(|mark| mark.is_arriving) {
            backend::set_mark(&mut target, None).await?;
        }
        backend::commit(&mut target).await
    };
    let opened = opened.await;
    backend::close(target).await;
    opened?;
    renamed(&file, &folder.join(LEFT))
        .and_then(|()| renamed(&new, &folder.join(DATABASE_AT)))
        .map_err(failed)?;
    Ok(true)
}

/// Gives a file another name. Another process may have done so just before.
fn renamed(file: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(file, to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && to.exists() => Ok(()),
        done => done,
    }
}

/// Removes a file, if it is there.
pub(crate) fn gone(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

fn removed(file: &Path) -> Result<(), StoreError> {
    gone(file).map_err(|error| StoreError::File(file.display().to_string(), error))
}

/// While this exists, no server plays the contest of a folder, and one that starts waits.
pub(crate) struct Held(Option<Conn>);

impl Held {
    pub async fn over(self) {
        if let Some(mut conn) = self.0 {
            // It ends with its connection at the latest.
            let _ = backend::rollback(&mut conn).await;
            backend::close(conn).await;
        }
    }
}

/// Keeps servers from playing the contest of a folder, which may have no database yet.
pub(crate) async fn hold(folder: &Path) -> Result<Held, StoreError> {
    if !crate::is_there(folder) {
        return Ok(Held(None));
    }
    crate::Store::open(folder).await?.close().await;
    let mut conn = place_of(folder)?.mover().await?;
    still(&mut conn).await?;
    backend::begin(&mut conn).await?;
    Ok(Held(Some(conn)))
}

/// Keeps servers from playing the contest of this database, until the connection ends. That of a file is locked with its folder.
async fn still(conn: &mut Conn) -> Result<(), StoreError> {
    if !backend::is_server(conn) || backend::keep(conn).await? {
        return Ok(());
    }
    let who = backend::keepers(conn).await?.join(", ");
    Err(StoreError::Wrong(format!(
        "this contest is in use by {}: stop every server of it first (Ctrl-C, or systemctl stop), on whichever machine it runs",
        if who.is_empty() { "another server" } else { &who }
    )))
}

/// Where a database is, in words that hold on every machine, without a password.
fn shown(place: &Place, folder: &Path) -> String {
    match place.is_server() {
        true => place.without_password(),
        false => {
            let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
            format!("the folder {} on the machine {}", folder.display(), backend::machine())
        }
    }
}

/// A moment in words, where it is one.
pub(crate) fn on(at: Time) -> String {
    jiff::Timestamp::from_millisecond(at.0)
        .map_or_else(|_| String::new(), |when| format!(" on {}", when.strftime("%Y-%m-%d at %H:%M UTC")))
}

/// What somebody is told who opens a copy that the contest has left.
pub(crate) fn left(place: &str, at: Time) -> String {
    let when = on(at);
    let how = match place.split_once(" on the machine ") {
        Some(_) => "run `agon serve` with that folder there",
        None => {
            "use the folder whose database.url names it, or write that address, with its password, into database.url of a folder with \
                 the same contest.toml and without agon.db"
        }
    };
    format!(
        "this contest was moved to {place}{when}, and this is the copy that it left, which is not opened any more: {how}"
    )
}

/// Copies everything in `from` into `into`, which must be new. Returns the number of rows. The copy is of one moment, even while others
/// keep writing.
pub(crate) async fn copy(from: &Place, into: &Place) -> Result<u64, StoreError> {
    let (mut from, mut into) = (from.mover().await?, into.mover().await?);
    let copied = async {
        backend::migrate(&mut from).await?;
        backend::migrate(&mut into).await?;
        backend::look(&mut from).await?;
        let rows = fill(&mut from, &mut into, false, None).await?;
        backend::commit(&mut from).await?;
        Ok(rows)
    };
    let copied = copied.await;
    backend::close(from).await;
    backend::close(into).await;
    copied
}

/// Copies everything that `from` has in its transaction, in one transaction, and leaves that mark.
async fn fill(
    from: &mut Conn,
    into: &mut Conn,
    replaces: bool,
    mark: Option<&MoveMark>,
) -> Result<u64, StoreError> {
    backend::begin_anyway(into).await?;
    let tables = match backend::is_server(from) {
        true => tables(into).await?,
        false => tables(from).await?,
    };
    make_way(from, into, &tables, replaces).await?;
    let mut rows = 0;
    for table in &tables {
        let copied = rows_of(table, from, into).await?;
        let found: i64 = sqlx::query_scalar(AssertSqlSafe(format!("SELECT count(*) FROM {}", table.name)))
            .fetch_one(&mut *into)
            .await?;
        if u64::try_from(found) != Ok(copied) {
            return Err(StoreError::Damaged(format!(
                "{copied} rows of {} were copied, but {found} are there",
                table.name
            )));
        }
        if table.columns.iter().any(|column| column.name == "id")
            && let Some(last) = backend::last_number(from, &table.name).await?
        {
            backend::number_on(into, &table.name, last).await?;
        }
        rows += copied;
    }
    backend::set_mark(into, mark).await?;
    backend::commit(into).await?;
    Ok(rows)
}

/// Empties what is filled next, where it holds an older copy of the same contest.
async fn make_way(
    from: &mut Conn,
    into: &mut Conn,
    tables: &[TableOf],
    replaces: bool,
) -> Result<(), StoreError> {
    const WHOSE: &str = "SELECT name, secret FROM contests ORDER BY id";
    let found: Vec<(String, String)> = sqlx::query_as(WHOSE).fetch_all(&mut *into).await?;
    if found.is_empty() {
        return Ok(());
    }
    let own: Vec<(String, String)> = sqlx::query_as(WHOSE).fetch_all(&mut *from).await?;
    if found != own {
        let why = "it already holds a contest, and not this one: name a new database".to_owned();
        return Err(StoreError::Wrong(why));
    }
    let mark = backend::mark(into).await?;
    let rows: i64 = sqlx::query_scalar("SELECT count(*) FROM log").fetch_one(&mut *into).await?;
    if mark.is_none() && !goes_on(from, into).await? {
        return Err(StoreError::Wrong(format!(
            "it already holds this contest, with results that are not in the one that moves ({rows} in its log): it was played on there, so it \
             is not replaced; name a new database"
        )));
    }
    // What an interrupted move brought was never in use.
    if !replaces && mark.as_ref().is_none_or(|mark| !mark.is_arriving) {
        let what = match mark {
            Some(_) => "the copy that this contest left when it was moved from there",
            None => "an older copy of this contest, whose results are all in the one that moves",
        };
        return Err(StoreError::Older(format!("it holds {what} ({rows} rows in its log)")));
    }
    let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
    backend::empty(into, &names).await
}

/// Whether the log of `from` begins with that of `into`: each row has the hash of all before it.
async fn goes_on(from: &mut Conn, into: &mut Conn) -> Result<bool, StoreError> {
    let last: Vec<(i64, i64, String)> = sqlx::query_as(
        "SELECT contest_id, seq, sha FROM log l WHERE seq = (SELECT max(seq) FROM log o WHERE o.contest_id = l.contest_id)",
    )
    .fetch_all(&mut *into)
    .await?;
    for (contest, seq, sha) in last {
        let own: Option<String> =
            sqlx::query_scalar("SELECT sha FROM log WHERE contest_id = $1 AND seq = $2")
                .bind(contest)
                .bind(seq)
                .fetch_optional(&mut *from)
                .await?;
        if own != Some(sha) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Copies a table.
async fn rows_of(table: &TableOf, from: &mut Conn, into: &mut Conn) -> Result<u64, StoreError> {
    let read: Vec<String> = table
        .columns
        .iter()
        .map(|column| match column.kind {
            ColumnKind::Flag => format!("{} = TRUE", column.name),
            _ => column.name.clone(),
        })
        .collect();
    let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    let places: Vec<String> = (1..=names.len()).map(|place| format!("${place}")).collect();
    // Names from our own schema, never a user's input.
    let select = format!("SELECT {} FROM {}", read.join(", "), table.name);
    let insert = format!("INSERT INTO {} ({}) VALUES ({})", table.name, names.join(", "), places.join(", "));
    let mut copied = 0;
    let mut rows = sqlx::query(AssertSqlSafe(select)).fetch(from);
    while let Some(row) = rows.try_next().await? {
        let mut values = AnyArguments::default();
        for (place, column) in table.columns.iter().enumerate() {
            let added = match column.kind {
                ColumnKind::Number => values.add(row.try_get::<Option<i64>, _>(place)?),
                ColumnKind::Flag => values.add(row.try_get::<Option<Flag>, _>(place)?.map(|flag| flag.0)),
                ColumnKind::Real => values.add(row.try_get::<Option<f64>, _>(place)?),
                ColumnKind::Text => values.add(row.try_get::<Option<String>, _>(place)?),
            };
            added.map_err(|error| StoreError::Damaged(error.to_string()))?;
        }
        sqlx::query_with(AssertSqlSafe(insert.clone()), values).execute(&mut *into).await?;
        copied += 1;
    }
    Ok(copied)
}
