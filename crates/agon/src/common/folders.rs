//! Where matches and series are kept unless told otherwise.

/// The folder of replays.
pub const REPLAYS: &str = "agon-replays";
/// The folder of series.
pub const SERIES: &str = "agon-series";
/// The journal in the folder of a series.
pub const JOURNAL: &str = "journal.jsonl";
