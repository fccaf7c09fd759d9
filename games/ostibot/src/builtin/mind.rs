//! What a bot remembers of a round, and paths through it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::Ostibot;
use crate::geometry::{Cell, Direction, Rows};
use crate::items::Kind;
use crate::map::{ObjectKind, Tile};
use crate::view::{Body, View};

/// What was seen in this round.
pub(super) struct Mind {
    round: u16,
    ground: Vec<Option<Tile>>,
    /// Cells seen so far.
    pub explored: Rows,
    /// Objects that can be hit, and open portals: kind and hit points.
    pub things: BTreeMap<Cell, (ObjectKind, u16)>,
    /// Gold on the ground.
    pub gold: BTreeMap<Cell, u16>,
    fire: Rows,
    spawners_stand: bool,
}

impl Mind {
    pub fn new() -> Self {
        Self {
            round: 0,
            ground: vec![None; Cell::COUNT],
            explored: Rows::NONE,
            things: BTreeMap::new(),
            gold: BTreeMap::new(),
            fire: Rows::NONE,
            spawners_stand: true,
        }
    }

    /// Takes in what is seen now; the rest stays as last seen.
    pub fn learn(&mut self, view: &View<'_>) {
        if self.round != view.round {
            *self = Self { round: view.round, ..Self::new() };
        }
        self.spawners_stand = view.spawners_stand;
        for cell in view.game.map().cells() {
            self.ground[cell.index()] = view.tile(cell).or(self.ground[cell.index()]);
        }
        self.explored = self.explored.or(&view.seen);
        self.things.retain(|&cell, _| !view.seen.contains(cell));
        self.gold.retain(|&cell, _| !view.seen.contains(cell));
        self.things.extend(view.objects.iter().map(|&(object, hp)| (object.cell, (object.kind, hp))));
        self.gold.extend(view.piles.iter().map(|pile| (pile.cell, pile.amount)));
        self.fire = self.fire.without(&view.seen).or(&view.fire);
    }

    /// The ground as remembered; unknown cells count as floor.
    fn tile(&self, cell: Cell) -> Tile {
        match self.ground[cell.index()] {
            Some(Tile::Spawner(_)) if !self.spawners_stand => Tile::Floor,
            Some(tile) => tile,
            None => Tile::Floor,
        }
    }

    /// Whether nobody can stand there.
    fn is_block(&self, cell: Cell) -> bool {
        matches!(self.tile(cell), Tile::Wall | Tile::Spawner(_) | Tile::Health)
    }

    /// Cells worth a look.
    pub fn unexplored<'a>(&'a self, game: &'a Ostibot) -> impl Iterator<Item = Cell> + 'a {
        game.map().cells().filter(|&cell| !self.explored.contains(cell) && !self.is_block(cell))
    }

    /// The ways for `body` to every cell. It must not go to a cell of `avoid` next.
    pub fn ways(&self, game: &Ostibot, body: &Body, avoid: &Rows) -> Ways {
        let mut ways = Ways { cost: vec![u32::MAX; Cell::COUNT], first: vec![None; Cell::COUNT] };
        let mut next = BinaryHeap::from([Reverse((0, body.cell))]);
        ways.cost[body.cell.index()] = 0;
        while let Some(Reverse((cost, cell))) = next.pop() {
            if cost > ways.cost[cell.index()] {
                continue;
            }
            for direction in Direction::ALL {
                let Some(step) = game.map().neighbour(cell, direction) else { continue };
                if self.is_block(step) || (cost == 0 && avoid.contains(step)) {
                    continue;
                }
                let (there, price) = self.step(game, body, step, direction);
                let total = cost + price;
                if total < ways.cost[there.index()] {
                    ways.cost[there.index()] = total;
                    ways.first[there.index()] =
                        if cost == 0 { Some(direction) } else { ways.first[cell.index()] };
                    // Nothing lies beyond an open portal.
                    if self.things.get(&there).is_none_or(|&(kind, _)| kind != ObjectKind::Portal) {
                        next.push(Reverse((total, there)));
                    }
                }
            }
        }
        ways
    }

    /// Where a step ends and what it costs in turns; hit points lost count as turns too.
    fn step(&self, game: &Ostibot, body: &Body, step: Cell, direction: Direction) -> (Cell, u32) {
        let boots = body.worn[2].is_some_and(|item| item.kind == Kind::BigBoots);
        let (mut cell, mut direction, mut price) = (step, direction, 1);
        if let Some(&(_, hp)) = self.things.get(&cell) {
            // Each hit is a turn; the last step is one more.
            return (cell, 1 + u32::from(hp).div_ceil(u32::from(body.damage.max(1))));
        }
        for _ in 0..64 {
            match self.tile(cell) {
                Tile::Spikes if !boots => price += 4,
                _ if self.fire.contains(cell) => price += 2,
                _ => {}
            }
            direction = match self.tile(cell) {
                Tile::Ice => direction,
                Tile::Treadmill(onward) => onward,
                _ => break,
            };
            match game.map().neighbour(cell, direction) {
                Some(next) if !self.is_block(next) => match self.things.get(&next) {
                    Some((ObjectKind::Portal, 0)) => return (next, price),
                    Some(_) => break,
                    None => cell = next,
                },
                _ => break,
            }
        }
        (cell, price)
    }
}

/// Ways from one cell to all others.
pub(super) struct Ways {
    /// Turns needed to reach a cell, hits on the way included; `u32::MAX` where no way is known.
    cost: Vec<u32>,
    first: Vec<Option<Direction>>,
}

impl Ways {
    /// Turns needed to reach `cell`.
    pub fn to(&self, cell: Cell) -> Option<u32> {
        Some(self.cost[cell.index()]).filter(|&cost| cost < u32::MAX)
    }

    /// The first move towards `cell`.
    pub fn first(&self, cell: Cell) -> Option<Direction> {
        self.first[cell.index()]
    }
}
