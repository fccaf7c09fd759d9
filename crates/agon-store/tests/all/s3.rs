//! Objects in a bucket: on a server in this process that speaks S3 and checks signatures.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, SystemTime};

use agon_store::{OBJECTS, OBJECTS_AT, OBJECTS_KEY, Objects, Sha, place_objects, relocate_objects};
use tempfile::TempDir;
use tokio::task::JoinHandle;

#[path = "../common/bucket.rs"]
mod bucket;

/// A bucket `cup` in a folder, which ends when this is dropped.
struct Bucket {
    folder: TempDir,
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Bucket {
    async fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("cup")).expect("a bucket");
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("it listens");
        let place = folder.path().to_owned();
        let task = tokio::spawn(async move { bucket::serve(&place, listener).await });
        Self { folder, address, task }
    }

    fn place(&self) -> String {
        format!("s3://cup/of/autumn?endpoint=http://{}&region=us-east-1", self.address)
    }
}

/// A contest's folder with keys in it.
fn contest(secret: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join(OBJECTS_KEY);
    std::fs::write(&file, format!("AWS_ACCESS_KEY_ID=key\nAWS_SECRET_ACCESS_KEY={secret}\n"))
        .expect("written");
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("ours");
    folder
}

fn open(folder: &Path) -> Objects {
    Objects::open(folder).expect("a place")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bucket_is_a_place_like_any_other() {
    let bucket = Bucket::new().await;
    let folder = contest("secret of the bucket");
    place_objects(folder.path(), &bucket.place()).expect("a good place");
    let said = std::fs::read_to_string(folder.path().join(OBJECTS_AT)).expect("written");
    assert!(!said.contains("secret"), "{said}");
    let objects = open(folder.path());
    assert_eq!(objects.list().await.expect("none yet"), []);
    let mut all = Vec::new();
    for bytes in [&b"replay"[..], b"", &[7; 300_000]] {
        let sha = objects.put(bytes).await.expect("taken");
        assert_eq!(objects.put(bytes).await.expect("again"), sha);
        assert_eq!(objects.get(&sha, 300_000).await.expect("there"), bytes);
        assert!(objects.has(&sha).await.expect("looked"));
        all.push(sha);
    }
    assert_eq!(objects.get(&all[2], 10).await.expect_err("bounded").kind(), ErrorKind::InvalidData);
    let nothing = Sha::of("nothing");
    assert_eq!(objects.get(&nothing, 10).await.expect_err("not there").kind(), ErrorKind::NotFound);
    assert!(!objects.has(&nothing).await.expect("looked"));
    objects.remove(&nothing).await.expect("gone already");
    // Only what is below the prefix and is an object.
    let below = bucket.folder.path().join("cup/of/autumn");
    std::fs::write(below.join("notes.txt"), "mine").expect("written");
    let mut sorted = all.clone();
    sorted.sort();
    assert_eq!(objects.list().await.expect("three"), sorted);
    let hour = Duration::from_secs(3600);
    let named = [all[0]].into();
    assert_eq!(objects.sweep(&named, SystemTime::now() - hour).await.expect("swept"), 0, "nothing is old");
    assert_eq!(objects.sweep(&named, SystemTime::now() + hour).await.expect("swept"), 2);
    assert_eq!(objects.list().await.expect("one"), [all[0]]);
    // Bytes that somebody changed there are detected.
    let name = all[0].to_string();
    std::fs::write(below.join(&name[..2]).join(&name[2..]), "replaY").expect("changed");
    assert_eq!(objects.get(&all[0], 10).await.expect_err("changed").kind(), ErrorKind::InvalidData);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn objects_move_to_a_bucket_and_back_and_one_that_is_away_is_no_loss() {
    let bucket = Bucket::new().await;
    let folder = contest("secret of the bucket");
    let mut all = Vec::new();
    for number in 0..40 {
        all.push(open(folder.path()).put(format!("replay {number}").as_bytes()).await.expect("room"));
    }
    assert_eq!(
        relocate_objects(folder.path(), &bucket.place(), agon_store::Time(5)).await.expect("moved"),
        40
    );
    std::fs::remove_dir_all(folder.path().join(OBJECTS)).expect("not needed any more");
    let objects = open(folder.path());
    for (number, sha) in all.iter().enumerate() {
        assert_eq!(objects.get(sha, 100).await.expect("there"), format!("replay {number}").as_bytes());
    }
    let own = folder.path().join(OBJECTS);
    let home = own.to_str().expect("UTF-8");
    assert_eq!(relocate_objects(folder.path(), home, agon_store::Time(5)).await.expect("back"), 40);
    assert!(!folder.path().join(OBJECTS_AT).exists());
    assert_eq!(open(folder.path()).list().await.expect("all").len(), 40);
    // Without the keys it is refused, and the objects stay where they are.
    let other = contest("another secret");
    open(other.path()).put(b"replay").await.expect("room");
    let refused = relocate_objects(other.path(), &bucket.place(), agon_store::Time(5))
        .await
        .expect_err("refused")
        .to_string();
    assert!(refused.contains("the bucket refuses these keys: ") && !refused.contains("Generic"), "{refused}");
    assert!(!other.path().join(OBJECTS_AT).exists());
    // A bucket that does not answer is told apart from one that has lost something.
    relocate_objects(folder.path(), &bucket.place(), agon_store::Time(5)).await.expect("moved");
    let objects = open(folder.path());
    bucket.task.abort();
    let _ = bucket.task.await;
    let away = objects.get(&all[0], 100).await.expect_err("nobody answers");
    assert!(!matches!(away.kind(), ErrorKind::NotFound | ErrorKind::InvalidData), "{away}");
    let away = objects.put(b"more").await.expect_err("nobody answers");
    assert!(
        agon_store::StoreError::File("objects".into(), std::io::Error::from(away.kind())).is_bucket_away()
    );
    let away = away.to_string();
    assert!(
        away.starts_with("the bucket does not answer: ") && away.ends_with("; nothing was lost, try again"),
        "{away}"
    );
    assert!(!away.contains("Generic") && !away.contains("retries"), "{away}");
}
