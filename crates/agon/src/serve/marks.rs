//! Marks, for whoever has to grade a class.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use agon_api::{Marks, TeamMarks};
use agon_server::marks::{self, PointScale};
use agon_store::names::likeness;
use clap::Args;

use crate::common::screen::harmless;
use crate::common::{self, Done, ErrorCode, Failure};
use crate::serve::runtime;

/// Options of `agon serve marks`.
#[derive(Args, Debug)]
pub struct MarksOptions {
    /// The contest's folder.
    dir: PathBuf,
    /// Prints a table for spreadsheets, which is the default (agon docs contest)
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
    /// Writes it into a file
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
    let graded = match (&options.gradescope, &points) {
        (Some(team), Some(points)) => Some(points.gradescope(of(&marks, team)?)),
        _ => None,
    };
    let mut out: Box<dyn Write> = match &options.out {
        Some(file) => Box::new(
            File::create(file).map_err(|error| Failure::of_file(&file.display().to_string(), &error))?,
        ),
        None => Box::new(io::stdout()),
    };
    match graded {
        Some(graded) => common::print_json(&mut out, &graded),
        None if options.json => common::print_json(&mut out, &marks),
        None => Ok(write!(out, "{}", marks::csv(&marks))?),
    }
}

/// The marks of the team that is called this.
fn of<'a>(marks: &'a Marks, team: &str) -> Result<&'a TeamMarks, Failure> {
    let like = likeness(team);
    let own = marks.teams.iter().find(|marks| !marks.row.boss && likeness(&marks.row.name) == like);
    own.ok_or_else(|| ErrorCode::NotFound.of(format!("--gradescope: there is no team `{}`", harmless(team))))
}
