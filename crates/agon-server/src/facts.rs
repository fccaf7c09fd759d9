//! The facts of the log, as far as it has been read.

use std::collections::{BTreeMap, BTreeSet};

use agon_ladder::{LadderState, LeftOut, Row, Table};
use agon_stats::TableKey;
use agon_store::reads::Ended;
use agon_store::{ContestStore, EntrantId, LogEntry, Ruled, Sealed, StoreError, VersionId, out};

use crate::read;

/// A ladder fed with the log, row by row.
pub(crate) struct Facts {
    pub ladder: LadderState,
    /// The last row fed to it.
    pub upto: i64,
    /// The last rated results of each version, newest first.
    pub last: BTreeMap<VersionId, Vec<Ended>>,
    rulings: Vec<Ruled>,
    /// Blocks whose results do not count.
    pub annulled: BTreeSet<i64>,
}

/// How many of a version's last results are kept.
const LAST: usize = 20;

/// How many rows are read at once.
pub(crate) const PAGE: i64 = 2_000;

/// A rated match as the ladder takes it.
pub(crate) fn row_of(row: &Sealed) -> Row {
    Row {
        block: row.block,
        rotation: row.rotation,
        versions: row.seats.iter().copied().map(crate::number).collect(),
        ranks: row.outcome.proven.ranks.clone(),
        start: row.outcome.proven.start.clone(),
        answers: row.outcome.proven.answers.clone(),
    }
}

impl Facts {
    /// Nothing read yet.
    pub fn new() -> Self {
        let (ladder, last) = (LadderState::new(), BTreeMap::new());
        Self { ladder, upto: 0, last, rulings: Vec::new(), annulled: BTreeSet::new() }
    }

    /// Reads on in the log, up to row `until`, or to its end if that is missing.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn read(&mut self, store: &ContestStore, until: i64) -> Result<(), StoreError> {
        while self.upto < until {
            let rows = store.log(self.upto, PAGE.min(until - self.upto)).await?;
            let Some(last) = rows.last().map(|row| row.seq) else { break };
            for row in &rows {
                self.add(&read(&row.body)?);
            }
            self.upto = last;
        }
        Ok(())
    }

    /// Adds the next row.
    pub fn add(&mut self, row: &LogEntry) {
        match row {
            LogEntry::Result(row) => self.count(row),
            LogEntry::Ruling(ruled) => self.rulings.push(ruled.clone()),
            LogEntry::Annulment(row) => self.annulled.extend(row.blocks.iter().copied()),
            // No table depends on them.
            LogEntry::Settings(_) => {}
        }
        self.upto += 1;
    }

    /// Adds a row that was sealed just now. If others come before it, such as rulings, it is left until all of them are read
    /// ([`read`](Self::read)): only the order of the log says which count.
    pub fn feed(&mut self, row: &Sealed) {
        if row.seq == self.upto + 1 {
            self.upto = row.seq;
            self.count(row);
        }
    }

    fn count(&mut self, row: &Sealed) {
        if row.kind.is_rated() {
            let firsts = row.outcome.proven.ranks.iter().filter(|rank| **rank == 1).count();
            for (version, rank) in row.seats.iter().zip(&row.outcome.proven.ranks) {
                let last = self.last.entry(*version).or_default();
                last.truncate(LAST - 1);
                last.insert(0, Ended::with(i64::from(*rank), firsts));
            }
            self.ladder.feed(row_of(row));
        }
    }

    /// Whether there are any rulings: only then do the owners of versions matter.
    pub fn is_ruled(&self) -> bool {
        !self.rulings.is_empty()
    }

    /// The versions that are out, given their owners.
    pub fn out(&self, owners: &BTreeMap<VersionId, EntrantId>) -> BTreeSet<VersionId> {
        let out = out(&self.rulings);
        let is_out = |version: VersionId, entrant: EntrantId| {
            out.contains(&(entrant, None)) || out.contains(&(entrant, Some(version)))
        };
        owners
            .iter()
            .filter(|(version, entrant)| is_out(**version, **entrant))
            .map(|(version, _)| *version)
            .collect()
    }

    /// Makes the ladder ignore versions that are out, and annulled blocks.
    pub fn leave_out(&mut self, out: &BTreeSet<VersionId>) {
        let versions = out.iter().copied().map(crate::number).collect();
        self.ladder.leave_out(LeftOut { versions, blocks: self.annulled.clone() });
    }

    /// The table without versions that are out. Its zero is the first of these [`bosses`].
    pub fn table(&mut self, key: &TableKey, out: &BTreeSet<VersionId>, bosses: &[i64]) -> Table {
        self.leave_out(out);
        self.ladder.table(key, bosses)
    }
}

/// The bosses of this game among versions, each with its name as `builtin:NAME`, in the order in which they carry the zero of the scale:
/// the last in the game's list first, which is the strongest and the same every year.
pub fn bosses<'a>(game: &str, versions: impl Iterator<Item = (VersionId, Option<&'a str>)>) -> Vec<i64> {
    let known = agon_worker::builtins(game);
    let place = |builtin: &str| {
        let name = builtin.strip_prefix("builtin:")?.split('?').next()?;
        known.iter().position(|own| *own == name)
    };
    let mut bosses: Vec<(usize, i64)> =
        versions.filter_map(|(id, builtin)| Some((place(builtin?)?, crate::number(id)))).collect();
    bosses.sort_by_key(|&(place, id)| (std::cmp::Reverse(place), id));
    bosses.into_iter().map(|(_, id)| id).collect()
}
