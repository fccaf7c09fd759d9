//! What is uploaded: a bot's folder as one archive, or a file as it is.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use agon_api::LARGEST_UPLOAD;
use agon_bot::NameKind;
use agon_bot::manifest::Manifest;
use agon_contest::content;
use agon_worker::pack::pack;
use flate2::{Compression, GzBuilder};

use crate::common::sandbox::Bots;
use crate::common::screen::{self, harmless};
use crate::common::{self, Failure, builds, packed};

/// How many file names are shown.
const SHOWN: usize = 12;

/// An upload.
pub struct Bundle {
    /// Its file name.
    pub name: String,
    pub bytes: Vec<u8>,
    /// The files in it, if it was packed here.
    pub files: Vec<String>,
    /// What lies in the folder, stays behind, and may be missed.
    behind: Vec<String>,
}

impl Bundle {
    /// The bot at `text`, for a contest of `game`: a folder, a file, an archive, or a commit.
    ///
    /// # Errors
    /// A sentence for the user: it is not a bot, is for another game, or is too large.
    pub fn of(text: &str, game: &str) -> Result<Self, Failure> {
        let path = Path::new(text);
        let is_commit = text.starts_with("git:");
        if !is_commit && !path.exists() {
            return Err(Failure::usage(format!("bot `{text}`: no such file or folder")));
        }
        if path.is_file() {
            return Self::file(path);
        }
        let name = common::named(text, &Bots::usual())?;
        let NameKind::Path(folder) = &name.kind else {
            return Err(Failure::usage(format!(
                "bot `{text}`: submit a folder, a file, an archive or a commit"
            )));
        };
        if let Some(manifest) = Manifest::read(folder).map_err(Failure::Usage)?
            && let Some(own) = manifest.defaults.game.filter(|own| own != game)
        {
            return Err(Failure::usage(format!(
                "bot `{text}`: its agon.toml says that it is for {own}, but this contest plays {}",
                harmless(game)
            )));
        }
        builds::can_be_handed_in(&name)?;
        let wrong = |why: String| Failure::usage(format!("bot `{text}`: {why}"));
        let files =
            if folder.is_dir() { content::files(folder).map_err(wrong)? } else { vec![folder.clone()] };
        let files = files.iter().map(|file| file.display().to_string()).collect();
        let behind = if folder.is_dir() { content::needed_but_left_out(folder) } else { Vec::new() };
        let mut bytes = pack(folder).map_err(wrong)?;
        let mut name = "bot.tar";
        // The same files must give the same bytes, even with later compressors: small bots are uploaded uncompressed.
        if bytes.len() as u64 > LARGEST_UPLOAD {
            (bytes, name) =
                (squeezed(&bytes).map_err(|error| Failure::own(error.to_string()))?, "bot.tar.gz");
        }
        if bytes.len() as u64 > LARGEST_UPLOAD {
            return Err(wrong(format!("packed, it is {} MiB; {}", bytes.len() >> 20, largest(folder))));
        }
        Ok(Self { name: name.to_owned(), bytes, files, behind })
    }

    fn file(path: &Path) -> Result<Self, Failure> {
        let failed = |error: std::io::Error| Failure::usage(format!("bot `{}`: {error}", path.display()));
        let (bytes, size) = packed::read(path, LARGEST_UPLOAD).map_err(failed)?;
        if size > LARGEST_UPLOAD {
            let most = LARGEST_UPLOAD >> 20;
            return Err(Failure::usage(format!("bot `{}`: at most {most} MiB are taken", path.display())));
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, bytes, files: Vec::new(), behind: Vec::new() })
    }

    /// Prints what is uploaded.
    pub fn tell(&self) {
        let screen = screen::errors();
        if self.files.is_empty() {
            eprintln!("{} {}, {}", screen.dim("sends"), harmless(&self.name), size(self.bytes.len() as u64));
            return;
        }
        let count = self.files.len();
        eprintln!(
            "{} {} in {count} {}",
            screen.dim("sends"),
            size(self.bytes.len() as u64),
            if count == 1 { "file" } else { "files" }
        );
        self.files.iter().take(SHOWN).for_each(|file| eprintln!("  {}", harmless(file)));
        if count > SHOWN {
            eprintln!("  {}", screen.dim(&format!("and {} more", count - SHOWN)));
        }
        self.behind.iter().for_each(|what| eprintln!("{} {}", screen.bad("not sent:"), harmless(what)));
    }
}

/// A size for people to read.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

/// Compresses reproducibly: no time, no name.
fn squeezed(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut gzip = GzBuilder::new().mtime(0).write(Vec::new(), Compression::new(6));
    gzip.write_all(bytes)?;
    gzip.finish()
}

/// Names the largest files, to leave out of a bot that is too large.
fn largest(folder: &Path) -> String {
    let mut files: Vec<(u64, String)> = (content::files(folder).unwrap_or_default().into_iter())
        .filter_map(|file| Some((fs::metadata(folder.join(&file)).ok()?.len(), file.display().to_string())))
        .collect();
    files.sort_by(|a, b| b.cmp(a));
    let named: Vec<String> =
        files.iter().take(3).map(|(bytes, name)| format!("{} ({})", harmless(name), size(*bytes))).collect();
    format!(
        "the contest takes {} MiB. The largest files are {}: leave out what the bot does not need to play",
        LARGEST_UPLOAD >> 20,
        named.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(made: Result<Bundle, Failure>) -> String {
        match made {
            Err(Failure::Usage(why)) => why,
            Err(other) => panic!("{other:?}"),
            Ok(bundle) => panic!("{} is no error", bundle.name),
        }
    }

    #[test]
    fn a_folder_goes_up_without_what_tools_leave_there() {
        let place = tempfile::tempdir().expect("a folder");
        let write = |name: &str, bytes: &[u8]| {
            let path = place.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, bytes).expect("written");
        };
        write("agon.toml", b"run = 'sh run.sh'\n[defaults]\ngame = 'cultist-wars'\n");
        write("run.sh", b"#!/bin/sh\n");
        write(".git/objects/large", &vec![7; 30 << 20]);
        write("__pycache__/x.pyc", b"x");
        let text = place.path().to_str().expect("plain");
        let first = Bundle::of(text, "cultist-wars").expect("packed");
        assert_eq!(
            (first.name.as_str(), &first.files[..]),
            ("bot.tar", &["agon.toml".to_owned(), "run.sh".to_owned()][..])
        );
        assert_eq!(Bundle::of(text, "cultist-wars").expect("packed").bytes, first.bytes, "the same version");
        assert!(
            wrong(Bundle::of(text, "terminal"))
                .contains("is for cultist-wars, but this contest plays terminal")
        );
        // A file that compresses well fits; noise does not, and its files are named.
        write("book.bin", &vec![0; 30 << 20]);
        let large = Bundle::of(text, "cultist-wars").expect("packed");
        assert!(large.name == "bot.tar.gz" && large.bytes.len() < 1 << 20, "{}", large.bytes.len());
        let mut state = 1_u64;
        let noise: Vec<u8> = (0..30 << 20)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 56) as u8
            })
            .collect();
        write("book.bin", &noise);
        let why = wrong(Bundle::of(text, "cultist-wars"));
        assert!(why.contains("takes 20 MiB. The largest files are book.bin (30.0 MiB)"), "{why}");
        assert!(wrong(Bundle::of("nowhere", "cultist-wars")).contains("no such file or folder"));
        let single = Bundle::of(&format!("{text}/run.sh"), "terminal").expect("as it is");
        assert_eq!((single.name.as_str(), &single.bytes[..]), ("run.sh", &b"#!/bin/sh\n"[..]));
        // A bot with a build command is built at the contest.
        write("book.bin", b"");
        write("agon.toml", b"build = 'cc -o bot bot.c'\nrun = './bot'\n");
        assert!(Bundle::of(text, "cultist-wars").is_ok());
    }
}
