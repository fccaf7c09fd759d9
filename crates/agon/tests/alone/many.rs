//! Many machines, killed at random moments under load: two servers of one contest on one PostgreSQL, its objects in a
//! bucket, two workers; and machines played by this test, which write down what was acknowledged to them. None of that is
//! lost, nothing counts twice, and whatever was not killed continues by itself.
//!
//! `cargo xtask long many` kills 50 times; here it is a few.

#[path = "../../../agon-store/tests/common/bucket.rs"]
pub mod bucket;
#[path = "../../../agon-store/tests/common/mod.rs"]
pub mod database;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use self::database::Postgres;
use crate::common::{Running, agon, block_on, command, folder, good, site_of, wait, wait_until};
use crate::wire::Wire;
use agon_bot::BotName;
use agon_game::Seeded;
use agon_store::{Kind, LogEntry, MatchId, Sealed, Sha, Store};
use agon_worker::play::MatchEnd;
use agon_worker::wire::{PostedResult as Sent, SeriesWelcome};
use agon_worker::{BotSource, Granted, Posted, PreparedGame};

/// How many machines of this test lease, play and post.
const MACHINES: usize = 3;
/// The machines that are processes of agon.
pub const WORKERS: [&str; 2] = ["one", "two"];

/// All bots are built in; the speed of test machines varies from moment to moment.
const CONTEST: &str = "game = 'cultist-wars'
[site]
title = 'Autumn Cup'
bosses = ['builtin:greedy', 'builtin:random', 'builtin:idle', 'builtin:hunter?nodes=300']
[ladder]
matches = 1000000
[sandbox]
trust_bots = true
[workers]
tolerance = 90
";

/// Everything that can be killed.
struct World {
    place: tempfile::TempDir,
    postgres: Postgres,
    bucket: Option<Running>,
    bucket_port: u16,
    ports: [u16; 2],
    url: String,
    servers: [Option<Running>; 2],
    workers: [Option<Running>; 2],
}

/// A port that was free a moment ago.
pub fn port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port()
}

/// The bucket is this test program run again, so that it is a process that can be killed. The browser test with many
/// machines (`web/test/many.test.mjs`) uses it too.
#[test]
#[ignore = "a part of another test"]
fn a_bucket_in_a_process_of_its_own() {
    let (Ok(folder), Ok(port)) = (std::env::var("AGON_BUCKET"), std::env::var("AGON_BUCKET_PORT")) else {
        return;
    };
    let at = std::env::var("AGON_BUCKET_AT").unwrap_or_else(|_| "127.0.0.1".to_owned());
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a thread");
    runtime.spawn(async move {
        let port: u16 = port.parse().expect("a port");
        let listener = tokio::net::TcpListener::bind((at.as_str(), port)).await.expect("the port is free");
        bucket::serve(Path::new(&folder), listener).await;
    });
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}

/// Starts a bucket for each folder in this one, at this address of the machine.
pub fn start_bucket(folder: &Path, at: &str, port: u16) -> Running {
    let mut bucket = Command::new(std::env::current_exe().expect("this program"));
    bucket.args(["--exact", "many::a_bucket_in_a_process_of_its_own", "--ignored"]);
    bucket.env("AGON_BUCKET", folder).env("AGON_BUCKET_AT", at).env("AGON_BUCKET_PORT", port.to_string());
    bucket.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let running = Running(bucket.spawn().expect("it starts"));
    wait_until("the bucket listens", || TcpStream::connect((at, port)).is_ok());
    running
}

/// Says in a contest's folder that its objects are in that bucket.
pub fn place_in_bucket(contest: &Path, at: &str, port: u16) {
    std::fs::write(contest.join("objects.key"), bucket::KEYS).expect("written");
    crate::common::mode(&contest.join("objects.key"), 0o600);
    let objects = format!("s3://cup/autumn?endpoint=http://{at}:{port}&region=us-east-1");
    agon_store::place_objects(contest, &objects).expect("written");
}

/// Makes a token for a machine that plays for the contest in this folder, as the file `NAME.token` beside it.
pub fn enlist(place: &Path, contest: &str, name: &str) {
    let made = good(agon(place, &["serve", "worker", contest, name]));
    std::fs::write(place.join(format!("{name}.token")), &made.stdout).expect("written");
}

/// Starts such a machine. Each has its own cache, `cache-NAME`, as on its own machine; all know already that the walls hold.
pub fn start_worker(place: &Path, url: &str, name: &str) -> Running {
    let token = format!("{name}.token");
    let words = ["work", url, "--token-file", &token, "-j", "1", "--trust-bots", "--quiet"];
    let cache = place.join(format!("cache-{name}"));
    if !cache.exists() {
        let known = agon_bot::build::cache().join("walls");
        std::fs::create_dir_all(&known).and_then(|()| std::fs::create_dir(&cache)).expect("folders");
        std::os::unix::fs::symlink(known, cache.join("walls")).expect("a link");
    }
    let mut work = command(place, &words);
    work.env("AGON_CACHE", cache);
    let log = std::fs::File::create(place.join(format!("{name}.log"))).expect("a file");
    Running(work.stdout(Stdio::null()).stderr(log).spawn().expect("agon starts"))
}

/// The whole log of the contest in this folder.
pub async fn log_of(folder: &Path) -> Vec<LogEntry> {
    let store = Store::open(folder).await.expect("the database is there");
    let store = store.only().await.expect("read").expect("a contest");
    let mut rows = Vec::new();
    loop {
        let more = store.log(rows.len() as i64, 2000).await.expect("read");
        if more.is_empty() {
            return rows;
        }
        rows.extend(more.iter().map(|row| serde_json::from_str::<LogEntry>(&row.body).expect("an entry")));
    }
}

/// Waits until both workers have results in the log of this contest that were not there before.
pub fn until_both_play(contest: &Path, patience: Duration) {
    let by_workers = || {
        let log = block_on(log_of(contest));
        let by = |row: &LogEntry, name| matches!(row, LogEntry::Result(sealed) if sealed.worker == name);
        WORKERS.map(|name| log.iter().filter(|row| by(row, name)).count())
    };
    let before = by_workers();
    wait(patience, "both workers play", || {
        by_workers().iter().zip(before).all(|(now, before)| *now > before)
    });
}

impl World {
    fn new(postgres: Postgres) -> Self {
        let place = folder();
        let ports = [port(), port()];
        let url = forward(ports);
        let (bucket_port, path) = (port(), place.path());
        std::fs::create_dir_all(path.join("bucket/cup")).expect("a bucket");
        for (number, folder) in ["cup0", "cup1"].iter().map(|name| path.join(name)).enumerate() {
            std::fs::create_dir(&folder).expect("a folder");
            std::fs::write(folder.join("contest.toml"), CONTEST).expect("written");
            match number {
                0 => postgres.place(&folder),
                _ => agon_store::place(&folder, &database::url(&path.join("cup0"))).expect("written"),
            }
            place_in_bucket(&folder, "127.0.0.1", bucket_port);
        }
        let (servers, workers) = ([None, None], [None, None]);
        let mut own = Self { place, postgres, bucket: None, bucket_port, ports, url, servers, workers };
        own.start_bucket();
        own.start_server(0);
        own.start_server(1);
        for name in
            WORKERS.into_iter().map(str::to_owned).chain((0..MACHINES).map(|own| format!("ours-{own}")))
        {
            enlist(own.place.path(), "cup0", &name);
        }
        own
    }

    fn start_bucket(&mut self) {
        self.bucket = Some(start_bucket(&self.place.path().join("bucket"), "127.0.0.1", self.bucket_port));
    }

    fn start_server(&mut self, number: usize) {
        let (folder, port) = (format!("cup{number}"), self.ports[number].to_string());
        let mut serve = command(self.place.path(), &["serve", &folder, "-j", "0", "--port", &port]);
        let log = std::fs::File::create(self.place.path().join(format!("{folder}.log"))).expect("a file");
        let mut running = Running(serve.stdout(Stdio::piped()).stderr(log).spawn().expect("agon starts"));
        site_of(&mut running.0, Duration::from_secs(60));
        self.servers[number] = Some(running);
    }

    fn start_worker(&mut self, number: usize) {
        self.workers[number] = Some(start_worker(self.place.path(), &self.url, WORKERS[number]));
    }

    /// Checks that everything not killed is still running.
    fn all_live(&mut self) {
        let all = self.servers.iter_mut().chain(&mut self.workers).chain([&mut self.bucket]);
        let alive: Vec<bool> = all.map(|one| one.as_mut().is_some_and(Running::is_alive)).collect();
        if alive.contains(&false) {
            let logs = ["cup0", "cup1", "one", "two"].map(|name| {
                std::fs::read_to_string(self.place.path().join(format!("{name}.log"))).unwrap_or_default()
            });
            panic!("somebody whom nobody killed has ended: servers, workers, bucket: {alive:?} {logs:#?}");
        }
    }

    /// Kills one and restarts it a while later.
    fn kill(&mut self, which: u64, pause: Duration) -> &'static str {
        let what = match which {
            0 | 1 => {
                self.servers[which as usize] = None;
                std::thread::sleep(pause);
                self.start_server(which as usize);
                "a server"
            }
            2 | 3 => {
                self.workers[which as usize - 2] = None;
                std::thread::sleep(pause);
                self.start_worker(which as usize - 2);
                "a worker"
            }
            4 => {
                self.postgres.kill_postmaster();
                std::thread::sleep(pause);
                self.postgres.run();
                "PostgreSQL"
            }
            _ => {
                self.bucket = None;
                std::thread::sleep(pause);
                self.start_bucket();
                "the bucket"
            }
        };
        self.all_live();
        what
    }

    /// The matches among these that are replayed for comparison.
    async fn again(&self, games: impl Iterator<Item = &MatchId>) -> BTreeSet<MatchId> {
        let store = Store::open(&self.place.path().join("cup0")).await.expect("the database is there");
        let mut again = BTreeSet::new();
        for game in games {
            if store.kind_of(*game).await.expect("read") == Some(Kind::Again) {
                again.insert(*game);
            }
        }
        again
    }

    async fn sealed(&self) -> Vec<Sealed> {
        let log = log_of(&self.place.path().join("cup0")).await.into_iter();
        log.filter_map(|row| if let LogEntry::Result(sealed) = row { Some(*sealed) } else { None }).collect()
    }
}

/// One address for both servers, as a proxy provides it: each connection goes to the next of them that listens.
fn forward(ports: [u16; 2]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("it listens"));
    std::thread::spawn(move || {
        for (number, client) in listener.incoming().enumerate() {
            let Ok(client) = client else { continue };
            let to = |turn: usize| TcpStream::connect(("127.0.0.1", ports[(number + turn) % 2]));
            let Ok(server) = to(0).or_else(|_| to(1)) else { continue };
            for (mut from, mut to) in [
                (client.try_clone().expect("a handle"), server.try_clone().expect("a handle")),
                (server, client),
            ] {
                std::thread::spawn(move || {
                    let _ = std::io::copy(&mut from, &mut to);
                    // Tells each side that the other has gone.
                    let _ = to.shutdown(std::net::Shutdown::Both);
                    let _ = from.shutdown(std::net::Shutdown::Both);
                });
            }
        }
    });
    url
}

/// A machine that plays like any other, and writes down what the contest acknowledges.
fn machine(url: &str, token: &str, stop: &AtomicBool, acknowledged: &AtomicUsize) -> BTreeMap<MatchId, Sha> {
    let mut wire = Wire::new(url, token.trim());
    let program = agon_replay::data::PROGRAM.replace(' ', "+");
    let welcome: SeriesWelcome =
        wire.persist("GET", &format!("/work/v1?program={program}"), b"", stop).expect("welcome");
    let table = PreparedGame::new(&welcome.terms.expect("of a contest")).expect("known");
    wire.hello();
    let mut kept = BTreeMap::new();
    for request in 0.. {
        if stop.load(Ordering::Relaxed) {
            return kept;
        }
        let wanted = format!(r#"{{"request":"{request}","most":8,"wait_ms":500}}"#);
        let granted: Option<Granted> =
            wire.persist("POST", "/work/v1/lease?run=ours", wanted.as_bytes(), stop);
        let Some(granted) = granted else { return kept };
        let mut over = Vec::new();
        for job in &granted.jobs {
            let name = |program: &BotSource| match program {
                BotSource::Builtin(name) => BotName::parse(name).expect("a bot"),
                BotSource::Source(_) => panic!("only what is built in plays here"),
            };
            let bots: Vec<BotName> = job.seats.iter().map(|seat| name(&seat.program)).collect();
            let played = table.play(job, &bots, &[0], &AtomicBool::new(false), &AtomicU32::new(0));
            let Ok(MatchEnd::Whole(recorded)) = played else { continue };
            let Ok(whole) = recorded.shared_out(&table) else { continue };
            over.push((
                Sent { attempt: job.attempt, observed: whole.observed, own: whole.own },
                whole.replay,
            ));
        }
        if over.is_empty() {
            continue;
        }
        let sent = Sent::with_all(over.iter().map(|(sent, replay)| (sent, &replay[..]))).expect("plain data");
        let posted: Option<agon_worker::wire::ReceivedAll> =
            wire.persist("POST", "/work/v1/results?run=ours", &sent, stop);
        // Results without an acknowledgement may or may not be there.
        let Some(posted) = posted else { return kept };
        for ((sent, replay), posted) in over.iter().zip(posted.posted) {
            // Another machine may have been first, if a lease ran out meanwhile.
            assert_ne!(posted, Posted::Refused, "an honest result is never refused");
            if posted == Posted::Kept {
                kept.insert(MatchId(sent.attempt.game), Sha::of(replay));
                acknowledged.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
    unreachable!("requests end")
}

#[test]
fn killed_at_random_moments_nothing_acknowledged_is_lost_and_nothing_counts_twice() {
    let kills: u64 = std::env::var("AGON_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(4);
    let Some(postgres) = Postgres::start() else { return };
    let mut world = World::new(postgres);
    world.start_worker(0);
    world.start_worker(1);
    let (stop, acknowledged) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let machines: Vec<_> = (0..MACHINES)
        .map(|number| {
            let token = std::fs::read_to_string(world.place.path().join(format!("ours-{number}.token")));
            let (url, token) = (world.url.clone(), token.expect("written"));
            let (stop, acknowledged) = (stop.clone(), acknowledged.clone());
            std::thread::spawn(move || machine(&url, &token, &stop, &acknowledged))
        })
        .collect();
    let mut chance = Seeded::stream(1, "kills");
    let mut random = |below: u64| (chance.bits() >> 11) % below;
    let mut killed: BTreeMap<&str, u32> = BTreeMap::new();
    for kill in 0..kills {
        let before = acknowledged.load(Ordering::Relaxed);
        // One of each kind, then the others, and then any; each time under load.
        wait_until("something is acknowledged again", || acknowledged.load(Ordering::Relaxed) > before + 8);
        std::thread::sleep(Duration::from_millis(random(1500)));
        let which = [0, 2, 4, 5, 1, 3].get(kill as usize).copied().unwrap_or_else(|| random(6));
        *killed.entry(world.kill(which, Duration::from_millis(random(1500)))).or_default() += 1;
    }
    let before = acknowledged.load(Ordering::Relaxed);
    wait_until("it goes on", || acknowledged.load(Ordering::Relaxed) > before + 20);
    until_both_play(&world.place.path().join("cup0"), Duration::from_secs(120));
    stop.store(true, Ordering::Relaxed);
    let kept: Vec<BTreeMap<MatchId, Sha>> =
        machines.into_iter().map(|own| own.join().expect("no panic")).collect();
    let whole: usize = kept.iter().map(BTreeMap::len).sum();
    let kept: BTreeMap<MatchId, Sha> = kept.into_iter().flatten().collect();
    assert_eq!(kept.len(), whole, "no match is acknowledged to two");
    world.workers.iter_mut().flatten().for_each(Running::ends);
    world.servers.iter_mut().flatten().for_each(Running::ends);
    good(agon(world.place.path(), &["serve", "fsck", "cup1", "--replays"]));
    let sealed = block_on(world.sealed());
    let games: BTreeSet<MatchId> = sealed.iter().map(|row| row.game).collect();
    assert_eq!(games.len(), sealed.len(), "nothing counts twice");
    let replays: BTreeMap<MatchId, Sha> = sealed.iter().map(|row| (row.game, row.replay)).collect();
    // A match replayed only to compare two machines is kept but not sealed.
    let again = block_on(world.again(kept.keys().filter(|game| !replays.contains_key(game))));
    for (game, replay) in kept.iter().filter(|(game, _)| !again.contains(game)) {
        assert_eq!(
            replays.get(game),
            Some(replay),
            "match {game} was acknowledged, and is in the log as it was sent"
        );
    }
    let others = sealed.iter().filter(|row| WORKERS.contains(&row.worker.as_str())).count();
    assert!(others > 0, "the workers play too");
    println!(
        "{kills} kills, {killed:?}: {} results acknowledged to us, all in a log of {}, {others} of them by workers",
        kept.len(),
        sealed.len()
    );
}
