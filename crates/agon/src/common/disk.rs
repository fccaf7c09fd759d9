//! Files that name themselves in write errors.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

/// A file being written, with its name.
pub(crate) struct Named {
    path: PathBuf,
    file: File,
}

impl Named {
    /// The open `file` at `path`.
    pub fn new(path: PathBuf, file: File) -> Self {
        Self { path, file }
    }

    fn told(&self, error: io::Error, more: usize) -> io::Error {
        let path = self.path.display();
        let why = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => format!(
                "{path}: the disk is full, {more} more bytes did not fit; make room and play again. What was there before is as it \
                 was"
            ),
            io::ErrorKind::BrokenPipe => return error,
            _ => format!("{path}: {error}"),
        };
        io::Error::new(error.kind(), why)
    }
}

impl Write for Named {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(|error| self.told(error, bytes.len()))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush().map_err(|error| self.told(error, 0))
    }
}
