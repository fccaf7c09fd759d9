//! The state for spectators and exported replays: everything, and what each team sees.

use agon_game::{Game as _, Seat};
use serde_json::{Value, json};

use crate::Ostibot;
use crate::geometry::Cell;
use crate::state::{Item, Phase, Place, State, full_hp};

/// The whole state as JSON. `sight` holds one text a team: a row of hexadecimal bits for each row of
/// the map, the lowest bit for column 0.
pub(crate) fn scene(game: &Ostibot, state: &State) -> Value {
    let map = game.map();
    let teams: Vec<Seat> = Seat::first(game.seats()).collect();
    let carried = |item: &Item| json!({"id": item.id, "itemType": item.kind, "name": item.kind.name()});
    let of = |place: Place| -> Vec<Value> {
        state.items.iter().filter(|item| item.place == place).map(carried).collect()
    };
    let adventurers = game_adventurers(game, state).map(|who| {
        let adventurer = &state.adventurers[who];
        json!({
            "id": adventurer.id,
            "team": game.team_of(who).number(),
            "position": adventurer.is_here().then_some(adventurer.cell),
            "escaped": adventurer.escape > 0,
            "hp": adventurer.hp,
            "maxHp": game.rules().adventurer_hp,
            "gold": adventurer.gold,
            "damage": game.damage(state, who),
            "armor": game.armor(state, who),
            "vision": game.vision(state, who),
            "worn": of(Place::Worn(who as u8)),
            "inventory": of(Place::Pack(who as u8)),
        })
    });
    let objects = map.objects.iter().enumerate().filter_map(|(index, object)| {
        let hp = state.object_hp(index)?;
        let max_hp = full_hp(game.rules(), object.kind);
        let (id, kind) = (object.to_string(), object.kind.name());
        Some(json!({"id": id, "type": kind, "position": object.cell, "hp": hp, "maxHp": max_hp}))
    });
    let lying = state.items.iter().filter_map(|item| match item.place {
        Place::Ground(cell) => Some(json!({"position": cell, "item": carried(item)})),
        _ => None,
    });
    let sight = teams.iter().map(|&team| {
        let seen = game.seen(state, team);
        seen.0[..map.height].iter().map(|row| format!("{row:x}")).collect::<Vec<_>>().join(" ")
    });
    let ground = (0..map.height)
        .map(|y| -> String { (0..map.width).map(|x| map.tile(Cell::new(x, y)).character()).collect() });
    json!({
        "moment": game.moment(state),
        "round": state.round,
        "turn": state.turn,
        "phase": match state.phase {
            Phase::Shop => "shop",
            Phase::Play(_) => "play",
            Phase::Over => "over",
        },
        "orderOfPlay": game.order_of_play(state.round).map(Seat::number).collect::<Vec<_>>(),
        "asked": game.deciding(state).iter().map(Seat::number).collect::<Vec<_>>(),
        "width": map.width,
        "height": map.height,
        "map": ground.collect::<Vec<_>>(),
        "spawnersStand": !map.spawners.iter().any(|cell| state.fire.contains(cell)),
        "teamsGold": state.gold[..teams.len()],
        "adventurers": adventurers.collect::<Vec<_>>(),
        "objects": objects.collect::<Vec<_>>(),
        "gold": state.piles.iter().map(|pile| json!({"position": pile.cell, "amount": pile.amount})).collect::<Vec<_>>(),
        "items": lying.collect::<Vec<_>>(),
        "fire": state.fire.iter().collect::<Vec<_>>(),
        "sight": sight.collect::<Vec<_>>(),
    })
}

/// Those who are on the map and those who escaped.
fn game_adventurers<'a>(game: &'a Ostibot, state: &'a State) -> impl Iterator<Item = usize> + 'a {
    (0..game.places()).filter(|&who| state.adventurers[who].hp > 0)
}
