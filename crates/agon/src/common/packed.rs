//! A bot as one archive, to send to the machines that play it.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use agon_bot::{BotName, NameKind};
use agon_worker::pack::{pack, received};

use crate::common::{Failure, builds};

/// The archive of a bot that is a folder or a file: its files, or the file with the framing that makes it an archive.
///
/// # Errors
/// When it is neither, cannot run, or is too large.
pub fn packed(name: &BotName) -> Result<Vec<u8>, Failure> {
    let NameKind::Path(path) = &name.kind else {
        return Err(Failure::usage(format!("bot `{name}`: give a folder, a file or an archive")));
    };
    if !path.exists() {
        return Err(Failure::usage(format!("bot `{name}`: no such file or folder")));
    }
    builds::can_be_handed_in(name)?;
    let archive = if path.is_file() { framed(path) } else { pack(path) };
    archive.map_err(|why| Failure::usage(format!("bot `{name}`: {why}")))
}

fn framed(path: &Path) -> Result<Vec<u8>, String> {
    let (bytes, size) = read(path, agon_worker::pack::LARGEST).map_err(|error| error.to_string())?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let frame = received(&name, &bytes, size)
        .map_err(|unfit| format!("{} {}", unfit.what, unfit.fix.unwrap_or_default()))?;
    Ok([frame.before, bytes, frame.after].concat())
}

/// The first `most` bytes of a file, and its size.
///
/// # Errors
/// Those of the system.
pub fn read(path: &Path, most: u64) -> io::Result<(Vec<u8>, u64)> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    // Some files, such as pipes, have no size.
    let size = size.max(bytes.len() as u64);
    Ok((bytes, size))
}
