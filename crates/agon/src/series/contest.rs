//! A tournament as described in `contest.toml`.

use std::path::Path;

use agon_contest::ContestFile;

use crate::common::written;
use crate::common::{ClockOptions, Failure};
use crate::series::SeriesOptions;
use crate::series::formats::{FormatOptions, Name};
use crate::series::tournament::TournamentOptions;

/// A tournament as requested, on the command line or in a file.
pub(crate) struct Asked {
    pub game: String,
    pub bots: Vec<String>,
    /// Matches of each pairing, if given.
    pub games: Option<u64>,
    pub series: SeriesOptions,
    pub format: FormatOptions,
    /// The file, if there is one.
    pub file: Option<ContestFile>,
}

/// Reads a contest.toml; options that it fixes may not be given beside it.
pub fn read(options: &TournamentOptions) -> Result<Asked, Failure> {
    let TournamentOptions { game: path, bots, games, series, format, .. } = options;
    let file = ContestFile::read(Path::new(path)).map_err(Failure::Usage)?;
    let SeriesOptions { seed, map, rules, set, seats, name, clock, run, played_as: _ } = series;
    let given = [
        (!bots.is_empty(), "bots on the command line"),
        (games.is_some(), "--games"),
        (seed.is_some(), "--seed"),
        (!map.is_empty(), "--map"),
        (rules.is_some(), "--rules"),
        (!set.is_empty(), "--set"),
        (seats.is_some(), "--seats"),
        (!name.is_empty(), "--name"),
        (*clock != ClockOptions::default(), "options of the clock"),
        (file.format.is_some() && format.is_given(), "options of the format"),
    ];
    if let Some((_, what)) = given.iter().find(|(given, _)| *given) {
        return Err(Failure::usage(format!(
            "{what} cannot be given with {path}: that file fixes it; change it there"
        )));
    }
    let wrong = |key: &str, why: &str| Failure::usage(file.wrong(key, why));
    if file.games == Some(0) {
        return Err(wrong("games", "there is nothing to play"));
    }
    for (key, missing, example) in [
        ("seed", file.seed.is_none(), "seed = 1000"),
        ("bots", file.bots.is_empty(), "bots = [\"bots/alice\", \"builtin:greedy\"]"),
    ] {
        if missing {
            return Err(Failure::usage(format!("{path}: `{key}` is missing; add a line such as {example}")));
        }
    }
    let clock = written::clock(&file)?;
    let FormatOptions { format: chosen, rounds, best_of, advance, decide_top, seeding } = format.clone();
    let written = FormatOptions {
        format: file.format.map_or(chosen, Into::into),
        rounds: rounds.or(file.rounds),
        best_of: best_of.or(file.best_of),
        advance: advance.or(file.advance),
        decide_top: decide_top.or(file.decide_top),
        seeding: seeding.or(file.seeding.as_ref().map(Into::into)),
    };
    // A file without a format gives the number of matches for every format that takes one.
    let games = match written.format {
        Name::RoundRobin | Name::Ladder if file.games.is_none() => {
            return Err(Failure::usage(format!(
                "{path}: `games` is missing; add a line such as games = 100: how many matches each pairing plays, or in a ladder each bot"
            )));
        }
        Name::Swiss | Name::Knockout | Name::DoubleElimination if file.format.is_none() => None,
        _ => file.games,
    };
    let parts = file.bots.iter().map(agon_contest::config::ContestBot::parts).enumerate();
    let names = parts.filter_map(|(number, (_, label))| Some(format!("{}={}", number + 1, label?)));
    let series = SeriesOptions {
        seed: file.seed,
        map: file.maps.clone(),
        rules: file.rules.clone(),
        set: file.set.iter().map(|(key, value)| format!("{key}={value}")).collect(),
        seats: file.seats,
        name: names.collect(),
        clock,
        run: run.clone(),
        played_as: None,
    };
    let bots = file.bots.iter().map(|bot| bot.parts().0.to_owned()).collect();
    Ok(Asked { game: file.game.clone(), bots, games, series, format: written, file: Some(file) })
}
