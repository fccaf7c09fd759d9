//! Where objects are: how a place is written down, and how objects move.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::prefix::PrefixStore;
use object_store::{ClientOptions, ObjectStore, RetryConfig};

use super::{OBJECTS, OBJECTS_AT, OBJECTS_KEY, Objects, told};
use crate::StoreError;

/// How the address of a bucket begins.
pub const S3: &str = "s3://";

/// A place as it is stored: an absolute path, or an address without secrets. The error says what is wrong with it.
fn checked(place: &str) -> Result<String, StoreError> {
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
struct Address {
    bucket: String,
    prefix: String,
    endpoint: Option<String>,
    region: Option<String>,
}

fn address(place: &str) -> Result<Address, StoreError> {
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

/// How long a request to a bucket is retried; then the caller gets an error, and asks again.
const PATIENCE: Duration = Duration::from_secs(10);

/// Opens a bucket with its prefix, using the keys in the contest's folder or in the environment.
pub fn bucket(place: &str, contest: &Path) -> Result<Arc<dyn ObjectStore>, StoreError> {
    let failed = |error: object_store::Error| StoreError::File(place.to_owned(), told(error));
    let Address { bucket, prefix, endpoint, region } = address(place)?;
    // It fails only if another call came first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = AmazonS3Builder::from_env().with_bucket_name(bucket);
    let mut client = ClientOptions::new().with_timeout(6 * PATIENCE).with_connect_timeout(PATIENCE);
    if let Some(endpoint) = endpoint {
        // Objects are checked by their hashes and requests are signed, but an eavesdropper can read them.
        client = client.with_allow_http(endpoint.starts_with("http://"));
        builder = builder.with_endpoint(endpoint);
    }
    if let Some(region) = region {
        builder = builder.with_region(region);
    }
    for (key, value) in keys(&contest.join(OBJECTS_KEY))? {
        builder = builder.with_config(key, value);
    }
    let retry = RetryConfig { max_retries: 3, retry_timeout: PATIENCE, ..RetryConfig::default() };
    let shelf = builder.with_retry(retry).with_client_options(client).build().map_err(failed)?;
    Ok(match prefix.is_empty() {
        true => Arc::new(shelf),
        false => Arc::new(PrefixStore::new(shelf, prefix)),
    })
}

/// The keys in a file: lines such as `AWS_ACCESS_KEY_ID=...`; none without a file.
fn keys(file: &Path) -> Result<Vec<(AmazonS3ConfigKey, String)>, StoreError> {
    let failed = |why: String| StoreError::File(file.display().to_string(), io::Error::other(why));
    let data = match fs::metadata(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        data => data.map_err(|error| failed(error.to_string()))?,
    };
    if data.mode() & 0o077 != 0 {
        return Err(failed(format!(
            "others on this machine can read the keys in it: `chmod 600 {}`",
            file.display()
        )));
    }
    let text = fs::read_to_string(file).map_err(|error| failed(error.to_string()))?;
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .enumerate()
        .map(|(number, line)| {
            let pair = line.split_once('=').and_then(|(key, value)| {
                let key = key.trim().to_ascii_lowercase();
                let is_key = matches!(&*key, "aws_access_key_id" | "aws_secret_access_key" | "aws_session_token");
                is_key.then(|| Some((key.parse().ok()?, value.trim().to_owned())))?
            });
            // The line may hold a secret.
            pair.ok_or_else(|| {
                failed(format!(
                    "entry {}: lines are AWS_ACCESS_KEY_ID=..., AWS_SECRET_ACCESS_KEY=... or AWS_SESSION_TOKEN=...",
                    number + 1
                ))
            })
        })
        .collect()
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

/// Copies the objects of a contest to another place and switches to it. Returns their number. The contest's own folder `objects` is a valid
/// place, too. Nobody may use the objects meanwhile. The old ones are left where they were.
///
/// # Errors
/// When they are there already, or one of the places cannot be read or written; nothing has changed then.
pub async fn relocate_objects(contest: &Path, place: &str) -> Result<u64, StoreError> {
    let place = checked(place)?;
    let own = std::path::absolute(contest.join(OBJECTS))
        .map_err(|error| StoreError::File(contest.display().to_string(), error))?;
    let now = match fs::read_to_string(contest.join(OBJECTS_AT)) {
        Ok(text) => text.trim().to_owned(),
        Err(_) => own.display().to_string(),
    };
    if now == place {
        return Err(StoreError::Wrong(format!("{place}: the objects are already there")));
    }
    let (from, to) = (Objects::open(contest)?, Objects::at(&place, contest)?);
    let copied = from.copy_to(&to).await.map_err(|error| StoreError::File(place.clone(), error))?;
    match Path::new(&place) == own {
        true => fs::remove_file(contest.join(OBJECTS_AT))
            .map_err(|error| StoreError::File(contest.display().to_string(), error))?,
        false => say(contest, &place)?,
    }
    Ok(copied)
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
        assert_eq!(relocate_objects(at, place).await.expect("copied"), 1);
        assert!(relocate_objects(at, place).await.expect_err("there").to_string().contains("already"));
        fs::remove_dir_all(at.join(OBJECTS)).expect("not needed any more");
        let objects = Objects::open(at).expect("the other folder");
        assert_eq!(objects.get(&sha, 6).await.expect("there"), b"replay");
        let own = at.join(OBJECTS);
        assert_eq!(relocate_objects(at, own.to_str().expect("UTF-8")).await.expect("back"), 1);
        assert!(own.is_dir() && !at.join(OBJECTS_AT).exists());
        // Damaged objects are not copied.
        fs::write(file(&there, &sha), b"x").expect("changed");
        fs::write(file(&own, &sha), b"x").expect("changed");
        assert!(relocate_objects(at, place).await.expect_err("damaged").to_string().contains("was changed"));
        assert!(!at.join(OBJECTS_AT).exists(), "nothing has changed");
    }

    #[test]
    fn places_are_read_strictly_and_keys_stand_in_no_address() {
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
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join(OBJECTS_KEY);
        let write = |text: &str, mode| {
            fs::write(&file, text).expect("written");
            fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(mode)).expect("ours");
        };
        write("AWS_ACCESS_KEY_ID = a\n# and\n\nAWS_SECRET_ACCESS_KEY=b=c\n", 0o600);
        let read = keys(&file).expect("keys");
        assert_eq!(read.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>(), ["a", "b=c"]);
        write("AWS_ACCESS_KEY_ID=a\n", 0o644);
        assert!(keys(&file).expect_err("others read it").to_string().contains("chmod 600"));
        for bad in ["my secret", "AWS_ENDPOINT=http://x", "=x"] {
            write(bad, 0o600);
            let error = keys(&file).expect_err("no key").to_string();
            assert!(
                error.contains("entry 1") && !error.contains("secret\n") && !error.contains(bad),
                "{error}"
            );
        }
    }
}
