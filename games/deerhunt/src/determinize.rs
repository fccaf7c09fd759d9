//! Draws what a player cannot know anew: a state that it cannot tell from the real one.

use agon_game::{Chance as _, Seeded};

use crate::DeerhuntOf;
use crate::builtin::Distances;
use crate::state::{At, Direction, Kind, Player, State, Unit, UnitId};

/// Where a unit was last known to be, and how many steps it can have taken since.
struct Trace {
    id: UnitId,
    from: Vec<At>,
    steps: u16,
}

impl<const BLOCKS: usize> DeerhuntOf<BLOCKS> {
    /// Puts each enemy that `player` does not see on a tile where it could be by now, doing something it could be doing.
    /// Number, kind and health of these units and what the enemy owns stay as they are.
    pub(crate) fn determinize(
        &self,
        state: &mut State<BLOCKS>,
        player: Player,
        shown: &mut dyn Iterator<Item = State<BLOCKS>>,
        chance: &mut Seeded,
    ) {
        let traces = self.traces(state, player, shown);
        for trace in &traces {
            let cell = self.map.cell(state.unit(trace.id).at);
            state.occupied.remove(cell);
        }
        state.working.retain(|id| traces.iter().all(|trace| trace.id != id));
        let sight = self.sight(state, player);
        let unseen: Vec<At> = (self.map.cells())
            .filter(|&at| !self.map.is_wall(at) && !sight.contains(self.map.cell(at)))
            .collect();
        for trace in &traces {
            let is_free = |at: &At| !state.occupied.contains(self.map.cell(*at));
            let ways = Distances::to(&self.map, trace.from.iter().copied());
            let near = |at: &At| ways.of(&self.map, *at) <= trace.steps;
            let mut free: Vec<At> = unseen.iter().copied().filter(|at| is_free(at) && near(at)).collect();
            if free.is_empty() {
                // Other units were put on these tiles. There is room for all: each stood somewhere out of sight.
                free = unseen.iter().copied().filter(is_free).collect();
            }
            let unit = self.drawn(state, trace.id, &free, chance);
            *state.unit_mut(trace.id) = unit;
            state.occupied.insert(self.map.cell(unit.at));
            if unit.mining > 0 || unit.duplication > 0 {
                state.working.push(trace.id);
            }
        }
    }

    /// Draws a hidden unit on one of the tiles free for it. Every second worker that could mine does.
    fn drawn(&self, state: &State<BLOCKS>, id: UnitId, free: &[At], chance: &mut Seeded) -> Unit {
        let mut unit = Unit { mining: 0, hub: 0, ..*state.unit(id) };
        let one = |tiles: &[At], chance: &mut Seeded| tiles[chance.below(tiles.len() as u32) as usize];
        if unit.duplication > 0 {
            unit.duplication = 1 + chance.below(self.rules.duplication_time.into()) as u8;
        } else if unit.kind == Kind::Worker && chance.happens(1, 2) {
            let mines: Vec<At> =
                free.iter().copied().filter(|&at| self.minable(state, at).is_some()).collect();
            if !mines.is_empty() {
                unit.at = one(&mines, chance);
                unit.hub = self.minable(state, unit.at).unwrap_or(0);
                unit.mining = 1 + chance.below(self.rules.mining_time.into()) as u8;
                return unit;
            }
        }
        unit.at = one(free, chance);
        unit
    }

    /// The hub that a worker on a tile can mine (DH-MINE-4).
    fn minable(&self, state: &State<BLOCKS>, at: At) -> Option<u8> {
        let mut beside = Direction::ALL.into_iter().filter(|_| self.rules.mine_direction);
        let beside = beside.find_map(|direction| self.hub_at(state, at.step(direction)));
        self.hub_at(state, at).or(beside)
    }

    /// The enemies that `player` does not see, in order of creation, with the place where each was last seen; those never
    /// seen came from where their side began, which both know (DH-MAP-2).
    fn traces(
        &self,
        state: &State<BLOCKS>,
        player: Player,
        shown: &mut dyn Iterator<Item = State<BLOCKS>>,
    ) -> Vec<Trace> {
        let sees = |state: &State<BLOCKS>, sight: &crate::map::CellSet, id: UnitId| {
            state.living[player.other() as usize].contains(id)
                && sight.contains(self.map.cell(state.unit(id).at))
        };
        let steps = |turns: u16, pace: u16| turns.saturating_mul(pace);
        let (now, pace) = (self.sight(state, player), u16::from(self.rules.max_steps));
        let hidden = state.army(player.other()).map(|(id, _)| id).filter(|&id| !sees(state, &now, id));
        let mut traces: Vec<Trace> = hidden.map(|id| Trace { id, from: Vec::new(), steps: 0 }).collect();
        let mut open = traces.len();
        while open > 0
            && let Some(before) = shown.next()
        {
            let sight = self.sight(&before, player);
            for trace in traces.iter_mut().filter(|trace| trace.from.is_empty()) {
                if sees(&before, &sight, trace.id) {
                    trace.from.push(before.unit(trace.id).at);
                    trace.steps = steps((state.half - before.half).div_ceil(2), pace);
                    open -= 1;
                }
            }
        }
        let starts = self.map.units.iter().filter(|unit| unit.0 != player).map(|unit| unit.2);
        for trace in traces.iter_mut().filter(|trace| trace.from.is_empty()) {
            trace.from = starts.clone().collect();
            // A child appears one step from its parent.
            trace.steps = steps(state.half.div_ceil(2), pace + 1);
        }
        traces
    }
}

#[cfg(test)]
mod tests {
    use agon_game::session::random_answers;
    use agon_game::{Game as _, Ignored, Setup};

    use super::*;
    use crate::LARGE;

    /// The real position must be among the possible ones, and the drawn one must not always be the real one.
    #[test]
    fn what_is_is_among_what_could_be() {
        let (mut looked, mut moved) = (0, 0);
        for preset in ["document", "neo2019", "bc2021"] {
            let rules = agon_game::RulesChoice { preset: preset.to_owned(), ..Default::default() };
            let setup = Setup { seats: 2, seed: 5, rules, ..Setup::default() };
            let game = DeerhuntOf::<LARGE>::set_up(&setup).expect("a preset sets up");
            let mut chance = Seeded::stream(5, "determinize");
            let (mut state, mut answers) = (game.start(), Vec::new());
            let mut shown: Vec<State<LARGE>> = Vec::new();
            while game.outcome(&state).is_none() {
                let player = state.mover();
                if player == Player::Two {
                    let before = || shown.iter().rev().copied();
                    for trace in game.traces(&state, player, &mut before()) {
                        let at = state.unit(trace.id).at;
                        let way = Distances::to(&game.map, trace.from).of(&game.map, at);
                        assert!(
                            way <= trace.steps,
                            "{preset}, {}: {way} of {}",
                            game.moment(&state),
                            trace.steps
                        );
                        looked += 1;
                    }
                    let mut other = state;
                    game.determinize(&mut other, player, &mut before(), &mut chance);
                    moved += u32::from(other != state);
                    shown.push(state);
                }
                random_answers(&game, &state, &mut chance, &mut answers);
                game.play(&mut state, &mut (), &answers, &mut chance, &mut Ignored);
            }
        }
        assert!(looked > 100 && moved > 50, "{looked} places, {moved} draws that differ");
    }
}
