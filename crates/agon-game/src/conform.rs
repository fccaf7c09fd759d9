//! The result of comparing an original's recorded matches with an engine.

use std::collections::BTreeMap;
use std::fmt::Debug;

/// Whether a file was a record of this game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recognised {
    /// It was compared (see the report).
    Record,
    /// It is a record that ends before its match does, compared up to its last whole line. Says where it ends.
    Cut(String),
    /// It is something else.
    Foreign,
    /// It is a record, but cannot be read to its end. Says why.
    Damaged(String),
}

/// How much was compared, and what differs.
#[derive(Clone, Debug, Default)]
pub struct ConformReport {
    /// By kind of thing compared: how many were compared, and how many differ.
    pub kinds: BTreeMap<&'static str, ComparisonTally>,
    /// The first differences, at most [`ConformReport::KEPT`].
    pub differences: Vec<Difference>,
}

/// Counts of things compared and of differences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ComparisonTally {
    /// How many were compared.
    pub compared: u64,
    /// How many of them differ.
    pub differ: u64,
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What kind of thing was compared.
    pub kind: &'static str,
    /// Where: record and turn.
    pub place: String,
    /// What the record says.
    pub expected: String,
    /// What the engine says.
    pub got: String,
}

impl ConformReport {
    /// How many differences are kept with their text.
    pub const KEPT: usize = 20;

    /// Compares one thing. `place` is only called when it differs.
    pub fn compare<T: PartialEq + Debug>(
        &mut self,
        kind: &'static str,
        expected: &T,
        got: &T,
        place: impl FnOnce() -> String,
    ) -> bool {
        let same = expected == got;
        self.count(kind, same, || (place(), format!("{expected:?}"), format!("{got:?}")));
        same
    }

    /// Counts one comparison; `tell` returns place, expected and got, and is only called when it differs.
    pub fn count(&mut self, kind: &'static str, same: bool, tell: impl FnOnce() -> (String, String, String)) {
        let tally = self.kinds.entry(kind).or_default();
        tally.compared += 1;
        if !same {
            tally.differ += 1;
            if self.differences.len() < Self::KEPT {
                let (place, expected, got) = tell();
                self.differences.push(Difference { kind, place, expected, got });
            }
        }
    }

    /// Adds another report to this one. `record` is put in front of the places of its differences.
    pub fn absorb(&mut self, other: ConformReport, record: &str) {
        for (kind, tally) in other.kinds {
            let own = self.kinds.entry(kind).or_default();
            own.compared += tally.compared;
            own.differ += tally.differ;
        }
        for mut difference in other.differences {
            if self.differences.len() < Self::KEPT {
                difference.place = format!("{record}, {}", difference.place);
                self.differences.push(difference);
            }
        }
    }

    /// The total number of differences.
    pub fn differ(&self) -> u64 {
        self.kinds.values().map(|tally| tally.differ).sum()
    }
}
