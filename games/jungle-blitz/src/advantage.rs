//! The features that speak for a team in a position. Their weights are in [`weights`](crate::weights).

use agon_game::SeatAdvantages;

use crate::JungleBlitz;
use crate::arena::Cell;
use crate::outcome::pending;
use crate::state::{State, Unit};

/// The features of all teams. Points are measured in what one diamond earns when held at the highest level for the whole match.
pub(crate) fn standing(game: &JungleBlitz, state: &State) -> SeatAdvantages {
    let rules = &*game.rules;
    let ticks_left = f64::from(rules.total_tick.saturating_sub(state.tick));
    let top = f64::from(rules.maximum_diamond_summon_level);
    let rate = f64::from(rules.points_per_diamond);
    let unit_of_points = (f64::from(rules.total_tick) * top * rate).max(1.0);
    let teams = 0..game.teams();
    let points = |team: usize| f64::from(state.scores[team] + pending(game, state, team));
    let levels = |team: usize| -> f64 {
        let held = state
            .diamonds
            .iter()
            .filter(|diamond| diamond.owner.holder().is_some_and(|unit| game.team_of(unit) == team));
        held.map(|diamond| f64::from(diamond.level)).sum()
    };
    // A team's points plus what its diamonds will still earn if they stay where they are.
    let hoped = |team: usize| points(team) + levels(team) * ticks_left * rate;
    let all: f64 = teams.clone().map(points).sum();
    let all_hoped: f64 = teams.clone().map(hoped).sum();
    let mut features = Vec::new();
    for team in teams {
        let first = usize::from(game.first_unit(team));
        let own = &state.units[first..first + usize::from(game.units_per_team)];
        let living = || own.iter().filter(|unit| unit.alive());
        let free =
            state.diamonds.iter().filter(|diamond| diamond.cell != Cell::NOWHERE && diamond.on_ground());
        let free: Vec<Cell> = free.map(|diamond| diamond.cell).collect();
        let reach =
            living().filter(|unit| unit.holds == 0).map(|unit| near(game, unit.cell, free.iter().copied()));
        let prey = |unit: &Unit| {
            let others = (0..game.unit_count()).filter(|&other| game.team_of(other) != team);
            let laden = others.map(|other| state.unit(other)).filter(|other| other.holds > 0);
            near(game, unit.cell, laden.map(|other| other.cell))
        };
        features.extend([
            f64::from(state.scores[team]) / unit_of_points,
            (points(team) + 20.0) / (all + 20.0 * game.teams() as f64),
            f64::from(pending(game, state, team)) / unit_of_points,
            levels(team) / top,
            levels(team) * ticks_left * rate / unit_of_points,
            living().filter(|unit| unit.holds > 0).count() as f64,
            living().count() as f64,
            f64::from(state.deaths[team]) / 10.0,
            reach.sum(),
            living().filter(|unit| unit.holds == 0).map(prey).sum(),
            (hoped(team) + 20.0) / (all_hoped + 20.0 * game.teams() as f64),
        ]);
    }
    SeatAdvantages { progress: f64::from(state.tick) / f64::from(rules.total_tick), features }
}

/// 1 when a goal is on the next tile, less the further away the nearest one is; walls are ignored.
fn near(game: &JungleBlitz, from: Cell, goals: impl Iterator<Item = Cell>) -> f64 {
    let Some(from) = game.arena.point(from) else { return 0.0 };
    let steps = goals
        .filter_map(|goal| game.arena.point(goal))
        .map(|goal| from.x.abs_diff(goal.x) + from.y.abs_diff(goal.y));
    steps.min().map_or(0.0, |steps| 1.0 / f64::from(steps.max(1)))
}
