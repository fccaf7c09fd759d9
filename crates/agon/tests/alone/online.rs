//! Taking part in a contest from the command line: a real server on the loopback, and false servers.
//!
//! Longer than 500 lines: one contest runs through a whole day, and the same clients also ask the false servers.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::{agon, command, err, folder, good, json, out, site_of, token_of};
use serde_json::Value;

/// A running contest.
struct Server {
    child: Child,
    url: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const CONTEST: &str = "game = 'cultist-wars'
[site]
title = 'Autumn Cup'
sign_up = 'open'
bosses = ['builtin:greedy']
[ladder]
matches = 40
[sandbox]
trust_bots = true
";

fn serve(folder: &Path) -> Server {
    if !folder.join("cup").exists() {
        std::fs::create_dir(folder.join("cup")).expect("a folder");
        std::fs::write(folder.join("cup/contest.toml"), CONTEST).expect("a file");
    }
    let mut serve = command(folder, &["serve", "cup", "-j", "1", "--port", "0"]);
    let mut child = serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("agon starts");
    let url = site_of(&mut child, Duration::from_secs(120));
    Server { child, url }
}

/// A token of a new account.
fn token(server: &Server, name: &str) -> String {
    token_of(&server.url, name)
}

/// agon run by somebody with their own home folder.
struct Somebody<'a> {
    folder: &'a Path,
    home: std::path::PathBuf,
}

impl<'a> Somebody<'a> {
    fn new(folder: &'a Path, name: &str) -> Self {
        let home = folder.join(format!("home-{name}"));
        std::fs::create_dir_all(&home).expect("a folder");
        Self { folder, home }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = command(self.folder, words);
        command.env("XDG_CONFIG_HOME", &self.home).env("AGON_CACHE", self.home.join("cache"));
        command.env_remove("AGON_URL").env_remove("AGON_TOKEN");
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("agon starts")
    }

    /// The JSON it prints, with this exit code.
    fn json(&self, words: &[&str], code: i32) -> Value {
        let output = self.run(words);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {}{}", out(&output), err(&output));
        json(&output)
    }

    fn log_in(&self, url: &str, token: &str) -> Output {
        let mut login = self.command(&["login", url, "--token-file", "-"]);
        let mut child = login
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("agon starts");
        writeln!(child.stdin.take().expect("piped"), "{token}").expect("written");
        child.wait_with_output().expect("it ends")
    }
}

/// A bot that waits, and writes to standard error what it is asked.
fn teller(folder: &Path, name: &str, says: &str) {
    let bot = folder.join(name);
    std::fs::create_dir_all(bot.join(".git")).expect("a folder");
    std::fs::write(bot.join(".git/large"), vec![7; 21 << 20]).expect("a file");
    let run = crate::common::WAITER.replace("echo WAIT", &format!("echo '{says}' >&2; echo WAIT"));
    std::fs::write(bot.join("run.sh"), run).expect("a file");
    let toml =
        "build = \"sh -c 'echo built it >&2'\"\nrun = \"sh run.sh\"\n[defaults]\ngame = \"cultist-wars\"\n";
    std::fs::write(bot.join("agon.toml"), toml).expect("a file");
}

fn fails(output: &Output, code: i32, wanted: &str) {
    let said = err(output);
    assert_eq!(output.status.code(), Some(code), "{wanted}: {}{said}", out(output));
    assert!(said.contains(wanted), "{wanted}: {said}");
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn somebody_takes_part_from_the_terminal() {
    let folder = folder();
    let place = folder.path();
    let mut server = serve(place);
    let url = server.url.clone();
    let ann = Somebody::new(place, "ann");
    fails(&ann.run(&["status"]), 2, "you are not logged in to a contest: run `agon login URL`");
    let token = token(&server, "Ann");
    // Logging in: the token is kept where only its owner can read it, and is never shown.
    let wrong = ann.log_in(&url, &"x".repeat(43));
    fails(&wrong, 2, "your token is not known there, or has ended");
    let login = good(ann.log_in(&url, &token));
    assert!(out(&login).contains("Autumn Cup, a contest of cultist-wars: you are Ann"), "{}", out(&login));
    assert!(!out(&login).contains(&token) && !err(&login).contains(&token));
    let kept = ann.home.join("agon/logins.json");
    assert_eq!(std::fs::metadata(&kept).expect("kept").permissions().mode() & 0o777, 0o600);
    assert!(out(&ann.run(&["status"])).contains("play for no team yet"));
    // A try-out: its result, its notes, and no version made of it.
    teller(place, "bot", "thinking of nothing");
    let tried = good(ann.run(&["try", "bot", "--seed", "77", "--seat", "2"]));
    let said = out(&tried);
    for part in ["against greedy", "seed 77 · seat 2", "| thinking of nothing", "slowest answer", "/match/"]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(err(&tried).contains("in 2 files") && !err(&tried).contains(".git"), "{}", err(&tried));
    assert_eq!(ann.json(&["versions", "--json"], 0)["versions"], Value::Array(Vec::new()));
    // Submitted and followed until it is live; submitting the same again gives the same version.
    let submitted = good(ann.run(&["submit", "bot", "--wait"]));
    assert!(out(&submitted).contains("v1 is live: it plays for Ann."), "{}", out(&submitted));
    assert!(err(&submitted).contains("| built it"), "{}", err(&submitted));
    let again = ann.json(&["submit", "bot", "--wait", "--json"], 0);
    assert_eq!(
        (&again["what"], &again["version"]["n"]),
        (&Value::from("same"), &Value::from(1)),
        "{again:#}"
    );
    assert!(again["files"].as_array().is_some_and(|files| files.len() == 2), "{again:#}");
    // A bot that cannot play: whose fault it is, what happened, and the previous version stays.
    std::fs::write(place.join("bad.py"), "import sys\nprint('no plan', file=sys.stderr)\nsys.exit(3)\n")
        .expect("a file");
    let bad = ann.run(&["submit", "bad.py", "--wait", "--quiet"]);
    assert_eq!(bad.status.code(), Some(1), "{}{}", out(&bad), err(&bad));
    assert!(out(&bad).contains("v2 cannot play. yours: "), "{}", out(&bad));
    let tried = ann.run(&["try", "bad.py", "--quiet"]);
    assert_eq!(tried.status.code(), Some(1), "{}{}", out(&tried), err(&tried));
    let versions = ann.json(&["versions", "--json"], 0);
    let states: Vec<&Value> =
        versions["versions"].as_array().expect("a list").iter().map(|one| &one["state"]).collect();
    assert_eq!(states, [&Value::from("failed"), &Value::from("live")]);
    let table = ann.run(&["versions"]);
    assert!(out(&table).contains("v2") && out(&table).contains("failed"), "{}", out(&table));
    let log = ann.json(&["logs", "v1", "--json"], 0);
    assert!(log["text"].as_str().is_some_and(|text| text.contains("built it")), "{log}");
    assert!(out(&ann.run(&["logs"])).contains("Ann v2: failed\nyours: "));
    fails(&ann.run(&["logs", "v9"]), 2, "your team has no v9: the newest is v2");
    let check = versions["versions"][1]["check"].as_i64().expect("a match").to_string();
    let notes = ann.json(&["logs", "--match", &check, "--turn", "1", "--json"], 0);
    let notes = notes["seats"][0]["notes"].as_array().expect("a list");
    assert!(!notes.is_empty() && notes.iter().all(|note| note["step"] == 1), "{notes:?}");
    // A bot for another game, or something that is not a bot, is never uploaded.
    std::fs::create_dir(place.join("other")).expect("a folder");
    std::fs::write(place.join("other/agon.toml"), "run = 'sh x'\n[defaults]\ngame = 'terminal'\n")
        .expect("a file");
    fails(&ann.run(&["submit", "other"]), 2, "is for terminal, but this contest plays cultist-wars");
    fails(&ann.run(&["submit", "nowhere"]), 2, "no such file or folder");
    fails(
        &ann.run(&["try", "bot", "--against", "Zoe"]),
        2,
        "No live bot is called `Zoe`. On the ladder are: ",
    );
    fails(&ann.run(&["try", "bot", "--map", "9"]), 2, "the contest has only one map");
    replays(&ann, place);
    challenged(&ann, place);
    // Other users see nothing of it.
    let bob = Somebody::new(place, "bob");
    assert!(bob.log_in(&url, &self::token(&server, "Bob")).status.success());
    fails(&bob.run(&["logs", "--match", &check]), 2, "Not found");
    paused(&ann, place);
    at_home(&ann, place, &url);
    // The server goes away, and a login is removed.
    let _ = server.child.kill();
    let _ = server.child.wait();
    fails(&ann.run(&["status"]), 3, "cannot be reached: nothing is listening there");
    // The contest's conditions are still known.
    let offline = good(ann.run(&[
        "play",
        "cultist-wars",
        "bot",
        "builtin:greedy",
        "--as",
        &url,
        "--quiet",
        "--no-replay",
    ]));
    assert!(err(&offline).contains("using what it said a moment ago"), "{}", err(&offline));
    assert!(ann.run(&["logout"]).status.success());
    assert!(!std::fs::read_to_string(&kept).expect("there").contains(&token));
    fails(&ann.run(&["status"]), 2, "you are not logged in to a contest");
}

/// A challenge with a submitted version, and going back to an earlier one.
fn challenged(ann: &Somebody<'_>, place: &Path) {
    let words = ["challenge", "--against", "greedy", "--seed", "5", "--seat", "2", "--quiet"];
    let played = good(ann.run(&words));
    for part in ["against greedy", "seed 5 · seat 2", "| thinking of nothing", "slowest answer"] {
        assert!(out(&played).contains(part), "{part}: {}", out(&played));
    }
    let again = ann.json(&[&words[..], &["--json"]].concat(), 0);
    assert_eq!(
        (&again["match"]["kind"], &again["match"]["seed"], &again["own"]["seats"][0]["seat"]),
        (&"challenge".into(), &"5".into(), &2.into()),
        "{again:#}"
    );
    fails(&ann.run(&["challenge", "v2"]), 2, "That version cannot play");
    fails(&ann.run(&["challenge", "v9"]), 2, "your team has no v9");
    fails(&ann.run(&["challenge", "--against", "Zoe"]), 2, "No live bot is called `Zoe`");
    // The next version replaces the first, and gives its place back.
    teller(place, "bot", "a second thought");
    let next = ann.json(&["submit", "bot", "--wait", "--json"], 0);
    let n = next["version"]["n"].as_i64().expect("a number");
    assert_eq!(next["version"]["state"], "live", "{next:#}");
    let both = ann.json(&["challenge", "--against", "v1", "--json", "--quiet"], 0);
    let seats = both["match"]["seats"].as_array().expect("a list");
    assert_eq!(seats.iter().map(|seat| &seat["n"]).collect::<Vec<_>>(), [&n.into(), &Value::from(1)]);
    let back = ann.run(&["back", "v1"]);
    assert!(out(&back).contains("v1 is live: it plays for Ann."), "{}{}", out(&back), err(&back));
    assert_eq!(ann.json(&["back", "v1", "--json"], 0)["state"], "live", "what is so already is no mistake");
    fails(&ann.run(&["back", "v2"]), 2, "Nothing to go back to");
    fails(&ann.run(&["back", "mine"]), 2, "`mine` is not a version");
    teller(place, "bot", "thinking of nothing");
}

/// Replays: fetched once, continued after an interruption.
fn replays(ann: &Somebody<'_>, place: &Path) {
    let end = Instant::now() + Duration::from_secs(240);
    let standing = loop {
        let now = ann.json(&["status", "--json"], 0);
        if now["line"]["matches"].as_i64() >= Some(4) {
            break now;
        }
        assert!(Instant::now() < end, "{now:#}");
        std::thread::sleep(Duration::from_millis(200));
    };
    assert_eq!((&standing["me"]["team"]["name"], &standing["of"]), (&Value::from("Ann"), &Value::from(2)));
    let shown = out(&ann.run(&["status"]));
    assert!(shown.contains("Autumn Cup · cultist-wars") && shown.contains("Ann v1"), "{shown}");
    let first = ann.json(&["replay", "get", "--all", "-o", "got", "--json"], 0);
    let written: Vec<&str> =
        first["written"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert!(written.len() >= 4 && first["there"] == 0, "{first:#}");
    good(agon(place, &[&["replay", "verify"], &written[..2]].concat()));
    // An interrupted run left half a file under another name, and one is missing.
    std::fs::remove_file(place.join(written[0])).expect("it was there");
    std::fs::write(place.join(written[0].replace(".replay", ".part")), "half").expect("written");
    let second = ann.json(&["replay", "get", "--all", "-o", "got", "--json"], 0);
    let anew: Vec<&str> =
        second["written"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert!(
        anew.contains(&written[0]) && second["there"].as_u64() == Some(written.len() as u64 - 1),
        "{second:#}"
    );
    let number: i64 =
        written.iter().filter_map(|name| name.split(['-', '.']).nth(1)?.parse().ok()).max().expect("some");
    let later =
        ann.json(&["replay", "get", "--all", "--since", &number.to_string(), "-o", "got", "--json"], 0);
    let newer = |name: &Value| {
        name.as_str().and_then(|name| name.split(['-', '.']).nth(1)?.parse().ok()) > Some(number)
    };
    assert!(later["written"].as_array().is_some_and(|all| all.iter().all(newer)), "{later:#}");
    fails(&ann.run(&["replay", "get", "99999999", "-o", "got"]), 2, "Not found");
}

/// Nothing is played while the contest is paused, which is said at once. Waiting can be stopped, or ends by itself.
fn paused(ann: &Somebody<'_>, place: &Path) {
    good(agon(place, &["serve", "pause", "cup"]));
    teller(place, "bot", "another thought");
    fails(&ann.run(&["submit", "bot", "--wait"]), 3, "The contest is paused");
    good(agon(place, &["serve", "resume", "cup"]));
    let slow = "build = \"sleep 6\"\nrun = \"sh run.sh\"\n[defaults]\ngame = \"cultist-wars\"\n";
    std::fs::write(place.join("bot/agon.toml"), slow).expect("a file");
    fails(
        &ann.run(&["submit", "bot", "--wait", "--patience", "1s"]),
        3,
        "v5 is not ready after 1s; the contest continues with it",
    );
    let mut waiting = ann.command(&["submit", "bot", "--wait"]);
    let child = waiting.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("agon starts");
    std::thread::sleep(Duration::from_millis(1500));
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().expect("kill").success());
    fails(
        &child.wait_with_output().expect("it ends"),
        3,
        "stopped waiting; the contest continues with what was sent",
    );
    let end = ann.json(&["submit", "bot", "--wait", "--json"], 0);
    assert_eq!(
        (&end["what"], &end["version"]["state"]),
        (&Value::from("same"), &Value::from("live")),
        "{end:#}"
    );
}

/// A match at home is played under the conditions there, and says so.
fn at_home(ann: &Somebody<'_>, place: &Path, url: &str) {
    let played =
        ann.json(&["play", "cultist-wars", "bot", "builtin:greedy", "--as", url, "--json", "--no-replay"], 0);
    let notes = played["notes"].to_string();
    assert!(notes.contains(&format!("played as in Autumn Cup ({url})")), "{notes}");
    assert!(notes.contains("your slowest answer (") && notes.contains(" of 50 ms there"), "{notes}");
    assert_eq!(played["rules"], "standard", "{played:#}");
    let found = json(&ann.run(&["check", "cultist-wars", "bot", "--as", url, "--json"]));
    let there =
        found["findings"].as_array().expect("a list").iter().filter(|one| one["what"] == "there").count();
    assert!(there >= 2, "{found:#}");
    std::fs::write(place.join("copy.sh"), crate::common::WAITER).expect("a file");
    let words = [
        "sprt",
        "cultist-wars",
        "bot",
        "copy.sh",
        "--as",
        url,
        "-n",
        "4",
        "-j",
        "1",
        "--journal",
        "sprt.jsonl",
        "--json",
    ];
    let sprt = ann.run(&words);
    assert!(matches!(sprt.status.code(), Some(0 | 10..=13)), "{}{}", out(&sprt), err(&sprt));
    assert!(err(&sprt).contains("note: played as in Autumn Cup"), "{}", err(&sprt));
    let journal = std::fs::read_to_string(place.join("sprt.jsonl")).expect("written");
    let header: Value = serde_json::from_str(journal.lines().next().expect("a line")).expect("JSON");
    assert_eq!(header["options"], serde_json::json!(["--as", url]), "{header:#}");
    let words = ["gauntlet", "cultist-wars", "bot", "copy.sh", "--as", url, "-n", "2", "-j", "1"];
    let gauntlet = good(ann.run(&[&words[..], &["--journal", "gauntlet.jsonl", "--json"]].concat()));
    assert!(err(&gauntlet).contains("note: played as in Autumn Cup"), "{}", err(&gauntlet));
    let journal = std::fs::read_to_string(place.join("gauntlet.jsonl")).expect("written");
    let header: Value = serde_json::from_str(journal.lines().next().expect("a line")).expect("JSON");
    assert_eq!(header["options"], serde_json::json!(["--as", url]), "{header:#}");
    // Conditions other than the contest's are refused.
    for (words, wanted) in [
        (&["play", "deerhunt", "a", "b"][..], "that contest plays cultist-wars, and not deerhunt"),
        (&["play", "cultist-wars", "bot", "bot", "bot"], "its matches have 2 seats, but 3 bots are named"),
        (&["play", "cultist-wars", "bot", "bot", "--time-scale", "2"], "--as takes the contest's clock"),
        (&["check", "cultist-wars", "bot", "--set", "damage=5"], "--as takes the contest's rules"),
        (&["sprt", "cultist-wars", "bot", "copy.sh", "--map", "7"], "the contest has only one map"),
        (
            &["gauntlet", "cultist-wars", "bot", "copy.sh", "--time-total", "9s"],
            "--as takes the contest's clock",
        ),
    ] {
        fails(&ann.run(&[words, &["--as", url]].concat()), 2, wanted);
    }
}

/// Answers every request with the same bytes, and records the requests.
struct Stranger {
    url: String,
    heard: Arc<Mutex<String>>,
}

/// Starts it with the answer to send; `endless` appends noise.
fn stranger(answer: impl Into<Vec<u8>>, endless: bool) -> Stranger {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let (heard, answer) = (Arc::new(Mutex::new(String::new())), answer.into());
    let told = heard.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (told, answer) = (told.clone(), answer.clone());
            std::thread::spawn(move || converse(stream, &answer, endless, &told));
        }
    });
    Stranger { url, heard }
}

fn converse(mut stream: TcpStream, answer: &[u8], endless: bool, told: &Mutex<String>) {
    let mut bytes = [0; 4096];
    let Ok(count) = stream.read(&mut bytes) else { return };
    told.lock().expect("not poisoned").push_str(&String::from_utf8_lossy(&bytes[..count]));
    let _ = stream.write_all(answer);
    let noise = [b'['; 1 << 16];
    // Bounded all the same: 64 MiB are more than any client may read.
    for _ in 0..if endless { 1024 } else { 0 } {
        if stream.write_all(&noise).is_err() {
            return;
        }
    }
}

fn answer(status: &str, kind: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}").into()
}

#[test]
fn what_is_no_contest_is_said_so_and_gets_no_more_than_it_must() {
    let folder = folder();
    let ann = Somebody::new(folder.path(), "ann");
    let ask = |server: &Stranger| {
        let mut status = ann.command(&["status"]);
        status.env("AGON_URL", &server.url).env("AGON_TOKEN", "the-token").output().expect("agon starts")
    };
    let json = "application/json";
    let problem = |status: u16, title: &str, detail: &str| {
        format!(
            "{{\"type\":\"about:blank\",\"title\":\"{title}\",\"status\":{status},\"detail\":\"{detail}\",\"retry_after\":90}}"
        )
    };
    let cases: Vec<(Vec<u8>, bool, i32, &str)> = vec![
        (answer("200 OK", "text/html", "<h1>It works</h1>"), false, 3, "not like agon: it sends `text/html`"),
        (answer("200 OK", json, "{\"title\":7}"), false, 3, "It may run a different version of agon"),
        (answer("200 OK", json, &"[".repeat(100_000)), false, 3, "not like agon"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n".to_vec(),
            true,
            3,
            "larger than any that agon gives",
        ),
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{".to_vec(),
            false,
            3,
            "its answer was cut off",
        ),
        (b"HTTP/1.1 200 OK\r\nX: ".to_vec(), true, 3, "larger than any that agon gives"),
        (b"SSH-2.0-OpenSSH_9.6\r\n".to_vec(), false, 3, "127.0.0.1"),
        (Vec::new(), false, 3, "127.0.0.1"),
        (answer("502 Bad Gateway", "text/html", "<h1>nginx</h1>"), false, 3, "has a problem of its own: 502"),
        (answer("404 Not Found", "text/plain", "no"), false, 3, "not like agon: 404"),
        (
            answer(
                "429 Too Many Requests",
                "application/problem+json",
                &problem(429, "Too much at once", "Go on in 90 s."),
            ),
            false,
            3,
            "Too much at once: Go on in 90 s.",
        ),
        (
            answer(
                "403 Forbidden",
                "application/problem+json",
                &problem(403, "No", "\\u001b]0;owned\\u0007 shut"),
            ),
            false,
            2,
            "No: \u{fffd}]0;owned\u{fffd} shut",
        ),
    ];
    for (bytes, endless, code, wanted) in cases {
        let began = Instant::now();
        let output = ask(&stranger(bytes, endless));
        fails(&output, code, wanted);
        assert!(output.stdout.is_empty() && !err(&output).contains("the-token"), "{}", err(&output));
        assert!(began.elapsed() < Duration::from_secs(100), "{wanted}: it does not wait for ever");
    }
    // A redirect to another server gets nothing: neither a request nor the token.
    let other = stranger(answer("200 OK", json, "{}"), false);
    let leads =
        format!("HTTP/1.1 302 Found\r\nLocation: {}/api/v1/contest\r\nContent-Length: 0\r\n\r\n", other.url);
    let first = stranger(leads, false);
    fails(&ask(&first), 3, "your token goes only where you logged in");
    assert!(first.heard.lock().expect("not poisoned").contains("Bearer the-token"));
    assert_eq!(*other.heard.lock().expect("not poisoned"), "");
    // A file that is not a replay is not kept.
    let html = stranger(answer("200 OK", "application/octet-stream", "no replay"), false);
    let mut get = ann.command(&["replay", "get", "7"]);
    let output = get.env("AGON_URL", &html.url).env("AGON_TOKEN", "t").output().expect("agon starts");
    fails(&output, 3, "what came is not a replay");
    assert_eq!(std::fs::read_dir(folder.path().join("agon-replays")).expect("made").count(), 0);
}

#[test]
fn a_token_is_kept_and_sent_with_care() {
    let folder = folder();
    let ann = Somebody::new(folder.path(), "ann");
    let status = |url: &str, token: Option<&str>| {
        let mut status = ann.command(&["status"]);
        if !url.is_empty() {
            status.env("AGON_URL", url);
        }
        status.env("AGON_TOKEN", token.unwrap_or_default()).output().expect("agon starts")
    };
    fails(&status("", Some("t")), 2, "AGON_TOKEN is set, but not which contest it is for");
    fails(&status("http://192.0.2.1", Some("t")), 2, "your token would travel unencrypted over the internet");
    fails(
        &status("http://127.0.0.1:9", None),
        2,
        "no token is kept for it here: `agon login http://127.0.0.1:9`",
    );
    fails(&status("ftp://cup", Some("t")), 2, "is not the address of a server");
    fails(&ann.run(&["logout", "http://127.0.0.1:9"]), 2, "no token is kept for it here");
    // A login file that others can read is refused.
    let kept = ann.home.join("agon");
    std::fs::create_dir_all(&kept).expect("a folder");
    std::fs::write(kept.join("logins.json"), "{}").expect("written");
    crate::common::mode(&kept.join("logins.json"), 0o644);
    fails(&ann.run(&["status"]), 2, "other users of this machine can read your tokens");
    crate::common::mode(&kept.join("logins.json"), 0o600);
    std::fs::write(kept.join("logins.json"), "{\"logins\":3}").expect("written");
    fails(&ann.run(&["status"]), 2, "remove the file, and log in again");
}
