//! Rows of the log as the ladder takes them.

use agon_ladder::{Ladder, Row};
use agon_store::{Sealed, StoreError};

/// Takes a row of the log into the ladder, where it counts.
pub fn feed(ladder: &mut Ladder, body: &str) -> Result<(), StoreError> {
    let row: Sealed = serde_json::from_str(body).map_err(|error| StoreError::Damaged(error.to_string()))?;
    feed_row(ladder, row);
    Ok(())
}

/// The same of a row that was read.
pub fn feed_row(ladder: &mut Ladder, row: Sealed) {
    if row.kind.is_rated() {
        ladder.feed(Row {
            block: row.block,
            rotation: row.rotation,
            versions: row.seats.into_iter().map(crate::number).collect(),
            ranks: row.outcome.ranks,
            start: row.outcome.start,
            answers: row.outcome.answers,
        });
    }
}
