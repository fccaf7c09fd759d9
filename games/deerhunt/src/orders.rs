//! The orders of a bot: a list of moves, each a unit and words.

use std::fmt;

use agon_game::Reason as ReasonTrait;
use serde::{Deserialize, Serialize};

use crate::rules::Validation;
use crate::state::{At, Direction, Kind, Lock, UnitId};

/// How many words of a move are kept; any further words count as one more.
pub const MAX_WORDS: usize = 8;
/// Upper limit on the moves in one list; a message with more is malformed.
pub const MAX_MOVES: usize = 4_096;

/// The list of a half-turn, handled in order (DH-ORDER-1).
pub type Moves = Vec<Move>;

/// One move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The unit; `None` for an id that no unit can have.
    pub unit: Option<UnitId>,
    /// What it is to do.
    pub verb: Verb,
    /// The words after the verb.
    pub words: Words,
}

impl Move {
    /// A move of `unit`.
    pub const fn new(unit: UnitId, verb: Verb, words: Words) -> Self {
        Self { unit: Some(unit), verb, words }
    }
}

/// What a unit is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    /// No verb: the words are steps.
    Walk,
    /// `ATTACK`.
    Attack,
    /// `DUPLICATE`: another one of its kind.
    Duplicate,
    /// `DUPLICATE_M`: a melee.
    DuplicateMelee,
    /// `DUPLICATE_W`: a worker.
    DuplicateWorker,
    /// `MINE`.
    Mine,
    /// `STUN`.
    Stun,
}

impl Verb {
    /// All, in the order of their codes.
    pub const ALL: [Self; 7] = [
        Self::Walk,
        Self::Attack,
        Self::Duplicate,
        Self::DuplicateMelee,
        Self::DuplicateWorker,
        Self::Mine,
        Self::Stun,
    ];

    /// The word of the protocol; empty for a walk.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Walk => "",
            Self::Attack => "ATTACK",
            Self::Duplicate => "DUPLICATE",
            Self::DuplicateMelee => "DUPLICATE_M",
            Self::DuplicateWorker => "DUPLICATE_W",
            Self::Mine => "MINE",
            Self::Stun => "STUN",
        }
    }
}

/// The words of a move: each a direction, or `None` for a word that is not one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Words {
    /// The number of words; at most [`MAX_WORDS`] + 1, which stands for any number above.
    count: u8,
    /// The first of them; the rest is `None`.
    first: [Option<Direction>; MAX_WORDS],
}

impl Words {
    /// No words.
    pub const NONE: Self = Self { count: 0, first: [None; MAX_WORDS] };

    /// One direction.
    pub const fn one(direction: Direction) -> Self {
        let mut words = Self::NONE;
        words.count = 1;
        words.first[0] = Some(direction);
        words
    }

    /// Appends a word.
    pub fn push(&mut self, word: Option<Direction>) {
        if let Some(place) = self.first.get_mut(usize::from(self.count)) {
            *place = word;
        }
        self.count = (self.count + 1).min(MAX_WORDS as u8 + 1);
    }

    /// Appends the words of another list.
    pub fn append(&mut self, other: &Self) {
        other.all().for_each(|word| self.push(word));
    }

    /// The number of words; [`MAX_WORDS`] + 1 stands for any number above.
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The words, at most [`MAX_WORDS`] of them.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Option<Direction>> + Clone + '_ {
        self.first.iter().take(self.len()).copied()
    }

    /// The words; those not kept appear as words without meaning.
    pub fn all(&self) -> impl Iterator<Item = Option<Direction>> + '_ {
        let lost = self.len().saturating_sub(MAX_WORDS);
        self.iter().chain(std::iter::repeat_n(None, lost))
    }

    /// The direction, if there is exactly one word.
    pub fn only(&self) -> Option<Direction> {
        if self.count == 1 { self.first[0] } else { None }
    }
}

impl FromIterator<Option<Direction>> for Words {
    fn from_iter<I: IntoIterator<Item = Option<Direction>>>(from: I) -> Self {
        let mut words = Self::NONE;
        from.into_iter().for_each(|word| words.push(word));
        words
    }
}

/// What is in the way of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// A wall, or the end of the map.
    Wall,
    /// Another unit.
    Unit,
    /// The unit itself: the step leads nowhere, or back to where it started.
    Itself,
}

/// Why a move is rejected, or a list is void.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// No living unit of the mover has the id.
    NotYours(Option<UnitId>),
    /// The unit cannot act now.
    Locked(UnitId, Lock),
    /// The unit was used before in the same list.
    Twice(UnitId),
    /// A word that means nothing here.
    UnknownWord(UnitId),
    /// A verb that these rules do not have.
    NoSuchVerb(UnitId, Verb),
    /// A verb that units of this kind do not have.
    WrongKind(UnitId, Kind, Verb),
    /// More or fewer words than the verb takes.
    WordCount(UnitId, Verb, &'static str),
    /// More steps than allowed.
    TooManySteps(UnitId, u8),
    /// A step is blocked.
    Blocked(UnitId, At, Obstacle),
    /// Nobody to attack.
    NobodyToAttack(UnitId),
    /// An attack on an own unit.
    OwnUnit(UnitId, UnitId),
    /// Too little resource to duplicate.
    CannotPay(UnitId, u32, u32),
    /// No room for a child.
    NoRoom(UnitId, At),
    /// The match has as many units as it can hold.
    TooManyUnits(UnitId, u16),
    /// No hub to mine.
    NoHub(UnitId),
    /// Too little resource to stun.
    CannotPayStun(UnitId, u32, u32),
    /// Nobody to stun.
    NobodyToStun(UnitId),
    /// The whole list is void because of other moves in it: the index of the first of them, from 0, its unit and its verb.
    Void(Validation, u16, Option<UnitId>, Verb),
}

impl ReasonTrait for Reason {
    fn rule(&self) -> &'static str {
        match self {
            Self::NotYours(_) => "DH-ORDER-2",
            Self::Locked(..) => "DH-ORDER-3",
            Self::Twice(_) => "DH-ORDER-4",
            Self::UnknownWord(_) | Self::NoSuchVerb(..) => "DH-ORDER-5",
            Self::WrongKind(_, _, Verb::Attack) => "DH-ATTACK-1",
            Self::WrongKind(_, _, Verb::Mine) => "DH-MINE-1",
            Self::WrongKind(_, _, Verb::Stun) => "DH-STUN-1",
            Self::WrongKind(..) => "DH-DUP-1",
            Self::WordCount(_, Verb::Attack, _) => "DH-ATTACK-2",
            Self::WordCount(_, Verb::Mine, _) => "DH-MINE-4",
            Self::WordCount(_, Verb::Stun, _) => "DH-STUN-1",
            Self::WordCount(..) => "DH-DUP-1",
            Self::TooManySteps(..) => "DH-MOVE-2",
            Self::Blocked(..) => "DH-MOVE-1",
            Self::NobodyToAttack(_) => "DH-ATTACK-2",
            Self::OwnUnit(..) => "DH-ATTACK-5",
            Self::CannotPay(..) => "DH-DUP-2",
            Self::NoRoom(..) => "DH-DUP-4",
            Self::TooManyUnits(..) => "DH-DUP-5",
            Self::NoHub(_) => "DH-MINE-1",
            Self::CannotPayStun(..) => "DH-STUN-2",
            Self::NobodyToStun(_) => "DH-STUN-1",
            Self::Void(Validation::Strict, ..) => "DH-VALID-2",
            Self::Void(..) => "DH-VALID-1",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NotYours(Some(id)) => write!(f, "unit {id} is not a living unit of yours"),
            Self::NotYours(None) => write!(f, "the id names no unit of yours"),
            Self::Locked(id, Lock::Duplicating) => write!(f, "unit {id} cannot act while duplicating"),
            Self::Locked(id, Lock::Mining) => write!(f, "unit {id} cannot act while mining"),
            Self::Locked(id, Lock::Stunned) => write!(f, "unit {id} cannot act while stunned"),
            Self::Twice(id) => write!(f, "unit {id} was already used in this list"),
            Self::UnknownWord(id) => {
                write!(f, "unit {id}: a word is neither UP, DOWN, LEFT nor RIGHT")
            }
            Self::NoSuchVerb(id, verb) => {
                let preset = match verb {
                    Verb::Duplicate => "neo2019",
                    _ => "bc2021",
                };
                write!(
                    f,
                    "unit {id}: these rules have no {}; a bot that says it was written for --rules {preset}",
                    verb.word()
                )
            }
            Self::WrongKind(id, kind, verb) => {
                write!(f, "unit {id} is a {kind}, which cannot {}", verb.word())
            }
            Self::WordCount(id, verb, takes) => write!(f, "unit {id}: {} takes {takes}", verb.word()),
            Self::TooManySteps(id, most) => {
                write!(f, "unit {id} can make {most} step{} in one move", if most == 1 { "" } else { "s" })
            }
            Self::Blocked(id, at, by) => {
                let by = match by {
                    Obstacle::Wall => "a wall",
                    Obstacle::Unit => "a unit",
                    Obstacle::Itself => "the unit itself",
                };
                write!(f, "the path of unit {id} is invalid: {by} is at {at}")
            }
            Self::NobodyToAttack(id) => write!(f, "unit {id} cannot attack there: nobody is in reach"),
            Self::OwnUnit(id, target) => write!(f, "unit {id} cannot attack there: unit {target} is yours"),
            Self::CannotPay(id, cost, have) => {
                write!(f, "unit {id} cannot duplicate now: it costs {cost}, and you have {have}")
            }
            Self::NoRoom(id, at) => write!(f, "unit {id} cannot duplicate now: {at} is not free"),
            Self::TooManyUnits(id, most) => {
                write!(f, "unit {id} cannot duplicate now: a match has at most {most} units")
            }
            Self::NoHub(id) => write!(f, "unit {id} cannot mine now: no resource there"),
            Self::CannotPayStun(id, cost, have) => {
                write!(f, "unit {id} has not enough resources to stun: it costs {cost}, and you have {have}")
            }
            Self::NobodyToStun(id) => write!(f, "unit {id} cannot stun there: nobody is there"),
            Self::Void(_, index, unit, verb) => {
                let unit = unit.map_or("no unit of yours".to_owned(), |unit| format!("unit {unit}"));
                let verb = if verb == Verb::Walk { "a walk" } else { verb.word() };
                write!(f, "ignored with its whole list, because of move {} of it ({unit}, {verb})", index + 1)
            }
        }
    }
}
