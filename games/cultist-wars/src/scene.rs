//! A state for spectators and exported replays. Players are numbered from 1.

use serde::Serialize;

use crate::CultistWars;
use crate::board::{HEIGHT, Tile, WIDTH};
use crate::state::{LEADERS, Owner, State, UNITS, UnitId};

/// A state.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Scene {
    /// Turns played.
    turn: u16,
    /// Whose turn it is; null at the end.
    mover: Option<u8>,
    width: u8,
    height: u8,
    /// The board as the protocol draws it.
    rows: Vec<String>,
    /// All units that ever took part.
    units: Vec<Unit>,
    /// The number of living neutral units.
    neutrals: u32,
    /// The state of the neutrals' generator, which decides their next moves.
    generator: u32,
}

/// A unit.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Unit {
    id: UnitId,
    kind: Kind,
    /// Its owner; null for a neutral.
    player: Option<u8>,
    /// 0 for the dead.
    hp: u8,
    /// Where it is; null for the dead.
    tile: Option<Tile>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(ts_rs::TS))]
enum Kind {
    Leader,
    Cultist,
}

impl Scene {
    pub(crate) fn new(game: &CultistWars, state: &State) -> Self {
        let unit = |id| {
            let owner = state.owner(id)?;
            Some(Unit {
                id,
                kind: if id < LEADERS { Kind::Leader } else { Kind::Cultist },
                player: owner.player().map(|seat| seat.number()),
                hp: state.hp(id),
                tile: state.living().contains(id).then(|| state.tile(id)),
            })
        };
        Self {
            turn: state.turn,
            mover: state.ending().is_none().then(|| state.mover().number()),
            width: WIDTH,
            height: HEIGHT,
            rows: (0..HEIGHT).map(|y| game.map().row(y).into_iter().map(char::from).collect()).collect(),
            units: (0..UNITS as UnitId).filter_map(unit).collect(),
            neutrals: state.living_of(Owner::Neutral).len(),
            generator: state.generator,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Event, Line};

    #[test]
    fn the_viewer_reads_what_is_written() {
        let types = agon_testkit::generated![Scene, Unit, Kind, Tile, Event, Line];
        agon_testkit::generated::check(
            "games/cultist-wars/viewer/generated.ts",
            "games/cultist-wars/src",
            &types,
        );
    }
}
