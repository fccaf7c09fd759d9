//! The command line as a user meets it: real processes, real bots, exact messages.
//!
//! Longer than 500 lines: one test for each promise of the command line.

use std::process::Command;

use crate::common::{agon, err, folder, good, json, out, write};

/// A bot that always waits, in Python.
const WAITER: &str = "
import sys
def block(n):
    for _ in range(n): sys.stdin.readline()
block(9)
while True:
    line = sys.stdin.readline()
    if not line: break
    block(int(line))
    print('I wait', file=sys.stderr, flush=True)
    print('WAIT', flush=True)
";

#[test]
fn a_match_is_played_shown_and_recorded() {
    let folder = folder();
    write(folder.path(), "waiter.py", WAITER);
    let played = agon(folder.path(), &["play", "cultist-wars", "waiter.py", "builtin:greedy", "--seed", "3"]);
    let text = out(&played);
    assert!(played.status.success(), "{text}{}", err(&played));
    assert!(text.contains("greedy wins after"), "{text}");
    assert!(text.contains("Cultist Wars · standard · seed 3"), "{text}");
    let replay = "agon-replays/cultist-wars-3.replay";
    assert!(text.contains(replay), "{text}");
    let verified = agon(folder.path(), &["replay", "verify", replay]);
    assert!(verified.status.success() && out(&verified).contains("verified"), "{}", out(&verified));
    let info = out(&agon(folder.path(), &["replay", "info", replay]));
    assert!(info.contains("waiter.py") && info.contains("builtin:greedy"), "{info}");
    let shown = out(&agon(folder.path(), &["replay", "show", replay, "--turn", "0"]));
    assert!(shown.contains("before turn 1"), "{shown}");
    let second =
        agon(folder.path(), &["play", "cultist-wars", "waiter.py", "builtin:greedy", "--seed", "3", "-q"]);
    assert!(out(&second).contains("agon-replays/cultist-wars-3-2.replay"), "a replay is never overwritten");
}

#[test]
fn the_json_result_has_the_one_shape() {
    let folder = folder();
    let arguments =
        ["play", "cultist-wars", "builtin:random", "builtin:random", "--seed", "-5", "--json", "--no-replay"];
    let result = json(&agon(folder.path(), &arguments));
    assert_eq!(result["game"], "cultist-wars");
    assert_eq!(result["seed"], "-5");
    assert_eq!(result["rules"], "standard");
    assert_eq!(result["seats"][1]["seat"], 2);
    assert!(result["seats"][0]["time"]["wall_ms"].is_number() && result["outcome"]["reason"].is_string());
    assert!(!folder.path().join("agon-replays").exists(), "--no-replay leaves nothing behind");
}

#[test]
fn the_same_seed_gives_the_same_match() {
    let folder = folder();
    let play = |file: &str| {
        let arguments = [
            "play",
            "cultist-wars",
            "builtin:random",
            "builtin:greedy",
            "--seed",
            "9",
            "--replay",
            file,
            "-q",
        ];
        good(agon(folder.path(), &arguments));
        let export = json(&agon(folder.path(), &["replay", "export", file, "--format", "json"]));
        (export["steps"].clone(), export["end"]["state"].clone())
    };
    assert_eq!(play("a.replay"), play("b.replay"));
}

#[test]
fn the_exported_input_drives_the_bot_again() {
    let folder = folder();
    write(folder.path(), "waiter.py", WAITER);
    agon(
        folder.path(),
        &["play", "cultist-wars", "builtin:greedy", "waiter.py", "--seed", "1", "--replay", "m.replay"],
    );
    let input =
        agon(folder.path(), &["replay", "export", "m.replay", "--input", "--seat", "2", "--until", "3"]);
    let text = out(&input);
    assert!(text.starts_with("1\n13 7\n"), "{text}");
    let blocks = text.lines().filter(|line| line.split(' ').count() == 1 && line.len() == 2).count();
    assert_eq!(blocks, 3, "three lists of units: {text}");
    write(folder.path(), "input", &text);
    let again = Command::new("python3")
        .arg("waiter.py")
        .current_dir(folder.path())
        .stdin(std::fs::File::open(folder.path().join("input")).expect("the file is there"))
        .output()
        .expect("python3 starts");
    assert_eq!(String::from_utf8_lossy(&again.stdout), "WAIT\nWAIT\nWAIT\n");
}

#[test]
fn an_altered_replay_is_told_apart_with_its_turn() {
    let folder = folder();
    let path = folder.path().join("m.replay");
    let arguments = [
        "play",
        "cultist-wars",
        "builtin:random",
        "builtin:random",
        "--seed",
        "2",
        "--replay",
        "m.replay",
        "-q",
    ];
    good(agon(folder.path(), &arguments));
    let good = std::fs::read(&path).expect("the replay is there");
    let replay = agon_replay::Replay::read(&good).expect("a good replay");
    // Rewritten with another answer in step 40: every check of the format still passes.
    let mut writer = agon_replay::Writer::new(Vec::new(), &replay.header).expect("a vector takes all");
    for (number, step) in replay.steps.iter().enumerate() {
        let mut answers = step.answers.clone();
        if number == 39 {
            answers[0].1 = agon_game::Answer::Missing(agon_game::Absence::TimedOut);
        }
        writer.step(&answers, u64::from(step.check)).expect("a vector takes all");
    }
    let end = replay.end.expect("it was finished");
    std::fs::write(&path, writer.finish(end).expect("a vector takes all")).expect("a file is written");
    let verified = agon(folder.path(), &["replay", "verify", "m.replay"]);
    assert_eq!(verified.status.code(), Some(1));
    assert!(out(&verified).contains("altered: breaks at step 40 of"), "{}", out(&verified));
    // A cut-off replay is read as far as it goes.
    std::fs::write(&path, &good[..good.len() - 5]).expect("a file is written");
    let cut = agon(folder.path(), &["replay", "verify", "m.replay"]);
    assert!(out(&cut).contains("cut off: the first"), "{}", out(&cut));
    // A damaged byte is noticed before anything is computed.
    let mut damaged = good;
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    std::fs::write(&path, damaged).expect("a file is written");
    let output = agon(folder.path(), &["replay", "verify", "m.replay"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("damaged"), "{}", err(&output));
}

#[test]
fn referee_prints_what_brutaltester_reads() {
    let folder = folder();
    write(folder.path(), "waiter.py", WAITER);
    let arguments = [
        "referee",
        "cultist-wars",
        "-p1",
        "python3 waiter.py",
        "-p2",
        "builtin:greedy",
        "-d",
        "seed=77",
        "-l",
        "log.json",
    ];
    let output = agon(folder.path(), &arguments);
    let text = out(&output);
    let lines: Vec<&str> = text.lines().collect();
    assert!(output.status.success(), "{}", err(&output));
    assert_eq!(lines.len(), 3, "{text}");
    assert!(lines[0].parse::<i32>().is_ok() && lines[1].parse::<i32>().is_ok());
    assert_eq!(lines[2], "seed=77");
    let log: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path().join("log.json")).expect("a log"))
            .expect("JSON");
    assert_eq!(log["answers"][0]["answer"], "WAIT");
    assert_eq!(log["answers"][0]["stderr"], "I wait\n");
}

/// Wrong usage: one clear message, the right exit code, never a panic.
#[test]
fn wrong_usage_is_answered_clearly() {
    let folder = folder();
    write(folder.path(), "bad.toml", "number_of_turns = 10\nshooting_ragne = 3\n");
    write(folder.path(), "noise.replay", "this is not a replay");
    write(folder.path(), "waiter.py", WAITER);
    let cases: &[(&[&str], &str)] = &[
        (&["play", "cultist-war", "builtin:idle", "builtin:idle"], "did you mean `cultist-wars`?"),
        (&["play", "cultist-wars", "builtin:idle"], "is played by 2 bots, not by 1"),
        (
            &["play", "cultist-wars", "builtin:idle", "builtin:idle", "builtin:idle"],
            "is played by 2 bots, not by 3",
        ),
        (&["play", "cultist-wars", "builtin:idle", "nothing.py"], "no such file or folder"),
        (&["play", "cultist-wars", "builtin:idle", "builtin:genius"], "genius"),
        (&["play", "cultist-wars", "builtin:idle", "builtin:idle?speed"], "KEY=VALUE"),
        (
            &["play", "cultist-wars", "builtin:idle", "builtin:idle", "--rules", "standrad"],
            "did you mean `standard`?",
        ),
        (
            &["play", "cultist-wars", "builtin:idle", "builtin:idle", "--rules", "bad.toml"],
            "bad.toml: no rule is called `shooting_ragne`; did you mean `shooting_range`",
        ),
        (&["play", "cultist-wars", "builtin:idle", "builtin:idle", "--set", "turns"], "write RULE=VALUE"),
        (
            &["play", "cultist-wars", "builtin:idle", "builtin:idle", "--set", "number_of_turns=many"],
            "whole number",
        ),
        (&["play", "cultist-wars", "builtin:idle", "builtin:idle", "--map", "nowhere"], "nowhere"),
        (&["play", "cultist-wars", "builtin:idle", "builtin:idle", "--view", "3"], "a seat from 1 to 2"),
        (&["play", "cultist-wars", "builtin:idle", "builtin:idle", "--name", "5=x"], "NUMBER=LABEL"),
        (&["play", "cultist-wars", "builtin:idle", "builtin:idle", "--time-scale", "0"], "above 0"),
        (
            &["play", "cultist-wars", "builtin:idle", "builtin:idle", "-n", "100"],
            "agon gauntlet cultist-wars",
        ),
        (&["replay", "info", "noise.replay"], "not a replay of agon"),
        (&["replay", "info", "nothing.replay"], "nothing.replay"),
        (&["explain", "CW-SHOT-1"], "did you mean CW-SHOOT-1?"),
        (&["rules", "cultist-wars", "--preset", "x"], "standard"),
        (&["conform", "cultist-wars", "nowhere"], "no such file or folder"),
        (&["maps", "chess"], "games:"),
        (
            &["maps", "jungle-blitz", "easy-pnd"],
            "jungle-blitz has no map `easy-pnd`; did you mean `easy-pond`? See `agon maps jungle-blitz`",
        ),
        (&["maps", "cultist-wars", "generate"], "has no map files"),
        (
            &["play", "jungle-blitz", "builtin:idle", "builtin:idle", "--set", "unitsPerTeam=300"],
            "unitsPerTeam=300: 300 is not a whole number from 0 to 255",
        ),
        (
            &["play", "jungle-blitz", "builtin:idle", "builtin:idle", "--set", "unitsPerTeam=1.5"],
            "`unitsPerTeam` must be a whole number, not 1.5",
        ),
    ];
    for (arguments, expected) in cases {
        let output = agon(folder.path(), arguments);
        let text = err(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(expected), "{arguments:?}: expected `{expected}` in: {text}");
        assert!(!text.contains("panicked") && !text.contains("RUST_BACKTRACE"), "{arguments:?}: {text}");
    }
}

/// A bot that cannot be started loses; the match is played and says why.
#[test]
fn a_bot_that_cannot_start_loses_with_a_reason() {
    let folder = folder();
    write(folder.path(), "plain", "not a program");
    write(folder.path(), "windows", "#!/bin/sh\r\necho WAIT\r\n");
    use std::os::unix::fs::PermissionsExt as _;
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path().join("windows"), executable).expect("permissions");
    for (bot, expected) in [
        // To make a text executable would not help.
        ("plain", "it is not a program"),
        ("windows", "Windows line ending"),
        ("cmd:no-such-program-anywhere x", "not installed or not on the PATH"),
    ] {
        let arguments = ["play", "cultist-wars", bot, "builtin:idle", "--json", "--no-replay", "--seed", "1"];
        let output = agon(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(1), "{bot}: {}", err(&output));
        let result = json(&output);
        let fault = &result["seats"][0]["faults"][0];
        assert_eq!(fault["kind"], "never-started", "{bot}");
        assert!(fault["message"].as_str().is_some_and(|text| text.contains(expected)), "{bot}: {fault}");
        assert_eq!(
            (&result["seats"][0]["score"], &result["seats"][1]["score"]),
            (&(-1.0).into(), &0.0.into())
        );
    }
}

/// A mistyped name starts no match and leaves no file; what was there before stays unchanged.
#[test]
fn without_a_match_there_is_no_file() {
    let folder = folder();
    write(folder.path(), "kept.replay", "of yesterday");
    let typo = ["cultist-wars", "waitr.py", "builtin:idle"];
    for more in [&[][..], &["--replay", "new.replay"], &["--replay", "kept.replay"]] {
        let arguments: Vec<&str> = ["play"].iter().chain(&typo).chain(more).copied().collect();
        let output = agon(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(2), "{}", err(&output));
    }
    for command in ["gauntlet", "sprt", "tournament"] {
        let arguments: Vec<&str> = [command].iter().chain(&typo).copied().collect();
        assert_eq!(agon(folder.path(), &arguments).status.code(), Some(2), "{command}");
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").flatten().collect();
    let names: Vec<_> = left.iter().map(|entry| entry.file_name()).collect();
    assert_eq!(names, ["kept.replay"]);
    assert_eq!(std::fs::read(folder.path().join("kept.replay")).expect("a file"), b"of yesterday");
}

/// A record of the original is recognised by its content; comparing nothing is no success.
#[test]
fn conform_needs_a_record() {
    let folder = folder();
    write(folder.path(), "notes.txt", "nothing of interest");
    let output = agon(folder.path(), &["conform", "cultist-wars", "."]);
    assert_eq!(output.status.code(), Some(1));
    assert!(out(&output).contains("nothing compared"), "{}", out(&output));
    let found = json(&agon(folder.path(), &["conform", "cultist-wars", ".", "--json"]));
    assert_eq!((&found["records"], &found["foreign"], &found["good"]), (&0.into(), &1.into(), &false.into()));
}

#[test]
fn a_rule_is_explained_with_its_code_and_its_test() {
    let folder = folder();
    let text = out(&agon(folder.path(), &["explain", "cw-shoot-4"]));
    assert!(text.starts_with("CW-SHOOT-4"), "{text}");
    assert!(text.contains("decided in games/cultist-wars/src/shoot.rs:"), "{text}");
    assert!(text.contains("tested in  games/cultist-wars/spec/shoot.md:"), "{text}");
    assert!(text.contains("  Line::drawn\n"), "the function, not only its file: {text}");
}

#[test]
fn output_that_nobody_reads_is_no_error() {
    let command = format!("'{}' rules cultist-wars | head -n 1", env!("CARGO_BIN_EXE_agon"));
    let output = Command::new("sh").args(["-c", &command]).output().expect("a shell");
    assert!(err(&output).is_empty(), "{}", err(&output));
}

#[test]
fn map_files_are_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
    write("good.txt", "units for 2 teams: 1\nS.D.S\n");
    write("bad.txt", "units for 2 teams: 1\nS#D.S\n");
    write("deer.map", "xxxxx\nxwm x\nx r x\n");
    write("letter.txt", "Hello\n");
    let check = |arguments: &[&str]| {
        let run = Command::new(env!("CARGO_BIN_EXE_agon"));
        let mut run = run;
        let done = run.args(["maps", "check"]).args(arguments).current_dir(folder.path()).output();
        let done = done.expect("it runs");
        let said = [done.stdout, done.stderr].concat();
        (done.status.code(), String::from_utf8_lossy(&said).into_owned())
    };
    let (code, said) = check(&["good.txt", "deer.map"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("a map of Jungle Blitz") && said.contains("a map of Deerhunt"), "{said}");
    let (code, said) = check(&["bad.txt"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("no way leads to the diamond at (2, 0)"), "{said}");
    let (code, said) = check(&["letter.txt"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("no game can read this as a map"), "{said}");
    let (code, said) = check(&["letter.txt", "--game", "jungle-blitz", "--json"]);
    assert_eq!(code, Some(1), "{said}");
    let report: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    assert!(report[0]["errors"][0].as_str().is_some_and(|why| why.contains("`H` is not a tile")), "{said}");
    assert_eq!(check(&["nothing.txt"]).0, Some(2));
    assert_eq!(check(&["deer.map", "--game", "terminal"]).0, Some(2));
}

#[test]
fn a_map_made_from_a_seed_can_be_kept_and_played() {
    let folder = tempfile::tempdir().expect("a folder");
    for game in ["jungle-blitz", "ostibot"] {
        let made = out(&agon(folder.path(), &["maps", game, "generate", "--seed", "7"]));
        assert_ne!(made, out(&agon(folder.path(), &["maps", game, "generate", "--seed", "8"])));
        std::fs::write(folder.path().join("mine.map"), &made).expect("room");
        good(agon(folder.path(), &["maps", "check", "mine.map", "--game", game]));
        let play = |map: &str| {
            let arguments =
                ["play", game, "builtin:random", "builtin:random", "--seed", "7", "--json", "--no-replay"];
            let result = json(&agon(folder.path(), &[&arguments[..], &["--map", map]].concat()));
            result["seats"]
                .as_array()
                .expect("seats")
                .iter()
                .map(|seat| seat["score"].clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(play("generate"), play("./mine.map"), "{game}");
    }
}

/// Writes down its process id, and plays.
const PREY: &str = "echo $$ > pid; while true; do question; echo WAIT; done";
/// In its first match it stops the other bot with a signal, and plays.
const HUNTER: &str = "question; [ -e once ] || { : > once; kill -STOP $(cat pid); }
echo WAIT; while true; do question; echo WAIT; done";
/// Reads one question; the first one begins with nine more lines.
const READ: &str = "first=9
question() {
    while [ $first -gt 0 ]; do read -r line || exit 0; first=$((first-1)); done
    read -r units || exit 0
    while [ $units -gt 0 ]; do read -r line; units=$((units-1)); done
}
";

#[test]
fn referee_repeats_a_void_match_inside() {
    let folder = folder();
    for (name, bot) in [("prey.sh", PREY), ("hunter.sh", HUNTER)] {
        std::fs::write(folder.path().join(name), format!("{READ}{bot}\n")).expect("a file");
    }
    let words =
        ["referee", "cultist-wars", "-p1", "sh prey.sh", "-p2", "sh hunter.sh", "-d", "seed=4", "--json"];
    let output = agon(folder.path(), &words);
    let said = err(&output);
    assert!(said.contains("a signal of seat 2 stopped seat 1"), "{said}");
    assert!(said.contains("of 5); playing again"), "{said}");
    // The caller sees a single result.
    assert_eq!((output.status.code(), out(&output).lines().count()), (Some(0), 1), "{}{said}", out(&output));
    let result = json(&output);
    assert_eq!(result["errors"], serde_json::json!([0, 0]), "{result}{said}");
}

#[test]
fn referee_prints_what_psyleague_reads() {
    let folder = folder();
    write(folder.path(), "waiter.py", WAITER);
    write(folder.path(), "crash.py", "import sys\nsys.exit(3)\n");
    let line = |first: &str, seed: &str| {
        let played = good(agon(
            folder.path(),
            &["referee", "cultist-wars", "-p1", first, "-p2", "builtin:idle", "-d", seed, "--json"],
        ));
        assert_eq!(out(&played).lines().count(), 1);
        json(&played)
    };
    let good = line("waiter.py", "seed=5");
    assert_eq!((&good["errors"], &good["seed"]), (&serde_json::json!([0, 0]), &5.into()), "{good}");
    assert_eq!(good["scores"].as_array().map(Vec::len), Some(2), "{good}");
    // A crash is an error of its player, and still a result.
    let bad = line("crash.py", "seed=7");
    assert_eq!((&bad["errors"], &bad["seed"]), (&serde_json::json!([1, 0]), &7.into()), "{bad}");
    let typo = agon(
        folder.path(),
        &["referee", "cultist-wars", "-p1", "waiter.py", "-p2", "builtin:idle", "-d", "sed"],
    );
    assert!(typo.status.code() == Some(2) && err(&typo).contains("-d seed=5"), "{}", err(&typo));
}

#[test]
fn what_is_looked_up_can_be_had_as_json() {
    let folder = folder();
    let json = |arguments: &[&str]| {
        let done = agon(folder.path(), arguments);
        assert!(done.status.success(), "{arguments:?}: {}", err(&done));
        json(&done)
    };
    let rules = json(&["rules", "cultist-wars", "--json"]);
    assert!(
        rules["rules"].as_array().is_some_and(|rules| rules.iter().any(|rule| rule["id"] == "CW-SHOOT-3"))
    );
    let numbers = json(&["rules", "cultist-wars", "--preset", "standard", "--json"]);
    assert!(!numbers["rules"]["number_of_turns"].is_null(), "{numbers}");
    let differ = json(&["rules", "terminal", "--diff", "document", "europe-2025", "--json"]);
    assert!(!differ["differences"].as_array().expect("a list").is_empty());
    let rule = json(&["explain", "CW-SHOOT-3", "--json"]);
    assert!(rule["decided"][0]["line"].is_number() && rule["game"] == "cultist-wars", "{rule}");
    let maps = json(&["maps", "jungle-blitz", "--json"]);
    let name = maps["maps"][0]["name"].as_str().expect("a name").to_owned();
    assert_eq!(json(&["maps", "jungle-blitz", &name, "--json"])["text"], maps["maps"][0]["text"]);
    out(&agon(
        folder.path(),
        &["play", "terminal", "builtin:rush", "builtin:rush", "--seed", "1", "-q", "--replay", "t.replay"],
    ));
    let board = json(&["replay", "show", "t.replay", "--turn", "2", "--json"]);
    assert_eq!((&board["turn"], &board["outcome"]), (&2.into(), &serde_json::Value::Null), "{board}");
    assert!(board["lines"][0].is_string() && board["state"].is_object(), "{board}");
    let seen = json(&["replay", "show", "t.replay", "--turn", "2", "--view", "1", "--json"]);
    assert!(seen["state"].is_null(), "a seat's view holds nothing else: {seen}");
    let over = json(&["replay", "show", "t.replay", "--json"]);
    assert!(over["outcome"]["scores"].is_array() && over["before"].is_null(), "{over}");
    let frames = json(&["replay", "show", "t.replay", "--turn", "2", "--frame", "0", "--json"]);
    assert_eq!(frames[0]["frame"], 0);
    assert_eq!(json(&["replay", "show", "t.replay", "--stderr", "1", "--json"]), serde_json::json!([]));
}

#[test]
fn tables_of_a_series_keep_to_the_width_of_the_terminal() {
    let folder = folder();
    let bots = ["builtin:random"; 9];
    let mut words = vec!["tournament", "cultist-wars", "--games", "4", "--quiet", "--replays", "none"];
    words.extend(bots);
    out(&agon(folder.path(), &words));
    let widest = |more: &[&str]| {
        let journal = "agon-series/cultist-wars-tournament-1";
        let mut command = crate::common::command(folder.path(), &[&["rate", journal][..], more].concat());
        let text = out(&command.env("COLUMNS", "80").output().expect("agon starts"));
        assert!(text.contains("95 %") && text.contains("50 : 50 %"), "{text}");
        text.lines().map(|line| line.chars().count()).max().expect("tables")
    };
    assert!(widest(&[]) <= 80, "{}", widest(&[]));
    assert!(widest(&["--wide"]) > 80);
}

/// A map's file may hold one half, or only the seed; the drawing shows what is played.
#[test]
fn a_map_is_drawn_as_a_match_begins_on_it() {
    let folder = folder();
    let drawn = |words: &[&str]| out(&agon(folder.path(), words));
    let narrows = drawn(&["maps", "deerhunt", "narrows", "--draw"]);
    assert!(narrows.contains("M..M..M") && narrows.contains("m..m..m"), "both armies: {narrows}");
    let seed = |seed| drawn(&["maps", "cultist-wars", "generate", "--draw", "--seed", seed]);
    assert_ne!(seed("1"), seed("2"));
    let arena = drawn(&["maps", "terminal"]);
    assert!(arena.contains("always played on this map") && arena.lines().count() > 28, "{arena}");
}

/// The shell runs the program with the words typed so far, the last of which is to be completed.
#[test]
fn shells_complete_games_bots_presets_maps_and_rules() {
    let folder = folder();
    let complete = |words: &[&str]| {
        let mut command = crate::common::command(folder.path(), &[&["--", "agon"], words].concat());
        let at = words.len().to_string();
        let done = command.env("COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", at).env("_CLAP_IFS", "\n");
        out(&done.output().expect("agon starts")).lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(complete(&["play", "jungle-b"]), ["jungle-blitz"]);
    assert_eq!(complete(&["play", "terminal", "builtin:ru"]), ["builtin:rush"]);
    assert_eq!(complete(&["play", "ostibot", "--map", "clo"]), ["cloister"]);
    assert_eq!(complete(&["rules", "terminal", "--preset", "doc"]), ["document"]);
    assert_eq!(complete(&["explain", "cw-shoot-3"]), ["CW-SHOOT-3"]);
    let script = out(&agon(folder.path(), &["completions", "bash"]));
    assert!(script.contains("COMPLETE=\"bash\"") || script.contains("COMPLETE=bash"), "{script}");
}

#[test]
fn a_table_keeps_to_the_width_of_the_terminal() {
    let folder = folder();
    let long = format!("1={}", "a-long-name-for-a-bot-".repeat(4));
    let table = |columns: &str, more: &[&str]| {
        let words = [
            "play",
            "cultist-wars",
            "builtin:random",
            "builtin:random",
            "--quiet",
            "--no-replay",
            "--name",
            &long,
        ];
        let mut command = crate::common::command(folder.path(), &[&words[..], more].concat());
        let text = out(&command.env("COLUMNS", columns).output().expect("agon starts"));
        let lines = text.lines().skip_while(|line| !line.starts_with("seat")).take(3);
        lines.map(|line| line.chars().count()).max().expect("a table")
    };
    assert!(table("80", &[]) <= 80 && table("45", &[]) <= 45);
    assert!(table("80", &["--wide"]) > 80);
}
