//! The board for a terminal, two characters per cell: what stands there, then what lies or burns there.
//!
//! `@1` adventurer of team 1 · `P` `C` `V` `D` portal, chest, vase, door · `O` open portal · then
//! `$` gold, `!` an item, `*` fire. Floor that a team does not see is blank for its eyes.

use agon_game::{Game as _, Ink, Picture, Seat};

use crate::Ostibot;
use crate::geometry::{Cell, Rows};
use crate::map::{ObjectKind, Tile};
use crate::state::{Phase, Place, State};

/// Draws the board as `eyes` sees it, or all of it.
pub(crate) fn draw(game: &Ostibot, state: &State, eyes: Option<Seat>) -> Picture {
    let map = game.map();
    let seen: Rows = match eyes {
        None => map.cells().collect(),
        Some(team) => game.seen(state, team),
    };
    let mut picture = Picture::new();
    picture.line().put(Ink::Plain, game.moment(state));
    for team in Seat::first(game.seats()) {
        picture.put(Ink::Dim, "  ").put(Ink::Seat(team), format!("{team}: {} gold", state.gold_of(team)));
    }
    let roster = roster(game, state, eyes, &seen);
    let beside = roster.len() <= map.height;
    for y in 0..map.height {
        picture.line();
        for x in 0..map.width {
            let cell = Cell::new(x, y);
            let hidden = !seen.contains(cell);
            if let Some(team) = adventurer(game, state, cell, hidden, eyes) {
                picture.put(Ink::Seat(team), format!("@{team}"));
                continue;
            }
            let (ink, standing) = standing(game, state, cell, hidden);
            picture.put(ink, standing);
            let (ink, lying) =
                if hidden { (Ink::Fog, ground_end(game, cell)) } else { lying(game, state, cell) };
            picture.put(ink, lying);
        }
        if let Some((ink, text)) = roster.get(y).filter(|_| beside) {
            picture.put(Ink::Plain, "  ").put(*ink, text.clone());
        }
    }
    for (ink, text) in roster.iter().filter(|_| !beside) {
        picture.line().put(*ink, text.clone());
    }
    if state.phase == Phase::Over {
        picture.line().put(Ink::Plain, "all rounds played");
    }
    picture
}

/// A line for each adventurer seen, and one for what it wears.
fn roster(game: &Ostibot, state: &State, eyes: Option<Seat>, seen: &Rows) -> Vec<(Ink, String)> {
    let mut lines = Vec::new();
    for who in (0..game.places()).filter(|&who| state.adventurers[who].is_here()) {
        let team = game.team_of(who);
        if eyes.is_none_or(|eyes| eyes == team || seen.contains(state.adventurers[who].cell)) {
            let body = game.body(state, who, team);
            lines.push((Ink::Seat(team), format!("{} {} hp {} gold", body.id, body.hp, body.gold)));
            // The first words are enough, and leave room on a narrow screen.
            let word = |item: &crate::state::Item| item.kind.name().split(' ').next().unwrap_or_default();
            let worn = body.worn.iter().flatten().map(word).collect::<Vec<_>>();
            if !worn.is_empty() {
                lines.push((Ink::Dim, format!("  {}", worn.join(" "))));
            }
        }
    }
    lines
}

/// The adventurer that is drawn in a cell.
fn adventurer(game: &Ostibot, state: &State, cell: Cell, hidden: bool, eyes: Option<Seat>) -> Option<Seat> {
    let who = (0..game.places()).find(|&who| state.adventurers[who].cell == cell)?;
    let team = game.team_of(who);
    (!hidden || eyes == Some(team)).then_some(team)
}

/// What stands in a cell, or its ground.
fn standing(game: &Ostibot, state: &State, cell: Cell, hidden: bool) -> (Ink, String) {
    let tile = match game.map().tile(cell) {
        Tile::Spawner(_) if state.fire.contains(cell) => Tile::Floor,
        tile => tile,
    };
    let character = tile.character().to_string();
    if hidden {
        // Unseen floor is blank, so that the visible area shows even without colours.
        let unknown = match (game.rules().reveal_terrain, tile) {
            (false, _) => "?".to_owned(),
            (true, Tile::Floor) => " ".to_owned(),
            (true, _) => character,
        };
        return (Ink::Fog, unknown);
    }
    if let Some(index) = game.map().object_at(cell)
        && let Some(hp) = state.object_hp(index)
    {
        let kind = game.map().objects[index].kind;
        let ink = match kind {
            ObjectKind::Door => Ink::Wall,
            ObjectKind::Portal => Ink::Neutral,
            ObjectKind::Chest | ObjectKind::Vase => Ink::Treasure,
        };
        return (ink, if hp == 0 { 'O' } else { kind.character() }.to_string());
    }
    match tile {
        Tile::Wall => (Ink::Wall, character),
        Tile::Spawner(team) => (Ink::Seat(team), character),
        Tile::Spikes => (Ink::Danger, character),
        Tile::Health => (Ink::Neutral, character),
        Tile::Floor | Tile::Ice | Tile::Treadmill(_) => (Ink::Dim, character),
    }
}

/// The second character of the ground: walls are drawn without gaps.
fn ground_end(game: &Ostibot, cell: Cell) -> &'static str {
    let wall = game.map().tile(cell) == Tile::Wall;
    match (wall, game.rules().reveal_terrain) {
        (true, true) => "#",
        (_, false) => "?",
        _ => " ",
    }
}

/// What lies or burns in a cell.
fn lying(game: &Ostibot, state: &State, cell: Cell) -> (Ink, &'static str) {
    if game.map().tile(cell) == Tile::Wall {
        (Ink::Wall, "#")
    } else if state.piles.iter().any(|pile| pile.cell == cell) {
        (Ink::Treasure, "$")
    } else if state.items.iter().any(|item| item.place == Place::Ground(cell)) {
        (Ink::Treasure, "!")
    } else if state.fire.contains(cell) {
        (Ink::Danger, "*")
    } else {
        (Ink::Dim, " ")
    }
}
