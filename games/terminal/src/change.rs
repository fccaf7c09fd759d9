//! A frame for the viewer: its changes to the frame before it, in rows of numbers.
//!
//! Rows are short because a turn has many frames with many units that do the same. In every list of rows a unit's
//! number is written as the difference to that of the row before: units made together give similar rows, which
//! compress well. `viewer/frames.ts` reads them.

use agon_game::Seat;
use serde::{Serialize, Serializer};

use crate::arena::Tile;
use crate::frame::{Frame, Lists, Spawned, Standing, Who};
use crate::rules::Kind;
use crate::state::Real;

/// A number, written without a fraction if it is whole.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Number(f32);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 == self.0.trunc() && self.0.abs() < 1e9 {
            true => to.serialize_i32(self.0 as i32),
            false => to.serialize_f32(self.0),
        }
    }
}

impl From<Real> for Number {
    fn from(Real(value): Real) -> Self {
        Self(value)
    }
}

/// A frame, and the one before it in the same turn. The rows are built when it is serialised.
pub struct Told<'a> {
    /// The frame.
    pub frame: &'a Frame,
    /// The frame before it; `None` for the first of a turn.
    pub before: Option<&'a Frame>,
}

impl Serialize for Told<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        FrameChange::new(self.frame, self.before).serialize(to)
    }
}

/// A frame, described by its changes.
#[derive(Clone, Debug, Serialize)]
struct FrameChange {
    /// The turn.
    turn: u16,
    /// The frame of its action phase, from 0.
    frame: i32,
    /// Health, structure points, mobile points and milliseconds of both players.
    stats: [(Number, Number, Number, u32); 2],
    /// Units that are new or differ from what the moves give: list, number, tile, health.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    standing: Vec<(u8, i64, Tile, Number)>,
    /// Units no longer there: list, number.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gone: Vec<(u8, i64)>,
    /// Orders carried out: player, number, tile; the kind's index, 6 for a removal, 7 for an upgrade.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    spawn: Vec<(u8, i64, Tile, u8)>,
    /// Steps: list, number, from, to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    moves: Vec<(u8, i64, Tile, Tile)>,
    /// Units at their edge: list, number, tile, damage.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    breach: Vec<(u8, i64, Tile, Number)>,
    /// Shields given: list and number of the giver, number of the target, from, to, amount.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    shield: Vec<(u8, i64, i64, Tile, Tile, Number)>,
    /// Self-destructions: list, number, tile, damage, the tiles hit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    self_destruct: Vec<(u8, i64, Tile, Number, Vec<Tile>)>,
    /// Attacks: list and number of the attacker, number of the target, from, to, damage.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attack: Vec<(u8, i64, i64, Tile, Tile, Number)>,
    /// Health lost: list, number, tile, amount.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    damage: Vec<(u8, i64, Tile, Number)>,
    /// Units that left: list, number, tile, 1 if their own player removed them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    death: Vec<(u8, i64, Tile, u8)>,
}

/// Lists of a player in a state line: the six kinds, removals, upgrades.
const LISTS: u8 = 8;

/// The number of a list: those of the first player are 0 to 7.
fn list(owner: Seat, place: usize) -> u8 {
    owner.index() as u8 * LISTS + place as u8
}

fn list_of(who: &Who) -> u8 {
    list(who.owner, who.kind.index())
}

/// Turns a series of numbers into differences.
#[derive(Default)]
struct Step(u32);

impl Step {
    fn to(&mut self, id: u32) -> i64 {
        let step = i64::from(id) - i64::from(self.0);
        self.0 = id;
        step
    }
}

impl FrameChange {
    /// The changes from `before` to `frame`; all of `frame` if there is no `before`.
    fn new(frame: &Frame, before: Option<&Frame>) -> Self {
        let events = &frame.events;
        let mut moved: Vec<(u32, Tile)> = events.moves.iter().map(|step| (step.unit.id, step.to)).collect();
        moved.sort_by_key(|step| step.0);
        let (mut standing, mut gone) = (Vec::new(), Vec::new());
        let (mut stood, mut went) = (Step::default(), Step::default());
        let none = Lists::default();
        for owner in [0, 1].map(Seat::new) {
            let old = before.map_or(&none, |before| &before.lists[owner.index()]);
            let new = &frame.lists[owner.index()];
            for (place, (old, new)) in old.all().into_iter().zip(new.all()).enumerate() {
                let list = list(owner, place);
                compare(old, new, &moved, |change| match change {
                    Change::Stands(unit) => {
                        standing.push((list, stood.to(unit.id), unit.at, unit.health.into()));
                    }
                    Change::Gone(id) => gone.push((list, went.to(id))),
                });
            }
        }
        let (mut a, mut b) = (Step::default(), Step::default());
        let shield = events.shield.iter().map(|it| {
            (list_of(&it.giver), a.to(it.giver.id), b.to(it.target), it.from, it.to, it.amount.into())
        });
        let shield = shield.collect();
        let (mut a, mut b) = (Step::default(), Step::default());
        let attack = events.attack.iter().map(|it| {
            (list_of(&it.attacker), a.to(it.attacker.id), b.to(it.target), it.from, it.to, it.damage.into())
        });
        let attack = attack.collect();
        let mut step = Step::default();
        let spawn = events.spawn.iter().map(|it| (it.owner.number(), step.to(it.id), it.at, what(it.what)));
        let spawn = spawn.collect();
        let mut step = Step::default();
        let moves = events.moves.iter().map(|it| (list_of(&it.unit), step.to(it.unit.id), it.from, it.to));
        let moves = moves.collect();
        let mut step = Step::default();
        let breach =
            events.breach.iter().map(|it| (list_of(&it.unit), step.to(it.unit.id), it.at, it.damage.into()));
        let breach = breach.collect();
        let mut step = Step::default();
        let self_destruct = events
            .self_destruct
            .iter()
            .map(|it| (list_of(&it.unit), step.to(it.unit.id), it.at, it.damage.into(), it.tiles.clone()));
        let self_destruct = self_destruct.collect();
        let mut step = Step::default();
        let damage =
            events.damage.iter().map(|it| (list_of(&it.unit), step.to(it.unit.id), it.at, it.amount.into()));
        let damage = damage.collect();
        let mut step = Step::default();
        let death = events
            .death
            .iter()
            .map(|it| (list_of(&it.unit), step.to(it.unit.id), it.at, u8::from(it.removed)));
        let death = death.collect();
        let stats = [0, 1].map(|side| {
            let own = &frame.stats[side];
            (own.hp.into(), own.sp.into(), own.mp.into(), own.ms)
        });
        let (turn, frame) = (frame.turn, frame.frame);
        Self {
            turn,
            frame,
            stats,
            standing,
            gone,
            spawn,
            moves,
            breach,
            shield,
            self_destruct,
            attack,
            damage,
            death,
        }
    }
}

fn what(spawned: Spawned) -> u8 {
    match spawned {
        Spawned::Unit(kind) => kind.index() as u8,
        Spawned::Removal => Kind::ALL.len() as u8,
        Spawned::Upgrade => Kind::ALL.len() as u8 + 1,
    }
}

enum Change<'a> {
    /// It is new, or differs from what the moves give.
    Stands(&'a Standing),
    /// It is no longer there.
    Gone(u32),
}

/// Compares two lists by ascending number. `moved` gives the targets of steps, by ascending number.
fn compare<'a>(
    old: &[Standing],
    new: &'a [Standing],
    moved: &[(u32, Tile)],
    mut tell: impl FnMut(Change<'a>),
) {
    let mut old = old.iter().peekable();
    for unit in new {
        while let Some(gone) = old.next_if(|other| other.id < unit.id) {
            tell(Change::Gone(gone.id));
        }
        let same = old.next_if(|other| other.id == unit.id).is_some_and(|other| {
            let at =
                moved.binary_search_by_key(&unit.id, |step| step.0).map_or(other.at, |found| moved[found].1);
            at == unit.at && other.health == unit.health
        });
        if !same {
            tell(Change::Stands(unit));
        }
    }
    old.for_each(|gone| tell(Change::Gone(gone.id)));
}
