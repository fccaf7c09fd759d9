//! Habits: what a unit does on its own, without looking ahead.

use agon_game::Builtin;

use super::distances::{Distances, FAR};
use crate::JungleBlitz;
use crate::arena::{Cell, Direction, Ground};
use crate::orders::{Action, Command, Entry};
use crate::state::{DiamondIndex, State, UnitIndex};
use crate::view::View;

/// A set of habits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Gathers diamonds, lets them grow and waits for the end.
    Collector,
    /// Hunts, and drops its diamond as soon as it is worth something.
    Raider,
    /// Lets diamonds grow while no enemy is near, drops them when one comes.
    Keeper,
}

/// A bot that follows its habits.
pub struct Habitual {
    style: Style,
    distances: Option<Distances>,
}

impl Habitual {
    pub fn new(style: Style) -> Self {
        Self { style, distances: None }
    }
}

impl Builtin<JungleBlitz> for Habitual {
    fn order(&mut self, game: &JungleBlitz, view: View<'_>) -> Command {
        let distances = self.distances.get_or_insert_with(|| Distances::new(&game.arena));
        let actions = actions(game, distances, &view.as_state(), view.seat.index(), self.style);
        command(game, view.seat.index(), &actions)
    }
}

/// The action of each unit of a team, in the order sent.
pub type Actions = Vec<(UnitIndex, Action)>;

/// The command for these actions.
pub fn command(game: &JungleBlitz, team: usize, actions: &Actions) -> Command {
    let first = game.first_unit(team);
    let entries = actions.iter().map(|&(unit, action)| Entry::Unit { unit: unit - first, action });
    Command { entries: entries.collect() }
}

/// The habitual actions of a team.
pub fn actions(
    game: &JungleBlitz,
    distances: &Distances,
    state: &State,
    team: usize,
    style: Style,
) -> Actions {
    let mut habit = Habit { game, distances, state, team, style, taken: 0, goals: Vec::new() };
    let first = game.first_unit(team);
    let mut units: Vec<UnitIndex> = (first..first + game.units_per_team).collect();
    // The unit closest to a diamond on the ground chooses first.
    units.sort_by_key(|&unit| habit.nearest_diamond(state.unit(unit).cell).map_or(FAR, |found| found.1));
    units.into_iter().map(|unit| (unit, habit.action(unit))).collect()
}

struct Habit<'a> {
    game: &'a JungleBlitz,
    distances: &'a Distances,
    state: &'a State,
    team: usize,
    style: Style,
    /// One bit per diamond: a unit of the team is on its way.
    taken: u16,
    /// Where units of the team go in this tick.
    goals: Vec<Cell>,
}

impl Habit<'_> {
    fn action(&mut self, unit: UnitIndex) -> Action {
        let own = self.state.unit(unit);
        if !own.alive() {
            return self.spawn();
        }
        if own.summoning > 0 {
            return Action::None;
        }
        match own.diamond() {
            Some(diamond) => self.hold(unit, diamond),
            None => self.seek(unit),
        }
    }

    /// Spawns where the way to a diamond is shortest.
    fn spawn(&mut self) -> Action {
        let free = |cell: &&Cell| self.state.unit_on(**cell).is_none() && !self.goals.contains(cell);
        let spawns = self.game.arena.spawns();
        let best = spawns
            .iter()
            .filter(free)
            .min_by_key(|cell| self.nearest_diamond(**cell).map_or(FAR, |found| found.1));
        let cell = best.copied().unwrap_or(spawns[0]);
        if let Some((diamond, _)) = self.nearest_diamond(cell) {
            self.taken |= 1 << diamond;
        }
        self.goals.push(cell);
        Action::Spawn(cell)
    }

    /// The nearest diamond on the ground that no unit of the team is after.
    fn nearest_diamond(&self, from: Cell) -> Option<(DiamondIndex, u16)> {
        let wanted = |&diamond: &DiamondIndex| {
            self.taken >> diamond & 1 == 0 && self.state.diamonds[usize::from(diamond)].on_ground()
        };
        let steps = |diamond: DiamondIndex| {
            let diamond = &self.state.diamonds[usize::from(diamond)];
            self.distances.steps(from, diamond.cell).saturating_sub(diamond.points / 8)
        };
        let found = self.game.arena.diamond_indices().filter(wanted).map(|diamond| (diamond, steps(diamond)));
        found.filter(|found| found.1 < FAR).min_by_key(|found| found.1)
    }

    /// The enemies on the board.
    fn enemies(&self) -> impl Iterator<Item = UnitIndex> + '_ {
        let enemy = |&unit: &UnitIndex| self.game.team_of(unit) != self.team && self.state.unit(unit).alive();
        (0..self.game.unit_count()).filter(enemy)
    }

    /// The distance in steps of the nearest enemy that could attack.
    fn danger(&self, cell: Cell) -> u16 {
        let armed = self.enemies().filter(|&enemy| self.state.unit(enemy).holds == 0);
        armed.map(|enemy| self.distances.steps(self.state.unit(enemy).cell, cell)).min().unwrap_or(FAR)
    }

    fn hold(&mut self, unit: UnitIndex, diamond: DiamondIndex) -> Action {
        let rules = &self.game.rules;
        let own = self.state.unit(unit);
        let diamond = &self.state.diamonds[usize::from(diamond)];
        let left = rules.total_tick - self.state.tick;
        let time = u16::from(diamond.level) + 1;
        let can_rise = diamond.level < rules.maximum_diamond_summon_level && left > time + 1;
        let drop = self.drop_tile(own.cell).map(Action::Drop);
        if left == 1 {
            return drop.unwrap_or(Action::None);
        }
        match self.style {
            Style::Collector if can_rise => Action::Summon,
            Style::Collector => Action::None,
            Style::Raider if diamond.points >= 12 => drop.unwrap_or(Action::None),
            Style::Raider if can_rise && diamond.level < 3 => Action::Summon,
            Style::Raider => Action::None,
            Style::Keeper => {
                let danger = self.danger(own.cell);
                match drop {
                    Some(drop) if danger <= 2 && diamond.points > 0 => drop,
                    _ if danger <= 2 => self.flee(own.cell),
                    _ if can_rise && danger > time => Action::Summon,
                    _ => Action::None,
                }
            }
        }
    }

    /// The adjacent EMPTY tile without a unit that is farthest from enemies.
    fn drop_tile(&self, cell: Cell) -> Option<Cell> {
        self.beside(cell).max_by_key(|&tile| self.danger(tile))
    }

    fn flee(&mut self, cell: Cell) -> Action {
        let free = self
            .beside(cell)
            .filter(|&tile| !self.state.diamond_lies_on(tile) && !self.goals.contains(&tile));
        match free.max_by_key(|&tile| self.danger(tile)) {
            Some(tile) => {
                self.goals.push(tile);
                Action::Move(tile)
            }
            None => Action::None,
        }
    }

    /// Adjacent EMPTY tiles without a unit.
    fn beside(&self, cell: Cell) -> impl Iterator<Item = Cell> + '_ {
        let arena = &self.game.arena;
        let tiles = Direction::ALL.into_iter().map(move |way| arena.neighbour(cell, way));
        tiles.filter(|&tile| arena.ground(tile) == Ground::Empty && self.state.unit_on(tile).is_none())
    }

    /// With empty hands: kill an adjacent enemy, fetch a diamond, or go for an enemy that holds one.
    fn seek(&mut self, unit: UnitIndex) -> Action {
        let own = self.state.unit(unit);
        let arena = &self.game.arena;
        let on_spawn = arena.ground(own.cell) == Ground::Spawn;
        if !on_spawn && self.style != Style::Collector {
            let reach = |&enemy: &UnitIndex| {
                let cell = self.state.unit(enemy).cell;
                arena.adjacent(own.cell, cell) && arena.ground(cell) == Ground::Empty
            };
            let worth = |&enemy: &UnitIndex| self.worth(enemy);
            if let Some(enemy) = self.enemies().filter(reach).max_by_key(worth) {
                return Action::Attack(self.state.unit(enemy).cell);
            }
        }
        let diamond = self.nearest_diamond(own.cell);
        let prey = if self.style == Style::Collector { None } else { self.prey(own.cell) };
        let hunts = match (diamond, prey) {
            (Some(diamond), Some(prey)) => self.style == Style::Raider && prey.1 < diamond.1,
            (diamond, _) => diamond.is_none(),
        };
        match (hunts, diamond, prey) {
            (false, Some((diamond, _)), _) => {
                self.taken |= 1 << diamond;
                self.go(own.cell, self.state.diamonds[usize::from(diamond)].cell)
            }
            (_, _, Some((enemy, _))) => self.go(own.cell, self.state.unit(enemy).cell),
            _ => Action::None,
        }
    }

    /// The value of killing an enemy: its diamond, or nothing but peace.
    fn worth(&self, enemy: UnitIndex) -> u16 {
        let diamond =
            self.state.unit(enemy).diamond().map(|diamond| &self.state.diamonds[usize::from(diamond)]);
        diamond.map_or(0, |diamond| 10 + diamond.points + 20 * u16::from(diamond.level))
    }

    /// The nearest enemy that holds a diamond.
    fn prey(&self, from: Cell) -> Option<(UnitIndex, u16)> {
        let holders = self.enemies().filter(|&enemy| self.state.unit(enemy).holds > 0);
        let found = holders.map(|enemy| (enemy, self.distances.steps(from, self.state.unit(enemy).cell)));
        found.filter(|found| found.1 < FAR).min_by_key(|found| found.1)
    }

    /// One step towards `to` over free tiles, trying the straightest first.
    fn go(&mut self, from: Cell, to: Cell) -> Action {
        let arena = &self.game.arena;
        let on_spawn = arena.ground(from) == Ground::Spawn;
        let free = |&tile: &Cell| {
            let ground = arena.ground(tile);
            (ground == Ground::Empty || (on_spawn && ground == Ground::Spawn))
                && self.state.unit_on(tile).is_none()
                && !self.goals.contains(&tile)
        };
        let tiles = Direction::ALL.into_iter().map(|way| arena.neighbour(from, way)).filter(free);
        match tiles.min_by_key(|&tile| self.distances.steps(tile, to)) {
            Some(tile) if from != to => {
                self.goals.push(tile);
                Action::Move(tile)
            }
            _ => Action::None,
        }
    }
}
