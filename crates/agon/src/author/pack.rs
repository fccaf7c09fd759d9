//! `agon pack`: turns a bot's folder into what its contest accepts: one source file, a flat zip, or a zipped folder.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use agon_bot::manifest::Manifest;
use agon_bot::rights;
use agon_desk::hand_in::{PackedBot, folder};
use agon_desk::words::thousands;
use clap::Args;

use crate::author::json;
use crate::common::builds;
use crate::common::sandbox::Bots;
use crate::common::screen;
use crate::common::{self, Done, Failure};

/// Examples for the help.
pub const EXAMPLES: &str = "Cultist Wars and Ostibot take one source file, Deerhunt a flat zip, Terminal and Jungle Blitz a zipped folder.
Tests, notes, agon.toml, and files written by agon or compilers are left out.

Examples:
  agon pack my-bot                          what to submit, in the form the contest takes
  agon pack my-bot -o - | xclip             one source file, straight to the clipboard
  agon pack my-bot --game terminal -o algo.zip";

/// Options of `agon pack`.
#[derive(Args, Debug)]
pub struct PackOptions {
    /// The bot: its folder, or its only file
    pub bot: PathBuf,
    /// The game [default: the one in the bot's agon.toml]
    #[arg(long)]
    pub game: Option<String>,
    /// The output file, `-` for standard output [default: the source file itself, or ./NAME.zip]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Prints what was made as JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs `agon pack`.
pub fn run(options: &PackOptions) -> Done {
    let bot = &options.bot;
    let shown = bot.display();
    fs::metadata(bot).map_err(|error| Failure::usage(format!("bot `{shown}`: {error}")))?;
    let folder = folder(bot);
    let manifest = Manifest::read(&folder).map_err(Failure::Usage)?.unwrap_or_default();
    let game = options.game.as_ref().or(manifest.defaults.game.as_ref()).ok_or_else(|| {
        Failure::usage(format!(
            "which game is `{shown}` for? Add --game NAME, or an agon.toml with [defaults] game"
        ))
    })?;
    let info = common::game(game)?.info();
    builds::warn_of_stale(&[common::bot(&folder.to_string_lossy(), &Bots::usual())?]);
    let packed = PackedBot::of(bot, info.hand_in)?;
    let mut out = io::stdout().lock();
    let file = match (&options.output, &packed.own) {
        (Some(place), _) if place == Path::new("-") => return Ok(out.write_all(&packed.bytes)?),
        (Some(place), _) => written(place, &packed)?,
        (None, Some(own)) => own,
        (None, None) => written(Path::new(&packed.name), &packed)?,
    };
    let bytes = packed.bytes.len() as u64;
    if options.json {
        let files = &packed.files;
        return common::print_json(&mut out, &json::Packed { game: info.name, file, bytes, files });
    }
    let shown = screen::output().strong(&file.display().to_string());
    let bytes = thousands(bytes);
    if packed.own.as_deref() == Some(file) {
        return Ok(writeln!(
            out,
            "submit {shown} as it is ({bytes} bytes): {} takes a single source file",
            info.title
        )?);
    }
    writeln!(out, "{shown}: {bytes} bytes, {} for {}", packed.what, info.title)?;
    if packed.files.len() > 1 {
        packed.files.iter().try_for_each(|name| writeln!(out, "  {name}"))?;
    }
    Ok(())
}

/// Writes the file to hand in. Half a zip never appears where a complete one is expected.
fn written<'a>(place: &'a Path, packed: &PackedBot) -> Result<&'a Path, Failure> {
    let written = match packed.own {
        Some(_) => rights::write_public(place, &packed.bytes),
        None => {
            let part = place.with_extension("zip.part");
            let written = rights::write_public(&part, &packed.bytes).and_then(|()| fs::rename(&part, place));
            written.inspect_err(|_| drop(fs::remove_file(&part)))
        }
    };
    written.map_err(|error| Failure::own(format!("{}: {error}", place.display())))?;
    Ok(place)
}
