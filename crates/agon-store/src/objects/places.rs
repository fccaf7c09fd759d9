//! Where objects are: how a place is written down, and how objects move.

use std::fs;
use std::io;
use std::path::Path;

use super::{OBJECTS, OBJECTS_AT, OBJECTS_KEY, Objects, Shelf};
use crate::{StoreError, Time};

/// How the address of a bucket begins.
pub const S3: &str = "s3://";

/// A place as it is stored: an absolute path, or an address without secrets. The error says what is wrong with it.
pub fn checked(place: &str) -> Result<String, StoreError> {
    if !place.starts_with(S3) {
        let path = std::path::absolute(place).map_err(|error| StoreError::File(place.to_owned(), error))?;
        let text = path.to_str().filter(|_| !place.contains("://"));
        return text.map(str::to_owned).ok_or_else(|| wrong(place));
    }
    address(place).map(|_| place.to_owned())
}

fn wrong(place: &str) -> StoreError {
    let place: String = place.chars().filter(|sign| !sign.is_control()).take(200).collect();
    let why = format!(
        "not a place for objects: write a folder, or s3://BUCKET/PREFIX, with ?endpoint=https://HOST and &region=NAME if it is \
         not Amazon's; keys go into the environment or {OBJECTS_KEY}, never into the address"
    );
    StoreError::Wrong(format!("{place}: {why}"))
}

/// The address of a bucket.
#[cfg_attr(not(feature = "scale"), expect(dead_code, reason = "only read"))]
pub(crate) struct Address {
    pub bucket: String,
    pub prefix: String,
    pub endpoint: Option<String>,
    pub region: Option<String>,
}

/// Reads the address of a bucket.
pub fn address(place: &str) -> Result<Address, StoreError> {
    let url = url::Url::parse(place).map_err(|_| wrong(place))?;
    let bucket = url.host_str().unwrap_or_default().to_owned();
    let has_secrets = !url.username().is_empty() || url.password().is_some();
    if bucket.is_empty() || has_secrets || url.port().is_some() || url.fragment().is_some() {
        return Err(wrong(place));
    }
    let prefix = url.path().trim_matches('/').to_owned();
    let mut found = Address { bucket, prefix, endpoint: None, region: None };
    for (key, value) in url.query_pairs() {
        match &*key {
            "endpoint" => found.endpoint = Some(value.into_owned()),
            "region" => found.region = Some(value.into_owned()),
            _ => return Err(wrong(place)),
        }
    }
    Ok(found)
}

/// Records that the objects of a contest's folder are in another one, or at `s3://BUCKET/PREFIX`.
///
/// # Errors
/// When it is not such a place, or the folder has objects of its own.
pub fn place_objects(contest: &Path, place: &str) -> Result<(), StoreError> {
    let place = checked(place)?;
    let own = contest.join(OBJECTS);
    if fs::read_dir(&own).is_ok_and(|mut entries| entries.next().is_some()) {
        let why = io::Error::other("the contest has objects there; `agon serve move` moves them");
        return Err(StoreError::File(own.display().to_string(), why));
    }
    // Tried before it is written, because a part of it may be wrong.
    Objects::at(&place, contest)?;
    say(contest, &place)
}

fn say(contest: &Path, place: &str) -> Result<(), StoreError> {
    let file = contest.join(OBJECTS_AT);
    let draft = file.with_extension("url.new");
    let written = fs::write(&draft, format!("{place}\n")).and_then(|()| fs::rename(&draft, &file));
    written.map_err(|error| StoreError::File(file.display().to_string(), error))
}

/// The name of the note in a place that the objects have left: where they are, and since when, in two lines.
const MOVED: &str = "moved";

impl Objects {
    /// Opens the objects of a contest's folder as [`open`](Self::open) does, unless they have left the place that it names.
    ///
    /// # Errors
    /// Those of [`open`](Self::open), and [`StoreError::ObjectsMoved`].
    pub async fn open_in_use(contest: &Path) -> Result<Self, StoreError> {
        let objects = Self::open(contest)?;
        // While a bucket does not answer, nothing is played anyway.
        match objects.note().await.unwrap_or_default() {
            None => Ok(objects),
            Some(text) => {
                let mut lines = text.lines();
                let place = lines.next().unwrap_or_default().to_owned();
                let at = Time(lines.next().and_then(|at| at.parse().ok()).unwrap_or_default());
                Err(StoreError::ObjectsMoved { place, at })
            }
        }
    }

    async fn note(&self) -> io::Result<Option<String>> {
        let read = match &self.shelf {
            Shelf::Folder(folder) => fs::read(folder.path().join(MOVED)),
            #[cfg(feature = "scale")]
            Shelf::Bucket(bucket) => bucket.note(MOVED).await,
        };
        match read {
            Ok(text) => Ok(Some(String::from_utf8_lossy(&text).into_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn set_note(&self, text: Option<String>) -> io::Result<()> {
        match &self.shelf {
            Shelf::Folder(folder) => match (folder.path().join(MOVED), text) {
                (file, Some(text)) => fs::write(file, text),
                (file, None) => crate::moving::gone(&file),
            },
            #[cfg(feature = "scale")]
            Shelf::Bucket(bucket) => bucket.set_note(MOVED, text.map(String::into_bytes)).await,
        }
    }
}

/// Copies the objects of a contest to another place and switches to it. Returns their number. The contest's own folder `objects` is a valid
/// place, too. The old ones are left where they were, with a note, so that no folder goes on with them.
///
/// # Errors
/// When they are there already, somebody plays the contest, or one of the places cannot be read or written; nothing has changed then.
pub async fn relocate_objects(contest: &Path, place: &str, now: Time) -> Result<u64, StoreError> {
    let place = checked(place)?;
    let own = std::path::absolute(contest.join(OBJECTS))
        .map_err(|error| StoreError::File(contest.display().to_string(), error))?;
    let was = match fs::read_to_string(contest.join(OBJECTS_AT)) {
        Ok(text) => text.trim().to_owned(),
        Err(_) => own.display().to_string(),
    };
    if was == place {
        return Err(StoreError::Wrong(format!("{place}: the objects are already there")));
    }
    let failed = |error| StoreError::File(place.clone(), error);
    let from = Objects::open_in_use(contest).await?;
    let held = crate::moving::hold(contest).await?;
    let to = Objects::at(&place, contest)?;
    let copied = async {
        let copied = from.copy_to(&to).await.map_err(failed)?;
        to.set_note(None).await.map_err(failed)?;
        match Path::new(&place) == own {
            true => fs::remove_file(contest.join(OBJECTS_AT))
                .map_err(|error| StoreError::File(contest.display().to_string(), error))?,
            false => say(contest, &place)?,
        }
        from.set_note(Some(format!("{place}\n{}\n", now.0)))
            .await
            .map_err(|error| StoreError::File(was, error))?;
        Ok(copied)
    };
    let copied = copied.await;
    held.over().await;
    copied
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sha;

    fn file(contest: &Path, sha: &Sha) -> std::path::PathBuf {
        let name = sha.to_string();
        contest.join(&name[..2]).join(&name[2..])
    }

    #[tokio::test]
    async fn objects_move_to_another_folder_and_back() {
        let (contest, other) =
            (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let (at, there) = (contest.path(), other.path().join("big disk"));
        let place = there.to_str().expect("UTF-8");
        let sha = Objects::open(at).expect("a folder").put(b"replay").await.expect("room");
        assert!(place_objects(at, place).expect_err("not empty").to_string().contains("agon serve move"));
        // A second folder of the same contest, as of another server.
        let second = tempfile::tempdir().expect("a folder");
        place_objects(second.path(), at.join(OBJECTS).to_str().expect("UTF-8")).expect("the same place");
        assert_eq!(relocate_objects(at, place, Time(7)).await.expect("copied"), 1);
        let stays = Objects::open_in_use(second.path()).await.expect_err("they have moved");
        assert!(stays.to_string().contains(&format!("were moved to {place}")), "{stays}");
        Objects::open_in_use(at).await.expect("it knows");
        assert!(
            relocate_objects(at, place, Time(8)).await.expect_err("there").to_string().contains("already")
        );
        fs::remove_dir_all(at.join(OBJECTS)).expect("not needed any more");
        let objects = Objects::open(at).expect("the other folder");
        assert_eq!(objects.get(&sha, 6).await.expect("there"), b"replay");
        let own = at.join(OBJECTS);
        assert_eq!(relocate_objects(at, own.to_str().expect("UTF-8"), Time(9)).await.expect("back"), 1);
        Objects::open_in_use(at).await.expect("in use again");
        assert_eq!(relocate_objects(at, place, Time(10)).await.expect("there again"), 1);
        assert_eq!(
            relocate_objects(at, own.to_str().expect("UTF-8"), Time(11)).await.expect("back again"),
            1
        );
        Objects::open_in_use(at).await.expect("in use again");
        assert!(own.is_dir() && !at.join(OBJECTS_AT).exists());
        // Damaged objects are not copied.
        fs::write(file(&there, &sha), b"x").expect("changed");
        fs::write(file(&own, &sha), b"x").expect("changed");
        assert!(
            relocate_objects(at, place, Time(12))
                .await
                .expect_err("damaged")
                .to_string()
                .contains("was changed")
        );
        assert!(!at.join(OBJECTS_AT).exists(), "nothing has changed");
    }

    #[test]
    fn places_are_read_strictly() {
        for good in [
            "s3://bucket",
            "s3://bucket/a/b",
            "s3://b/p?endpoint=http://127.0.0.1:9000&region=x",
            "big/disk",
            "/x",
        ] {
            checked(good).unwrap_or_else(|error| panic!("{good}: {error}"));
        }
        for bad in [
            "s3://",
            "s3:///x",
            "s3://KEY:SECRET@bucket",
            "s3://b?aws_secret_access_key=x",
            "https://x/y",
            "s3://b#x",
        ] {
            assert!(checked(bad).is_err(), "{bad}");
        }
    }
}
