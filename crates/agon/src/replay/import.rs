//! Replay files of the originals: converted to ours, and from ours.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use agon_bot::advised::NextCommand;
use agon_bot::rights;
use agon_desk::conformance::RecordDifference;
use agon_desk::replays::{OriginalRecord, bytes, game_of, open};
use agon_game::{Facts, GameInfo, Seat};
use agon_replay::Replay;
use clap::Args;

use crate::common::folders;
use crate::common::screen::{self, Screen, score};
use crate::common::{self, Done, Failure};
use crate::replay::json;

/// Options of `agon replay import`.
#[derive(Args, Debug)]
pub struct ImportOptions {
    /// The replay of the original
    pub file: PathBuf,
    /// The new file [default: one in ./agon-replays]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Prints what was read as JSON
    #[arg(long)]
    pub json: bool,
}

/// The match of a replay as the game's original would have recorded it.
pub fn export(replay: &Replay) -> Result<Vec<u8>, Failure> {
    open(replay)?;
    let game = game_of(&replay.header)?;
    let facts = facts(replay);
    let mut steps = replay.steps.iter().map(|step| &step.answers[..]);
    let written = game.export(&replay.header.recipe.setup(), &mut steps, &facts).map_err(Failure::Usage)?;
    written.ok_or_else(|| {
        let title = game.info().title;
        Failure::usage(format!(
            "agon cannot write replays in the original format of {title}; use --format json"
        ))
    })
}

/// What an end message may say about a match besides its outcome.
pub fn facts(replay: &Replay) -> Facts {
    let names = replay.header.seats.iter().map(|seat| seat.label.clone()).collect();
    let longest = |step: usize| {
        let walls = Seat::first(Seat::MAX).filter_map(|seat| replay.timing.get(&(step as u32, seat)));
        walls.map(|timing| timing.wall_us).max().unwrap_or(0)
    };
    let wall = replay.end.as_ref().and_then(|end| end.facts["wall_us"].as_u64());
    // Records of an original lack the total.
    let wall = wall.unwrap_or_else(|| (0..replay.steps.len()).map(longest).sum());
    Facts { names, wall_ms: wall / 1_000 }
}

/// Runs `agon replay import`.
pub fn run(options: &ImportOptions) -> Done {
    let name = options.file.display().to_string();
    let record = bytes(&options.file)?;
    let Some(imported) = OriginalRecord::read(&record, &name)? else {
        let why = match Replay::read(&record) {
            Ok(_) => "this is already an agon replay".to_owned(),
            Err(_) => format!("this is not a recorded match of an original. {}", readable()),
        };
        return Err(Failure::usage(format!("{name}: {why}")));
    };
    let replay = Replay::read(&imported.bytes).map_err(|error| Failure::own(error.to_string()))?;
    let (path, mut file) = create(options)?;
    file.write_all(&imported.bytes).map_err(|error| Failure::own(format!("{}: {error}", path.display())))?;
    let mut out = io::stdout().lock();
    if options.json {
        let text = json::Imported {
            game: imported.game.info().name,
            replay: &path,
            rules: &replay.header.recipe.rules_name,
            steps: replay.steps.len(),
            outcome: replay.end.as_ref().and_then(|end| end.outcome.as_ref()),
            notes: &imported.notes,
            compared: imported.compared(),
            differ: imported.report.differ(),
            differences: imported.report.differences.iter().map(RecordDifference::from).collect(),
        };
        common::print_json_line(&mut out, &text)?;
    } else {
        let screen = screen::output();
        let (info, steps) = (imported.game.info(), replay.steps.len());
        let rules = &replay.header.recipe.rules_name;
        let rules = screen::harmless(rules);
        writeln!(out, "{} · {steps} {}s · rules {rules}", screen.strong(info.title), info.step)?;
        let outcome = replay.end.as_ref().and_then(|end| end.outcome.as_ref());
        for (index, seat) in replay.header.seats.iter().enumerate() {
            let label = screen.seat(Seat::new(index as u8), &screen::harmless(&seat.label));
            let won = outcome.map(|outcome| format!("  score {}", score(outcome.scores[index])));
            writeln!(out, "  seat {}  {label}{}", index + 1, won.unwrap_or_default())?;
        }
        tell(&imported, screen, &mut out)?;
        let shown = path.display();
        let show =
            NextCommand::ReplayShow.about([path.to_string_lossy().as_ref(), &(steps / 2).max(1).to_string()]);
        writeln!(out, "\nReplay: {shown}\n  {show}\n  {}", NextCommand::ReplayFeed.at(&path))?;
    }
    if imported.report.differ() == 0 { Ok(()) } else { Err(Failure::Check) }
}

/// Of which games the originals' files can be read, and of which not.
fn readable() -> String {
    let (known, unknown): (Vec<&GameInfo>, Vec<&GameInfo>) =
        agon_games::all().iter().map(|game| game.info()).partition(|info| !info.recordings.is_empty());
    let known: Vec<_> = known.iter().map(|info| info.recordings).collect();
    let unknown: Vec<_> = unknown.iter().map(|info| info.title).collect();
    format!(
        "agon reads {}; for {} no file of the original is known that holds every order of a match",
        known.join(" and "),
        unknown.join(", ")
    )
}

/// Reports how our engine compares with the record, and what the replay cannot hold.
fn tell(original: &OriginalRecord, screen: Screen, out: &mut impl io::Write) -> Done {
    let (compared, differ) = (original.compared(), original.report.differ());
    let verdict = format!("{differ} of {compared} recorded facts differ from our engine");
    let verdict = if differ == 0 { screen.good(&verdict) } else { screen.bad(&verdict) };
    writeln!(out, "  {verdict}")?;
    if let Some(first) = original.first_difference() {
        writeln!(out, "  {}", screen::harmless(&first))?;
    }
    original.notes.iter().try_for_each(|note| writeln!(out, "  note: {}", screen::harmless(note)))?;
    Ok(())
}

/// The file given by `--output`, or a new one in the folder of replays.
fn create(options: &ImportOptions) -> Result<(PathBuf, File), Failure> {
    let failed = |path: &Path, error: io::Error| Failure::own(format!("{}: {error}", path.display()));
    if let Some(path) = &options.output {
        let same = path.exists() && path.canonicalize().ok() == options.file.canonicalize().ok();
        if same {
            return Err(Failure::usage(format!("{}: this is the record itself", path.display())));
        }
        return Ok((path.clone(), rights::create_private(path).map_err(|error| failed(path, error))?));
    }
    let folder = Path::new(folders::REPLAYS);
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let own = options.file.file_name().unwrap_or_default().to_string_lossy();
    let stem = own.trim_end_matches(".gz").trim_end_matches(".json").trim_end_matches(".replay");
    for number in 1.. {
        let name = if number == 1 { format!("{stem}.replay") } else { format!("{stem}-{number}.replay") };
        let path = folder.join(name);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(&path, error)),
        }
    }
    unreachable!("some number is free")
}
