//! Rules of one's own: what a draft is played on that its team plays under other rules than the contest's. Nothing rated is.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use agon_game::rules::numbers;
use agon_game::{AnyGame, RulesChoice, Setup, SetupError};
use serde::{Deserialize, Serialize};

use crate::protocol::{MatchGround, Stage, Unfit};

/// How long such a match may take: its numbers may make one that hardly ends.
pub const LONGEST: Duration = Duration::from_secs(300);
/// How often the time is looked at.
const LOOK: Duration = Duration::from_millis(50);
/// The most numbers that are changed at once.
const MOST_SETS: usize = 32;
/// The longest name or value of one, in bytes.
const LONGEST_SET: usize = 80;

/// What a team changes of a contest's rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RulesWish {
    /// Another preset; none for the contest's own rules.
    pub preset: Option<String>,
    /// `(name, value)` on top of it, as `agon play --set` takes them.
    pub sets: Vec<(String, String)>,
}

/// A ground with other rules than the contest's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedGround {
    pub ground: MatchGround,
    /// What differs: `startingHP 10000 (usually 30)`.
    pub says: String,
}

impl ChangedGround {
    /// A ground of the contest with these changes; none if there is no change.
    ///
    /// # Errors
    /// A sentence, when there is no such preset or number, with the nearest there is, or it has an impossible value.
    pub fn of(
        game: &dyn AnyGame,
        ground: &MatchGround,
        wish: &RulesWish,
        seed: i64,
    ) -> Result<Option<Self>, String> {
        if wish.preset.is_none() && wish.sets.is_empty() {
            return Ok(None);
        }
        let is_long = |(key, value): &(String, String)| key.len() > LONGEST_SET || value.len() > LONGEST_SET;
        if wish.sets.len() > MOST_SETS || wish.sets.iter().any(is_long) {
            return Err(format!(
                "at most {MOST_SETS} numbers are changed at once, with names and values of at most {LONGEST_SET} bytes"
            ));
        }
        let usual = ground.setup();
        let base = match &wish.preset {
            Some(preset) => RulesChoice { preset: preset.clone(), ..RulesChoice::default() },
            None => usual.rules,
        };
        let setup = Setup { rules: RulesChoice { sets: wish.sets.clone(), ..base }, seed, ..usual };
        let session = game.open(&setup).map_err(|error| match error {
            // Without the words of the command line.
            SetupError::UnknownRule { key, nearest: Some(near), .. } => {
                format!("no rule is called `{key}`; did you mean `{near}`?")
            }
            SetupError::UnknownRule { key, .. } => format!("no rule is called `{key}`"),
            SetupError::BadRule { place, why } => {
                format!("{}: {why}", place.strip_prefix("--set ").unwrap_or(&place))
            }
            other => other.to_string(),
        })?;
        let changed = MatchGround::new(&setup, session.recipe());
        if changed.rules == ground.rules {
            return Ok(None);
        }
        let known = numbers(&ground.rules);
        let usually = |key: &str| {
            let found = known.iter().find(|own| own.key == key || own.path == key);
            found.map_or_else(String::new, |own| format!(" (usually {})", own.usual))
        };
        let preset = wish.preset.iter().map(|name| format!("preset {name} (usually {})", ground.rules_name));
        let sets = wish.sets.iter().map(|(key, value)| format!("{key} {value}{}", usually(key)));
        let says = preset.chain(sets).collect::<Vec<_>>().join(", ");
        Ok(Some(Self { ground: changed, says }))
    }
}

/// Plays a match of at most this length: `play` is given what halts it. It is halted as well when `stop` becomes true.
pub fn bounded<T>(most: Duration, stop: &AtomicBool, play: impl FnOnce(&AtomicBool) -> T) -> T {
    let halt = AtomicBool::new(false);
    thread::scope(|scope| {
        let (playing, is_over) = mpsc::channel::<()>();
        let (until, halts) = (Instant::now() + most, &halt);
        scope.spawn(move || {
            while is_over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                if stop.load(Ordering::Relaxed) || Instant::now() >= until {
                    halts.store(true, Ordering::Relaxed);
                }
            }
        });
        let played = play(&halt);
        drop(playing);
        played
    })
}

/// Why a match that was halted so gave nothing.
pub fn too_long() -> Unfit {
    Unfit {
        stage: Stage::Match,
        what: format!(
            "Under these rules the match was not over after {} min, so it was ended.",
            LONGEST.as_secs() / 60
        ),
        fix: Some("Change the numbers less.".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ground(game: &dyn AnyGame) -> MatchGround {
        let setup = Setup { seats: game.info().usual_seats(), ..Setup::default() };
        MatchGround::new(&setup, game.open(&setup).expect("its own rules").recipe())
    }

    fn wish(preset: Option<&str>, sets: &[(&str, &str)]) -> RulesWish {
        let own = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        RulesWish { preset: preset.map(str::to_owned), sets: sets.iter().map(own).collect() }
    }

    #[test]
    fn a_ground_is_changed_in_what_is_named_and_opens_as_such() {
        let game = agon_games::find("terminal").expect("it is there");
        let own = ground(game);
        let changed = ChangedGround::of(game, &own, &wish(None, &[("startingHP", "10000")]), 7);
        let changed = changed.expect("good").expect("changed");
        assert_eq!(changed.says, "startingHP 10000 (usually 30)");
        assert!(changed.ground.rules.contains("\"startingHP\":10000"), "{}", changed.ground.rules);
        assert_eq!((&changed.ground.map, changed.ground.seats), (&own.map, own.seats));
        let session = game.open(&Setup { seed: 7, ..changed.ground.setup() }).expect("it opens again");
        assert_eq!(session.recipe().rules_name, format!("{}, startingHP=10000", own.rules_name));
        let other = ChangedGround::of(game, &own, &wish(Some("kit-2020"), &[]), 7);
        let other = other.expect("good").expect("changed");
        assert_eq!(other.says, format!("preset kit-2020 (usually {})", own.rules_name));
        assert_eq!(ChangedGround::of(game, &own, &RulesWish::default(), 7), Ok(None));
        for (wrong, why) in [
            (wish(None, &[("startinHP", "5")]), "no rule is called `startinHP`; did you mean `startingHP`?"),
            (wish(Some("kit-2021"), &[]), "no rules preset `kit-2021`. Presets: "),
            (wish(None, &[("startingHP", "many")]), "must be a number, not a text"),
            (wish(None, &[("x", &"9".repeat(81))]), "at most 80 bytes"),
        ] {
            let error = ChangedGround::of(game, &own, &wrong, 7).expect_err(why);
            assert!(error.contains(why) && !error.contains("--set"), "{error}");
        }
    }

    #[test]
    fn every_number_of_every_game_is_known_by_its_name() {
        for game in agon_games::all() {
            let own = ground(*game);
            let all = numbers(&own.rules);
            let titles: Vec<&str> = all.iter().map(|number| number.title.as_str()).collect();
            if game.info().name == "terminal" {
                for title in ["resources: starting HP", "Wall: upgrade: start health"] {
                    assert!(titles.contains(&title), "{titles:?}");
                }
            }
            assert!(all.len() > 5, "{}: {all:?}", game.info().name);
            for number in all {
                let wish = wish(None, &[(&number.key, &number.usual)]);
                let same = ChangedGround::of(*game, &own, &wish, 7);
                assert_eq!(same, Ok(None), "{} {}: it is so already", game.info().name, number.key);
            }
        }
    }

    #[test]
    fn a_match_that_does_not_end_is_halted_and_one_that_ends_is_not() {
        let stop = AtomicBool::new(false);
        let until_halted = |halt: &AtomicBool| {
            for _ in 0..100_000 {
                if halt.load(Ordering::Relaxed) {
                    return true;
                }
                thread::sleep(Duration::from_millis(1));
            }
            false
        };
        assert!(bounded(Duration::from_millis(1), &stop, until_halted));
        assert!(!bounded(LONGEST, &stop, |halt| halt.load(Ordering::Relaxed)));
        stop.store(true, Ordering::Relaxed);
        assert!(bounded(LONGEST, &stop, until_halted), "and when it is time to stop");
    }
}
