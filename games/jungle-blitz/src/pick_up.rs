//! Picking up diamonds.

use agon_game::{Chance, Sink};

use crate::JungleBlitz;
use crate::event::Event;
use crate::state::{DiamondIndex, UnitIndex};
use crate::turn::Turn;

impl<C: Chance, S: Sink<JungleBlitz>> Turn<'_, C, S> {
    /// A unit with empty hands takes the diamond it stands on: of several, the one with the most
    /// points; of equal ones, the first in the order of the map (JB-PICK-1). Happens after a step,
    /// after staying by MOVE or NONE and after being vined; not after a spawn (JB-PICK-2).
    pub(crate) fn pick_up(&mut self, unit: UnitIndex) {
        let own = self.state.unit(unit);
        if own.holds > 0 {
            return;
        }
        let mut best: Option<(u16, DiamondIndex)> = None;
        for index in self.game.arena.diamond_indices() {
            let diamond = &self.state.diamonds[usize::from(index)];
            if diamond.cell == own.cell
                && diamond.on_ground()
                && best.is_none_or(|(points, _)| diamond.points > points)
            {
                best = Some((diamond.points, index));
            }
        }
        if let Some((points, diamond)) = best {
            self.give(diamond, unit);
            self.out.event(Event::PickedUp { unit: unit + 1, diamond, points });
        }
    }
}
