//! Runs the rule tests in `spec/`.

use agon_game::{Dialect as _, Game as _, MapChoice, RulesChoice, Seat, Setup};
use agon_testkit::spec::{self, Adapter};
use cultist_wars::board::{HEIGHT, TILES};
use cultist_wars::event::Event;
use cultist_wars::map::Map;
use cultist_wars::orders::Order;
use cultist_wars::state::UNITS;
use cultist_wars::{CultistWars, State};
use std::path::Path;

/// A board block is a map file; without rows, the board is generated from the seed. Settings are names of rules.
struct CultistWarsSpec;

impl Adapter for CultistWarsSpec {
    type Game = CultistWars;

    fn set_up(
        board: &[&str],
        settings: &[(String, String)],
        seed: i64,
    ) -> Result<(CultistWars, State), String> {
        let map = match board.is_empty() {
            true => MapChoice::Default,
            false => MapChoice::File("board".to_owned(), board.join("\n").into_bytes()),
        };
        let rules = RulesChoice { sets: settings.to_vec(), ..RulesChoice::default() };
        let game =
            CultistWars::set_up(&Setup { rules, map, seats: 2, seed }).map_err(|error| error.to_string())?;
        let start = game.start();
        Ok((game, start))
    }

    /// - `row 0 ...x.........`, `obstacles 12`: the board; `now 0 ...x..2......`: with its units.
    /// - `unit 3 on 4,2`, `unit 3 player 1`, `unit 3 neutral`, `unit 3 hp 4`, `unit 3 dead`.
    /// - `turn 3` (turns played), `limit 50`, `generator 42`.
    /// - `first: ...` and `later: ...`: each line sent to the player whose turn it is, in the first question or a later one.
    /// - `unit 0 moved from 0,3 to 1,3` and so on: what happened in the last turn.
    /// - `line 3,3 4,4`: the tiles that the shot of the last turn was aimed over.
    fn facts(game: &CultistWars, state: &State, events: &[Event]) -> Vec<String> {
        let mut facts = Vec::new();
        let rows = (0..HEIGHT).map(|y| String::from_utf8_lossy(&game.map().row(y)).into_owned());
        facts.extend(rows.enumerate().map(|(y, row)| format!("row {y} {row}")));
        let now = Map { start: *state, ..game.map().clone() }.text(game.rules());
        facts.extend(now.lines().take(HEIGHT.into()).enumerate().map(|(y, row)| format!("now {y} {row}")));
        facts.push(format!("obstacles {}", TILES as u32 - game.map().floor.len()));
        for unit in 0..UNITS as u8 {
            let Some(owner) = state.owner(unit) else { continue };
            facts.push(format!("unit {unit} {owner}"));
            if state.living().contains(unit) {
                facts.push(format!("unit {unit} on {}", state.tile(unit)));
                facts.push(format!("unit {unit} hp {}", state.hp(unit)));
            } else {
                facts.push(format!("unit {unit} dead"));
            }
        }
        facts.push(format!("turn {}", state.turns_played()));
        facts.push(format!("generator {}", state.generator()));
        for seat in game.deciding(state).iter() {
            facts.push(format!("limit {}", game.limit_ms(state, seat)));
            facts.extend(questions(game, state, seat));
        }
        facts.extend(events.iter().map(Event::to_string));
        for event in events {
            if let Event::Shot { line, .. } = event {
                let tiles: Vec<String> = line.0.iter().map(|tile| format!(" {tile}")).collect();
                facts.push(format!("line{}", tiles.concat()));
            }
        }
        facts
    }
}

fn questions(game: &CultistWars, state: &State, seat: Seat) -> Vec<String> {
    let mut dialect = <CultistWars as agon_game::Game>::Dialect::new(game);
    let mut lines = Vec::new();
    for which in ["first", "later"] {
        let mut sent = Vec::new();
        dialect.ask(game, seat, &game.view(state, seat), &mut sent);
        lines.extend(String::from_utf8_lossy(&sent).lines().map(|line| format!("{which}: {line}")));
    }
    lines
}

#[test]
fn rules_hold() {
    spec::run::<CultistWarsSpec>(&Path::new(env!("CARGO_MANIFEST_DIR")).join("spec"));
}

/// The numbers of the preset are tested, too: with any one changed, a section must fail.
#[test]
fn every_number_of_the_rules_is_proved() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("spec");
    for (name, value) in [
        ("number_of_turns", "149"),
        ("number_of_units", "12"),
        ("health_points", "9"),
        ("shooting_range", "5"),
        ("damage", "8"),
        ("obstacle_chance", "0.19"),
        ("neutral_seed", "43"),
        ("neutral_draw", "11"),
        ("first_response_time", "999"),
        ("response_time", "51"),
    ] {
        let summary = spec::check::<CultistWarsSpec>(&folder, &[(name.to_owned(), value.to_owned())]);
        assert!(!summary.failures.is_empty(), "no section notices {name} = {value}");
    }
}

/// The words of the orders, so that the spec files and the protocol cannot drift apart.
#[test]
fn orders_are_written_as_they_are_read() {
    let orders = [
        (Order::Wait, "WAIT"),
        (Order::Move { unit: 2, x: 4, y: 0 }, "2 MOVE 4 0"),
        (Order::Shoot { unit: 3, target: 9 }, "3 SHOOT 9"),
        (Order::Convert { unit: 0, target: 5 }, "0 CONVERT 5"),
    ];
    for (order, text) in orders {
        assert_eq!(order.to_string(), text);
    }
}

#[test]
fn a_turn_of_a_recorded_match_is_a_section() {
    let setup = Setup { seats: 2, seed: 3, ..Setup::default() };
    agon_testkit::recorded::check::<CultistWarsSpec>(&setup, "CW-SHOOT-1");
}
