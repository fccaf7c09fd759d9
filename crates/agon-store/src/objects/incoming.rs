//! Bytes that arrive slowly: kept on disk until all are there.

use std::io;

use sha2::{Digest as _, Sha256};
use tempfile::TempPath;
use tokio::fs::File;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _, AsyncWriteExt as _};

use super::{DRAFT, Objects, Shelf, fits, in_folder};
use crate::Sha;

/// How many of the first bytes are kept at hand during arrival: enough to recognise the format.
pub const HEAD: usize = 1024;
/// Bytes copied at a time.
const PIECE: usize = 64 << 10;

/// An object that is arriving. If it is dropped before it is kept, nothing of it is left.
#[derive(Debug)]
pub struct Incoming {
    file: File,
    draft: TempPath,
    hash: Sha256,
    head: Vec<u8>,
    size: u64,
}

impl Incoming {
    /// Adds a piece.
    ///
    /// # Errors
    /// Disk errors.
    pub async fn add(&mut self, piece: &[u8]) -> io::Result<()> {
        self.file.write_all(piece).await?;
        self.hash.update(piece);
        self.head.extend(piece.iter().take(HEAD - self.head.len()));
        self.size += piece.len() as u64;
        Ok(())
    }

    /// The number of bytes so far.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The first bytes, at most [`HEAD`].
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    pub fn sha(&self) -> Sha {
        Sha::from(self.hash.clone())
    }
}

impl Objects {
    /// Begins an incoming object: on the disk of the objects, or for a bucket in the contest's folder.
    ///
    /// # Errors
    /// Disk errors.
    pub fn begin(&self) -> io::Result<Incoming> {
        std::fs::create_dir_all(&self.drafts)?;
        let file = tempfile::Builder::new().prefix(DRAFT).tempfile_in(&self.drafts)?;
        let (file, draft) = file.into_parts();
        let (hash, head) = (Sha256::new(), Vec::with_capacity(HEAD));
        Ok(Incoming { file: File::from_std(file), draft, hash, head, size: 0 })
    }

    /// Puts the same bytes between two others.
    ///
    /// # Errors
    /// Disk errors.
    pub async fn framed(&self, mut within: Incoming, before: &[u8], after: &[u8]) -> io::Result<Incoming> {
        let mut whole = self.begin()?;
        whole.add(before).await?;
        within.file.flush().await?;
        within.file.rewind().await?;
        let mut piece = vec![0; PIECE];
        loop {
            match within.file.read(&mut piece).await? {
                0 => break,
                count => whole.add(&piece[..count]).await?,
            }
        }
        whole.add(after).await?;
        Ok(whole)
    }

    /// Keeps what arrived, whole, as [`put`](Self::put) does.
    ///
    /// # Errors
    /// Storage errors, and those of [`put`](Self::put).
    pub async fn finish(&self, mut incoming: Incoming) -> io::Result<Sha> {
        fits(incoming.size)?;
        let sha = incoming.sha();
        incoming.file.flush().await?;
        let draft = incoming.draft;
        match &self.shelf {
            Shelf::Folder(folder) => in_folder(folder, move |folder| folder.keep(&sha, draft)).await?,
            #[cfg(feature = "scale")]
            Shelf::Bucket(bucket) => bucket.keep(&sha, draft).await?,
        }
        Ok(sha)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn came(objects: &Objects, pieces: &[&[u8]]) -> Incoming {
        let mut incoming = objects.begin().expect("room");
        for piece in pieces {
            incoming.add(piece).await.expect("room");
        }
        incoming
    }

    fn files(folder: &std::path::Path) -> usize {
        let entries =
            std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        entries.map(|path| if path.is_dir() { files(&path) } else { 1 }).sum()
    }

    #[tokio::test]
    async fn what_comes_in_pieces_is_kept_whole_or_not_at_all() {
        let folder = tempfile::tempdir().expect("a folder");
        let objects = Objects::open(folder.path()).expect("a folder");
        let broken = came(&objects, &[b"half of"]).await;
        assert_eq!(objects.list().await.expect("looked"), [], "nobody sees what is not whole");
        drop(broken);
        assert_eq!(files(folder.path()), 0, "nothing is left of what breaks off");
        let large = [7; 2 * PIECE];
        let incoming = came(&objects, &[b"a ", &large]).await;
        assert_eq!((incoming.size(), incoming.head().len()), (2 + large.len() as u64, HEAD));
        let framed = objects.framed(incoming, b"<", b">").await.expect("room");
        let whole = [b"<a ".as_slice(), &large, b">"].concat();
        assert_eq!((framed.sha(), framed.size()), (Sha::of(&whole), whole.len() as u64));
        assert_eq!(files(folder.path()), 1, "what it was framed from is gone");
        // However often it comes, it is the same object.
        let again = came(&objects, &[&whole]).await;
        let sha = objects.finish(framed).await.expect("kept");
        assert_eq!(objects.finish(again).await.expect("kept"), sha);
        assert_eq!(objects.get(&sha, 1 << 20).await.expect("there"), whole);
        assert_eq!((objects.list().await.expect("one"), files(folder.path())), (vec![sha], 1));
        // The leftovers of a killed process are removed at the next start.
        let left = came(&objects, &[b"half of"]).await;
        left.draft.keep().expect("left there");
        objects.sweep_drafts();
        assert_eq!(files(folder.path()), 1);
    }
}
