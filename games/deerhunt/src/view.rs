//! Fog: what a player may see.

use std::fmt;

use crate::DeerhuntOf;
use crate::map::{CellSet, MAX_HUBS, Map};
use crate::rules::{OpponentResources, Rules};
use crate::state::{At, Kind, Player, State, Unit, UnitId};

/// Everything a player sees before its half-turn. Messages and built-in bots use nothing else.
#[derive(Clone, PartialEq, Eq)]
pub struct View<'a> {
    /// The ground (DH-FOG-2).
    pub map: &'a Map,
    /// The rules.
    pub rules: &'a Rules,
    /// Saturated hubs: their tiles are ground now.
    pub saturated: [bool; MAX_HUBS],
    /// The player.
    pub player: Player,
    /// The player's living units, in order of creation.
    pub mine: Vec<Seen>,
    /// The enemies in sight, in order of creation (DH-FOG-1).
    pub theirs: Vec<Seen>,
    /// What the player owns.
    pub resources: u32,
    /// What the other owns, if that may be known (DH-FOG-3).
    pub their_resources: Option<u32>,
    /// Rounds left, this one included (DH-TURN-5).
    pub turns_left: u16,
}

/// A unit in sight, with all its attributes (DH-FOG-4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Its id.
    pub id: UnitId,
    /// The unit itself.
    pub unit: Unit,
}

impl View<'_> {
    /// Whether a tile is a resource tile that is not saturated.
    pub fn is_resource(&self, at: At) -> bool {
        self.map.hub(at).is_some_and(|hub| self.rules.hub_capacity == 0 || !self.saturated[usize::from(hub)])
    }
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View")
            .field("saturated", &self.saturated)
            .field("player", &self.player)
            .field("mine", &self.mine)
            .field("theirs", &self.theirs)
            .field("resources", &self.resources)
            .field("their_resources", &self.their_resources)
            .field("turns_left", &self.turns_left)
            .finish_non_exhaustive()
    }
}

impl<const BLOCKS: usize> DeerhuntOf<BLOCKS> {
    /// DH-FOG-1: the tiles that the units of `player` see: squares around each of them, regardless of walls.
    pub fn sight(&self, state: &State<BLOCKS>, player: Player) -> CellSet {
        let mut seen = CellSet::default();
        let reach = self.rules.vision;
        for (_, unit) in state.army(player) {
            let At { x, y } = unit.at;
            for row in y.saturating_sub(reach)..=y.saturating_add(reach).min(self.map.height() - 1) {
                for column in x.saturating_sub(reach)..=x.saturating_add(reach).min(self.map.width() - 1) {
                    seen.insert(self.map.cell(At::new(column, row)));
                }
            }
        }
        seen
    }

    /// What `player` sees now.
    pub fn view_of(&self, state: &State<BLOCKS>, player: Player) -> View<'_> {
        let seen = |(id, unit): (UnitId, &Unit)| Seen { id, unit: *unit };
        let sight = self.sight(state, player);
        let theirs: Vec<Seen> = state
            .army(player.other())
            .filter(|(_, unit)| sight.contains(self.map.cell(unit.at)))
            .map(|(id, unit)| Seen { id, unit: Unit { hub: 0, ..*unit } })
            .collect();
        View {
            map: &self.map,
            rules: &self.rules,
            saturated: std::array::from_fn(|hub| {
                hub < self.map.hubs() && self.is_saturated(state, hub as u8)
            }),
            player,
            mine: state.army(player).map(seen).collect(),
            resources: state.resources[player as usize],
            their_resources: self.knows_wealth(&theirs).then(|| state.resources[player.other() as usize]),
            theirs,
            turns_left: self.rules.max_rounds - (state.round() - 1).min(self.rules.max_rounds),
        }
    }

    /// DH-FOG-3: an enemy worker in sight reveals what its player owns.
    fn knows_wealth(&self, theirs: &[Seen]) -> bool {
        self.rules.opponent_resources == OpponentResources::WithWorker
            && theirs.iter().any(|seen| seen.unit.kind == Kind::Worker)
    }
}
