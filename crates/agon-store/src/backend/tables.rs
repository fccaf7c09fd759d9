//! The tables and their columns, as SQLite reports them: nothing is listed in the program, so a later schema cannot be missed.

use super::{Conn, Place, close, migrate};
use crate::StoreError;

/// A column, and how its values are read.
#[derive(Clone, Debug)]
pub struct Column {
    pub name: String,
    pub kind: ColumnKind,
    /// Whether it is part of the primary key.
    pub is_key: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    Number,
    Flag,
    Real,
    Text,
}

/// A table. They are in creation order: each refers only to rows of earlier ones.
#[derive(Clone, Debug)]
pub struct TableOf {
    pub name: String,
    pub columns: Vec<Column>,
}

/// The tables of a contest in this database, which is SQLite.
pub async fn tables(conn: &mut Conn) -> Result<Vec<TableOf>, StoreError> {
    let names: Vec<String> = sqlx::query_scalar(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' \
         AND name NOT IN ('schema_version', 'moved') ORDER BY rowid",
    )
    .fetch_all(&mut *conn)
    .await?;
    let mut tables = Vec::new();
    for name in names {
        let found: Vec<(String, String, i64)> =
            sqlx::query_as("SELECT name, type, pk FROM pragma_table_info($1) ORDER BY cid")
                .bind(&name)
                .fetch_all(&mut *conn)
                .await?;
        let column = |(name, kind, key): (String, String, i64)| Column {
            name,
            kind: match kind.as_str() {
                "BOOLEAN" => ColumnKind::Flag,
                "DOUBLE PRECISION" => ColumnKind::Real,
                "TEXT" => ColumnKind::Text,
                _ => ColumnKind::Number,
            },
            is_key: key > 0,
        };
        tables.push(TableOf { name, columns: found.into_iter().map(column).collect() });
    }
    Ok(tables)
}

/// The tables of any contest of this program.
pub async fn known() -> Result<Vec<TableOf>, StoreError> {
    let mut conn = Place::in_memory().connect().await?;
    migrate(&mut conn).await?;
    let tables = tables(&mut conn).await;
    close(conn).await;
    tables
}
