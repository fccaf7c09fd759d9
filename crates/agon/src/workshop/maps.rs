//! `agon maps check`: checks map files.

use std::io::{self, Write as _};
use std::path::PathBuf;

use agon_desk::maps::CheckedMap;
use clap::{Args, Subcommand};

use crate::common::screen::{self, harmless};
use crate::common::{self, Done, Failure};

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

/// Runs `agon maps check`.
pub fn check(options: &MapsCheckOptions) -> Done {
    let wanted = options.game.as_deref().map(common::game).transpose()?;
    let screen = screen::output();
    let mut out = io::stdout().lock();
    let (mut reports, mut bad) = (Vec::new(), 0);
    for file in &options.files {
        let map = CheckedMap::read(file, wanted)?;
        bad += usize::from(!map.good);
        if options.json {
            reports.push(map);
            continue;
        }
        let title = common::game(map.game)?.info().title;
        writeln!(out, "{}, a map of {title}", screen.strong(&harmless(&map.file)))?;
        let marks = [
            (screen.good("✓"), &map.facts),
            (screen.bad("!"), &map.warnings),
            (screen.bad("✗"), &map.errors),
        ];
        for (mark, sentences) in marks {
            for sentence in sentences {
                writeln!(out, "  {mark} {}", harmless(sentence))?;
            }
        }
        let verdict = match (map.errors.len(), map.warnings.len()) {
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
