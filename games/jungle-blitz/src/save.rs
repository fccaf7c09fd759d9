//! The canonical bytes of a state.

use agon_game::pack::{Reader, put_varint};

use crate::JungleBlitz;
use crate::arena::{Cell, Direction, Ground};
use crate::state::{Diamond, Owner, State, Unit};

/// Appends a state: its numbers, team by team, unit by unit, diamond by diamond.
pub fn save(game: &JungleBlitz, state: &State, out: &mut Vec<u8>) {
    put_varint(out, u64::from(state.tick));
    out.push(state.dead);
    for team in 0..game.teams() {
        put_varint(out, u64::from(state.scores[team]));
        put_varint(out, u64::from(state.deaths[team]));
    }
    for (index, unit) in state.units[..usize::from(game.unit_count())].iter().enumerate() {
        put_varint(out, u64::from(unit.cell.0));
        put_varint(out, u64::from(unit.died_at.0));
        out.extend([unit.summoning, unit.holds, unit.vined_by, unit.attacked_by, u8::from(unit.known)]);
        out.push(unit.path_length);
        let start = game.arena.path_start(index as u8);
        out.extend(&state.paths[start..start + usize::from(unit.path_length).div_ceil(4)]);
    }
    for diamond in &state.diamonds[..game.arena.diamonds().len()] {
        put_varint(out, u64::from(diamond.cell.0));
        put_varint(out, u64::from(diamond.points));
        out.push(diamond.level);
        out.push(diamond.owner.0);
    }
}

/// Reads what [`save`] wrote; `None` for anything a match on this map cannot hold.
pub fn load(game: &JungleBlitz, bytes: &[u8]) -> Option<State> {
    let mut reader = Reader::new(bytes);
    let mut state = State { tick: reader.number()?, dead: reader.byte()?, ..State::EMPTY };
    if state.tick > game.rules.total_tick || state.dead >> game.teams() != 0 {
        return None;
    }
    for team in 0..game.teams() {
        state.scores[team] = reader.number()?;
        state.deaths[team] = reader.number()?;
    }
    for index in 0..game.unit_count() {
        load_unit(game, &mut state, index, &mut reader)?;
    }
    for index in game.arena.diamond_indices() {
        state.diamonds[usize::from(index)] = load_diamond(game, &mut reader)?;
    }
    consistent(game, &state).then_some(())?;
    reader.end(state)
}

/// A tile of the map that is not a wall, or nowhere.
fn cell(game: &JungleBlitz, reader: &mut Reader<'_>) -> Option<Cell> {
    let cell = Cell(reader.number()?);
    (cell == Cell::NOWHERE || game.arena.ground(cell) != Ground::Wall).then_some(cell)
}

fn load_unit(game: &JungleBlitz, state: &mut State, index: u8, reader: &mut Reader<'_>) -> Option<()> {
    let (cell, died_at) = (cell(game, reader)?, cell(game, reader)?);
    let [summoning, holds, vined_by, attacked_by, known, path_length] = reader.array()?;
    let units = game.unit_count();
    let fits = usize::from(holds) <= game.arena.diamonds().len() && vined_by <= units && attacked_by <= units;
    if !fits || known > 1 || (cell != Cell::NOWHERE && known == 0) {
        return None;
    }
    *state.unit_mut(index) = Unit {
        cell,
        destination: Cell::NOWHERE,
        died_at,
        path_length: 0,
        summoning,
        holds,
        vined_by,
        attacked_by,
        known: known == 1,
    };
    if path_length == 0 {
        return Some(());
    }
    let bytes = reader.take(usize::from(path_length).div_ceil(4))?;
    let step = |at: u8| Direction::from_code(bytes[usize::from(at / 4)] >> (at % 4 * 2));
    if bytes.len() > game.arena.path_bytes() || cell == Cell::NOWHERE {
        return None;
    }
    let rest = path_length % 4;
    if rest != 0 && bytes[bytes.len() - 1] >> (rest * 2) != 0 {
        return None;
    }
    let mut at = cell;
    for number in (0..path_length).rev() {
        at = game.arena.neighbour(at, step(number));
        if game.arena.ground(at) == Ground::Wall {
            return None;
        }
    }
    let start = game.arena.path_start(index);
    state.paths[start..start + bytes.len()].copy_from_slice(bytes);
    let unit = state.unit_mut(index);
    (unit.destination, unit.path_length) = (at, path_length);
    Some(())
}

fn load_diamond(game: &JungleBlitz, reader: &mut Reader<'_>) -> Option<Diamond> {
    let (cell, points, level) = (cell(game, reader)?, reader.number()?, reader.byte()?);
    let owner = Owner(reader.byte()?);
    let rules = &game.rules;
    let levels = rules.initial_diamond_summon_level..=rules.maximum_diamond_summon_level;
    (cell != Cell::NOWHERE && levels.contains(&level)).then_some(Diamond { cell, points, level, owner })
}

/// Whether units and diamonds agree on who holds what, no tile holds two units, and no counter can
/// overflow before the end.
fn consistent(game: &JungleBlitz, state: &State) -> bool {
    let rules = &game.rules;
    let units = &state.units[..usize::from(game.unit_count())];
    let rest = u64::from(rules.total_tick - state.tick)
        * u64::from(rules.maximum_diamond_summon_level)
        * u64::from(rules.points_per_diamond);
    units.iter().enumerate().all(|(index, unit)| {
        let alone = !unit.alive() || units[..index].iter().all(|other| other.cell != unit.cell);
        let holds = match unit.diamond() {
            None => unit.summoning == 0,
            Some(diamond) => {
                let diamond = &state.diamonds[usize::from(diamond)];
                diamond.owner == Owner::unit(index as u8)
                    && diamond.cell == unit.cell
                    && unit.alive()
                    && unit.summoning <= diamond.level + 1
            }
        };
        alone && holds
    }) && state.diamonds.iter().enumerate().all(|(index, diamond)| {
        let held = diamond.owner.holder().is_none_or(|unit| {
            units.get(usize::from(unit)).is_some_and(|unit| usize::from(unit.holds) == index + 1)
        });
        held && u64::from(diamond.points) + rest <= u64::from(u16::MAX)
    }) && state.scores.iter().all(|&score| score < u32::MAX / 2)
}
