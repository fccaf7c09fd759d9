//! `agon conform`: compares recorded matches of the originals with our engines.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use agon_contest::parallel::on_all_cpus;
use agon_game::conform::{Recognised, Report, Tally};
use agon_replay::record;
use clap::Args;

use crate::common::bar::Bar;
use crate::common::screen::{self, harmless};
use crate::common::{self, Done, Failure};
use crate::workshop::json;

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
    let mut files: Vec<PathBuf> = Vec::new();
    for path in &options.paths {
        if path.is_dir() {
            files.extend(
                record::files(path).map_err(|error| Failure::own(format!("{}: {error}", path.display())))?,
            );
        } else if path.exists() {
            files.push(path.clone());
        } else {
            return Err(Failure::usage(format!("{}: no such file or folder", path.display())));
        }
    }
    let (bar, read, all) = (Bar::new(true), AtomicU64::new(0), files.len() as u64);
    let compared = on_all_cpus(files.iter().collect(), |file: &PathBuf| {
        let mut own = Report::default();
        let found = match record::read(file) {
            Ok(bytes) => game.conform(&bytes, &mut own),
            Err(error) => Recognised::Damaged(error.to_string()),
        };
        let done = read.fetch_add(1, Ordering::Relaxed) + 1;
        bar.show(done, Some(all), format!("{done} of {all} files"));
        let mut report = Report::default();
        report.absorb(own, &file.file_name().unwrap_or_default().to_string_lossy());
        (report, found)
    });
    drop(bar);
    let mut report = Report::default();
    let (mut records, mut foreign, mut damaged, mut cut) = (0, 0, Vec::new(), Vec::new());
    for (file, (own, found)) in files.iter().zip(compared) {
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
    report.differences.truncate(Report::KEPT);
    let good = records > 0 && report.differ() == 0 && damaged.is_empty();
    let mut out = io::stdout().lock();
    if options.json {
        let compared = |tally: &Tally| json::Compared { compared: tally.compared, differ: tally.differ };
        let text = json::Conformance {
            game: game.info().name,
            records,
            cut,
            foreign,
            damaged,
            kinds: report.kinds.iter().map(|(kind, tally)| (*kind, compared(tally))).collect(),
            differ: report.differ(),
            first_difference: report.differences.first().map(json::Difference::from),
            good,
        };
        common::print_json(&mut out, &text)?;
        return if good { Ok(()) } else { Err(Failure::Check) };
    }
    let screen = screen::output();
    for (kind, tally) in &report.kinds {
        let differ = format!("{} differ", tally.differ);
        let differ = if tally.differ == 0 { screen.good(&differ) } else { screen.bad(&differ) };
        writeln!(out, "{kind:<28} {:>10} compared  {differ}", tally.compared)?;
    }
    if let Some(first) = report.differences.first() {
        writeln!(out, "\n{} {}, {}", screen.bad("first difference:"), first.kind, harmless(&first.place))?;
        writeln!(out, "  expected  {}\n  got       {}", harmless(&first.expected), harmless(&first.got))?;
    }
    damaged
        .iter()
        .try_for_each(|why| writeln!(out, "{} {}", screen.bad("damaged record:"), harmless(why)))?;
    for place in &cut {
        writeln!(
            out,
            "{} {}; compared up to its last whole line",
            screen.dim("cut record:"),
            harmless(place)
        )?;
    }
    if foreign > 0 {
        writeln!(
            out,
            "{}",
            screen.dim(&format!("{foreign} files are not a record of {}", game.info().title))
        )?;
    }
    if records == 0 {
        writeln!(out, "{} no record of {} was found", screen.bad("nothing compared:"), game.info().title)?;
    } else {
        let some_cut = if cut.is_empty() { String::new() } else { format!(" ({} of them cut)", cut.len()) };
        let verdict = format!("{records} records{some_cut}, {} differences", report.differ());
        writeln!(out, "{}", if good { screen.good(&verdict) } else { screen.bad(&verdict) })?;
    }
    if good { Ok(()) } else { Err(Failure::Check) }
}
