//! Formats of tournaments: played to their end, killed and gone on with, and refused where they make no sense.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

mod common;

use common::{agon, err, folder, out};

fn result(folder: &Path, arguments: &[&str]) -> Value {
    let output = agon(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}{}", out(&output), err(&output));
    let text = out(&output);
    serde_json::from_str(text.lines().last().expect("an event")).expect("an event is JSON")
}

/// Starts the command, kills it once its journal has grown by some matches, and does so again: then to the end.
fn killed(folder: &Path, arguments: &[&str]) -> Value {
    let journal = folder.join("killed.jsonl");
    let arguments = [arguments, &["--journal", "killed.jsonl"]].concat();
    let size = || journal.metadata().map_or(0, |about| about.len());
    for number in 0..3 {
        let resume: &[&str] = if number == 0 { &[] } else { &["--resume"] };
        let before = size();
        let mut running = Command::new(env!("CARGO_BIN_EXE_agon"))
            .args([&arguments[..], resume].concat())
            .current_dir(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("agon starts");
        let until = Instant::now() + Duration::from_secs(60);
        while size() < before + 5_000 && Instant::now() < until {
            // It may also be through already.
            if running.try_wait().expect("our own child").is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = running.kill();
        running.wait().expect("our own child");
    }
    result(folder, &[&arguments[..], &["--resume"]].concat())
}

/// A tournament that is killed three times has the final table of one that is not.
fn survives(arguments: &[&str], bots: &[&str]) -> Value {
    let folder = folder();
    let rest = ["--seed", "3", "-j", "2", "--json", "--replays", "none"];
    let arguments = [&["tournament"], &arguments[..1], bots, &arguments[1..], &rest].concat();
    let whole = result(folder.path(), &[&arguments[..], &["--journal", "whole.jsonl"]].concat());
    let interrupted = killed(folder.path(), &arguments);
    assert_eq!(whole["complete"], true, "{whole}");
    assert_eq!(interrupted["places"], whole["places"], "the same final table");
    assert_eq!(interrupted["games"], whole["games"]);
    assert_eq!(interrupted["tables"], whole["tables"], "and the same ratings");
    assert_eq!(whole["places"].as_array().map(Vec::len), Some(bots.len()), "everybody has a place");
    whole
}

#[test]
fn swiss_with_thirty_bots_survives_kill_9() {
    let bots = ["builtin:random", "builtin:greedy", "builtin:idle"].repeat(10);
    let short = ["cultist-wars", "--set", "number_of_turns=12", "--format", "swiss", "--rounds", "4"];
    let played = survives(&short, &bots);
    assert_eq!(played["games"], 4 * 15 * 2);
    assert_eq!(played["format"]["name"], "swiss");
}

#[test]
fn double_elimination_with_sixteen_survives_kill_9() {
    let bots = ["builtin:random", "builtin:greedy"].repeat(8);
    let format = ["--format", "double-elimination", "--best-of", "1"];
    let played = survives(&[&["cultist-wars", "--set", "number_of_turns=12"], &format[..]].concat(), &bots);
    assert_eq!(played["places"][0]["place"], 1);
}

#[test]
fn heats_of_nine_survive_kill_9() {
    let bots = ["builtin:random", "builtin:idle"].repeat(6);
    let format = ["--seats", "9", "--format", "knockout", "--advance", "4", "--best-of", "1"];
    survives(&[&["ostibot"], &format[..]].concat(), &bots);
}

#[test]
fn a_ladder_survives_kill_9_and_says_how_certain_it_is() {
    let bots = ["builtin:random", "builtin:greedy", "builtin:idle"].repeat(2);
    let format = ["--format", "ladder", "-n", "12", "--decide-top", "2"];
    let played = survives(&[&["cultist-wars", "--set", "number_of_turns=12"], &format[..]].concat(), &bots);
    assert_eq!((&played["games"], &played["certainty"]["top"]), (&36.into(), &2.into()));
}

#[test]
fn a_series_seeds_a_knockout_and_nonsense_is_refused() {
    let folder = folder();
    let bots = ["builtin:idle", "builtin:random", "builtin:greedy"];
    let short = ["--set", "number_of_turns=12", "-q"];
    let command = |more: &[&'static str]| [&["tournament", "cultist-wars"], &bots[..], &short, more].concat();
    result(folder.path(), &command(&["-n", "8", "--journal", "first.jsonl", "--json"]));
    let cup = command(&["--format", "knockout", "--best-of", "1", "--seeding", "first.jsonl"]);
    let shown = agon(folder.path(), &cup);
    assert!(shown.status.success(), "{}", err(&shown));
    assert!(out(&shown).starts_with("Knockout, best of 1 blocks"), "{}", out(&shown));
    let header =
        std::fs::read_to_string(folder.path().join("agon-series/cultist-wars-tournament-1/journal.jsonl"));
    let header: Value =
        serde_json::from_str(header.expect("a journal").lines().next().expect("a header")).expect("JSON");
    assert_eq!(header["format"]["seeding"][0], 2, "greedy was the best: {header}");
    for (more, why) in [
        (&["--format", "swiss", "--rounds", "9"][..], "can play 1 to"),
        (&["--format", "swiss", "-n", "9"], "-n is for --format round-robin or ladder"),
        (&["--decide-top", "2"], "--decide-top is for --format ladder"),
        (&["--format", "ladder", "--decide-top", "3"], "the top 3 of 3 bots cannot be decided"),
        (&["--format", "knockout", "--best-of", "0"], "an encounter has 1 to 99 blocks"),
        (&["--format", "knockout", "--seeding", "none.jsonl"], "none.jsonl"),
    ] {
        let refused = agon(folder.path(), &command(more));
        assert_eq!(refused.status.code(), Some(2), "{more:?}: {}{}", out(&refused), err(&refused));
        assert!(err(&refused).contains(why), "{more:?}: {}", err(&refused));
    }
    let others = std::fs::read_dir(folder.path().join("agon-series")).expect("a folder").count();
    assert_eq!(others, 1, "what is refused leaves nothing behind");
}
