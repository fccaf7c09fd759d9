//! The program as downloaded from a contest's site: the one running here if it needs no library, and what is in the
//! contest's folder `dist`.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use sha2::{Digest as _, Sha256};

/// The running program.
const OWN: &str = "/proc/self/exe";
/// The name under which it is downloaded.
pub const OWN_NAME: &str = "agon";
/// The folder in a contest's folder.
pub const FOLDER: &str = "dist";
/// The most files offered from the folder.
const MOST: usize = 20;

/// A file that is offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Download {
    /// Its name, usable in an address as it is.
    pub name: String,
    pub path: PathBuf,
    /// Its length in bytes.
    pub bytes: u64,
    /// The machine it is for, if known: `Linux, x86-64`.
    pub machine: Option<&'static str>,
    /// Whether it is the program itself, not an archive.
    pub bare: bool,
}

/// What the contest in `folder` offers, the running program first.
pub fn offers(folder: &Path) -> Vec<Download> {
    let mut all: Vec<Download> = own().into_iter().collect();
    let mut more: Vec<Download> = fs::read_dir(folder.join(FOLDER))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            // No links: only what was put there is offered.
            let about = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            let name = entry.file_name().into_string().ok().filter(|name| is_good(name))?;
            let machine = machine_of(&name);
            Some(Download { name, path: entry.path(), bytes: about.len(), machine, bare: false })
        })
        .collect();
    more.sort_by(|a, b| a.name.cmp(&b.name));
    all.extend(more.into_iter().take(MOST));
    all
}

/// The downloads that contain a program, one for each kind of machine; of several archives the one with the newest name.
pub fn for_machines(offers: &[Download]) -> impl Iterator<Item = &Download> {
    let has_program = |offer: &&Download| offer.bare || offer.name.ends_with(".tar.gz");
    let mut seen = BTreeSet::new();
    let first = offers.iter().filter(|offer| offer.bare);
    let archives = offers.iter().rev().filter(|offer| !offer.bare);
    first.chain(archives).filter(has_program).filter(move |offer| seen.insert(offer.machine))
}

/// Whether `cargo xtask dist` makes files of this name; anything else beside them is ignored.
fn is_good(name: &str) -> bool {
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    plain
        && name.len() <= 100
        && name.starts_with("agon-")
        && (name.ends_with(".tar.gz") || name.ends_with(".sha256"))
}

fn machine_of(name: &str) -> Option<&'static str> {
    match name {
        _ if name.contains("x86_64-") && name.contains("linux") => Some(X86),
        _ if name.contains("aarch64-") && name.contains("linux") => Some(ARM),
        _ => None,
    }
}

const X86: &str = "Linux, x86-64";
const ARM: &str = "Linux, arm64";

/// The running program, if any Linux can run it.
fn own() -> Option<Download> {
    static OWN_OFFER: OnceLock<Option<Download>> = OnceLock::new();
    let look = || {
        let mut file = File::open(OWN).ok()?;
        let bytes = file.metadata().ok()?.len();
        let mut head = Vec::new();
        file.by_ref().take(4096).read_to_end(&mut head).ok()?;
        let machine = needs_nothing(&head)?;
        Some(Download {
            name: OWN_NAME.to_owned(),
            path: OWN.into(),
            bytes,
            machine: Some(machine),
            bare: true,
        })
    };
    OWN_OFFER.get_or_init(look).clone()
}

/// The machine an ELF file is for, if it needs no dynamic loader; `head` is how the file begins.
fn needs_nothing(head: &[u8]) -> Option<&'static str> {
    let number = |at: usize, length: usize| -> Option<u64> {
        let bytes = head.get(at..at.checked_add(length)?)?;
        Some(bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
    };
    // 64 bits, little-endian.
    if !head.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let machine = match number(0x12, 2)? {
        62 => X86,
        183 => ARM,
        _ => return None,
    };
    let (at, size, count) = (number(0x20, 8)?, number(0x36, 2)?, number(0x38, 2)?);
    for segment in 0..count {
        let place = usize::try_from(at.checked_add(segment * size)?).ok()?;
        // PT_INTERP: the loader.
        if number(place, 4)? == 3 {
            return None;
        }
    }
    Some(machine)
}

/// The SHA-256 of the running program; read once.
///
/// # Errors
/// When it cannot be read.
pub fn own_sha() -> io::Result<String> {
    static SHA: OnceLock<String> = OnceLock::new();
    if let Some(sha) = SHA.get() {
        return Ok(sha.clone());
    }
    let mut hash = Sha256::new();
    let (mut file, mut piece) = (File::open(OWN)?, vec![0; 64 << 10]);
    loop {
        match file.read(&mut piece)? {
            0 => break,
            length => hash.update(&piece[..length]),
        }
    }
    let sha: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(SHA.get_or_init(|| sha).clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF head for a machine with segments of these kinds.
    fn elf(machine: u16, segments: &[u32]) -> Vec<u8> {
        let mut head = vec![0; 64];
        head[..6].copy_from_slice(b"\x7fELF\x02\x01");
        head[0x12..0x14].copy_from_slice(&machine.to_le_bytes());
        head[0x20] = 64;
        head[0x36] = 56;
        head[0x38] = u8::try_from(segments.len()).expect("few");
        for kind in segments {
            let mut segment = vec![0; 56];
            segment[..4].copy_from_slice(&kind.to_le_bytes());
            head.extend(segment);
        }
        head
    }

    #[test]
    fn only_a_program_that_asks_for_no_loader_is_for_every_linux() {
        assert_eq!(needs_nothing(&elf(62, &[6, 1, 1])), Some(X86));
        assert_eq!(needs_nothing(&elf(183, &[1, 2])), Some(ARM));
        assert_eq!(needs_nothing(&elf(62, &[6, 3, 1])), None, "it asks for a loader");
        assert_eq!(needs_nothing(&elf(8, &[1])), None, "another machine");
        let cut = elf(62, &[6, 1]);
        assert_eq!(needs_nothing(&cut[..100]), None, "cut off");
        let mut far = elf(62, &[1]);
        far[0x20..0x28].copy_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(needs_nothing(&far), None);
        assert_eq!(needs_nothing(b"#!/bin/sh"), None);
    }

    #[test]
    fn what_lies_in_the_folder_is_offered_when_it_is_an_archive_of_agon() {
        let folder = tempfile::tempdir().expect("a folder");
        let dist = folder.path().join(FOLDER);
        fs::create_dir_all(dist.join("agon-folder.tar.gz")).expect("made");
        for name in [
            "agon-1-x86_64-unknown-linux-gnu.tar.gz",
            "agon-1-aarch64-unknown-linux-gnu.tar.gz",
            "notes.txt",
            "agon-1 x.tar.gz",
        ] {
            fs::write(dist.join(name), "x").expect("written");
        }
        std::os::unix::fs::symlink("/etc/passwd", dist.join("agon-link.tar.gz")).expect("linked");
        let found: Vec<_> = offers(folder.path()).into_iter().filter(|offer| !offer.bare).collect();
        let told: Vec<_> = found.iter().map(|offer| (offer.machine, offer.bytes)).collect();
        assert_eq!(told, [(Some(ARM), 1), (Some(X86), 1)]);
    }

    #[test]
    fn each_kind_of_machine_gets_the_program_itself_or_the_last_archive() {
        let archive = |name: &str| Download {
            name: name.to_owned(),
            path: PathBuf::new(),
            bytes: 1,
            machine: machine_of(name),
            bare: false,
        };
        let own = Download { bare: true, machine: Some(X86), ..archive(OWN_NAME) };
        let names = [
            "agon-1-aarch64-unknown-linux-gnu.tar.gz",
            "agon-1-x86_64-unknown-linux-gnu.sha256",
            "agon-1-x86_64-unknown-linux-gnu.tar.gz",
            "agon-2-aarch64-unknown-linux-gnu.sha256",
            "agon-2-aarch64-unknown-linux-gnu.tar.gz",
        ];
        let all: Vec<Download> = [own].into_iter().chain(names.map(archive)).collect();
        let told = |offers| for_machines(offers).map(|offer| offer.name.as_str()).collect::<Vec<_>>();
        assert_eq!(told(&all), [OWN_NAME, names[4]]);
        assert_eq!(told(&all[1..]), [names[4], names[2]]);
        assert!(told(&all[2..3]).is_empty(), "a checksum alone");
    }
}
