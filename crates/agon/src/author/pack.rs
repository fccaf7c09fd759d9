//! `agon pack`: turns a bot's folder into what its contest accepts: one source file, a flat zip, or a zipped folder.

use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use agon_bot::manifest::Manifest;
use agon_bot::rights;
use agon_game::HandIn;
use clap::Args;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::author::json;
use crate::common::builds::{self, SOURCES};
use crate::common::sandbox::Bots;
use crate::common::screen;
use crate::common::{self, Done, Failure};

/// Examples for the help.
pub const EXAMPLES: &str = "Cultist Wars and Ostibot take one source file, Deerhunt a flat zip, Terminal and Jungle Blitz a zipped folder.
Tests, notes, agon.toml, and files written by agon or compilers are left out.

Examples:
  agon pack my-bot                          what to hand in, in the form the contest takes
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

/// Folders left out, besides hidden ones and those agon writes.
const BEHIND: &[&str] = &["test", "tests", "__pycache__", "node_modules", "target", "client"];

/// A folder larger than this is not a bot.
const LARGEST: u64 = 256 << 20;

/// Runs `agon pack`.
pub fn run(options: &PackOptions) -> Done {
    let bot = &options.bot;
    let shown = bot.display();
    let found = fs::metadata(bot).map_err(|error| Failure::usage(format!("bot `{shown}`: {error}")))?;
    let folder = if found.is_dir() { bot.clone() } else { bot.parent().unwrap_or(Path::new("")).to_owned() };
    let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder };
    let manifest = Manifest::read(&folder).map_err(Failure::Usage)?.unwrap_or_default();
    let game = options.game.as_ref().or(manifest.defaults.game.as_ref()).ok_or_else(|| {
        Failure::usage(format!(
            "which game is `{shown}` for? Add --game NAME, or an agon.toml with [defaults] game"
        ))
    })?;
    let info = common::game(game)?.info();
    builds::warn_of_stale(&[common::bot(&folder.to_string_lossy(), &Bots::usual())?]);
    let packed = match info.hand_in {
        HandIn::Source { endings, largest } => {
            source(options, &folder, &manifest, endings.unwrap_or(SOURCES), largest)?
        }
        HandIn::Flat(wanted) => zipped(options, &folder, &[wanted], true)?,
        HandIn::Folder(wanted) => zipped(options, &folder, wanted, false)?,
    };
    if options.output.as_deref() == Some(Path::new("-")) {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    if options.json {
        let Packed { file, bytes, files, .. } = &packed;
        return common::print_json(&mut out, &json::Packed { game: info.name, file, bytes: *bytes, files });
    }
    let screen = screen::output();
    let file = screen.strong(&packed.file.display().to_string());
    writeln!(out, "{file}: {} bytes, {} for {}", packed.bytes, packed.what, info.title)?;
    if packed.files.len() > 1 {
        packed.files.iter().try_for_each(|name| writeln!(out, "  {name}"))?;
    }
    Ok(())
}

/// The result of packing.
struct Packed {
    file: PathBuf,
    bytes: u64,
    files: Vec<String>,
    what: &'static str,
}

/// One source file, which must not need another.
fn source(
    options: &PackOptions,
    folder: &Path,
    manifest: &Manifest,
    endings: &[&str],
    largest: u64,
) -> Result<Packed, Failure> {
    let own = if options.bot.is_file() { options.bot.clone() } else { main_file(folder, manifest, endings)? };
    let ending = ending(&own);
    if !endings.contains(&ending.as_str()) {
        return Err(Failure::usage(format!(
            "`{}`: the contest takes one source file ({})",
            own.display(),
            endings.join(", ")
        )));
    }
    let failed = |error: io::Error| Failure::own(format!("{}: {error}", own.display()));
    let bytes = fs::metadata(&own).map_err(failed)?.len();
    if bytes > largest {
        return Err(Failure::usage(format!("{}: {bytes} bytes; the contest takes {largest}", own.display())));
    }
    let text = String::from_utf8_lossy(&fs::read(&own).map_err(failed)?).into_owned();
    if let Some(other) = needed(&own, &text) {
        return Err(Failure::usage(format!(
            "{} needs {}, but the contest takes one file: copy what it needs into it",
            own.display(),
            other.display()
        )));
    }
    let mut packed =
        Packed { file: own.clone(), bytes, files: vec![name(&own)], what: "the one source file" };
    match options.output.as_deref() {
        None => {}
        Some(place) if place == Path::new("-") => io::stdout().write_all(text.as_bytes())?,
        Some(place) => {
            let failed = |error: io::Error| Failure::own(format!("{}: {error}", place.display()));
            rights::write_public(place, text).map_err(failed)?;
            packed.file = place.to_owned();
        }
    }
    Ok(packed)
}

/// The main source file of a bot: the one its commands name, or one with a usual name.
fn main_file(folder: &Path, manifest: &Manifest, endings: &[&str]) -> Result<PathBuf, Failure> {
    let commands = [&manifest.build, &manifest.run].into_iter().flatten();
    let words = commands.filter_map(|command| command.words().ok()).flatten();
    let usual = ["bot", "main", "Player", "index"];
    let usual = usual.iter().flat_map(|stem| endings.iter().map(move |ending| format!("{stem}.{ending}")));
    let mut candidates =
        words.filter(|word| endings.contains(&ending(Path::new(word)).as_str())).chain(usual);
    candidates.find(|name| folder.join(name).is_file()).map(|name| folder.join(name)).ok_or_else(|| {
        Failure::usage(format!(
            "{}: the contest takes one source file ({}), and there is none; name it: agon pack FILE",
            folder.display(),
            endings.join(", ")
        ))
    })
}

/// Another source file of the folder that `text` imports.
fn needed(own: &Path, text: &str) -> Option<PathBuf> {
    let folder = own.parent()?;
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let headers = ["h", "hpp"].map(str::to_owned);
    let mut others: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| name(path) != name(own) && path.is_file())
        .filter(|path| ending(path) == ending(own) || headers.contains(&ending(path)))
        .collect();
    others.sort();
    // Only lines that import something count; a name in a comment does not.
    let taking = |line: &str| {
        let starts =
            ["import ", "from ", "#include \"", "mod ", "use ", "pub mod ", "require ", "require_relative "];
        starts.iter().any(|start| line.starts_with(start))
            || line.contains("require(")
            || line.contains("import(")
    };
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| taking(line)).collect();
    others.into_iter().find(|path| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        lines.iter().any(|line| line.split(|c| !is_word(c)).any(|word| word == stem))
    })
}

/// A zip, without folders when `flat`.
fn zipped(options: &PackOptions, folder: &Path, wanted: &[&str], flat: bool) -> Result<Packed, Failure> {
    let full = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    let label = fs::canonicalize(&full).unwrap_or(full);
    let label =
        label.file_name().map_or_else(|| "bot".to_owned(), |name| name.to_string_lossy().into_owned());
    let wants =
        |missing: &&str| Failure::usage(format!("{}: the contest needs a file {missing}", folder.display()));
    // First report what makes it no bot of this contest at all; its folders are a lesser problem.
    if let Some(missing) = wanted.iter().find(|wanted| !folder.join(wanted).exists()) {
        return Err(wants(missing));
    }
    let files = gather(folder, flat)?;
    if let Some(missing) = wanted.iter().find(|wanted| !files.iter().any(|file| file == *wanted)) {
        return Err(wants(missing));
    }
    let inside: Vec<String> =
        files.iter().map(|file| if flat { file.clone() } else { format!("{label}/{file}") }).collect();
    let plain = |c: char| c.is_ascii_alphanumeric() || ['.', '-', '_', '/'].contains(&c);
    if let Some(odd) = inside.iter().find(|file| !file.chars().all(plain)) {
        return Err(Failure::usage(format!(
            "`{odd}`: contests refuse names with spaces and special characters; rename it"
        )));
    }
    let fill = |out: &mut dyn Store| write_zip(out, folder, &files, &inside);
    let place = options.output.clone().unwrap_or_else(|| PathBuf::from(format!("{label}.zip")));
    let bytes = if place == Path::new("-") {
        let mut out = io::Cursor::new(Vec::new());
        fill(&mut out)?;
        io::stdout().write_all(out.get_ref())?;
        out.get_ref().len() as u64
    } else {
        // A half-written zip never appears where a complete one is expected.
        let part = place.with_extension("zip.part");
        let failed = |error: io::Error| Failure::own(format!("{}: {error}", place.display()));
        let written = rights::create_public(&part)
            .map_err(failed)
            .and_then(|mut file| fill(&mut file))
            .and_then(|()| fs::rename(&part, &place).map_err(failed));
        if written.is_err() {
            let _ = fs::remove_file(&part);
        }
        written?;
        fs::metadata(&place).map_err(failed)?.len()
    };
    let what = if flat { "a flat zip" } else { "a zipped folder" };
    Ok(Packed { file: place, bytes, files: inside, what })
}

/// A destination for a zip.
trait Store: Write + Seek {}
impl<T: Write + Seek> Store for T {}

/// The same files give the same bytes.
fn write_zip(out: &mut dyn Store, folder: &Path, files: &[String], inside: &[String]) -> Done {
    let mut zip = ZipWriter::new(out);
    for (file, name) in files.iter().zip(inside) {
        let place = folder.join(file);
        let failed = |error: io::Error| Failure::own(format!("{}: {error}", place.display()));
        let runs = name.ends_with(".sh") || is_executable(&place);
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(DateTime::default())
            .unix_permissions(if runs { 0o755 } else { 0o644 });
        zip.start_file(name.as_str(), options).map_err(|error| failed(error.into()))?;
        io::copy(&mut File::open(&place).map_err(failed)?, &mut zip).map_err(failed)?;
    }
    zip.finish().map_err(|error| Failure::own(error.to_string()))?;
    Ok(())
}

/// The files to hand in, by their paths inside the folder, sorted.
fn gather(folder: &Path, flat: bool) -> Result<Vec<String>, Failure> {
    let (mut files, mut size, mut open) = (Vec::new(), 0, vec![String::new()]);
    while let Some(inside) = open.pop() {
        let place = folder.join(&inside);
        let failed = |error: io::Error| Failure::own(format!("{}: {error}", place.display()));
        for entry in fs::read_dir(&place).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let own = entry.file_name().to_string_lossy().into_owned();
            let name = if inside.is_empty() { own.clone() } else { format!("{inside}/{own}") };
            // Links are skipped: they lead out of the folder, or in circles.
            let kind = entry.file_type().map_err(failed)?;
            let ours =
                inside.is_empty() && (own.starts_with("agon-") || own == "agon.toml" || own == "README.md");
            let behind = own.starts_with('.') || ours || own.ends_with(".zip") || own.ends_with(".zip.part");
            if behind || kind.is_symlink() {
                continue;
            }
            if kind.is_file() {
                size += entry.metadata().map_err(failed)?.len();
                files.push(name);
            } else if kind.is_dir() && !BEHIND.contains(&own.as_str()) {
                if flat {
                    return Err(Failure::usage(format!(
                        "{}: the contest takes a flat zip, without folders; move its files up, or remove it",
                        entry.path().display()
                    )));
                }
                open.push(name);
            }
            if size > LARGEST {
                return Err(Failure::usage(format!(
                    "{}: more than 256 MiB; is this the folder of a bot?",
                    folder.display()
                )));
            }
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(Failure::usage(format!("{}: there is nothing to hand in", folder.display())));
    }
    Ok(files)
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(file).is_ok_and(|found| found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_: &Path) -> bool {
    false
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn ending(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pack(folder: &Path, game: &str, output: &str) -> Result<Packed, String> {
        let options = PackOptions {
            bot: folder.to_owned(),
            game: Some(game.to_owned()),
            output: Some(folder.parent().expect("a parent").join(output)),
            json: false,
        };
        let manifest = Manifest::read(folder)?.unwrap_or_default();
        let packed = match common::game(game).expect("a game").info().hand_in {
            HandIn::Source { endings, largest } => {
                source(&options, folder, &manifest, endings.unwrap_or(SOURCES), largest)
            }
            HandIn::Flat(wanted) => zipped(&options, folder, &[wanted], true),
            HandIn::Folder(wanted) => zipped(&options, folder, wanted, false),
        };
        packed.map_err(|failure| match failure {
            Failure::Usage(why) | Failure::Own(why) => why,
            other => panic!("{other:?}"),
        })
    }

    fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
        let whole = tempfile::tempdir().expect("a folder");
        let bot = whole.path().join("my-bot");
        for (name, text) in files {
            let path = bot.join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        (whole, bot)
    }

    #[test]
    fn one_source_file_is_found_by_its_command_and_must_stand_alone() {
        let toml = ("agon.toml", "build = 'g++ -o bot seeker.cpp'\nrun = './bot'");
        let (whole, bot) = folder(&[toml, ("seeker.cpp", "#include <map>\nint main() {}"), ("bot.py", "")]);
        let packed = pack(&bot, "cultist-wars", "out.cpp").expect("it stands alone");
        assert_eq!(packed.files, ["seeker.cpp"]);
        assert!(fs::read_to_string(whole.path().join("out.cpp")).expect("written").contains("int main"));
        fs::write(bot.join("grid.h"), "").expect("a file");
        fs::write(bot.join("seeker.cpp"), "// grid.h is not needed\n").expect("a file");
        pack(&bot, "cultist-wars", "out.cpp").expect("a comment takes nothing in");
        fs::write(bot.join("seeker.cpp"), "#include \"grid.h\"\n").expect("a file");
        assert!(pack(&bot, "cultist-wars", "out.cpp").err().expect("refused").contains("grid.h"));
        fs::write(bot.join("seeker.cpp"), "x".repeat(100_001)).expect("a file");
        assert!(pack(&bot, "cultist-wars", "out.cpp").err().expect("refused").contains("100000"));
        fs::remove_file(bot.join("seeker.cpp")).expect("it was there");
        assert!(pack(&bot, "ostibot", "out.js").err().expect("refused").contains("(js, mjs, cjs)"));
    }

    #[test]
    fn zips_hold_the_bot_and_nothing_else() {
        let files = [
            ("grid_player.py", "class GridPlayer: pass"),
            ("paths.py", ""),
            ("README.md", ""),
            ("agon.toml", ""),
            (".git/config", ""),
            ("test/test_it.py", ""),
            ("client/helper_classes.py", ""),
            ("agon-replays/x.replay", ""),
            ("__pycache__/x.pyc", ""),
        ];
        let (whole, bot) = folder(&files);
        let packed = pack(&bot, "deerhunt", "a.zip").expect("a flat zip");
        assert_eq!(packed.files, ["grid_player.py", "paths.py"]);
        pack(&bot, "deerhunt", "b.zip").expect("again");
        let read = |name: &str| fs::read(whole.path().join(name)).expect("written");
        assert_eq!(read("a.zip"), read("b.zip"), "the same files give the same bytes");
        let mut zip = zip::ZipArchive::new(io::Cursor::new(read("a.zip"))).expect("a zip");
        let mut text = String::new();
        io::Read::read_to_string(&mut zip.by_name("grid_player.py").expect("it is in"), &mut text)
            .expect("text");
        assert_eq!(text, "class GridPlayer: pass");
        fs::create_dir(bot.join("deep")).expect("a folder");
        assert!(pack(&bot, "deerhunt", "c.zip").err().expect("refused").contains("flat"));
        assert!(pack(&bot, "terminal", "c.zip").err().expect("refused").contains("run.sh"));
        assert!(!whole.path().join("c.zip").exists(), "nothing is left behind");
    }

    #[test]
    fn a_zipped_folder_keeps_the_exec_bit_and_refuses_odd_names() {
        let (whole, bot) = folder(&[("run.sh", "#!/bin/sh"), ("algo.json", "{}"), ("src/a.py", "")]);
        let packed = pack(&bot, "terminal", "a.zip").expect("a zip");
        assert_eq!(packed.files, ["my-bot/algo.json", "my-bot/run.sh", "my-bot/src/a.py"]);
        let file = File::open(whole.path().join("a.zip")).expect("written");
        let mut zip = zip::ZipArchive::new(file).expect("a zip");
        assert_eq!(
            zip.by_name("my-bot/run.sh").expect("it is in").unix_mode().map(|mode| mode & 0o777),
            Some(0o755)
        );
        fs::write(bot.join("my notes.txt"), "").expect("a file");
        assert!(pack(&bot, "terminal", "a.zip").err().expect("refused").contains("my notes.txt"));
    }
}
