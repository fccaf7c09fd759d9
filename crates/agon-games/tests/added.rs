//! A game that is added when a program starts. A program of its own, because a program's list is filled once.

use agon_game::conform::{ConformReport, Recognised};
use agon_game::{AnyGame, Bench, Face, GameInfo, Ready, Setup, SetupError};
use cultist_wars::CultistWars;

/// A game that is known by its face alone, as one that comes from a file would be.
struct MoonWars(Face<CultistWars>);

static INFO: GameInfo = GameInfo { name: "moon-wars", title: "Moon Wars", ..cultist_wars::INFO };

impl AnyGame for MoonWars {
    fn info(&self) -> &'static GameInfo {
        &INFO
    }

    fn prepare(&self, setup: &Setup) -> Result<Box<dyn Ready>, SetupError> {
        self.0.prepare(setup)
    }

    fn conform(&self, record: &[u8], report: &mut ConformReport) -> Recognised {
        self.0.conform(record, report)
    }

    fn bench(&self, setup: &Setup) -> Result<Bench, SetupError> {
        self.0.bench(setup)
    }
}

static MOON_WARS: MoonWars = MoonWars(Face::new());

#[test]
fn an_added_game_is_one_like_any_other() {
    let twice = agon_games::add(&[&MOON_WARS, &MOON_WARS]).unwrap_err();
    assert_eq!(twice, "there is a game called `moon-wars` already; choose another name");
    agon_games::add(&[&MOON_WARS]).expect("a new name, and nobody has asked for the list yet");
    let names: Vec<&str> = agon_games::all().iter().map(|game| game.info().name).collect();
    assert_eq!(names, ["cultist-wars", "deerhunt", "jungle-blitz", "moon-wars", "ostibot", "terminal"]);
    let game = agon_games::find("moon-wars").expect("it was added");
    let match_ = game.open(&Setup { seats: 2, ..Setup::default() }).expect("a match");
    assert!(!match_.deciding().is_empty());
    let late = agon_games::add(&[]).unwrap_err();
    assert_eq!(late, "games can only be added before the list of games is first used");
}
