//! The way a unit takes to a tile more than one step away.

use crate::board::{Tile, Tiles};

/// The first step of a shortest path from `from` to a tile next to `target`, through `passable` tiles.
/// What stands on `target` itself does not matter. `from` and `target` are at least two steps apart. CW-PATH-1.
///
/// The rules search breadth-first from the unit, looking up, right, down, left. Tiles then leave the queue
/// ordered by the first step of their path, so the search ends with the first direction (in that order) in
/// which any shortest path begins. Flooding back from the target finds the same: the first flood that touches
/// the unit's surroundings holds exactly the first steps of all shortest paths. CW-PATH-2.
pub fn first_step(from: Tile, target: Tile, passable: Tiles) -> Option<Tile> {
    let starts = Tiles::one(from).around() & passable;
    let mut unseen = passable;
    let mut flood = Tiles::one(target);
    while !flood.is_empty() {
        let reached = flood & starts;
        if !reached.is_empty() {
            return from.neighbours().into_iter().find(|&tile| reached.contains(tile));
        }
        unseen = unseen & !flood;
        flood = flood.around() & unseen;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_game::{Chance as _, Seeded};
    use std::collections::VecDeque;

    /// The search as described in the rulebook.
    fn told(from: Tile, target: Tile, passable: Tiles) -> Option<Tile> {
        let mut seen = Tiles::one(from);
        let mut queue = VecDeque::from([(from, None)]);
        while let Some((tile, first)) = queue.pop_front() {
            for next in tile.neighbours() {
                if next == target {
                    return first;
                }
                if passable.contains(next) && !seen.contains(next) {
                    seen.insert(next);
                    queue.push_back((next, first.or(Some(next))));
                }
            }
        }
        None
    }

    #[test]
    fn flooding_back_finds_the_step_of_the_search_as_told() {
        let mut chance = Seeded::stream(5, "path");
        let (mut found, mut walled) = (0, 0);
        for round in 0..20_000 {
            let mut passable = Tiles::NONE;
            Tile::all()
                .filter(|_| chance.happens(50 + round % 50, 100))
                .for_each(|tile| passable.insert(tile));
            let mut any = || Tile::from_number(chance.below(91) as u8).expect("a tile");
            let (from, target) = (any(), any());
            passable.remove(from);
            if from.distance(target) >= 2 {
                let step = told(from, target, passable);
                assert_eq!(
                    first_step(from, target, passable),
                    step,
                    "{from} to {target} through {passable:?}"
                );
                // A path through the unit's own tile is never shorter.
                assert_eq!(first_step(from, target, passable | Tiles::one(from)), step);
                if step.is_some() { found += 1 } else { walled += 1 }
            }
        }
        assert!(found > 1_000 && walled > 1_000, "{found} {walled}");
    }
}
