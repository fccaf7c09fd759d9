//! Every starter whose language is installed: made, built, tested by its own test, and played in both seats. A missing
//! language is reported loudly, never skipped in silence.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{agon, json};

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("{key} is a text in {value}"))
}

/// All starters, as `agon new --json` lists them.
fn starters() -> Vec<Value> {
    let listed = json(&agon(Path::new("."), &["new", "--json"]));
    listed.as_array().expect("a list").clone()
}

/// Runs a command that a README says to type, in the bot's folder.
fn typed(folder: &Path, line: &str) {
    let output = Command::new("sh").args(["-c", line]).current_dir(folder).output().expect("a shell");
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "`{line}` fails: {}", String::from_utf8_lossy(&said));
}

/// Plays a match in which the starter, in `seat` from 0, must make no fault.
fn play(folder: &Path, game: &str, seats: [&str; 2], seat: usize) {
    // The clock is wide: the test is about what the bots say, on whatever machine it runs.
    let common =
        ["play", game, seats[0], seats[1], "--seed", "5", "--json", "--no-replay", "--time-scale", "20"];
    let result = json(&agon(folder, &common));
    let own = &result["seats"][seat];
    assert!(own["score"].is_number(), "{result}");
    for fault in own["faults"].as_array().expect("a list of faults") {
        // On a busy machine, a runtime's threads may run a little past their turn.
        assert_eq!(text(fault, "kind"), "pondering", "{game} {seats:?}: {fault}");
    }
    // When all teams move in the same tick, nobody can know where the others will stand.
    let rejected = own["rejected"].as_u64().expect("a number");
    assert!(rejected == 0 || game == "jungle-blitz", "{game} {seats:?}: {rejected} orders rejected");
}

/// Runs `agon check` on the starter, without naming it.
fn check(folder: &Path, game: &str) {
    let mut line = vec!["check", "--json", "--time-scale", "20"];
    // Their steps are all alike; a few are enough.
    match game {
        "jungle-blitz" => line.extend(["--set", "totalTick=40"]),
        "deerhunt" => line.extend(["--set", "max_rounds=30"]),
        _ => {}
    }
    let output = agon(folder, &line);
    let found = json(&output);
    assert_eq!((output.status.code(), &found["failed"]), (Some(0), &Value::from(0)), "{game}: {found:#}");
    assert!(found["passed"].as_u64().is_some_and(|passed| passed >= 8), "{game}: {found:#}");
}

/// One starter, from nothing to a checked bot with two matches played.
fn walk(folder: &TempDir, starter: &Value) {
    let (game, language) = (text(starter, "game"), text(starter, "language"));
    let name = format!("my {language} böt");
    let made = agon(folder.path(), &["new", game, language, &name]);
    let said = String::from_utf8_lossy(&made.stdout).into_owned();
    assert!(made.status.success(), "{game} {language}: {}", String::from_utf8_lossy(&made.stderr));
    let bot = folder.path().join(&name);
    assert_eq!(
        said.contains("  agon build"),
        starter["build"].is_string(),
        "it is said how to build: {said}"
    );
    let built = agon(&bot, &["build"]);
    assert!(built.status.success(), "{game} {language}: {}", String::from_utf8_lossy(&built.stdout));
    assert!(said.contains(text(starter, "test")), "it is said how to test: {said}");
    typed(&bot, text(starter, "test"));
    check(&bot, game);
    let opponent = starter["opponents"][0].as_str().expect("an opponent");
    play(&bot, game, [".", opponent], 0);
    play(&bot, game, [opponent, "."], 1);
    packs(&bot, game);
}

/// The package is made without a complaint.
fn packs(bot: &Path, game: &str) {
    // Contests refuse odd names, and so does `agon pack`; the folder of this test deliberately has one.
    let plain = bot.with_file_name("plain");
    std::fs::rename(bot, &plain).expect("a free name");
    let packed = agon(&plain, &["pack", ".", "--json", "-o", "-"]);
    let said = String::from_utf8_lossy(&packed.stderr);
    // Other languages play here, too, even if the contest takes only one.
    let wanted = match game {
        "ostibot" => Some(("bot.js", "(js, mjs, cjs)")),
        "deerhunt" => Some(("grid_player.py", "grid_player.py")),
        _ => None,
    };
    match wanted.filter(|wanted| !plain.join(wanted.0).exists()) {
        Some((_, why)) => assert!(!packed.status.success() && said.contains(why), "{game}: {said}"),
        None => assert!(packed.status.success() && packed.stdout.len() > 1_000, "{game}: {said}"),
    }
    std::fs::rename(&plain, bot).expect("its own name");
}

/// Walks through all starters of one game.
fn walk_all(game: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut walked = 0;
    for starter in starters().iter().filter(|starter| starter["game"] == game) {
        let needs = text(starter, "needs");
        if agon_bot::tools::is_installed(needs) {
            walk(&folder, starter);
            walked += 1;
        } else {
            loudly(&format!(
                "SKIPPED: the {game} starter in {} ({needs} is not installed)",
                text(starter, "language")
            ));
        }
    }
    println!("{walked} starters of {game}");
}

/// Prints something that is visible although the test passes.
fn loudly(line: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stdout(), "{line}");
}

#[test]
fn cultist_wars() {
    walk_all("cultist-wars");
}

#[test]
fn deerhunt() {
    walk_all("deerhunt");
}

#[test]
fn jungle_blitz() {
    walk_all("jungle-blitz");
}

#[test]
fn jungle_blitz_over_the_library_websockets() {
    let known = Command::new("python3").args(["-c", "import websockets"]).output();
    if !known.is_ok_and(|output| output.status.success()) {
        loudly("SKIPPED: the jungle-blitz starter over the Python library websockets (it is not installed)");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let made = agon(folder.path(), &["new", "jungle-blitz", "python", "bot"]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    play(folder.path(), "jungle-blitz", ["cmd:python3 -u bot/with_websockets.py", "builtin:raider"], 0);
}

#[test]
fn ostibot() {
    walk_all("ostibot");
}

#[test]
fn terminal() {
    walk_all("terminal");
}

/// The match whose input is the fixture of a game's starters: its bots and seed, and how often seat 1 is asked.
const RECORDED: &[(&str, [&str; 4], &str)] = &[
    ("cultist-wars", ["builtin:greedy", "builtin:hunter?nodes=500", "--seed", "11"], "40"),
    ("deerhunt", ["builtin:miner", "builtin:rusher", "--seed", "3"], "3"),
    ("jungle-blitz", ["builtin:collector", "builtin:raider", "--seed=3", "--map=easy-pond"], "5"),
    ("ostibot", ["builtin:looter", "builtin:fighter", "--seed=3", "--map=cloister"], "6"),
    ("terminal", ["builtin:rush", "builtin:fortress", "--seed", "3"], "3"),
];

#[test]
fn fixtures_are_what_the_referee_sends() {
    let folder = tempfile::tempdir().expect("a folder");
    for (game, options, until) in RECORDED {
        let played = agon(folder.path(), &[&["play", game, "-q", "--replay", "it"], &options[..]].concat());
        assert!(played.status.success(), "{game}");
        let input =
            agon(folder.path(), &["replay", "export", "it", "--input", "--seat", "1", "--until", until])
                .stdout;
        for starter in starters().iter().filter(|starter| starter["game"] == *game) {
            let bots = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games").join(game).join("bots");
            let file: PathBuf = bots.join(text(starter, "language")).join("test/input.txt");
            if std::env::var_os("UPDATE_STARTERS").is_some() {
                std::fs::write(&file, &input).expect("a writable file");
            }
            let same = std::fs::read(&file).is_ok_and(|found| found == input);
            assert!(
                same,
                "{} is not what the referee sends (UPDATE_STARTERS=1 writes it anew)",
                file.display()
            );
        }
    }
}

#[test]
fn wrong_wishes_are_answered_with_what_there_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let wrong = |arguments: &[&str]| {
        let output = agon(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(wrong(&["new", "cultist", "python", "x"]).contains("cultist-wars"));
    assert!(wrong(&["new", "cultist-wars", "cobol", "x"]).contains("languages: python, javascript, cpp"));
    assert!(wrong(&["new", "cultist-wars", "python"]).contains("agon new cultist-wars python my-bot"));
    std::fs::write(folder.path().join("precious"), "mine").expect("a file");
    assert!(wrong(&["new", "cultist-wars", "python", "."]).contains("not empty"));
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing was written");
}

#[test]
fn a_missing_language_is_told_with_how_to_get_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = Command::new(env!("CARGO_BIN_EXE_agon"))
        .args(["new", "cultist-wars", "python", "bot"])
        .current_dir(folder.path())
        .env("PATH", "/nowhere")
        .output()
        .expect("agon starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the files are there all the same");
    assert!(said.contains("`python3`") && said.contains("https://www.python.org"), "{said}");
}
