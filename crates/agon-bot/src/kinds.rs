//! What a file is that is no program: nobody is told to make a notebook or an archive executable.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use crate::sys;

/// What files with these endings are, and what to do with them.
const KINDS: &[(&[&str], &str)] = &[
    (
        &["xz", "txz", "bz2", "tbz", "tbz2", "zst", "lz4", "lzma", "7z", "rar", "gz", "cab", "z"],
        "an archive of a kind that agon does not unpack; unpack it and name its folder, or pack it as .zip, .tar or .tar.gz",
    ),
    (
        &["ipynb"],
        "a notebook; save its code as a file that ends in .py (jupyter nbconvert --to script makes one) and name that",
    ),
    (
        &["mts", "cts", "tsx", "jsx"],
        "TypeScript or JavaScript with an extension that agon does not run; call it .ts or .js",
    ),
    (&["pyw", "pyi", "pyx"], "Python with an extension that agon does not run; call it .py"),
    (&["h", "hpp", "hh", "hxx", "inl"], "a header; name the source file that holds main"),
    (
        &["o", "obj", "so", "a", "dylib", "lib", "dll", "pyc", "pyd"],
        "only a part of a program; name what it was built from",
    ),
    (
        &["bat", "cmd", "ps1"],
        "a script for Windows; write one for Linux, or an agon.toml that says how the bot is run",
    ),
    (
        &[
            "md", "txt", "rst", "pdf", "doc", "docx", "rtf", "html", "htm", "css", "csv", "log", "png",
            "jpg", "jpeg", "gif", "svg",
        ],
        "not a program but a document; name the bot itself",
    ),
    (
        &["json", "toml", "yaml", "yml", "xml", "ini", "cfg", "lock"],
        "not a program but settings; name the bot's folder",
    ),
    (&["replay", "jsonl"], "not a bot but a recording of agon; agon watch shows it"),
    (
        &[
            "scala", "sc", "swift", "hs", "ml", "clj", "jl", "r", "dart", "ex", "exs", "erl", "nim", "zig",
            "d", "pas", "f90", "vb", "fs", "fsx", "groovy", "cr", "v", "odin", "rkt", "scm", "lisp", "el",
            "m", "mm", "asm", "s", "tcl", "coffee",
        ],
        "source code for which agon knows no usual command; put it into a folder with an agon.toml that says how it is built and \
         run (agon docs bots)",
    ),
];

/// Why a file with this ending is no program; none when the ending says nothing against it.
///
/// The ending decides even over the right to execute: on disks of Windows, and unpacked from its archives, every file has that.
pub fn of_ending(file: &Path) -> Option<String> {
    let ending = file.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default();
    let (_, what) = KINDS.iter().find(|(endings, _)| endings.contains(&ending.as_str()))?;
    // A program may be called anything, such as `bot.v`, but no library is one.
    (!starts_as_program(file) || what.starts_with("a part of")).then(|| format!("`.{ending}` is {what}"))
}

/// Why a file that the system does not execute is no program; none when it may be one, and when starting it says why.
pub fn no_program(file: &Path) -> Option<String> {
    of_ending(file).or_else(|| {
        let may_be = starts_as_program(file) || sys::may_execute(file) || !file.is_file() || is_foreign(file);
        (!may_be).then(|| {
            "it is not a program (it begins neither with #! nor as a compiled one), and its extension does not say what runs it; give it \
             its language's extension, or put it into a folder with an agon.toml that says how it is run (agon docs bots)"
                .to_owned()
        })
    })
}

/// The first four bytes of a file, or as many as it has.
fn start(file: &Path) -> Vec<u8> {
    let mut start = vec![0; 4];
    let length = File::open(file).and_then(|mut file| file.read(&mut start)).unwrap_or(0);
    start.truncate(length);
    start
}

fn starts_as_program(file: &Path) -> bool {
    let start = start(file);
    start.starts_with(b"#!") || start.starts_with(b"\x7fELF")
}

/// Whether it is empty, or a program of macOS or Windows.
fn is_foreign(file: &Path) -> bool {
    matches!(&start(file)[..], [] | [0xcf | 0xce, 0xfa, 0xed, 0xfe] | [b'M', b'Z', ..])
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn only_programs_are_to_be_made_executable() {
        let folder = tempfile::tempdir().expect("a folder");
        let said = |name: &str, content: &str, mode: u32| {
            let file = folder.path().join(name);
            std::fs::write(&file, content).expect("a file");
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("rights");
            no_program(&file)
        };
        for mode in [0o644, 0o755] {
            for (name, what) in [
                ("bot.tar.xz", "archive"),
                ("BOT.RAR", "archive"),
                ("bot.7z", "archive"),
                ("bot.ipynb", "notebook"),
                ("bot.mts", "call it .ts"),
                ("bot.swift", "agon.toml"),
                ("notes.txt", "document"),
            ] {
                let said = said(name, "x", mode).unwrap_or_default();
                assert!(said.contains(what) && !said.contains("chmod"), "{name}: {said}");
            }
        }
        assert!(said("bot", "x", 0o644).is_some_and(|why| why.contains("not a program")));
        assert_eq!(said("bot", "x", 0o755), None, "the shell's own scripts need no first line");
        for mode in [0o644, 0o755] {
            assert_eq!(said("bot", "#!/bin/sh\n", mode), None);
            assert_eq!(said("bot.v", "\x7fELF", mode), None);
        }
    }
}
