//! Bytes by their hash: uploads, replays, build logs. An object never changes, so it does not matter who writes it, or how often.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use futures_util::{StreamExt as _, TryStreamExt as _};

use crate::{Sha, StoreError};

#[cfg(feature = "scale")]
mod bucket;
mod folder;
mod incoming;
mod places;

#[cfg(feature = "scale")]
use bucket::Bucket;
use folder::Folder;
pub use incoming::{HEAD, Incoming};
pub use places::{place_objects, relocate_objects};

/// The name of the folder of objects in a contest's folder.
pub const OBJECTS: &str = "objects";
/// The name of the file there with the address of the objects, when they are elsewhere.
pub const OBJECTS_AT: &str = "objects.url";
/// The name of the file there with the keys of a bucket, when they are not in the environment. Only its owner may read it.
pub const OBJECTS_KEY: &str = "objects.key";

/// Upper limit on the size of an object, in bytes; it also bounds the memory that a reader, such as a backup, needs.
pub const LARGEST_OBJECT: u64 = 32 << 20;

/// The name of the folder there for incoming bytes, when objects are in a bucket.
#[cfg(feature = "scale")]
const INCOMING: &str = "incoming";
/// How the names of incoming files begin.
const DRAFT: &str = "draft-";

/// How many objects are copied, read or looked up at once.
const AT_ONCE: usize = 16;
/// Objects by their hash, as `ab/cdef...`: in a folder, or in a bucket of S3 or a compatible store.
///
/// A bucket needs neither ordering nor locks: a name is written whole or not at all, and always with the same bytes.
#[derive(Clone, Debug)]
pub struct Objects {
    shelf: Shelf,
    /// Where incomplete objects are. For a folder of objects it is that folder, so that they get their names without being copied.
    drafts: PathBuf,
}

#[derive(Clone, Debug)]
enum Shelf {
    Folder(Folder),
    #[cfg(feature = "scale")]
    Bucket(Bucket),
}

/// Checks that the objects of `contest`, which need not exist, can be at a place: that this program can have them there, and has the keys.
///
/// # Errors
/// What is wrong with it, or with the program.
pub fn can_be(contest: &Path, place: &str) -> Result<(), StoreError> {
    places::checked(place)?;
    match place.starts_with(places::S3) {
        true => has_keys(place, contest),
        false => Ok(()),
    }
}

#[cfg(feature = "scale")]
fn has_keys(place: &str, contest: &Path) -> Result<(), StoreError> {
    bucket::has_keys(place, contest)
}

#[cfg(not(feature = "scale"))]
fn has_keys(_: &str, _: &Path) -> Result<(), StoreError> {
    Err(crate::lacks("buckets"))
}

impl Objects {
    /// Opens the objects of a contest's folder: in it, or where [`place_objects`] put them.
    ///
    /// # Errors
    /// When the place cannot be read or is not valid.
    pub fn open(contest: &Path) -> Result<Self, StoreError> {
        let file = contest.join(OBJECTS_AT);
        match fs::read_to_string(&file) {
            Ok(text) => Self::at(text.trim(), contest),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::in_folder(&contest.join(OBJECTS)),
            Err(error) => Err(StoreError::File(file.display().to_string(), error)),
        }
    }

    /// The folder of the objects; none for a bucket.
    pub fn folder(&self) -> Option<&Path> {
        match &self.shelf {
            Shelf::Folder(folder) => Some(folder.path()),
            #[cfg(feature = "scale")]
            Shelf::Bucket(_) => None,
        }
    }

    /// Opens the objects at a place: a folder, or `s3://BUCKET/PREFIX`. The keys of a bucket are those of `contest`.
    fn at(place: &str, contest: &Path) -> Result<Self, StoreError> {
        match place.starts_with(places::S3) {
            true => Self::in_bucket(place, contest),
            false => Self::in_folder(Path::new(place)),
        }
    }

    #[cfg(feature = "scale")]
    fn in_bucket(place: &str, contest: &Path) -> Result<Self, StoreError> {
        Ok(Self { shelf: Shelf::Bucket(Bucket::open(place, contest)?), drafts: contest.join(INCOMING) })
    }

    #[cfg(not(feature = "scale"))]
    fn in_bucket(place: &str, contest: &Path) -> Result<Self, StoreError> {
        Err(can_be(contest, place).err().unwrap_or_else(|| crate::lacks("buckets")))
    }

    fn in_folder(folder: &Path) -> Result<Self, StoreError> {
        let failed = |error: io::Error| StoreError::File(folder.display().to_string(), error);
        Ok(Self { shelf: Shelf::Folder(Folder::open(folder).map_err(failed)?), drafts: folder.to_owned() })
    }

    /// Keeps these bytes. Nobody ever sees a part of them under their name. An object that exists is written again, because
    /// [`sweep`](Self::sweep) goes by the time of the last write.
    ///
    /// # Errors
    /// Storage errors, and [`InvalidInput`](io::ErrorKind::InvalidInput) for more than [`LARGEST_OBJECT`].
    pub async fn put(&self, bytes: &[u8]) -> io::Result<Sha> {
        self.take(bytes.to_vec()).await
    }

    /// The same without a copy.
    async fn take(&self, bytes: Vec<u8>) -> io::Result<Sha> {
        match &self.shelf {
            Shelf::Folder(folder) => in_folder(folder, move |folder| folder.put(&bytes)).await,
            #[cfg(feature = "scale")]
            Shelf::Bucket(bucket) => {
                fits(bytes.len() as u64)?;
                let sha = Sha::of(&bytes);
                bucket.put(&sha, bytes).await.map(|()| sha)
            }
        }
    }

    /// The bytes with this hash.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound) when they are missing, [`InvalidData`](io::ErrorKind::InvalidData) when they are more than
    /// `most` or [`LARGEST_OBJECT`], or no longer match the hash; others are storage errors, and temporary.
    pub async fn get(&self, sha: &Sha, most: u64) -> io::Result<Vec<u8>> {
        let (sha, most) = (*sha, most.min(LARGEST_OBJECT));
        match &self.shelf {
            Shelf::Folder(folder) => in_folder(folder, move |folder| folder.get(&sha, most)).await,
            #[cfg(feature = "scale")]
            Shelf::Bucket(bucket) => bucket.get(&sha, most).await,
        }
    }

    /// Keeps several objects, each as [`put`](Self::put) does, and returns their hashes in the same order. Some may be kept when one fails.
    ///
    /// # Errors
    /// Those of [`put`](Self::put).
    pub async fn put_all(&self, all: Vec<Vec<u8>>) -> io::Result<Vec<Sha>> {
        match &self.shelf {
            Shelf::Folder(folder) => {
                in_folder(folder, move |folder| all.iter().map(|bytes| folder.put(bytes)).collect()).await
            }
            #[cfg(feature = "scale")]
            Shelf::Bucket(_) => {
                let puts = all.into_iter().map(async |bytes| self.take(bytes).await);
                futures_util::stream::iter(puts).buffered(AT_ONCE).try_collect().await
            }
        }
    }

    /// The bytes with each of these hashes, as [`get`](Self::get) returns them, in the same order.
    ///
    /// # Errors
    /// When nothing can be read at present.
    pub async fn get_all(&self, all: Vec<Sha>, most: u64) -> io::Result<Vec<io::Result<Vec<u8>>>> {
        match &self.shelf {
            Shelf::Folder(folder) => {
                let most = most.min(LARGEST_OBJECT);
                let get = move |folder: &Folder, sha: Sha| whole(&sha, folder.get(&sha, most)?);
                in_folder(folder, move |folder| Ok(all.into_iter().map(|sha| get(folder, sha)).collect()))
                    .await
            }
            #[cfg(feature = "scale")]
            Shelf::Bucket(_) => {
                let gets = all.into_iter().map(async |sha| self.get(&sha, most).await);
                Ok(futures_util::stream::iter(gets).buffered(AT_ONCE).collect().await)
            }
        }
    }

    /// Removes an object, because its owner was deleted or it was kept for a limited time. Nothing in the database may name it any more.
    ///
    /// # Errors
    /// Storage errors. An object that is already gone is not an error.
    pub async fn remove(&self, sha: &Sha) -> io::Result<()> {
        match &self.shelf {
            Shelf::Folder(folder) => {
                let sha = *sha;
                in_folder(folder, move |folder| folder.remove(&sha)).await
            }
            #[cfg(feature = "scale")]
            Shelf::Bucket(bucket) => bucket.remove(sha).await,
        }
    }

    /// Removes objects that are not `named` and were last kept before `before`: leftovers of refused uploads and of killed processes.
    /// Returns the number removed.
    ///
    /// # Errors
    /// Storage errors.
    pub async fn sweep(&self, named: &BTreeSet<Sha>, before: SystemTime) -> io::Result<u64> {
        let mut gone = 0;
        for (sha, kept) in self.all().await? {
            if kept < before && !named.contains(&sha) {
                self.remove(&sha).await?;
                gone += 1;
            }
        }
        Ok(gone)
    }

    /// Whether an object exists.
    ///
    /// # Errors
    /// Storage errors.
    pub async fn has(&self, sha: &Sha) -> io::Result<bool> {
        match &self.shelf {
            Shelf::Folder(folder) => {
                let sha = *sha;
                in_folder(folder, move |folder| folder.has(&sha)).await
            }
            #[cfg(feature = "scale")]
            Shelf::Bucket(bucket) => bucket.has(sha).await,
        }
    }

    /// All objects, in order. Anything else that lies there is left out.
    ///
    /// # Errors
    /// Storage errors.
    pub async fn list(&self) -> io::Result<Vec<Sha>> {
        let mut all: Vec<Sha> = self.all().await?.into_iter().map(|(sha, _)| sha).collect();
        all.sort();
        Ok(all)
    }

    /// All objects, with the time each was last kept.
    async fn all(&self) -> io::Result<Vec<(Sha, SystemTime)>> {
        match &self.shelf {
            Shelf::Folder(folder) => in_folder(folder, Folder::all).await,
            #[cfg(feature = "scale")]
            Shelf::Bucket(bucket) => bucket.all().await,
        }
    }

    /// Copies all objects to another place, and returns their number. It stops at one whose bytes do not match its name.
    ///
    /// # Errors
    /// Storage errors of both places.
    async fn copy_to(&self, to: &Self) -> io::Result<u64> {
        let copies = self.list().await?.into_iter().map(|sha| async move {
            to.put(&self.get(&sha, LARGEST_OBJECT).await?).await?;
            Ok::<_, io::Error>(())
        });
        let mut copies = futures_util::stream::iter(copies).buffer_unordered(AT_ONCE);
        let mut count = 0;
        while copies.try_next().await?.is_some() {
            count += 1;
        }
        Ok(count)
    }

    /// Removes the drafts of killed processes. Call it only while nobody else writes here.
    pub fn sweep_drafts(&self) {
        for entry in fs::read_dir(&self.drafts).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with(DRAFT) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// Does something with a folder where waiting for a disk keeps nobody else waiting.
async fn in_folder<T: Send + 'static>(
    folder: &Folder,
    act: impl FnOnce(&Folder) -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let folder = folder.clone();
    tokio::task::spawn_blocking(move || act(&folder)).await.map_err(io::Error::other)?
}

/// What is wrong with an object.
fn damaged(sha: &Sha, why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the object {sha} {why}"))
}

/// The bytes, if they are those of their name.
fn whole(sha: &Sha, bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    if Sha::of(&bytes) == *sha { Ok(bytes) } else { Err(damaged(sha, "was changed")) }
}

/// Whether an object may have this size.
fn fits(size: u64) -> io::Result<()> {
    match size <= LARGEST_OBJECT {
        true => Ok(()),
        false => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("an object has at most {} MiB, but this one has {}", LARGEST_OBJECT >> 20, size >> 20),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_object_is_what_its_name_says_or_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let objects = Objects::open(folder.path()).expect("a folder");
        assert_eq!(objects.list().await.expect("none yet"), []);
        let sha = objects.put(b"replay").await.expect("room");
        assert_eq!(objects.put(b"replay").await.expect("again"), sha);
        assert_eq!(objects.get(&sha, 6).await.expect("there"), b"replay");
        assert!(objects.get(&sha, 5).await.unwrap_err().to_string().contains("larger than 5 bytes"));
        assert_eq!(objects.list().await.expect("one"), [sha]);
        fs::write(file(&objects, &sha), b"replaY").expect("changed");
        let error = objects.get(&sha, 6).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert!(error.to_string().ends_with("was changed"));
        let other = Sha::of(b"other");
        assert!(!objects.has(&other).await.expect("looked"));
        assert_eq!(objects.get(&other, 9).await.unwrap_err().kind(), io::ErrorKind::NotFound);
        // A large one that somebody put there by hand is not read into memory.
        fs::File::create(file(&objects, &sha))
            .and_then(|file| file.set_len(LARGEST_OBJECT + 1))
            .expect("room");
        assert!(objects.get(&sha, u64::MAX).await.unwrap_err().to_string().contains("is larger than"));
        let large = vec![0; LARGEST_OBJECT as usize + 1];
        assert_eq!(objects.put(&large).await.unwrap_err().kind(), io::ErrorKind::InvalidInput);
        objects.remove(&other).await.expect("gone already");
        objects.remove(&sha).await.expect("removed");
        assert!(!objects.has(&sha).await.expect("looked"));
    }

    #[tokio::test]
    async fn several_objects_come_back_in_the_order_in_which_they_were_asked_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let in_folder = Objects::open(folder.path()).expect("a folder");
        let in_bucket =
            Objects { shelf: Shelf::Bucket(Bucket::in_memory()), drafts: folder.path().join(INCOMING) };
        for objects in [in_folder, in_bucket] {
            let all: Vec<Vec<u8>> =
                (0..3 * AT_ONCE).map(|number| format!("replay {number}").into()).collect();
            let mut shas = objects.put_all(all.clone()).await.expect("room");
            assert_eq!(shas, all.iter().map(Sha::of).collect::<Vec<_>>());
            shas.insert(1, Sha::of(b"other"));
            shas.reverse();
            let mut found = objects.get_all(shas, 8).await.expect("a thread");
            found.reverse();
            assert_eq!(found.remove(1).expect_err("never kept").kind(), io::ErrorKind::NotFound);
            let (short, long) = found.split_at(10);
            assert_eq!(
                short.iter().map(|found| found.as_ref().expect("kept")).collect::<Vec<_>>(),
                all[..10].iter().collect::<Vec<_>>()
            );
            assert!(
                long.iter().all(|found| found
                    .as_ref()
                    .is_err_and(|error| error.kind() == io::ErrorKind::InvalidData))
            );
            let large = vec![0; LARGEST_OBJECT as usize + 1];
            let refused = objects.put_all(vec![b"small".to_vec(), large]).await.expect_err("too large");
            assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
            assert!(objects.put_all(Vec::new()).await.expect("nothing").is_empty());
        }
    }

    #[test]
    fn a_full_disk_is_told_from_other_faults() {
        let kinds = [
            (io::ErrorKind::StorageFull, true),
            (io::ErrorKind::QuotaExceeded, true),
            (io::ErrorKind::PermissionDenied, false),
        ];
        for (kind, full) in kinds {
            let told = StoreError::File("objects".to_owned(), kind.into());
            assert_eq!(told.is_full(), full, "{told}");
        }
    }

    fn file(objects: &Objects, sha: &Sha) -> PathBuf {
        match &objects.shelf {
            Shelf::Folder(folder) => folder.place(sha),
            Shelf::Bucket(_) => panic!("a folder"),
        }
    }

    #[tokio::test]
    async fn what_nothing_names_goes_when_it_is_old() {
        let folder = tempfile::tempdir().expect("a folder");
        let objects = Objects::open(folder.path()).expect("a folder");
        let mut all = Vec::new();
        for bytes in [&b"named"[..], b"orphan", b"again"] {
            all.push(objects.put(bytes).await.expect("room"));
        }
        let [named, orphan, again] = all[..] else { panic!("three") };
        let day = std::time::Duration::from_secs(86_400);
        let old = SystemTime::now() - 2 * day;
        for sha in [named, orphan, again] {
            let file = fs::File::options().append(true).open(file(&objects, &sha)).expect("there");
            file.set_modified(old).expect("ours");
        }
        let young = objects.put(b"young").await.expect("room");
        // Handed in again: from now on it is new, whatever it was before.
        objects.put(b"again").await.expect("there");
        let before = SystemTime::now() - day;
        assert_eq!(objects.sweep(&[named].into(), before).await.expect("swept"), 1);
        let mut left = [named, again, young];
        left.sort();
        assert_eq!(objects.list().await.expect("three"), left);
        // A leftover of a killed process is not an object, and is removed.
        let draft = folder.path().join("objects/draft-7-1");
        fs::write(&draft, b"half").expect("written");
        assert_eq!(objects.list().await.expect("three"), left);
        objects.sweep_drafts();
        assert!(!draft.exists());
        assert_eq!(objects.list().await.expect("three"), left);
    }
}
