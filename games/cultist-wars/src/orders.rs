//! The orders of a bot, which are allowed, and what they are resolved to.

use std::fmt;

use agon_game::Seat;
use agon_game::pack::{Reader, put_varint, unzigzag, zigzag};
use serde::{Deserialize, Serialize};

use crate::board::{HEIGHT, Tile, WIDTH};
use crate::convert::REACH;
use crate::state::{LEADERS, Owner, State, UNITS, UnitId, leader};
use crate::{CultistWars, moving};

/// An order of a bot. The numbers are as it wrote them: any 32-bit numbers. In JSON `{"do":"move","unit":2,"x":3,"y":4}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Order {
    /// Do nothing.
    Wait,
    /// Send a unit towards a tile.
    Move {
        /// The unit's id.
        unit: i32,
        /// The tile's column.
        x: i32,
        /// The tile's row.
        y: i32,
    },
    /// Let a unit shoot at another.
    Shoot {
        /// The shooter's id.
        unit: i32,
        /// The target's id.
        target: i32,
    },
    /// Let a leader convert a cultist.
    Convert {
        /// The leader's id.
        unit: i32,
        /// The cultist's id.
        target: i32,
    },
}

/// An order as a tidy bot writes it. CW-LINE-2.
impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wait => f.write_str("WAIT"),
            Self::Move { unit, x, y } => write!(f, "{unit} MOVE {x} {y}"),
            Self::Shoot { unit, target } => write!(f, "{unit} SHOOT {target}"),
            Self::Convert { unit, target } => write!(f, "{unit} CONVERT {target}"),
        }
    }
}

/// What is actually done in a turn: an order is resolved to one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing.
    Wait,
    /// A unit goes to a free neighbouring tile.
    Move {
        /// The unit.
        unit: UnitId,
        /// The tile.
        to: Tile,
    },
    /// A unit shoots at another within range.
    Shoot {
        /// The shooter.
        unit: UnitId,
        /// The target; something else may be hit.
        target: UnitId,
    },
    /// A leader converts a cultist beside it.
    Convert {
        /// The leader.
        unit: UnitId,
        /// The cultist.
        target: UnitId,
    },
}

/// Written as an answer line.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wait => f.write_str("WAIT"),
            Self::Move { unit, to } => write!(f, "{unit} MOVE {} {}", to.x(), to.y()),
            Self::Shoot { unit, target } => write!(f, "{unit} SHOOT {target}"),
            Self::Convert { unit, target } => write!(f, "{unit} CONVERT {target}"),
        }
    }
}

impl From<Action> for Order {
    /// The order that is resolved to this action.
    fn from(action: Action) -> Self {
        match action {
            Action::Wait => Self::Wait,
            Action::Move { unit, to } => Self::Move { unit: unit.into(), x: to.x().into(), y: to.y().into() },
            Action::Shoot { unit, target } => Self::Shoot { unit: unit.into(), target: target.into() },
            Action::Convert { unit, target } => Self::Convert { unit: unit.into(), target: target.into() },
        }
    }
}

/// Why an order is not allowed. Each of them loses the match. CW-END-1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// There is no unit with this id.
    NoSuchUnit(i32),
    /// The unit is not the player's.
    NotYours(UnitId),
    /// The unit is dead.
    UnitIsDead(UnitId),
    /// The tile is not on the board.
    OffBoard(i32, i32),
    /// There is no target with this id.
    NoSuchTarget(i32),
    /// The target is dead.
    TargetIsDead(UnitId),
    /// A unit cannot shoot itself.
    ShootsItself(UnitId),
    /// Leaders cannot shoot.
    LeaderShoots(UnitId),
    /// Only leaders convert.
    CultistConverts(UnitId),
    /// Leaders cannot be converted.
    ConvertsLeader(UnitId),
    /// The target already belongs to the player.
    ConvertsOwn(UnitId),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchUnit(id) => write!(f, "there is no unit {id}; ids are 0 to {}", UNITS - 1),
            Self::NotYours(unit) => write!(f, "unit {unit} is not yours"),
            Self::UnitIsDead(unit) => write!(f, "unit {unit} is dead"),
            Self::OffBoard(x, y) => {
                write!(
                    f,
                    "tile {x} {y} is not on the board; x is 0 to {}, y is 0 to {}",
                    WIDTH - 1,
                    HEIGHT - 1
                )
            }
            Self::NoSuchTarget(id) => write!(f, "there is no target {id}; ids are 0 to {}", UNITS - 1),
            Self::TargetIsDead(unit) => write!(f, "target {unit} is dead"),
            Self::ShootsItself(unit) => write!(f, "unit {unit} cannot shoot itself"),
            Self::LeaderShoots(unit) => write!(f, "unit {unit} is your leader; leaders cannot shoot"),
            Self::CultistConverts(unit) => {
                write!(f, "unit {unit} is a cultist; only your leader can convert")
            }
            Self::ConvertsLeader(unit) => write!(f, "target {unit} is a leader; leaders cannot be converted"),
            Self::ConvertsOwn(unit) => write!(f, "target {unit} is yours already"),
        }
    }
}

impl agon_game::Reason for Reason {
    fn rule(&self) -> &'static str {
        match self {
            Self::NoSuchUnit(_) | Self::NotYours(_) | Self::UnitIsDead(_) => "CW-ORDER-1",
            Self::OffBoard(..) => "CW-ORDER-2",
            Self::NoSuchTarget(_) | Self::TargetIsDead(_) | Self::ShootsItself(_) => "CW-ORDER-3",
            Self::LeaderShoots(_) => "CW-ORDER-4",
            Self::CultistConverts(_) => "CW-ORDER-5",
            Self::ConvertsLeader(_) | Self::ConvertsOwn(_) => "CW-ORDER-6",
        }
    }
}

impl CultistWars {
    /// Resolves an order of `seat`, or says why it is not allowed. A target merely out of reach is never forbidden. CW-ORDER-7.
    ///
    /// # Errors
    /// When the order is not allowed.
    pub fn resolve(&self, state: &State, seat: Seat, order: &Order) -> Result<Action, Reason> {
        let towards = |unit, tile| moving::towards(self.floor(), state, unit, tile);
        match *order {
            Order::Wait => Ok(Action::Wait),
            Order::Move { unit, x, y } => {
                let unit = actor(state, seat, unit)?;
                // The board's edges are the only limit: the tile may hold anything. CW-ORDER-2.
                let tile = Tile::new(x, y).ok_or(Reason::OffBoard(x, y))?;
                Ok(towards(unit, tile))
            }
            Order::Shoot { unit, target } => {
                let unit = actor(state, seat, unit)?;
                let target = shootable(state, seat, unit, target)?;
                let tile = state.tile(target);
                // Out of range, the shooter approaches. CW-SHOOT-1.
                Ok(match state.tile(unit).distance(tile) <= self.rules().shooting_range {
                    true => Action::Shoot { unit, target },
                    false => towards(unit, tile),
                })
            }
            Order::Convert { unit, target } => {
                let unit = actor(state, seat, unit)?;
                let target = convertible(state, seat, unit, target)?;
                let tile = state.tile(target);
                // Out of reach, the leader approaches. CW-CONVERT-2.
                Ok(match state.tile(unit).distance(tile) == REACH {
                    true => Action::Convert { unit, target },
                    false => towards(unit, tile),
                })
            }
        }
    }
}

/// The acting unit: the player's own, and alive. CW-ORDER-1.
fn actor(state: &State, seat: Seat, id: i32) -> Result<UnitId, Reason> {
    let unit = known(id).ok_or(Reason::NoSuchUnit(id))?;
    if !state.owned(Owner::Player(seat)).contains(unit) {
        return Err(Reason::NotYours(unit));
    }
    if !state.living().contains(unit) {
        return Err(Reason::UnitIsDead(unit));
    }
    Ok(unit)
}

/// What may be shot at: any other living unit, whoever owns it (CW-ORDER-3), but not by a leader (CW-ORDER-4).
fn shootable(state: &State, seat: Seat, unit: UnitId, id: i32) -> Result<UnitId, Reason> {
    let target = known(id).ok_or(Reason::NoSuchTarget(id))?;
    if !state.living().contains(target) {
        return Err(Reason::TargetIsDead(target));
    }
    if target == unit {
        return Err(Reason::ShootsItself(unit));
    }
    if unit == leader(seat) {
        return Err(Reason::LeaderShoots(unit));
    }
    Ok(target)
}

/// What a leader (CW-ORDER-5) may convert: a living cultist that is not the player's own (CW-ORDER-6).
fn convertible(state: &State, seat: Seat, unit: UnitId, id: i32) -> Result<UnitId, Reason> {
    let target = known(id).ok_or(Reason::NoSuchTarget(id))?;
    if unit != leader(seat) {
        return Err(Reason::CultistConverts(unit));
    }
    if target < LEADERS {
        return Err(Reason::ConvertsLeader(target));
    }
    if !state.living().contains(target) {
        return Err(Reason::TargetIsDead(target));
    }
    if state.owned(Owner::Player(seat)).contains(target) {
        return Err(Reason::ConvertsOwn(target));
    }
    Ok(target)
}

fn known(id: i32) -> Option<UnitId> {
    (0..UNITS as i32).contains(&id).then_some(id as UnitId)
}

/// Verbs in canonical bytes.
const WAIT: u8 = 0;
const MOVE: u8 = 1;
const SHOOT: u8 = 2;
const CONVERT: u8 = 3;
/// Added to the verb when the numbers are too large for the short form.
const LONG: u8 = 4;

impl Order {
    /// Appends the canonical bytes. Sensible orders take two: the verb with the unit, then the tile or target.
    pub(crate) fn pack(&self, out: &mut Vec<u8>) {
        let (verb, unit, rest) = match *self {
            Self::Wait => return out.push(WAIT),
            Self::Move { unit, x, y } => (MOVE, unit, [x, y]),
            Self::Shoot { unit, target } => (SHOOT, unit, [target, 0]),
            Self::Convert { unit, target } => (CONVERT, unit, [target, 0]),
        };
        if let Some(short) = self.short() {
            return out.extend([verb | (unit as u8) << 4, short]);
        }
        out.push(verb | LONG);
        let count = if verb == MOVE { 2 } else { 1 };
        for number in std::iter::once(unit).chain(rest.into_iter().take(count)) {
            put_varint(out, zigzag(number.into()));
        }
    }

    /// The second byte of the short form, if unit and tile or target exist.
    fn short(&self) -> Option<u8> {
        match *self {
            Self::Wait => None,
            Self::Move { unit, x, y } => known(unit).and(Tile::new(x, y)).map(Tile::number),
            Self::Shoot { unit, target } | Self::Convert { unit, target } => known(unit).and(known(target)),
        }
    }

    /// Reads what [`pack`](Self::pack) wrote.
    pub(crate) fn unpack(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let first = reader.byte()?;
        let order = match first & 15 {
            WAIT if first == WAIT => Self::Wait,
            verb @ MOVE..=CONVERT => {
                let (unit, second) = (i32::from(known(i32::from(first >> 4))?), reader.byte()?);
                if verb == MOVE {
                    let tile = Tile::from_number(second)?;
                    Self::Move { unit, x: tile.x().into(), y: tile.y().into() }
                } else {
                    Self::with_target(verb, unit, known(second.into())?.into())
                }
            }
            verb if first < 8 && verb > LONG => {
                let mut number = || i32::try_from(unzigzag(reader.varint()?)).ok();
                let unit = number()?;
                let order = match verb - LONG {
                    MOVE => Self::Move { unit, x: number()?, y: number()? },
                    verb => Self::with_target(verb, unit, number()?),
                };
                // Every order has a single encoding.
                order.short().is_none().then_some(order)?
            }
            _ => return None,
        };
        reader.end(order)
    }

    fn with_target(verb: u8, unit: i32, target: i32) -> Self {
        if verb == SHOOT { Self::Shoot { unit, target } } else { Self::Convert { unit, target } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_comes_back_from_its_only_form() {
        let numbers = [i32::MIN, -1, 0, 1, 6, 7, 12, 13, 14, 15, i32::MAX];
        let mut orders = vec![Order::Wait];
        for unit in numbers {
            for target in numbers {
                orders.extend([Order::Shoot { unit, target }, Order::Convert { unit, target }]);
                orders.extend(numbers.map(|y| Order::Move { unit, x: target, y }));
            }
        }
        for order in orders {
            let mut bytes = Vec::new();
            order.pack(&mut bytes);
            assert_eq!(Order::unpack(&bytes), Some(order), "{bytes:?}");
        }
        assert_eq!(Order::unpack(&[MOVE | LONG, 0, 0, 0]), None, "the long form of a short order");
        assert_eq!(Order::unpack(&[WAIT, 0]), None, "bytes left over");
        assert_eq!(Order::unpack(&[0xf2, 0]), None, "there is no unit 15");
    }
}
