//! Java programs do not lose because of their garbage collector and compilers: the Java starter against itself, with a
//! compiler running beside it.

use std::process::{Command, Stdio};

use crate::common::{agon, err, folder, good, last_event, out};

/// The short form plays a few matches; `cargo xtask long java` plays 200.
#[test]
fn the_java_starter_against_itself_is_never_late() {
    if !agon_bot::tools::is_installed("javac") || !agon_bot::tools::is_installed("g++") {
        println!("SKIPPED: the Java starter against itself (javac or g++ is not installed)");
        return;
    }
    let folder = folder();
    let wanted = std::env::var("AGON_MATCHES").ok();
    let matches = wanted.clone().unwrap_or_else(|| "4".to_owned());
    for name in ["one", "other"] {
        out(&agon(folder.path(), &["new", "cultist-wars", "java", name]));
    }
    good(agon(folder.path(), &["build", "one", "other"]));
    let work = "#include <regex>\n#include <iostream>\nint main() { std::regex r(\"a+\"); std::cout << std::regex_match(\"a\", r); }\n";
    std::fs::write(folder.path().join("work.cpp"), work).expect("a file");
    // It ends when its file is gone, even if this test dies.
    let mut compiler = Command::new("sh")
        .args(["-c", "while [ -e work.cpp ]; do g++ -O2 -o /dev/null work.cpp || exit; done"])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a shell");
    let words =
        ["gauntlet", "cultist-wars", "one", "other", "--games", &matches, "--json", "--replays", "none"];
    // The long form keeps the clock of the rules. The short one has to pass on any machine: 100 ms, of which a cold
    // runtime may still use most.
    let clock: &[&str] = if wanted.is_some() { &[] } else { &["--time-scale", "2"] };
    let played = agon(folder.path(), &[&words[..], clock].concat());
    std::fs::remove_file(folder.path().join("work.cpp")).expect("our own file");
    compiler.wait().expect("our own child");
    if played.status.code() == Some(3) {
        println!("SKIPPED: the Java starter against itself ({})", err(&played).trim());
        return;
    }
    let result = last_event(&played);
    let voids = result["void"].as_array().map_or(0, Vec::len);
    let journal = folder.path().join("agon-series/cultist-wars-gauntlet-1/journal.jsonl");
    let journal = std::fs::read_to_string(journal).expect("a journal");
    let late = journal.matches("\"timeout\"").count();
    let faults: Vec<&str> = journal.lines().filter(|line| line.contains("\"faults\"")).collect();
    println!("{} matches: {late} with timeouts, {} with faults, {voids} void", result["games"], faults.len());
    faults.iter().for_each(|entry| println!("{entry}"));
    assert_eq!(late, 0, "{}", faults.join("\n"));
    assert_eq!(result["games"].to_string(), matches);
}
