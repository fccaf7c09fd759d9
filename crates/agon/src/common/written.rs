//! The settings of a `contest.toml`, as options of the command line.

use agon_contest::ContestFile;
use clap::ValueEnum as _;

use crate::common::{self, ClockKind, ClockOptions, Failure, PonderKind};

/// The clock.
///
/// # Errors
/// A message that points into the file.
pub fn clock(file: &ContestFile) -> Result<ClockOptions, Failure> {
    let wrong = |key: &str, why: &str| Failure::usage(file.wrong(key, why));
    let unknown = |key: &str, known: &str| wrong(key, &format!("write one of {known}"));
    let clock = match &file.clock {
        None => ClockKind::default(),
        Some(text) => {
            ClockKind::from_str(text, false).map_err(|_| unknown("clock", "original, site-2026"))?
        }
    };
    let ponder = match &file.ponder {
        None => PonderKind::default(),
        Some(text) => PonderKind::from_str(text, false).map_err(|_| unknown("ponder", "stop, allow"))?,
    };
    let time = |key, text: Option<&str>| {
        text.map(common::time).transpose().map_err(|why| wrong(key, &why.to_string()))
    };
    let time_limit = time("time_limit", file.time_limit.as_deref())?;
    let time_total = time("time_total", file.time_total.as_deref())?;
    Ok(ClockOptions {
        no_timeouts: false,
        time_scale: file.time_scale,
        time_limit,
        time_total,
        clock,
        ponder,
    })
}
