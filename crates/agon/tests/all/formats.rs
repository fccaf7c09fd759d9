//! Formats of tournaments: played to their end, killed and continued, and refused where they make no sense.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use agon_contest::JournalHeader;
use agon_contest::journal::{self, Journal};
use serde_json::Value;

use crate::common::{agon, err, folder, good, last_event, out};

fn result(folder: &Path, arguments: &[&str]) -> Value {
    let output = agon(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}{}", out(&output), err(&output));
    last_event(&output)
}

/// Starts the command, kills it once its journal has grown by some matches, repeats that, and then runs it to the end.
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
            // It may also have finished already.
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

/// A tournament that is killed three times has the same final table as an undisturbed one.
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
    let shown = good(agon(folder.path(), &cup));
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
    assert_eq!(others, 2, "the series and LAST, which leads to it: what is refused leaves nothing behind");
}

#[test]
fn a_newcomer_is_placed_among_those_who_played_before() {
    let folder = folder();
    let first =
        ["tournament", "cultist-wars", "builtin:random", "builtin:idle", "builtin:random", "-n", "24"];
    let short = ["--set", "number_of_turns=30", "--seed", "5", "--journal", "first.jsonl", "--json"];
    let played = result(folder.path(), &[&first[..], &short].concat());
    let add = ["tournament", "first.jsonl", "--add", "builtin:random", "--seed", "9", "-j", "2", "--json"];
    let whole =
        result(folder.path(), &[&add[..], &["--journal", "whole.jsonl", "--anchor", "idle=1000"]].concat());
    let placed = &whole["placed"];
    assert_eq!((&placed["reason"], &placed["bot"]), (&"narrow".into(), &"random (3)".into()), "{placed}");
    assert!(placed["half"].as_f64().expect("an interval") <= 50.0, "{placed}");
    // The old matches count, and their rules apply.
    let table = &whole["tables"][0]["ratings"];
    let all = played["games"].as_u64().expect("matches") + whole["games"].as_u64().expect("matches");
    assert_eq!(table["matches"], all);
    assert_eq!(whole["tables"].as_array().map(Vec::len), Some(1));
    let level = table["bots"].as_array().expect("bots").iter().find(|bot| bot["bot"] == "idle");
    assert_eq!(level.expect("it is in the table")["elo"], 1000.0);
    let interrupted = killed(folder.path(), &[&add[..], &["--anchor", "idle=1000"]].concat());
    assert_eq!((&interrupted["placed"], &interrupted["tables"]), (placed, &whole["tables"]));
    // A bot that wins everything stops once its place is beyond doubt.
    let best = ["tournament", "first.jsonl", "--add", "builtin:greedy", "--within", "5", "--json"];
    let best = result(folder.path(), &[&best[..], &["--seed", "9", "--journal", "best.jsonl"]].concat());
    assert_eq!((&best["placed"]["reason"], &best["placed"]["elo"]), (&"above".into(), &Value::Null));
    assert!(best["games"].as_u64().expect("matches") < 100, "{}", best["placed"]);
    // The matches may run out first.
    let short = result(folder.path(), &[&add[..], &["-n", "6", "--within", "1"]].concat());
    assert_eq!((&short["placed"]["reason"], &short["games"]), (&"budget".into(), &6.into()));
    for (more, why) in [
        (&["--rules", "standard"][..], "--rules cannot be given with --add: the journal fixes it"),
        (&["--format", "swiss"], "options of the format cannot be given with --add"),
        (&["--anchor", "nobody=1"], "--anchor nobody: not in the table"),
        (&["--within", "0"], "within 0 Elo"),
        (&["none.jsonl"], "none.jsonl: no journal"),
    ] {
        let refused = agon(folder.path(), &[&add[..], more, &["--journal", "refused.jsonl"]].concat());
        assert_eq!(refused.status.code(), Some(2), "{more:?}: {}", err(&refused));
        assert!(err(&refused).contains(why), "{more:?}: {}", err(&refused));
    }
    assert!(!folder.path().join("refused.jsonl").exists(), "nothing was begun");
    let refused = agon(folder.path(), &["tournament", "cultist-wars", "builtin:idle", "--within", "9"]);
    assert!(err(&refused).contains("--within is for --add"), "{}", err(&refused));
}

#[test]
fn an_anchor_holds_the_level_of_a_tournament() {
    let folder = folder();
    let command = ["tournament", "cultist-wars", "builtin:random", "builtin:idle", "-n", "20", "--json"];
    let anchored = result(folder.path(), &[&command[..], &["--anchor", "idle=1500"]].concat());
    let bots = anchored["tables"][0]["ratings"]["bots"].as_array().expect("bots").clone();
    let idle = bots.iter().find(|bot| bot["bot"] == "idle").expect("it is in the table");
    assert_eq!((&idle["elo"], &idle["anchor"]), (&1500.0.into(), &true.into()));
    let refused =
        agon(folder.path(), &[&command[..], &["--anchor", "nobody=1", "--journal", "no.jsonl"]].concat());
    assert_eq!(refused.status.code(), Some(2));
    assert!(err(&refused).contains("its bots are random, idle"), "{}", err(&refused));
    assert!(!folder.path().join("no.jsonl").exists(), "nothing was begun");
}

#[test]
fn a_file_names_the_format_and_errors_point_into_it() {
    let folder = folder();
    let file = "game = 'cultist-wars'\nseed = 9\nset = { number_of_turns = 12 }\n\
                bots = ['builtin:greedy', 'builtin:random', 'builtin:idle', 'builtin:random']\n";
    let write = |more: &str| {
        std::fs::write(folder.path().join("cup.toml"), format!("{file}{more}")).expect("written")
    };
    write("format = 'swiss'\nrounds = 2\n");
    let played = result(folder.path(), &["tournament", "cup.toml", "--json", "--journal", "one.jsonl"]);
    assert_eq!((&played["format"]["name"], &played["format"]["rounds"]), (&"swiss".into(), &2.into()));
    assert_eq!(played["games"], 2 * 2 * 2);
    write("format = 'knockout'\nbest_of = 1\nseeding = 'one.jsonl'\n");
    assert_eq!(result(folder.path(), &["tournament", "cup.toml", "--json"])["format"]["name"], "knockout");
    write("games = 4\n");
    let ladder = ["tournament", "cup.toml", "--format", "ladder", "--decide-top", "1", "--json"];
    assert_eq!(result(folder.path(), &ladder)["games"], 8, "a file may leave the format open");
    for (more, why) in [
        ("format = 'swis'\ngames = 4\n", "cup.toml:5:10: unknown variant `swis`"),
        ("format = 'swiss'\nrounds = 9\n", "cup.toml:6:1: `rounds`: 4 bots can play 1 to 3 rounds"),
        (
            "format = 'swiss'\ngames = 9\n",
            "cup.toml:6:1: `games`: it is for the format round-robin or ladder; rounds says",
        ),
        ("games = 4\nrounds = 2\n", "cup.toml:6:1: `rounds`: it is for the format swiss"),
        ("format = 'ladder'\n", "cup.toml: `games` is missing"),
        ("games = 4\nformat = 'ladder'\ndecide_top = 4\n", "cup.toml:7:1: `decide_top`: the top 4 of 4 bots"),
        ("format = 'knockout'\nbest_of = 0\n", "cup.toml:6:1: `best_of`: best of 0"),
        ("games = 4\ntime_limit = 'soon'\n", "cup.toml:6:1: `time_limit`"),
        ("games = 0\n", "cup.toml:5:1: `games`: there is nothing to play"),
    ] {
        write(more);
        let refused = agon(folder.path(), &["tournament", "cup.toml", "--journal", "refused.jsonl"]);
        assert_eq!(refused.status.code(), Some(2), "{more}: {}", err(&refused));
        assert!(err(&refused).contains(why), "{more}: {}", err(&refused));
    }
    write("format = 'swiss'\n");
    let both = agon(folder.path(), &["tournament", "cup.toml", "--format", "knockout"]);
    assert!(err(&both).contains("options of the format cannot be given with cup.toml"), "{}", err(&both));
    assert!(!folder.path().join("refused.jsonl").exists(), "nothing was begun");
}

#[test]
fn a_series_of_an_older_plan_is_refused_with_the_program_that_reads_it() {
    let folder = folder();
    let words = ["tournament", "cultist-wars", "builtin:greedy", "builtin:random", "builtin:idle", "-q"];
    let ladder = ["--format", "ladder", "-n", "4", "--set", "number_of_turns=30", "--journal", "x.jsonl"];
    let words = [&words[..], &ladder[..]].concat();
    good(agon(folder.path(), &words));
    let journal = folder.path().join("x.jsonl");
    // The same matches under an older plan.
    let mut entries = Vec::new();
    let past = journal::read(&journal, |entry| entries.push(entry)).expect("a journal");
    std::fs::remove_file(&journal).expect("removed");
    let older = JournalHeader { plan: 2, ..past.header };
    let mut written = Journal::create(&journal, &older).expect("an older one");
    entries.iter().for_each(|entry| written.write(entry).expect("written"));
    drop(written);
    let refused = agon(folder.path(), &[&words[..], &["--resume"]].concat());
    assert_eq!(refused.status.code(), Some(2), "{}", out(&refused));
    assert!(err(&refused).contains("plan 2, and this agon reads"), "{}", err(&refused));
    let refused = agon(folder.path(), &["rate", "x.jsonl"]);
    assert!(err(&refused).contains("read it with the agon that wrote it"), "{}", err(&refused));
}
