//! `agon serve`: a contest on the command line, from its first day to a kill and the day after.
//!
//! Longer than 500 lines: one helper starts, kills and looks at a contest for all of them.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::{Running, agon, command, err, folder, good, json, out, waiter};
use serde_json::Value;

/// A wrong address of a database is wrong usage.
fn moved_nowhere() {
    let folder = folder();
    begin(folder.path());
    for to in ["nonsense", "mysql://db/cup", "postgres://"] {
        let output = agon(folder.path(), &["serve", "move", "cup", "--to", to]);
        assert_eq!(output.status.code(), Some(2), "{to}: {}", err(&output));
        assert!(err(&output).contains("postgres://USER:PASSWORD@HOST/NAME"), "{to}: {}", err(&output));
    }
    let back = agon(folder.path(), &["serve", "move", "cup", "--back"]);
    assert_eq!(back.status.code(), Some(2), "{}", err(&back));
    assert!(err(&back).contains("is already in agon.db"), "{}", err(&back));
}

fn status(folder: &Path) -> Value {
    let output = good(agon(folder, &["serve", "status", "cup", "--json"]));
    json(&output)
}

fn begin(folder: &Path) {
    let begun = ["serve", "cup", "--new", "cultist-wars", "--matches", "4", "-j", "1", "--no-site"];
    let mut output = agon(folder, &begun);
    if err(&output).contains("cannot contain strangers' bots") {
        assert_eq!(output.status.code(), Some(3));
        println!("no sandbox here: {}", err(&output));
        trust(folder);
        output = agon(folder, &["serve", "cup", "--matches", "4", "-j", "1", "--no-site"]);
    }
    assert!(output.status.success(), "{}{}", out(&output), err(&output));
    let said = out(&output);
    assert!(said.contains("run in a level ") || said.contains("You trust these bots"), "{said}");
}

/// Marks the contest's bots as trusted in its file.
fn trust(folder: &Path) {
    let file = folder.join("cup/contest.toml");
    let text = std::fs::read_to_string(&file).expect("written");
    std::fs::write(file, text + "\n[sandbox]\ntrust_bots = true\n").expect("written");
}

fn start(folder: &Path) -> Running {
    let mut command = command(folder, &["serve", "cup", "-j", "1", "--quiet", "--no-site"]);
    Running(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("agon starts"))
}

/// Waits until `is` holds for the contest; bounded.
fn until(folder: &Path, what: &str, is: impl Fn(&Value) -> bool) -> Value {
    let end = Instant::now() + Duration::from_secs(240);
    loop {
        let now = status(folder);
        if is(&now) {
            return now;
        }
        assert!(Instant::now() < end, "{what}: {now:#}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn interrupt(running: &mut Running) -> std::process::ExitStatus {
    let pid = running.0.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().expect("kill").success());
    running.0.wait().expect("it ends")
}

fn state_of<'a>(now: &'a Value, team: &str) -> Vec<&'a str> {
    let versions = now["versions"].as_array().expect("a list");
    versions
        .iter()
        .filter(|version| version["entrant"] == team)
        .filter_map(|version| version["state"].as_str())
        .collect()
}

#[test]
fn a_contest_from_its_first_day_on() {
    let folder = folder();
    let place = folder.path();
    begin(place);
    let text = std::fs::read_to_string(place.join("cup/contest.toml")).expect("written");
    assert!(text.contains("game = \"cultist-wars\"") && text.contains("[site]"), "{text}");
    let now = status(place);
    assert!(now["matches"]["in_log"].as_i64() >= Some(4), "{now:#}");
    assert_eq!(now["seeds_sha256"].as_str().map(str::len), Some(64));
    // No second contest is made in the same folder, and no two processes run one contest.
    let again = agon(place, &["serve", "cup", "--new", "cultist-wars"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(err(&again).contains("there is a contest already"), "{}", err(&again));
    let mut running = start(place);
    until(place, "it goes on", |later| {
        later["matches"]["in_log"].as_i64() > now["matches"]["in_log"].as_i64()
    });
    let second = agon(place, &["serve", "cup"]);
    assert_eq!(second.status.code(), Some(2));
    assert!(err(&second).contains("already being run by process"), "{}", err(&second));
    // Two teams join while it runs: one plays, the other's bot fails.
    waiter(place, "ann");
    std::fs::write(place.join("bad.py"), "raise SystemExit('no such strategy')\n").expect("a file");
    let added = agon(place, &["serve", "add", "cup", "ann", "--team", "Ann"]);
    assert!(out(&added).starts_with("Ann v1 has been submitted"), "{}{}", out(&added), err(&added));
    let same = agon(place, &["serve", "add", "cup", "ann", "--team", "Ann"]);
    assert!(out(&same).contains("it is v1, which keeps its matches"), "{}", out(&same));
    let taken = agon(place, &["serve", "add", "cup", "bad.py", "--team", "ANN"]);
    assert_eq!(taken.status.code(), Some(2));
    good(agon(place, &["serve", "add", "cup", "bad.py", "--team", "Bob"]));
    until(place, "both were checked", |now| {
        state_of(now, "Ann") == ["live"] && state_of(now, "Bob") == ["failed"]
    });
    let shown = agon(place, &["serve", "status", "cup"]);
    let shown = out(&shown);
    assert!(shown.contains("Bob v1") && shown.contains("yours: Turn 1"), "{shown}");
    // A new version that fails leaves the old one in place.
    std::fs::write(place.join("ann/run.sh"), "exit 3\n").expect("changed");
    agon(place, &["serve", "add", "cup", "ann", "--team", "Ann"]);
    let now = until(place, "the second was checked", |now| {
        state_of(now, "Ann").len() == 2 && ["live", "failed"].contains(&state_of(now, "Ann")[1])
    });
    assert_eq!(state_of(&now, "Ann"), ["live", "failed"]);
    until(place, "Ann plays", |now| {
        let board = now["board"].as_array().expect("a list");
        board.iter().any(|line| line["name"] == "Ann" && line["matches"].as_i64() >= Some(4))
    });
    // While paused, nothing more is played.
    assert!(out(&agon(place, &["serve", "pause", "cup"])).contains("It is paused"));
    let now = until(place, "what was begun ends, and is in the log", |now| {
        let matches = &now["matches"];
        matches["leased"] == 0 && matches["posted"] == 0 && matches["valid"] == matches["in_log"]
    });
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(status(place)["matches"]["in_log"], now["matches"]["in_log"]);
    assert!(out(&agon(place, &["serve", "resume", "cup"])).contains("It is resumed"));
    until(place, "it goes on", |later| {
        later["matches"]["in_log"].as_i64() > now["matches"]["in_log"].as_i64()
    });
    // Ctrl-C ends it in good order: no match is left with a worker.
    assert!(interrupt(&mut running).success());
    let now = status(place);
    assert_eq!(
        (&now["matches"]["leased"], &now["matches"]["posted"]),
        (&Value::from(0), &Value::from(0)),
        "{now:#}"
    );
    good(agon(place, &["serve", "fsck", "cup", "--replays"]));
    // A changed clock would mix results, and is refused by name.
    let file = place.join("cup/contest.toml");
    std::fs::write(&file, text.replace("\n[site]\n", "\ntime_scale = 2.0\n[site]\n")).expect("changed");
    let refused = agon(place, &["serve", "cup"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(err(&refused).contains("the clock changed"), "{}", err(&refused));
    // Changes made behind its back are found.
    let objects: Vec<_> = std::fs::read_dir(place.join("cup/objects")).expect("there").flatten().collect();
    std::fs::remove_dir_all(objects[0].path()).expect("removed");
    let damaged = agon(place, &["serve", "fsck", "cup"]);
    assert_eq!(damaged.status.code(), Some(1));
    assert!(out(&damaged).contains("is not there") && out(&damaged).contains("finding"), "{}", out(&damaged));
}

/// Kills the server at random moments under load. This is the short form; `cargo xtask long serve` sets the number.
#[test]
fn a_server_killed_at_any_moment_loses_nothing() {
    let kills: u32 = std::env::var("AGON_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(4);
    let folder = folder();
    let place = folder.path();
    begin(place);
    // It never reaches its number of matches, however long it runs.
    let file = place.join("cup/contest.toml");
    let text = std::fs::read_to_string(&file).expect("written");
    assert!(text.contains("matches = 400"), "{text}");
    good(agon(place, &["serve", "set", "cup", "matches=1000000"]));
    waiter(place, "ann");
    good(agon(place, &["serve", "add", "cup", "ann", "--team", "Ann"]));
    let mut chance = u64::from(std::process::id()) * 2 + 1;
    let (mut before, mut last) = (0, Value::Null);
    for kill in 1..=kills {
        let mut running = start(place);
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis(100 + (chance >> 33) % 1500));
        running.0.kill().expect("killed");
        running.0.wait().expect("it is gone");
        let checked = agon(place, &["serve", "fsck", "cup"]);
        assert!(checked.status.success(), "kill {kill}: {}{}", out(&checked), err(&checked));
        last = status(place);
        let sealed = last["matches"]["in_log"].as_i64().expect("a number");
        assert!(sealed >= before, "kill {kill}: the log only grows: {before}, {sealed}");
        before = sealed;
    }
    // The next start repairs by itself what is left over.
    let mut running = start(place);
    until(place, "it goes on", |now| now["matches"]["in_log"].as_i64() > Some(before + 8));
    assert!(interrupt(&mut running).success());
    let now = status(place);
    let count = |what: &str| now["matches"][what].as_i64().expect("a number");
    assert_eq!(count("leased"), 0, "{now:#}");
    // A match hit by three kills is given up, like one that brings its worker down.
    assert!(3 * count("dead") <= count("wasted_tries"), "{now:#}");
    good(agon(place, &["serve", "fsck", "cup", "--replays"]));
    println!(
        "{kills} kills: {} results in the log, {} tries lost, {} matches given up after three",
        count("in_log"),
        count("wasted_tries"),
        count("dead")
    );
    drop(last);
}

/// Pages, recomputation and the database stay off the CPU of a match.
#[cfg(target_os = "linux")]
#[test]
fn all_else_keeps_off_the_cpus_of_matches() {
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    if all < 2 {
        return println!("skipped: this machine has one CPU");
    }
    let folder = folder();
    begin(folder.path());
    let running = start(folder.path());
    let threads = || {
        let tasks =
            std::fs::read_dir(format!("/proc/{}/task", running.0.id())).into_iter().flatten().flatten();
        let allowed = |task: std::fs::DirEntry| {
            let status = std::fs::read_to_string(task.path().join("status")).ok()?;
            Some(status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?.trim().to_owned())
        };
        tasks.filter_map(allowed).collect::<Vec<_>>()
    };
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let found = threads();
        let mut kinds = found.clone();
        kinds.sort_unstable();
        kinds.dedup();
        // The thread that plays has its own CPU; all others have the rest.
        let counts: Vec<usize> =
            kinds.iter().map(|kind| found.iter().filter(|own| *own == kind).count()).collect();
        if counts.len() == 2 && counts.contains(&1) && found.len() > 4 {
            return;
        }
        assert!(Instant::now() < end, "{found:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Submissions are unpacked, built and played in the sandbox, with the packages of the contest and nothing else; the
/// results of the attacks on its walls are kept.
#[cfg(target_os = "linux")]
#[test]
fn a_contest_holds_its_bots() {
    let program = Path::new(env!("CARGO_BIN_EXE_agon"));
    let found = agon_sandbox::probe(program);
    if found.level > agon_sandbox::Level::B {
        return println!("skipped: level {} here: {:?}", found.level, found.missing);
    }
    let folder = folder();
    let place = folder.path();
    begin(place);
    let packages = place.join("cup/packages");
    std::fs::create_dir(&packages).expect("a folder");
    std::fs::write(packages.join("answer"), "WAIT").expect("a file");
    let file = place.join("cup/contest.toml");
    let text = std::fs::read_to_string(&file).expect("written");
    let more = "packages = ['packages']\nenv = { PACKAGES = '";
    // What is this machine's own stays in the file.
    let text = text.replace("# [sandbox]\n", "[sandbox]\n");
    let text = text.replace("\n[sandbox]\n", &format!("\n[sandbox]\n{more}{}' }}\n", packages.display()));
    assert!(text.contains(more), "{text}");
    std::fs::write(&file, text).expect("written");
    waiter(place, "ann");
    let answer =
        "cat $PACKAGES/answer > made && ! echo x > $PACKAGES/answer && ! ls ../../.. | grep -q agon.db";
    let bot = place.join("ann");
    std::fs::write(bot.join("build.sh"), format!("{answer} && ls /proc | grep -c '^[0-9]' >&2\n"))
        .expect("a file");
    std::fs::write(bot.join("agon.toml"), "build = \"sh build.sh\"\nrun = \"sh run.sh\"\n").expect("a file");
    let plays = crate::common::WAITER.replace("echo WAIT", "cat made $PACKAGES/answer | head -c 4; echo");
    std::fs::write(bot.join("run.sh"), plays.replace("i=0;", "[ -w made ] && exit 3; i=0;")).expect("a file");
    let mut running = start(place);
    good(agon(place, &["serve", "add", "cup", "ann", "--team", "Ann"]));
    let now = until(place, "it was checked", |now| matches!(state_of(now, "Ann")[..], ["live"] | ["failed"]));
    assert_eq!(state_of(&now, "Ann"), ["live"], "{now:#}");
    assert!(interrupt(&mut running).success());
    assert_eq!(std::fs::read_to_string(packages.join("answer")).expect("there"), "WAIT");
    let walls: Vec<_> = std::fs::read_dir(place.join("cup/walls")).expect("kept").flatten().collect();
    let table = std::fs::read(walls[0].path()).expect("a table");
    let table: Value = serde_json::from_slice(&table).expect("JSON");
    assert_eq!(table["level"], found.level.to_string());
    assert!(table["attacks"].as_array().is_some_and(|attacks| attacks.len() > 100), "{table:#}");
    // A packages entry that is not a folder which can be shown is an error.
    let text = std::fs::read_to_string(&file).expect("written");
    std::fs::write(&file, text.replace("['packages']", "['/proc']")).expect("written");
    let refused = agon(place, &["serve", "cup"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(err(&refused).contains("`/proc` is not a folder that bots can be shown"), "{}", err(&refused));
}

/// Without a sandbox nothing is played, unless the organiser says that the bots are trusted.
#[test]
fn a_machine_without_a_sandbox_plays_only_what_is_trusted() {
    for (without, word) in [("namespaces", "level C"), ("filter", "with your rights")] {
        let folder = folder();
        let run = |words: &[&str]| {
            let mut agon = command(folder.path(), words);
            agon.env("AGON_SANDBOX_WITHOUT", without).output().expect("agon starts")
        };
        let refused =
            run(&["serve", "cup", "--new", "cultist-wars", "--matches", "2", "-j", "1", "--no-site"]);
        assert_eq!(refused.status.code(), Some(3), "{}", err(&refused));
        for part in ["cannot contain strangers' bots", "[sandbox]\ntrust_bots = true"] {
            assert!(err(&refused).contains(part), "{}", err(&refused));
        }
        trust(folder.path());
        let played = run(&["serve", "cup", "--matches", "2", "-j", "1", "--no-site"]);
        if without == "filter" && rustix::process::geteuid().is_root() {
            assert_eq!(played.status.code(), Some(3), "{}", err(&played));
            assert!(err(&played).contains("bots never run as root"), "{}", err(&played));
            continue;
        }
        assert!(played.status.success(), "{}", err(&played));
        assert!(
            out(&played).contains("You trust these bots") && out(&played).contains(word),
            "{}",
            out(&played)
        );
    }
}

/// Trust is for what was known when it was given: a machine that has lost its walls since then plays nothing.
#[test]
fn a_contest_does_not_fall_below_the_level_of_its_founding() {
    let folder = folder();
    let run = |without: &str, more: &[&str]| {
        let words = [&["serve", "cup", "--matches", "2", "-j", "1", "--no-site"], more].concat();
        let mut agon = command(folder.path(), &words);
        agon.env("AGON_SANDBOX_WITHOUT", without).output().expect("agon starts")
    };
    let file = folder.path().join("cup/contest.toml");
    // At level B it is asked whether matches are to be rated there.
    let asked = run("cgroup", &["--new", "cultist-wars"]);
    assert_eq!(asked.status.code(), Some(3), "{}", err(&asked));
    for part in ["level B", "CPU time is sampled", "level = \"B\"", "--level B"] {
        assert!(err(&asked).contains(part), "{part}: {}", err(&asked));
    }
    std::fs::remove_dir_all(folder.path().join("cup")).expect("our own");
    good(run("cgroup", &["--new", "cultist-wars", "--level", "B"]));
    let text = std::fs::read_to_string(&file).expect("there");
    assert!(text.contains("[sandbox]\nlevel = \"B\"\n"), "{text}");
    good(agon(folder.path(), &["serve", "set", "cup", "trust_bots=true"]));
    for without in ["namespaces", "filter"] {
        let refused = run(without, &[]);
        assert_eq!(refused.status.code(), Some(3), "{}", err(&refused));
        assert!(err(&refused).contains("contained at level B or better"), "{}", err(&refused));
    }
    good(run("cgroup", &[]));
}

#[test]
fn settings_are_changed_by_a_command_and_a_file_decides_nothing_after_the_founding() {
    let folder = folder();
    let place = folder.path();
    std::fs::create_dir(place.join("cup")).expect("a folder");
    let file = "game = 'cultist-wars'\n[site]\nbosses = ['builtin:random', 'builtin:greedy']\n[ladder]\nmatches = 50\n[sandbox]\nlevel = 'A'\n";
    std::fs::write(place.join("cup/contest.toml"), file).expect("a file");
    let none = agon(place, &["serve", "set", "cup"]);
    assert!(
        none.status.code() == Some(2) && err(&none).contains("there is no contest in it"),
        "{}",
        err(&none)
    );
    let serve = || {
        let mut serving = command(place, &["serve", "cup", "-j", "0", "--no-site"]);
        let mut serving =
            Running(serving.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("agon starts"));
        let (mut said, mut noted) = (String::new(), String::new());
        let mut lines = BufReader::new(serving.0.stdout.take().expect("piped"));
        while !said.contains("Ctrl-C stops it") {
            assert!(lines.read_line(&mut said).expect("read") > 0, "it ended: {said}");
        }
        assert!(interrupt(&mut serving).success());
        serving.0.stderr.take().expect("piped").read_to_string(&mut noted).expect("read");
        said + &noted
    };
    assert!(!serve().contains("contest.toml says"), "it was founded by that file");
    let set = |changes: &[&str]| agon(place, &[&["serve", "set", "cup"], changes].concat());
    let told = good(set(&["matches=60", "closes=2026-12-05T18:00", "time_zone=Europe/Vienna"]));
    assert!(
        out(&told)
            .contains("time_zone UTC → Europe/Vienna; closes none → 2026-12-05T18:00:00; matches 50 → 60"),
        "{}",
        out(&told)
    );
    assert!(out(&good(set(&["matches=60"]))).contains("Nothing changed"), "it is so already");
    let json: Value = serde_json::from_slice(&good(set(&["--json"])).stdout).expect("JSON");
    let all = json["settings"].as_array().expect("a list");
    let value = |key: &str| all.iter().find(|one| one["key"] == key).map(|one| one["value"].clone());
    assert_eq!((value("matches"), value("closes")), (Some("60".into()), Some("2026-12-05T18:00:00".into())));
    let listed = good(set(&[]));
    assert!(
        out(&listed).contains("bosses") && out(&listed).contains("builtin:random,builtin:greedy"),
        "{}",
        out(&listed)
    );
    for (wrong, says) in [
        ("team-size=2", "`team-size` is not a setting; did you mean `team_size`?"),
        ("team_size", "write KEY=VALUE"),
        ("team_size=0", "Team size: a number from 1 to 20."),
        ("image=3f9c", "Image: there is no image `3f9c`"),
        ("bosses=builtin:greedi", "Bosses: `builtin:greedi` is not a built-in bot"),
    ] {
        let refused = set(&[wrong]);
        assert!(
            refused.status.code() == Some(2) && err(&refused).contains(says),
            "{wrong}: {}",
            err(&refused)
        );
    }
    // The file is as it was, and that is said; what holds is what was set.
    let said = serve();
    assert!(
        said.contains("matches = 50, and 60 holds")
            && said.contains("`agon serve set cup KEY=VALUE` changes what holds"),
        "{said}"
    );
    // A backup, and a move, take the settings along.
    good(agon(place, &["serve", "backup", "cup", "cup.backup"]));
    good(agon(place, &["serve", "restore", "cup.backup", "again"]));
    let again = good(agon(place, &["serve", "set", "again", "--json"]));
    assert_eq!(again.stdout, set(&["--json"]).stdout);
    good(agon(place, &["serve", "fsck", "again", "--replays"]));
}

#[test]
fn wrong_use_is_said_in_a_sentence() {
    moved_nowhere();
    let folder = folder();
    let place = folder.path();
    std::fs::write(place.join("notes.txt"), "what I meant to do\n").expect("a file");
    let cases: [(&[&str], &str); 9] = [
        (&["serve"], "DIR"),
        (&["serve", "nowhere"], "agon serve nowhere --new GAME"),
        (&["serve", "cup", "--new", "cultist-war"], "did you mean `cultist-wars`?"),
        (&["serve", "status", "nowhere"], "there is no contest in it"),
        (&["serve", "fsck", "nowhere"], "there is no contest in it"),
        (&["serve", "add", "nowhere", "x", "--team", "A"], "no such file or folder"),
        (
            &["serve", "add", "nowhere", "notes.txt", "--team", "A"],
            "`notes.txt`: `.txt` is not a program but a document",
        ),
        (&["serve", "cup", "--matches", "0"], "--matches"),
        (&["serve", "pause", "nowhere"], "there is no contest in it"),
    ];
    for (arguments, wanted) in cases {
        let output = agon(place, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", err(&output));
        assert!(err(&output).contains(wanted), "{arguments:?}: {}", err(&output));
    }
    let missing = agon(place, &["serve", "status", "nowhere", "--json"]);
    assert!(out(&missing).contains(r#""code":"not-found""#), "{}", out(&missing));
    // No contest is founded if its site cannot open.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("bound").port().to_string();
    let output = agon(place, &["serve", "cup", "--new", "cultist-wars", "--port", &port]);
    assert_eq!(output.status.code(), Some(2), "{}", err(&output));
    assert!(
        err(&output).contains("choose another one with --port") && !place.join("cup").exists(),
        "{}",
        err(&output)
    );
    std::fs::write(place.join("file"), "").expect("a file");
    let output = agon(place, &["serve", "file", "--new", "cultist-wars", "--no-site"]);
    assert_eq!(output.status.code(), Some(2), "{}", err(&output));
    assert!(err(&output).contains("that is a file"), "{}", err(&output));
    std::fs::create_dir(place.join("cup")).expect("a folder");
    std::fs::write(
        place.join("cup/contest.toml"),
        "game = 'cultist-wars'\n[site]\nbosses = ['builtin:greedi']\n",
    )
    .expect("a file");
    let output = agon(place, &["serve", "cup"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        err(&output).contains("contest.toml:2:") && err(&output).contains("builtin:greedi"),
        "{}",
        err(&output)
    );
    // The tournament command says what it misses in such a file.
    let output = agon(place, &["tournament", "cup/contest.toml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("`seed` is missing"), "{}", err(&output));
}

#[test]
fn objects_lie_where_the_organiser_wants_them() {
    let folder = folder();
    let place = folder.path();
    let serve = |more: &[&str]| {
        agon(place, &[&["serve", "cup", "--matches", "1", "-j", "1", "--no-site", "-q"], more].concat())
    };
    std::fs::create_dir(place.join("cup")).expect("a folder");
    std::fs::write(place.join("cup/contest.toml"), "game = 'cultist-wars'\n[sandbox]\ntrust_bots = true\n")
        .expect("a file");
    good(serve(&[]));
    let move_to = |to: &str| agon(place, &["serve", "move", "cup", "--objects", to]);
    for wrong in ["s3://", "https://bucket/x", "s3://KEY:SECRET@bucket", "cup/objects"] {
        let refused = move_to(wrong);
        assert_eq!(refused.status.code(), Some(2), "{wrong}: {}", err(&refused));
        assert!(!err(&refused).contains("database"), "{}", err(&refused));
    }
    let moved = move_to("big disk");
    assert!(moved.status.success() && out(&moved).contains("are in big disk now"), "{}", err(&moved));
    std::fs::remove_dir_all(place.join("cup/objects")).expect("not needed any more");
    let played = good(serve(&["--log", "json"]));
    for line in err(&played).lines() {
        let line: Value = serde_json::from_str(line).expect("a line of JSON");
        assert!(line["level"].is_string() && line["message"].is_string(), "{line}");
    }
    assert!(err(&played).contains("\"begins\"") && err(&played).contains("\"ends\""), "{}", err(&played));
    good(agon(place, &["serve", "fsck", "cup", "--replays"]));
    assert!(!place.join("cup/objects").exists(), "nothing is kept in two places");
    let back = move_to("cup/objects");
    assert!(back.status.success() && !place.join("cup/objects.url").exists(), "{}", err(&back));
    // From the first day on.
    let begun =
        ["serve", "new", "--new", "cultist-wars", "--objects", "other", "--matches", "1", "--no-site", "-q"];
    let begun = agon(place, &begun);
    let is_held = begun.status.success() || err(&begun).contains("cannot contain strangers' bots");
    assert!(is_held && place.join("new/objects.url").is_file(), "{}", err(&begun));
}
