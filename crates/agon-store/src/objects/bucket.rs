//! Objects in a bucket of S3, or of a store that is used like it.

use std::error::Error;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::TryStreamExt as _;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::client::HttpError;
use object_store::prefix::PrefixStore;
use object_store::{ClientOptions, ObjectStore, ObjectStoreExt as _, RetryConfig};
use tempfile::TempPath;
use tokio::sync::Semaphore;

use super::places::{Address, address};
use super::{OBJECTS_KEY, damaged, whole};
use crate::{Sha, StoreError};

/// How long a request to a bucket is retried; then the caller gets an error, and asks again.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many incoming objects are sent to it at once.
const SENDING: usize = 4;

/// A bucket, or what has its prefix in it.
#[derive(Clone, Debug)]
pub struct Bucket {
    shelf: Arc<dyn ObjectStore>,
    sending: Arc<Semaphore>,
}

impl Bucket {
    /// Opens it with the keys in the contest's folder or in the environment.
    pub fn open(place: &str, contest: &Path) -> Result<Self, StoreError> {
        open(place, contest).map(Self::new)
    }

    fn new(shelf: Arc<dyn ObjectStore>) -> Self {
        Self { shelf, sending: Arc::new(Semaphore::new(SENDING)) }
    }

    #[cfg(test)]
    pub fn in_memory() -> Self {
        Self::new(Arc::new(object_store::memory::InMemory::new()))
    }

    pub async fn put(&self, sha: &Sha, bytes: Vec<u8>) -> io::Result<()> {
        self.shelf.put(&path(sha), bytes.into()).await.map_err(told).map(|_| ())
    }

    /// Keeps a draft, which goes whole, from memory: only few at once.
    pub async fn keep(&self, sha: &Sha, draft: TempPath) -> io::Result<()> {
        let _room = self.sending.acquire().await.map_err(io::Error::other)?;
        self.put(sha, tokio::fs::read(&draft).await?).await
    }

    pub async fn get(&self, sha: &Sha, most: u64) -> io::Result<Vec<u8>> {
        let found = self.shelf.get(&path(sha)).await.map_err(told)?;
        if found.meta.size > most {
            return Err(damaged(sha, &format!("is larger than {most} bytes")));
        }
        whole(sha, found.bytes().await.map_err(told)?.into())
    }

    pub async fn has(&self, sha: &Sha) -> io::Result<bool> {
        match self.shelf.head(&path(sha)).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(told(error)),
        }
    }

    pub async fn remove(&self, sha: &Sha) -> io::Result<()> {
        match self.shelf.delete(&path(sha)).await {
            Err(object_store::Error::NotFound { .. }) => Ok(()),
            removed => removed.map_err(told),
        }
    }

    /// What lies there under the name of no object.
    pub async fn note(&self, name: &str) -> io::Result<Vec<u8>> {
        let found = self.shelf.get(&name.into()).await.map_err(told)?;
        Ok(found.bytes().await.map_err(told)?.into())
    }

    /// Writes or removes that.
    pub async fn set_note(&self, name: &str, text: Option<Vec<u8>>) -> io::Result<()> {
        match text {
            Some(text) => self.shelf.put(&name.into(), text.into()).await.map_err(told).map(|_| ()),
            None => match self.shelf.delete(&name.into()).await {
                Err(object_store::Error::NotFound { .. }) => Ok(()),
                removed => removed.map_err(told),
            },
        }
    }

    /// All objects, with the time each was last kept. Anything else that lies there is left out.
    pub async fn all(&self) -> io::Result<Vec<(Sha, SystemTime)>> {
        let named = |found: object_store::ObjectMeta| {
            let mut parts = found.location.parts();
            let (two, rest) = (parts.next()?, parts.next()?);
            let sha = format!("{}{}", two.as_ref(), rest.as_ref()).parse().ok()?;
            Some((sha, SystemTime::from(found.last_modified)))
        };
        let found = self.shelf.list(None).map_err(told);
        found.try_filter_map(|found| std::future::ready(Ok(named(found)))).try_collect().await
    }
}

fn path(sha: &Sha) -> object_store::path::Path {
    let name = sha.to_string();
    object_store::path::Path::from_iter([&name[..2], &name[2..]])
}

/// What a bucket's error means to whoever reads it. The library's own words name the attempt and its settings.
fn told(error: object_store::Error) -> io::Error {
    use object_store::Error::{NotFound, PermissionDenied, Unauthenticated};
    let causes: Vec<&(dyn Error + 'static)> =
        std::iter::successors(error.source(), |cause: &&(dyn Error + 'static)| (*cause).source()).collect();
    let is_away = causes.iter().any(|cause| cause.is::<HttpError>());
    // The innermost cause is the plainest: "Connection refused", or what the bucket itself says.
    let why = causes.last().map_or_else(|| error.to_string(), ToString::to_string);
    let why: String = why.chars().map(|sign| if sign.is_control() { ' ' } else { sign }).take(300).collect();
    match &error {
        NotFound { .. } => io::Error::new(io::ErrorKind::NotFound, "it is not in the bucket"),
        PermissionDenied { .. } | Unauthenticated { .. } => io::Error::other(format!(
            "the bucket refuses these keys: {why}; compare {OBJECTS_KEY}, or the environment, with what the bucket's owner gave you"
        )),
        _ if is_away => {
            let why = format!("the bucket does not answer: {why}; nothing was lost, try again");
            io::Error::new(io::ErrorKind::HostUnreachable, why)
        }
        _ => io::Error::other(format!("the bucket reports an error: {why}; nothing was lost, try again")),
    }
}

/// Whether there are keys for a bucket, or somebody said where to get them.
///
/// # Errors
/// What is missing.
pub fn has_keys(place: &str, contest: &Path) -> Result<(), StoreError> {
    with_keys(place, AmazonS3Builder::from_env(), contest).map(|_| ())
}

/// A builder with the keys in the contest's folder. Without any the library would ask the metadata service of a cloud that this machine may
/// not be in, once per object: that happens only where `AWS_METADATA_ENDPOINT` says so.
fn with_keys(place: &str, builder: AmazonS3Builder, contest: &Path) -> Result<AmazonS3Builder, StoreError> {
    use AmazonS3ConfigKey as Key;
    let mut builder = builder;
    for (key, value) in keys(&contest.join(OBJECTS_KEY))? {
        builder = builder.with_config(key, value);
    }
    let has = |key| builder.get_config_value(&key).is_some_and(|value| !value.is_empty());
    let missing = match (has(Key::AccessKeyId), has(Key::SecretAccessKey)) {
        (true, true) => return Ok(builder),
        (true, false) => "AWS_SECRET_ACCESS_KEY is missing",
        (false, true) => "AWS_ACCESS_KEY_ID is missing",
        (false, false) => "there is no key for this bucket",
    };
    // What a cloud sets in the environment of a program that runs there.
    let is_given = (has(Key::WebIdentityTokenFile) && has(Key::RoleArn))
        || has(Key::ContainerCredentialsRelativeUri)
        || (has(Key::ContainerCredentialsFullUri) && has(Key::ContainerAuthorizationTokenFile))
        || has(Key::MetadataEndpoint)
        || builder.get_config_value(&Key::SkipSignature).as_deref() == Some("true");
    if is_given && !has(Key::AccessKeyId) && !has(Key::SecretAccessKey) {
        return Ok(builder);
    }
    Err(StoreError::Wrong(format!(
        "{place}: {missing}; write the lines AWS_ACCESS_KEY_ID=... and AWS_SECRET_ACCESS_KEY=... into {} (chmod 600), or set both in the \
         environment; where the machine itself has the right, AWS_METADATA_ENDPOINT=http://169.254.169.254 asks its cloud for a key",
        contest.join(OBJECTS_KEY).display()
    )))
}

/// Opens a bucket with its prefix, using the keys in the contest's folder or in the environment.
fn open(place: &str, contest: &Path) -> Result<Arc<dyn ObjectStore>, StoreError> {
    let failed = |error: object_store::Error| StoreError::File(place.to_owned(), told(error));
    let Address { bucket, prefix, endpoint, region } = address(place)?;
    // It fails only if another call came first.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut builder = with_keys(place, AmazonS3Builder::from_env(), contest)?.with_bucket_name(bucket);
    let mut client = ClientOptions::new().with_timeout(6 * PATIENCE).with_connect_timeout(PATIENCE);
    if let Some(endpoint) = endpoint {
        // Objects are checked by their hashes and requests are signed, but an eavesdropper can read them.
        client = client.with_allow_http(endpoint.starts_with("http://"));
        builder = builder.with_endpoint(endpoint);
    }
    if let Some(region) = region {
        builder = builder.with_region(region);
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
                let is_key = matches!(
                    &*key,
                    "aws_access_key_id"
                        | "aws_secret_access_key"
                        | "aws_session_token"
                        | "aws_metadata_endpoint"
                );
                is_key.then(|| Some((key.parse().ok()?, value.trim().to_owned())))?
            });
            // The line may hold a secret.
            pair.ok_or_else(|| {
                failed(format!(
                    "entry {}: lines are AWS_ACCESS_KEY_ID=..., AWS_SECRET_ACCESS_KEY=..., AWS_SESSION_TOKEN=... or \
                     AWS_METADATA_ENDPOINT=...",
                    number + 1
                ))
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_a_file_that_only_its_owner_reads() {
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

    #[test]
    fn a_missing_key_is_named_and_no_cloud_is_asked_for_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join(OBJECTS_KEY);
        let found = |text: &str, builder: AmazonS3Builder| {
            fs::write(&file, text).expect("written");
            fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("ours");
            with_keys("s3://cup", builder, folder.path())
                .map(|_| ())
                .map_err(|error| (matches!(error, StoreError::Wrong(_)), error.to_string()))
        };
        let set = |pairs: &[(&str, &str)]| {
            pairs.iter().fold(AmazonS3Builder::new(), |builder, (key, value)| {
                builder.with_config(key.parse().expect("a key"), *value)
            })
        };
        for (text, missing) in [
            ("", "there is no key for this bucket"),
            ("AWS_ACCESS_KEY_ID=\nAWS_SECRET_ACCESS_KEY=\n", "there is no key for this bucket"),
            ("AWS_ACCESS_KEY_ID=a\n", "AWS_SECRET_ACCESS_KEY is missing"),
            ("AWS_SECRET_ACCESS_KEY=b\n", "AWS_ACCESS_KEY_ID is missing"),
            ("AWS_SECRET_ACCESS_KEY=b\nAWS_METADATA_ENDPOINT=http://x\n", "AWS_ACCESS_KEY_ID is missing"),
        ] {
            let (is_usage, said) = found(text, set(&[])).expect_err("no key");
            assert!(is_usage && said.contains(missing) && said.contains(OBJECTS_KEY), "{text}: {said}");
        }
        for text in ["AWS_ACCESS_KEY_ID=a\nAWS_SECRET_ACCESS_KEY=b\n", "AWS_METADATA_ENDPOINT=http://x\n"] {
            assert_eq!(found(text, set(&[])), Ok(()), "{text}");
        }
        // The environment of a program that runs in a cloud.
        for pairs in [
            &[("aws_access_key_id", "a"), ("aws_secret_access_key", "b")][..],
            &[("aws_metadata_endpoint", "http://169.254.169.254")],
            &[("aws_web_identity_token_file", "/x"), ("aws_role_arn", "y")],
            &[("aws_container_credentials_relative_uri", "/x")],
        ] {
            assert_eq!(found("", set(pairs)), Ok(()), "{pairs:?}");
        }
        assert!(found("", set(&[("aws_role_arn", "y")])).is_err());
    }
}
