//! Uploads: many slow ones at once, too large ones, and those that break off.

use std::path::Path;

use crate::common::{Browser, World};
use agon_site::limits::UPLOADS;
use agon_store::LoginKind;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

/// Begins to send a file of 1 MiB and then stalls.
async fn half(browser: &Browser, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(browser.address).await.expect("it listens");
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/octet-stream\r\n\
         Content-Length: {}\r\n\r\n",
        browser.address,
        browser.bearer.as_deref().expect("a token"),
        1 << 20,
    );
    stream.write_all(head.as_bytes()).await.expect("sent");
    stream.write_all(&[b'#'; 64 << 10]).await.expect("sent");
    stream
}

/// Files below a folder.
fn files(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.map(|path| if path.is_dir() { files(&path) } else { 1 }).sum()
}

/// Waits a while until there are this many files.
async fn wait_for(folder: &Path, count: usize) {
    for _ in 0..600 {
        if files(folder) == count {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("{} files, not {count}", files(folder));
}

#[tokio::test]
async fn slow_uploads_hold_nobody_up_and_leave_nothing_when_they_break_off() {
    let world = World::new().await;
    let objects = world.folder.path().join("objects");
    let mut slow = Vec::new();
    let mut first = None;
    for person in 0..6 {
        let account = world.account(&format!("Slow {person}"), false).await;
        let (program, _) = world.signed_in(account, LoginKind::Token).await;
        for path in
            ["/api/v1/upload?name=bot.py", "/api/v1/draft?name=bot.py"].iter().cycle().take(UPLOADS as usize)
        {
            slow.push(half(&program, path).await);
        }
        first.get_or_insert(program);
    }
    // All of them are on the disk, and as many again could come.
    wait_for(&objects, slow.len()).await;
    let quick = world.account("Quick", false).await;
    let (mut quick, _) = world.signed_in(quick, LoginKind::Token).await;
    let answer =
        quick.ask("POST", "/api/v1/upload?name=bot.py", "application/octet-stream", b"print(1)").await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    // A client that has begun enough uploads is told so, and when to come back.
    let mut first = first.expect("somebody");
    let answer =
        first.ask("POST", "/api/v1/upload?name=bot.py", "application/octet-stream", b"print(2)").await;
    assert_eq!((answer.status, answer.header("retry-after")), (429, Some("60")), "{}", answer.text());
    // They leave in the middle: nothing remains but what arrived whole, and there is room again.
    drop(slow);
    wait_for(&objects, 1).await;
    let answer =
        first.ask("POST", "/api/v1/upload?name=bot.py", "application/octet-stream", b"print(2)").await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

#[tokio::test]
async fn what_is_too_large_or_no_bot_leaves_nothing_behind() {
    let world = World::new().await;
    let objects = world.folder.path().join("objects");
    let ann = world.account("Ann", false).await;
    let (mut page, _) = world.signed_in(ann, LoginKind::Session).await;
    let (mut program, _) = world.signed_in(ann, LoginKind::Token).await;
    let large = vec![7; (agon_api::LARGEST_UPLOAD + 1) as usize];
    for path in ["/upload", "/draft"] {
        let answer = page.upload(path, &[], "bot.py", &large).await;
        assert!(
            answer.status == 413 && answer.text().contains("larger than 20 MiB"),
            "{path}: {}",
            answer.text()
        );
        let answer = page.upload(path, &[("against", "1")], "bot.zip", b"no zip").await;
        assert!(
            answer.status == 422 && answer.text().contains("is not a valid archive"),
            "{path}: {}",
            answer.text()
        );
    }
    for path in ["/api/v1/upload?name=bot.zip", "/api/v1/draft?name=bot.zip"] {
        let answer = program.ask("POST", path, "application/octet-stream", b"no zip").await;
        assert!(
            answer.status == 422 && answer.text().contains("is not a valid archive"),
            "{path}: {}",
            answer.text()
        );
    }
    assert_eq!(files(&objects), 0);
}
