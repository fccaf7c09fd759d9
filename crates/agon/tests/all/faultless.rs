//! Two native programs that answer in microseconds cannot lose by a fault, however busy the machine is.

use crate::common::{agon, folder, last_event, out};

/// The series ends with its result; its journal has one line for each match with the faults of both.
#[test]
fn quick_native_bots_make_no_fault_on_a_busy_machine() {
    let folder = folder();
    // `cargo xtask long faultless` plays more, beside whatever else this machine has to do.
    let matches = std::env::var("AGON_MATCHES").unwrap_or_else(|_| "200".to_owned());
    for name in ["one", "other"] {
        out(&agon(folder.path(), &["new", "cultist-wars", "cpp", name]));
        let built = agon(folder.path(), &["build", name]);
        if !built.status.success() {
            println!("SKIPPED: quick native bots (no C++ compiler)");
            return;
        }
    }
    // Eight matches at once are more than this machine has CPUs for.
    let words = ["gauntlet", "cultist-wars", "one", "other", "--games", &matches, "-j", "8", "--json"];
    let result = last_event(&agon(folder.path(), &[&words[..], &["--replays", "none"]].concat()));
    let voids = result["void"].as_array().map_or(0, Vec::len);
    let journal = folder.path().join("agon-series/cultist-wars-gauntlet-1/journal.jsonl");
    let journal = std::fs::read_to_string(journal).expect("a journal");
    let faults: Vec<&str> = journal.lines().filter(|line| line.contains("\"faults\"")).collect();
    println!("{} matches: {} with faults, {voids} void", result["games"], faults.len());
    assert_eq!(faults, [""; 0]);
    assert_eq!(result["games"].to_string(), matches);
}
