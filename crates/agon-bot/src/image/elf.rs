//! What the loader needs to start a program or library: read from the file itself, which is not run.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// What is read of a file's tables at most.
const MOST: usize = 1 << 20;
/// What is read of a name, or a list of folders.
const LONGEST_NAME: usize = 4096;
const LOADED: u32 = 1;
const DYNAMIC: u32 = 2;
const INTERPRETER: u32 = 3;

/// Which machine a file is for: its word size and its processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElfTarget {
    bits: u8,
    processor: u16,
}

/// What a program or library asks the loader for.
#[derive(Debug)]
pub struct ElfFile {
    pub machine: ElfTarget,
    pub loader: Option<PathBuf>,
    /// The names of libraries.
    pub libraries: Vec<String>,
    /// Where it wants them looked for first.
    pub folders: Vec<PathBuf>,
}

impl ElfFile {
    /// Reads a file; none for everything but a sound ELF file in this machine's order of bytes.
    pub fn read(path: &Path) -> Option<Self> {
        let file = File::open(path).ok()?;
        let head = bytes(&file, 0, 64)?;
        if head.get(..4)? != b"\x7fELF" || *head.get(5)? != if cfg!(target_endian = "little") { 1 } else { 2 }
        {
            return None;
        }
        let wide = match head.get(4)? {
            1 => false,
            2 => true,
            _ => return None,
        };
        let machine = ElfTarget { bits: head[4], processor: half(&head, 18)? };
        let (table, size, count) = match wide {
            true => (word(&head, 32)?, half(&head, 54)?, half(&head, 56)?),
            false => (long(&head, 28)?.into(), half(&head, 42)?, half(&head, 44)?),
        };
        let mut found = Self { machine, loader: None, libraries: Vec::new(), folders: Vec::new() };
        let (mut loaded, mut dynamic) = (Vec::new(), None);
        let table = bytes(&file, table, usize::from(size) * usize::from(count))?;
        for entry in table.chunks_exact(usize::from(size.max(1))) {
            let (at, address, length) = match wide {
                true => (word(entry, 8)?, word(entry, 16)?, word(entry, 32)?),
                false => (long(entry, 4)?.into(), long(entry, 8)?.into(), long(entry, 16)?.into()),
            };
            match long(entry, 0)? {
                LOADED => loaded.push((address, length, at)),
                DYNAMIC => dynamic = Some((at, length)),
                INTERPRETER => {
                    let name = bytes(&file, at, usize::try_from(length).ok()?)?;
                    found.loader = text(&name, 0).map(PathBuf::from);
                }
                _ => {}
            }
        }
        let Some((at, length)) = dynamic else { return Some(found) };
        let step = if wide { 16 } else { 8 };
        let mut names = (None, 0);
        let (mut libraries, mut folders) = (Vec::new(), Vec::new());
        for entry in bytes(&file, at, usize::try_from(length).ok()?)?.chunks_exact(step) {
            let (tag, value) = match wide {
                true => (word(entry, 0)?, word(entry, 8)?),
                false => (long(entry, 0)?.into(), long(entry, 4)?.into()),
            };
            match tag {
                0 => break,
                1 => libraries.push(value),
                5 => names.0 = Some(value),
                10 => names.1 = value,
                15 | 29 => folders.push(value),
                _ => {}
            }
        }
        let (Some(address), length) = names else { return Some(found) };
        let holds = |(start, length, _): &&(u64, u64, u64)| {
            address.checked_sub(*start).is_some_and(|into| into < *length)
        };
        let Some((start, _, at)) = loaded.iter().find(holds) else { return Some(found) };
        let names = at.checked_add(address - start)?;
        // The whole table may be megabytes: it also has the names of everything that the program offers.
        let name = |into: u64| {
            let room = usize::try_from(length.checked_sub(into)?).ok()?.min(LONGEST_NAME);
            text(&bytes(&file, names.checked_add(into)?, room)?, 0).map(str::to_owned)
        };
        found.libraries = libraries.into_iter().filter_map(name).collect();
        let own = path.parent().unwrap_or(path).to_string_lossy();
        let full = |folder: &str| folder.replace("${ORIGIN}", &own).replace("$ORIGIN", &own);
        let lists: Vec<String> = folders.into_iter().filter_map(name).collect();
        let all = lists.iter().flat_map(|list| list.split(':')).map(full).map(PathBuf::from);
        found.folders = all.filter(|folder| folder.is_absolute()).collect();
        Some(found)
    }
}

fn bytes(file: &File, at: u64, count: usize) -> Option<Vec<u8>> {
    if count > MOST {
        return None;
    }
    let mut bytes = vec![0; count];
    file.read_exact_at(&mut bytes, at).ok().map(|()| bytes)
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

fn text(bytes: &[u8], at: usize) -> Option<&str> {
    let rest = bytes.get(at..)?;
    std::str::from_utf8(&rest[..rest.iter().position(|byte| *byte == 0)?]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_names_its_loader_and_libraries() {
        let found = ElfFile::read(&std::env::current_exe().expect("a program")).expect("ELF");
        assert!(found.loader.is_some_and(|loader| loader.is_file()));
        assert!(found.libraries.iter().any(|name| name.starts_with("libc.")), "{:?}", found.libraries);
    }

    #[test]
    fn cut_and_changed_files_are_no_programs_or_sound() {
        let at = tempfile::tempdir().expect("a folder");
        let mut whole = std::fs::read("/bin/sh").expect("a shell");
        whole.truncate(64 << 10);
        let file = at.path().join("sh");
        for length in [0, 3, 5, 63, 64, 100, 700] {
            std::fs::write(&file, &whole[..length]).expect("written");
            let _ = ElfFile::read(&file);
        }
        // Every byte of the header, with the values that are most often too much.
        for place in 0..64 {
            for value in [0, 1, 0x7f, 0xff] {
                let mut changed = whole.clone();
                changed[place] = value;
                std::fs::write(&file, changed).expect("written");
                let _ = ElfFile::read(&file);
            }
        }
        std::fs::write(&file, "#!/bin/sh\n").expect("written");
        assert!(ElfFile::read(&file).is_none());
    }
}
