//! Figures as the user sees them: ratings with anchors and groups, tests from counts and journals.

use std::path::Path;

use agon_contest::journal::{self, Journal};
use serde_json::Value;

use crate::common::{agon, err, folder, good, last_event, out};

/// Plays a gauntlet of two built-in bots into a journal of this name.
fn gauntlet(folder: &Path, journal: &str, bots: [&str; 2]) {
    let words = ["gauntlet", "cultist-wars", bots[0], bots[1], "-n", "8", "-q", "--journal", journal];
    good(agon(folder, &[&words[..], &["--set", "number_of_turns=30"]].concat()));
}

fn json(folder: &Path, words: &[&str]) -> Value {
    answer(folder, words, 0)
}

/// The JSON of a command that ends with this exit code.
fn answer(folder: &Path, words: &[&str], code: i32) -> Value {
    let output = agon(folder, words);
    assert_eq!(output.status.code(), Some(code), "{words:?}: {}", err(&output));
    crate::common::json(&output)
}

#[test]
fn ratings_keep_their_anchors_and_their_groups_apart() {
    let folder = folder();
    gauntlet(folder.path(), "one.jsonl", ["builtin:greedy", "builtin:random"]);
    gauntlet(folder.path(), "two.jsonl", ["builtin:hunter", "builtin:idle"]);
    let both = ["rate", "one.jsonl", "two.jsonl"];
    let tables = json(folder.path(), &[&both[..], &["--json"]].concat());
    let bots = tables[0]["ratings"]["bots"].as_array().expect("bots");
    let groups: Vec<u64> = bots.iter().filter_map(|bot| bot["group"].as_u64()).collect();
    assert_eq!(groups, [1, 1, 2, 2], "one list with its groups marked");
    let shown = out(&agon(folder.path(), &both));
    assert!(shown.contains("2 groups of bots never met") && shown.contains("Group 2 of 2"), "{shown}");

    let anchors = ["--anchor", "greedy=1500", "--anchor", "hunter=1000", "--json"];
    let tables = json(folder.path(), &[&both[..], &anchors[..]].concat());
    assert_eq!(tables[0]["ratings"]["groups"], 1, "anchors in both make one scale");
    let bots = tables[0]["ratings"]["bots"].as_array().expect("bots");
    let elo = |name: &str| bots.iter().find(|bot| bot["bot"] == name).map(|bot| &bot["elo"]);
    assert_eq!((elo("greedy"), elo("hunter")), (Some(&1500.0.into()), Some(&1000.0.into())));

    for (anchor, says) in [
        ("nobody=1500", "not in the table; its bots are greedy, hunter"),
        ("greedy", "write BOT=ELO"),
        ("greedy=high", "write BOT=ELO"),
        ("=1500", "write BOT=ELO"),
        ("greedy=nan", "write BOT=ELO"),
    ] {
        let refused = agon(folder.path(), &[&both[..], &["--anchor", anchor, "--html", "site"]].concat());
        assert_eq!(refused.status.code(), Some(2), "{anchor}");
        assert!(err(&refused).contains(says), "{anchor}: {}", err(&refused));
    }
    let twice = agon(folder.path(), &[&both[..], &["--anchor", "greedy=1", "--anchor", "greedy=2"]].concat());
    assert!(twice.status.code() == Some(2) && err(&twice).contains("given twice"), "{}", err(&twice));
    assert!(!folder.path().join("site").exists(), "nothing was written");
}

#[test]
fn a_test_from_counts_says_what_fastchess_says() {
    let folder = folder();
    let counts = |counts: &str, more: &[&str], code: i32| {
        answer(folder.path(), &[&["sprt", "--counts", counts, "--json"][..], more].concat(), code)
    };
    let pairs = counts("379/10170/21828/10640/343", &["--elo1", "2"], 0);
    assert_eq!(format!("{:.4}", pairs["llr"].as_f64().expect("an LLR")), "2.9455");
    assert_eq!((&pairs["decision"], &pairs["games"]), (&"better".into(), &86_720.into()));
    let far = counts("4250/0/0", &["--elo1", "10"], 0);
    assert!((far["llr"].as_f64().expect("an LLR") / 120.56 - 1.0).abs() < 0.01, "{far}");
    assert_eq!(counts("10/12/8", &["--model", "bayesian"], 12)["decision"], "undecided");
    // The same codes as of a test that was played.
    assert_eq!(counts("450/450/900", &[], 10)["decision"], "not_better");
    assert_eq!(counts("0/400/0", &[], 11)["decision"], "worse");
    assert_eq!(counts("0/400/0", &["--fail-unless-better"], 1)["decision"], "worse");
    assert_eq!(counts("400/0/0", &["--fail-unless-better"], 0)["decision"], "better");
    let shown = out(&agon(folder.path(), &["sprt", "--counts", "10/200/15"]));
    assert!(shown.starts_with("H0 accepted") && shown.contains("LLR"), "{shown}");
}

#[test]
fn a_test_from_a_journal_counts_its_blocks() {
    let folder = folder();
    gauntlet(folder.path(), "one.jsonl", ["builtin:greedy", "builtin:random"]);
    let read = answer(folder.path(), &["sprt", "cultist-wars", "--from", "one.jsonl", "--json"], 12);
    assert_eq!(read["decision"], "undecided");
    assert_eq!((&read["games"], &read["elo1"]), (&8.into(), &20.0.into()), "{read}");
    let blocks: u64 = read["counts"].as_array().expect("counts").iter().filter_map(Value::as_u64).sum();
    assert_eq!(blocks, 4);
}

#[test]
fn a_plan_shows_how_long_it_takes() {
    let folder = folder();
    let plan = json(folder.path(), &["sprt", "--plan", "--json"]);
    let rows = plan.as_array().expect("rows");
    let number = |row: usize, key: &str| rows[row][key].as_f64().expect("a number");
    assert_eq!((rows.len(), number(0, "elo"), number(12, "elo")), (13, -20.0, 40.0));
    assert!((number(4, "accepts") - 0.05).abs() < 0.01 && (number(8, "accepts") - 0.95).abs() < 0.01);
    assert!(rows.iter().all(|row| row["at_most"].as_f64() > row["expected"].as_f64()));
    let shown = out(&agon(folder.path(), &["sprt", "--plan", "--elo1", "50"]));
    assert!(shown.contains("+40") && shown.contains("-20"), "{shown}");
}

/// Bad input: exit code 2 with a sentence, nothing played, nothing written.
#[test]
fn what_makes_no_test_is_refused() {
    let folder = folder();
    let path = folder.path();
    gauntlet(path, "one.jsonl", ["builtin:greedy", "builtin:random"]);
    let text = std::fs::read_to_string(path.join("one.jsonl")).expect("a journal");
    std::fs::write(path.join("torn.jsonl"), text.replace("\"steps\"", "\"stops\"")).expect("written");
    std::fs::write(path.join("no.jsonl"), "hello\n").expect("written");
    let before = std::fs::read_dir(path).expect("a folder").count();
    let (play, counts) = (["sprt", "cultist-wars", "builtin:greedy", "builtin:random"], ["sprt", "--counts"]);
    let cases: &[(&[&str], &[&str], &str)] = &[
        (&counts, &["1/2"], "neither three counts nor five"),
        (&counts, &["1/2/3/4"], "neither three counts nor five"),
        (&counts, &["-1/2/3"], "whole number"),
        (&counts, &["1.5/2/3"], "whole number"),
        (&counts, &["a/b/c"], "whole number"),
        (&counts, &[""], "whole number"),
        (&counts, &["0/0/0"], "no game"),
        (&counts, &["18446744073709551615/1/1"], "nobody plays that many"),
        (&counts, &["99999999999999999999999/1/1"], "whole number"),
        (&counts, &["1/2/3/4/5", "--model", "bayesian"], "bayesian"),
        (&counts, &["1/2/3", "--elo0", "5", "--elo1", "5"], "elo0 must be below elo1"),
        (&counts, &["1/2/3", "--elo0", "nan"], "elo0"),
        (&counts, &["1/2/3", "--alpha", "0.5", "--beta", "0.5"], "alpha"),
        (&counts, &["1/2/3", "--alpha", "0"], "alpha"),
        (&counts, &["1/2/3", "--plan"], "cannot be used with"),
        (&counts, &["1/2/3", "--from", "one.jsonl"], "cannot be used with"),
        (&["sprt", "cultist-wars"], &["--counts", "1/2/3"], "needs no game"),
        (&play, &["--counts", "1/2/3"], "cannot be used with"),
        (&play, &["--elo0", "30"], "elo0 must be below elo1"),
        (&play, &["--alpha", "0.6", "--beta", "0.6"], "alpha"),
        (&play, &["--seats", "3", "--field", "builtin:idle"], "is played by 2 bots"),
        (&["sprt", "--plan"], &["--elo1", "-3"], "elo0 must be below elo1"),
        (&["sprt", "--from"], &["nothing.jsonl"], "nothing.jsonl"),
        (&["sprt", "--from"], &["no.jsonl"], "no.jsonl"),
        (&["sprt", "--from"], &["torn.jsonl"], "line 2"),
        (&["sprt", "terminal", "--from"], &["one.jsonl"], "journal of cultist-wars, not of terminal"),
        (&["rate", "torn.jsonl"], &[], "line 2"),
        (&["rate", "one.jsonl"], &["--anchor", "nobody=1"], "not in the table"),
    ];
    for (command, more, says) in cases {
        let refused = agon(path, &[*command, *more].concat());
        assert_eq!(refused.status.code(), Some(2), "{command:?} {more:?}: {}", out(&refused));
        assert!(err(&refused).contains(says), "{command:?} {more:?}: {}", err(&refused));
    }
    assert_eq!(std::fs::read_dir(path).expect("a folder").count(), before, "nothing was written");
}

#[test]
fn bots_that_beat_each_other_in_a_circle_are_named() {
    let folder = folder();
    let bots = ["builtin:random", "builtin:idle", "builtin:greedy"];
    let command =
        [&["tournament", "cultist-wars"], &bots[..], &["-n", "40", "-q", "--journal", "one.jsonl"]].concat();
    good(agon(folder.path(), &[&command[..], &["--set", "number_of_turns=12"]].concat()));
    let straight = agon(folder.path(), &["rate", "one.jsonl"]);
    assert!(!out(&straight).contains("beyond noise"), "{}", out(&straight));
    // The same journal with other winners: each bot beats the next, and the last beats the first.
    let mut entries = Vec::new();
    let past =
        journal::read(&folder.path().join("one.jsonl"), |entry| entries.push(entry)).expect("a journal");
    let mut circle = Journal::create(&folder.path().join("circle.jsonl"), &past.header).expect("a journal");
    for mut entry in entries {
        let first = (entry.bots[0] + 1) % 3 == entry.bots[1];
        entry.result.proven.ranks = if first { vec![1, 2] } else { vec![2, 1] };
        entry.result.proven.scores = if first { vec![1.0, 0.0] } else { vec![0.0, 1.0] };
        circle.write(&entry).expect("written");
    }
    drop(circle);
    let shown = out(&agon(folder.path(), &["rate", "circle.jsonl"]));
    let sentence =
        "greedy beats random (100 %), random beats idle (100 %), and idle beats greedy (100 %), beyond noise";
    assert!(shown.contains(sentence), "{shown}");
    assert!(shown.contains("100 : 50 %"), "real and predicted: {shown}");
    let tables = json(folder.path(), &["rate", "circle.jsonl", "--json"]);
    let cycles = &tables[0]["ratings"]["cycles"];
    assert_eq!((cycles.as_array().map(Vec::len), &cycles[0]["bots"][0]), (Some(1), &"greedy".into()));
}

/// The last line that a series prints.
fn last(folder: &Path, words: &[&str]) -> Value {
    let output = agon(folder, words);
    // A test of so few games is undecided.
    let wanted = if words[0] == "sprt" { 12 } else { 0 };
    assert_eq!(output.status.code(), Some(wanted), "{words:?}: {}", err(&output));
    last_event(&output)
}

/// There is only one scale of Elo: the same blocks, in which both scored, give the same difference in all four commands.
#[test]
fn all_four_commands_mean_the_same_by_elo() {
    let folder = folder();
    let bots = ["cultist-wars", "builtin:greedy", "builtin:hunter"];
    let same = ["--set", "number_of_turns=30", "--seed", "5", "-n", "24", "--replays", "none", "--json"];
    let play = |command: &'static str, journal: &'static str, more: &[&'static str]| {
        last(folder.path(), &[&[command], &bots[..], &same, &["--journal", journal], more].concat())
    };
    let anchor = ["--anchor", "hunter=0"];
    // A test that cannot be decided by so few games.
    let test = play("sprt", "sprt.jsonl", &["--alpha", "0.000001", "--beta", "0.000001"]);
    let gauntlet = play("gauntlet", "gauntlet.jsonl", &[]);
    let tournament = play("tournament", "tournament.jsonl", &anchor);
    assert_eq!([&test, &gauntlet, &tournament].map(|result| &result["games"]), [24; 3]);
    let expected = test["test"]["estimate"]["elo"].as_f64().expect("both scored");
    assert!(expected.abs() > 50.0, "something is to be seen: {expected}");
    let near = |elo: &Value| {
        let elo = elo.as_f64().expect("both scored");
        assert!((elo - expected).abs() <= 0.1, "{elo}, not {expected}");
    };
    near(&gauntlet["pairings"][0]["estimate"]["elo"]);
    let rated = |table: &Value| {
        let bots = table["ratings"]["bots"].as_array().expect("bots");
        near(&bots.iter().find(|bot| bot["bot"] == "greedy").expect("greedy is there")["elo"]);
    };
    rated(&tournament["tables"][0]);
    for journal in ["sprt.jsonl", "gauntlet.jsonl", "tournament.jsonl"] {
        rated(&json(folder.path(), &[&["rate", journal, "--json"], &anchor[..]].concat())[0]);
    }
}

/// The scores of a bot in each block of a journal: the share of opponents that it left behind.
fn block_scores(journal: &Path, bot: u64) -> Vec<f64> {
    let text = std::fs::read_to_string(journal).expect("a journal");
    let mut blocks = std::collections::BTreeMap::<u64, Vec<f64>>::new();
    for line in text.lines().skip(1) {
        let entry: Value = serde_json::from_str(line).expect("JSON");
        let numbers = |key: &str| -> Vec<u64> {
            entry[key].as_array().expect("a list").iter().filter_map(Value::as_u64).collect()
        };
        let (bots, ranks) = (numbers("bots"), numbers("ranks"));
        let seat = bots.iter().position(|own| *own == bot).expect("everybody plays");
        let behind = ranks.iter().filter(|rank| **rank > ranks[seat]).count() as f64;
        let level = ranks.iter().filter(|rank| **rank == ranks[seat]).count() as f64 - 1.0;
        let score = (behind + level / 2.0) / (ranks.len() - 1) as f64;
        blocks.entry(entry["block"].as_u64().expect("a block")).or_default().push(score);
    }
    blocks.into_values().map(|games| games.iter().sum::<f64>() / games.len() as f64).collect()
}

/// In a game of three seats, the seating order matters much. In whatever order the bots are named, their scores may
/// differ only by noise. `cargo xtask long permutations` plays more (`AGON_MATCHES` in each order).
#[test]
fn the_order_of_names_decides_nothing() {
    let matches = std::env::var("AGON_MATCHES").unwrap_or_else(|_| "18".to_owned());
    let folder = folder();
    let names = ["builtin:looter", "builtin:fighter", "builtin:idle"];
    let mut seen: Vec<Vec<(f64, f64)>> = vec![Vec::new(); 3];
    for (number, order) in
        [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]].iter().enumerate()
    {
        let journal = format!("{number}.jsonl");
        let seed = (1000 * number + 1).to_string();
        let bots = order.map(|bot| names[bot]);
        let rest = ["--seats", "3", "--set", "nbRounds=1", "--set", "maxTurns=60", "-n", &matches];
        let rest = [&rest[..], &["--seed", &seed, "--journal", &journal, "--replays", "none", "-q"]].concat();
        good(agon(folder.path(), &[&["tournament", "ostibot"], &bots[..], &rest].concat()));
        for (place, &bot) in order.iter().enumerate() {
            let scores = block_scores(&folder.path().join(&journal), place as u64);
            let count = scores.len() as f64;
            assert!(count >= 6.0, "{count} blocks");
            let mean = scores.iter().sum::<f64>() / count;
            let square = scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / (count - 1.0);
            seen[bot].push((mean, square / count));
        }
    }
    for (name, seen) in names.iter().zip(&seen) {
        // The spread of the six means in units of their noise: 5 on average by noise alone, above 20 in one case of 800.
        let noise = seen.iter().map(|(_, square)| square).sum::<f64>() / 6.0;
        let mean = seen.iter().map(|(mean, _)| mean).sum::<f64>() / 6.0;
        let apart = seen.iter().map(|(own, _)| (own - mean).powi(2)).sum::<f64>();
        let means: Vec<String> = seen.iter().map(|(mean, _)| format!("{mean:.3}")).collect();
        println!("{name}: {}; {:.1}", means.join(" "), apart / noise.max(1e-6));
        // With few blocks the noise itself is only roughly known; a thousandth of a score is always negligible.
        assert!(apart <= 20.0 * noise.max(1e-6), "{name}: {means:?}, noise {:.4}", noise.sqrt());
    }
}

#[test]
fn a_tournament_says_where_the_points_of_each_bot_came_from() {
    let folder = folder();
    let bot = folder.path().join("crash.sh");
    std::fs::write(&bot, "#!/bin/sh\nread -r line\nexit 3\n").expect("a bot");
    crate::common::mode(&bot, 0o755);
    let words = ["tournament", "cultist-wars", "builtin:greedy", "./crash.sh", "builtin:random", "-n", "4"];
    let words = [&words[..], &["--set", "number_of_turns=30", "-q"]].concat();
    let shown = out(&agon(folder.path(), &words));
    assert!(shown.contains("another bot failed") && shown.contains("it failed"), "{shown}");
    assert!(shown.contains("The result of greedy rests on others' faults in 4 of 8 matches"), "{shown}");
    let result = last_event(&agon(folder.path(), &[&words[..], &["--json"]].concat()));
    let bots = result["origin"]["bots"].as_array().expect("each bot");
    let endings = |bot: usize, word: &str| {
        let endings = bots[bot]["endings"].as_array().expect("endings");
        endings.iter().find(|ending| ending["ending"] == word).map(|ending| ending["count"].clone())
    };
    assert_eq!((bots.len(), bots[1]["bot"].as_u64()), (3, Some(1)));
    assert_eq!(endings(1, "own_fault"), Some(8.into()), "the crash is its own");
    assert_eq!((endings(0, "others_fault"), endings(0, "rules")), (Some(4.into()), Some(4.into())));
    assert_eq!(bots[0]["opponents"].as_array().map(Vec::len), Some(2));
}
