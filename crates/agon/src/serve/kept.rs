//! A contest in one file: as a backup, and for others to check.

use std::fs::File;
use std::io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};

use agon_bot::advised::NextCommand;
use agon_bot::rights;
use agon_contest::ContestFile;
use agon_server::ServerError;
use agon_server::backup::{self, Kept};
use agon_server::export::{self, ArchiveReport};
use agon_server::status;
use agon_store::{Objects, StoreError};
use clap::Args;

use crate::common::bar::Bar;
use crate::common::screen::{self, harmless};
use crate::common::table::{Cell, Table};
use crate::common::{self, Done, Failure};
use crate::serve::founding::FILE;
use crate::serve::look::{rated_cells, rated_table, sound};
use crate::serve::{going, json, now, runtime};

/// Examples for the help.
pub const EXAMPLES: &str = "FILE is what `agon serve export` wrote: the log of all results, their replays, and the table. Nothing in it is taken on trust: the
chain of the log is followed, every match is computed again from its replay, the seeds from the secret once that is
published, and the table from the log, to the last digit.
Exit code 0: everything is correct; 1: something is not; 2: FILE is not an exported contest.

Examples:
  agon verify autumn.agon
  agon verify autumn.agon --no-replays     the chain, the seeds and the table alone: a moment
  agon verify autumn.agon --json";

/// Options of `agon verify`.
#[derive(Args, Debug)]
pub struct VerifyOptions {
    /// The file that `agon serve export` wrote
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Recomputes no match: trusts what the replays say
    #[arg(long)]
    no_replays: bool,
    /// Prints the result as JSON
    #[arg(long)]
    json: bool,
}

/// Runs `agon verify`.
pub fn verify(options: &VerifyOptions) -> Done {
    let bar = Bar::new(true);
    let seen = |done, of| follow(&bar, done, of, "results computed again");
    let found = export::verify(&options.file, !options.no_replays, seen);
    drop(bar);
    let report = match found {
        Err(ServerError::Wrong(why)) if !is_archive(&options.file) => {
            return Err(Failure::usage(format!("{why}; one match is checked by `agon replay verify`")));
        }
        found => found?,
    };
    let mut out = io::stdout().lock();
    if options.json {
        common::print_json(&mut out, &json::Verified::new(&report))?;
    } else {
        told(&mut out, &report)?;
    }
    sound(&report.wrong)
}

/// Whether a file begins like an archive.
fn is_archive(file: &Path) -> bool {
    let mut start = [0; 2];
    File::open(file).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == *b"PK"
}

fn told(out: &mut impl io::Write, report: &ArchiveReport) -> Done {
    let screen = screen::output();
    writeln!(out, "{} · {} rows in the log", harmless(&report.name), report.rows)?;
    if !report.table.places.is_empty() {
        writeln!(out, "\n{}", places(report).text(screen::room()))?;
    }
    if report.wrong.is_empty() {
        let matches = match report.recomputed {
            0 => "no match was computed again".to_owned(),
            _ => format!("every one of {} matches agrees with its replay", report.recomputed),
        };
        let seeds = match report.seeds {
            Some(count) => format!("{count} seeds follow from the published secret"),
            None => "the secret of the seeds is not published yet".to_owned(),
        };
        writeln!(out, "\n{} the log's chain is intact up to {}", screen.good("Verified:"), report.sha)?;
        writeln!(out, "{matches}; {seeds}; the table follows from the log")?;
        if report.withheld > 0 {
            writeln!(
                out,
                "rows withheld, of matches that only the teams in them may see, and so taken on trust: {}",
                report.withheld
            )?;
        }
        return Ok(());
    }
    writeln!(out, "\n{}", screen.bad("Wrong:"))?;
    for line in &report.wrong {
        writeln!(out, "  {}", harmless(line))?;
    }
    Ok(())
}

fn places(report: &ArchiveReport) -> Table {
    let mut table = rated_table();
    for (number, place) in report.table.places.iter().enumerate() {
        let played = report.versions.iter().find(|played| played.version == place.version);
        let team = played.map_or_else(String::new, |played| {
            format!("{}{}", harmless(&played.team), if played.boss { " (boss)" } else { "" })
        });
        let version = played.map_or_else(String::new, |played| format!("v{}", played.n));
        let before = [(number + 1).to_string(), team, version];
        table.row(before.into_iter().chain(rated_cells(place)).map(Cell::from).collect());
    }
    table
}

/// Shows how much of something is done.
fn follow(bar: &Bar, done: i64, of: i64, what: &str) {
    let (done, of) = (done.unsigned_abs(), of.unsigned_abs());
    bar.show(done, Some(of), format!("{done} of {of} {what}{}", bar.left(done, of)));
}

/// Exports the contest in a folder into one file that anybody can check.
pub fn export(dir: &Path, file: &Path, reveal: bool, as_json: bool) -> Done {
    let bar = Bar::new(true);
    let seen = |done, of| follow(&bar, done, of, "replays are in it");
    let report = runtime()?.block_on(export::export(dir, file, reveal, seen));
    drop(bar);
    let report = report?;
    // It is made to be given away.
    rights::share(&File::open(file)?, 0o666)?;
    let mut out = io::stdout().lock();
    if as_json {
        let told = json::Exported { file, rows: report.rows, bytes: bytes(file), revealed: reveal };
        return common::print_json(&mut out, &told);
    }
    writeln!(out, "{}: {} rows in the log, {}", file.display(), report.rows, size(file))?;
    if !reveal {
        writeln!(
            out,
            "the secret of the seeds is not in it; when the contest is over, --reveal publishes it"
        )?;
    }
    Ok(writeln!(out, "anybody can check it: {}", NextCommand::Verify.at(file))?)
}

/// Copies the contest in a folder, even while it runs.
pub fn backup(dir: &Path, file: &Path, as_json: bool) -> Done {
    let beside = beside(dir)?;
    let kept = runtime()?.block_on(backup::backup(dir, &beside, file))?;
    let mut out = io::stdout().lock();
    if as_json {
        let told = json::BackedUp { file, objects: kept.objects, holds: kept.bytes, bytes: bytes(file) };
        return common::print_json(&mut out, &told);
    }
    writeln!(out, "{}: {}, {}", file.display(), holds(&kept), size(file))?;
    Ok(writeln!(
        out,
        "it holds passwords (hashed), secrets and everybody's programs: keep it where nobody else can read it"
    )?)
}

/// The files that a contest's contest.toml names, itself included, as paths relative to the folder.
fn beside(dir: &Path) -> Result<Vec<PathBuf>, Failure> {
    let path = dir.join(FILE);
    if !path.is_file() {
        // `backup` reports what is missing.
        return Ok(Vec::new());
    }
    let file = ContestFile::read(&path).map_err(Failure::Usage)?;
    let named = file.rules.iter().chain(&file.maps).map(PathBuf::from).filter(|named| named.is_file());
    let mut found: Vec<PathBuf> =
        named.filter_map(|named| named.strip_prefix(dir).ok().map(Path::to_owned)).collect();
    found.push(FILE.into());
    found.sort();
    found.dedup();
    Ok(found)
}

/// Restores a contest's folder from a backup.
pub fn restore(file: &Path, dir: &Path, as_json: bool) -> Done {
    let (kept, found) = runtime()?.block_on(backup::restore(file, dir))?;
    let mut out = io::stdout().lock();
    if as_json {
        common::print_json(&mut out, &json::Restored { dir, objects: kept.objects, found: &found })?;
        return sound(&found);
    }
    writeln!(out, "{}: {}", dir.display(), holds(&kept))?;
    if found.is_empty() {
        return Ok(writeln!(out, "no damage found; `{}` resumes it", NextCommand::ServeResume.at(dir))?);
    }
    for line in &found {
        writeln!(out, "{}", harmless(line))?;
    }
    Err(Failure::Check)
}

fn holds(kept: &Kept) -> String {
    format!("the database and {} bots, replays and logs, {:.1} MB", kept.objects, kept.bytes as f64 / 1e6)
}

fn size(file: &Path) -> String {
    format!("{:.1} MB packed", bytes(file) as f64 / 1e6)
}

fn bytes(file: &Path) -> u64 {
    file.metadata().map_or(0, |data| data.len())
}

/// Moves the database of a contest to a server, or back into its folder, and checks it there. `replaces`: an older copy there may go.
pub fn relocate(dir: &Path, url: Option<&str>, replaces: bool, as_json: bool) -> Done {
    let _held = going::hold_still(dir)?;
    // What the check afterwards needs is looked for before anything moves.
    Objects::open(dir).map_err(ServerError::from)?;
    let runtime = runtime()?;
    let moves = |replaces| runtime.block_on(agon_store::relocate(dir, url, replaces, now()));
    let rows = match moves(replaces) {
        Err(StoreError::Older(what)) => {
            may_replace(&what)?;
            moves(true)
        }
        moved => moved,
    };
    let rows = rows.map_err(ServerError::from)?;
    let (_, found) = runtime.block_on(status::fsck(dir, false))?;
    let mut out = io::stdout().lock();
    if as_json {
        return told_moved(&mut out, &json::Moved { rows: Some(rows), objects: None, found: &found });
    }
    match url {
        Some(_) => writeln!(
            out,
            "{rows} rows are on the server now; {}/{} says where. What was here is marked as moved, and is now {}.moved.",
            dir.display(),
            agon_store::DATABASE_AT,
            agon_store::DATABASE
        )?,
        None => writeln!(
            out,
            "{rows} rows are in {}/{} again. The server's copy is marked as moved: no agon plays it any more.",
            dir.display(),
            agon_store::DATABASE
        )?,
    }
    for line in &found {
        writeln!(out, "  {}", harmless(line))?;
    }
    sound(&found)
}

fn told_moved(out: &mut impl io::Write, moved: &json::Moved<'_>) -> Done {
    common::print_json(out, moved)?;
    sound(moved.found)
}

/// Asks whether what is at the target of a move may go.
fn may_replace(what: &str) -> Done {
    let refused = || Failure::usage(format!("{what}; --yes replaces it with the contest as it is now"));
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(refused());
    }
    eprint!("The database named: {what}.\nReplace it with the contest as it is now? [y/N] ");
    let mut answer = String::new();
    io::stdin().lock().take(100).read_line(&mut answer)?;
    if answer.trim().eq_ignore_ascii_case("y") { Ok(()) } else { Err(refused()) }
}

/// Moves bots, replays and logs of a contest to another place, and checks each of them there.
pub fn relocate_objects(dir: &Path, place: &str, as_json: bool) -> Done {
    let _held = going::hold_still(dir)?;
    let runtime = runtime()?;
    let copied =
        runtime.block_on(agon_store::relocate_objects(dir, place, now())).map_err(ServerError::from)?;
    let (_, found) = runtime.block_on(status::fsck(dir, false))?;
    let mut out = io::stdout().lock();
    if as_json {
        return told_moved(&mut out, &json::Moved { rows: None, objects: Some(copied), found: &found });
    }
    writeln!(out, "{copied} bots, replays and logs are in {} now.", harmless(place))?;
    for line in &found {
        writeln!(out, "  {}", harmless(line))?;
    }
    if !found.is_empty() {
        writeln!(out, "The old copies are still where they were: keep them until this is mended.")?;
        return Err(Failure::Check);
    }
    // Nobody plays it, what is there was compared, and whoever still names the old place is refused.
    Ok(writeln!(
        out,
        "Every one that the database names was found there. The old place is marked as left, so the old copies can be deleted. \
         Folders of other servers name the new place in their {}.",
        agon_store::OBJECTS_AT
    )?)
}
