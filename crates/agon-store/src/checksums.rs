//! A checksum for each row, so that a bit that changed by itself is found, wherever it is.
//!
//! Whoever changes a row sets its checksum to null in the same statement (a test reads all statements). The writer renews those, many at a
//! time, when nobody waits, and before it ends: so rows that change ten times a second cost nothing more, and a row is without one for
//! moments only. A checksum is salted with the secret of the contest, and goes when its row changes, so nothing can be learnt from it about
//! what a row held.

use futures_util::TryStreamExt as _;
use sha2::{Digest as _, Sha256};
use sqlx::any::{AnyArguments, AnyRow};
use sqlx::{Arguments as _, AssertSqlSafe, Row as _};

use crate::StoreError;
use crate::backend::tables::{ColumnKind, TableOf, known};
use crate::backend::{Conn, Pool, many};

/// The column.
const CHECKSUM: &str = "checksum";
/// How many rows of a table are renewed at once.
const MOST: usize = 64;
/// Upper limit on the rows reported for one table.
const TOLD: usize = 20;

/// The tables whose rows have a checksum, and the statements that read them.
pub struct Checksums(Vec<Checked>);

struct Checked {
    table: TableOf,
    /// All columns but the checksum, which comes last.
    select: String,
}

impl Checksums {
    pub async fn new() -> Result<Self, StoreError> {
        let checked = |mut table: TableOf| {
            let all = table.columns.len();
            table.columns.retain(|column| column.name != CHECKSUM);
            (table.columns.len() < all).then(|| {
                let read = table.columns.iter().map(|column| match column.kind {
                    // What is stored, in both databases, and not whether it is true.
                    ColumnKind::Flag => format!("CAST(CAST({} AS INTEGER) AS BIGINT)", column.name),
                    _ => column.name.clone(),
                });
                let read: Vec<String> = read.collect();
                Checked {
                    select: format!("SELECT {}, {CHECKSUM} FROM {}", read.join(", "), table.name),
                    table,
                }
            })
        };
        Ok(Self(known().await?.into_iter().filter_map(checked).collect()))
    }

    /// Renews checksums of rows that have none, within a transaction. Returns whether there may be more of them.
    pub async fn renew(&self, conn: &mut Conn) -> Result<bool, StoreError> {
        let Some(salt) = salt(conn).await? else { return Ok(false) };
        let mut more = false;
        for Checked { table, select } in &self.0 {
            let select = format!("{select} WHERE {CHECKSUM} IS NULL LIMIT {MOST}");
            let rows = sqlx::query(AssertSqlSafe(select)).fetch_all(&mut *conn).await?;
            more |= rows.len() == MOST;
            let fresh: Vec<(AnyRow, i64)> = rows
                .into_iter()
                .map(|row| checksum(&salt, table, &row).map(|sum| (row, sum)))
                .collect::<Result<_, _>>()?;
            for rows in many::slices(&fresh) {
                write(conn, table, rows).await?;
            }
        }
        Ok(more)
    }

    /// Rows that are not what they were when their checksum was made, each as `TABLE KEY`.
    pub async fn broken(&self, pool: &Pool) -> Result<Vec<String>, StoreError> {
        let mut conn = pool.acquire().await?;
        let Some(salt) = salt(&mut conn).await? else { return Ok(Vec::new()) };
        let mut broken = Vec::new();
        for Checked { table, select } in &self.0 {
            let mut found = Vec::new();
            let select = format!("{select} WHERE {CHECKSUM} IS NOT NULL");
            let mut rows = sqlx::query(AssertSqlSafe(select)).fetch(&mut *conn);
            loop {
                let row = match rows.try_next().await {
                    Ok(Some(row)) => row,
                    Ok(None) => break,
                    Err(error) => match StoreError::from(error) {
                        away @ StoreError::Away(_) => return Err(away),
                        error => {
                            found.push(format!("{}: {error}", table.name));
                            break;
                        }
                    },
                };
                let kept = row.try_get::<i64, _>(table.columns.len());
                let is_whole =
                    checksum(&salt, table, &row).is_ok_and(|sum| kept.is_ok_and(|kept| kept == sum));
                if !is_whole {
                    found.push(format!("{} {}", table.name, key(table, &row)));
                }
                if found.len() == TOLD {
                    break;
                }
            }
            drop(rows);
            broken.extend(found);
        }
        Ok(broken)
    }
}

async fn salt(conn: &mut Conn) -> Result<Option<String>, StoreError> {
    Ok(sqlx::query_scalar("SELECT secret FROM contests ORDER BY id LIMIT 1").fetch_optional(conn).await?)
}

/// The checksum of a row that has all columns of its table.
fn checksum(salt: &str, table: &TableOf, row: &AnyRow) -> Result<i64, StoreError> {
    let mut sum = Sha256::new();
    let mut feed = |bytes: Option<&[u8]>| match bytes {
        None => sum.update([0]),
        Some(bytes) => {
            sum.update([1]);
            sum.update((bytes.len() as u64).to_be_bytes());
            sum.update(bytes);
        }
    };
    feed(Some(salt.as_bytes()));
    feed(Some(table.name.as_bytes()));
    for (place, column) in table.columns.iter().enumerate() {
        match column.kind {
            ColumnKind::Number | ColumnKind::Flag => {
                let value: Option<i64> = row.try_get(place)?;
                feed(value.map(i64::to_be_bytes).as_ref().map(<[u8; 8]>::as_slice));
            }
            ColumnKind::Real => {
                let value: Option<f64> = row.try_get(place)?;
                feed(value.map(|value| value.to_bits().to_be_bytes()).as_ref().map(<[u8; 8]>::as_slice));
            }
            ColumnKind::Text => {
                let value: Option<String> = row.try_get(place)?;
                feed(value.as_deref().map(str::as_bytes));
            }
        }
    }
    let digest: [u8; 32] = sum.finalize().into();
    let (first, _) = digest.split_first_chunk().expect("eight of thirty-two bytes");
    Ok(i64::from_be_bytes(*first))
}

/// The key of a row, for people.
fn key(table: &TableOf, row: &AnyRow) -> String {
    let parts = table.columns.iter().enumerate().filter(|(_, column)| column.is_key);
    let part = |(place, _)| {
        let number = row.try_get::<i64, _>(place).map(|number| number.to_string());
        number.or_else(|_| row.try_get::<String, _>(place)).unwrap_or_else(|_| "?".to_owned())
    };
    parts.map(part).collect::<Vec<_>>().join(" ")
}

async fn write(conn: &mut Conn, table: &TableOf, rows: &[(AnyRow, i64)]) -> Result<(), StoreError> {
    let keys: Vec<_> = table.columns.iter().enumerate().filter(|(_, column)| column.is_key).collect();
    let is_same: Vec<String> = (keys.iter().enumerate())
        .map(|(at, (_, column))| format!("{}.{} = fresh.column{}", table.name, column.name, at + 2))
        .collect();
    let values = format!("(@{})", ", @".repeat(keys.len()));
    let update = format!(
        "UPDATE {} SET {CHECKSUM} = fresh.column1 FROM (VALUES {}) AS fresh WHERE {}",
        table.name,
        many::rows(rows.len(), &values, 1),
        is_same.join(" AND ")
    );
    let mut bound = AnyArguments::default();
    let wrong = |error: sqlx::error::BoxDynError| StoreError::Damaged(error.to_string());
    for (row, sum) in rows {
        bound.add(*sum).map_err(wrong)?;
        for (place, column) in &keys {
            match column.kind {
                ColumnKind::Text => bound.add(row.try_get::<String, _>(*place)?).map_err(wrong)?,
                _ => bound.add(row.try_get::<i64, _>(*place)?).map_err(wrong)?,
            }
        }
    }
    let written = sqlx::query_with(AssertSqlSafe(update), bound).execute(conn).await?.rows_affected();
    match written == rows.len() as u64 {
        true => Ok(()),
        // In a damaged file: it would be tried for ever.
        false => Err(StoreError::Damaged(format!("rows of {} are not found by their keys", table.name))),
    }
}
