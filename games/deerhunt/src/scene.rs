//! The state for spectators and for the exported replay.

use serde::Serialize;

use crate::DeerhuntOf;
use crate::state::{At, Direction, Kind, Player, State, UnitId};

/// The whole state, as no single player sees it.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Scene<'a> {
    round: u16,
    /// The number of rounds.
    rounds: u16,
    /// Whose half-turn it is; null at the end.
    pub(crate) mover: Option<Player>,
    /// How far units see.
    vision: u8,
    /// Rows of `X` for walls, `R` for hubs, and blanks.
    ground: Vec<String>,
    pub(crate) players: [Owned; 2],
    /// The living units.
    units: Vec<Unit>,
    /// The remaining stock of each hub; null when hubs never run dry.
    pub(crate) stock: Option<&'a [u16]>,
}

/// What a player owns and sees.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Owned {
    /// Null when the seat does not know them.
    pub(crate) resources: Option<u32>,
    /// The enemies it sees.
    sees: Vec<UnitId>,
}

/// A unit with its timers.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Unit {
    id: UnitId,
    owner: Player,
    #[serde(rename = "type")]
    kind: Kind,
    x: u8,
    y: u8,
    hp: u8,
    max_hp: u8,
    /// Countdowns until its mining is done; 0 when it does not mine.
    mining: u8,
    /// Countdowns until its child appears; 0 when it does not duplicate.
    duplication: u8,
    /// Where the child appears or appeared.
    direction: Option<Direction>,
    /// What the child is or was.
    child: Option<Kind>,
    /// Countdowns until it is free of a stun.
    stun: i16,
}

impl<const BLOCKS: usize> DeerhuntOf<BLOCKS> {
    pub(crate) fn stage<'a>(&self, state: &'a State<BLOCKS>) -> Scene<'a> {
        let row =
            |y| -> String { (0..self.map.width()).map(|x| self.letter(state, At::new(x, y))).collect() };
        let unit = |(id, unit): (UnitId, &crate::state::Unit)| Unit {
            id,
            owner: unit.owner,
            kind: unit.kind,
            x: unit.at.x,
            y: unit.at.y,
            hp: unit.hp,
            max_hp: self.full_hp(unit.kind),
            mining: unit.mining,
            duplication: unit.duplication,
            direction: unit.direction,
            child: unit.child,
            stun: unit.stun,
        };
        Scene {
            round: state.round().min(self.rules.max_rounds),
            rounds: self.rules.max_rounds,
            mover: self.ending(state).is_none().then(|| state.mover()),
            vision: self.rules.vision,
            ground: (0..self.map.height()).map(row).collect(),
            players: Player::BOTH.map(|player| Owned {
                resources: Some(state.resources[player as usize]),
                sees: self.view_of(state, player).theirs.iter().map(|seen| seen.id).collect(),
            }),
            units: state.everyone().map(unit).collect(),
            stock: (self.rules.hub_capacity > 0).then(|| &state.stock[..self.map.hubs()]),
        }
    }

    fn letter(&self, state: &State<BLOCKS>, at: At) -> char {
        if self.map.is_wall(at) {
            'X'
        } else if self.hub_at(state, at).is_some() {
            'R'
        } else {
            ' '
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;

    #[test]
    fn the_viewer_reads_what_is_written() {
        let types = agon_testkit::generated![Scene<'_>, Owned, Unit, Event, At, Kind, Player, Direction];
        agon_testkit::generated::check("games/deerhunt/viewer/generated.ts", "games/deerhunt/src", &types);
    }
}
