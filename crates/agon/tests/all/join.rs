//! Bots on another machine that join a match; here both sides are this machine.

use std::collections::BTreeSet;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{err, folder, json, out};

/// Waits in every turn of Cultist Wars, and writes the turn to standard error.
const WAITER: &str = "#!/bin/sh
i=0; while [ $i -lt 9 ]; do read -r line; i=$((i+1)); done
turn=0
while read -r n; do
    while [ $n -gt 0 ]; do read -r line; n=$((n-1)); done
    turn=$((turn+1)); echo \"turn $turn\" >&2
    MORE
    echo WAIT
done
";

fn write(place: &TempDir, name: &str, text: &str, mode: u32) {
    let file = place.path().join(name);
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    std::fs::write(&file, text).expect("a file");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).expect("our own file");
}

/// A folder with two tokens and a bot.
fn place() -> TempDir {
    let place = folder();
    write(&place, "token", "a token of the tests, long enough\n", 0o600);
    write(&place, "other", "a token of somebody else, as long\n", 0o600);
    write(&place, "bot.sh", &WAITER.replace("MORE", ":"), 0o755);
    place
}

/// An address with a free port that no other test of this program was given: two may find the same one.
fn free_address() -> SocketAddr {
    static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    loop {
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = free.local_addr().expect("an address");
        if GIVEN.lock().expect("no panic").insert(address.port()) {
            return address;
        }
    }
}

/// A match that waits on a port which was free a moment ago.
struct Waits {
    play: Child,
    address: String,
}

impl Waits {
    fn play(place: &TempDir, more: &[&str], opponent: &str) -> Self {
        let address = free_address();
        let seat = format!("join:{}", address.port());
        let words =
            [&["play", more[0], &seat, opponent, "--join-token", "token", "--json"], &more[1..]].concat();
        let play = command(place, &words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("agon starts");
        Self { play, address: address.to_string() }
    }

    /// Joins as soon as it waits.
    fn join(&self, place: &TempDir, token: &str, bot: &[&str]) -> Output {
        self.joining(place, token, bot, |child| child.wait_with_output().expect("agon ends"))
    }

    fn joining<T>(&self, place: &TempDir, token: &str, bot: &[&str], then: impl FnOnce(Child) -> T) -> T {
        let began = Instant::now();
        // Not before it listens: a connection just to try would count as a guest.
        let port: u16 = self.address.rsplit(':').next().expect("a port").parse().expect("a number");
        while !listens(port) {
            assert!(began.elapsed() < Duration::from_secs(60), "nobody waits");
            std::thread::sleep(Duration::from_millis(20));
        }
        let words = [&["join", &self.address, "--token-file", token, "--"], bot].concat();
        then(
            command(place, &words)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("agon starts"),
        )
    }

    fn result(self) -> (Value, String) {
        let played = self.play.wait_with_output().expect("agon ends");
        (json(&played), err(&played))
    }
}

/// Whether something on this machine listens at a port.
fn listens(port: u16) -> bool {
    let table = std::fs::read_to_string("/proc/net/tcp").expect("Linux");
    table.lines().any(|line| line.contains(&format!(":{port:04X} 00000000:0000 0A")))
}

fn command(place: &TempDir, words: &[&str]) -> Command {
    let mut command = crate::common::command(place.path(), words);
    command.env("AGON_CACHE", place.path().join("cache"));
    command
}

fn faults(result: &Value) -> Vec<&str> {
    let faults = result["seats"][0]["faults"].as_array().expect("a list");
    faults.iter().map(|fault| fault["message"].as_str().expect("a text")).collect()
}

#[test]
fn a_bot_that_talks_in_lines_joins() {
    let place = place();
    let waits =
        Waits::play(&place, &["cultist-wars", "--no-timeouts", "--replay", "m.replay"], "builtin:idle");
    // A client with the wrong token is rejected, and the seat stays free.
    let wrong = waits.join(&place, "other", &["./bot.sh"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(err(&wrong).contains("does not let you join: the token is wrong"), "{}", err(&wrong));
    let joined = waits.join(&place, "token", &["sh", "bot.sh"]);
    assert_eq!(joined.status.code(), Some(0), "{}", err(&joined));
    assert!(
        err(&joined).contains("sits in seat 1 of cultist-wars") && err(&joined).contains("the match is over")
    );
    assert!(err(&joined).contains("turn 3"), "its errors are seen where it runs: {}", err(&joined));
    let address = waits.address.clone();
    let (result, said) = waits.result();
    assert_eq!(faults(&result), [""; 0], "{result:#}");
    // The bot goes by its own name, not by the address it came in at.
    assert_eq!(
        (&result["seats"][0]["bot"], &result["seats"][1]["bot"]),
        (&"bot.sh".into(), &"idle".into()),
        "{result:#}"
    );
    assert!(said.contains(&format!("waits for a bot to connect to {address}")), "{said}");
    let told = crate::common::agon(place.path(), &["replay", "info", "m.replay"]);
    assert!(out(&told).contains("seat 1   bot.sh join:"), "and in the replay: {}", out(&told));
    let told = crate::common::agon(place.path(), &["replay", "show", "m.replay", "--stderr", "1"]);
    for words in ["turn 3", "the token is wrong"] {
        assert!(out(&told).contains(words), "and here: {}{}", out(&told), err(&told));
    }
    // After the match nobody waits any more.
    let late = command(&place, &["join", &address, "--token-file", "token", "--", "./bot.sh"])
        .output()
        .expect("agon");
    assert_eq!(late.status.code(), Some(2));
    assert!(err(&late).contains(&format!("nobody waits at {address}")), "{}", err(&late));
}

#[test]
fn a_joined_bot_that_ends_or_is_lost_is_gone() {
    let place = place();
    write(&place, "dies.sh", &WAITER.replace("MORE", "[ $turn -lt 4 ] || exit 7"), 0o755);
    let waits = Waits::play(&place, &["cultist-wars", "--no-timeouts", "--no-replay"], "builtin:idle");
    let joined = waits.join(&place, "token", &["dies.sh"]);
    assert_eq!(joined.status.code(), Some(1), "{}", err(&joined));
    assert!(err(&joined).contains("the joined bot is gone: it ended with exit code 7"), "{}", err(&joined));
    let (result, _) = waits.result();
    assert!(
        result["seats"][0]["faults"]
            .to_string()
            .contains("the joined bot is gone: it ended with exit code 7"),
        "{result:#}"
    );

    // A lost connection: the joining side is killed.
    write(
        &place,
        "waits.sh",
        &WAITER.replace("MORE", "[ $turn -lt 3 ] || { touch here; sleep 600; }"),
        0o755,
    );
    let waits = Waits::play(&place, &["cultist-wars", "--no-timeouts", "--no-replay"], "builtin:idle");
    waits.joining(&place, "token", &["waits.sh"], |mut child| {
        let began = Instant::now();
        while !place.path().join("here").exists() {
            assert!(began.elapsed() < Duration::from_secs(60), "it never played");
            std::thread::sleep(Duration::from_millis(20));
        }
        child.kill().expect("our own child");
        child.wait().expect("our own child");
    });
    let (result, _) = waits.result();
    assert!(result["seats"][0]["faults"].to_string().contains("the connection was lost"), "{result:#}");
}

/// A bot of Jungle Blitz that registers with the token it was given.
const DIALLER: &str = r#"
import json, os
from websocket import WebSocket

socket = WebSocket(os.environ["AGON_ADDRESS"])
socket.send(json.dumps({"type": "REGISTER", "token": os.environ["TOKEN"]}))
for message in socket:
    tick = json.loads(message)["tick"]
    socket.send(json.dumps({"type": "COMMAND", "tick": tick, "actions": []}))
"#;

#[test]
fn bots_that_dial_in_join_unchanged() {
    if !agon_bot::tools::is_installed("python3") {
        println!("skipped: python3 is not installed here");
        return;
    }
    let place = place();
    write(&place, "blitz/application.py", DIALLER, 0o644);
    write(
        &place,
        "blitz/websocket.py",
        include_str!("../../../../games/jungle-blitz/bots/python/websocket.py"),
        0o644,
    );
    let few = ["jungle-blitz", "--set", "totalTick=5", "--no-timeouts", "--no-replay"];
    let waits = Waits::play(&place, &few, "builtin:idle");
    let joined = waits.join(&place, "token", &["blitz"]);
    assert_eq!(joined.status.code(), Some(0), "{}", err(&joined));
    let (result, _) = waits.result();
    assert_eq!(faults(&result), [""; 0], "{result:#}");

    let hunter = "from move import Move\nclass GridPlayer:\n    def tick(self, *what):\n        return []\n";
    write(&place, "hunter/grid_player.py", hunter, 0o644);
    let few = ["deerhunt", "--rules", "neo2019", "--set", "max_rounds=5", "--no-timeouts", "--no-replay"];
    let waits = Waits::play(&place, &few, "builtin:idle");
    let joined = waits.join(&place, "token", &["hunter"]);
    assert_eq!(joined.status.code(), Some(0), "{}", err(&joined));
    let (result, _) = waits.result();
    assert_eq!(faults(&result), [""; 0], "{result:#}");
}

#[test]
fn what_is_wrong_is_said_before_anybody_waits() {
    let place = place();
    write(&place, "open", "a token of the tests, long enough\n", 0o644);
    let said = |words: &[&str]| {
        let done = command(&place, words).output().expect("agon");
        assert_eq!(done.status.code(), Some(2), "{words:?}: {}", err(&done));
        err(&done)
    };
    let play = ["play", "cultist-wars", "join:", "builtin:idle"];
    assert!(said(&play).contains("--join-token token"), "how to make one is said");
    assert!(said(&[&play[..], &["--join-token", "open"]].concat()).contains("chmod 600 open"));
    assert!(
        said(&["join", "127.0.0.1:9", "--token-file", "open", "--", "bot.sh"]).contains("chmod 600 open")
    );
    assert!(
        said(&["gauntlet", "cultist-wars", "join:", "builtin:idle"])
            .contains("a series starts its bots itself")
    );
}
