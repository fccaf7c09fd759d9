//! Play choice by choice: structures, upgrades, removals and mobile units, one tile at a time.

use agon_game::Seat;
use serde::{Deserialize, Serialize};

use crate::arena::{Edge, Tile};
use crate::orders::{Action, Commands, Order, Refusal};
use crate::rules::Kind;
use crate::state::State;
use crate::view::View;
use crate::work::{Mobile, Work};
use crate::{Terminal, deploy};

/// See [`agon_game::Hand`].
pub enum Hand {}

/// One entry of an answer. Coordinates are those of the arena, for both players.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields are a kind of unit and a tile")]
pub enum Choice {
    /// A new structure or mobile unit.
    Place { kind: Placed, x: i8, y: i8 },
    /// Upgrade a structure.
    Upgrade { x: i8, y: i8 },
    /// Remove a structure, for a refund.
    Remove { x: i8, y: i8 },
}

/// A kind of unit, by its name in lower case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "as in `Kind`")]
pub enum Placed {
    Wall,
    Support,
    Turret,
    Scout,
    Demolisher,
    Interceptor,
}

impl Placed {
    const ALL: [Self; 6] =
        [Self::Wall, Self::Support, Self::Turret, Self::Scout, Self::Demolisher, Self::Interceptor];

    fn kind(self) -> Kind {
        Kind::ALL[self as usize]
    }
}

impl Choice {
    fn order(self) -> Order {
        let (action, x, y) = match self {
            Self::Place { kind, x, y } => (Action::Place(kind.kind()), x, y),
            Self::Upgrade { x, y } => (Action::Upgrade, x, y),
            Self::Remove { x, y } => (Action::Remove, x, y),
        };
        Order { action, x, y }
    }

    fn of(order: &Order) -> Option<Self> {
        let Order { action, x, y } = *order;
        Some(match action {
            Action::Place(kind) => Self::Place { kind: Placed::ALL[kind.index()], x, y },
            Action::Upgrade => Self::Upgrade { x, y },
            Action::Remove => Self::Remove { x, y },
            Action::Unknown => return None,
        })
    }

    /// Whether it belongs in the second line of an answer. TM-ANSWER-2.
    fn is_mobile(self) -> bool {
        matches!(self, Self::Place { kind, .. } if kind.kind().is_mobile())
    }

    /// Every choice that could be made on a tile.
    fn on(tile: Tile) -> impl Iterator<Item = Self> {
        let (x, y) = (tile.x() as i8, tile.y() as i8);
        let placed = Placed::ALL.into_iter().map(move |kind| Self::Place { kind, x, y });
        placed.chain([Self::Upgrade { x, y }, Self::Remove { x, y }])
    }
}

/// A turn under construction: the board after the orders so far.
struct Draft<'a> {
    game: &'a Terminal,
    seat: Seat,
    state: State,
    mobiles: Vec<Mobile>,
    work: Work,
}

impl<'a> Draft<'a> {
    fn new(game: &'a Terminal, seat: Seat, seen: &State, chosen: &[Choice]) -> Self {
        let mut work = Work::default();
        work.lay_out(seen);
        let mut draft = Self { game, seat, state: *seen, mobiles: Vec::new(), work };
        let Commands { build, deploy } = commands(chosen);
        for order in build.iter().chain(&deploy) {
            // A refused order changes nothing, and is reported when the turn is tried.
            let _ = draft.carry_out(order);
        }
        draft.mobiles = std::mem::take(&mut draft.work.mobiles);
        draft
    }

    fn carry_out(&mut self, order: &Order) -> Result<(), Refusal> {
        deploy::second_line(self.game.rules(), &mut self.state, &mut self.work, self.seat, order)
    }

    /// Whether an order would be carried out now.
    fn allows(&mut self, order: &Order) -> bool {
        let before = self.state;
        self.work.lay_out(&before);
        self.work.mobiles.extend_from_slice(&self.mobiles);
        let done = self.carry_out(order).is_ok();
        self.state = before;
        done
    }
}

/// The orders in their two lines.
fn commands(chosen: &[Choice]) -> Commands {
    let lines = |mobile| chosen.iter().filter(move |choice| choice.is_mobile() == mobile);
    Commands {
        build: lines(false).map(|choice| choice.order()).collect(),
        deploy: lines(true).map(|choice| choice.order()).collect(),
    }
}

impl agon_game::Hand<Terminal> for Hand {
    type Choice = Choice;

    fn seen(_: &Terminal, view: &View<'_>) -> State {
        *view.state
    }

    /// Everything `deploy.rs` would carry out after the orders so far. TM-ANSWER-4: no more than an answer may have.
    fn choices(game: &Terminal, seat: Seat, seen: &State, chosen: &[Choice]) -> Vec<Choice> {
        if chosen.len() >= usize::from(game.rules().bounds.max_orders) {
            return Vec::new();
        }
        let mut draft = Draft::new(game, seat, seen, chosen);
        let own = Tile::all().filter(|tile| tile.owner() == seat);
        let candidates = own.flat_map(|tile| {
            let mobile = Edge::start_of(seat, tile);
            Choice::on(tile).filter(move |choice| mobile || !choice.is_mobile())
        });
        candidates.filter(|choice| draft.allows(&choice.order())).collect()
    }

    fn order(_: &Terminal, _: Seat, _: &State, chosen: &[Choice]) -> Commands {
        commands(chosen)
    }

    fn chosen(_: &Terminal, _: Seat, order: &Commands) -> Vec<Choice> {
        order.build.iter().chain(&order.deploy).filter_map(Choice::of).collect()
    }

    /// Structures come first in an answer, whenever they were chosen.
    fn entry(chosen: &[Choice], index: usize) -> usize {
        let mut places: Vec<usize> = (0..chosen.len()).collect();
        places.sort_by_key(|&place| chosen[place].is_mobile());
        places.get(index).copied().unwrap_or(index)
    }

    /// The board, and the points left to spend, before the first frame.
    fn midway(game: &Terminal, seat: Seat, seen: &State, chosen: &[Choice]) -> Option<State> {
        Some(Draft::new(game, seat, seen, chosen).state)
    }
}
