//! Other machines join: a real server without its own worker, and real processes of `agon work` on the loopback.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::common::{
    Running, agon, block_on, command, err, folder, good, json, out, site_of, token_of, wait, wait_until,
};
use agon_store::Time;
use agon_store::acts::PauseWorker;
use serde_json::Value;

impl Running {
    fn signal(&self, name: &str) {
        let pid = self.0.id().to_string();
        assert!(Command::new("kill").args([name, &pid]).status().expect("kill").success());
    }

    /// Its output, when it ends by itself within a minute.
    fn output(mut self) -> Output {
        wait(Duration::from_secs(60), "it ends", || self.0.try_wait().expect("a child").is_some());
        let mut output =
            Output { status: self.0.wait().expect("ended"), stdout: Vec::new(), stderr: Vec::new() };
        use std::io::Read as _;
        self.0.stdout.take().expect("piped").read_to_end(&mut output.stdout).expect("read");
        self.0.stderr.take().expect("piped").read_to_end(&mut output.stderr).expect("read");
        output
    }
}

/// The speed of test machines varies from moment to moment.
const CONTEST: &str = "game = 'cultist-wars'
[site]
title = 'Autumn Cup'
sign_up = 'open'
[sandbox]
trust_bots = true
[workers]
tolerance = 90
";

/// A server that plays nothing itself, and its address.
fn serve(folder: &Path, port: u16) -> (Running, String) {
    let (jobs, port) = ("0", port.to_string());
    let mut serve = command(folder, &["serve", "cup", "-j", jobs, "--port", &port]);
    let child = serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("agon starts");
    let mut running = Running(child);
    let url = site_of(&mut running.0, Duration::from_secs(60));
    (running, url)
}

fn token(folder: &Path, name: &str) {
    let made = good(agon(folder, &["serve", "worker", "cup", name]));
    std::fs::write(folder.join(format!("{name}.token")), &made.stdout).expect("written");
}

fn work(folder: &Path, url: &str, name: &str, more: &[&str]) -> Running {
    let file = format!("{name}.token");
    let arguments = [&["work", url, "--token-file", &file, "-j", "1", "--trust-bots"], more].concat();
    let mut command = command(folder, &arguments);
    // The table of attacks on the walls is shared; unpacked bots are each machine's own.
    command.env("XDG_CACHE_HOME", folder.join(format!("cache-{name}"))).env_remove("AGON_CACHE");
    Running(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("agon starts"))
}

fn results(folder: &Path) -> i64 {
    json(&good(agon(folder, &["serve", "status", "cup", "--json"])))["matches"]["in_log"]
        .as_i64()
        .expect("a number")
}

fn worker(folder: &Path, name: &str) -> Value {
    let all = json(&good(agon(folder, &["serve", "workers", "cup", "--json"])));
    all.as_array().expect("a list").iter().find(|one| one["name"] == name).cloned().unwrap_or(Value::Null)
}

#[test]
fn machines_join_vanish_and_come_back_and_nothing_is_lost() {
    let place = folder();
    let place = place.path();
    std::fs::create_dir(place.join("cup")).expect("a folder");
    std::fs::write(place.join("cup/contest.toml"), CONTEST).expect("a file");
    let (server, url) = serve(place, 0);
    let port: u16 = url.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
    token(place, "one");
    let twice = agon(place, &["serve", "worker", "cup", "One"]);
    assert!(twice.status.code() == Some(2) && err(&twice).contains("already"), "{}", err(&twice));
    // An invalid token is reported at once, before any wall is attacked.
    std::fs::write(place.join("wrong.token"), "nothing").expect("written");
    let refused = work(place, &url, "wrong", &[]).output();
    assert_eq!(refused.status.code(), Some(2), "{}", err(&refused));
    assert!(err(&refused).contains("does not know this token"), "{}", err(&refused));

    // A bot is submitted, and is fetched, built and played elsewhere.
    let bot = place.join("ann");
    std::fs::create_dir(&bot).expect("a folder");
    std::fs::write(bot.join("run.sh"), crate::common::WAITER).expect("a file");
    std::fs::write(bot.join("agon.toml"), "run = \"sh run.sh\"\n").expect("a file");
    good(agon(place, &["serve", "add", "cup", "ann", "--team", "Ann"]));
    let one = work(place, &url, "one", &[]);
    wait_until("Ann is live", || {
        let now = json(&good(agon(place, &["serve", "status", "cup", "--json"])));
        now["versions"]
            .as_array()
            .expect("a list")
            .iter()
            .any(|version| version["entrant"] == "Ann" && version["state"] == "live")
    });
    let told = worker(place, "one");
    assert!(told["speed"].as_f64() > Some(0.0) && told["jobs"] == 1 && told["mismatches"] == 0, "{told}");

    // Killed in the middle: the same machine comes back, and its matches are played again.
    one.signal("-KILL");
    drop(one);
    let one = work(place, &url, "one", &[]);
    let before = results(place);
    wait_until("it plays again", || results(place) > before + 2);

    // The server goes away for a while: results played meanwhile are offered until it is back.
    server.signal("-KILL");
    drop(server);
    std::thread::sleep(Duration::from_secs(2));
    let before = results(place);
    let (_server, again) = serve(place, port);
    assert_eq!(again, url);
    wait_until("they find each other", || results(place) > before + 2);

    // Suspended for a moment, as by closing a lid, then resumed.
    one.signal("-STOP");
    std::thread::sleep(Duration::from_secs(1));
    one.signal("-CONT");
    let before = results(place);
    wait_until("it goes on", || results(place) > before);

    // A second one joins, and its token is revoked: it ends and says why.
    token(place, "two");
    let two = work(place, &url, "two", &[]);
    wait_until("both play", || worker(place, "two")["posted"].as_i64() > Some(1));

    // A paused machine waits until it may play again.
    let none = agon(place, &["serve", "play-on", "cup", "two"]);
    assert!(err(&none).contains("no machine `two` is paused"), "{}", err(&none));
    pause(place, "two");
    assert_eq!(worker(place, "two")["paused"], "it stood out");
    wait_until("it brings what it had", || worker(place, "two")["in_hand"] == 0);
    let before = worker(place, "two")["posted"].as_i64();
    let told = agon(place, &["serve", "play-on", "cup", "two"]);
    assert!(out(&told).starts_with("two plays on"), "{}{}", out(&told), err(&told));
    wait_until("it plays again", || worker(place, "two")["posted"].as_i64() > before);
    good(agon(place, &["serve", "revoke", "cup", "two"]));
    let ended = two.output();
    assert_eq!(ended.status.code(), Some(2), "{}{}", out(&ended), err(&ended));
    assert!(err(&ended).contains("was revoked"), "{}", err(&ended));
    assert_eq!(worker(place, "two")["in_hand"], 0);

    // Ctrl-C returns unfinished matches.
    one.signal("-INT");
    let ended = good(one.output());
    assert!(out(&ended).contains("results have reached the contest"), "{}", out(&ended));
    let now = json(&good(agon(place, &["serve", "status", "cup", "--json"])));
    assert_eq!(now["matches"]["leased"], 0, "{now:#}");
    assert_eq!(now["matches"]["dead"], 0, "{now:#}");
    let alarms: Vec<&Value> =
        now["events"].as_array().expect("a list").iter().filter(|event| event["verb"] == "alarm").collect();
    assert_eq!(alarms, Vec::<&Value>::new());
    good(agon(place, &["serve", "fsck", "cup", "--replays"]));
}

/// Pauses a machine as a server does whose results differ from the others'.
fn pause(place: &Path, name: &str) {
    block_on(async {
        let (store, contest) = agon_server::status::look(&place.join("cup")).await.expect("a contest");
        let all = store.working(Time(0)).await.expect("read");
        let worker = all.iter().find(|worker| worker.name == name).expect("it plays").id;
        let pause = PauseWorker { contest: contest.id, worker, why: "it stood out".into(), now: Time(1) };
        assert!(store.act(pause).await.expect("written"));
        store.close().await;
    });
}

/// The images that the results of a contest name, in order.
fn images(place: &Path) -> Vec<Vec<String>> {
    block_on(async {
        let (store, _) = agon_server::status::look(&place.join("cup")).await.expect("a contest");
        let log = store.log(0, 1000).await.expect("read");
        store.close().await;
        // Built-in bots play without one.
        let lines = log.iter().map(|row| serde_json::from_str::<Value>(&row.body).expect("JSON"));
        lines.filter_map(|line| serde_json::from_value(line["outcome"]["images"].clone()).ok()).collect()
    })
}

/// A participant fetches the contest's image, and plays in it at home.
fn in_it_at_home(place: &Path, url: &str, image: &str) {
    let token = token_of(url, "Bea");
    let bea = |words: &[&str]| {
        let mut bea = command(place, words);
        bea.env("AGON_CACHE", place.join("cache-bea")).env("AGON_URL", url).env("AGON_TOKEN", &token);
        bea.output().expect("agon starts")
    };
    let series = |journal: &str| {
        let words =
            ["gauntlet", "cultist-wars", "ann", "builtin:idle", "-n", "2", "--journal", journal, "--as", url];
        let played = bea(&words);
        let text = std::fs::read_to_string(place.join(journal)).expect("a journal");
        let lines = text.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let images: Vec<Value> = lines.filter_map(|line| line.get("images").cloned()).collect();
        (err(&good(played)), images)
    };
    let (before, own) = series("own/journal.jsonl");
    assert!(before.contains(&format!("agon image get {url}")) && own.is_empty(), "{before}{own:?}");
    let got = good(bea(&["image", "get"]));
    assert!(err(&got).contains("fetching the image") && out(&got).contains(&image[..12]), "{}", out(&got));
    assert!(err(&good(bea(&["image", "get", url]))).is_empty(), "it is here");
    let (after, theirs) = series("theirs/journal.jsonl");
    assert!(!after.contains("agon image get"), "{after}");
    assert_eq!(theirs, vec![Value::from(vec![image]); 2]);
}

#[test]
fn every_machine_plays_in_the_contests_image_and_results_of_another_one_are_refused() {
    let found = agon_sandbox::probe(Path::new(env!("CARGO_BIN_EXE_agon")));
    if found.level > agon_sandbox::Level::B {
        return println!("skipped: level {} here: {:?}", found.level, found.missing);
    }
    let place = folder();
    let place = place.path();
    std::fs::create_dir_all(place.join("cup")).expect("a folder");
    std::fs::write(place.join("more"), "a file besides").expect("a file");
    let own = |words: &[&str]| {
        let mut command = command(place, words);
        command.env("AGON_CACHE", place.join("cache-server"));
        command
    };
    let image = |more: &[&str]| -> Option<String> {
        let built =
            own(&[&["image", "--json", "build", "git"], more].concat()).output().expect("agon starts");
        if err(&built).contains("not installed") {
            return None;
        }
        Some(json(&good(built))["image"].as_str().expect("a name").to_owned())
    };
    let (Some(first), Some(second)) = (image(&[]), image(&["--add", "more"])) else {
        return println!("skipped: git is not installed");
    };
    let play_in = |image: &str| {
        let text = CONTEST.replace("[sandbox]\n", &format!("[sandbox]\nlevel = 'B'\nimage = '{image}'\n"));
        std::fs::write(place.join("cup/contest.toml"), text).expect("a file");
    };
    let serve = |port: u16| {
        let mut serve = own(&["serve", "cup", "-j", "0", "--port", &port.to_string()]);
        let child = serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("agon starts");
        let mut running = Running(child);
        let url = site_of(&mut running.0, Duration::from_secs(60));
        (running, url)
    };
    play_in(&"0".repeat(64));
    let none = own(&["serve", "cup", "-j", "0", "--port", "0"]).output().expect("agon starts");
    assert_eq!(none.status.code(), Some(2), "{}", err(&none));
    assert!(err(&none).contains("[sandbox] image: there is no image"), "{}", err(&none));

    play_in(&first);
    let (server, url) = serve(0);
    let port: u16 = url.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
    token(place, "one");
    std::fs::create_dir(place.join("ann")).expect("a folder");
    std::fs::write(place.join("ann/run.sh"), crate::common::WAITER).expect("a file");
    std::fs::write(place.join("ann/agon.toml"), "run = \"sh run.sh\"\n").expect("a file");
    good(agon(place, &["serve", "add", "cup", "ann", "--team", "Ann"]));
    let one = work(place, &url, "one", &[]);
    wait_until("it plays in the image", || images(place).len() > 2);
    assert!(images(place).iter().all(|images| *images == [first.clone()]), "{:?}", images(place));
    in_it_at_home(place, &url, &first);

    // The organiser changes it while it is played: the machine hears of it, fetches the new one, and goes on in that.
    let set = good(own(&["serve", "set", "cup", &format!("image={second}")]).output().expect("agon starts"));
    assert!(out(&set).contains("plays a check match in the new image"), "{}", out(&set));
    wait_until("it plays in the new one", || {
        images(place).iter().filter(|images| **images == [second.clone()]).count() > 2
    });
    let played = images(place);
    let former = played.iter().take_while(|images| **images == [first.clone()]).count();
    assert!(former > 2 && played[former..].iter().all(|images| *images == [second.clone()]), "{played:?}");
    // After a restart it is so, whatever the file says.
    drop(server);
    let (_server, _) = serve(port);
    let before = images(place).len();
    wait_until("it plays on", || images(place).len() > before + 1);
    one.signal("-INT");
    let ended = good(one.output());
    for told in [&format!("fetching the image {}", &first[..12]), "of which 1 MB are not here yet"] {
        assert!(out(&ended).contains(told), "{told}: {}", out(&ended));
    }
    assert_eq!(images(place).last(), Some(&vec![second.clone()]));
}

/// Answers one request like a server whose database is away.
fn answer_as_without_a_database(listener: &std::net::TcpListener) {
    use std::io::{Read as _, Write as _};
    let (mut stream, _) = listener.accept().expect("it asks");
    let mut asked = [0; 4096];
    assert!(stream.read(&mut asked).expect("a request") > 0);
    let body = r#"{"type":"about:blank","title":"Trouble of our own","status":500,"detail":"The database is away."}"#;
    let kind = "Content-Type: application/problem+json\r\nConnection: close";
    write!(stream, "HTTP/1.1 500 Oh\r\n{kind}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
        .expect("sent");
}

#[test]
fn a_machine_that_starts_while_the_contest_is_away_waits_for_it() {
    let place = folder();
    let place = place.path();
    std::fs::create_dir(place.join("cup")).expect("a folder");
    std::fs::write(place.join("cup/contest.toml"), CONTEST).expect("a file");
    let (server, url) = serve(place, 0);
    token(place, "one");
    drop(server);
    // At first a server listens and has trouble; then there is none.
    let port: u16 = url.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
    let listener = std::net::TcpListener::bind(("127.0.0.1", port)).expect("it is free again");
    let mut one = work(place, &url, "one", &[]);
    answer_as_without_a_database(&listener);
    answer_as_without_a_database(&listener);
    drop(listener);
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(one.0.try_wait().expect("a child"), None, "it waits");
    let before = results(place);
    let (_server, _) = serve(place, port);
    wait_until("it plays", || results(place) > before);
    one.signal("-INT");
    let ended = good(one.output());
    let said = err(&ended);
    assert!(said.contains("The database is away."), "{said}");
    assert_eq!(said.matches("Waiting for the contest and asking again").count(), 1, "once: {said}");
}

/// Passes requests on to a contest, and changes the seats of the matches that it hands out to `seats` of them.
fn false_server(url: &str, seats: usize) -> String {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};
    let real = url.trim_start_matches("http://").to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let own = listener.local_addr().expect("bound").to_string();
    let end = |bytes: &[u8]| bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|end| end + 4);
    let length = |head: &str| {
        let line = head.lines().find(|line| line.to_ascii_lowercase().starts_with("content-length:"));
        line.and_then(|line| line.split(':').nth(1)?.trim().parse::<usize>().ok()).unwrap_or(0)
    };
    let pass = move |mut stream: TcpStream| -> std::io::Result<()> {
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        let (mut asked, mut piece) = (Vec::new(), [0; 4096]);
        let (head, body) = loop {
            let count = stream.read(&mut piece)?;
            asked.extend(&piece[..count]);
            if let Some(end) = end(&asked) {
                let head = String::from_utf8_lossy(&asked[..end]).into_owned();
                if asked.len() >= end + length(&head) {
                    break (head, asked[end..].to_vec());
                }
            }
            if count == 0 {
                return Ok(());
            }
        };
        let kept = |line: &&str| {
            let name = line.split(':').next().unwrap_or_default().to_ascii_lowercase();
            !["accept-encoding", "connection", "host", ""].contains(&&*name)
        };
        let head: Vec<&str> = head.lines().filter(kept).collect();
        let mut server = TcpStream::connect(&real)?;
        write!(server, "{}\r\nHost: {real}\r\nConnection: close\r\n\r\n", head.join("\r\n"))?;
        server.write_all(&body)?;
        let mut answer = Vec::new();
        server.read_to_end(&mut answer)?;
        let begin = end(&answer).expect("an answer");
        let mut body = answer[begin..].to_vec();
        if head[0].contains("/lease")
            && let Ok(mut granted) = serde_json::from_slice::<Value>(&body)
        {
            for job in granted["jobs"].as_array_mut().into_iter().flatten() {
                let one = job["seats"][0].clone();
                job["seats"] = vec![one; seats].into();
            }
            body = granted.to_string().into_bytes();
        }
        let status = String::from_utf8_lossy(&answer[..begin]).lines().next().expect("a status").to_owned();
        let kind = if status.contains(" 200") { "application/json" } else { "application/problem+json" };
        write!(
            stream,
            "{status}\r\nContent-Type: {kind}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        )?;
        stream.write_all(&body)
    };
    std::thread::spawn(move || {
        for stream in listener.incoming().take(10_000).flatten() {
            let _ = pass(stream);
        }
    });
    format!("http://{own}")
}

#[test]
fn a_server_that_asks_for_matches_that_are_none_is_left() {
    let place = folder();
    let place = place.path();
    std::fs::create_dir(place.join("cup")).expect("a folder");
    std::fs::write(place.join("cup/contest.toml"), CONTEST).expect("a file");
    let (_server, url) = serve(place, 0);
    token(place, "hall");
    for seats in [0, 1, 3, 300] {
        let worker = work(place, &false_server(&url, seats), "hall", &[]).output();
        let said = err(&worker);
        assert_eq!(worker.status.code(), Some(2), "{seats}: {said}");
        assert!(
            said.contains(&format!("has 2 seats, not {seats}; nothing of that is played here")),
            "{said}"
        );
        assert!(!said.contains("panicked"), "{said}");
    }
    assert_eq!(results(place), 0, "nothing came of it");
}

#[test]
fn machines_come_to_an_address_of_their_own_and_no_longer_to_the_site() {
    let place = folder();
    let place = place.path();
    std::fs::create_dir(place.join("cup")).expect("a folder");
    std::fs::write(place.join("cup/contest.toml"), CONTEST).expect("a file");
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound");
    let port = free.port().to_string();
    let arguments = ["serve", "cup", "-j", "0", "--port", &port, "--workers", "127.0.0.1:0"];
    let mut serve = command(place, &arguments);
    let child = serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("agon starts");
    let mut running = Running(child);
    let workers = crate::common::address_after("Workers come to: ", &mut running.0, Duration::from_secs(60));
    token(place, "one");
    let refused = work(place, &format!("http://127.0.0.1:{port}"), "one", &[]).output();
    assert_ne!(refused.status.code(), Some(0), "{}", out(&refused));
    assert!(err(&refused).contains(&format!("agon work {workers}")), "{}", err(&refused));
    let _one = work(place, &workers, "one", &[]);
    wait_until("it plays", || results(place) > 2);
    // An address that is no address of this machine.
    let wrong = agon(
        place,
        &["serve", "cup2", "--new", "cultist-wars", "-j", "0", "--port", "0", "--workers", "192.0.2.1:1"],
    );
    assert_eq!(wrong.status.code(), Some(2), "{}", err(&wrong));
    assert!(err(&wrong).contains("--workers 192.0.2.1:1"), "{}", err(&wrong));
}
