//! `agon conform`: compares recorded matches of the originals with our engines.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use agon_desk::conformance::{Conformance, files};
use clap::Args;

use crate::common::bar::Bar;
use crate::common::screen::{self, harmless};
use crate::common::{self, Done, Failure};

/// Options of `agon conform`.
#[derive(Args, Debug)]
pub struct ConformOptions {
    /// The game
    pub game: String,
    /// Files and folders with records
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Prints the findings as JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs `agon conform`.
pub fn run(options: &ConformOptions) -> Done {
    let game = common::game(&options.game)?;
    let files = files(&options.paths)?;
    let (bar, read, all) = (Bar::new(true), AtomicU64::new(0), files.len() as u64);
    let found = Conformance::of(game, &files, &|| {
        let done = read.fetch_add(1, Ordering::Relaxed) + 1;
        bar.show(done, Some(all), format!("{done} of {all} files"));
    });
    drop(bar);
    let mut out = io::stdout().lock();
    let Conformance { records, cut, foreign, damaged, kinds, differ, first_difference, good, .. } = &found;
    let done = if *good { Ok(()) } else { Err(Failure::Check) };
    if options.json {
        common::print_json(&mut out, &found)?;
        return done;
    }
    let screen = screen::output();
    for (kind, tally) in kinds {
        let differ = format!("{} differ", tally.differ);
        let differ = if tally.differ == 0 { screen.good(&differ) } else { screen.bad(&differ) };
        writeln!(out, "{kind:<28} {:>10} compared  {differ}", tally.compared)?;
    }
    if let Some(first) = first_difference {
        writeln!(out, "\n{} {}, {}", screen.bad("first difference:"), first.kind, harmless(&first.place))?;
        writeln!(out, "  expected  {}\n  got       {}", harmless(&first.expected), harmless(&first.got))?;
    }
    damaged
        .iter()
        .try_for_each(|why| writeln!(out, "{} {}", screen.bad("damaged record:"), harmless(why)))?;
    for place in cut {
        writeln!(
            out,
            "{} {}; compared up to its last whole line",
            screen.dim("cut record:"),
            harmless(place)
        )?;
    }
    if *foreign > 0 {
        writeln!(
            out,
            "{}",
            screen.dim(&format!("{foreign} files are not a record of {}", game.info().title))
        )?;
    }
    if *records == 0 {
        writeln!(out, "{} no record of {} was found", screen.bad("nothing compared:"), game.info().title)?;
    } else {
        let some_cut = if cut.is_empty() { String::new() } else { format!(" ({} of them cut)", cut.len()) };
        let verdict = format!("{records} records{some_cut}, {differ} differences");
        writeln!(out, "{}", if *good { screen.good(&verdict) } else { screen.bad(&verdict) })?;
    }
    done
}
