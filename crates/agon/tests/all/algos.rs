//! Algos of all seasons of Terminal: those of the first ones with their configurations, compiled kits, and what
//! `agon check` says about good ones.

use std::path::Path;

use serde_json::Value;

use crate::common::{agon, err, folder, good, is_installed, json, out, write};

/// An algo in the style of 2018: it reads the old names of the configuration, three numbers of `turnInfo`, and seven
/// lists of units.
const OLD_ALGO: &str = "
import json, sys

config = json.loads(sys.stdin.readline())
units = config['unitInformation']
assert [unit['shorthand'] for unit in units] == ['FF', 'EF', 'DF', 'PI', 'EI', 'SI', 'RM']
wall_cost, wall_stability, ping_damage = units[0]['cost'], units[0]['stability'], units[3]['damageF']
for line in sys.stdin:
    state = json.loads(line)
    phase, turn, frame = state['turnInfo']
    filters, encryptors, destructors, pings, emps, scramblers, removals = state['p1Units']
    if phase == 2: break
    if phase != 0: continue
    cores, bits = state['p1Stats'][1:3]
    assert all(stability <= wall_stability for _, _, stability, _ in filters)
    build = [['FF', 13, 13]] * int(cores // wall_cost > 0) + [['RM', 13, 13]]
    print(json.dumps(build)); print(json.dumps([['PI', 13, 0]] * int(bits)), flush=True)
";

/// A program for each compiled language: it answers every deploy line with nothing.
const JAVA: &str = "package starter;
import java.util.Scanner;
public class Algo { public static void main(String[] a) { Scanner in = new Scanner(System.in);
while (in.hasNextLine()) if (in.nextLine().contains(\"\\\"turnInfo\\\":[0\")) { System.out.println(Empty.LIST); System.out.println(Empty.LIST); } } }
";
const RUST: &str = "fn main() {
    for line in std::io::stdin().lines() {
        if line.unwrap().contains(\"\\\"turnInfo\\\":[0\") { println!(\"[]\\n[]\"); }
    }
}
";

/// Plays three turns against an idle bot and returns the result.
fn play(place: &Path, bot: &str, more: &[&str]) -> Value {
    let words = [
        "play",
        "terminal",
        bot,
        "builtin:rush",
        "--set",
        "maxTurns=3",
        "--time-scale",
        "20",
        "--no-replay",
        "--json",
    ];
    let result = json(&agon(place, &[&words, more].concat()));
    assert_eq!(result["seats"][0]["faults"], serde_json::json!([]), "{result:#}");
    assert_eq!(result["turns"], 3, "{result:#}");
    result
}

#[test]
fn an_algo_of_the_first_season_plays_with_its_configuration() {
    if !is_installed("python3") {
        return;
    }
    let place = folder();
    write(&place, "old/run.sh", "#!/bin/sh\nexec python3 -u \"$(dirname \"$0\")/algo_strategy.py\"\n");
    write(&place, "old/algo_strategy.py", OLD_ALGO);
    let config = include_str!("../../../../games/terminal/tests/first-season.json");
    write(&place, "game-configs.json", config);
    let result = play(place.path(), "old", &["--rules", "game-configs.json"]);
    assert!(result["seats"][0]["rejections"].is_null(), "{result:#}");
    assert!(result["rules"].as_str().expect("a name").contains("game-configs.json"), "{result:#}");
    // Its replay in the original's format can be read back, under the same configuration.
    let words =
        ["play", "terminal", "old", "builtin:rush", "--rules", "game-configs.json", "--set", "maxTurns=3"];
    good(agon(place.path(), &[&words[..], &["--replay", "ours.replay", "--quiet"]].concat()));
    for arguments in [
        &["replay", "export", "ours.replay", "--format", "terminal", "-o", "theirs.replay"][..],
        &["replay", "info", "theirs.replay"],
        &["replay", "verify", "ours.replay"],
    ] {
        let done = agon(place.path(), arguments);
        assert!(done.status.success(), "{arguments:?}: {}{}", out(&done), err(&done));
    }
}

/// A kit whose target is a folder of a workspace, named in a table of the language. It is built as in a contest: inside, with
/// its own packages beside it.
#[test]
fn a_later_kit_of_rust_is_built_with_what_lies_beside_it() {
    if !["cargo", "rustc"].into_iter().all(is_installed) {
        println!("SKIPPED: a kit of Rust (cargo is not installed)");
        return;
    }
    let place = folder();
    let package = |name: &str, more: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{more}")
    };
    let about = "{\"language\": \"rust\", \"rust-specific\": {\"compile-target\": \"my-algo\"}}";
    write(&place, "kit/algo.json", about);
    write(&place, "kit/Cargo.toml", "[workspace]\nmembers = [\"my-algo\", \"api\"]\nresolver = \"2\"\n");
    let needs = "[dependencies]\napi = { path = \"../api\" }\ntiny = \"1\"\n";
    write(&place, "kit/my-algo/Cargo.toml", &package("my-algo", needs));
    write(
        &place,
        "kit/my-algo/src/main.rs",
        &RUST.replace("[]\\n[]\"", "{0}\\n{0}\", api::list(tiny::OPEN)"),
    );
    write(&place, "kit/api/Cargo.toml", &package("api", ""));
    write(&place, "kit/api/src/lib.rs", "pub fn list(open: char) -> String { format!(\"{open}]\") }");
    // As `cargo vendor` writes it.
    let config = "[source.crates-io]\nreplace-with = \"vendored-sources\"\n[source.vendored-sources]\ndirectory = \"vendor\"\n";
    write(&place, "kit/.cargo/config.toml", config);
    write(&place, "kit/vendor/tiny/Cargo.toml", &package("tiny", "").replace("0.1.0", "1.0.0"));
    write(&place, "kit/vendor/tiny/src/lib.rs", "pub const OPEN: char = '[';");
    write(&place, "kit/vendor/tiny/.cargo-checksum.json", "{\"files\":{},\"package\":null}");
    good(agon(place.path(), &["build", "kit", "--sandbox", "on"]));
    play(place.path(), "kit", &["--sandbox", "on"]);
}

#[test]
fn algos_of_compiled_languages_are_built_and_found() {
    let place = folder();
    write(&place, "my-java/algo.json", "{\"language\": \"java\", \"compile-target\": \"starter.Algo\"}");
    write(&place, "my-java/src/main/java/starter/Algo.java", JAVA);
    write(
        &place,
        "my-java/src/main/java/starter/Empty.java",
        "package starter; class Empty { static final String LIST = \"[]\"; }",
    );
    write(&place, "my-rust/algo.json", "{\"language\": \"rust\", \"compile-target\": \"my-algo\"}");
    write(
        &place,
        "my-rust/Cargo.toml",
        "[package]\nname = \"my-algo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    );
    write(&place, "my-rust/src/main.rs", RUST);

    // An unbuilt algo says so, and how to build it.
    for (bot, made) in [("my-java", "algo-target/classes"), ("my-rust", "target/release/my-algo")] {
        let refused = agon(place.path(), &["play", "terminal", bot, "builtin:idle"]);
        let told = format!("`{made}` is not there yet; build the bot first: agon build {bot}");
        assert!(err(&refused).contains(&told), "{}", err(&refused));
        assert_eq!(refused.status.code(), Some(2));
    }
    if ["java", "javac"].into_iter().all(is_installed) {
        let result = play(place.path(), "my-java", &["--build"]);
        assert_eq!(result["seats"][0]["bot"], "my-java", "{result:#}");
    }
    if ["cargo", "rustc"].into_iter().all(is_installed) {
        let built = agon(place.path(), &["build", "my-rust"]);
        assert!(
            built.status.success() && out(&built).contains("my-rust: built"),
            "{}{}",
            out(&built),
            err(&built)
        );
        play(place.path(), "my-rust", &[]);
        let again = agon(place.path(), &["build", "my-rust"]);
        assert!(out(&again).contains("my-rust: up to date"), "{}", out(&again));
    }
}

#[test]
fn a_target_folder_goes_by_the_name_of_its_algo() {
    let place = folder();
    let run = "#!/bin/sh\nwhile read -r line; do case $line in *'\"turnInfo\":[0'*) printf '[]\\n[]\\n';; esac; done\n";
    write(&place, "seeker/algo-target/run.sh", run);
    let result = play(place.path(), "seeker/algo-target", &[]);
    assert_eq!(result["seats"][0]["bot"], "seeker", "{result:#}");
}

#[test]
fn check_knows_the_soft_limit_and_repeated_removals() {
    if !is_installed("python3") {
        return;
    }
    let place = folder();
    let bot = |sleep: &str| {
        format!(
            "import sys, time\nfor line in sys.stdin:\n    if '\"turnInfo\":[0' in line:\n        {sleep}\n        \
             print('[[\"FF\",13,13],[\"RM\",13,13],[\"RM\",13,13],[\"RM\",13,13]]\\n[]', flush=True)\n"
        )
    };
    write(&place, "good.py", &bot("pass"));
    write(&place, "slow.py", &bot("time.sleep(0.3)"));
    let check = |bot: &str, soft: &str| {
        let words = ["check", "terminal", bot, "--json", "--set", "maxTurns=3", "--set", soft];
        let checked = agon(place.path(), &words);
        let report = json(&checked);
        assert_eq!((checked.status.code(), &report["failed"]), (Some(0), &0.into()), "{report:#}");
        report["findings"].as_array().expect("a list").clone()
    };
    let of = |findings: &[Value], what: &str| {
        findings
            .iter()
            .find(|finding| finding["what"] == what)
            .unwrap_or_else(|| panic!("{what}: {findings:#?}"))
            .clone()
    };
    let findings = check("good.py", "waitTimeBotSoft=30000");
    assert_eq!(of(&findings, "allowed orders")["status"], "passed");
    let needless = of(&findings, "needless orders");
    assert_eq!((&needless["status"], &needless["rule"]), (&"note".into(), &"TM-REMOVE-1".into()));
    assert!(
        needless["seen"].as_str().expect("a text").contains("asked for what was already so"),
        "{needless}"
    );
    let time = of(&check("slow.py", "waitTimeBotSoft=100"), "time");
    assert_eq!(time["status"], "warning", "{time}");
    let seen = time["seen"].as_str().expect("a text");
    assert!(seen.contains("of 100 ms without a penalty (it is stopped at 35.0 s)"), "{seen}");
}
