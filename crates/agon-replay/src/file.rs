//! Opens files that anybody may have put there: a pipe would never end and may block at once, and opening a
//! device may have side effects.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a regular file for reading.
///
/// # Errors
/// When it cannot be opened, or is a folder, a pipe, a socket or a device.
pub fn open(path: &Path) -> io::Result<File> {
    regular(&std::fs::metadata(path)?)?;
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    let file = OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(path)?;
    // The file may have been replaced since.
    regular(&file.metadata()?)?;
    Ok(file)
}

/// The content of a regular file of at most `most` bytes.
///
/// # Errors
/// As [`open`], and when it is larger.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let too_large = || io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {} MiB", most >> 20));
    let length = file.metadata()?.len();
    if length > most {
        return Err(too_large());
    }
    let mut content = Vec::with_capacity(length as usize);
    // It may grow while being read.
    file.take(most + 1).read_to_end(&mut content)?;
    if content.len() as u64 > most { Err(too_large()) } else { Ok(content) }
}

fn regular(found: &Metadata) -> io::Result<()> {
    let kind = match found.file_type() {
        kind if kind.is_file() => return Ok(()),
        kind if kind.is_dir() => "this is a folder, not a file",
        _ => "this is a pipe, a socket or a device, not a file",
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, kind))
}
