//! Some attacks of each kind, each with its control. `agon sandbox test --controls` runs all of
//! them.
#![cfg(target_os = "linux")]

use std::path::Path;

use agon_sandbox::suite::{AttackChoice, run};
use agon_sandbox::{Level, probe};

/// One per wall.
const SOME: [&str; 14] = [
    "signal-opponent",
    "read-opponent-environment",
    "connect-abstract-socket",
    "inherited-",
    "append-to-journal",
    "through-own-root",
    "change-own-program",
    "private-memory",
    "fork-bomb",
    "deep-daemon",
    "tcp",
    "socket-of-x32",
    "namespace-by-clone3",
    "queue-for-next-match",
];

#[test]
fn some_attacks_are_held_and_win_in_their_controls() {
    let program = Path::new(env!("CARGO_BIN_EXE_agon-sandbox"));
    let found = probe(program);
    if found.level > Level::B {
        println!("skipped: level {} here: {:?}", found.level, found.missing);
        return;
    }
    let wanted = AttackChoice { controls: true, level: None, only: SOME.map(str::to_owned).to_vec() };
    let results = run(program, &wanted, &mut |_| {}).expect("the attacks are run");
    assert!(results.attacks.len() >= 14, "{}", results.attacks.len());
    let bad: Vec<_> = results.attacks.iter().filter(|outcome| outcome.is_bad()).collect();
    assert!(bad.is_empty(), "at level {}: {bad:#?}", results.level);
}

/// The rows of the guide's table of attacks.
fn table() -> String {
    let line = |attack: agon_sandbox::attack::Attack| {
        use agon_sandbox::attack::Control;
        let control = match attack.control {
            Control::Outside => "outside".to_owned(),
            Control::Roomy => "with wide limits".to_owned(),
            Control::Everywhere => "everywhere: accepted".to_owned(),
            Control::Without(walls) => {
                let names: Vec<String> =
                    walls.iter().map(|wall| format!("{wall:?}").to_lowercase()).collect();
                format!("without {}", names.join(", "))
            }
        };
        let (name, attempt, wall, level) = (attack.name, attack.attempt, attack.wall, attack.held_at);
        format!("| `{name}` | {attempt} | {wall} | {level} | {control} |\n")
    };
    agon_sandbox::attack::all().into_iter().map(line).collect()
}

/// `UPDATE_SECURITY=1 cargo test -p agon-sandbox --test attacks` rewrites the table.
#[test]
fn the_guide_lists_every_attack() {
    const HEAD: &str = "| attack | it tries to | held by | down to level | wins |\n|---|---|---|---|---|\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/security.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    let (before, behind) = page.split_once(HEAD).expect("the table");
    let old = behind.split_once("\n\n").map_or(behind.trim_end(), |(table, _)| table);
    let new = table();
    if std::env::var_os("UPDATE_SECURITY").is_some() {
        let rest = &behind[old.len()..];
        std::fs::write(&path, format!("{before}{HEAD}{}{rest}", new.trim_end())).expect("written");
        return;
    }
    assert_eq!(old.trim_end(), new.trim_end(), "run this test with UPDATE_SECURITY=1");
}
