//! Everything that changes in a match: the units' tiles, health points and owners.

use std::fmt;

use agon_game::{Seat, pack::Reader};

use crate::board::{Tile, Tiles};

/// Upper limit on the number of units. CW-UNIT-1.
pub const UNITS: usize = 14;
/// How many of them are leaders: units 0 and 1. CW-UNIT-1.
pub const LEADERS: u8 = 2;

/// A unit's id: 0 and 1 are the leaders of players 1 and 2, all others cultists.
pub type UnitId = u8;

/// The leader of a player. CW-UNIT-1.
pub const fn leader(seat: Seat) -> UnitId {
    seat.index() as UnitId
}

/// The owner of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A player.
    Player(Seat),
    /// Nobody.
    Neutral,
}

impl Owner {
    /// Its number in the protocol: 0, 1, and 2 for nobody.
    pub const fn number(self) -> u8 {
        match self {
            Self::Player(seat) => seat.index() as u8,
            Self::Neutral => 2,
        }
    }

    /// The owner with that number.
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            0 | 1 => Some(Self::Player(Seat::new(number))),
            2 => Some(Self::Neutral),
            _ => None,
        }
    }

    /// The player, if it is one.
    pub const fn player(self) -> Option<Seat> {
        match self {
            Self::Player(seat) => Some(seat),
            Self::Neutral => None,
        }
    }
}

/// As written by people and in map files: `player 1`, `neutral`.
impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Player(seat) => write!(f, "player {seat}"),
            Self::Neutral => f.write_str("neutral"),
        }
    }
}

/// A set of units: bit `id` is the unit with that id.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Units(u16);

impl Units {
    /// No unit.
    pub const NONE: Self = Self(0);

    /// Whether the unit is in the set.
    pub const fn contains(self, unit: UnitId) -> bool {
        self.0 >> unit & 1 == 1
    }

    /// The leaders. CW-UNIT-1.
    pub const LEADERS: Self = Self((1 << LEADERS) - 1);

    /// Puts a unit into the set.
    pub const fn insert(&mut self, unit: UnitId) {
        self.0 |= 1 << unit;
    }

    /// Takes a unit out of the set.
    pub const fn remove(&mut self, unit: UnitId) {
        self.0 &= !(1 << unit);
    }

    /// The units that are in both sets.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The units that are in this set and not in the other.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The number of units in the set.
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether no unit is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The unit with `index` smaller ids before it; the set must have more than `index` units.
    pub const fn nth(self, index: u32) -> UnitId {
        let (mut rest, mut index) = (self.0, index);
        while index > 0 {
            rest &= rest.wrapping_sub(1);
            index -= 1;
        }
        rest.trailing_zeros() as UnitId
    }

    /// The ids, ascending.
    pub fn iter(self) -> impl Iterator<Item = UnitId> + Clone {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let next = (rest != 0).then(|| rest.trailing_zeros() as UnitId);
            rest &= rest.wrapping_sub(1);
            next
        })
    }
}

impl fmt::Debug for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// Everything that changes in a match. One cache line; a search steps back by copying it.
///
/// Between turns a unit is alive exactly when it has health points, a living unit stands on a
/// floor tile of its own, and a dead one is [`Tile::NOWHERE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// The tiles on which units stand.
    pub(crate) occupied: Tiles,
    /// Where each unit is.
    pub(crate) tiles: [Tile; UNITS],
    /// The health points of each unit.
    pub(crate) hp: [u8; UNITS],
    /// The living units.
    pub(crate) living: Units,
    /// The units of player 1, of player 2 and of nobody. The dead stay with their last owner. CW-UNIT-3.
    pub(crate) owned: [Units; 3],
    /// The neutrals' generator. CW-NEUTRAL-1.
    pub(crate) generator: u32,
    /// Turns played.
    pub(crate) turn: u16,
    /// Why the match is over; `None` while it goes on.
    pub(crate) ending: Option<Ending>,
}

/// Why a match is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// A player has no living unit. CW-END-2.
    Elimination,
    /// All turns are played. CW-END-3.
    TurnLimit,
    /// A player gave no valid action. CW-END-1.
    Fault(Seat, Fault),
}

/// Why an answer was not a valid action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The line has none of the four forms.
    Malformed,
    /// The line is an action that the rules do not allow.
    Invalid,
    /// No line in time.
    TimedOut,
    /// The bot is gone.
    Gone,
    /// The bot never ran.
    NeverStarted,
}

impl Fault {
    const ALL: [Self; 5] = [Self::Malformed, Self::Invalid, Self::TimedOut, Self::Gone, Self::NeverStarted];
}

impl State {
    /// No unit anywhere, before the first turn.
    pub(crate) const fn empty(generator: u32) -> Self {
        Self {
            occupied: Tiles::NONE,
            tiles: [Tile::NOWHERE; UNITS],
            hp: [0; UNITS],
            living: Units::NONE,
            owned: [Units::NONE; 3],
            generator,
            turn: 0,
            ending: None,
        }
    }

    /// Puts a living unit on a free tile.
    pub(crate) const fn place(&mut self, unit: UnitId, tile: Tile, owner: Owner, hp: u8) {
        self.tiles[unit as usize] = tile;
        self.hp[unit as usize] = hp;
        self.occupied.insert(tile);
        self.living.insert(unit);
        self.owned[owner.number() as usize].insert(unit);
    }

    /// The number of turns played, which is also the index, from 0, of the turn to be played.
    pub const fn turns_played(&self) -> u16 {
        self.turn
    }

    /// The player whose turn it is. CW-TURN-1.
    pub const fn mover(&self) -> Seat {
        Seat::new((self.turn & 1) as u8)
    }

    /// Where a unit is; [`Tile::NOWHERE`] when it is dead.
    pub fn tile(&self, unit: UnitId) -> Tile {
        self.tiles[usize::from(unit)]
    }

    /// A unit's health points; 0 when it is dead.
    pub fn hp(&self, unit: UnitId) -> u8 {
        self.hp[usize::from(unit)]
    }

    /// The living units.
    pub const fn living(&self) -> Units {
        self.living
    }

    /// The living units of an owner.
    pub const fn living_of(&self, owner: Owner) -> Units {
        self.living.and(self.owned[owner.number() as usize])
    }

    /// The living units of a player. CW-END-4 counts these.
    pub const fn count(&self, seat: Seat) -> u32 {
        self.living_of(Owner::Player(seat)).len()
    }

    /// A unit's owner, or its last owner if it is dead; `None` for a unit that was never in this match.
    pub fn owner(&self, unit: UnitId) -> Option<Owner> {
        (0..3).filter_map(Owner::from_number).find(|owner| self.owned(*owner).contains(unit))
    }

    /// The units of an owner, the dead included.
    pub const fn owned(&self, owner: Owner) -> Units {
        self.owned[owner.number() as usize]
    }

    /// The state of the neutrals' generator.
    pub const fn generator(&self) -> u32 {
        self.generator
    }

    /// Why the match is over.
    pub const fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// The unit that stands on a tile.
    pub fn unit_at(&self, tile: Tile) -> Option<UnitId> {
        // Branchless, so that it compiles to one vector comparison.
        let mut found = 0u32;
        for (unit, &own) in self.tiles.iter().enumerate() {
            found |= u32::from(own == tile) << unit;
        }
        (found != 0).then(|| found.trailing_zeros() as UnitId)
    }

    /// Appends the canonical bytes: turn, generator, ending, then tile, health points and owner of each unit.
    pub(crate) fn save(&self, out: &mut Vec<u8>) {
        out.extend(self.turn.to_le_bytes());
        out.extend(self.generator.to_le_bytes());
        out.push(match self.ending {
            None => 0,
            Some(Ending::Elimination) => 1,
            Some(Ending::TurnLimit) => 2,
            Some(Ending::Fault(seat, fault)) => 16 + 8 * seat.index() as u8 + fault as u8,
        });
        for unit in 0..UNITS as UnitId {
            let owner = self.owner(unit).map_or(NEVER_HERE, Owner::number);
            out.extend([self.tile(unit).number(), self.hp(unit), owner]);
        }
    }

    /// Reads what [`save`](Self::save) wrote, for a board with these floor tiles and a match of this many turns.
    pub(crate) fn load(bytes: &[u8], floor: Tiles, number_of_turns: u16) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let turn = u16::from_le_bytes(reader.array()?);
        let mut state = Self::empty(u32::from_le_bytes(reader.array()?));
        state.turn = turn;
        state.ending = match reader.byte()? {
            0 => None,
            1 => Some(Ending::Elimination),
            2 => Some(Ending::TurnLimit),
            code @ 16..32 => {
                let fault = *Fault::ALL.get(usize::from(code % 8))?;
                Some(Ending::Fault(Seat::new((code - 16) / 8), fault))
            }
            _ => return None,
        };
        for unit in 0..UNITS as UnitId {
            let [tile, hp, owner] = reader.array()?;
            if hp > 0 {
                let tile = Tile::from_number(tile)?;
                if !floor.contains(tile) || state.occupied.contains(tile) {
                    return None;
                }
                state.place(unit, tile, Owner::from_number(owner)?, hp);
            } else if tile != Tile::NOWHERE.number() {
                return None;
            } else if owner != NEVER_HERE {
                state.owned[usize::from(Owner::from_number(owner)?.number())].insert(unit);
            }
        }
        let leaders_kept =
            (0..LEADERS).all(|unit| state.owner(unit).is_none_or(|owner| owner.number() == unit));
        let possible = leaders_kept && state.turn <= number_of_turns && state.generator < 1 << 31;
        reader.end(state).filter(|_| possible)
    }
}

/// In the canonical bytes, the owner of a unit that was never in this match.
const NEVER_HERE: u8 = 3;
