//! One client that takes all it can: the others are answered all the same.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use agon_site::limits::{CONNECTIONS_PER_ADDRESS, UNDER_WAY_PER_ADDRESS};
use agon_site::{Way, listen_apart};
use agon_worker::Posted;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

use crate::common::hall::{self, Worker, play};
use crate::common::{Answer, Browser, World};

/// Longer than any answer takes, and shorter than a request that stalls is held.
const LONG: Duration = Duration::from_secs(30);

/// A connection from this address of the loopback.
async fn connect(to: SocketAddr, from: [u8; 4]) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_recv_buffer_size(4096).expect("set");
    socket.bind((from, 0).into()).expect("an address of this machine");
    socket.connect(to).await.expect("it listens")
}

/// The head of a form without the form.
fn slow_form(world: &World, more: &str) -> Vec<u8> {
    let address = world.address;
    format!(
        "POST /sign-in HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\nContent-Length: 100\r\n{more}\r\nform="
    )
    .into()
}

/// Between two looks: who looks without end uses up what an address may ask in a minute before the others' requests are read.
async fn pause() {
    tokio::time::sleep(Duration::from_millis(20)).await;
}

/// The status of what comes first.
async fn status(stream: &mut TcpStream) -> u16 {
    let mut head = [0; 12];
    match tokio::time::timeout(LONG, stream.read_exact(&mut head)).await.expect("an answer") {
        Ok(_) => String::from_utf8_lossy(&head[9..]).parse().unwrap_or(0),
        Err(_) => 0,
    }
}

async fn in_time(mut browser: Browser, path: &str) -> Answer {
    tokio::time::timeout(LONG, browser.get(path)).await.expect("nobody else keeps it waiting")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_with_thousands_of_connections_keeps_nobody_else_out() {
    let world = World::new().await;
    let mut open = Vec::new();
    for _ in 0..2_500 {
        let mut stream = connect(world.address, [127, 0, 0, 2]).await;
        // A server that has had enough may close it at once.
        let _ = stream.write_all(&slow_form(&world, "")).await;
        open.push(stream);
    }
    assert_eq!(in_time(world.browser(), "/ladder").await.status, 200);
    // Of its connections as many are kept as one address may have; the others are told.
    let mut kept = 0;
    for stream in &mut open {
        let mut head = [0; 12];
        match tokio::time::timeout(Duration::from_millis(1), stream.read_exact(&mut head)).await {
            Err(_) => kept += 1,
            Ok(Ok(_)) => assert_eq!(&head, b"HTTP/1.1 429"),
            Ok(Err(_)) => {}
        }
    }
    assert_eq!(kept, CONNECTIONS_PER_ADDRESS);
    // What it gives up it may have again.
    drop(open);
    let again = async {
        loop {
            let mut stream = connect(world.address, [127, 0, 0, 2]).await;
            let get = format!("GET /ladder HTTP/1.1\r\nHost: {}\r\n\r\n", world.address);
            let _ = stream.write_all(get.as_bytes()).await;
            if status(&mut stream).await == 200 {
                return;
            }
            pause().await;
        }
    };
    tokio::time::timeout(LONG, again).await.expect("its places are free again");
}

/// A browser opens up to six connections, and keeps them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_people_behind_one_address_are_all_answered() {
    let world = World::new().await;
    let mut open = Vec::new();
    for person in 0..60 {
        for connection in 0..6 {
            let mut stream = connect(world.address, [127, 0, 0, 3]).await;
            let path = if connection == 0 && person < 40 { "/events" } else { "/ladder" };
            let get = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", world.address);
            stream.write_all(get.as_bytes()).await.expect("taken");
            open.push(stream);
        }
    }
    for stream in &mut open {
        assert_eq!(status(stream).await, 200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn behind_a_proxy_the_forwarded_address_has_its_share() {
    let world = World::with("sign_up = \"open\"", Way::Proxy("https://cup.example".into())).await;
    let from = |address: &str| {
        slow_form(&world, &format!("X-Forwarded-For: 9.9.9.9, {address}\r\nSec-Fetch-Site: same-origin\r\n"))
    };
    let with_origin = |head: Vec<u8>| {
        let text = String::from_utf8(head).expect("text");
        text.replace(&format!("Origin: http://{}", world.address), "Origin: https://cup.example").into_bytes()
    };
    let one_more = async || {
        let mut stream = connect(world.address, [127, 0, 0, 1]).await;
        stream.write_all(&with_origin(from("203.0.113.7"))).await.expect("taken");
        stream
    };
    let mut open = Vec::new();
    for _ in 0..UNDER_WAY_PER_ADDRESS {
        open.push(one_more().await);
    }
    let ask = |address: &str| {
        let mut browser = world.browser();
        browser.extra = vec![("X-Forwarded-For".into(), format!("9.9.9.9, {address}"))];
        browser
    };
    // All of them have arrived when one more is too many. The one that looks has a place itself for a moment, in which the last
    // form may be turned away: then another takes its place.
    let refused = async {
        loop {
            let answer = ask("203.0.113.7").get("/ladder").await;
            if answer.status == 429 {
                return answer;
            }
            open.push(one_more().await);
            pause().await;
        }
    };
    let refused = tokio::time::timeout(LONG, refused).await.expect("there is an end");
    assert!(refused.text().contains("under way"), "{}", refused.text());
    assert_eq!(in_time(ask("203.0.113.8"), "/ladder").await.status, 200);
    drop(open);
    let again = async {
        while ask("203.0.113.7").get("/ladder").await.status != 200 {
            pause().await;
        }
    };
    tokio::time::timeout(LONG, again).await.expect("its places are free again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_have_a_port_of_their_own_that_visitors_cannot_fill() {
    let world = hall::world().await;
    let here: SocketAddr = ([127, 0, 0, 1], 0).into();
    let (site, workers) =
        listen_apart(world.site.clone(), world.site.way.at(None, 0), here).await.expect("two ports");
    world.site.workers_come_to(format!("http://{}", workers.address()));
    let at =
        |address: SocketAddr| Browser { address, cookies: BTreeMap::new(), bearer: None, extra: Vec::new() };
    // The site no longer answers workers, and says where they are answered.
    let mut worker = Worker::stranger(&world, "hall 1").await;
    let port = |address: SocketAddr| SocketAddr::new(IpAddr::from([127, 0, 0, 1]), address.port());
    for path in ["", "/lease", "/results"] {
        worker.http.address = port(site.address());
        let answer = worker.post(path, b"{}").await;
        assert_eq!(answer.status, 404, "{path}");
        assert!(
            answer.text().contains(&format!("agon work http://{}", workers.address())),
            "{}",
            answer.text()
        );
    }
    assert_eq!(at(port(site.address())).get("/ladder").await.status, 200);
    // Where workers are answered nobody else is, whatever name they come by.
    for path in ["/", "/ladder", "/metrics", "/api/v1/contest", "/events"] {
        let answer = at(workers.address()).get(path).await;
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.text().contains("Only workers are answered here"), "{path}: {}", answer.text());
    }
    // All that one address may have of the site is taken; its workers notice nothing.
    let mut open = Vec::new();
    for _ in 0..CONNECTIONS_PER_ADDRESS {
        let mut stream = connect(port(site.address()), [127, 0, 0, 1]).await;
        stream.write_all(&slow_form(&world, "")).await.expect("taken");
        open.push(stream);
    }
    let refused = async {
        loop {
            let mut stream = connect(port(site.address()), [127, 0, 0, 1]).await;
            let _ = stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await;
            match status(&mut stream).await {
                429 | 0 => return,
                _ => pause().await,
            }
        }
    };
    tokio::time::timeout(LONG, refused).await.expect("the site is full for this address");
    worker.http.address = workers.address();
    worker.http.extra = vec![("X-Forwarded-Host".into(), "any.example".into())];
    let answer = tokio::time::timeout(LONG, worker.hello(hall::machine())).await.expect("answered");
    assert_eq!(answer.status, 200, "{}", answer.text());
    let (_, job) = worker.one().await;
    assert_eq!(worker.result(job.attempt, &play(&world, &job)).await, Posted::Kept);
    drop(open);
    site.stop().await;
    workers.stop().await;
}

/// Each takes the first bytes of a large file and no more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_readers_keep_nobody_from_a_file() {
    let world = World::new().await;
    let dist = world.folder.path().join("dist");
    std::fs::create_dir(&dist).expect("made");
    let archive = vec![7; 8 << 20];
    let name = "agon-0.1.0-aarch64-unknown-linux-gnu.tar.gz";
    std::fs::write(dist.join(name), &archive).expect("written");
    let mut open = Vec::new();
    for _ in 0..100 {
        let mut stream = connect(world.address, [127, 0, 0, 4]).await;
        let get = format!("GET /get/{name} HTTP/1.1\r\nHost: {}\r\n\r\n", world.address);
        stream.write_all(get.as_bytes()).await.expect("taken");
        assert_eq!(status(&mut stream).await, 200);
        open.push(stream);
    }
    let file = in_time(world.browser(), &format!("/get/{name}")).await;
    assert_eq!((file.status, file.body.len()), (200, archive.len()));
    // What waits for them is not in memory: the answers are read from the file as they are taken.
    assert!(file.body == archive, "byte for byte");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_on_which_nothing_is_asked_is_closed() {
    let world = World::new().await;
    let mut stream = connect(world.address, [127, 0, 0, 1]).await;
    let get = format!("GET /style.css HTTP/1.1\r\nHost: {}\r\n\r\n", world.address);
    stream.write_all(get.as_bytes()).await.expect("taken");
    let mut all = Vec::new();
    tokio::time::timeout(LONG, stream.read_to_end(&mut all))
        .await
        .expect("it does not stay")
        .expect("closed");
    assert!(all.starts_with(b"HTTP/1.1 200"));
}
