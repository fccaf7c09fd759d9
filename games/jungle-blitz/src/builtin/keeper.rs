//! The keeper: starts with the best-scoring habits and tries, unit by unit, whether another action scores better.

use agon_game::{Answer, Builtin, Game as _, Ignored, Seat, Seeded};

use super::distances::Distances;
use super::habits::{Actions, Style, actions, command};
use crate::JungleBlitz;
use crate::arena::{Direction, Ground};
use crate::orders::{Action, Command};
use crate::rules::MAX_UNITS;
use crate::search::Search;
use crate::state::{State, UnitIndex};
use crate::view::View;

/// Ticks looked ahead.
const AHEAD: u16 = 9;

/// Plans with the engine. Enemies are assumed to be raiders.
pub struct Keeper {
    /// Ticks it may simulate for one answer.
    nodes: u32,
    chance: Seeded,
    distances: Option<Distances>,
    search: Search,
    /// For how many ticks each unit has been seen summoning.
    summoning_for: [u8; MAX_UNITS],
}

impl Keeper {
    pub fn new(nodes: u32, seed: u64) -> Self {
        Self {
            nodes,
            chance: Seeded::stream(seed as i64, "keeper"),
            distances: None,
            search: Search::default(),
            summoning_for: [0; MAX_UNITS],
        }
    }

    /// The progress of a summon cannot be seen, but it can be counted.
    fn count_summons(&mut self, state: &mut State) {
        for (unit, count) in state.units.iter_mut().zip(&mut self.summoning_for) {
            *count = if unit.summoning > 0 { count.saturating_add(1) } else { 0 };
            if let Some(diamond) = unit.diamond().filter(|_| unit.summoning > 0) {
                let level = state.diamonds[usize::from(diamond)].level;
                unit.summoning = count.saturating_add(1).min(level + 1);
            }
        }
    }
}

impl Builtin<JungleBlitz> for Keeper {
    fn order(&mut self, game: &JungleBlitz, view: View<'_>) -> Command {
        let team = view.seat.index();
        let mut state = view.as_state();
        self.count_summons(&mut state);
        let distances = self.distances.get_or_insert_with(|| Distances::new(&game.arena));
        let mut plan = Plan {
            game,
            distances,
            team,
            state: &state,
            own: Style::Keeper,
            left: self.nodes,
            chance: &mut self.chance,
            search: &mut self.search,
        };
        let mut best = actions(game, distances, &state, team, Style::Keeper);
        let Some(mut value) = plan.value(&best) else { return command(game, team, &best) };
        // Gathering or hunting may be better just now than caution.
        let mut own = plan.own;
        for style in [Style::Raider, Style::Collector] {
            plan.own = style;
            let habits = actions(game, distances, &state, team, style);
            match plan.value(&habits) {
                Some(better) if better > value => (value, best, own) = (better, habits, style),
                _ => {}
            }
        }
        plan.own = own;
        'planning: for at in 0..best.len() {
            let (unit, habit) = best[at];
            let mut chosen = habit;
            for action in plan.choices(unit) {
                if action == habit {
                    continue;
                }
                best[at].1 = action;
                match plan.value(&best) {
                    None => {
                        best[at].1 = chosen;
                        break 'planning;
                    }
                    Some(better) if better > value => (value, chosen) = (better, action),
                    Some(_) => {}
                }
            }
            best[at].1 = chosen;
        }
        command(game, team, &best)
    }
}

struct Plan<'a> {
    game: &'a JungleBlitz,
    distances: &'a Distances,
    team: usize,
    state: &'a State,
    /// The habits its own team follows after the first tick.
    own: Style,
    left: u32,
    chance: &'a mut Seeded,
    search: &'a mut Search,
}

impl Plan<'_> {
    /// Alternative actions of a unit.
    fn choices(&self, unit: UnitIndex) -> Vec<Action> {
        let (arena, own) = (&self.game.arena, self.state.unit(unit));
        if !own.alive() || own.summoning > 0 {
            return Vec::new();
        }
        let mut choices = vec![Action::None];
        let on_spawn = arena.ground(own.cell) == Ground::Spawn;
        for way in Direction::ALL {
            let tile = arena.neighbour(own.cell, way);
            if self.state.unit_on(tile).is_none() && arena.ground(tile) == Ground::Empty {
                choices.push(Action::Move(tile));
            }
        }
        if own.holds > 0 {
            choices.push(Action::Summon);
            let empty = |&choice: &Action| matches!(choice, Action::Move(_));
            if let Some(Action::Move(tile)) = choices.iter().copied().find(empty) {
                choices.push(Action::Drop(tile));
            }
        } else if !on_spawn {
            for other in (0..self.game.unit_count()).filter(|&other| self.game.team_of(other) != self.team) {
                let (Some(here), Some(there)) =
                    (arena.point(own.cell), arena.point(self.state.unit(other).cell))
                else {
                    continue;
                };
                let cell = self.state.unit(other).cell;
                if arena.adjacent(own.cell, cell) {
                    choices.push(Action::Attack(cell));
                } else if (here.x == there.x || here.y == there.y) && self.state.unit(other).holds > 0 {
                    choices.push(Action::Vine(cell));
                }
            }
        }
        choices
    }

    /// The value of starting with the actions in `first` and following habits afterwards; `None` when the budget is spent.
    fn value(&mut self, first: &Actions) -> Option<i64> {
        let game = self.game;
        let ticks = AHEAD.min(game.rules.total_tick - self.state.tick);
        self.left = self.left.checked_sub(u32::from(ticks))?;
        let mut state = *self.state;
        for tick in 0..ticks {
            let mut answers = Vec::with_capacity(game.teams());
            for seat in game.deciding(&state).iter() {
                let team = seat.index();
                let actions = match (team == self.team, tick) {
                    (true, 0) => first.clone(),
                    (true, _) => actions(game, self.distances, &state, team, self.own),
                    (false, _) => actions(game, self.distances, &state, team, Style::Raider),
                };
                answers.push((seat, Answer::Given { order: command(game, team, &actions), think_ms: 0 }));
            }
            game.play(&mut state, self.search, &answers, self.chance, &mut Ignored);
        }
        Some(self.worth(&state, self.team) * 4 - self.others(&state))
    }

    fn others(&self, state: &State) -> i64 {
        Seat::first(self.game.teams() as u8)
            .filter(|seat| seat.index() != self.team)
            .map(|seat| self.worth(state, seat.index()))
            .sum()
    }

    /// The value of a team's position: points, points in hand, and what its diamonds will bring.
    fn worth(&self, state: &State, team: usize) -> i64 {
        let left = i64::from(self.game.rules.total_tick - state.tick);
        let mut worth = i64::from(state.scores[team]) * 20;
        for diamond in &state.diamonds {
            if diamond.owner.holder().is_some_and(|unit| self.game.team_of(unit) == team) {
                let level = i64::from(diamond.level);
                worth +=
                    if left > 0 { i64::from(diamond.points) * 17 + level * left.min(12) * 10 } else { 0 };
            }
        }
        let alive = state.units.iter().enumerate().filter(|(unit, other)| {
            *unit < usize::from(self.game.unit_count())
                && self.game.team_of(*unit as u8) == team
                && other.alive()
        });
        worth + alive.count() as i64 * 10
    }
}
