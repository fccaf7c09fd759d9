//! The example bots of Cultist Wars as programs: against each other and against every built-in, in both seats.

use crate::common::json;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

fn bots() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games/cultist-wars/bots")
}

/// The examples whose language is installed, as `(language, what to type)`. The C++ one is compiled into `folder`.
fn examples(folder: &TempDir) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    for (language, tool, file) in
        [("Python", "python3", "python/bot.py"), ("JavaScript", "node", "javascript/bot.js")]
    {
        if Command::new(tool).arg("--version").output().is_ok() {
            found.push((language, bots().join(file).display().to_string()));
        } else {
            println!("SKIPPED: the {language} example ({tool} is not installed)");
        }
    }
    let program = folder.path().join("cpp-bot");
    let compiled =
        Command::new("g++").args(["-O2", "-o"]).arg(&program).arg(bots().join("cpp/bot.cpp")).status();
    match compiled {
        Ok(status) => {
            assert!(status.success(), "the C++ example compiles");
            found.push(("C++", program.display().to_string()));
        }
        Err(_) => println!("SKIPPED: the C++ example (g++ is not installed)"),
    }
    found
}

/// Plays a match and expects no fault and no rejected order of an example.
fn play(folder: &TempDir, seats: [&str; 2], seed: &str) {
    // The clock is wide: the test is about what the bots say, on whatever machine it runs.
    let arguments = [
        "play",
        "cultist-wars",
        seats[0],
        seats[1],
        "--seed",
        seed,
        "--json",
        "--no-replay",
        "--time-scale",
        "20",
    ];
    let result = json(
        &Command::new(env!("CARGO_BIN_EXE_agon"))
            .args(arguments)
            .current_dir(folder.path())
            .output()
            .expect("agon starts"),
    );
    for seat in result["seats"].as_array().expect("a list of seats") {
        let faults = seat["faults"].as_array().expect("a list of faults");
        // On a busy machine, a runtime's threads may run a little past their turn.
        let faults: Vec<_> = faults.iter().filter(|fault| fault["kind"] != "pondering").collect();
        assert!(faults.is_empty(), "{seats:?} seed {seed}: {faults:?}");
        assert_eq!(seat["rejected"], 0, "{seats:?} seed {seed}: {}", seat["rejections"]);
    }
    assert!(result["seats"][0]["score"].is_number(), "{result}");
}

#[test]
fn examples_play_each_other_and_every_built_in() {
    let folder = tempfile::tempdir().expect("a folder");
    let examples = examples(&folder);
    for (index, (_, first)) in examples.iter().enumerate() {
        for (_, second) in &examples[index + 1..] {
            play(&folder, [first, second], "1");
            play(&folder, [second, first], "1");
        }
        for builtin in ["builtin:idle", "builtin:random", "builtin:greedy", "builtin:hunter?nodes=500"] {
            play(&folder, [first, builtin], "2");
            play(&folder, [builtin, first], "2");
        }
    }
}
