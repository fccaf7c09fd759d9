//! The readable rule tests in `spec/`, and a check that every rule has one.
//!
//! A board shows tiles as in map files, and units: `a b c d` are team 1, `p q r s` team 2, `w x y z` team 3, `k l m n`
//! team 4; a capital letter is a unit that holds a diamond. Settings below it:
//!
//! - `on spawn: a p`: these units stand on spawn tiles.
//! - `diamond 0: 3 40`: level and points of a diamond, counted by column, then by row.
//! - `path a: down down right`: a stored path. `summoning a: 2`: its progress.
//! - `teams: 2`, `units: 3` if the letters do not tell; `order: 2 1` in every tick; `tick: 7`.
//! - every number of the rules by its name.
//!
//! An answer is a list like `a MOVE 3,4; b SUMMON`, or a wire message.

use std::path::Path;

use agon_game::{Answer, Dialect as _, Game as _, MapChoice, RulesChoice, Seat, Setup};
use agon_testkit::{rulebook, spec};
use jungle_blitz::arena::{Cell, Direction};
use jungle_blitz::dialect::Wire;
use jungle_blitz::event::Event;
use jungle_blitz::orders::{Action, Command, Entry};
use jungle_blitz::state::{Owner, State};
use jungle_blitz::{INFO, JungleBlitz};
use serde_json::Value;

const LETTERS: [&str; 4] = ["abcd", "pqrs", "wxyz", "klmn"];

/// The team of a letter and its number in the team.
fn unit_of(letter: char) -> Option<(usize, usize)> {
    let letter = letter.to_ascii_lowercase();
    LETTERS.iter().enumerate().find_map(|(team, letters)| Some((team, letters.find(letter)?)))
}

fn letter(game: &JungleBlitz, unit: u8) -> char {
    let team = game.team_of(unit);
    LETTERS[team].as_bytes()[usize::from(unit - game.first_unit(team))].into()
}

/// The index of a unit by its letter.
fn index(game: &JungleBlitz, text: &str) -> Result<u8, String> {
    let found = text.chars().next().and_then(unit_of).filter(|_| text.len() == 1);
    let (team, number) = found.ok_or_else(|| format!("`{text}` is no unit"))?;
    Ok(game.first_unit(team) + number as u8)
}

fn show(game: &JungleBlitz, cell: Cell) -> String {
    game.arena.point(cell).map_or("nowhere".to_owned(), |at| format!("{},{}", at.x, at.y))
}

struct JungleSpec;

impl spec::Adapter for JungleSpec {
    type Game = JungleBlitz;

    fn set_up(
        board: &[&str],
        settings: &[(String, String)],
        seed: i64,
    ) -> Result<(JungleBlitz, State), String> {
        let of =
            |name: &str| settings.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let number = |name: &str| {
            of(name).map(|text| text.parse::<usize>().map_err(|error| error.to_string())).transpose()
        };
        let board: Vec<&str> = board.iter().map(|row| row.trim()).filter(|row| !row.is_empty()).collect();
        let on_spawn: Vec<char> = of("on spawn").unwrap_or("").chars().collect();
        let (mut teams, mut units) = (1, 1);
        let mut placed = Vec::new();
        let mut map = String::new();
        for (y, row) in board.iter().enumerate() {
            for (x, tile) in row.chars().enumerate() {
                let unit = if "SDt".contains(tile) { None } else { unit_of(tile) };
                let Some((team, number)) = unit else {
                    map.push(tile);
                    continue;
                };
                (teams, units) = (teams.max(team + 1), units.max(number + 1));
                placed.push((team, number, x as i64, y as i64, tile.is_ascii_uppercase()));
                map.push(match (tile.is_ascii_uppercase(), on_spawn.contains(&tile)) {
                    (true, _) => 'D',
                    (false, true) => 'S',
                    (false, false) => '.',
                });
            }
            map.push('\n');
        }
        if !map.contains('S') {
            // There must be a spawn tile somewhere; in a column of its own it is not in the way.
            map = map.lines().map(|row| format!("{row}#\n")).collect::<String>();
            map.replace_range(map.len() - 2..map.len() - 1, "S");
        }
        let units = number("units")?.unwrap_or(units);
        let own = ["on spawn", "order", "tick", "teams", "units", "seats", "map units"];
        let mut sets = vec![("unitsPerTeam".to_owned(), units.to_string())];
        if let Some(line) = of("map units") {
            for said in line.split(", ") {
                map = format!("units for {}\n{map}", said.replace(" is ", ": "));
            }
            sets.clear();
        }
        let ours = |name: &str| {
            own.contains(&name)
                || ["diamond ", "path ", "summoning "].iter().any(|start| name.starts_with(start))
        };
        sets.extend(settings.iter().filter(|(name, _)| !ours(name)).cloned());
        let setup = Setup {
            rules: RulesChoice { sets, ..RulesChoice::default() },
            map: MapChoice::File("board".to_owned(), map.into_bytes()),
            seats: number("teams")?.unwrap_or(teams) as u8,
            seed,
        };
        let mut game = JungleBlitz::set_up(&setup).map_err(|error| error.to_string())?;
        if let Some(order) = of("order") {
            let mut fixed = [0; 4];
            for (place, team) in order.split_whitespace().enumerate() {
                fixed[place] = team.parse::<u8>().map_err(|error| error.to_string())? - 1;
            }
            game = game.with_schedule(vec![fixed; 400]);
        }
        let mut state = game.start();
        state.tick = number("tick")?.unwrap_or(0) as u16;
        for (team, number, x, y, holds) in placed {
            let unit = game.first_unit(team) + number as u8;
            let cell = game.arena.cell_at(x, y);
            state.unit_mut(unit).cell = cell;
            state.unit_mut(unit).known = true;
            if holds {
                let diamond = game.arena.diamonds().iter().position(|own| *own == cell).expect("just placed");
                state.unit_mut(unit).holds = diamond as u8 + 1;
                state.diamonds[diamond].owner = Owner::unit(unit);
            }
        }
        for (name, value) in settings {
            let Some((kind, which)) =
                name.split_once(' ').filter(|_| ours(name) && !own.contains(&name.as_str()))
            else {
                continue;
            };
            let numbers: Vec<u16> = value.split_whitespace().filter_map(|word| word.parse().ok()).collect();
            match kind {
                "diamond" => {
                    let diamond =
                        &mut state.diamonds[which.parse::<usize>().map_err(|error| error.to_string())?];
                    (diamond.level, diamond.points) = (numbers[0] as u8, numbers[1]);
                }
                "summoning" => state.unit_mut(index(&game, which)?).summoning = numbers[0] as u8,
                _ => {
                    let unit = index(&game, which)?;
                    let ways = value.split_whitespace().map(|word| match word {
                        "up" => Ok(Direction::Up),
                        "down" => Ok(Direction::Down),
                        "left" => Ok(Direction::Left),
                        "right" => Ok(Direction::Right),
                        _ => Err(format!("`{word}` is no way")),
                    });
                    let mut ways = ways.collect::<Result<Vec<_>, _>>()?;
                    let end =
                        ways.iter().fold(state.unit(unit).cell, |cell, &way| game.arena.neighbour(cell, way));
                    ways.reverse();
                    state.store_path(&game.arena, unit, end, &ways);
                }
            }
        }
        Ok((game, state))
    }

    fn answer(game: &JungleBlitz, wire: &mut Wire, seat: Seat, text: &str) -> Answer<Command> {
        if text.is_empty() || !text.starts_with(['{', '[', 'n', '"']) || text.starts_with("n ") {
            let entries = text.split(';').map(str::trim).filter(|part| !part.is_empty());
            let entries =
                entries.map(|part| entry(game, part).unwrap_or_else(|why| panic!("`{part}`: {why}")));
            return Answer::Given { order: Command { entries: entries.collect() }, think_ms: 0 };
        }
        struct ByWire;
        impl spec::Adapter for ByWire {
            type Game = JungleBlitz;
            fn set_up(_: &[&str], _: &[(String, String)], _: i64) -> Result<(JungleBlitz, State), String> {
                Err("only for its answers".to_owned())
            }
            fn facts(_: &JungleBlitz, _: &State, _: &[Event]) -> Vec<String> {
                Vec::new()
            }
        }
        <ByWire as spec::Adapter>::answer(game, wire, seat, text)
    }

    fn facts(game: &JungleBlitz, state: &State, _: &[Event]) -> Vec<String> {
        let mut facts = vec![format!("tick {}", state.tick)];
        let name = |unit: u8| letter(game, unit);
        for unit in 0..game.unit_count() {
            let (own, me) = (state.unit(unit), name(unit));
            facts.push(format!("{me} at {}", show(game, own.cell)));
            let path: Vec<String> = state.path(&game.arena, unit).map(|cell| show(game, cell)).collect();
            facts.push(if path.is_empty() {
                format!("{me} no path")
            } else {
                format!("{me} path {}", path.join(" "))
            });
            facts.push(
                own.diamond()
                    .map_or(format!("{me} holds nothing"), |diamond| format!("{me} holds {diamond}")),
            );
            facts.push(if own.summoning > 0 { format!("{me} summons") } else { format!("{me} is free") });
            if own.vined_by > 0 {
                facts.push(format!("{me} vined by {}", name(own.vined_by - 1)));
            }
            if own.attacked_by > 0 {
                facts.push(format!(
                    "{me} killed by {} at {}",
                    name(own.attacked_by - 1),
                    show(game, own.died_at)
                ));
            }
        }
        for diamond in game.arena.diamond_indices() {
            let own = &state.diamonds[usize::from(diamond)];
            let holder = match own.owner.holder() {
                Some(unit) => format!("held by {}", name(unit)),
                None if own.owner == Owner::NEVER => "untouched".to_owned(),
                None => "dropped".to_owned(),
            };
            let (at, level, points) = (show(game, own.cell), own.level, own.points);
            facts.push(format!("diamond {diamond} at {at}, level {level}, {points} points, {holder}"));
        }
        for team in 0..game.teams() {
            facts.push(format!("team {} score {}", team + 1, state.scores[team]));
            facts.push(format!("team {} lost {}", team + 1, state.deaths[team]));
            facts.push(format!("team {} {}", team + 1, if state.is_dead(team) { "gone" } else { "there" }));
        }
        facts.push(format!("asked: {:?}", game.deciding(state).iter().map(Seat::number).collect::<Vec<_>>()));
        facts.push(format!("limit {} ms", game.limit_ms(state, Seat::new(0))));
        for tick in 0..game.rules.total_tick.min(20) {
            let order: Vec<String> =
                game.play_order(tick).iter().map(|team| (team + 1).to_string()).collect();
            facts.push(format!("order in tick {tick}: {}", order.join(" ")));
        }
        let mut told = Vec::new();
        let seat = Seat::new(0);
        Wire::new(game).ask(game, seat, &game.view(state, seat), &mut told);
        flatten("told", &serde_json::from_slice(&told).expect("a TICK is JSON"), &mut facts);
        facts
    }
}

/// Every value of a message as a fact: `told teams.0.score = 0`.
fn flatten(path: &str, value: &Value, facts: &mut Vec<String>) {
    let join = |key: &str| if path == "told" { format!("told {key}") } else { format!("{path}.{key}") };
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| flatten(&join(key), value, facts));
            facts.push(format!("{path} has {} fields", fields.len()));
        }
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(at, value)| flatten(&join(&at.to_string()), value, facts));
            facts.push(format!("{path} has {} entries", list.len()));
        }
        value => facts.push(format!("{path} = {value}")),
    }
}

/// `a MOVE 3,4`.
fn entry(game: &JungleBlitz, text: &str) -> Result<Entry, String> {
    let mut words = text.split_whitespace();
    let unit = index(game, words.next().unwrap_or(""))?;
    let action = Action::named(words.next().unwrap_or(""), || {
        let (x, y) = words.next()?.split_once(',')?;
        Some(game.arena.cell_at(x.parse().ok()?, y.parse().ok()?))
    });
    let action = action.flatten().ok_or("no action")?;
    Ok(Entry::Unit { unit: unit % game.units_per_team, action })
}

#[test]
fn the_rules_are_as_described() {
    spec::run::<JungleSpec>(&Path::new(env!("CARGO_MANIFEST_DIR")).join("spec"));
}

#[test]
fn every_rule_can_be_found() {
    rulebook::check(&INFO);
}

#[test]
fn a_turn_of_a_recorded_match_is_a_section() {
    let setup = Setup { seats: 3, seed: 3, ..Setup::default() };
    agon_testkit::recorded::check::<JungleSpec>(&setup, "JB-ATTACK-1");
}
