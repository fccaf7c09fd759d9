//! Writes an image: into a folder of another name, which is renamed when all is there.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use sha2::{Digest as _, Sha256};

use super::gather::{Gathered, Gathering};
use super::list::{ImageHead, Listed, written};
use super::{FILES, ImageError, ImageSet, ROOT};
use crate::rights;

/// What stays free on the disk besides an image.
const SPARE: u64 = 64 << 20;
/// All files of images have this date, since no tool may depend on when an image was made: some second of 2001.
pub const DATE: Duration = Duration::from_secs(1_000_000_000);
/// Threads that copy.
const COPIERS: usize = 2;

/// Writes an image into `draft`; returns its hash.
///
/// # Errors
/// The disk is full, or a file changed meanwhile.
pub fn make(set: &ImageSet, gathering: &Gathering, draft: &Path) -> Result<String, ImageError> {
    let wrong = |path: &Path| {
        let path = path.to_owned();
        move |error: io::Error| ImageError::Write(path, error)
    };
    fs::create_dir_all(draft).map_err(wrong(draft))?;
    let sizes = gathering.files.values().map(|file| match file {
        Gathered::File { bytes, .. } | Gathered::Brought { bytes, .. } => *bytes,
        _ => 0,
    });
    check_room(draft, sizes)?;
    let root = draft.join(ROOT);
    let at = |path: &Path| root.join(path.strip_prefix("/").unwrap_or(path));
    let kept = sound(gathering);
    let mut folders: BTreeSet<&Path> = [Path::new("/")].into();
    for (path, file) in &kept {
        let own = matches!(file, Gathered::Folder).then_some(*path);
        folders.extend(path.ancestors().skip(1).chain(own));
    }
    for folder in &folders {
        let place = at(folder);
        fs::create_dir(&place)
            .and_then(|()| fs::set_permissions(&place, Permissions::from_mode(0o755)))
            .map_err(wrong(&place))?;
    }
    let next = AtomicUsize::new(0);
    let copy = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some((path, file)) = kept.get(index) else { return Ok(done) };
            let place = at(path);
            let (from, runs) = match file {
                Gathered::File { runs, .. } => (*path, *runs),
                Gathered::Brought { from, runs, .. } => (from.as_path(), *runs),
                _ => (*path, false),
            };
            let listed = match file {
                // When all files are there.
                Gathered::Twin(_) => continue,
                Gathered::Folder => Listed::Folder,
                Gathered::Link(target) => {
                    symlink(target, &place).map_err(wrong(&place))?;
                    Listed::Link(target.clone())
                }
                Gathered::File { .. } | Gathered::Brought { .. } => match copied(from, &place, runs) {
                    Ok((hash, bytes)) => Listed::File { hash, bytes, runs },
                    // It has just been removed, or is only for others to read: as if it had never been there.
                    Err(error)
                        if matches!(
                            error.kind(),
                            io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied
                        ) && !place.exists() =>
                    {
                        continue;
                    }
                    Err(error) => return Err(ImageError::Write(place, error)),
                },
            };
            done.push((index, listed));
        }
    };
    let parts: Vec<Result<Vec<(usize, Listed)>, ImageError>> = std::thread::scope(|scope| {
        let copiers: Vec<_> = (0..COPIERS).map(|_| scope.spawn(copy)).collect();
        copiers.into_iter().filter_map(|copier| copier.join().ok()).collect()
    });
    let mut lines = Vec::new();
    for part in parts {
        lines.extend(part?);
    }
    for (index, (path, file)) in kept.iter().enumerate() {
        let Gathered::Twin(first) = file else { continue };
        let place = at(path);
        match fs::hard_link(at(first), &place) {
            Ok(()) => lines.push((index, Listed::Twin(first.clone()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(ImageError::Write(place, error)),
        }
    }
    lines.sort_by_key(|(index, _)| *index);
    let head = ImageHead {
        set: set.clone(),
        path: gathering.path.clone(),
        places: gathering.places.iter().cloned().collect(),
        ..ImageHead::default()
    };
    let list = written(&head, lines.iter().map(|(index, listed)| (kept[*index].0, listed)));
    let file = draft.join(FILES);
    rights::create_private(&file)
        .and_then(|mut file| {
            file.write_all(list.as_bytes())?;
            file.sync_all()
        })
        .map_err(wrong(&file))?;
    Ok(hex(&Sha256::digest(list.as_bytes())))
}

/// Whether there is room for files of these sizes.
///
/// # Errors
/// There is none.
pub fn check_room(draft: &Path, sizes: impl Iterator<Item = u64>) -> Result<(), ImageError> {
    // Files take whole blocks.
    let needed = sizes.map(|bytes| bytes.next_multiple_of(4096)).sum::<u64>() + SPARE;
    let wrong = |error: rustix::io::Errno| ImageError::Write(draft.to_owned(), error.into());
    let disk = rustix::fs::statvfs(draft).map_err(wrong)?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    match free < needed {
        true => Err(ImageError::Full { place: draft.parent().unwrap_or(draft).to_owned(), needed, free }),
        false => Ok(()),
    }
}

/// What can be written: a path goes through no link, and is a line of the list.
fn sound(gathering: &Gathering) -> Vec<(&Path, &Gathered)> {
    let is_plain = |path: &Path| path.to_str().is_some_and(|text| !text.contains(['\n', '\t']));
    let through_link = |path: &Path| {
        path.ancestors().skip(1).any(|above| matches!(gathering.files.get(above), Some(Gathered::Link(_))))
    };
    let all = gathering.files.iter().map(|(path, file)| (path.as_path(), file));
    all.filter(|(path, file)| {
        let target = match file {
            Gathered::Link(target) => is_plain(target),
            _ => true,
        };
        is_plain(path) && target && !through_link(path)
    })
    .collect()
}

/// Copies a file; returns the hash and the size of what was written.
fn copied(from: &Path, to: &Path, runs: bool) -> io::Result<(String, u64)> {
    let mut source = File::open(from)?;
    let mode = if runs { 0o755 } else { 0o644 };
    let mut target = OpenOptions::new().write(true).create_new(true).mode(mode).open(to)?;
    let compiled = from.extension().is_some_and(|ending| ending == "pyc");
    let (mut hash, mut bytes) = (Sha256::new(), 0);
    let mut part = vec![0; 256 << 10];
    let mut first = true;
    loop {
        let count = source.read(&mut part)?;
        if count == 0 {
            break;
        }
        if std::mem::take(&mut first) && compiled {
            let is_current = undate(&mut part[..count], source_of(from));
            if !is_current {
                drop(target);
                fs::remove_file(to)?;
                return Err(io::ErrorKind::NotFound.into());
            }
        }
        hash.update(&part[..count]);
        target.write_all(&part[..count])?;
        bytes += count as u64;
    }
    target.set_permissions(Permissions::from_mode(mode))?;
    target.set_modified(SystemTime::UNIX_EPOCH + DATE)?;
    Ok((hex(&hash.finalize()), bytes))
}

/// The date and the size of the source of what Python has compiled, as it notes them.
fn source_of(compiled: &Path) -> Option<(u32, u32)> {
    let name = compiled.file_name()?.to_string_lossy();
    let stem = name.split('.').next()?;
    let about = fs::metadata(compiled.parent()?.parent()?.join(format!("{stem}.py"))).ok()?;
    Some((std::os::unix::fs::MetadataExt::mtime(&about) as u32, about.len() as u32))
}

/// Makes what Python has compiled valid whatever the date of its source, if it is valid now. Returns whether it is.
///
/// The head of such a file is four numbers: which Python, flags, and the source's date and size. With the lowest flag the
/// last two are a hash that nobody compares (PEP 552).
pub fn undate(head: &mut [u8], source: Option<(u32, u32)>) -> bool {
    let number = |head: &[u8], at: usize| Some(u32::from_le_bytes(head.get(at..at + 4)?.try_into().ok()?));
    let Some(flags) = number(head, 4) else { return false };
    if flags != 0 {
        return flags == 1;
    }
    if source.is_none() || number(head, 8).zip(number(head, 12)) != source {
        return false;
    }
    head[4] = 1;
    head[8..16].fill(0);
    true
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_python_compiled_holds_without_its_date_and_what_is_old_does_not() {
        let at = tempfile::tempdir().expect("a folder");
        let (source, folder) = (at.path().join("m.py"), at.path().join("__pycache__"));
        fs::create_dir(&folder).expect("a folder");
        fs::write(&source, "x = 1\n").expect("written");
        let date = SystemTime::UNIX_EPOCH + Duration::from_secs(1_234_567_890);
        File::options().append(true).open(&source).and_then(|file| file.set_modified(date)).expect("dated");
        let compiled = folder.join("m.cpython-311.pyc");
        let head = |date: u32, size: u32| {
            let numbers = [0x0a0d_0da7_u32, 0, date, size];
            numbers.into_iter().flat_map(u32::to_le_bytes).collect::<Vec<u8>>()
        };
        let mut good = head(1_234_567_890, 6);
        assert!(undate(&mut good, source_of(&compiled)));
        assert_eq!(good[4..16], [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        for mut old in [head(1_234_567_889, 6), head(1_234_567_890, 7), vec![0; 6]] {
            assert!(!undate(&mut old, source_of(&compiled)));
        }
    }
}
