//! A zip archive that appears under its name only when it is complete.

use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use agon_store::StoreError;
use tempfile::NamedTempFile;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::ServerError;

/// Whether a file is compressed in the archive.
#[derive(Clone, Copy, Debug)]
pub enum Pack {
    /// It is text, or a database.
    Yes,
    /// It is compressed already.
    No,
}

/// An archive being written, which only its owner can read. If it is dropped before [`finish`](Self::finish), there is none.
pub struct Archive<'a> {
    file: &'a Path,
    zip: ZipWriter<BufWriter<NamedTempFile>>,
}

impl<'a> Archive<'a> {
    /// Begins a new archive.
    ///
    /// # Errors
    /// When the file exists already, or it cannot be made.
    pub fn new(file: &'a Path) -> Result<Self, ServerError> {
        if file.exists() {
            return Err(there_is_one(file));
        }
        let draft = tempfile::Builder::new()
            .prefix(".agon-")
            .suffix(".part")
            .tempfile_in(above(file))
            .map_err(|error| unwritten(file, error))?;
        Ok(Self { file, zip: ZipWriter::new(BufWriter::new(draft)) })
    }

    /// Begins a file in the archive, to be written next.
    ///
    /// # Errors
    /// Disk errors.
    pub fn begin(&mut self, name: impl Into<String>, pack: Pack) -> Result<(), ServerError> {
        let method = match pack {
            Pack::Yes => CompressionMethod::Deflated,
            Pack::No => CompressionMethod::Stored,
        };
        // No time stamps, so that the same content gives the same archive.
        let options = SimpleFileOptions::default()
            .compression_method(method)
            .last_modified_time(DateTime::default())
            .large_file(true);
        let begun = self.zip.start_file(name.into(), options);
        begun.map_err(|error| unwritten(self.file, io::Error::other(error)))
    }

    /// Appends to the current file.
    ///
    /// # Errors
    /// Disk errors.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), ServerError> {
        self.zip.write_all(bytes).map_err(|error| unwritten(self.file, error))
    }

    /// Appends all that can be read, and returns its number of bytes.
    ///
    /// # Errors
    /// Disk errors.
    pub fn copy(&mut self, from: &mut impl Read) -> Result<u64, ServerError> {
        io::copy(from, &mut self.zip).map_err(|error| unwritten(self.file, error))
    }

    /// Completes the archive on the disk.
    ///
    /// # Errors
    /// Disk errors, and when such a file has appeared meanwhile.
    pub fn finish(self) -> Result<(), ServerError> {
        let failed = |error| unwritten(self.file, error);
        let written = self.zip.finish().map_err(|error| failed(io::Error::other(error)))?;
        let draft = written.into_inner().map_err(|error| failed(error.into_error()))?;
        draft.as_file().sync_all().map_err(failed)?;
        match draft.persist_noclobber(self.file) {
            Ok(_) => Ok(()),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Err(there_is_one(self.file)),
            Err(error) => Err(failed(error.error)),
        }
    }
}

/// The folder of a file.
pub fn above(file: &Path) -> &Path {
    file.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The error for a file of a contest that cannot be written or read.
pub fn unwritten(file: &Path, error: io::Error) -> ServerError {
    StoreError::File(file.display().to_string(), error).into()
}

fn there_is_one(file: &Path) -> ServerError {
    ServerError::Wrong(format!("{}: this file already exists", file.display()))
}
