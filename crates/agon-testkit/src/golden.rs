//! Finding and unpacking recorded matches of the originals.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// A record larger than this, unpacked, is refused.
pub const LARGEST_RECORD: u64 = 512 << 20;

/// The folder of recorded matches of `game`: below `$AGON_GOLDEN`, or below `shared/golden`
/// beside the checkout. Where it is missing, says so on standard error and gives `None`, unless
/// `AGON_REQUIRE_GOLDEN` is set.
///
/// # Panics
/// When the folder is missing and `AGON_REQUIRE_GOLDEN` is set.
pub fn folder(game: &str) -> Option<PathBuf> {
    let root = std::env::var_os("AGON_GOLDEN")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/golden"), PathBuf::from);
    let folder = root.join(game);
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(
        std::env::var_os("AGON_REQUIRE_GOLDEN").is_none(),
        "golden records are required, but {} is not there",
        folder.display()
    );
    eprintln!("SKIPPED: no golden records at {} (set AGON_GOLDEN)", folder.display());
    None
}

/// The content of a file, unpacked when it is gzip; of one that was cut, what is there.
///
/// # Errors
/// When the file cannot be read, is damaged, or is larger than [`LARGEST_RECORD`].
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    unpacked(std::fs::read(path)?)
}

/// The content of a file with these bytes: unpacked, when they are gzip.
///
/// # Errors
/// When they are damaged, or more than [`LARGEST_RECORD`].
pub fn unpacked(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(bytes);
    }
    let mut unpacked = Vec::new();
    let mut decoder = flate2::read::MultiGzDecoder::new(&bytes[..]).take(LARGEST_RECORD + 1);
    match decoder.read_to_end(&mut unpacked) {
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => return Err(error),
        _ => {}
    }
    if unpacked.len() as u64 > LARGEST_RECORD {
        return Err(io::Error::other("unpacks to more than 512 MiB"));
    }
    Ok(unpacked)
}

/// All files below `folder`, sorted.
///
/// # Errors
/// When a folder cannot be read.
pub fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    Ok(found)
}
