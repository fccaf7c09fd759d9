//! What every game must pass, and that this one is worth playing.

use std::path::Path;

use agon_game::session::RunningMatch;
use agon_game::simple::Lines;
use agon_game::{Answer, Dialect as _, Game as _, RulesChoice, Seat, Session as _, Setup};
use agon_testkit::{conformance, rulebook, spec};
use nim::{INFO, Nim, State};

struct NimSpec;

impl spec::Adapter for NimSpec {
    type Game = Nim;

    /// Settings are names of rules.
    fn set_up(_: &[&str], settings: &[(String, String)], seed: i64) -> Result<(Nim, State), String> {
        let rules = RulesChoice { sets: settings.to_vec(), ..RulesChoice::default() };
        let game = Nim::set_up(&Setup { rules, seats: 2, seed, ..Setup::default() })
            .map_err(|error| error.to_string())?;
        let start = game.start();
        Ok((game, start))
    }

    /// `left 18`, `to move 2`, `asked: 18 3`, `player 2 took the last match`.
    fn facts(game: &Nim, state: &State, _: &[String]) -> Vec<String> {
        let mut facts = vec![format!("left {}", state.left), format!("to move {}", 1 + state.mover)];
        let mut asked = Vec::new();
        Lines::new(game).ask(game, Seat::new(state.mover), &state, &mut asked);
        facts.push(format!("asked: {}", String::from_utf8_lossy(&asked)));
        facts.extend(game.outcome(state).map(|outcome| outcome.reason));
        facts
    }
}

#[test]
fn rules_hold() {
    spec::run::<NimSpec>(&Path::new(env!("CARGO_MANIFEST_DIR")).join("spec"));
}

#[test]
fn every_rule_is_decided_and_proved() {
    rulebook::check(&INFO);
}

#[test]
fn the_contract_is_kept() {
    let setup = Setup { seats: 2, seed: 1, ..Setup::default() };
    assert!(conformance::check::<Nim>(&[setup], 1_000) >= 1_000);
}

#[test]
fn perfect_play_beats_chance() {
    let mut wins = [0, 0];
    for seed in 0..20 {
        for perfect in 0..2 {
            let setup = Setup { seats: 2, seed, ..Setup::default() };
            let mut table = RunningMatch::new(Nim::set_up(&setup).expect("the default"));
            for seat in 0..2 {
                let name = if seat == perfect { "perfect" } else { "random" };
                table.seat_builtin(Seat::new(seat), name, &[], seed as u64).expect("a built-in bot");
            }
            while let Some(seat) = table.deciding().iter().next() {
                let order = table.think(seat);
                table.play(&[(seat, Answer::Given { order, think_ms: 0 })]).expect("who is asked answers");
            }
            let winner = table.outcome().expect("the end").winner();
            wins[usize::from(perfect)] += u32::from(winner == Some(Seat::new(perfect)));
        }
    }
    // From 21 whoever begins can win; as the second one it needs a single slip of the other.
    assert!(wins[0] == 20 && wins[1] >= 18, "{wins:?}");
}
