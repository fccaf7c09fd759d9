//! Spectators:
//! `cargo run --release -p agon-site --example spectators -- 127.0.0.1:8000 [SPECTATORS [REQUESTS_A_SECOND [SECONDS]]]`.
//!
//! Each spectator has the live ladder open as a browser does: it listens for hints and reloads the page after one, at most
//! every ten seconds. In addition, pages of all kinds are requested at a fixed rate, whether answers come or not. They come
//! from many addresses of the loopback, as from many homes, and go nowhere else. Prints how long pages took and the CPU time
//! of this program itself, which shares the machine with the server.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{sleep_until, timeout};

/// Pages that anybody may see.
const PAGES: &[&str] = &["/", "/ladder", "/matches", "/rules"];
/// The page that spectators have open.
const LIVE: &str = "/ladder";
/// The shortest time between two reloads of a page, as in `live.js`.
const PACE: Duration = Duration::from_secs(10);
/// How long a viewer waits for a page before leaving.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long pages took, and how many answers were not pages.
#[derive(Default)]
struct Heard {
    took: Vec<Duration>,
    refused: usize,
    hints: usize,
}

type Ledger = Arc<Mutex<Heard>>;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let server: SocketAddr =
        arguments.next().and_then(|word| word.parse().ok()).expect("an address, as 127.0.0.1:8000");
    assert!(server.ip().is_loopback(), "only a server on this machine is asked");
    let mut number = |usual: u64| arguments.next().map_or(usual, |word| word.parse().expect("a number"));
    let (spectators, rate, seconds) = (number(500), number(50).max(1), number(60));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a thread");
    runtime.block_on(look_on(server, spectators, rate, Duration::from_secs(seconds)));
}

async fn look_on(server: SocketAddr, spectators: u64, rate: u64, whole: Duration) {
    let (live, asked) = (Ledger::default(), Ledger::default());
    let began = Instant::now();
    let end = began + whole;
    for number in 0..spectators {
        tokio::spawn(spectate(server, number, end, live.clone()));
    }
    for number in 0..rate * whole.as_secs() {
        // By the clock: late answers do not slow down the requests.
        sleep_until((began + Duration::from_micros(1_000_000 * number / rate)).into()).await;
        let (path, asked) = (PAGES[number as usize % PAGES.len()], asked.clone());
        tokio::spawn(async move { read(server, number, path, &asked).await });
    }
    sleep_until((end + Duration::from_secs(1)).into()).await;
    let own = clock_gettime(ClockId::ProcessCPUTime);
    println!("{spectators} spectators and {rate} requests a second for {} s", whole.as_secs());
    told("pages asked for", &asked);
    told("pages read again after a hint", &live);
    println!("hints heard: {}", live.lock().expect("not poisoned").hints);
    let own = own.tv_sec as f64 + own.tv_nsec as f64 / 1e9;
    println!("CPU of this program: {own:.1} s, {:.0} % of one core", 100.0 * own / whole.as_secs_f64());
}

fn told(what: &str, ledger: &Ledger) {
    let mut heard = ledger.lock().expect("not poisoned");
    heard.took.sort();
    let at = |share: f64| {
        let place = ((heard.took.len() as f64 * share) as usize).min(heard.took.len().saturating_sub(1));
        heard.took.get(place).map_or(f64::NAN, |took| took.as_secs_f64() * 1e3)
    };
    let (half, most, last) = (at(0.5), at(0.99), at(1.0));
    println!(
        "{what}: {}, {half:.1} ms median, {most:.1} ms at the 99th percentile, {last:.1} ms at most; {} without a page",
        heard.took.len(),
        heard.refused
    );
}

/// A connection from one of many addresses of this machine.
async fn connect(server: SocketAddr, number: u64) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    let from = Ipv4Addr::new(127, 1, (number / 200 % 250) as u8, (1 + number % 200) as u8);
    socket.bind((IpAddr::V4(from), 0).into())?;
    socket.connect(server).await
}

/// Reads a page, and records how long it took.
async fn read(server: SocketAddr, number: u64, path: &str, ledger: &Ledger) {
    let began = Instant::now();
    let page = async {
        let mut stream = connect(server, number).await?;
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: {server}\r\nAccept: text/html\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await?;
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).await?;
        std::io::Result::Ok(bytes.starts_with(b"HTTP/1.1 200"))
    };
    let is_page = matches!(timeout(PATIENCE, page).await, Ok(Ok(true)));
    let mut heard = ledger.lock().expect("not poisoned");
    match is_page {
        true => heard.took.push(began.elapsed()),
        false => heard.refused += 1,
    }
}

/// Listens for hints, and reloads the ladder after each.
async fn spectate(server: SocketAddr, number: u64, end: Instant, ledger: Ledger) {
    read(server, number, LIVE, &ledger).await;
    let Ok(mut stream) = connect(server, number).await else {
        ledger.lock().expect("not poisoned").refused += 1;
        return;
    };
    let head = format!("GET /events HTTP/1.1\r\nHost: {server}\r\nAccept: text/event-stream\r\n\r\n");
    if stream.write_all(head.as_bytes()).await.is_err() {
        return;
    }
    let mut lines = BufReader::new(stream).lines();
    let mut last = Instant::now();
    while let Some(left) = end.checked_duration_since(Instant::now()) {
        let Ok(Ok(Some(line))) = timeout(left, lines.next_line()).await else { return };
        if !line.starts_with("event: hint") {
            continue;
        }
        ledger.lock().expect("not poisoned").hints += 1;
        sleep_until((last + PACE).into()).await;
        if Instant::now() < end {
            last = Instant::now();
            read(server, number, LIVE, &ledger).await;
        }
    }
}
