//! Figures as a user meets them: ratings with anchors and groups, tests from counts and journals.

use std::path::Path;

use serde_json::Value;

mod common;

use common::{agon, err, folder, out};

/// A gauntlet of two built-in bots, in a journal of this name.
fn gauntlet(folder: &Path, journal: &str, bots: [&str; 2]) {
    let words = ["gauntlet", "cultist-wars", bots[0], bots[1], "-n", "8", "-q", "--journal", journal];
    let played = agon(folder, &[&words[..], &["--set", "number_of_turns=30"]].concat());
    assert!(played.status.success(), "{}", err(&played));
}

fn json(folder: &Path, words: &[&str]) -> Value {
    let output = agon(folder, words);
    assert!(output.status.success(), "{words:?}: {}", err(&output));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", out(&output)))
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
