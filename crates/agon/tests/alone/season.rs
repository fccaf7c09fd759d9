//! A contest that grows: what each thousand matches leave behind, and whether an old contest is as quick as a young one.
//!
//! `cargo xtask long season` lets 200 teams play for an hour, then lets the contest and its copy from the first minutes play in turns.
//! Here it is a few teams and seconds.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use agon_sandbox::Level;
use agon_store::{ContestStore, Store};
use tokio::runtime::{Builder, Runtime};

use crate::common::{Running, agon, command, folder, good, json, number, site_of, wait, wait_until};
use crate::many::database::Postgres;
use crate::many::{enlist, port};

const CONTEST: &str = "game = 'cultist-wars'
[site]
title = 'Season'
[ladder]
matches = 1000000
[sandbox]
trust_bots = true
";
/// The group to which agon moves itself in the one hierarchy; those of its sandboxes are beside it.
const HOME: &str = "agon-home";

/// A contest with its server and the machine that plays.
struct Season {
    home: PathBuf,
    port: u16,
    server: Option<Running>,
    worker: Option<Running>,
    /// Its database, open from the first question until it stops: opening it for each would slow down what is measured.
    opened: OnceCell<(ContestStore, Runtime)>,
}

/// What there is of it at a moment.
#[derive(Debug)]
struct Weight {
    matches: i64,
    database: u64,
    objects: u64,
    /// Of server and worker: private memory in kB, and open files.
    memory: [u64; 2],
    files: [usize; 2],
    groups: usize,
}

impl Season {
    fn at(home: PathBuf) -> Self {
        Self { home, port: port(), server: None, worker: None, opened: OnceCell::new() }
    }

    fn start(&mut self) {
        let port = self.port.to_string();
        let log = std::fs::File::create(self.home.join("server.log")).expect("a file");
        let mut serve = command(&self.home, &["serve", "cup", "-j", "0", "--port", &port]);
        let mut server = Running(serve.stdout(Stdio::piped()).stderr(log).spawn().expect("agon starts"));
        let url = site_of(&mut server.0, Duration::from_secs(60));
        if !self.home.join("machine.token").exists() {
            enlist(&self.home, "cup", "machine");
        }
        let words = ["work", &url, "--token-file", "machine.token", "-j", "1", "--trust-bots", "--quiet"];
        let log = std::fs::File::create(self.home.join("worker.log")).expect("a file");
        let worker = command(&self.home, &words).stdout(Stdio::null()).stderr(log).spawn();
        (self.server, self.worker) = (Some(server), Some(Running(worker.expect("agon starts"))));
    }

    fn stop(&mut self) {
        if let Some((contest, runtime)) = self.opened.take() {
            runtime.block_on(contest.close());
        }
        for mut one in [self.worker.take(), self.server.take()].into_iter().flatten() {
            one.ends();
        }
    }

    fn pids(&self) -> [u32; 2] {
        [&self.server, &self.worker].map(|one| one.as_ref().expect("it runs").0.id())
    }

    /// How many results are in the log.
    fn matches(&self) -> i64 {
        let (contest, runtime) = self.opened.get_or_init(|| {
            let runtime = Builder::new_current_thread().enable_all().build().expect("a thread");
            let contest = runtime.block_on(async {
                let store = Store::open(&self.home.join("cup")).await.expect("the database is there");
                store.only().await.expect("read").expect("a contest")
            });
            (contest, runtime)
        });
        runtime.block_on(contest.counts()).expect("read").sealed
    }

    fn weight(&self, postgres: &Postgres) -> Weight {
        let pids = self.pids();
        Weight {
            matches: self.matches(),
            database: postgres.size(&self.home.join("cup")),
            objects: weight_of(&self.home.join("cup/objects")),
            memory: pids.map(|pid| {
                let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
                let line = status.lines().find(|line| line.starts_with("RssAnon:")).expect("told");
                line.split_whitespace().nth(1).and_then(|kb| kb.parse().ok()).expect("a number")
            }),
            files: pids.map(|pid| std::fs::read_dir(format!("/proc/{pid}/fd")).expect("it runs").count()),
            groups: groups(&groups_at(pids[1])),
        }
    }

    /// Results a second, and milliseconds of the server's CPU for each, over this long.
    fn pace(&self, length: Duration) -> (f64, f64) {
        let cpu = || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pids()[0])).expect("it runs");
            let after = stat.rsplit_once(')').expect("a name").1;
            let ticks = |place: usize| -> f64 {
                after.split_whitespace().nth(place).and_then(|ticks| ticks.parse().ok()).expect("a number")
            };
            (ticks(11) + ticks(12)) * 10.0
        };
        let (first, before, begin) = (self.matches(), cpu(), Instant::now());
        std::thread::sleep(length);
        let (last, after, took) = (self.matches(), cpu(), begin.elapsed().as_secs_f64());
        let played = (last - first) as f64;
        (played / took, (after - before) / played.max(1.0))
    }
}

/// What the files of a folder take on the disk.
fn weight_of(folder: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let mut sum = 0;
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        // What is being renamed meanwhile is missed once.
        let Ok(about) = entry.metadata() else { continue };
        sum += about.blocks() * 512;
        if about.is_dir() {
            sum += weight_of(&entry.path());
        }
    }
    sum
}

/// Where the groups of a process's sandboxes are, in the hierarchy of memory or the one hierarchy.
fn groups_at(pid: u32) -> PathBuf {
    let own = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).expect("it runs");
    let path = |controller: &str| {
        let line = own.lines().find(|line| line.split(':').nth(1) == Some(controller))?;
        Some(line.rsplit(':').next().expect("a path").trim_start_matches('/').to_owned())
    };
    let home = match (path("memory"), path("")) {
        (Some(path), _) => Path::new("/sys/fs/cgroup/memory").join(path),
        (None, path) => Path::new("/sys/fs/cgroup").join(path.unwrap_or_default()),
    };
    let is_home = home.ends_with(HOME);
    home.parent().filter(|_| is_home).map(Path::to_owned).unwrap_or(home)
}

/// How many groups of sandboxes are in this folder.
fn groups(at: &Path) -> usize {
    let all = std::fs::read_dir(at).into_iter().flatten().flatten();
    let names = all.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("agon-") && name != HOME).count()
}

#[test]
fn an_old_contest_takes_what_its_matches_take_and_no_more() {
    let Some(postgres) = Postgres::start() else { return };
    let (teams, seconds) = (number("AGON_TEAMS", 6), number("AGON_SECONDS", 8) as u64);
    let (pairs, pair) = (number("AGON_PAIRS", 1), Duration::from_secs(number("AGON_PAIR_SECONDS", 2) as u64));
    let level = agon_sandbox::probe(Path::new(env!("CARGO_BIN_EXE_agon"))).level;
    // What is started from here has its groups in the same place, beside those of other programs.
    let before = groups(&groups_at(std::process::id()));
    let place = folder();
    let home = |name: &str| {
        let home = place.path().join(name);
        std::fs::create_dir(&home).expect("a folder");
        home
    };
    let mut old = Season::at(home("old"));
    std::fs::create_dir(old.home.join("cup")).expect("a folder");
    std::fs::write(old.home.join("cup/contest.toml"), CONTEST).expect("written");
    postgres.place(&old.home.join("cup"));
    old.start();
    good(agon(&old.home, &["new", "cultist-wars", "python", "bot"]));
    let main = old.home.join("bot/bot.py");
    let text = std::fs::read_to_string(&main).expect("a starter");
    for team in 0..teams {
        std::fs::write(&main, format!("{text}\n# Team {team}\n")).expect("written");
        good(agon(&old.home, &["serve", "add", "cup", "bot", "--team", &format!("Team {team}")]));
    }
    let live = || {
        let status = json(&agon(&old.home, &["serve", "status", "cup", "--json"]));
        status["board"].as_array().expect("a board").iter().filter(|row| !row["live"].is_null()).count()
    };
    wait(Duration::from_secs(60 + 5 * teams as u64), "all bots are live", || live() >= teams + 4);
    let begin = Instant::now();
    let mut weights = vec![old.weight(&postgres)];
    let copy = old.home.join("young.backup");
    println!("{:?}", weights[0]);
    for tenth in 1..=10 {
        let until = Duration::from_millis(seconds * 100 * tenth);
        std::thread::sleep(until.saturating_sub(begin.elapsed()));
        weights.push(old.weight(&postgres));
        println!("after {:.0} s: {:?}", begin.elapsed().as_secs_f64(), weights.last().expect("one"));
        if tenth == 1 {
            good(agon(&old.home, &["serve", "backup", "cup", copy.to_str().expect("UTF-8")]));
        }
    }
    let (first, last) = (&weights[1], weights.last().expect("some"));
    let grown = (last.matches - first.matches) as f64 / 1000.0;
    assert!(grown > 0.0, "matches are played");
    let growth = |of: fn(&Weight) -> u64| (of(last) as f64 - of(first) as f64) / grown;
    println!(
        "{teams} teams, {} matches; each 1,000: database {:.0} kB, objects {:.0} kB, memory of server {:.0} kB and worker {:.0} kB, \
         open files {:.1} and {:.1}, groups {:.1}",
        last.matches,
        growth(|weight| weight.database / 1000),
        growth(|weight| weight.objects / 1000),
        growth(|weight| weight.memory[0]),
        growth(|weight| weight.memory[1]),
        growth(|weight| weight.files[0] as u64),
        growth(|weight| weight.files[1] as u64),
        growth(|weight| weight.groups as u64),
    );
    // Neither grows with matches; what stands ready for bots does until each has some.
    assert!(
        last.files[0] <= first.files[0] + 16,
        "open files of the server: {} and {}",
        first.files[0],
        last.files[0]
    );
    assert!(last.groups <= 2 * 64 + 16, "{} groups", last.groups);
    let worker = old.pids()[1];
    let at = groups_at(worker);
    if level == Level::A && at.is_dir() {
        assert!(last.groups > before, "{} groups while it plays, {before} before", last.groups);
    }
    old.stop();
    wait_until(&format!("no group is left of {worker}"), || groups(&at) <= before);

    let mut young = Season::at(home("young"));
    good(agon(&young.home, &["serve", "restore", copy.to_str().expect("UTF-8"), "cup"]));
    std::fs::copy(old.home.join("machine.token"), young.home.join("machine.token")).expect("copied");
    let elsewhere = home("elsewhere");
    postgres.place(&elsewhere);
    let url = crate::many::database::url(&elsewhere);
    good(agon(&young.home, &["serve", "move", "cup", "--to", &url]));
    let mut paces = Vec::new();
    for turn in 0..pairs {
        let mut both = [(0.0, 0.0); 2];
        // Whoever is second finds a warmer machine.
        for which in if turn % 2 == 0 { [0, 1] } else { [1, 0] } {
            let season = if which == 0 { &mut young } else { &mut old };
            let before = season.matches();
            season.start();
            wait(Duration::from_secs(120), "it plays", || season.matches() >= before + 10);
            std::thread::sleep(pair / 3);
            both[which] = season.pace(pair);
            season.stop();
        }
        let [young, old] = both;
        println!(
            "young {:.2} a second, {:.2} ms of the server's CPU; old {:.2}, {:.2} ms; {:+.1} %",
            young.0,
            young.1,
            old.0,
            old.1,
            100.0 * (old.0 / young.0 - 1.0)
        );
        paces.push(both);
    }
    let mean = |which: usize| paces.iter().map(|both| both[which].0).sum::<f64>() / pairs as f64;
    println!(
        "{} matches against {}: {:.2} a second against {:.2}, {:+.1} %",
        old.matches(),
        young.matches(),
        mean(1),
        mean(0),
        100.0 * (mean(1) / mean(0) - 1.0)
    );
    assert!(paces.iter().flatten().all(|pace| pace.0 > 0.0), "both play");
}
