//! Recorded matches of the originals, compared with our engines.

use std::collections::BTreeMap;
use std::path::PathBuf;

use agon_contest::parallel::on_all_cpus;
use agon_game::AnyGame;
use agon_game::conform::{ComparisonTally, ConformReport, Recognised};
use agon_replay::record;
use serde::Serialize;

use crate::DeskError;

/// What `agon conform --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS))]
#[expect(missing_docs, reason = "the other field is named after what it is")]
pub struct Conformance {
    pub game: &'static str,
    /// How many recorded matches were compared.
    pub records: usize,
    /// Records that break off, compared up to their last whole line: file and place.
    pub cut: Vec<String>,
    /// How many files are not records of this game.
    pub foreign: usize,
    /// Records that cannot be read: file and why.
    pub damaged: Vec<String>,
    /// How many values were compared, by kind.
    pub kinds: BTreeMap<&'static str, ComparedValues>,
    /// How many values differ in total.
    pub differ: u64,
    pub first_difference: Option<RecordDifference>,
    /// Whether there were records, none was damaged, and nothing differs.
    pub good: bool,
}

/// How many values of a kind were compared.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS), ts(rename = "Compared"))]
#[expect(missing_docs, reason = "the fields are named after what they are")]
pub struct ComparedValues {
    pub compared: u64,
    pub differ: u64,
}

/// A value that differs from the original's record.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "described", derive(ts_rs::TS), ts(rename = "Difference"))]
#[expect(missing_docs, reason = "the other fields are named after what they are")]
pub struct RecordDifference {
    pub kind: &'static str,
    /// File and turn.
    pub place: String,
    pub expected: String,
    pub got: String,
}

impl From<&agon_game::conform::Difference> for RecordDifference {
    fn from(one: &agon_game::conform::Difference) -> Self {
        Self {
            kind: one.kind,
            place: one.place.clone(),
            expected: one.expected.clone(),
            got: one.got.clone(),
        }
    }
}

/// The files at these paths, and those in the folders among them.
///
/// # Errors
/// When there is no such file or folder, or it cannot be read.
pub fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, DeskError> {
    let mut files: Vec<PathBuf> = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(
                record::files(path)
                    .map_err(|error| DeskError::Own(format!("{}: {error}", path.display())))?,
            );
        } else if path.exists() {
            files.push(path.clone());
        } else {
            return Err(DeskError::Impossible(format!("{}: no such file or folder", path.display())));
        }
    }
    Ok(files)
}

impl Conformance {
    /// Compares the records among these files with the engine of a game, several at once; `compared` is called after each.
    pub fn of(game: &dyn AnyGame, files: &[PathBuf], compared: &(dyn Fn() + Sync)) -> Self {
        let found = on_all_cpus(files.iter().collect(), |file: &PathBuf| {
            let mut own = ConformReport::default();
            let found = match record::read(file) {
                Ok(bytes) => game.conform(&bytes, &mut own),
                Err(error) => Recognised::Damaged(error.to_string()),
            };
            compared();
            let mut report = ConformReport::default();
            report.absorb(own, &file.file_name().unwrap_or_default().to_string_lossy());
            (report, found)
        });
        let mut report = ConformReport::default();
        let (mut records, mut foreign, mut damaged, mut cut) = (0, 0, Vec::new(), Vec::new());
        for (file, (own, found)) in files.iter().zip(found) {
            match found {
                Recognised::Record => records += 1,
                Recognised::Cut(place) => {
                    records += 1;
                    cut.push(format!("{}: {place}", file.display()));
                }
                Recognised::Foreign => foreign += 1,
                Recognised::Damaged(why) => damaged.push(format!("{}: {why}", file.display())),
            }
            for kind in own.kinds {
                let tally = report.kinds.entry(kind.0).or_default();
                tally.compared += kind.1.compared;
                tally.differ += kind.1.differ;
            }
            report.differences.extend(own.differences);
        }
        let compared =
            |tally: &ComparisonTally| ComparedValues { compared: tally.compared, differ: tally.differ };
        Self {
            game: game.info().name,
            records,
            good: records > 0 && report.differ() == 0 && damaged.is_empty(),
            cut,
            foreign,
            damaged,
            kinds: report.kinds.iter().map(|(kind, tally)| (*kind, compared(tally))).collect(),
            differ: report.differ(),
            first_difference: report.differences.first().map(RecordDifference::from),
        }
    }
}
