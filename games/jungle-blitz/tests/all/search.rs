//! Compares the fast search with the original's procedure, transcribed step by step.

use agon_game::{Chance as _, Game as _, MapChoice, Seeded, Setup};
use jungle_blitz::JungleBlitz;
use jungle_blitz::arena::{Arena, Cell, Direction, Ground};
use jungle_blitz::search::Search;
use jungle_blitz::state::{Owner, State};

/// A binary heap of tiles ordered by cost, with the sift rules of the original.
#[derive(Default)]
struct Heap(Vec<(u32, Cell)>);

impl Heap {
    fn push(&mut self, entry: (u32, Cell)) {
        self.0.push(entry);
        self.rise(0, self.0.len() - 1);
    }

    fn pop(&mut self) -> Option<(u32, Cell)> {
        let last = self.0.pop()?;
        if self.0.is_empty() {
            return Some(last);
        }
        let first = std::mem::replace(&mut self.0[0], last);
        self.sink(0);
        Some(first)
    }

    fn rebuild(&mut self) {
        (0..self.0.len() / 2).rev().for_each(|at| self.sink(at));
    }

    fn rise(&mut self, top: usize, mut at: usize) {
        let entry = self.0[at];
        while at > top {
            let parent = (at - 1) / 2;
            if entry.0 >= self.0[parent].0 {
                break;
            }
            self.0[at] = self.0[parent];
            at = parent;
        }
        self.0[at] = entry;
    }

    fn sink(&mut self, top: usize) {
        let entry = self.0[top];
        let mut at = top;
        while 2 * at + 1 < self.0.len() {
            let (left, right) = (2 * at + 1, 2 * at + 2);
            let child = if right < self.0.len() && self.0[left].0 >= self.0[right].0 { right } else { left };
            self.0[at] = self.0[child];
            at = child;
        }
        self.0[at] = entry;
        self.rise(top, at);
    }
}

/// The tiles of the path after the first one.
fn original(arena: &Arena, from: Cell, to: Cell, walkable: &dyn Fn(Cell) -> bool) -> Option<Vec<Cell>> {
    let (mut open, mut closed, mut parents) = (Heap::default(), Vec::new(), vec![None; arena.numbers()]);
    open.push((0, from));
    while let Some((cost, cell)) = open.pop() {
        if cell == to {
            let mut path = vec![to];
            while let Some(parent) = parents[path[path.len() - 1].index()] {
                path.push(parent);
            }
            path.pop();
            path.reverse();
            return Some(path);
        }
        closed.push(cell);
        for way in Direction::ALL {
            let beside = arena.neighbour(cell, way);
            if !walkable(beside) || closed.contains(&beside) {
                continue;
            }
            match open.0.iter_mut().find(|entry| entry.1 == beside) {
                Some(entry) if entry.0 < cost + 1 => {}
                Some(entry) => {
                    entry.0 = cost + 1;
                    parents[beside.index()] = Some(cell);
                    open.rebuild();
                }
                None => {
                    parents[beside.index()] = Some(cell);
                    open.push((cost + 1, beside));
                }
            }
        }
    }
    None
}

/// Puts units and diamonds anywhere.
fn scatter(game: &JungleBlitz, chance: &mut Seeded) -> State {
    let cells: Vec<Cell> =
        game.arena.cells().filter(|&cell| game.arena.ground(cell) != Ground::Wall).collect();
    let mut state = game.start();
    for unit in 0..game.unit_count() {
        let cell = cells[chance.below(cells.len() as u32) as usize];
        if state.unit_on(cell).is_none() {
            state.unit_mut(unit).cell = cell;
        }
    }
    for diamond in &mut state.diamonds[..game.arena.diamonds().len()] {
        diamond.cell = cells[chance.below(cells.len() as u32) as usize];
    }
    if chance.happens(1, 2) {
        state.unit_mut(0).holds = 1;
        state.diamonds[0].owner = Owner::unit(0);
        state.diamonds[0].cell = state.unit(0).cell;
    }
    state
}

fn compare(game: &JungleBlitz, chance: &mut Seeded, search: &mut Search) -> usize {
    let state = scatter(game, chance);
    let (arena, own) = (&game.arena, *state.unit(0));
    if !own.alive() {
        return 0;
    }
    let walkable = |cell: Cell| {
        let ground = match arena.ground(cell) {
            Ground::Wall => false,
            Ground::Empty => true,
            Ground::Spawn => arena.ground(own.cell) == Ground::Spawn,
        };
        ground && state.unit_on(cell).is_none() && !(own.holds > 0 && state.diamond_lies_on(cell))
    };
    let mut steps = 0;
    for to in arena.cells().filter(|&cell| walkable(cell)) {
        if !chance.happens(1, 8) {
            continue;
        }
        let expected = original(arena, own.cell, to, &walkable);
        let found = search.find(arena, &state, 0, to).map(|(first, rest)| {
            let mut cell = own.cell;
            std::iter::once(first)
                .chain(rest.iter().rev().copied())
                .map(|way| {
                    cell = arena.neighbour(cell, way);
                    cell
                })
                .collect::<Vec<_>>()
        });
        assert_eq!(found, expected, "from {:?} to {:?} on\n{}", own.cell, to, game.map.text());
        steps += found.map_or(0, |path| path.len());
    }
    steps
}

#[test]
fn the_fast_search_finds_the_paths_of_the_original() {
    let (mut chance, mut search, mut steps) = (Seeded::stream(1, "search"), Search::default(), 0);
    for seed in 0..120 {
        let map = if seed % 3 == 0 { MapChoice::Generated } else { MapChoice::Default };
        let game = JungleBlitz::set_up(&Setup { map, seats: 4, seed, ..Setup::default() }).expect("a map");
        for _ in 0..4 {
            steps += compare(&game, &mut chance, &mut search);
        }
    }
    // A large board without walls: heaps larger than on the maps of the contest.
    let open = format!("S{}\n", ".".repeat(20)).repeat(21).into_bytes();
    let open = MapChoice::File("open".to_owned(), open);
    let game = JungleBlitz::set_up(&Setup { map: open, seats: 1, ..Setup::default() }).expect("a map");
    for _ in 0..40 {
        steps += compare(&game, &mut chance, &mut search);
    }
    println!("{steps} steps compared");
    assert!(steps > 50_000, "only {steps} steps");
}
