//! Files of matches recorded by the originals: plain, or packed with gzip.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::file;

/// A record larger than this, packed or unpacked, is refused.
pub const LARGEST: u64 = 512 << 20;

/// The content of a file, unpacked if it is gzip; if that was cut off, what is there.
///
/// # Errors
/// When the file cannot be read, is damaged, or is larger than [`LARGEST`].
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    unpacked(file::read(path, LARGEST)?)
}

/// The content of a file with these bytes, unpacked if they are gzip.
///
/// # Errors
/// When they are damaged, or more than [`LARGEST`].
pub fn unpacked(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(bytes);
    }
    let mut unpacked = Vec::new();
    let mut decoder = flate2::read::MultiGzDecoder::new(&bytes[..]).take(LARGEST + 1);
    match decoder.read_to_end(&mut unpacked) {
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => return Err(error),
        _ => {}
    }
    if unpacked.len() as u64 > LARGEST {
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
