//! Looks several turns ahead.
//!
//! Everything that will happen can be known beforehand, the moves of the neutrals too, so that this is a plain
//! alpha-beta search over exact positions: deeper and deeper, until the allowance of positions is used up.

use agon_game::{Builtin, Ignored, Seat};

use crate::CultistWars;
use crate::board::Tile;
use crate::builtin::greedy::{actions, hits, opponent};
use crate::orders::{Action, Order};
use crate::state::{Ending, LEADERS, Owner, State, Units, leader};
use crate::view::View;

/// Positions to look at for an answer: a few milliseconds.
pub(super) const NODES: u32 = 20_000;
/// Deeper than this nothing is gained.
const DEEPEST: usize = 32;
/// Worth more than any position.
const INFINITE: i32 = 1_000_000;
/// A match won.
const WON: i32 = 100_000;

/// Looks several turns ahead.
pub(super) struct Hunter {
    nodes: u32,
}

impl Hunter {
    pub(super) const fn new(nodes: u32) -> Self {
        Self { nodes }
    }
}

impl Builtin<CultistWars> for Hunter {
    fn order(&mut self, game: &CultistWars, view: View<'_>) -> Order {
        let mut search = Search { game, left: self.nodes, best: [[None; 2]; DEEPEST], moves: Vec::new() };
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
    /// Positions that may still be looked at.
    left: u32,
    /// By distance from the root, two actions that were good there: they are tried first.
    best: [[Option<Action>; 2]; DEEPEST],
    /// The actions to try, of all positions on the way to the present one.
    moves: Vec<(i32, Action)>,
}

impl Search<'_> {
    /// The best action when looking `depth` turns ahead; of a search that was cut short, the best that was proved
    /// to be better than the last choice, which is tried first. None when not even that one was finished.
    fn root(&mut self, state: &State, depth: usize) -> Option<Action> {
        let (mut alpha, mut choice) = (-INFINITE, None);
        self.moves.clear();
        self.list(state, 0);
        for index in 0..self.moves.len() {
            let action = self.moves[index].1;
            let Some(value) = self.after(state, action, depth, 0, (alpha, INFINITE)) else { break };
            if value > alpha {
                (alpha, choice) = (value, Some(action));
            }
        }
        choice
    }

    /// The value for the mover of an action; none when the allowance is used up.
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
            value(self.game, &next, opponent(state.mover()))
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
            let action = self.moves[index].1;
            value = value.max(self.after(state, action, depth, ply, (alpha, beta))?);
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

    /// Appends the sensible actions of the mover, the most promising first.
    fn list(&mut self, state: &State, ply: usize) {
        let first = self.moves.len();
        let good = self.best[ply];
        let rank = |action: Action| match action {
            _ if good[0] == Some(action) => 1_000,
            Action::Convert { target, .. } if state.owner(target) != Some(Owner::Neutral) => 500,
            Action::Convert { .. } => 300,
            Action::Shoot { unit, target } => {
                let damage = hits(self.game, state, unit, target).unwrap_or(0);
                if damage >= state.hp(target) { 400 } else { 200 + i32::from(damage) }
            }
            _ if good[1] == Some(action) => 150,
            Action::Move { unit, .. } if unit < LEADERS => 100,
            Action::Move { .. } => 50,
            Action::Wait => 0,
        };
        self.moves.extend(actions(self.game, state).map(|action| (rank(action), action)));
        for unit in state.living_of(Owner::Player(state.mover())).iter() {
            let free = |tile: &Tile| self.game.floor().contains(*tile) && !state.occupied.contains(*tile);
            let steps = state.tile(unit).neighbours().into_iter().filter(free);
            self.moves.extend(steps.map(|to| Action::Move { unit, to }).map(|action| (rank(action), action)));
        }
        self.moves.push((rank(Action::Wait), Action::Wait));
        self.moves[first..].sort_by_key(|&(rank, _)| -rank);
    }
}

/// What a position is worth to a player.
fn value(game: &CultistWars, state: &State, seat: Seat) -> i32 {
    let lead = state.count(seat) as i32 - state.count(opponent(seat)) as i32;
    match state.ending() {
        Some(Ending::TurnLimit | Ending::Elimination) => {
            // Sooner is better when winning, later when losing.
            let left = i32::from(game.rules().number_of_turns.saturating_sub(state.turns_played()));
            WON * lead.signum() + 1_000 * lead + lead.signum() * left
        }
        Some(Ending::Fault(..)) | None => side(game, state, seat) - side(game, state, opponent(seat)),
    }
}

/// What a player's side is worth: its units, their health, and how near they are to what they want.
fn side(game: &CultistWars, state: &State, seat: Seat) -> i32 {
    let owner = Owner::Player(seat);
    let own = state.living_of(owner);
    let others = state.living().without(own);
    let enemies = state.living_of(Owner::Player(opponent(seat)));
    let nearest = |from: Tile, among: Units| {
        among.iter().map(|target| i32::from(from.distance(state.tile(target)))).min().unwrap_or(0)
    };
    let mut worth = 0;
    for unit in own.iter() {
        worth += 100 + 4 * i32::from(state.hp(unit));
        if unit == leader(seat) {
            let neutrals = state.living_of(Owner::Neutral);
            let wanted = if neutrals.is_empty() { others.without(Units::LEADERS) } else { neutrals };
            worth += 60 - 4 * nearest(state.tile(unit), wanted);
        } else {
            let out_of_range = nearest(state.tile(unit), enemies) - i32::from(game.rules().shooting_range);
            worth -= out_of_range.max(0);
        }
    }
    worth
}
