//! A fleet of simulated machines: how much work a server can hand out and take in.
//!
//! Longer than 500 lines: one measuring program, built as one file.
//!
//! `cargo build --release -p agon-site --example fleet`, and with that program:
//! `fleet prepare DIR VERSIONS MACHINES [postgres://... [OBJECTS]]` makes a contest of Cultist Wars on one map with this
//! many live versions and machines, and records one match. `fleet serve DIR PORT` runs it as `agon serve -j 0` does.
//! `fleet load DIR ADDRESS RATE BATCH SECONDS [PID...]` plays the machines: each leases a batch over HTTP, marks each match
//! as begun, and posts the results of the batch in one request, with replays that hold the recorded answers under the
//! match's own seed: the server recomputes each. RATE is the total of matches a second; 0: as many as it can take. With
//! process numbers it prints their CPU time, including that of their children. Connections come from many addresses of the
//! loopback and go nowhere else.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use agon_bot::BotName;
use agon_contest::{FaultsTold, Observed};
use agon_game::{MapChoice, Setup};
use agon_replay::{EndInfo, Header, Replay, SeatInfo, Writer};
use agon_server::{ContestServer, Setting};
use agon_site::{Site, Way, secrets};
use agon_store::acts::{Add, Added, Admit, Enlist, Enlisted, Promote};
use agon_store::{ContestSettings, Time};
use agon_worker::play::MatchEnd;
use agon_worker::wire::{LeaseRequest, PostedResult as Sent, SeriesWelcome};
use agon_worker::{BotSource, ContestTerms, Granted, Job, MatchGround, Posted, PreparedGame, Sitting, Try};
use rustix::time::{ClockId, clock_gettime};
use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpSocket, TcpStream};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// The tokens, one a line.
const TOKENS: &str = "fleet.tokens";
/// The recorded match.
const REPLAY: &str = "fleet.replay";
/// The one map: the board of seed 1. A match on a board from a file is the same under every seed.
const BOARD: &str = "..2.......8..
.x.........x.
.7x.......xd.
0..5.x.x.b..1
.4.........a.
xx3.......9xx
x..6.....c..x
";
/// The process that each machine claims to be.
const RUN: &str = "fleet";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |place: usize, usual: u64| words.get(place).map_or(usual, |word| word.parse().expect("a number"));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("threads");
    match words.first().map(String::as_str) {
        Some("prepare") => {
            let folder = Path::new(&words[1]);
            std::fs::create_dir_all(folder).expect("a folder");
            std::fs::write(folder.join("contest.toml"), "game = 'cultist-wars'\n").expect("written");
            if let Some(url) = words.get(4) {
                agon_store::place(folder, url).expect("a database");
            }
            if let Some(place) = words.get(5) {
                agon_store::place_objects(folder, place).expect("a place");
            }
            runtime.block_on(prepare(folder, number(2, 4000), number(3, 1000)));
        }
        Some("serve") => serve(Path::new(&words[1]), number(2, 8000) as u16),
        Some("load") => {
            let server: SocketAddr = words[2].parse().expect("an address, as 127.0.0.1:8000");
            assert!(server.ip().is_loopback(), "only a server on this machine is asked");
            let pids = (6..words.len()).map(|place| number(place, 0)).collect();
            let plan = Plan { rate: number(3, 700), batch: number(4, 8) as usize, seconds: number(5, 60) };
            runtime.block_on(load(Path::new(&words[1]), server, plan, pids));
        }
        _ => panic!("prepare, serve or load: see the top of this file"),
    }
}

async fn prepare(folder: &Path, versions: u64, machines: u64) {
    let (setting, now) = (setting(), now());
    let server = ContestServer::open(folder, &setting, now).await.expect("a contest");
    let (store, objects, contest, terms) =
        (server.store(), server.objects(), server.contest(), &setting.terms);
    for number in 0..versions {
        let source = objects.put(format!("bot {number}").as_bytes()).await.expect("room");
        let add = Add {
            contest,
            entrant: format!("Bot {number}"),
            boss: false,
            builtin: None,
            source,
            received: now,
            only_if_better: false,
            bytes: 1,
            counts: false,
            actor: "fleet".into(),
        };
        if let Added::New(version, _) = store.act(add).await.expect("added") {
            store.act(Promote { version, now }).await.expect("live");
        }
    }
    let mut tokens = String::new();
    for number in 0..machines {
        let secret = secrets::fresh();
        let (name, sha) = (format!("machine {number}"), secrets::sha(&secret));
        let enlist = Enlist { contest, name, sha, actor: "fleet".into(), now };
        let Enlisted::New(worker) = store.act(enlist).await.expect("answered") else {
            panic!("room for machines")
        };
        let (run, level, about) = (RUN.to_owned(), "A".to_owned(), "{}".to_owned());
        assert!(store.act(Admit { worker, run, level, about, now }).await.expect("answered"));
        tokens += &secret;
        tokens.push('\n');
    }
    std::fs::write(folder.join(TOKENS), tokens).expect("written");
    server.close().await;
    let table = PreparedGame::new(terms).expect("known");
    let seats = ["builtin:greedy", "builtin:hunter?nodes=300"];
    let seat = |name: &str| Sitting { label: name.to_owned(), program: BotSource::Builtin(name.to_owned()) };
    let job = Job {
        attempt: Try { game: 0, n: 1 },
        map: 0,
        seed: 1,
        seats: seats.map(seat).into(),
        tried: None,
        disturbed: Vec::new(),
        positions: Vec::new(),
    };
    let bots = seats.map(|name| BotName::parse(name).expect("a bot"));
    let played = table.play(&job, &bots, &[0], &AtomicBool::new(false), &AtomicU32::new(0));
    let Ok(MatchEnd::Whole(recorded)) = played else { panic!("a match is played: {played:?}") };
    let whole = recorded.shared_out(&table).expect("a replay");
    println!("{versions} versions, {machines} machines, a replay of {} bytes", whole.replay.len());
    std::fs::write(folder.join(REPLAY), whole.replay).expect("written");
}

fn now() -> Time {
    Time(jiff::Timestamp::now().as_millisecond())
}

/// Cultist Wars on one map, without built-in bots: no seed changes the result of the recorded answers.
fn setting() -> Setting {
    let game = agon_games::find("cultist-wars").expect("it is a game");
    let any = Setup { seats: 2, seed: 1, ..Setup::default() };
    let setup = Setup { map: MapChoice::File("one".into(), BOARD.into()), ..any };
    let recipe = game.open(&setup).expect("its own map").recipe().clone();
    let terms = ContestTerms {
        game: "cultist-wars".into(),
        rules_version: game.info().rules_version,
        grounds: vec![MatchGround::new(&setup, &recipe)],
        clock: agon_spec::Clock::ORIGINAL.into(),
        ponder: agon_spec::Ponder::Stop,
        ratings: agon_server::METHOD,
    };
    let founding =
        ContestSettings { title: "fleet".into(), matches: 1_000_000, ..ContestSettings::default() };
    Setting { name: "fleet".into(), terms, founding }
}

/// The server, as `agon serve -j 0` runs it.
fn serve(folder: &Path, port: u16) {
    // Long transactions that others wait for are reported on standard error.
    let long = Targets::new().with_target("agon_store::writer", tracing::Level::DEBUG);
    let long = long.with_target("agon_server", tracing::Level::DEBUG);
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    tracing_subscriber::registry().with(lines).with(long).init();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("threads");
    let server =
        Arc::new(runtime.block_on(ContestServer::open(folder, &setting(), now())).expect("prepare it first"));
    let site = Site::new(server.clone(), folder, Way::Loopback, now).expect("a good file");
    let listening =
        runtime.block_on(agon_site::listen(site, ([127, 0, 0, 1], port).into())).expect("the port is free");
    println!("http://{}", listening.address());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            loop {
                let began = Instant::now();
                if let Err(error) = runtime.block_on(server.rate(now())) {
                    eprintln!("{error}");
                }
                std::thread::sleep(agon_server::tick::rest(began.elapsed()));
            }
        });
        look_after(&runtime, &server)
    })
}

fn look_after(runtime: &tokio::runtime::Runtime, server: &ContestServer) -> ! {
    loop {
        match runtime.block_on(server.look_after(now())) {
            Ok(ticked) if ticked.valid > 0 => {}
            Ok(_) => std::thread::sleep(Duration::from_millis(50)),
            Err(error) => {
                eprintln!("{error}");
                std::thread::sleep(Duration::from_secs(2));
            }
        }
    }
}

/// The load to apply.
struct Plan {
    rate: u64,
    batch: usize,
    seconds: u64,
}

/// What the machines share.
struct Fleet {
    server: SocketAddr,
    table: PreparedGame,
    recorded: Replay,
    /// How long a machine takes to play a batch.
    plays: Duration,
    batch: usize,
    end: Instant,
    counts: Counts,
    leases: Mutex<Times>,
    posts: Mutex<Times>,
}

/// When each request was made, and how long it took.
type Times = Vec<(Instant, Duration)>;

#[derive(Default)]
struct Counts {
    kept: AtomicU64,
    lost: AtomicU64,
    empty: AtomicU64,
}

async fn load(folder: &Path, server: SocketAddr, plan: Plan, pids: Vec<u64>) {
    let tokens = std::fs::read_to_string(folder.join(TOKENS)).expect("prepare the contest first");
    let tokens: Vec<String> = tokens.lines().map(str::to_owned).collect();
    let recorded = Replay::read(&std::fs::read(folder.join(REPLAY)).expect("there")).expect("a replay");
    let mut first = Machine::connect(server, 0, &tokens[0]).await.expect("it answers");
    let path = format!("/work/v1?program={}", agon_replay::data::PROGRAM.replace(' ', "+"));
    let welcome: SeriesWelcome = first.ask("GET", &path, &[]).await.expect("welcome");
    let machines = tokens.len() as u64;
    let fleet = Arc::new(Fleet {
        server,
        table: PreparedGame::new(&welcome.terms.expect("of a contest")).expect("known"),
        recorded,
        plays: Duration::from_secs(machines * plan.batch as u64)
            .checked_div(plan.rate as u32)
            .unwrap_or_default(),
        batch: plan.batch,
        end: Instant::now() + Duration::from_secs(plan.seconds),
        counts: Counts::default(),
        leases: Mutex::default(),
        posts: Mutex::default(),
    });
    let before: Vec<f64> = pids.iter().map(|pid| cpu(*pid)).collect();
    let (began, own) = (Instant::now(), clock_gettime(ClockId::ProcessCPUTime));
    let tasks: Vec<_> = tokens
        .into_iter()
        .enumerate()
        .map(|(number, token)| tokio::spawn(work(fleet.clone(), number as u64, machines, token)))
        .collect();
    let oldest = tokio::spawn(look(server, fleet.end));
    // The machines keep arriving until each has had a batch; after the end they only return what they have.
    let ramp = fleet.plays + Duration::from_secs(2);
    let steady = tokio::spawn({
        let fleet = fleet.clone();
        async move {
            tokio::time::sleep(ramp).await;
            let (from, before) = (Instant::now(), fleet.counts.kept.load(Ordering::Relaxed));
            tokio::time::sleep_until(fleet.end.into()).await;
            let kept = fleet.counts.kept.load(Ordering::Relaxed) - before;
            kept as f64 / from.elapsed().as_secs_f64()
        }
    });
    for task in tasks {
        task.await.expect("no machine panics");
    }
    let (seconds, spent) = (began.elapsed().as_secs_f64(), clock_gettime(ClockId::ProcessCPUTime));
    let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
    let kept = load(&fleet.counts.kept) as f64;
    println!(
        "{machines} machines, batches of {}, {seconds:.0} s: {kept} results, {:.0} a second; {} not taken, {} leases without work",
        plan.batch,
        kept / seconds,
        load(&fleet.counts.lost),
        load(&fleet.counts.empty)
    );
    let steady = steady.await.expect("it counts");
    println!("{steady:.0} results a second from second {:.0} to {}", ramp.as_secs_f64(), plan.seconds);
    told("leases", &fleet.leases, began + ramp);
    told("posts", &fleet.posts, began + ramp);
    let (age, behind) = oldest.await.expect("it looks");
    println!("the table was at most {age:.1} s old and {behind:.0} rows behind");
    let own = (spent.tv_sec - own.tv_sec) as f64 + (spent.tv_nsec - own.tv_nsec) as f64 / 1e9;
    println!(
        "CPU of this program: {:.2} ms a match, {:.0} % of one core",
        1e3 * own / kept,
        100.0 * own / seconds
    );
    for (pid, before) in pids.into_iter().zip(before) {
        let spent = cpu(pid) - before;
        println!(
            "CPU of process {pid}: {:.2} ms a match, {:.0} % of one core",
            1e3 * spent / kept,
            100.0 * spent / seconds
        );
    }
}

/// Prints the figures of all of them, and of those from a moment on.
fn told(what: &str, times: &Mutex<Times>, steady: Instant) {
    let times = times.lock().expect("not poisoned");
    for (when, from) in [("all", None), ("when all have come", Some(steady))] {
        let of = times.iter().filter(|(asked, _)| from.is_none_or(|from| *asked >= from));
        let mut took: Vec<Duration> = of.map(|(_, took)| *took).collect();
        took.sort();
        let at = |share: f64| {
            let place = ((took.len() as f64 * share) as usize).min(took.len().saturating_sub(1));
            took.get(place).map_or(f64::NAN, |took| took.as_secs_f64() * 1e3)
        };
        println!(
            "{what}, {when}: {}, {:.1} ms median, {:.1} ms at the 99th percentile, {:.1} ms at most",
            took.len(),
            at(0.5),
            at(0.99),
            at(1.0)
        );
    }
}

/// A machine that leases, plays and posts until the end.
async fn work(fleet: Arc<Fleet>, number: u64, machines: u64, token: String) {
    // They start one after the other, and stay apart.
    let part = fleet.plays.mul_f64(number as f64 / machines as f64);
    tokio::time::sleep(part + Duration::from_millis(number % 1000)).await;
    let Ok(mut own) = Machine::connect(fleet.server, number, &token).await else {
        fleet.counts.lost.fetch_add(1, Ordering::Relaxed);
        return;
    };
    let mut request = 0u64;
    while Instant::now() < fleet.end {
        let began = Instant::now();
        request += 1;
        // A name that no earlier run of this program has used.
        let wanted = LeaseRequest {
            request: format!("{}-{request}", std::process::id()),
            most: fleet.batch,
            wait_ms: 5000,
        };
        let wanted = serde_json::to_vec(&wanted).expect("plain data");
        let granted: Granted = match own.ask("POST", &format!("/work/v1/lease?run={RUN}"), &wanted).await {
            Ok(granted) => granted,
            Err(why) => panic!("a lease: {why}"),
        };
        if granted.jobs.is_empty() {
            fleet.counts.empty.fetch_add(1, Ordering::Relaxed);
            continue;
        }
        fleet.leases.lock().expect("not poisoned").push((began, began.elapsed()));
        let each = fleet.plays / granted.jobs.len() as u32;
        let mut over = Vec::new();
        for job in granted.jobs {
            let attempt = serde_json::to_vec(&job.attempt).expect("plain data");
            let start: Result<serde_json::Value, String> =
                own.ask("POST", &format!("/work/v1/start?run={RUN}"), &attempt).await;
            start.expect("a match begins");
            tokio::time::sleep(each).await;
            over.push(play(&fleet, &job));
        }
        let began = Instant::now();
        let sent = Sent::with_all(over.iter().map(|(sent, replay)| (sent, &replay[..]))).expect("plain data");
        let posted: agon_worker::wire::ReceivedAll = own
            .ask("POST", &format!("/work/v1/results?run={RUN}"), &sent)
            .await
            .unwrap_or_else(|why| panic!("results: {why}"));
        fleet.posts.lock().expect("not poisoned").push((began, began.elapsed()));
        let kept = posted.posted.iter().filter(|posted| **posted == Posted::Kept).count() as u64;
        fleet.counts.kept.fetch_add(kept, Ordering::Relaxed);
        fleet.counts.lost.fetch_add(posted.posted.len() as u64 - kept, Ordering::Relaxed);
    }
}

/// The recorded answers as a match of this job.
fn play(fleet: &Fleet, job: &Job) -> (Sent, Vec<u8>) {
    let mut session = fleet.table.open(job.map, job.seed).expect("a match");
    let seats = job.seats.iter().map(|seat| SeatInfo {
        bot: seat.program.hash().to_owned(),
        label: seat.label.clone(),
        hash: Some(seat.program.hash().to_owned()),
    });
    let recipe = session.recipe().clone();
    let header = Header { recipe, seats: seats.collect(), ..fleet.recorded.header.clone() };
    let mut writer = Writer::new(Vec::new(), &header).expect("in memory");
    for number in 0..fleet.recorded.steps.len() {
        if session.outcome().is_some() {
            break;
        }
        fleet.recorded.play_step(number, session.as_mut()).expect("on the same map");
        writer.step(&fleet.recorded.steps[number].answers, session.hash()).expect("in memory");
    }
    let (outcome, state) = (session.outcome().cloned(), format!("{:016x}", session.hash()));
    assert!(outcome.is_some(), "the recorded match ends the same on every seed: give the contest one map");
    let end = EndInfo { steps: 0, outcome, state, chain: String::new(), facts: serde_json::Value::Null };
    let replay = writer.finish(end).expect("in memory");
    let observed = Observed {
        faults: FaultsTold::Public(vec![None; job.seats.len()]),
        max_ms: vec![1.0; job.seats.len()],
        wall_us: 1000,
        level: "A".into(),
        ..Observed::default()
    };
    (Sent { attempt: job.attempt, observed, own: vec![None; job.seats.len()] }, replay)
}

/// The greatest age of the table, in seconds, and how many rows behind it was.
async fn look(server: SocketAddr, end: Instant) -> (f64, f64) {
    let (mut age, mut behind) = (0.0f64, 0.0f64);
    while Instant::now() < end {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let Ok(mut own) = Machine::connect(server, 0, "").await else { continue };
        let Ok(text) = own.text("GET", "/metrics", &[]).await else { continue };
        let text = String::from_utf8_lossy(&text).into_owned();
        let figure = |name: &str| {
            let line = text.lines().find(|line| line.starts_with(name))?;
            line.rsplit(' ').next()?.parse::<f64>().ok()
        };
        age = age.max(figure("agon_table_age_seconds ").unwrap_or(f64::NAN));
        behind = behind.max(figure("agon_table_behind_rows ").unwrap_or(f64::NAN));
    }
    (age, behind)
}

/// A connection that stays open.
struct Machine {
    stream: BufReader<TcpStream>,
    from: Ipv4Addr,
    server: SocketAddr,
    head: String,
}

impl Machine {
    async fn connect(server: SocketAddr, number: u64, token: &str) -> std::io::Result<Self> {
        // Metrics are given only to the loopback's own address.
        let from = match token {
            "" => Ipv4Addr::LOCALHOST,
            _ => Ipv4Addr::new(127, 1, (number / 200 % 250) as u8, (1 + number % 200) as u8),
        };
        let key = if token.is_empty() { String::new() } else { format!("Authorization: Bearer {token}\r\n") };
        let head = format!("Host: {server}\r\n{key}");
        Ok(Self { stream: open(from, server).await?, from, server, head })
    }

    async fn ask<T: DeserializeOwned>(&mut self, how: &str, path: &str, body: &[u8]) -> Result<T, String> {
        let bytes = self.text(how, path, body).await?;
        serde_json::from_slice(&bytes).map_err(|error| error.to_string())
    }

    async fn text(&mut self, how: &str, path: &str, body: &[u8]) -> Result<Vec<u8>, String> {
        let head = format!(
            "{how} {path} HTTP/1.1\r\n{}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.head,
            body.len()
        );
        let sent = [head.as_bytes(), body].concat();
        let answer = match self.exchange(&sent).await {
            // The server drops connections that are silent for ten seconds; every request is safe to repeat.
            Err(_) => {
                self.stream = open(self.from, self.server).await.map_err(|error| error.to_string())?;
                self.exchange(&sent).await
            }
            answer => answer,
        };
        match answer.map_err(|error| error.to_string())? {
            (200, body) => Ok(body),
            (status, body) => Err(format!("{status}: {}", String::from_utf8_lossy(&body))),
        }
    }

    async fn exchange(&mut self, sent: &[u8]) -> std::io::Result<(u16, Vec<u8>)> {
        self.stream.get_mut().write_all(sent).await?;
        let (mut status, mut length, mut line) = (0, 0, String::new());
        loop {
            line.clear();
            if self.stream.read_line(&mut line).await? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            let low = line.trim().to_ascii_lowercase();
            if let Some(rest) = low.strip_prefix("http/1.1 ") {
                status = rest.get(..3).and_then(|code| code.parse().ok()).unwrap_or(0);
            } else if let Some(bytes) = low.strip_prefix("content-length:") {
                length = bytes.trim().parse().map_err(|_| std::io::ErrorKind::InvalidData)?;
            } else if low.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).await?;
        Ok((status, body))
    }
}

async fn open(from: Ipv4Addr, server: SocketAddr) -> std::io::Result<BufReader<TcpStream>> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((IpAddr::V4(from), 0).into())?;
    let stream = socket.connect(server).await?;
    stream.set_nodelay(true)?;
    Ok(BufReader::new(stream))
}

/// The CPU time of a process and of its living children, in seconds.
fn cpu(pid: u64) -> f64 {
    let own = |pid: u64| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (_, rest) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let number = |place: usize| fields.get(place).and_then(|word| word.parse::<f64>().ok());
        // Including children that have ended, because connections come and go.
        let ticks: f64 = (11..15).filter_map(number).sum();
        Some((number(1)?, ticks / 100.0))
    };
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = all.filter_map(|entry| entry.file_name().to_string_lossy().parse::<u64>().ok());
    let children: f64 =
        numbers.filter_map(own).filter(|(parent, _)| *parent == pid as f64).map(|(_, spent)| spent).sum();
    own(pid).map_or(0.0, |(_, spent)| spent) + children
}
