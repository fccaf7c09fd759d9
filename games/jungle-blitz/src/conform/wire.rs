//! Recorded conversations: each TICK is read and written back, each COMMAND parsed and written back.

use agon_game::conform::ConformReport;
use agon_game::{Dialect as _, Game as _, Heard, Seat};
use serde_json::{Value, json};

use super::{cell, list, read_orders, recorded_match, text};
use crate::JungleBlitz;
use crate::arena::Direction;
use crate::dialect::{Registration, Wire, register};
use crate::rules::MAX_TEAMS;
use crate::state::{Diamond, Owner, State, Unit};

/// Compares the conversation of one connection.
pub fn compare(record: &[u8], report: &mut ConformReport) -> Result<(), String> {
    let record = std::str::from_utf8(record).map_err(|error| error.to_string())?;
    let lines = record.lines().filter(|line| !line.is_empty());
    let lines = lines.map(|line| serde_json::from_str::<Value>(line).map_err(|error| error.to_string()));
    let lines = lines.collect::<Result<Vec<_>, _>>()?;
    let sent = |way: &str| {
        lines.iter().filter(move |line| line["dir"] == way).map(|line| &line["msg"]).collect::<Vec<_>>()
    };
    let ticks: Vec<&Value> = sent("S>C").into_iter().filter(|message| message["type"] == "TICK").collect();
    let first = *ticks.first().ok_or("no TICK")?;
    let ids = list(&first["teams"], "teams")?.iter();
    let ids = ids.map(|team| text(&team["id"], "team id")).collect::<Result<Vec<_>, _>>()?;
    let own = ids.iter().position(|id| first["teamId"] == **id).ok_or("an unknown own team")?;
    let (game, mut wire) = set_up(first, &ticks, &ids)?;
    let seat = Seat::new(own as u8);
    let mut asked = &Value::Null;
    for line in &lines {
        let message = &line["msg"];
        let place = || format!("at {} ms", line["t"]);
        match (line["dir"].as_str(), message["type"].as_str()) {
            (Some("S>C"), Some("TICK")) => {
                asked = &message["tick"];
                let state = read_state(&game, message)?;
                let mut written = Vec::new();
                wire.ask(&game, seat, &game.view(&state, seat), &mut written);
                let written: Value = serde_json::from_slice(&written).map_err(|error| error.to_string())?;
                let (recorded, written) = (without_errors(message), without_errors(&written));
                report
                    .count("TICK message", recorded == written, || difference(place(), &recorded, &written));
            }
            (Some("C>S"), Some("REGISTER")) => {
                let name = message["teamName"].as_str().map(|name| Registration::Name(name.to_owned()));
                let heard = register(message.to_string().as_bytes()).ok();
                report.compare("REGISTER message", &name, &heard, place);
            }
            (Some("C>S"), Some("COMMAND")) if message["tick"] != *asked => {
                let heard = wire.hear(&game, seat, message.to_string().as_bytes());
                let ignored = matches!(heard, Heard::Ignore(_));
                report.count("COMMAND that came late", ignored, || {
                    (place(), "ignored".to_owned(), format!("{heard:?}"))
                });
            }
            (Some("C>S"), Some("COMMAND")) => {
                let again = match wire.hear(&game, seat, message.to_string().as_bytes()) {
                    Heard::Answer(order) => {
                        let mut bytes = Vec::new();
                        wire.say(&game, seat, &order, &mut bytes);
                        serde_json::from_slice(&bytes).map_err(|error| error.to_string())?
                    }
                    other => json!(format!("{other:?}")),
                };
                report.compare("COMMAND message", &tidy(&game, message), &tidy(&game, &again), place);
            }
            _ => {}
        }
    }
    Ok(())
}

/// The match of a conversation, with its ids, names and play order.
fn set_up(first: &Value, ticks: &[&Value], ids: &[String]) -> Result<(JungleBlitz, Wire), String> {
    let teams = list(&first["teams"], "teams")?;
    let units = list(&teams[0]["units"], "units")?.len();
    let total = first["totalTick"].as_u64().ok_or("no totalTick")?;
    let diamonds = &first["map"]["diamonds"];
    let game = recorded_match(&first["map"]["tiles"], diamonds, teams.len(), units, total)?;
    let mut schedule = vec![[0; MAX_TEAMS]; usize::from(game.rules.total_tick)];
    for tick in ticks {
        read_orders(&tick["teamPlayOrderings"], ids, &mut schedule)?;
    }
    let game = game.with_schedule(schedule);
    let mut wire = Wire::new(&game);
    let names = teams.iter().zip(ids).map(|(team, id)| Ok((id.clone(), text(&team["name"], "team name")?)));
    let names = names.collect::<Result<Vec<_>, String>>()?;
    let diamond_ids = list(diamonds, "diamonds")?.iter().map(|diamond| text(&diamond["id"], "diamond id"));
    wire.rename(&names, &diamond_ids.collect::<Result<Vec<_>, _>>()?);
    Ok((game, wire))
}

/// The state that a TICK shows.
fn read_state(game: &JungleBlitz, tick: &Value) -> Result<State, String> {
    let mut state = State { tick: tick["tick"].as_u64().unwrap_or(0) as u16, ..State::EMPTY };
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let unit_number = |value: &Value| value.as_str().and_then(|id| id.parse::<u8>().ok()).unwrap_or(0);
    let diamonds = list(&tick["map"]["diamonds"], "diamonds")?;
    for (slot, diamond) in state.diamonds.iter_mut().zip(diamonds) {
        let owner = match diamond.get("ownerId") {
            None => Owner::NEVER,
            Some(Value::Null) => Owner::NOBODY,
            Some(id) => match unit_number(id) {
                id if (1..=game.unit_count()).contains(&id) => Owner::unit(id - 1),
                id => return Err(format!("a diamond is held by unit {id}")),
            },
        };
        let (points, level) = (number(&diamond["points"]) as u16, number(&diamond["summonLevel"]) as u8);
        *slot = Diamond { cell: cell(game, &diamond["position"]), points, level, owner };
    }
    for (team, recorded) in list(&tick["teams"], "teams")?.iter().enumerate().take(game.teams()) {
        state.scores[team] = number(&recorded["score"]) as u32;
        state.dead |= u8::from(recorded["isDead"] == true) << team;
        for (own, recorded) in (0..game.units_per_team).zip(list(&recorded["units"], "units")?) {
            let index = game.first_unit(team) + own;
            let marks = &recorded["lastState"];
            let mut known = diamonds.iter().take(game.arena.diamonds().len());
            let holds = known.position(|diamond| recorded.get("diamondId") == Some(&diamond["id"]));
            *state.unit_mut(index) = Unit {
                cell: cell(game, &recorded["position"]),
                died_at: cell(game, &marks["positionBeforeDying"]),
                summoning: u8::from(recorded["isSummoning"] == true),
                holds: holds.map_or(0, |diamond| diamond as u8 + 1),
                vined_by: unit_number(&marks["wasVinedBy"]),
                attacked_by: unit_number(&marks["wasAttackedBy"]),
                known: recorded.get("position").is_some(),
                ..Unit::WAITING
            };
            read_path(game, &mut state, index, list(&recorded["path"], "path")?)?;
        }
    }
    Ok(state)
}

fn read_path(game: &JungleBlitz, state: &mut State, unit: u8, path: &[Value]) -> Result<(), String> {
    let mut at = state.unit(unit).cell;
    let mut steps = Vec::new();
    for tile in path {
        let next = cell(game, tile);
        let way = Direction::ALL.into_iter().find(|&way| game.arena.neighbour(at, way) == next);
        steps.push(way.ok_or("a path that jumps")?);
        at = next;
    }
    if steps.len() > game.arena.path_bytes() * 4 {
        return Err("a path that is too long".to_owned());
    }
    steps.reverse();
    state.store_path(&game.arena, unit, at, &steps);
    Ok(())
}

/// Drops the errors: their wording is not compared.
fn without_errors(tick: &Value) -> Value {
    let mut tick = tick.clone();
    let teams = tick.get_mut("teams").and_then(Value::as_array_mut);
    for team in teams.into_iter().flatten().filter_map(Value::as_object_mut) {
        team.insert("errors".to_owned(), json!([]));
    }
    tick
}

/// A command without its meaningless parts: other keys, targets of actions that have none, how far
/// off the map a target is, and the rest of an action that lacks the target it needs.
fn tidy(game: &JungleBlitz, command: &Value) -> Value {
    let tidy_action = |action: &Value| {
        let named = json!([action["type"], action["action"], action["unitId"]]);
        if matches!(action["action"].as_str(), Some("NONE" | "SUMMON")) {
            return named;
        }
        let (x, y) = (action["target"]["x"].as_i64(), action["target"]["y"].as_i64());
        match (x, y) {
            (Some(x), Some(y)) => {
                let on_map = (0..i64::from(game.arena.width())).contains(&x)
                    && (0..i64::from(game.arena.height())).contains(&y);
                json!([named, if on_map { json!([x, y]) } else { json!("off the map") }])
            }
            _ => json!("no target"),
        }
    };
    let actions = command["actions"].as_array();
    json!([command["tick"], actions.map(|actions| actions.iter().map(tidy_action).collect::<Vec<_>>())])
}

/// Names the first fields that differ.
fn difference(place: String, recorded: &Value, written: &Value) -> (String, String, String) {
    let fields = recorded.as_object().into_iter().flatten();
    let differing =
        fields.filter(|(key, value)| written.get(key.as_str()) != Some(value)).map(|(key, _)| key.as_str());
    let differing: Vec<_> = differing.collect();
    let show = |value: &Value| differing.first().map_or_else(String::new, |key| value[*key].to_string());
    (format!("{place}, fields {differing:?}"), show(recorded), show(written))
}
