//! Marks, for whoever has to grade a class.

use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;

use agon_api::{Marks, TeamMarks};
use agon_server::marks::{self, PointScale};
use agon_store::names::likeness;
use clap::Args;

use crate::common::screen::{self, harmless};
use crate::common::table::{Cell, Table};
use crate::common::{self, Done, ErrorCode, Failure};
use crate::serve::look::rated_cells;
use crate::serve::runtime;

/// Options of `agon serve marks`.
#[derive(Args, Debug)]
pub struct MarksOptions {
    /// The contest's folder.
    dir: PathBuf,
    /// Prints a table for spreadsheets, as -o FILE writes it (agon docs contest)
    #[arg(long, conflicts_with_all = ["json", "gradescope"])]
    csv: bool,
    /// Prints it as JSON
    #[arg(long, conflicts_with = "gradescope")]
    json: bool,
    /// Prints this team's marks as the results.json of Gradescope
    #[arg(long, value_name = "TEAM", requires = "points")]
    gradescope: Option<String>,
    /// Leaves out the built-in bots: places are counted among the teams alone
    #[arg(long)]
    without_builtin: bool,
    /// Gives points to whoever has at least a share of the points against a built-in bot, such as
    /// greedy=60%:10,hunter=50%:20
    #[arg(long, value_name = "BOSS=PERCENT%:POINTS,...")]
    points: Option<String>,
    /// Writes it into a file, as CSV unless another form is named
    #[arg(long, short = 'o', value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Prints or writes the marks of the contest in a folder.
pub fn run(options: &MarksOptions) -> Done {
    let found = runtime()?.block_on(marks::of_folder(&options.dir, !options.without_builtin));
    let mut marks = found?;
    let wrong = |why: String| Failure::usage(format!("--points {}", harmless(&why)));
    let points = options.points.as_deref().map(|text| PointScale::parse(text, &marks.bosses)).transpose();
    let points = points.map_err(wrong)?;
    if let Some(points) = &points {
        points.mark(&mut marks);
    }
    let mut text = Vec::new();
    match (&options.gradescope, &points) {
        (Some(team), Some(points)) => common::print_json(&mut text, &points.gradescope(of(&marks, team)?))?,
        _ if options.json => common::print_json(&mut text, &marks)?,
        _ if options.csv || options.out.is_some() => text = marks::csv(&marks).into_bytes(),
        _ => writeln!(text, "{}", table(&marks).text(screen::room()))?,
    }
    let Some(file) = &options.out else { return Ok(io::stdout().write_all(&text)?) };
    let shown = file.display().to_string();
    fs::write(file, &text).map_err(|error| Failure::of_file(&shown, &error))?;
    let teams = agon_contest::journal::count(marks.teams.len(), "team", "teams");
    eprintln!("{}: the marks of {teams}, up to row {} of the log", harmless(&shown), marks.upto);
    Ok(())
}

/// The marks of the team that is called this.
fn of<'a>(marks: &'a Marks, team: &str) -> Result<&'a TeamMarks, Failure> {
    let like = likeness(team);
    let own = marks.teams.iter().find(|marks| !marks.row.boss && likeness(&marks.row.name) == like);
    own.ok_or_else(|| ErrorCode::NotFound.of(format!("--gradescope: there is no team `{}`", harmless(team))))
}

fn table(marks: &Marks) -> Table {
    let has_points = marks.max_score.is_some();
    let mut table = Table::new().numbers("place", 0).names("team").numbers("Elo", 0).numbers("95 %", 3);
    for (title, less_useful) in
        [("matches", 2), ("points", 2), ("won", 1), ("drawn", 1), ("lost", 1), ("faults", 1), ("versions", 2)]
    {
        table = table.numbers(title, less_useful);
    }
    table = marks.bosses.iter().fold(table, |table, boss| table.numbers(format!("against {boss}"), 1));
    if has_points {
        table = table.numbers("score", 0);
    }
    for team in &marks.teams {
        let place = match team.row.places {
            Some([first, last]) if first == last => first.to_string(),
            Some([first, last]) => format!("{first}–{last}"),
            None => team.standing.word().to_owned(),
        };
        let boss = if team.row.boss { " (boss)" } else { "" };
        let counts = [team.won, team.drawn, team.lost, team.faults.values().sum(), team.versions.into()];
        let against = |boss: &String| {
            let own = team.milestones.iter().find(|milestone| milestone.boss == *boss);
            own.and_then(|own| own.share).map_or_else(String::new, |share| format!("{:.0} %", share * 100.0))
        };
        let cells = [place, format!("{}{boss}", harmless(&team.row.name))].into_iter();
        let cells = cells.chain(rated_cells(&team.row.rating)).chain(counts.map(|count| count.to_string()));
        let score = team.score.map_or_else(String::new, |score| score.to_string());
        let cells = cells.chain(marks.bosses.iter().map(against)).chain(has_points.then_some(score));
        table.row(cells.map(Cell::from).collect());
    }
    table
}
