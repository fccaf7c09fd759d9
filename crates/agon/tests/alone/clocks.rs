//! The clock of a machine jumps under a running contest: a library put under the program says another time than the system.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agon_store::LogEntry;
use serde_json::Value;

use crate::common::{
    Running, block_on, command, err, folder, good, is_installed, json, out, site_of, wait_until,
};
use crate::many::database::Postgres;
use crate::many::{enlist, log_of, start_worker};

/// Moves the time since boot and the machine's clock by as many milliseconds as a file says.
const CLOCKS: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *at) {
    static int (*real)(clockid_t, struct timespec *);
    static volatile int64_t *moved;
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int done = real(clock, at);
    if (done || (clock != CLOCK_REALTIME && clock != CLOCK_BOOTTIME)) return done;
    if (!moved) {
        const char *file = getenv("AGON_MOVED");
        int opened = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
        if (opened < 0) return done;
        void *found = mmap(NULL, 16, PROT_READ, MAP_SHARED, opened, 0);
        close(opened);
        if (found == MAP_FAILED) return done;
        moved = found;
    }
    int64_t nanos = moved[clock == CLOCK_REALTIME] * 1000000;
    at->tv_sec += nanos / 1000000000;
    at->tv_nsec += nanos % 1000000000;
    if (at->tv_nsec >= 1000000000) { at->tv_sec++; at->tv_nsec -= 1000000000; }
    if (at->tv_nsec < 0) { at->tv_sec--; at->tv_nsec += 1000000000; }
    return 0;
}
"#;

const CONTEST: &str = "game = 'cultist-wars'
[site]
title = 'Autumn Cup'
sign_up = 'open'
bosses = ['builtin:greedy', 'builtin:random', 'builtin:idle']
[ladder]
matches = 1000000
[sandbox]
trust_bots = true
[workers]
tolerance = 90
";
const HOUR: i64 = 3_600_000;
const JUMPED: &str = "jumped ahead by 1 h 0 min";

/// A machine with a clock that the test moves.
struct Machine {
    place: tempfile::TempDir,
    library: PathBuf,
}

impl Machine {
    /// None, and said, where there is no compiler.
    fn new() -> Option<Self> {
        if !is_installed("gcc") {
            return None;
        }
        let place = folder();
        let (source, library) = (place.path().join("clocks.c"), place.path().join("clocks.so"));
        std::fs::write(&source, CLOCKS).expect("written");
        let mut compile = Command::new("gcc");
        compile.args(["-shared", "-fPIC", "-O1", "-o"]).args([&library, &source]).arg("-ldl");
        good(compile.output().expect("a compiler"));
        std::fs::create_dir(place.path().join("cup")).expect("a folder");
        std::fs::write(place.path().join("cup/contest.toml"), CONTEST).expect("written");
        let own = Self { place, library };
        own.moves(0, 0);
        Some(own)
    }

    fn path(&self) -> &Path {
        self.place.path()
    }

    /// In one step, so that nobody sees one of them moved.
    fn moves(&self, boot: i64, wall: i64) {
        let mut options = std::fs::File::options();
        let file = options.write(true).create(true).truncate(false).open(self.path().join("moved"));
        let bytes = [boot.to_ne_bytes(), wall.to_ne_bytes()].concat();
        std::os::unix::fs::FileExt::write_all_at(&file.expect("a file"), &bytes, 0).expect("written");
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command(self.path(), arguments);
        command.env("LD_PRELOAD", &self.library).env("AGON_MOVED", self.path().join("moved"));
        command
    }

    fn agon(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("agon starts")
    }

    fn serve(&self) -> (Running, String) {
        let log = std::fs::File::options().append(true).create(true).open(self.path().join("cup.log"));
        let mut serve = self.command(&["serve", "cup", "-j", "1", "--port", "0"]);
        serve.stdout(Stdio::piped()).stderr(log.expect("a file"));
        let mut running = Running(serve.spawn().expect("agon starts"));
        let url = site_of(&mut running.0, Duration::from_secs(60));
        (running, url)
    }

    fn status(&self) -> Value {
        json(&good(self.agon(&["serve", "status", "cup", "--json"])))
    }

    /// Waits until the contest's status is so.
    fn until(&self, what: &str, is: impl Fn(&Value) -> bool) -> Value {
        let mut last = Value::Null;
        wait_until(what, || {
            last = self.status();
            is(&last)
        });
        last
    }
}

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("later").as_millis() as i64
}

fn in_log(status: &Value) -> i64 {
    status["matches"]["in_log"].as_i64().expect("a number")
}

/// Whether a clock is so far ahead, but for what two readings cut off.
fn is_ahead(doubt: &Value, ms: i64) -> bool {
    doubt["ahead_ms"].as_i64().is_some_and(|ahead| (ahead - ms).abs() <= 5)
}

fn clocks(status: &Value) -> &[Value] {
    status["clocks"].as_array().expect("a list")
}

#[test]
fn a_jump_of_an_hour_seals_nothing_until_the_time_is_confirmed() {
    let Some(machine) = Machine::new() else { return };
    let (mut server, url) = machine.serve();
    enlist(machine.path(), "cup", "hall");
    let _worker = start_worker(machine.path(), &url, "hall");
    let agent: ureq::Agent =
        ureq::Agent::config_builder().max_redirects(0).http_status_as_error(false).build().new_agent();
    let sign_up = |name: &str| {
        let request = agent.post(format!("{url}/sign-up")).header("Origin", &url);
        let request = request.content_type("application/x-www-form-urlencoded");
        request.send(format!("name={name}&password=correct-horse-battery")).expect("an answer")
    };
    let signed = sign_up("Ann");
    let cookie =
        signed.headers()["set-cookie"].to_str().expect("a cookie").split(';').next().map(str::to_owned);
    let page = |path: &str| {
        let request = agent.get(format!("{url}{path}")).header("Cookie", cookie.clone().expect("a pair"));
        request.call().expect("an answer").status().as_u16()
    };
    machine.until("matches are played", |now| in_log(now) >= 4);

    machine.moves(0, HOUR);
    let jumped = now();
    let status = machine.until("the server notices", |now| !clocks(now).is_empty());
    let doubt = &clocks(&status)[0];
    assert!(is_ahead(doubt, HOUR) && doubt["apart_ms"].is_null(), "{doubt}");
    assert!(doubt["since"].as_i64().expect("a time") < jumped + HOUR / 2, "{doubt}");
    let sealed = in_log(&status);
    // People stay, and what they try is refused with the reason.
    assert_eq!((page("/account"), page("/ladder")), (200, 200));
    let mut refused = sign_up("Bob");
    let text = refused.body_mut().read_to_string().expect("a page");
    assert!(refused.status() == 503 && text.contains(JUMPED), "{text}");
    let waiter = "waiter";
    crate::common::waiter(machine.path(), waiter);
    let added = machine.agon(&["serve", "add", "cup", waiter, "--team", "Ann"]);
    assert!(added.status.code() == Some(3) && err(&added).contains(JUMPED), "{}", err(&added));
    let told = out(&good(machine.agon(&["serve", "status", "cup"])));
    assert!(told.contains(JUMPED) && told.contains("`agon serve clock cup --confirm`"), "{told}");
    let log = || std::fs::read_to_string(machine.path().join("cup.log")).expect("a log");
    wait_until("its log says so", || log().contains(&format!("the clock of this server {JUMPED}")));
    wait_until("the machine is told", || log().contains("the worker here: the clock of this server"));

    // Killed and started again, it has forgotten nothing.
    server.0.kill().expect("ours");
    drop(server);
    let port = url.rsplit(':').next().expect("a port");
    let mut serve = machine.command(&["serve", "cup", "-j", "1", "--port", port]);
    let restarted = std::fs::File::create(machine.path().join("again.log")).expect("a file");
    serve.stdout(Stdio::piped()).stderr(restarted);
    let mut server = Running(serve.spawn().expect("agon starts"));
    assert_eq!(site_of(&mut server.0, Duration::from_secs(60)), url);
    let said = std::fs::read_to_string(machine.path().join("again.log")).expect("a log");
    assert!(said.contains(JUMPED), "{said}");
    assert_eq!((page("/account"), page("/ladder")), (200, 200));
    let status = machine.status();
    assert!(is_ahead(&clocks(&status)[0], HOUR) && in_log(&status) == sealed, "{status}");

    let confirmed = out(&good(machine.agon(&["serve", "clock", "cup", "--confirm"])));
    assert!(confirmed.contains("until its clocks have agreed for a minute"), "{confirmed}");
    let status = machine.until("it is confirmed", |now| clocks(now)[0]["confirmed"] == true);
    assert_eq!(in_log(&status), sealed, "for a minute");
    // Which passes, on all its clocks.
    machine.moves(61_000, HOUR + 61_000);
    machine.until("it goes on", |now| clocks(now).is_empty() && in_log(now) >= sealed + 4);
    let told = out(&good(machine.agon(&["serve", "clock", "cup"])));
    assert_eq!(told, "No server's clock is in doubt.\n");
    assert_eq!(sign_up("Bob").status(), 200);
    server.ends();
    good(machine.agon(&["serve", "fsck", "cup", "--replays"]));
    // What the machine elsewhere had played counts; the killed server's own match was played again.
    let status = machine.status();
    assert!(status["matches"]["wasted_tries"].as_i64() <= Some(1), "{status}");
    let log = block_on(log_of(&machine.path().join("cup")));
    let settled = log.iter().map(|row| match row {
        LogEntry::Result(sealed) => sealed.settled.0,
        other => panic!("it is no result: {other:?}"),
    });
    let (before, after): (Vec<i64>, Vec<i64>) = settled.partition(|at| *at < jumped + HOUR / 2);
    assert!(before.len() as i64 >= sealed, "what was sealed before, and what was judged but not sealed yet");
    assert!(before.iter().all(|at| *at <= jumped) && after.iter().all(|at| *at >= jumped + HOUR + 61_000));
}

#[test]
fn a_clock_that_is_not_the_databases_is_said_the_right_way_round() {
    let Some(machine) = Machine::new() else { return };
    let Some(postgres) = Postgres::start() else { return };
    postgres.place(&machine.path().join("cup"));
    let (server, _) = machine.serve();
    machine.until("matches are played", |now| in_log(now) >= 2);
    machine.moves(0, HOUR);
    let status = machine.until("the database says so", |now| {
        clocks(now).first().is_some_and(|doubt| doubt["apart_ms"].as_i64() > Some(HOUR / 2))
    });
    let sealed = in_log(&status);
    let told = out(&good(machine.agon(&["serve", "clock", "cup", "--confirm"])));
    assert!(told.contains("jumped ahead by 1 h 0 min and is "), "{told}");
    assert!(
        told.contains(" ahead of the database's.") && told.contains("until it and the database's agree"),
        "{told}"
    );
    drop(server);
    for (moved, words) in [(HOUR, "ahead of that of its database"), (-HOUR, "behind that of its database")] {
        machine.moves(0, moved);
        let refused = machine.agon(&["serve", "cup", "--port", "0"]);
        assert!(!refused.status.success() && err(&refused).contains(words), "{}", err(&refused));
    }
    // It is set right while the server is away: it only has to go well for a minute.
    machine.moves(0, 0);
    let (_server, _) = machine.serve();
    let status =
        machine.until("it is right", |now| clocks(now).first().is_some_and(|doubt| is_ahead(doubt, 0)));
    assert_eq!((&clocks(&status)[0]["apart_ms"], in_log(&status)), (&Value::Null, sealed));
}
