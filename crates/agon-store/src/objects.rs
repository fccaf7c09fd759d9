//! Bytes by their hash: uploads, replays, build logs. An object never changes, so it does not matter who writes it, or how often.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::SystemTime;

use futures_util::{FutureExt as _, Stream, StreamExt as _, TryStreamExt as _};
use object_store::local::LocalFileSystem;
use object_store::{ObjectStore, ObjectStoreExt as _};
use tokio::sync::{Semaphore, oneshot};

use crate::{Sha, StoreError};

#[cfg(feature = "scale")]
mod bucket;
mod incoming;
mod places;

pub use incoming::{HEAD, Incoming};
pub use places::{can_be, place_objects, relocate_objects};

/// The name of the folder of objects in a contest's folder.
pub const OBJECTS: &str = "objects";
/// The name of the file there with the address of the objects, when they are elsewhere.
pub const OBJECTS_AT: &str = "objects.url";
/// The name of the file there with the keys of a bucket, when they are not in the environment. Only its owner may read it.
pub const OBJECTS_KEY: &str = "objects.key";

/// Upper limit on the size of an object, in bytes; it also bounds the memory that a reader, such as a backup, needs.
pub const LARGEST_OBJECT: u64 = 32 << 20;

/// The name of the folder there for incoming bytes, when objects are in a bucket.
const INCOMING: &str = "incoming";
/// How the names of incoming files begin.
const DRAFT: &str = "draft-";

/// How many objects are copied, read or looked up at once.
const AT_ONCE: usize = 16;
/// How many incoming objects are sent to a bucket at once.
const SENDING: usize = 4;

/// Objects by their hash, as `ab/cdef...`: in a folder, or in a bucket of S3 or a compatible store.
///
/// A bucket needs neither ordering nor locks: a name is written whole or not at all, and always with the same bytes.
#[derive(Clone, Debug)]
pub struct Objects {
    shelf: Arc<dyn ObjectStore>,
    /// The folder of the objects, where they are in one.
    folder: Option<PathBuf>,
    /// Where incomplete objects are. For a folder of objects it is that folder, so that they get their names without being copied.
    drafts: PathBuf,
    sending: Arc<Semaphore>,
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
        self.folder.as_deref()
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
        Ok(Self::new(bucket::open(place, contest)?, None, contest.join(INCOMING)))
    }

    #[cfg(not(feature = "scale"))]
    fn in_bucket(place: &str, _: &Path) -> Result<Self, StoreError> {
        Err(places::can_be(place).err().unwrap_or_else(|| crate::lacks("buckets")))
    }

    fn in_folder(folder: &Path) -> Result<Self, StoreError> {
        let failed = |error: io::Error| StoreError::File(folder.display().to_string(), error);
        fs::create_dir_all(folder).map_err(failed)?;
        let shelf = LocalFileSystem::new_with_prefix(folder).map_err(|error| failed(told(error)))?;
        Ok(Self::new(Arc::new(shelf), Some(folder.to_owned()), folder.to_owned()))
    }

    fn new(shelf: Arc<dyn ObjectStore>, folder: Option<PathBuf>, drafts: PathBuf) -> Self {
        Self { shelf, folder, drafts, sending: Arc::new(Semaphore::new(SENDING)) }
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
        fits(bytes.len() as u64)?;
        let sha = Sha::of(&bytes);
        self.shelf.put(&path(&sha), bytes.into()).await.map_err(told)?;
        Ok(sha)
    }

    /// The bytes with this hash.
    ///
    /// # Errors
    /// [`NotFound`](io::ErrorKind::NotFound) when they are missing, [`InvalidData`](io::ErrorKind::InvalidData) when they are more than
    /// `most` or [`LARGEST_OBJECT`], or no longer match the hash; others are storage errors, and temporary.
    pub async fn get(&self, sha: &Sha, most: u64) -> io::Result<Vec<u8>> {
        let damaged = |why| io::Error::new(io::ErrorKind::InvalidData, format!("the object {sha} {why}"));
        let most = most.min(LARGEST_OBJECT);
        let found = self.shelf.get(&path(sha)).await.map_err(told)?;
        if found.meta.size > most {
            return Err(damaged(format!("is larger than {most} bytes")));
        }
        let bytes = Vec::from(found.bytes().await.map_err(told)?);
        if Sha::of(&bytes) != *sha {
            return Err(damaged("was changed".to_owned()));
        }
        Ok(bytes)
    }

    /// Keeps several objects, each as [`put`](Self::put) does, and returns their hashes in the same order. Some may be kept when one fails.
    ///
    /// # Errors
    /// Those of [`put`](Self::put).
    pub async fn put_all(&self, all: Vec<Vec<u8>>) -> io::Result<Vec<Sha>> {
        match self.folder {
            Some(_) => {
                let kept = self.in_thread(all, |objects, bytes| objects.take(bytes).now_or_never()).await?;
                kept.into_iter().collect()
            }
            None => {
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
        match self.folder {
            Some(_) => self.in_thread(all, move |objects, sha| objects.get(&sha, most).now_or_never()).await,
            None => {
                let gets = all.into_iter().map(async |sha| self.get(&sha, most).await);
                Ok(futures_util::stream::iter(gets).buffered(AT_ONCE).collect().await)
            }
        }
    }

    /// Does this for each in a thread without a runtime, where the library accesses a folder directly. Within a runtime it hands every
    /// access to another thread, which takes longer than the access.
    async fn in_thread<A: Send + 'static, B: Send + 'static>(
        &self,
        all: Vec<A>,
        one: impl Fn(&Self, A) -> Option<io::Result<B>> + Send + 'static,
    ) -> io::Result<Vec<io::Result<B>>> {
        let (to, done) = oneshot::channel();
        let objects = self.clone();
        let waits = || Err(io::Error::other("an access to a folder did not end at once"));
        let work = move || {
            let done = all.into_iter().map(|each| one(&objects, each).unwrap_or_else(waits));
            // The caller may have gone.
            let _ = to.send(done.collect());
        };
        thread::Builder::new().name("objects".to_owned()).spawn(work)?;
        done.await.map_err(io::Error::other)
    }

    /// Removes an object, because its owner was deleted or it was kept for a limited time. Nothing in the database may name it any more.
    ///
    /// # Errors
    /// Storage errors. An object that is already gone is not an error.
    pub async fn remove(&self, sha: &Sha) -> io::Result<()> {
        match self.shelf.delete(&path(sha)).await {
            Err(object_store::Error::NotFound { .. }) => Ok(()),
            removed => removed.map_err(told),
        }
    }

    /// Removes objects that are not `named` and were last kept before `before`: leftovers of refused uploads and of killed processes.
    /// Returns the number removed.
    ///
    /// # Errors
    /// Storage errors.
    pub async fn sweep(&self, named: &BTreeSet<Sha>, before: SystemTime) -> io::Result<u64> {
        let mut old = self.all().try_filter_map(|(sha, kept)| {
            let is_old = kept < before && !named.contains(&sha);
            std::future::ready(Ok(is_old.then_some(sha)))
        });
        let mut gone = 0;
        while let Some(sha) = old.try_next().await? {
            self.remove(&sha).await?;
            gone += 1;
        }
        Ok(gone)
    }

    /// Whether an object exists.
    ///
    /// # Errors
    /// Storage errors.
    pub async fn has(&self, sha: &Sha) -> io::Result<bool> {
        match self.shelf.head(&path(sha)).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(told(error)),
        }
    }

    /// All objects, in order. Anything else that lies there is left out.
    ///
    /// # Errors
    /// Storage errors.
    pub async fn list(&self) -> io::Result<Vec<Sha>> {
        let mut all: Vec<Sha> = self.all().map_ok(|(sha, _)| sha).try_collect().await?;
        all.sort();
        Ok(all)
    }

    /// All objects, with the time each was last kept.
    fn all(&self) -> impl Stream<Item = io::Result<(Sha, SystemTime)>> {
        let named = |found: object_store::ObjectMeta| {
            let mut parts = found.location.parts();
            let (two, rest) = (parts.next()?, parts.next()?);
            let sha = format!("{}{}", two.as_ref(), rest.as_ref()).parse().ok()?;
            Some((sha, SystemTime::from(found.last_modified)))
        };
        let found = self.shelf.list(None).map_err(told);
        found.try_filter_map(move |found| std::future::ready(Ok(named(found))))
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
        let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
        for entry in entries(&self.drafts) {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                // The library's names: the object, and a number.
                let drafts =
                    entries(&entry.path()).filter(|file| file.file_name().to_string_lossy().contains('#'));
                drafts.for_each(|file| drop(fs::remove_file(file.path())));
            } else if entry.file_name().to_string_lossy().starts_with(DRAFT) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
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

fn path(sha: &Sha) -> object_store::path::Path {
    let name = sha.to_string();
    object_store::path::Path::from_iter([&name[..2], &name[2..]])
}

fn told(error: object_store::Error) -> io::Error {
    let kind = match &error {
        object_store::Error::NotFound { .. } => io::ErrorKind::NotFound,
        other if is_full(other) => io::ErrorKind::StorageFull,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, error.to_string())
}

/// Whether the cause, somewhere down the chain, is a full disk.
fn is_full(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut below = std::iter::successors(Some(error), |error| error.source());
    below.any(|error| error.downcast_ref::<io::Error>().is_some_and(crate::is_full))
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
        let bucket = Arc::new(object_store::memory::InMemory::new());
        let in_bucket = Objects::new(bucket, None, folder.path().join(INCOMING));
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
        let error = |kind: io::ErrorKind| object_store::Error::Generic {
            store: "folder",
            source: Box::new(io::Error::from(kind)),
        };
        let kinds = [
            (io::ErrorKind::StorageFull, true),
            (io::ErrorKind::QuotaExceeded, true),
            (io::ErrorKind::PermissionDenied, false),
        ];
        for (kind, full) in kinds {
            let told = StoreError::File("objects".to_owned(), told(error(kind)));
            assert_eq!(told.is_full(), full, "{told}");
        }
    }

    fn file(objects: &Objects, sha: &Sha) -> PathBuf {
        let name = sha.to_string();
        objects.folder.as_ref().expect("a folder").join(&name[..2]).join(&name[2..])
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
        let draft = file(&objects, &named).with_extension("#1");
        for litter in [&draft, &folder.path().join("objects/draft-7-1")] {
            fs::write(litter, b"half").expect("written");
        }
        assert_eq!(objects.list().await.expect("three"), left);
        objects.sweep_drafts();
        assert!(!draft.exists() && !folder.path().join("objects/draft-7-1").exists());
        assert_eq!(objects.list().await.expect("three"), left);
    }
}
