//! A fleet: real processes of `agon serve --fleet`, of `agon work` and of the command that owns the series, on the
//! loopback.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::common::{
    Running, Space, address_after, command, err, folder, good, json, last_event, out, wait_until,
};
use serde_json::Value;

/// A fleet on a port, and its address.
fn fleet(place: &Path, port: u16) -> (Running, String) {
    let port = port.to_string();
    // The speed of test machines varies from moment to moment.
    let mut serve = command(place, &["serve", "fleet", "--fleet", "--tolerance", "90", "--port", &port]);
    let child = serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("agon starts");
    let mut running = Running(child);
    let url = address_after("Its address: ", &mut running.0, Duration::from_secs(60));
    (running, url)
}

fn machine(place: &Path, url: &str, name: &str) -> Running {
    let token = ["--token-file", "fleet/machines.token", "-j", "1", "--trust-bots"];
    let mut command = command(place, &[&["work", url][..], &token].concat());
    // The table of attacks on the walls is shared; unpacked bots are each machine's own.
    command.env("XDG_CACHE_HOME", place.join(format!("cache-{name}"))).env_remove("AGON_CACHE");
    Running(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("agon starts"))
}

/// A command with its own logins.
fn at_home(place: &Path, arguments: &[&str]) -> Command {
    let mut command = command(place, arguments);
    command.env("XDG_CONFIG_HOME", place.join("config")).env_remove("AGON_TOKEN").env_remove("AGON_URL");
    command
}

fn run(place: &Path, arguments: &[&str]) -> Output {
    at_home(place, arguments).output().expect("agon starts")
}

fn log_in(place: &Path, url: &str) {
    let known = run(place, &["login", url, "--token-file", "fleet/author.token"]);
    assert!(known.status.success() && out(&known).contains("A fleet with"), "{}", err(&known));
}

/// A bot that always waits, and takes a while for each answer.
fn waiter(place: &Path, name: &str, pause: &str) {
    let bot = place.join(name);
    std::fs::create_dir(&bot).expect("a folder");
    std::fs::write(bot.join("agon.toml"), "run = \"sh run.sh\"\n").expect("a file");
    let script = crate::common::WAITER.replace("    echo WAIT\n", &format!("    {pause}\n    echo WAIT\n"));
    std::fs::write(bot.join("run.sh"), script).expect("a file");
}

/// The matches of a journal by block and game, without what differs from machine to machine. None may appear twice.
fn matches(journal: &Path) -> BTreeMap<(u64, u64), Value> {
    let text = std::fs::read_to_string(journal).expect("a journal");
    let mut all = BTreeMap::new();
    for line in text.lines().skip(1) {
        let mut line: Value = serde_json::from_str(line).expect("JSON");
        let entry = line.as_object_mut().expect("an object");
        // What was measured, in which sandbox, and which match it was: the same series played again has other matches.
        for own in ["max_ms", "wall_us", "tries", "sandbox", "images", "id", "chain"] {
            entry.remove(own);
        }
        let of = |name: &str| entry[name].as_u64().expect("a number");
        let place = (of("block"), of("game"));
        assert!(all.insert(place, line).is_none(), "{place:?} stands there twice");
    }
    all
}

fn lines(journal: &Path) -> usize {
    std::fs::read_to_string(journal).map_or(0, |text| text.lines().count())
}

#[test]
fn two_machines_play_the_series_that_is_played_at_home_whoever_is_killed() {
    let place = folder();
    let place = place.path();
    waiter(place, "ann", "sleep 0.002");
    let series = |journal: &'static str| {
        ["tournament", "cultist-wars", "ann", "builtin:greedy", "builtin:hunter", "-n", "16", "--seed", "5"]
            .into_iter()
            // A machine with other work may keep a bot from its turn for longer than the 50 ms it has.
            .chain(["--time-scale", "20", "--replays", "all", "--json", "--journal", journal])
            .collect::<Vec<_>>()
    };
    let home = good(run(place, &[&series("home/journal.jsonl")[..], &["-j", "1"]].concat()));

    let (server, url) = fleet(place, 0);
    let port: u16 = url.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
    // Before a login there, and with the token of the machines.
    let stranger = run(place, &[&series("x.jsonl")[..], &["--on", &url]].concat());
    assert_eq!(stranger.status.code(), Some(2), "{}", err(&stranger));
    assert!(err(&stranger).contains("agon login"), "{}", err(&stranger));
    let wrong = run(place, &["login", &url, "--token-file", "fleet/machines.token"]);
    assert!(wrong.status.code() == Some(2) && err(&wrong).contains("token"), "{}", err(&wrong));
    log_in(place, &url);

    let _one = machine(place, &url, "one");
    let two = machine(place, &url, "two");
    let mut away = at_home(place, &[&series("away/journal.jsonl")[..], &["--on", &url]].concat());
    let mut away = Running(away.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("agon starts"));
    let journal = place.join("away/journal.jsonl");
    // One machine is killed in the middle and comes back, and so does the fleet.
    wait_until("it begins", || lines(&journal) > 4);
    drop(two);
    let _two = machine(place, &url, "two");
    wait_until("it goes on", || lines(&journal) > 14);
    drop(server);
    std::thread::sleep(Duration::from_millis(500));
    let (_server, again) = fleet(place, port);
    assert_eq!(again, url);
    wait_until("the series is over", || away.0.try_wait().expect("a child").is_some());
    let mut said = String::new();
    use std::io::Read as _;
    away.0.stdout.take().expect("piped").read_to_string(&mut said).expect("text");
    let result: Value = serde_json::from_str(said.lines().last().expect("a result")).expect("JSON");
    let at_home = last_event(&home);
    assert_eq!(result["standings"], at_home["standings"], "the same statistics");
    assert!(result["standings"][0]["score"].is_number(), "{result}");

    let (home, away) = (matches(&place.join("home/journal.jsonl")), matches(&journal));
    assert_eq!(away.len(), 48);
    assert_eq!(away, home, "the same series");
    // Replays are complete, and belong to the matches in their names.
    let replays: Vec<String> = std::fs::read_dir(place.join("away/replays"))
        .expect("replays")
        .map(|entry| entry.expect("an entry").path().display().to_string())
        .collect();
    assert_eq!(replays.len(), 48);
    let files: Vec<&str> = replays.iter().map(String::as_str).collect();
    good(run(place, &[&["replay", "verify"], &files[..]].concat()));
    // An interrupted series is continued there, too.
    let text = std::fs::read_to_string(&journal).expect("a journal");
    let half: Vec<&str> = text.lines().take(20).collect();
    std::fs::write(&journal, half.join("\n") + "\n").expect("written");
    good(run(place, &[&series("away/journal.jsonl")[..], &["--on", &url, "--resume"]].concat()));
    assert_eq!(matches(&journal), home);
}

#[test]
fn what_is_wrong_with_a_bot_is_said_as_at_home_and_what_cannot_be_sent_at_once() {
    let place = folder();
    let place = place.path();
    let (_server, url) = fleet(place, 0);
    log_in(place, &url);
    let _one = machine(place, &url, "one");
    let broken = place.join("broken");
    std::fs::create_dir(&broken).expect("a folder");
    std::fs::write(broken.join("agon.toml"), "build = \"sh make.sh\"\nrun = \"./bot\"\n").expect("a file");
    std::fs::write(broken.join("make.sh"), "echo no such letter >&2\nexit 3\n").expect("a file");
    let gauntlet = |bot: &str, more: &[&str]| {
        let command = ["gauntlet", "cultist-wars", bot, "builtin:greedy", "-n", "2", "--on", &url];
        run(place, &[&command[..], more].concat())
    };
    let unbuilt = gauntlet("broken", &[]);
    assert_eq!(unbuilt.status.code(), Some(2), "{}", err(&unbuilt));
    assert!(
        err(&unbuilt).contains("broken") && err(&unbuilt).contains("no such letter"),
        "{}",
        err(&unbuilt)
    );
    // A bot that crashes loses, and its last words are reported.
    let crasher = place.join("crasher");
    std::fs::create_dir(&crasher).expect("a folder");
    std::fs::write(crasher.join("agon.toml"), "run = \"sh run.sh\"\n").expect("a file");
    std::fs::write(crasher.join("run.sh"), "read -r line\necho all is lost >&2\nexit 3\n").expect("a file");
    let crashed = good(gauntlet("crasher", &["--replays", "all"]));
    assert!(out(&crashed).contains("crash") && out(&crashed).contains("all is lost"), "{}", out(&crashed));
    let sent = gauntlet("cmd:sh run.sh", &[]);
    assert!(sent.status.code() == Some(2) && err(&sent).contains("give a folder"), "{}", err(&sent));
    let both = gauntlet("crasher", &["-j", "2"]);
    assert_eq!(both.status.code(), Some(2), "{}", err(&both));
    // A contest is not used as a fleet, nor anything that is neither.
    let contest = run(place, &["work", &url, "--token-file", "fleet/author.token"]);
    assert!(contest.status.code() == Some(2) && err(&contest).contains("token"), "{}", err(&contest));
    let nobody =
        run(place, &["gauntlet", "cultist-wars", "crasher", "builtin:greedy", "--on", "127.0.0.1:9"]);
    assert_eq!(nobody.status.code(), Some(2), "{}", err(&nobody));
}

/// One machine against two, each in its own network namespace with one CPU: how long the same series takes. Needs root.
#[test]
#[ignore = "a measurement: cargo xtask long fleet"]
fn two_machines_are_nearly_twice_as_fast() {
    let place = folder();
    let place = place.path();
    let bot = place.join("thinker");
    std::fs::create_dir(&bot).expect("a folder");
    std::fs::write(bot.join("agon.toml"), "run = \"python3 -u bot.py\"\n").expect("a file");
    // The same work for each answer: about 6 ms of the 50 that a turn may take.
    let thinker = "import sys
for _ in range(9):
    input()
while True:
    for _ in range(int(input())):
        input()
    n = 0
    for i in range(120000):
        n += i * i % 7
    print('WAIT')
";
    std::fs::write(bot.join("bot.py"), thinker).expect("a file");
    let mut serve =
        command(place, &["serve", "fleet", "--fleet", "--tolerance", "90", "--port", "0", "--lan"]);
    let mut server =
        Running(serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("agon starts"));
    let url = address_after("Its address: ", &mut server.0, Duration::from_secs(60));
    let port = url.rsplit(':').next().expect("a port");
    let home = format!("http://127.0.0.1:{port}");
    log_in(place, &home);
    let spaces = [Space::new(1), Space::new(2)];
    let join = |n: usize| {
        let at = format!("http://{}:{port}", spaces[n].ours);
        let mut work = Command::new("ip");
        work.args(["netns", "exec", &spaces[n].name, "taskset", "-c", &n.to_string()])
            .args([
                env!("CARGO_BIN_EXE_agon"),
                "work",
                &at,
                "--token-file",
                "fleet/machines.token",
                "-j",
                "1",
            ])
            .current_dir(place)
            .env("XDG_CACHE_HOME", place.join(format!("cache-{n}")))
            .env_remove("AGON_CACHE")
            .stdin(Stdio::null());
        Running(work.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("agon starts"))
    };
    let machines = || {
        let seen = json(&run(place, &["login", &home, "--token-file", "fleet/author.token", "--json"]));
        seen["machines"].as_u64().expect("a number")
    };
    let games = std::env::var("AGON_MATCHES").unwrap_or_else(|_| "80".to_owned());
    let series = |games: &str| {
        let began = Instant::now();
        good(run(
            place,
            &[
                "gauntlet",
                "cultist-wars",
                "thinker",
                "builtin:greedy",
                "-n",
                games,
                "--seed",
                "1",
                "--on",
                &home,
            ],
        ));
        began.elapsed().as_secs_f64()
    };
    // Disturbances only make it slower, never faster: take the better of two runs. A first run of four matches makes the
    // machines fetch what they need.
    let best = || {
        series("4");
        series(&games).min(series(&games))
    };
    let _one = join(0);
    wait_until("one machine", || machines() == 1);
    let alone = best();
    let _two = join(1);
    wait_until("two machines", || machines() == 2);
    let together = best();
    println!(
        "{games} matches: one machine {alone:.1} s; two {together:.1} s: {:.2} times as fast",
        alone / together
    );
}
