//! A zip archive that nobody finds before it is whole.

use std::fs::Permissions;
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use agon_store::StoreError;
use tempfile::NamedTempFile;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::ServerError;

/// Whether what goes into an archive is made smaller first.
#[derive(Clone, Copy, Debug)]
pub enum Pack {
    /// It is text, or a database.
    Yes,
    /// It is packed already.
    No,
}

/// An archive that is being written. Dropped before [`finish`](Self::finish), there is none.
pub struct Archive<'a> {
    file: &'a Path,
    zip: ZipWriter<BufWriter<NamedTempFile>>,
}

impl<'a> Archive<'a> {
    /// A new one.
    ///
    /// # Errors
    /// When there is such a file already, or it cannot be made.
    pub fn new(file: &'a Path) -> Result<Self, ServerError> {
        if file.exists() {
            return Err(there_is_one(file));
        }
        // With the rights of a file that somebody makes, and not of a temporary one.
        let draft = tempfile::Builder::new()
            .prefix(".agon-")
            .suffix(".part")
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(above(file))
            .map_err(|error| unwritten(file, error))?;
        Ok(Self { file, zip: ZipWriter::new(BufWriter::new(draft)) })
    }

    /// Begins a file in it, which is then written.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn begin(&mut self, name: impl Into<String>, pack: Pack) -> Result<(), ServerError> {
        let method = match pack {
            Pack::Yes => CompressionMethod::Deflated,
            Pack::No => CompressionMethod::Stored,
        };
        // Of no time: the same content is the same archive.
        let options = SimpleFileOptions::default()
            .compression_method(method)
            .last_modified_time(DateTime::default())
            .large_file(true);
        let begun = self.zip.start_file(name.into(), options);
        begun.map_err(|error| unwritten(self.file, io::Error::other(error)))
    }

    /// Writes on in the file that was begun.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), ServerError> {
        self.zip.write_all(bytes).map_err(|error| unwritten(self.file, error))
    }

    /// The same with all that can be read; how many bytes that is.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn copy(&mut self, from: &mut impl Read) -> Result<u64, ServerError> {
        io::copy(from, &mut self.zip).map_err(|error| unwritten(self.file, error))
    }

    /// It is whole, and on the disk.
    ///
    /// # Errors
    /// Those of the disk, and when somebody made such a file meanwhile.
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

/// The folder that something lies in.
pub fn above(file: &Path) -> &Path {
    file.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Why something of a contest cannot be written, or read.
pub fn unwritten(file: &Path, error: io::Error) -> ServerError {
    StoreError::File(file.display().to_string(), error).into()
}

fn there_is_one(file: &Path) -> ServerError {
    ServerError::Wrong(format!("{}: there is such a file already", file.display()))
}
