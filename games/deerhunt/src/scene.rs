//! The state for spectators and for the exported replay.

use serde_json::{Value, json};

use crate::DeerhuntOf;
use crate::state::{At, Player, State, Unit, UnitId};

impl<const BLOCKS: usize> DeerhuntOf<BLOCKS> {
    /// Everything, unseen by no one: the ground as rows of `X`, `R` and blank, the living units with
    /// their timers, the hubs with their stocks, what the players own and which enemies they see.
    pub(crate) fn stage(&self, state: &State<BLOCKS>) -> Value {
        let row =
            |y| -> String { (0..self.map.width()).map(|x| self.letter(state, At::new(x, y))).collect() };
        let players = Player::BOTH.map(|player| {
            let seen: Vec<UnitId> = self.view_of(state, player).theirs.iter().map(|seen| seen.id).collect();
            json!({"resources": state.resources[player as usize], "sees": seen})
        });
        json!({
            "round": state.round().min(self.rules.max_rounds),
            "rounds": self.rules.max_rounds,
            "mover": self.ending(state).is_none().then(|| state.mover()),
            "vision": self.rules.vision,
            "ground": (0..self.map.height()).map(row).collect::<Vec<_>>(),
            "players": players,
            "units": state.everyone().map(|(id, unit)| self.actor(id, unit)).collect::<Vec<_>>(),
            "stock": (self.rules.hub_capacity > 0).then(|| &state.stock[..self.map.hubs()]),
        })
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

    fn actor(&self, id: UnitId, unit: &Unit) -> Value {
        json!({
            "id": id,
            "owner": unit.owner,
            "type": unit.kind,
            "x": unit.at.x,
            "y": unit.at.y,
            "hp": unit.hp,
            "max_hp": self.full_hp(unit.kind),
            "mining": unit.mining,
            "duplication": unit.duplication,
            "direction": unit.direction,
            "child": unit.child,
            "stun": unit.stun,
        })
    }
}
