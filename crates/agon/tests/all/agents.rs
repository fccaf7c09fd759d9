//! What a program needs that writes a bot: a folder that says what to type, one text to read, answers without a terminal, errors with
//! a code, and matches turn by turn.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::{Running, agon, command, err, folder, good, is_installed, json, out};

/// Every line that AGENTS.md says to type does something, as typed in a fresh folder, with fewer matches.
#[test]
fn what_agents_md_says_works_as_typed() {
    if !is_installed("python3") {
        return;
    }
    let place = folder();
    good(agon(place.path(), &["new", "cultist-wars", "python", "bot"]));
    let bot = place.path().join("bot");
    let text = std::fs::read_to_string(bot.join("AGENTS.md")).expect("it is there");
    let blocks = text.split("```sh\n").skip(1).flat_map(|block| block.split("```").next());
    let lines: Vec<&str> = blocks.flat_map(str::lines).collect();
    assert!(lines.len() >= 13, "{lines:?}");
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_agon")).parent().expect("a folder");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    for line in lines {
        let line = line.replace("-n 200", "-n 2 --time-scale 20");
        let line = line.replace("agon play ", "agon play --time-scale 20 ");
        let line = line.replace("agon check ", "agon check --time-scale 20 ");
        let mut typed = Command::new("sh");
        typed.args(["-c", &line]).current_dir(&bot).env("PATH", &path).stdin(Stdio::null());
        let output = typed.output().expect("a shell");
        // The bot is the one that was pinned, and both being the same is the answer.
        let same = line.starts_with("agon sprt") && err(&output).contains("NEW is OLD");
        assert!(output.status.success() || same, "{line}: {}{}", out(&output), err(&output));
        assert!(!out(&output).contains('\u{1b}'), "{line}: no colours where no terminal is");
    }
    let packed = json(&agon(&bot, &["pack", ".", "--json"]));
    assert_eq!(packed["files"], serde_json::json!(["bot.py"]));
}

#[test]
fn the_guide_is_one_text_for_programs() {
    let place = folder();
    let whole = out(&good(agon(place.path(), &["docs", "--llms"])));
    assert!(whole.starts_with("# The guide to agon\n") && whole.len() > 300_000);
    let game = out(&good(agon(place.path(), &["docs", "--llms", "cultist-wars"])));
    assert!(game.contains("**CW-SHOOT-3**") && game.contains("builtin:greedy") && !game.contains('\u{1b}'));
    let page = json(&agon(place.path(), &["docs", "--llms", "cultist-wars", "--json"]));
    assert_eq!(page["markdown"].as_str(), Some(game.as_str()));
    let wrong = agon(place.path(), &["docs", "--llms", "chess"]);
    assert!(wrong.status.code() == Some(2) && err(&wrong).contains("chess"), "{}", err(&wrong));
}

/// With `--json` a failure is one object with a code that stays, and the exit code is what it is without.
#[test]
fn failures_have_codes() {
    let place = folder();
    std::fs::write(place.path().join("token"), "abc").expect("written");
    std::fs::write(place.path().join("bad.toml"), "not a replay").expect("written");
    for (line, code, exit) in [
        ("frobnicate --json", "usage", 2),
        ("play cultist-wars builtin:greedy builtin:idle --seed x --json", "usage", 2),
        ("play cultist-wars builtin:greedy --json", "usage", 2),
        ("serve pause --json", "usage", 2),
        ("play chess a b --json", "not-found", 2),
        ("play cultist-wars builtin:greedy builtin:idle --rules none.toml --json", "usage", 2),
        ("replay info none.replay --json", "not-found", 2),
        ("replay info bad.toml --json", "usage", 2),
        ("explain CW-NONE-1 --json", "not-found", 2),
        ("docs nowhere --json", "not-found", 2),
        ("play cultist-wars none.py builtin:idle --json", "bot", 2),
        ("login http://127.0.0.1:9 --token-file token --json", "network", 3),
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        let failed = agon(place.path(), &words);
        let told = json(&failed);
        assert_eq!(
            (told["error"]["code"].as_str(), failed.status.code()),
            (Some(code), Some(exit)),
            "{line}: {told}"
        );
        assert_eq!(out(&failed).lines().count(), 1, "{line}");
        let message = told["error"]["message"].as_str().expect("a sentence");
        let first = message.lines().next().unwrap_or_default();
        assert!(
            !first.is_empty() && !first.starts_with("error") && err(&failed).contains(first),
            "{line}: {told}"
        );
        let plain: Vec<&str> = words.into_iter().filter(|word| *word != "--json").collect();
        let plain = agon(place.path(), &plain);
        assert_eq!((out(&plain).as_str(), plain.status.code()), ("", Some(exit)), "{line}");
    }
    // Where a result was printed, nothing follows it.
    std::fs::write(place.path().join("mute.sh"), "exit 3\n").expect("written");
    let checked = agon(place.path(), &["check", "cultist-wars", "cmd:sh mute.sh", "--json"]);
    assert!(checked.status.code() == Some(1) && json(&checked)["failed"].as_u64() >= Some(1));
}

/// Nothing asks where no terminal is, and what is to be said instead is named.
#[test]
fn nothing_is_asked_without_a_terminal() {
    let place = folder();
    let refused = agon(place.path(), &["login", "http://127.0.0.1:9"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(err(&refused).contains("--token-file"), "{}", err(&refused));
    // A series that would ask how long it shall be, and a viewer that would wait for Enter, do not.
    let line = ["gauntlet", "cultist-wars", "builtin:greedy", "builtin:idle", "-n", "2"];
    good(agon(place.path(), &line));
}

#[test]
fn a_match_is_played_as_far_as_a_turn() {
    let place = folder();
    let line = ["play", "cultist-wars", "builtin:greedy", "builtin:hunter", "--seed", "7", "--until", "20"];
    let shown = out(&good(agon(place.path(), &line)));
    assert!(shown.contains("before turn 20, player 2") && !shown.contains('\u{1b}'), "{shown}");
    let board = json(&agon(place.path(), &[&line[..], &["--json", "--no-replay"]].concat()));
    assert_eq!((&board["turn"], &board["deciding"]), (&20.into(), &serde_json::json!([2])), "{board}");
    assert!(
        board["state"].is_object()
            && shown.starts_with(board["lines"][0].as_str().expect("a line").trim_end())
    );
    let start = json(&agon(place.path(), &[&line[..7], &["0", "--json", "--no-replay"]].concat()));
    assert_eq!(start["turn"], 1, "the start: {start}");
    // It is the position of the whole match.
    good(agon(place.path(), &[&line[..6], &["--replay", "whole.replay", "-q"]].concat()));
    let whole = json(&agon(place.path(), &["replay", "show", "whole.replay", "--turn", "20", "--json"]));
    assert_eq!(whole, board);
    let over = agon(place.path(), &[&line[..7], &["900", "--no-replay"]].concat());
    assert!(
        err(&over).contains("the match was over before turn 900") && out(&over).contains(" after "),
        "{}",
        err(&over)
    );
}

/// A program plays a seat through pipes, in a game with answers of one line and one with answers of several.
#[test]
fn a_seat_is_played_on_standard_input() {
    let place = folder();
    for (game, answer, rounds) in [("cultist-wars", "WAIT\n", 3), ("terminal", "[]\n[]\n", 3)] {
        let opponent = if game == "terminal" { "builtin:rush" } else { "builtin:idle" };
        let line = ["play", game, "human", opponent, "--seed", "1", "--step", "--json", "--no-replay"];
        let mut play = command(place.path(), &line);
        let play = play.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut play = Running(play.spawn().expect("agon starts"));
        let mut input = play.0.stdin.take().expect("piped");
        let mut output = BufReader::new(play.0.stdout.take().expect("piped"));
        let mut last = None;
        for round in 0..rounds {
            let mut asked = String::new();
            output.read_line(&mut asked).expect("a line");
            let asked: Value =
                serde_json::from_str(&asked).unwrap_or_else(|error| panic!("{game}: {error}: {asked}"));
            assert_eq!(
                (asked["event"].as_str(), asked["seat"].as_u64()),
                (Some("asked"), Some(1)),
                "{asked}"
            );
            assert!(asked["question"].as_str().is_some_and(|text| !text.is_empty()), "{asked}");
            assert!(asked["lines"].as_array().is_some_and(|lines| !lines.is_empty()), "{asked}");
            assert!(last < asked["turn"].as_u64(), "{game}, round {round}: {asked}");
            last = asked["turn"].as_u64();
            input.write_all(answer.as_bytes()).expect("it reads");
        }
        // Whoever leaves ends the match or plays no more in it; the result is the last line.
        drop(input);
        let mut rest = String::new();
        output.read_to_string(&mut rest).expect("text");
        let result: Value = serde_json::from_str(rest.lines().last().unwrap_or_default()).expect("a result");
        assert_eq!(result["seats"][0]["bot"], "human", "{result}");
        assert_eq!(result["seats"][0]["faults"][0]["kind"], "crash", "{game}: {result}");
    }
    let none = agon(place.path(), &["play", "cultist-wars", "builtin:greedy", "builtin:idle", "--step"]);
    assert!(
        none.status.code() == Some(2) && err(&none).contains("agon play GAME human BOT --step"),
        "{}",
        err(&none)
    );
}

/// A team's token and an organiser's link come without a browser, and the audit log knows of the token.
#[test]
fn a_token_and_a_link_come_without_a_browser() {
    let place = folder();
    let serve = |words: &[&str]| good(agon(place.path(), &[&["serve"], words].concat()));
    serve(&["cup", "--new", "cultist-wars", "--matches", "1", "-j", "1", "--no-site"]);
    let first = json(&serve(&["token", "cup", "Ann", "--name", "her program", "--json"]));
    assert_eq!(
        (&first["team"], &first["account"], &first["name"]),
        (&"Ann".into(), &"Ann".into(), &"her program".into())
    );
    let second = out(&serve(&["token", "cup", "Ann"]));
    assert_eq!((second.trim().len(), second.lines().count()), (43, 1), "the token and nothing else");
    assert_ne!(first["token"].as_str(), Some(second.trim()), "each is fresh");
    let status = json(&serve(&["status", "cup", "--json"]));
    let given: Vec<&Value> = status["events"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|event| event["verb"] == "give token")
        .collect();
    assert_eq!(given.len(), 2, "{status:#}");
    assert!(
        given.iter().any(|event| event["object"] == "Ann" && event["detail"] == "her program"),
        "{given:?}"
    );
    assert!(!status.to_string().contains(second.trim()), "the log does not hold it");
    let link = json(&serve(&["link", "cup", "--site", "https://cup.example/", "--json"]));
    let link = link["link"].as_str().expect("a link");
    assert!(link.starts_with("https://cup.example/organiser?link=") && link.len() == 78, "{link}");
    let boss = agon(place.path(), &["serve", "token", "cup", "greedy"]);
    assert_eq!(boss.status.code(), Some(2), "{}", err(&boss));
    assert!(out(&serve(&["fsck", "cup"])).contains("no damage found"));
    // The other acts say in JSON what they did.
    assert_eq!(json(&serve(&["pause", "cup", "--json"]))["changed"], true);
    assert_eq!(json(&serve(&["fsck", "cup", "--json"]))["found"], serde_json::json!([]));
    let copied = json(&serve(&["backup", "cup", "cup.backup", "--json"]));
    assert!(copied["bytes"].as_u64() > Some(0), "{copied}");
    assert_eq!(json(&serve(&["restore", "cup.backup", "again", "--json"]))["dir"], "again");
    assert!(json(&serve(&["export", "cup", "cup.agon", "--json"]))["rows"].as_u64() >= Some(1));
    let worker = json(&serve(&["worker", "cup", "hall", "--json"]));
    assert!(worker["token"].as_str().is_some_and(|token| token.len() == 43) && worker["file"].is_null());
    assert_eq!(json(&serve(&["revoke", "cup", "hall", "--json"]))["machine"], "hall");
}
