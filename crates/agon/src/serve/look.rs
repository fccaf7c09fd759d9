//! The state of a contest, and checks of its integrity.

use std::io::{self, Write as _};
use std::path::Path;

use agon_api::{COLUMNS, Figure, LadderRow, VersionRating};
use agon_bot::advised::NextCommand;
use agon_server::status::{self, ContestStatus};
use agon_store::{ContestRow, VersionState};

use crate::common::screen::{self, Screen, harmless};
use crate::common::table::{Cell, Table};
use crate::common::{self, Done, Failure};
use crate::serve::{clocks, json, now, runtime};

/// Shows the state of the contest in a folder.
pub fn status(dir: &Path, as_json: bool) -> Done {
    let status = runtime()?.block_on(status::status(dir))?;
    let mut out = io::stdout().lock();
    if as_json {
        return common::print_json(&mut out, &json::Contest::new(&status));
    }
    let screen = screen::output();
    summary(&mut out, dir, &status)?;
    if status.board.is_empty() {
        writeln!(out, "\nNobody is on the ladder: submit bots with `{}`.", NextCommand::ServeAdd.at(dir))?;
    } else {
        writeln!(out, "\n{}", board(&status.board).text(screen::room()))?;
    }
    versions(&mut out, screen, &status)?;
    alarms(&mut out, screen, &status)
}

/// Reports what is not in order.
pub fn fsck(dir: &Path, replays: bool, as_json: bool) -> Done {
    let (contest, found) = runtime()?.block_on(status::fsck(dir, replays))?;
    let mut out = io::stdout().lock();
    if as_json {
        common::print_json(&mut out, &json::FoundDamage { name: contest.title(), replays, found: &found })?;
        return sound(&found);
    }
    if found.is_empty() {
        let more = if replays { ", and every match agrees with its replay" } else { "" };
        writeln!(out, "{}: no damage found{more}.", harmless(contest.title()))?;
        return Ok(());
    }
    for line in &found {
        writeln!(out, "{}", harmless(line))?;
    }
    writeln!(
        out,
        "\n{}. Stop the contest, keep a copy of the folder as it is, and report this: agon never leaves such a state.",
        agon_contest::journal::count(found.len(), "finding", "findings")
    )?;
    Err(Failure::Check)
}

/// Whether a check has found nothing.
pub fn sound(found: &[String]) -> Done {
    if found.is_empty() { Ok(()) } else { Err(Failure::Check) }
}

fn summary(out: &mut impl io::Write, dir: &Path, status: &ContestStatus) -> io::Result<()> {
    let (contest, counts) = (&status.contest, &status.counts);
    let paused = match contest {
        ContestRow { paused: true, .. } => {
            format!(" · paused: `{}` continues it", NextCommand::ServeContinue.at(dir))
        }
        ContestRow { draining: true, .. } => {
            " · comes to rest: the planned matches are played, and then it is paused".to_owned()
        }
        _ => String::new(),
    };
    writeln!(out, "{} · {}{paused}", harmless(contest.title()), contest.game)?;
    clocks::tell(out, dir, &status.clocks)?;
    let mut parts = vec![
        agon_contest::journal::count(usize::try_from(counts.sealed).unwrap_or(0), "row", "rows")
            + " in the log",
    ];
    let mut add = |count: i64, one: &str, more: &str| match count {
        ..=0 => {}
        1 => parts.push(format!("1 {one}")),
        _ => parts.push(format!("{count} {more}")),
    };
    add(counts.planned, "match waiting", "matches waiting");
    add(counts.leased, "in progress", "in progress");
    add(counts.posted, "waiting to be recomputed", "waiting to be recomputed");
    add(counts.wasted, "attempt failed and was repeated", "attempts failed and were repeated");
    add(counts.dead - counts.unfit, "match was abandoned", "matches were abandoned");
    if let Some(oldest) = counts.oldest {
        let seconds = (now().0 - oldest.0).max(0) / 1000;
        parts.push(format!("oldest job {seconds} s"));
    }
    writeln!(out, "{}", parts.join(" · "))?;
    writeln!(out, "seeds come from a secret with the SHA-256 {}", contest.secret_sha)
}

fn board(lines: &[LadderRow]) -> Table {
    let mut table = rated_table();
    for line in lines {
        let boss = if line.boss { " (boss)" } else { "" };
        let placing = match line.placing {
            Some(n) if n == line.n => " (being placed)".to_owned(),
            Some(n) => format!(" (v{n} is being placed)"),
            None => String::new(),
        };
        let rank = line.rank.map_or_else(String::new, |rank| rank.to_string());
        let name = format!("{}{boss}{placing}", harmless(&line.name));
        let rated = rated_cells(&line.rating);
        table.row([rank, name, format!("v{}", line.n)].into_iter().chain(rated).map(Cell::from).collect());
    }
    table
}

/// A table of versions with their ratings: place, team and version come before the [cells](rated_cells) of each.
pub fn rated_table() -> Table {
    let table = Table::new().numbers("", 0).names("team").numbers("version", 1);
    let table = table.numbers("Elo", 0).numbers("95 %", 2);
    COLUMNS.iter().fold(table, |table, column| table.numbers(column.title.to_lowercase(), 1))
}

/// The cells of a rating.
pub fn rated_cells(rating: &VersionRating) -> Vec<String> {
    let end = |value: Option<f64>| value.map_or_else(|| "…".to_owned(), |value| format!("{value:+.0}"));
    let mut cells = match (rating.elo, rating.low, rating.high) {
        _ if rating.group == 0 => vec![String::new(); 2],
        (elo, low, high) => vec![
            match (elo, low, high) {
                (Some(elo), _, _) => format!("{elo:+.0}"),
                (None, Some(low), None) => format!("above {low:+.0}"),
                (None, None, Some(high)) => format!("below {high:+.0}"),
                _ => "?".to_owned(),
            },
            format!("{} to {}", end(low), end(high)),
        ],
    };
    cells.extend(COLUMNS.iter().map(|column| match (column.figure)(rating) {
        Figure::Count(number) => number.to_string(),
        Figure::Share(share) => share.map_or_else(String::new, |share| format!("{:.0} %", share * 100.0)),
    }));
    cells
}

/// Versions that are not live yet, and those that failed, newest of each team.
fn versions(out: &mut impl io::Write, screen: Screen, status: &ContestStatus) -> io::Result<()> {
    for version in &status.versions {
        let newest = status
            .versions
            .iter()
            .filter(|other| other.entrant == version.entrant)
            .map(|other| other.n)
            .max();
        if newest != Some(version.n) {
            continue;
        }
        let name = format!("{} v{}", harmless(&version.entrant), version.n);
        match version.state {
            VersionState::Received => writeln!(out, "\n{name} waits for its check match")?,
            VersionState::Building => writeln!(out, "\n{name} is being unpacked and built")?,
            VersionState::Checking => writeln!(out, "\n{name} plays its check match")?,
            VersionState::Trial => writeln!(out, "\n{name} plays against the version before it")?,
            VersionState::Failed => {
                writeln!(out, "\n{} {name}", screen.bad("failed:"))?;
                for line in version.reason.as_deref().unwrap_or("").lines() {
                    writeln!(out, "  {}", harmless(line))?;
                }
            }
            VersionState::Live | VersionState::Former | VersionState::Draft => {}
        }
    }
    Ok(())
}

fn alarms(out: &mut impl io::Write, screen: Screen, status: &ContestStatus) -> Done {
    for event in &status.events {
        let verb = match &*event.verb {
            "alarm" => "alarm",
            "bury" => "abandoned",
            _ => continue,
        };
        let (verb, object) = (screen.bad(verb), harmless(&event.object));
        writeln!(out, "\n{verb}: {object}: {}", harmless(&event.detail))?;
    }
    Ok(())
}
