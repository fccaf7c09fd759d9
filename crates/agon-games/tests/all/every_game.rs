//! What every game in the registry must have.

use std::path::Path;

use agon_game::advantage::firsts;
use agon_game::{Answer, RulesChoice, Seeded, Setup, advantage};

/// Each game's folder runs the conformance suite, its spec files, and its records if it has any.
#[test]
fn every_game_is_proved() {
    let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games");
    for game in agon_games::all() {
        let name = game.info().name;
        let folder = games.join(name);
        let mut tests = String::new();
        // In one test program, as here, or in several.
        let entries = ["tests", "tests/all"].map(|place| std::fs::read_dir(folder.join(place)));
        for file in entries.into_iter().flatten().flatten().flatten() {
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
    assert_eq!(folders, agon_games::all().len(), "every folder in games/ is in the registry");
}

/// What is embedded of a game is what lies in its folder. Cargo does not see a new file of `spec` by itself.
#[test]
fn the_embedded_sources_are_those_in_the_folder() {
    let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games");
    for game in agon_games::all() {
        let folder = games.join(game.info().name);
        let (mut found, mut folders) = (Vec::new(), vec![folder.join("src"), folder.join("spec")]);
        while let Some(inner) = folders.pop() {
            for path in std::fs::read_dir(inner).expect("a folder").map(|entry| entry.expect("a file").path())
            {
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(&folder).expect("inside").display().to_string();
                    found.push((name, std::fs::read_to_string(&path).expect("text")));
                }
            }
        }
        found.sort();
        let embedded = game.info().source_files();
        let differ = found.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        let differ: Vec<&str> = differ
            .filter(|file| !embedded.iter().any(|(name, text)| (name.as_str(), *text) == *file))
            .map(|(name, _)| name)
            .collect();
        assert!(
            differ.is_empty() && embedded.len() == found.len(),
            "games/{}: embedded are {} files, in the folder are {}; of these differ {differ:?}. After a new file, touch src/lib.rs",
            game.info().name,
            embedded.len(),
            found.len(),
        );
    }
}

/// The registry is sorted and its names are what people type.
#[test]
fn names_are_unique_and_sorted() {
    let names: Vec<&str> = agon_games::all().iter().map(|game| game.info().name).collect();
    assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    for game in agon_games::all() {
        let info = game.info();
        assert!(info.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", info.name);
        assert!(!info.presets.is_empty() && !info.builtins.is_empty() && info.seats.0 <= info.seats.1);
    }
}

/// Every game says who is ahead, in every position of a match, with chances that add up.
#[test]
fn every_game_says_who_is_ahead() {
    for game in agon_games::all() {
        let info = game.info();
        assert!(
            info.builtins.iter().any(|bot| bot.name == info.policy),
            "{}: no bot is called {}",
            info.name,
            info.policy
        );
        for preset in info.presets {
            let seats = info.usual_seats();
            let rules = RulesChoice { preset: preset.name.to_owned(), ..RulesChoice::default() };
            let mut session =
                game.open(&Setup { rules, seats, seed: 5, ..Setup::default() }).expect("a preset sets up");
            let mut chance = Seeded::stream(5, "test");
            let mut last = 0.0;
            while session.outcome().is_none() {
                let standing = session.standing();
                let place = format!("{} {}, {}", info.name, preset.name, session.moment());
                assert_eq!(standing.features.len(), info.advantage.len() * usize::from(seats), "{place}");
                assert!(standing.features.iter().all(|value| value.is_finite()), "{place}: {standing:?}");
                assert!(
                    (last..=1.0).contains(&standing.progress),
                    "{place}: {last}, then {}",
                    standing.progress
                );
                last = standing.progress;
                let chances = advantage(session.as_ref()).expect("every game has weights");
                assert!((chances.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{place}: {chances:?}");
                let seats = session.deciding();
                let stray =
                    |seat| (seat, Answer::Given { order: session.stray(seat, &mut chance), think_ms: 0 });
                let answers: Vec<_> = seats.iter().map(stray).collect();
                session.play(&answers).expect("random orders are orders");
            }
            let end = advantage(session.as_ref()).expect("every game has weights");
            assert_eq!(end, firsts(session.outcome().expect("it is over")), "{}", info.name);
        }
    }
}
