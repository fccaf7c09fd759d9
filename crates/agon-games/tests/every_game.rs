//! What must be there for every game in the registry.

use std::path::Path;

/// Each game's folder runs the conformance suite, its spec files, and its records where it has any.
#[test]
fn every_game_is_proved() {
    let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games");
    for game in agon_games::ALL {
        let name = game.info().name;
        let folder = games.join(name);
        let mut tests = String::new();
        for file in std::fs::read_dir(folder.join("tests")).expect("every game has tests").flatten() {
            tests += &std::fs::read_to_string(file.path()).unwrap_or_default();
        }
        for needed in ["conformance::check", "spec::run", "rulebook::check"] {
            assert!(tests.contains(needed), "games/{name}/tests never calls {needed}");
        }
        for needed in ["RULES.md", "src/turn.rs", "src/rules.rs", "bots"] {
            assert!(folder.join(needed).exists(), "games/{name} has no {needed}");
        }
    }
    let folders = std::fs::read_dir(games).expect("the folder of games").count();
    assert_eq!(folders, agon_games::ALL.len(), "every folder in games/ is in the registry");
}

/// The registry is sorted and its names are what people type.
#[test]
fn names_are_unique_and_sorted() {
    let names: Vec<&str> = agon_games::ALL.iter().map(|game| game.info().name).collect();
    assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    for game in agon_games::ALL {
        let info = game.info();
        assert!(info.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", info.name);
        assert!(!info.presets.is_empty() && !info.builtins.is_empty() && info.seats.0 <= info.seats.1);
    }
}
