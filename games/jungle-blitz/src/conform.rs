//! Comparing recorded matches of the original server with this engine.
//!
//! Three kinds of records: whole games (`jungle-golden-1`, one JSON document), conversations (JSON lines
//! with every message of one connection; see [`wire`]) and [recordings of the viewer](crate::recording).

mod games;
mod wire;

use agon_game::conform::{ConformReport, Recognised};
use agon_game::{Recipe, SetupError};
use serde_json::Value;

use crate::JungleBlitz;
use crate::arena::{Cell, Point};
use crate::map::{Map, Tile};
use crate::rules::{PRESETS, Rules};
use crate::schedule::Schedule;

pub(crate) use games::compare_state;

/// Compares one record, whichever kind it is.
pub fn conform(record: &[u8], report: &mut ConformReport) -> Recognised {
    let start = &record[..record.len().min(4_096)];
    let holds = |text: &str| start.windows(text.len()).any(|window| window == text.as_bytes());
    let result = if holds("\"jungle-golden-1\"") {
        games::compare(record, report)
    } else if holds("\"dir\"") && holds("\"C>S\"") && holds("\"REGISTER\"") {
        wire::compare(record, report)
    } else if crate::recording::looks_like_one(record) {
        crate::recording::conform(record, report)
    } else {
        return Recognised::Foreign;
    };
    match result {
        Ok(()) => Recognised::Record,
        Err(why) => Recognised::Damaged(why),
    }
}

/// The match of a record: its tiles, diamonds and teams; the play order comes from the record too.
fn recorded_match(
    tiles: &Value,
    diamonds: &Value,
    teams: usize,
    units_per_team: usize,
    total_tick: u64,
) -> Result<JungleBlitz, String> {
    let map = recorded_map(tiles, diamonds, |tile| match tile.as_str()? {
        "EMPTY" => Some(Tile::Floor),
        "WALL" => Some(Tile::Stone),
        "SPAWN" => Some(Tile::Spawn),
        _ => None,
    })?;
    let units_per_team = u8::try_from(units_per_team).map_err(|_| "too many units")?;
    let total_tick = u16::try_from(total_tick).map_err(|_| "too many ticks")?;
    let preset = agon_game::RulesChoice {
        preset: PRESETS[0].name.to_owned(),
        sets: vec![
            ("totalTick".to_owned(), total_tick.to_string()),
            ("unitsPerTeam".to_owned(), units_per_team.to_string()),
        ],
        ..Default::default()
    };
    let loaded = Rules::load(&preset).map_err(|error: SetupError| error.to_string())?;
    let recipe = Recipe {
        rules_name: loaded.name,
        rules: loaded.text,
        map_name: "recorded".to_owned(),
        map: map.text(),
        seats: u8::try_from(teams).map_err(|_| "too many teams")?,
        seed: 0,
    };
    JungleBlitz::assemble(loaded.rules, map, recipe).map_err(|error| error.to_string())
}

/// A map from its recorded columns of tiles, and the diamonds of its start.
pub(crate) fn recorded_map(
    tiles: &Value,
    diamonds: &Value,
    read: impl Fn(&Value) -> Option<Tile>,
) -> Result<Map, String> {
    let columns = list(tiles, "tiles")?;
    let height = columns.first().and_then(Value::as_array).map_or(0, Vec::len);
    let mut map = Map::new(columns.len(), height)?;
    for (x, column) in columns.iter().enumerate() {
        let column = column.as_array().filter(|column| column.len() == height);
        for (y, tile) in column.ok_or("columns differ in length")?.iter().enumerate() {
            map.set(x as u8, y as u8, read(tile).ok_or_else(|| format!("a tile {tile}"))?);
        }
    }
    for diamond in list(diamonds, "diamonds")? {
        let Point { x, y } = position(&diamond["position"]).ok_or("a diamond without position")?;
        if x >= map.width() || y >= map.height() {
            return Err("a diamond off the map".to_owned());
        }
        map.set(x, y, Tile::Diamond);
    }
    Ok(map)
}

/// Adds the play orders of a message, by tick, to a schedule.
fn read_orders(orders: &Value, team_ids: &[String], schedule: &mut Schedule) -> Result<(), String> {
    for (tick, order) in orders.as_object().ok_or("no play orders")? {
        let tick: usize = tick.parse().map_err(|_| format!("a play order for tick `{tick}`"))?;
        let slot = schedule.get_mut(tick).ok_or("a play order after the end")?;
        for (place, id) in list(order, "play order")?.iter().enumerate() {
            let team = team_ids.iter().position(|own| Some(own.as_str()) == id.as_str());
            *slot.get_mut(place).ok_or("too many teams in a play order")? =
                team.ok_or("an unknown team")? as u8;
        }
    }
    Ok(())
}

pub(crate) fn list<'a>(value: &'a Value, what: &str) -> Result<&'a Vec<Value>, String> {
    value.as_array().ok_or_else(|| format!("no list of {what}"))
}

pub(crate) fn text(value: &Value, what: &str) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| format!("no {what}"))
}

/// A recorded position; `None` if it is null or missing.
fn position(value: &Value) -> Option<Point> {
    let number = |name| u8::try_from(value.get(name)?.as_u64()?).ok();
    Some(Point { x: number("x")?, y: number("y")? })
}

/// The tile of a recorded position; nowhere if there is none.
pub(crate) fn cell(game: &JungleBlitz, value: &Value) -> Cell {
    position(value).map_or(Cell::NOWHERE, |at| game.arena.cell_at(i64::from(at.x), i64::from(at.y)))
}
