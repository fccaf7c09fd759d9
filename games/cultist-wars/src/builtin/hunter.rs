//! Looks several turns ahead.
//!
//! Everything can be known in advance, even the moves of the neutrals, so this is a plain alpha-beta search over
//! exact positions: deeper and deeper, until the position budget is used up.

use agon_game::{Builtin, Ignored, Seat};

use crate::CultistWars;
use crate::board::{TILES, Tile, Tiles};
use crate::builtin::greedy::{hits, opponent};
use crate::orders::{Action, Order};
use crate::state::{Ending, Owner, State, Units, leader};
use crate::view::View;

/// Positions to search per answer: a few milliseconds.
pub(super) const NODES: u32 = 10_000;
/// Searching deeper than this gains nothing.
const DEEPEST: usize = 32;
/// How many actions of a position are searched to full depth,
const EAGER: usize = 3;
/// and the rank above which all others are as well.
const QUIET: i32 = 100;
/// Worth more than any position.
const INFINITE: i32 = 1_000_000;
/// The value of a won match.
const WON: i32 = 100_000;

/// Looks several turns ahead.
pub(super) struct Hunter {
    nodes: u32,
    /// Computed when the board is first seen.
    distances: Option<Box<Distances>>,
}

impl Hunter {
    pub(super) const fn new(nodes: u32) -> Self {
        Self { nodes, distances: None }
    }
}

impl Builtin<CultistWars> for Hunter {
    fn order(&mut self, game: &CultistWars, view: View<'_>) -> Order {
        let distances = self.distances.get_or_insert_with(|| Box::new(Distances::new(game.floor())));
        let best = [[None; 2]; DEEPEST];
        let mut search = Search { game, distances, left: self.nodes, best, moves: Vec::new() };
        let mut choice = Action::Wait;
        for depth in 1..=DEEPEST {
            search.best[0][0] = Some(choice);
            match search.root(view.state, depth) {
                Some(better) => choice = better,
                None => break,
            }
        }
        choice.into()
    }
}

struct Search<'a> {
    game: &'a CultistWars,
    distances: &'a Distances,
    /// Positions that may still be searched.
    left: u32,
    /// By distance from the root, two actions that were good there; they are tried first.
    best: [[Option<Action>; 2]; DEEPEST],
    /// The actions to try, of all positions on the path to the current one.
    moves: Vec<(i32, Action)>,
}

impl Search<'_> {
    /// The best action when looking `depth` turns ahead. If the search is cut short, the best action proved
    /// better than the last choice, which is tried first; `None` when not even that one was finished.
    fn root(&mut self, state: &State, depth: usize) -> Option<Action> {
        let (mut alpha, mut choice) = (-INFINITE, None);
        self.moves.clear();
        self.list(state, 0);
        for index in 0..self.moves.len() {
            let action = self.pick(index);
            let Some(value) = self.after(state, action, depth, 0, (alpha, INFINITE)) else { break };
            if value > alpha {
                (alpha, choice) = (value, Some(action));
            }
        }
        choice
    }

    /// The value of an action for the mover; `None` when the budget is used up.
    fn after(
        &mut self,
        state: &State,
        action: Action,
        depth: usize,
        ply: usize,
        (alpha, beta): (i32, i32),
    ) -> Option<i32> {
        self.left = self.left.checked_sub(1)?;
        let mut next = *state;
        self.game.carry_out(&mut next, action, &mut Ignored);
        let value = if depth == 1 || next.ending().is_some() {
            value(self.distances, self.game, &next, opponent(state.mover()))
        } else {
            self.look(&next, depth - 1, ply + 1, (-beta, -alpha))?
        };
        Some(-value)
    }

    /// The value of a position for its mover, `depth` turns ahead, as far as it lies between `alpha` and `beta`.
    fn look(
        &mut self,
        state: &State,
        depth: usize,
        ply: usize,
        (mut alpha, beta): (i32, i32),
    ) -> Option<i32> {
        let first = self.moves.len();
        self.list(state, ply);
        let mut value = -INFINITE;
        for index in first..self.moves.len() {
            let action = self.pick(index);
            // Unpromising actions are searched less deeply, and again in full only when they surprise.
            let quiet = depth > 2 && index - first >= EAGER && self.moves[index].0 <= QUIET;
            let mut got =
                if quiet { self.after(state, action, depth - 2, ply, (alpha, alpha + 1))? } else { beta };
            if !quiet || got > alpha {
                got = self.after(state, action, depth, ply, (alpha, beta))?;
            }
            value = value.max(got);
            if value >= beta {
                let best = &mut self.best[ply];
                if best[0] != Some(action) {
                    *best = [Some(action), best[0]];
                }
                break;
            }
            alpha = alpha.max(value);
        }
        self.moves.truncate(first);
        Some(value)
    }

    /// Appends the sensible actions of the mover, each with its rank.
    fn list(&mut self, state: &State, ply: usize) {
        let good = self.best[ply];
        let mut push = |rank: i32, action: Action| {
            let rank = match Some(action) {
                action if action == good[0] => 1_000,
                action if action == good[1] => rank.max(150),
                _ => rank,
            };
            self.moves.push((rank, action));
        };
        let game = self.game;
        let seat = state.mover();
        let own = state.living_of(Owner::Player(seat));
        let enemies = state.living_of(Owner::Player(opponent(seat)));
        let free = game.floor() & !state.occupied;
        for unit in own.iter() {
            let from = state.tile(unit);
            if unit == leader(seat) {
                for target in state.living().without(own).without(Units::LEADERS).iter() {
                    if from.distance(state.tile(target)) == 1 {
                        let rank = if enemies.contains(target) { 500 } else { 300 };
                        push(rank, Action::Convert { unit, target });
                    }
                }
            } else {
                for target in enemies.iter() {
                    if from.distance(state.tile(target)) <= game.rules().shooting_range
                        && let Some(damage) = hits(game, state, unit, target)
                    {
                        let rank = if damage == state.hp(target) { 400 } else { 200 + i32::from(damage) };
                        push(rank, Action::Shoot { unit, target });
                    }
                }
            }
            for to in from.neighbours().into_iter().filter(|&tile| free.contains(tile)) {
                push(if unit == leader(seat) { 100 } else { 50 }, Action::Move { unit, to });
            }
        }
        push(0, Action::Wait);
    }

    /// Swaps the most promising action from `index` on into that place and returns it.
    fn pick(&mut self, index: usize) -> Action {
        let mut best = index;
        for other in index + 1..self.moves.len() {
            if self.moves[other].0 > self.moves[best].0 {
                best = other;
            }
        }
        self.moves.swap(index, best);
        self.moves[index].1
    }
}

/// The value of a position for a player.
fn value(distances: &Distances, game: &CultistWars, state: &State, seat: Seat) -> i32 {
    let lead = state.count(seat) as i32 - state.count(opponent(seat)) as i32;
    match state.ending() {
        Some(Ending::TurnLimit | Ending::Elimination) => {
            // An early win is better than a late one, and a late loss than an early one.
            let left = i32::from(game.rules().number_of_turns.saturating_sub(state.turns_played()));
            WON * lead.signum() + 1_000 * lead + lead.signum() * left
        }
        Some(Ending::Fault(..)) | None => {
            side(distances, state, seat) - side(distances, state, opponent(seat))
        }
    }
}

/// A unit.
const UNIT: i32 = 50;
/// A leader, on top of that.
const LEADER: i32 = 60;
/// A health point.
const HEALTH: i32 = 10;
/// The prospect of converting a neutral: this value divided by the number of steps plus one.
const PREY: i32 = 96;
/// How far the leader likes to keep from enemy cultists, one point per step.
const SAFE: i32 = 7;

/// The value of a player's side: its units, their health, its leader's prey and its leader's safety.
fn side(distances: &Distances, state: &State, seat: Seat) -> i32 {
    let own = state.living_of(Owner::Player(seat));
    let health: i32 = own.iter().map(|unit| i32::from(state.hp(unit))).sum();
    let mut worth = UNIT * own.len() as i32 + HEALTH * health;
    let chief = leader(seat);
    if own.contains(chief) {
        let steps = |to| distances.between(state.tile(chief), state.tile(to));
        let hunters = state.living_of(Owner::Player(opponent(seat))).without(Units::LEADERS);
        let prey = state.living_of(Owner::Neutral);
        worth += LEADER;
        worth += prey.iter().map(|unit| PREY / (steps(unit) + 1)).sum::<i32>();
        worth += hunters.iter().map(steps).min().unwrap_or(0).min(SAFE);
    }
    worth
}

/// The number of steps from tile to tile around the obstacles; large where there is no way.
struct Distances([[u8; TILES]; TILES]);

impl Distances {
    fn new(floor: Tiles) -> Self {
        let mut steps = [[u8::MAX; TILES]; TILES];
        for (from, row) in Tile::all().zip(&mut steps) {
            let (mut flood, mut unseen) = (Tiles::one(from), floor);
            for distance in 0.. {
                for tile in Tile::all().filter(|&tile| flood.contains(tile)) {
                    row[usize::from(tile.number())] = distance;
                }
                unseen = unseen & !flood;
                flood = flood.around() & unseen;
                if flood.is_empty() {
                    break;
                }
            }
        }
        Self(steps)
    }

    fn between(&self, from: Tile, to: Tile) -> i32 {
        self.0[usize::from(from.number())][usize::from(to.number())].into()
    }
}
