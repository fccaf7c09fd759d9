//! A state as JSON, for spectators and exported replays. Players count from 1.

use serde_json::{Value, json};

use crate::CultistWars;
use crate::board::{HEIGHT, WIDTH};
use crate::state::{LEADERS, Owner, State, UNITS, UnitId};

/// `{turn, mover, width, height, rows, units, neutrals, generator}`: `turn` counts those played, `mover` is null at the end,
/// `rows` are drawn as in the protocol, and `units` holds all that ever took part, the dead with
/// `hp` 0 and `tile` null, as `{id, kind, player (null: neutral), hp, tile: [x, y]}`.
pub(crate) fn scene(game: &CultistWars, state: &State) -> Value {
    let rows: Vec<String> =
        (0..HEIGHT).map(|y| game.map().row(y).into_iter().map(char::from).collect()).collect();
    let units: Vec<Value> = (0..UNITS as UnitId)
        .filter_map(|unit| Some((unit, state.owner(unit)?)))
        .map(|(unit, owner)| {
            json!({
                "id": unit,
                "kind": if unit < LEADERS { "leader" } else { "cultist" },
                "player": owner.player().map(|seat| seat.number()),
                "hp": state.hp(unit),
                "tile": state.living().contains(unit).then(|| state.tile(unit)),
            })
        })
        .collect();
    json!({
        "turn": state.turn,
        "mover": state.ending().is_none().then(|| state.mover().number()),
        "width": WIDTH,
        "height": HEIGHT,
        "rows": rows,
        "units": units,
        "neutrals": state.living_of(Owner::Neutral).len(),
        "generator": state.generator,
    })
}
