//! What each released version wrote is read by this one: `tests/kept/VERSION` has a contest with its export and backup, journals, a replay
//! of each game, and settings files. What a version wrote never changes; `UPDATE_KEPT=1 cargo test -p agon --test all kept::` writes that of
//! this version, before it is released.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use agon_server::status::look;
use agon_store::acts::GiveRuling;
use agon_store::{Ruling, Time};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::common::{
    Running, agon, block_on, command, err, folder, good, json, last_event, out, site_of, waiter, write,
};

/// The most that a version may leave behind, in bytes.
const MOST: u64 = 300_000;
/// What is told of a bot in its `agon.toml`: every key that there is.
const BOT: &str = "name = \"Waiter\"
build = \"true\"
run = \"sh run.sh\"
dialect = \"lines\"

[env]
LEVEL = \"2\"

[sandbox]
read = [\"/usr/share\"]
memory = 512

[defaults]
game = \"cultist-wars\"
rules = \"standard\"
opponents = [\"builtin:idle\"]
";
/// A tournament: every key that says what is played.
const TOURNAMENT: &str = "game = \"cultist-wars\"
rules = \"standard\"
set = { number_of_turns = 20 }
maps = [\"generate\"]
seats = 2
seed = 1000
games = 4
clock = \"original\"
time_scale = 20.0
time_limit = \"5s\"
time_total = \"60s\"
ponder = \"stop\"
bots = [\"bot\", { bot = \"builtin:greedy\", label = \"Greedy\" }, \"builtin:random\"]
";
const CONTEST: &str = "game = \"cultist-wars\"
set = { number_of_turns = 20 }
time_scale = 20.0
time_total = \"300s\"
decide_top = 3

[site]
title = \"Kept\"
sign_up = \"invite\"
team_size = 3
time_zone = \"Europe/Vienna\"
closes = 2040-12-05T18:00:00
bosses = [\"builtin:greedy\", \"builtin:random\"]

[sandbox]
level = \"D\"
trust_bots = true
memory = 512

[ladder]
matches = 20
";
/// A short match of each game.
const MATCHES: [&[&str]; 5] = [
    &["cultist-wars", "builtin:greedy", "builtin:random", "--set", "number_of_turns=40"],
    &["deerhunt", "builtin:warden", "builtin:rusher", "--set", "max_rounds=40"],
    &["jungle-blitz", "builtin:keeper", "builtin:raider", "--set", "totalTick=40"],
    &["ostibot", "builtin:random", "builtin:looter", "--set", "maxTurns=40"],
    &["terminal", "builtin:fortress", "builtin:rush", "--set", "maxTurns=8"],
];
/// A series, of as many matches for each pairing as follow.
const SERIES: &[&str] = &["tournament", "cultist-wars", "builtin:greedy", "builtin:random", "builtin:idle"];
const SHORT: &[&str] =
    &["--set", "number_of_turns=20", "--seed", "9", "-j", "1", "--replays", "none", "--json"];

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kept")
}

fn series(at: &Path, journal: &str, games: &str, more: &[&str]) -> Value {
    let words = [SERIES, SHORT, &["-n", games, "--journal", journal], more].concat();
    last_event(&good(agon(at, &words)))
}

#[test]
fn what_every_released_version_wrote_is_read() {
    if std::env::var_os("UPDATE_KEPT").is_some() {
        let version: Vec<&str> = env!("CARGO_PKG_VERSION").split('.').take(2).collect();
        keep(&kept().join(version.join(".")));
    }
    let mut read = 0;
    for version in fs::read_dir(kept()).expect("the folder of all versions").flatten() {
        println!("{}", version.path().display());
        let mut sizes = fs::read_dir(version.path())
            .expect("a version")
            .flatten()
            .map(|file| file.metadata().expect("a file").len());
        let size: u64 = sizes.by_ref().sum();
        assert!(size < MOST, "{size} bytes");
        let place = folder();
        let at = place.path();
        for file in fs::read_dir(version.path()).expect("a version").flatten() {
            fs::copy(file.path(), at.join(file.file_name())).expect("a copy");
        }
        let facts: Value =
            serde_json::from_slice(&fs::read(at.join("facts.json")).expect("facts")).expect("JSON");
        replays_are_read(at, &facts);
        settings_are_read(at);
        journals_are_read(at, &facts);
        a_contest_goes_on(at, &facts);
        read += 1;
    }
    assert!(read > 0, "no version is kept");
}

fn replays_are_read(at: &Path, facts: &Value) {
    let ends = facts["replays"].as_object().expect("replays");
    assert_eq!(ends.len(), MATCHES.len());
    for (game, end) in ends {
        let file = format!("{game}.replay");
        let info = json(&good(agon(at, &["replay", "info", &file, "--json"])));
        assert_eq!(end_of(&info), *end, "{game}");
        assert!(!out(&good(agon(at, &["replay", "show", &file]))).is_empty());
        // A later version of the rules shows it as far as both agree, and says so.
        if is_of_these_rules(game, end) {
            good(agon(at, &["replay", "verify", &file]));
        }
    }
}

fn is_of_these_rules(game: &str, end: &Value) -> bool {
    agon_games::find(game).is_some_and(|game| end["rules_version"] == game.info().rules_version)
}

/// What a replay says of its match, without what later versions may add.
fn end_of(info: &Value) -> Value {
    let (header, end) = (&info["header"], &info["end"]);
    assert!(header["rules_version"].is_number() && end["outcome"]["scores"].is_array(), "{info}");
    json!({
        "game": header["game"], "rules_version": header["rules_version"], "seed": header["recipe"]["seed"],
        "steps": info["steps"], "outcome": end["outcome"], "state": end["state"],
    })
}

fn settings_are_read(at: &Path) {
    fs::create_dir(at.join("bot")).expect("a folder");
    for file in ["agon.toml", "run.sh"] {
        fs::rename(at.join(file), at.join("bot").join(file)).expect("moved");
    }
    let played = agon(
        &at.join("bot"),
        &["play", "--set", "number_of_turns=10", "--time-scale", "20", "--json", "--no-replay"],
    );
    let played = json(&good(played));
    assert_eq!(played["seats"][0]["bot"], "Waiter", "{played}");
    assert_eq!(played["seats"][0]["faults"], json!([]), "{played}");
    let cup = last_event(&good(agon(at, &["tournament", "tournament.toml", "--json", "--replays", "none"])));
    assert_eq!((&cup["games"], &cup["complete"]), (&12.into(), &true.into()), "{cup}");
}

fn journals_are_read(at: &Path, facts: &Value) {
    let rated = json(&good(agon(at, &["rate", "series.jsonl", "--json"])));
    assert_eq!(crosses_of(&rated), facts["crosses"], "{rated}");
    let before = fs::read_to_string(at.join("series.jsonl")).expect("a journal");
    let after = series(at, "series.jsonl", "6", &["--resume"]);
    assert_eq!(after["games"], 18, "{after}");
    let longer = fs::read_to_string(at.join("series.jsonl")).expect("a journal");
    assert!(longer.starts_with(&before) && longer.len() > before.len(), "it goes on where it ended");
    let tested = json(&good(agon(at, &["rate", "test.jsonl", "--json"])));
    assert_eq!(crosses_of(&tested), facts["test"], "{tested}");
    let from = agon(at, &["sprt", "--from", "test.jsonl", "--json"]);
    assert!(matches!(from.status.code(), Some(0 | 10..=15)), "{}{}", out(&from), err(&from));
}

/// Who won how often against whom: what a journal says, by whatever method it is rated.
fn crosses_of(rated: &Value) -> Value {
    assert!(rated[0]["cross_table"]["cells"].is_array(), "{rated}");
    rated[0]["cross_table"].clone()
}

/// The folder, the backup and the export, each by itself.
fn a_contest_goes_on(at: &Path, facts: &Value) {
    unpack(&at.join("contest.tar.gz"), at);
    let of = |words: &[&str]| good(agon(at, words));
    let proved = json(&of(&["verify", "contest.agon", "--json"]));
    for what in ["rows", "sha256", "recomputed", "holds"] {
        assert_eq!(proved[what], facts["export"][what], "{what} of {proved}");
    }
    of(&["serve", "restore", "contest.backup", "restored"]);
    for contest in ["contest", "restored"] {
        of(&["serve", "fsck", contest, "--replays"]);
        // It starts, which brings it up to date, and takes in a team.
        let mut serve = command(at, &["serve", contest, "-j", "0", "--port", "0"]);
        let mut serve =
            Running(serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("agon starts"));
        assert!(site_of(&mut serve.0, Duration::from_secs(120)).starts_with("http://"));
        of(&["serve", "add", contest, "bot", "--team", "Late"]);
        drop(serve);
        of(&["serve", "fsck", contest, "--replays"]);
        let status = json(&of(&["serve", "status", contest, "--json"]));
        assert_eq!(standings(&status), facts["standings"], "{contest}: {status}");
        assert!(status["versions"].as_array().expect("versions").iter().any(|one| one["entrant"] == "Late"));
        let settings = out(&of(&["serve", "set", contest]));
        for setting in ["team_size", "2040-12-05", "Europe/Vienna"] {
            assert!(settings.contains(setting), "{setting}: {settings}");
        }
        let again = format!("{contest}.again.agon");
        of(&["serve", "export", contest, &again]);
        let again = json(&of(&["verify", &again, "--json"]));
        assert_eq!((&again["rows"], &again["sha256"]), (&proved["rows"], &proved["sha256"]));
    }
}

/// What the log says of who was there: what was played by whom.
fn standings(status: &Value) -> Value {
    let board = status["board"].as_array().expect("a board");
    let rated = board.iter().filter(|line| line["matches"].as_u64() > Some(0));
    let lines: BTreeMap<&str, &Value> =
        rated.map(|line| (line["name"].as_str().expect("a name"), &line["matches"])).collect();
    json!({ "matches": lines, "in_log": status["matches"]["in_log"] })
}

fn unpack(archive: &Path, at: &Path) {
    let file = fs::File::open(archive).expect("an archive");
    tar::Archive::new(GzDecoder::new(file)).unpack(at).expect("unpacked");
}

/// Writes what this version writes into a folder, in place of what is there.
fn keep(into: &Path) {
    let place = folder();
    let at = place.path();
    let mut files = vec![
        "series.jsonl",
        "test.jsonl",
        "tournament.toml",
        "contest.tar.gz",
        "contest.backup",
        "contest.agon",
    ];
    let mut ends = serde_json::Map::new();
    let replays = MATCHES.map(|words| format!("{}.replay", words[0]));
    for (words, replay) in MATCHES.iter().zip(&replays) {
        good(agon(at, &[&["play"], *words, &["--seed", "7", "--quiet", "--replay", replay]].concat()));
        let info = json(&good(agon(at, &["replay", "info", replay, "--json"])));
        ends.insert(words[0].to_owned(), end_of(&info));
    }
    files.extend(replays.iter().map(String::as_str));
    waiter(at, "bot");
    write(at, "bot/agon.toml", BOT);
    write(at, "tournament.toml", TOURNAMENT);
    series(at, "series.jsonl", "4", &[]);
    let test =
        ["sprt", "cultist-wars", "builtin:greedy", "builtin:random", "-n", "8", "--journal", "test.jsonl"];
    last_event(&agon(at, &[&test, SHORT].concat()));
    write(at, "contest/contest.toml", CONTEST);
    let play = ["serve", "contest", "-j", "1", "--no-site", "--matches"];
    good(agon(at, &[&play[..], &["3"]].concat()));
    good(agon(at, &["serve", "add", "contest", "bot", "--team", "Ann"]));
    good(agon(at, &["serve", "add", "contest", "bot", "--team", "Bob"]));
    good(agon(at, &[&play[..], &["14"]].concat()));
    rule(&at.join("contest"));
    good(agon(at, &["serve", "export", "contest", "contest.agon"]));
    good(agon(at, &["serve", "backup", "contest", "contest.backup"]));
    let status = json(&good(agon(at, &["serve", "status", "contest", "--json"])));
    let rated = json(&good(agon(at, &["rate", "series.jsonl", "--json"])));
    let tested = json(&good(agon(at, &["rate", "test.jsonl", "--json"])));
    let proved = json(&good(agon(at, &["verify", "contest.agon", "--json"])));
    // What any start makes anew.
    for folder in ["work", "walls"] {
        fs::remove_dir_all(at.join("contest").join(folder)).expect("it is there");
    }
    let packed = fs::File::create(at.join("contest.tar.gz")).expect("a file");
    let mut packed = tar::Builder::new(GzEncoder::new(packed, Compression::best()));
    packed.append_dir_all("contest", at.join("contest")).expect("packed");
    packed.into_inner().expect("written").finish().expect("written");
    let facts = json!({
        "replays": ends,
        "crosses": crosses_of(&rated),
        "test": crosses_of(&tested),
        "standings": standings(&status),
        "export": { "rows": proved["rows"], "sha256": proved["sha256"], "recomputed": proved["recomputed"], "holds": proved["holds"] },
    });
    let _ = fs::remove_dir_all(into);
    fs::create_dir_all(into).expect("a folder");
    for file in files {
        fs::copy(at.join(file), into.join(file)).expect("kept");
    }
    for file in ["agon.toml", "run.sh"] {
        fs::copy(at.join("bot").join(file), into.join(file)).expect("kept");
    }
    fs::write(into.join("facts.json"), serde_json::to_string_pretty(&facts).expect("JSON") + "\n")
        .expect("kept");
}

/// Takes a team out of the ratings, as the organiser's page does.
fn rule(contest: &Path) {
    let now = std::time::UNIX_EPOCH.elapsed().expect("after 1970");
    block_on(async {
        let (store, row) = look(contest).await.expect("a contest");
        let versions = store.versions().await.expect("versions");
        let bob = versions.iter().find(|version| version.entrant == "Bob").expect("he is there").id;
        let entrant = store.owners().await.expect("owners")[&bob];
        let rule = GiveRuling {
            contest: row.id,
            ruling: Ruling::Out,
            entrant,
            version: None,
            reason: "it is another team's bot".to_owned(),
            actor: "organiser".to_owned(),
            now: Time(i64::try_from(now.as_millis()).expect("a time")),
        };
        assert!(store.act(rule).await.expect("ruled").is_some());
        store.close().await;
    });
}
