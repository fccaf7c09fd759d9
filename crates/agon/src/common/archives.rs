//! Archives as bots: an archive for a contest plays like the folder in it.
//!
//! An archive is unpacked once, into the user's cache, under a name derived from its content.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _};
use std::path::{Component, Path, PathBuf};

use agon_bot::build::{cache, uncached};
use agon_bot::rights;
use agon_contest::content;
use agon_worker::unpack::{ArchiveFormat, ArchiveLimits, unpack, unpack_inside};

use crate::common::sandbox::Bots;

/// Archives larger than this many bytes are refused.
const LARGEST: u64 = 512 << 20;

fn form(path: &Path) -> Option<ArchiveFormat> {
    let name = path.file_name()?.to_str()?.to_lowercase();
    match () {
        () if name.ends_with(".zip") => Some(ArchiveFormat::Zip),
        () if name.ends_with(".tar") => Some(ArchiveFormat::Tar),
        () if name.ends_with(".tar.gz") || name.ends_with(".tgz") => Some(ArchiveFormat::TarGz),
        () => None,
    }
}

/// What a path means that may lead into an archive, as `bots.zip/mine` does: an archive's folder, or what lies there. None when
/// no archive is in it.
///
/// # Errors
/// A sentence that names the file, and what is wrong with it.
pub fn within(path: &Path, bots: &Bots) -> Result<Option<PathBuf>, String> {
    if path.exists() {
        return unpacked(path, bots);
    }
    let Some(archive) = path.ancestors().skip(1).find(|above| above.is_file()) else { return Ok(None) };
    let Some(folder) = unpacked(archive, bots)? else { return Ok(None) };
    let inner = path.strip_prefix(archive).unwrap_or(Path::new(""));
    if !inner.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(format!("{}: name what is in the archive, without `..`", path.display()));
    }
    // With the archive's only folder or without it, as people see it.
    let places = [folder.join(inner), folder.parent().unwrap_or(&folder).join(inner)];
    match places.into_iter().find(|place| place.exists()) {
        Some(place) => Ok(Some(place)),
        None => Err(format!("{}: there is no `{}` in the archive", archive.display(), inner.display())),
    }
}

/// The folder with the content of the archive; none when `path` is no archive.
///
/// # Errors
/// A sentence that names the file, and what is wrong with it.
fn unpacked(path: &Path, bots: &Bots) -> Result<Option<PathBuf>, String> {
    let Some(form) = form(path).filter(|_| path.is_file()) else { return Ok(None) };
    let wrong = |why: String| format!("{}: {why}", path.display());
    let mut file = File::open(path).map_err(|error| wrong(error.to_string()))?;
    let size = file.metadata().map_err(|error| wrong(error.to_string()))?.len();
    if size > LARGEST {
        return Err(wrong(format!("an archive of {} MiB; at most {} are read", size >> 20, LARGEST >> 20)));
    }
    let mut bytes = Vec::new();
    file.by_ref().take(LARGEST).read_to_end(&mut bytes).map_err(|error| wrong(error.to_string()))?;
    let stem = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = stem.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or("bot").to_owned();
    let place = cache().join("unpacked").join(format!("{:016x}", content::of_text(&bytes)));
    drop(bytes);
    let inner = place.join(&stem);
    if !place.is_dir() {
        file.rewind().map_err(|error| wrong(error.to_string()))?;
        let draft = place.with_extension(format!("{}.new", std::process::id()));
        let done = rights::create_shown_folder(&draft.join(&stem))
            .map_err(|error| uncached(&draft, &error))
            .and_then(|()| {
                let into = draft.join(&stem);
                match bots.holds_strangers() {
                    true => unpack_inside(&into, form, ArchiveLimits::OWN, file).map_err(wrong),
                    false => unpack(&into, form, ArchiveLimits::OWN, file).map_err(wrong),
                }
            })
            .and_then(|()| match fs::rename(&draft, &place) {
                // Another process was faster.
                Err(_) if place.is_dir() => Ok(()),
                done => done.map_err(|error| uncached(&place, &error)),
            });
        let _ = fs::remove_dir_all(&draft);
        done?;
    }
    // An archive with the same content but another name may have been unpacked first.
    let inner = if inner.is_dir() { inner } else { only_folder(&place).unwrap_or(inner) };
    Ok(Some(only_folder(&inner).unwrap_or(inner)))
}

/// The only entry of a folder, if it is a folder.
fn only_folder(folder: &Path) -> Option<PathBuf> {
    let mut entries = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    entries.next().filter(|only| only.is_dir() && entries.next().is_none())
}
