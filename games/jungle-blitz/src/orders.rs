//! The orders of a team: a command with a list of actions.

use agon_game::Chance;
use agon_game::pack::{Reader, put_varint};

use crate::JungleBlitz;
use crate::arena::{Cell, Direction, Ground};
use crate::rules::MAX_ACTIONS;
use crate::state::State;

/// The answer of a team for one tick: its actions in the order sent, mistakes included (JB-TURN-2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The entries of `actions`.
    pub entries: Vec<Entry>,
}

/// One entry of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// An action for a unit of the sender.
    Unit {
        /// The unit, from 0 within its team.
        unit: u8,
        /// What it is to do.
        action: Action,
    },
    /// Something that is not an action for a unit of the sender.
    Flawed(Flaw),
}

/// What a unit is to do. A target off the map is [`Cell::NOWHERE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Stay, and pick up what lies here.
    None,
    /// Raise the level of the held diamond.
    Summon,
    /// Come onto the board.
    Spawn(Cell),
    /// One step towards a tile.
    Move(Cell),
    /// Put the held diamond down, or hand it over.
    Drop(Cell),
    /// Pull the unit on a tile nearer.
    Vine(Cell),
    /// Kill the unit on a tile.
    Attack(Cell),
}

/// Why an entry is not an action (JB-ACT-1, JB-ACT-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Flaw {
    /// The command has no list of actions; always the only entry.
    NoActions,
    /// The entry is null or not an object.
    Empty,
    /// Its `type` is not `UNIT`.
    NotUnit,
    /// Its `action` is none of the seven.
    UnknownAction,
    /// Its `target` has no whole numbers x and y.
    BadTarget,
    /// Its `unitId` is missing or not a string.
    NoUnit,
    /// Its `unitId` is not one of the sender's.
    NotYours,
}

impl Flaw {
    /// All of them, by code.
    pub const ALL: [Self; 7] = [
        Self::NoActions,
        Self::Empty,
        Self::NotUnit,
        Self::UnknownAction,
        Self::BadTarget,
        Self::NoUnit,
        Self::NotYours,
    ];
}

impl Action {
    /// Its word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Summon => "SUMMON",
            Self::Spawn(_) => "SPAWN",
            Self::Move(_) => "MOVE",
            Self::Drop(_) => "DROP",
            Self::Vine(_) => "VINE",
            Self::Attack(_) => "ATTACK",
        }
    }

    /// The target, for the actions that have one.
    pub fn target(self) -> Option<Cell> {
        match self {
            Self::None | Self::Summon => None,
            Self::Spawn(cell)
            | Self::Move(cell)
            | Self::Drop(cell)
            | Self::Vine(cell)
            | Self::Attack(cell) => Some(cell),
        }
    }

    /// The action called `word`; `target` is only called for actions that have one. The inner
    /// `None` stands for a bad target, the outer one for an unknown word.
    pub fn named(word: &str, target: impl FnOnce() -> Option<Cell>) -> Option<Option<Self>> {
        let with: fn(Cell) -> Self = match word {
            "NONE" => return Some(Some(Self::None)),
            "SUMMON" => return Some(Some(Self::Summon)),
            "SPAWN" => Self::Spawn,
            "MOVE" => Self::Move,
            "DROP" => Self::Drop,
            "VINE" => Self::Vine,
            "ATTACK" => Self::Attack,
            _ => return None,
        };
        Some(target().map(with))
    }

    fn code(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Summon => 1,
            Self::Spawn(_) => 2,
            Self::Move(_) => 3,
            Self::Drop(_) => 4,
            Self::Vine(_) => 5,
            Self::Attack(_) => 6,
        }
    }

    const WORDS: [&'static str; 7] = ["NONE", "SUMMON", "SPAWN", "MOVE", "DROP", "VINE", "ATTACK"];
}

/// Marks the byte of a flaw.
const FLAW: u8 = 0x80;

/// Appends the canonical bytes: the number of entries, then for each a byte (unit and action, or a
/// flaw) and the target if there is one.
pub fn pack(command: &Command, out: &mut Vec<u8>) {
    put_varint(out, command.entries.len() as u64);
    for entry in &command.entries {
        match *entry {
            Entry::Flawed(flaw) => out.push(FLAW | flaw as u8),
            Entry::Unit { unit, action } => {
                out.push(unit << 3 | action.code());
                if let Some(cell) = action.target() {
                    put_varint(out, u64::from(cell.0));
                }
            }
        }
    }
}

/// Reads what [`pack`] wrote.
pub fn unpack(game: &JungleBlitz, bytes: &[u8]) -> Option<Command> {
    let mut reader = Reader::new(bytes);
    let count = reader.up_to(MAX_ACTIONS)?;
    let mut entries = Vec::with_capacity(count.min(reader.left()));
    for _ in 0..count {
        let byte = reader.byte()?;
        if byte & FLAW != 0 {
            let flaw = *Flaw::ALL.get(usize::from(byte & !FLAW))?;
            if flaw == Flaw::NoActions && count != 1 {
                return None;
            }
            entries.push(Entry::Flawed(flaw));
            continue;
        }
        let unit = byte >> 3;
        let mut broken = false;
        let action = Action::named(Action::WORDS.get(usize::from(byte & 7))?, || {
            let cell = reader.number().map(Cell);
            let cell = cell.filter(|&cell| cell == Cell::NOWHERE || game.arena.point(cell).is_some());
            broken = cell.is_none();
            cell
        })??;
        if broken || unit >= game.units_per_team {
            return None;
        }
        entries.push(Entry::Unit { unit, action });
    }
    reader.end(Command { entries })
}

/// A random command, mostly legal: moves to neighbours or along the stored path, now and then far
/// away, and everything else where it makes sense.
pub fn random(game: &JungleBlitz, state: &State, team: usize, chance: &mut impl Chance) -> Command {
    let mut entries = Vec::with_capacity(usize::from(game.units_per_team));
    for unit in 0..game.units_per_team {
        if let Some(action) = random_action(game, state, team, unit, chance) {
            entries.push(Entry::Unit { unit, action });
        }
    }
    Command { entries }
}

fn random_action(
    game: &JungleBlitz,
    state: &State,
    team: usize,
    unit: u8,
    chance: &mut impl Chance,
) -> Option<Action> {
    let arena = &game.arena;
    let index = game.first_unit(team) + unit;
    let own = state.unit(index);
    if !own.alive() {
        let spawns = arena.spawns();
        return Some(Action::Spawn(spawns[chance.below(spawns.len() as u32) as usize]));
    }
    let dice = chance.below(64);
    if own.summoning > 0 {
        return (dice == 0).then_some(Action::Summon);
    }
    let beside = arena.neighbour(own.cell, Direction::from_code(chance.below(4) as u8));
    if arena.ground(own.cell) == Ground::Empty {
        match (dice, own.diamond()) {
            (0..=9, Some(diamond))
                if state.diamonds[usize::from(diamond)].level < game.rules.maximum_diamond_summon_level =>
            {
                return Some(Action::Summon);
            }
            (10..=13, Some(_)) => return Some(Action::Drop(on_map(game, beside))),
            (0..=15, None) => {
                let other = chance.below(u32::from(game.unit_count())) as u8;
                let victim = state.unit(other).cell;
                if victim != Cell::NOWHERE && other != index {
                    return Some(if arena.adjacent(own.cell, victim) {
                        Action::Attack(victim)
                    } else {
                        Action::Vine(victim)
                    });
                }
            }
            _ => {}
        }
    }
    match dice {
        63 => {
            let numbers = arena.numbers() as u32;
            let far = on_map(game, Cell(chance.below(numbers) as u16));
            Some(Action::Move(far))
        }
        60..=62 => Some(Action::None),
        59 => None,
        _ if own.path_length > 0 => Some(Action::Move(own.destination)),
        _ => Some(Action::Move(on_map(game, beside))),
    }
}

/// The tile; nowhere for the walls around the map.
fn on_map(game: &JungleBlitz, cell: Cell) -> Cell {
    if game.arena.point(cell).is_some() { cell } else { Cell::NOWHERE }
}
