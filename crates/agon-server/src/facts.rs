//! What follows from the log, as far as it was read.

use agon_ladder::{Ladder, Row};
use agon_store::{ContestId, Sealed, Store, StoreError};

/// A ladder that is fed the log, row by row.
pub struct Facts {
    /// The ladder.
    pub ladder: Ladder,
    /// The last row that it was fed.
    pub upto: i64,
}

/// So many rows are read at once.
const PAGE: i64 = 2_000;

impl Facts {
    /// Of nothing.
    pub fn new() -> Self {
        Self { ladder: Ladder::new(), upto: 0 }
    }

    /// Reads on in the log, to row `until` at most; where that is missing, to its end.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn read(&mut self, store: &Store, contest: ContestId, until: i64) -> Result<(), StoreError> {
        while self.upto < until {
            let rows = store.log(contest, self.upto, PAGE.min(until - self.upto)).await?;
            let Some(last) = rows.last().map(|row| row.seq) else { break };
            for row in &rows {
                let row = serde_json::from_str(&row.body)
                    .map_err(|error| StoreError::Damaged(error.to_string()))?;
                self.count(row);
            }
            self.upto = last;
        }
        Ok(())
    }

    /// A row that was sealed just now, where it is the next.
    pub fn feed(&mut self, row: Sealed) {
        if row.seq == self.upto + 1 {
            self.upto = row.seq;
            self.count(row);
        }
    }

    fn count(&mut self, row: Sealed) {
        if row.kind.is_rated() {
            self.ladder.feed(Row {
                block: row.block,
                rotation: row.rotation,
                versions: row.seats.into_iter().map(crate::number).collect(),
                ranks: row.outcome.ranks,
                start: row.outcome.start,
                answers: row.outcome.answers,
            });
        }
    }
}
