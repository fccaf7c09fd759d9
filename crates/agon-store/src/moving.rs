//! Copies a database and everything in it to another one: from a file to a server, and back.
//!
//! One of the two is SQLite, and the tables and columns are read from that one: nothing is listed here, so a later schema cannot be missed.

use futures_util::TryStreamExt as _;
use sqlx::any::AnyArguments;
use sqlx::{Arguments as _, AssertSqlSafe, Row as _};

use crate::StoreError;
use crate::backend::{self, Conn, Flag, Place};

/// A column, and how its values are read.
struct Column {
    name: String,
    kind: ColumnKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ColumnKind {
    Number,
    Flag,
    Real,
    Text,
}

/// A table. They are in creation order: each refers only to rows of earlier ones.
struct TableOf {
    name: String,
    columns: Vec<Column>,
}

/// Copies everything in `from` into `into`, which must be new. Returns the number of rows. The copy is of one moment, even while others
/// keep writing.
pub(crate) async fn copy(from: &Place, into: &Place) -> Result<u64, StoreError> {
    let (mut from, mut into) = (from.connect().await?, into.connect().await?);
    let copied = all(&mut from, &mut into).await;
    backend::close(from).await;
    backend::close(into).await;
    copied
}

async fn all(from: &mut Conn, into: &mut Conn) -> Result<u64, StoreError> {
    backend::migrate(from).await?;
    backend::migrate(into).await?;
    backend::look(from).await?;
    backend::begin(into).await?;
    let contests: i64 = sqlx::query_scalar("SELECT count(*) FROM contests").fetch_one(&mut *into).await?;
    if contests > 0 {
        backend::rollback(into).await?;
        return Err(StoreError::Database("it already holds a contest: name a new database".to_owned()));
    }
    let tables = match backend::is_server(from) {
        true => tables(into).await?,
        false => tables(from).await?,
    };
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
    backend::commit(into).await?;
    backend::commit(from).await?;
    Ok(rows)
}

/// The tables, as SQLite reports them.
async fn tables(conn: &mut Conn) -> Result<Vec<TableOf>, StoreError> {
    let names: Vec<String> = sqlx::query_scalar(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'schema_version' ORDER BY rowid",
    )
    .fetch_all(&mut *conn)
    .await?;
    let mut tables = Vec::new();
    for name in names {
        let found: Vec<(String, String)> =
            sqlx::query_as("SELECT name, type FROM pragma_table_info($1) ORDER BY cid")
                .bind(&name)
                .fetch_all(&mut *conn)
                .await?;
        let column = |(name, kind): (String, String)| Column {
            name,
            kind: match kind.as_str() {
                "BOOLEAN" => ColumnKind::Flag,
                "DOUBLE PRECISION" => ColumnKind::Real,
                "TEXT" => ColumnKind::Text,
                _ => ColumnKind::Number,
            },
        };
        tables.push(TableOf { name, columns: found.into_iter().map(column).collect() });
    }
    Ok(tables)
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
