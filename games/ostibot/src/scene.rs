//! The state for spectators and exported replays: everything, and what each team sees. Teams are numbered from 1.

use agon_game::{Game as _, Seat};
use serde::Serialize;

use crate::Ostibot;
use crate::geometry::Cell;
use crate::items::Kind;
use crate::names::{AdventurerId, ItemId};
use crate::state::{Place, State, full_hp};

/// The whole state.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Scene<'a> {
    /// The current moment of the match, in words.
    pub(crate) moment: String,
    round: u16,
    turn: u16,
    phase: Phase,
    /// The teams in the order of this round.
    order_of_play: Vec<u8>,
    /// The teams that must answer now.
    asked: Vec<u8>,
    width: usize,
    height: usize,
    /// The rows of the map.
    pub(crate) map: Vec<String>,
    /// Whether no spawner burns.
    spawners_stand: bool,
    /// The gold of each team.
    teams_gold: &'a [u32],
    adventurers: Vec<Adventurer>,
    objects: Vec<Thing>,
    /// Gold on the ground.
    gold: Vec<Pile>,
    /// Items on the ground.
    items: Vec<Lying>,
    fire: Vec<Cell>,
    /// What each team sees, for each row of the map a bit set in hexadecimal, the lowest bit for column 0.
    pub(crate) sight: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(ts_rs::TS))]
enum Phase {
    Shop,
    Play,
    Over,
}

/// An adventurer on the map or escaped.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Adventurer {
    id: AdventurerId,
    team: u8,
    /// Null for those who escaped.
    position: Option<Cell>,
    escaped: bool,
    hp: u16,
    max_hp: u16,
    gold: u16,
    damage: u16,
    armor: u16,
    vision: u16,
    worn: Vec<Item>,
    inventory: Vec<Item>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Item {
    id: ItemId,
    item_type: Kind,
    /// Its name for people.
    name: &'static str,
}

/// An object that can be hit.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Thing {
    id: String,
    #[serde(rename = "type")]
    #[cfg_attr(test, ts(type = "'portal' | 'chest' | 'vase' | 'door'"))]
    kind: &'static str,
    position: Cell,
    hp: u16,
    max_hp: u16,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Pile {
    position: Cell,
    amount: u16,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Lying {
    position: Cell,
    item: Item,
}

impl Item {
    fn new(item: &crate::state::Item) -> Self {
        Self { id: item.id, item_type: item.kind, name: item.kind.name() }
    }
}

impl<'a> Scene<'a> {
    pub(crate) fn new(game: &Ostibot, state: &'a State) -> Self {
        let map = game.map();
        let teams: Vec<Seat> = Seat::first(game.seats()).collect();
        let sight = |team: &Seat| {
            let seen = game.seen(state, *team);
            seen.0[..map.height].iter().map(|row| format!("{row:x}")).collect::<Vec<_>>().join(" ")
        };
        let row = |y| (0..map.width).map(|x| map.tile(Cell::new(x, y)).character()).collect();
        Self {
            moment: game.moment(state),
            round: state.round,
            turn: state.turn,
            phase: match state.phase {
                crate::state::Phase::Shop => Phase::Shop,
                crate::state::Phase::Play(_) => Phase::Play,
                crate::state::Phase::Over => Phase::Over,
            },
            order_of_play: game.order_of_play(state.round).map(Seat::number).collect(),
            asked: game.deciding(state).iter().map(Seat::number).collect(),
            width: map.width,
            height: map.height,
            map: (0..map.height).map(row).collect(),
            spawners_stand: !map.spawners.iter().any(|cell| state.fire.contains(cell)),
            teams_gold: &state.gold[..teams.len()],
            adventurers: adventurers(game, state),
            objects: things(game, state),
            gold: state.piles.iter().map(|pile| Pile { position: pile.cell, amount: pile.amount }).collect(),
            items: state
                .items
                .iter()
                .filter_map(|item| match item.place {
                    Place::Ground(position) => Some(Lying { position, item: Item::new(item) }),
                    _ => None,
                })
                .collect(),
            fire: state.fire.iter().collect(),
            sight: teams.iter().map(sight).collect(),
        }
    }
}

fn adventurers(game: &Ostibot, state: &State) -> Vec<Adventurer> {
    let of = |place: Place| state.items.iter().filter(|item| item.place == place).map(Item::new).collect();
    let known = (0..game.places()).filter(|&who| state.adventurers[who].hp > 0);
    known
        .map(|who| {
            let adventurer = &state.adventurers[who];
            Adventurer {
                id: adventurer.id,
                team: game.team_of(who).number(),
                position: adventurer.is_here().then_some(adventurer.cell),
                escaped: adventurer.escape > 0,
                hp: adventurer.hp,
                max_hp: game.rules().adventurer_hp,
                gold: adventurer.gold,
                damage: game.damage(state, who),
                armor: game.armor(state, who),
                vision: game.vision(state, who),
                worn: of(Place::Worn(who as u8)),
                inventory: of(Place::Pack(who as u8)),
            }
        })
        .collect()
}

fn things(game: &Ostibot, state: &State) -> Vec<Thing> {
    let objects = game.map().objects.iter().enumerate();
    objects
        .filter_map(|(index, object)| {
            Some(Thing {
                id: object.to_string(),
                kind: object.kind.name(),
                position: object.cell,
                hp: state.object_hp(index)?,
                max_hp: full_hp(game.rules(), object.kind),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Event, Harm};

    #[test]
    fn the_viewer_reads_what_is_written() {
        let types = agon_testkit::generated![
            Scene<'_>,
            Phase,
            Adventurer,
            AdventurerId,
            Item,
            ItemId,
            Thing,
            Pile,
            Lying,
            Cell,
            Kind,
            Event,
            Harm
        ];
        agon_testkit::generated::check("games/ostibot/viewer/generated.ts", "games/ostibot/src", &types);
    }
}
