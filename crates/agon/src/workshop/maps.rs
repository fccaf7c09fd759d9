//! `agon maps check`: checks map files.

use std::io::{self, Read as _, Write as _};
use std::path::Path;

use agon_game::{AnyGame, MapFindings, SetupError};
use clap::{Args, Subcommand};
use std::path::PathBuf;

use crate::common::screen::{self, harmless};
use crate::common::{self, Done, Failure};
use crate::workshop::json;

/// Options of `agon maps`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct MapsOptions {
    /// What to do with map files instead
    #[command(subcommand)]
    pub command: Option<MapsCommand>,
    /// The game
    #[arg(required = true)]
    pub game: Option<String>,
    /// A map to show; `generate` makes one from the seed, in games that can
    pub map: Option<String>,
    /// The seed of a generated map
    #[arg(long, value_name = "N", default_value_t = 1, allow_hyphen_values = true)]
    pub seed: i64,
    /// Draws the map as at the start of a match; without it, the map's file is printed
    #[arg(long, conflicts_with = "json")]
    pub draw: bool,
    /// Prints it as JSON
    #[arg(long)]
    pub json: bool,
}
/// Commands on map files.
#[derive(Subcommand, Debug)]
pub enum MapsCommand {
    /// Check map files: can they be played, can everything be reached, are they fair?
    #[command(after_help = "Examples:
  agon maps check mine.txt
  agon maps check maps/*.txt --game jungle-blitz --json

For Jungle Blitz: the numbers of spawn tiles, diamonds and units, every diamond reached from every spawn tile,
and symmetry. For Deerhunt: armies, hubs, and all of them connected. For Ostibot: spawners, everything reached,
and equal ways for all teams. Without --game the game is the one that can read the file.

Exit code: 0 when all of the maps are good, else 1.")]
    Check(MapsCheckOptions),
}
/// Options of `agon maps check`.
#[derive(Args, Debug)]
pub struct MapsCheckOptions {
    /// Map files: texts, and for Jungle Blitz also images (BMP) of the original
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The game they are for [default: the one that can read them]
    #[arg(long, value_name = "GAME")]
    pub game: Option<String>,
    /// Prints the findings as JSON
    #[arg(long)]
    pub json: bool,
}

/// A larger file is not a map of any game.
const LARGEST: u64 = 1 << 20;

/// Runs `agon maps check`.
pub fn check(options: &MapsCheckOptions) -> Done {
    let wanted = options.game.as_deref().map(common::game).transpose()?;
    let screen = screen::output();
    let mut out = io::stdout().lock();
    let (mut reports, mut bad) = (Vec::new(), 0);
    for file in &options.files {
        let shown = file.display().to_string();
        let (game, findings) = examine(wanted, file)?;
        bad += usize::from(!findings.good());
        let title = game.info().title;
        if options.json {
            reports.push(json::CheckedMap {
                file: shown,
                game: game.info().name,
                good: findings.good(),
                facts: findings.facts,
                errors: findings.errors,
                warnings: findings.warnings,
            });
            continue;
        }
        writeln!(out, "{}, a map of {title}", screen.strong(&harmless(&shown)))?;
        let marks = [
            (screen.good("✓"), &findings.facts),
            (screen.bad("!"), &findings.warnings),
            (screen.bad("✗"), &findings.errors),
        ];
        for (mark, sentences) in marks {
            for sentence in sentences {
                writeln!(out, "  {mark} {}", harmless(sentence))?;
            }
        }
        let verdict = match (findings.errors.len(), findings.warnings.len()) {
            (0, 0) => screen.good("good: no problems found"),
            (0, 1) => screen.bad("it can be played, but has one problem"),
            (0, count) => screen.bad(&format!("it can be played, but has {count} problems")),
            _ => screen.bad("it cannot be played"),
        };
        writeln!(out, "  {verdict}")?;
    }
    if options.json {
        common::print_json(&mut out, &reports)?;
    }
    if bad > 0 { Err(Failure::Check) } else { Ok(()) }
}

/// The findings about a file, and the game they come from. A file that is not a map of its game has one error.
fn examine(
    wanted: Option<&'static dyn AnyGame>,
    file: &Path,
) -> Result<(&'static dyn AnyGame, MapFindings), Failure> {
    let shown = file.display().to_string();
    let content = read(file).map_err(|why| Failure::usage(format!("{shown}: {why}")))?;
    if let Some(game) = wanted {
        let checked = game
            .check_map(&shown, &content)
            .ok_or_else(|| Failure::usage(format!("{} has no map files to check", game.info().title)))?;
        return Ok((game, checked.unwrap_or_else(|error| unreadable(&error))));
    }
    let tried = agon_games::all().iter().filter_map(|game| {
        let findings = game.check_map(&shown, &content)?.ok()?;
        // A game that takes unknown characters for ground can read any text as a map, so it is only a guess.
        let guess = game.info().reads_any_map;
        (!guess || findings.errors.is_empty()).then_some((guess, findings.errors.len(), *game, findings))
    });
    match tried.min_by_key(|&(guess, errors, ..)| (guess, errors)) {
        Some((_, _, game, findings)) => Ok((game, findings)),
        None => Err(Failure::usage(format!(
            "{shown}: no game can read this as a map; `agon maps check --game GAME {shown}` says what is wrong with it"
        ))),
    }
}

fn unreadable(error: &SetupError) -> MapFindings {
    MapFindings { errors: vec![error.to_string()], ..MapFindings::default() }
}

/// The content of a file that may be a map.
fn read(file: &Path) -> Result<Vec<u8>, String> {
    if !file.is_file() {
        return Err("no such file".to_owned());
    }
    let open = std::fs::File::open(file).map_err(|error| error.to_string())?;
    let mut content = Vec::new();
    open.take(LARGEST + 1).read_to_end(&mut content).map_err(|error| error.to_string())?;
    if content.len() as u64 > LARGEST {
        return Err(format!("a map has at most {LARGEST} bytes"));
    }
    Ok(content)
}
