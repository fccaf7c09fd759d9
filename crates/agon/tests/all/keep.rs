//! From a lost match to a test of the bot: `agon analyse --with-bot`, `agon replay keep` and `agon test`.

use std::fs;
use std::path::Path;

use crate::common::{WAITER, agon, err, folder, good, json, out};
use serde_json::Value;

/// A folder with a bot that waits, and a match of it.
fn bot(folder: &Path) {
    fs::write(folder.join("bot.sh"), WAITER).expect("written");
    fs::write(folder.join("agon.toml"), "run = \"sh bot.sh\"\n[defaults]\ngame = \"cultist-wars\"\n")
        .expect("written");
    let base =
        ["play", "cultist-wars", ".", "builtin:greedy", "--seed", "3", "-q", "--replay", "lost.replay"];
    good(agon(folder, &[&base[..], &["--set", "number_of_turns=30"]].concat()));
}

fn keep(folder: &Path, more: &[&str]) {
    let base = ["replay", "keep", "lost.replay", "--seat", "1", "--turn", "7"];
    good(agon(folder, &[&base[..], more].concat()));
}

fn tests(folder: &Path, more: &[&str]) -> (Option<i32>, Value) {
    let tested = agon(folder, &[&["test", "--json"], more].concat());
    let told = json(&tested);
    (tested.status.code(), told)
}

#[test]
fn a_turn_of_a_lost_match_becomes_a_test_that_fails_until_the_bot_is_better() {
    let folder = folder();
    let folder = folder.path();
    bot(folder);
    keep(folder, &[]);
    keep(folder, &["--name", "waits", "--is", "WAIT", "--is", "2 MOVE 1 1"]);
    // The replay was copied: the test does not need the original.
    fs::remove_file(folder.join("lost.replay")).expect("it was there");
    let (code, told) = tests(folder, &[]);
    assert_eq!((code, &told["passed"], &told["failed"]), (Some(1), &1.into(), &1.into()), "{told:#}");
    let [again, waits] = [0, 1].map(|place| &told["tests"][place]);
    assert_eq!((&again["name"], &again["status"]), (&"lost-turn7".into(), &"failed".into()), "{told:#}");
    assert!(again["why"].as_str().is_some_and(|why| why == "it answered `WAIT` again"), "{told:#}");
    assert_eq!((&waits["status"], &waits["answer"]), (&"passed".into(), &"WAIT".into()), "{told:#}");

    // A bot that acts differently there passes one test, and fails the other.
    fs::write(folder.join("bot.sh"), WAITER.replace("echo WAIT", "echo 0 MOVE 1 3")).expect("written");
    let (code, told) = tests(folder, &["lost"]);
    assert_eq!((code, &told["passed"], &told["failed"]), (Some(0), &1.into(), &0.into()), "{told:#}");
    let text = out(&agon(folder, &["test"]));
    assert!(text.contains("not `WAIT` or `2 MOVE 1 1`") && text.contains("1 passed, 1 failed"), "{text}");
}

#[test]
fn how_it_stands_later_is_a_test_too() {
    let folder = folder();
    let folder = folder.path();
    bot(folder);
    keep(folder, &["--name", "ahead", "--later", "20", "--advantage", "0.9"]);
    keep(folder, &["--name", "alive", "--later", "20", "--score", "1"]);
    let (code, told) = tests(folder, &[]);
    assert_eq!(code, Some(1));
    let [ahead, alive] = [0, 1].map(|place| &told["tests"][place]);
    assert_eq!((&ahead["status"], &alive["status"]), (&"failed".into(), &"passed".into()), "{told:#}");
    assert!(ahead["why"].as_str().is_some_and(|why| why.contains("not 90 %")), "{told:#}");
    assert!(ahead["advantage"].as_f64().is_some_and(|chance| (0.0..0.9).contains(&chance)), "{told:#}");
}

#[test]
fn a_test_whose_replay_is_gone_or_old_says_so() {
    let folder = folder();
    let folder = folder.path();
    bot(folder);
    let none = agon(folder, &["test"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(err(&none).contains("there are no tests; agon replay keep"), "{}", err(&none));
    keep(folder, &["--name", "moved"]);
    fs::remove_file(folder.join("tests/moved.replay")).expect("it was there");
    fs::write(folder.join("tests/wrong.toml"), "replay = 'x'\nseat = 1\nturn = 0\nexpect = 1\n")
        .expect("written");
    let (code, told) = tests(folder, &[]);
    assert_eq!((code, &told["broken"]), (Some(1), &2.into()), "{told:#}");
    let why = |place: usize| told["tests"][place]["why"].as_str().unwrap_or_default().to_owned();
    assert!(why(0).contains("moved.replay is not there: it was moved or deleted"), "{told:#}");
    assert!(why(1).contains("wrong.toml") && why(1).contains("expect"), "{told:#}");
    // Keeping twice under one name, or at a turn that is not the seat's, is refused.
    let twice =
        agon(folder, &["replay", "keep", "lost.replay", "--seat", "1", "--turn", "7", "--name", "moved"]);
    assert!(twice.status.code() == Some(2) && err(&twice).contains("is there already"), "{}", err(&twice));
    let others = agon(folder, &["replay", "keep", "lost.replay", "--seat", "1", "--turn", "8"]);
    assert!(
        others.status.code() == Some(2) && err(&others).contains("is not asked in this turn"),
        "{}",
        err(&others)
    );
}

/// The report of `agon analyse` on the bot's order at a turn.
fn with_bot(folder: &Path, replay: &str, more: &[&str]) -> Value {
    let base = ["analyse", replay, "--budget", "300ms", "--json"];
    let told = json(&agon(folder, &[&base[..], more].concat()));
    let turns = told["turns"].as_array().expect("turns").iter();
    let mut tried = turns.flat_map(|turn| turn["orders"].as_array().expect("orders"));
    tried.find(|order| !order["with_bot"].is_null()).expect("something was tried").clone()
}

#[test]
fn only_what_the_bot_itself_does_better_with_is_called_a_mistake() {
    let folder = folder();
    let folder = folder.path();
    bot(folder);
    // When both sides wait, whoever converts one within twelve turns wins. The leader has walked beside a neutral unit, and
    // waits.
    let base = ["cultist-wars", "builtin:greedy", ".", "--seed", "3", "-q", "--replay", "walked.replay"];
    good(agon(folder, &[&["play"], &base[..], &["--set", "number_of_turns=12"]].concat()));
    let base = ["replay", "fork", "walked.replay", ".", "--seat", "1", "--turn", "5", "--against", "."];
    good(agon(folder, &[&base[..], &["--replay", "idle.replay"]].concat()));
    let order =
        with_bot(folder, "idle.replay", &["--turn", "5", "--seat", "1", "--with-bot", ".", "--against", "."]);
    let own = &order["with_bot"];
    assert_eq!((&order["order"], &own["better"]), (&"WAIT".into(), &"0 CONVERT 6".into()), "{order:#}");
    assert!(own["gain"]["mean"].as_f64().is_some_and(|gain| gain > 0.3), "{order:#}");
    assert_eq!((&own["mistake"], &own["gain"]["futures"]), (&true.into(), &20.into()), "{order:#}");
    let base = ["analyse", "idle.replay", "--budget", "300ms", "--turn", "5"];
    let text = out(&agon(folder, &[&base[..], &["--with-bot", ".", "--seat", "1"]].concat()));
    assert!(text.contains("mistake: with `0 CONVERT 6` the bot itself gains +"), "{text}");
    assert!(!out(&agon(folder, &base)).contains("mistake"), "without the bot there is no such word");

    // Against an opponent that plays, the bot loses whatever it does once: an order that the policy would not give is then
    // no mistake.
    let order = with_bot(folder, "lost.replay", &["--with-bot", "."]);
    assert_eq!((&order["marked"], &order["with_bot"]["mistake"]), (&true.into(), &false.into()), "{order:#}");
    assert!(order["gain"]["mean"].as_f64().is_some_and(|gain| gain > 0.05), "{order:#}");

    // A bot that ends before the turn cannot be asked, so there is no verdict on it.
    fs::create_dir(folder.join("gone")).expect("made");
    fs::write(folder.join("gone/bot.sh"), "exit 3\n").expect("written");
    fs::copy(folder.join("agon.toml"), folder.join("gone/agon.toml")).expect("copied");
    let base =
        ["analyse", "idle.replay", "--budget", "300ms", "--turn", "5", "--seat", "1", "--with-bot", "gone"];
    let text = out(&agon(folder, &base));
    assert!(text.contains("the bot cannot be asked: it ended on the way there: turn 1"), "{text}");
    assert!(!text.contains("mistake"), "{text}");
    let order = with_bot(folder, "idle.replay", &base[4..]);
    let own = &order["with_bot"];
    assert_eq!((&own["mistake"], &own["gain"]["futures"]), (&false.into(), &0.into()), "{order:#}");
    assert!(own["fault"].as_str().is_some_and(|fault| fault.contains("crash")), "{order:#}");

    // Whose orders they are is known from the replay, or must be given.
    let both = agon(folder, &["analyse", "idle.replay", "--with-bot", "."]);
    assert!(both.status.code() == Some(2) && err(&both).contains("say which is its own"), "{}", err(&both));
}
