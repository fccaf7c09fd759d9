//! What changes in a match: one flat value of at most 4 KiB.
//!
//! Mobile units live only inside a turn's action phase, so a state holds structures and players.

use agon_game::Seat;
use agon_game::pack::{Reader, put_varint};

use crate::arena::{TILES, Tile};
use crate::rules::{Kind, Rules};

/// A 32-bit float of the original, compared and stored by its bits.
#[derive(Clone, Copy, Default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(type = "number"))]
pub struct Real(pub f32);

impl PartialEq for Real {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Real {}

impl std::fmt::Debug for Real {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

/// Rounds to the nearest tenth, halves up, in 32-bit floats (TM-POINTS-1).
#[inline]
pub fn tenth(value: f32) -> f32 {
    (value * 10.0 + 0.5).floor() / 10.0
}

/// A structure, packed into eight bytes.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Structure {
    /// Id (19 bits), kind and form (3 bits), tile (10 bits): sorts by id.
    key: u32,
    /// Its health.
    pub health: Real,
}

impl Structure {
    /// A structure on `tile`.
    pub fn new(id: u32, kind: Kind, upgraded: bool, tile: Tile, health: f32) -> Self {
        debug_assert!(!kind.is_mobile() && id < 1 << 19);
        let form = kind.index() as u32 * 2 + u32::from(upgraded);
        Self { key: id << 13 | form << 10 | tile.index() as u32, health: Real(health) }
    }

    /// Its number, higher for later structures.
    #[inline]
    pub const fn id(self) -> u32 {
        self.key >> 13
    }

    /// Wall, Support or Turret.
    #[inline]
    pub const fn kind(self) -> Kind {
        Kind::ALL[(self.key >> 11 & 3) as usize]
    }

    /// Whether it was upgraded.
    #[inline]
    pub const fn upgraded(self) -> bool {
        self.key >> 10 & 1 == 1
    }

    /// Where it stands.
    #[inline]
    pub const fn tile(self) -> Tile {
        Tile::known((self.key & 1023) as usize)
    }

    /// Its owner: structures never stand in the other half (TM-BUILD-2).
    #[inline]
    pub const fn owner(self) -> Seat {
        self.tile().owner()
    }
}

impl std::fmt::Debug for Structure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let plus = if self.upgraded() { "+" } else { "" };
        write!(f, "{}{plus} {} at {:?} health {:?}", self.kind().name(), self.id(), self.tile(), self.health)
    }
}

/// A player.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Player {
    /// Health.
    pub hp: Real,
    /// Structure points, on the grid of tenths.
    pub sp: Real,
    /// Mobile points, on the grid of tenths.
    pub mp: Real,
    /// Milliseconds of the last answer.
    pub ms: u32,
    /// Milliseconds of all answers.
    pub total_ms: u32,
    /// Health lost to slowness.
    pub time_damage: Real,
    /// Structure points spent.
    pub sp_spent: Real,
    /// Mobile points spent.
    pub mp_spent: Real,
    /// Mobile points lost to decay.
    pub mp_spoiled: Real,
    /// Mobile points that died on the board.
    pub mp_destroyed: Real,
    /// Damage to the other player's health, including what the other lost to its own slowness and crashes.
    pub points: Real,
    /// Whether its bot crashed or was stopped.
    pub crashed: bool,
    /// Whether its bot was stopped for time.
    pub timed_out: bool,
}

/// Why the match is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// A player has no health left.
    Health,
    /// The last turn has been played.
    Turns,
}

/// A match at a deploy phase, or at its end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// The players.
    pub players: [Player; 2],
    /// The turn, from 0.
    pub turn: u16,
    /// The frames of the last action phase.
    pub last_frames: u16,
    /// The frames of all action phases.
    pub frames: u32,
    /// The id of the next unit; the first is 1.
    pub next_id: u32,
    /// Why the match is over; `None` while it goes on.
    pub ending: Option<Ending>,
    /// How many of `list` and `marks` are in use; the rest is zero.
    count: u16,
    list: [Structure; TILES],
    /// For each structure: 0 if it stays, else the number of restores until it is removed, plus 1.
    marks: [u8; TILES],
}

impl State {
    /// The state before the first answers (TM-START-1).
    pub fn new(rules: &Rules) -> Self {
        let player = Player {
            hp: Real(rules.resources.starting_hp),
            sp: Real(tenth(rules.resources.starting_cores)),
            mp: Real(tenth(rules.resources.starting_bits)),
            ..Player::default()
        };
        Self {
            players: [player; 2],
            turn: 0,
            last_frames: 0,
            frames: 0,
            next_id: 1,
            ending: None,
            count: 0,
            list: [Structure::default(); TILES],
            marks: [0; TILES],
        }
    }

    /// The structures, in order of creation (ascending ids).
    #[inline]
    pub fn structures(&self) -> &[Structure] {
        &self.list[..usize::from(self.count)]
    }

    /// The structures, to change their health.
    #[inline]
    pub(crate) fn structures_mut(&mut self) -> &mut [Structure] {
        &mut self.list[..usize::from(self.count)]
    }

    /// Restores until structure number `slot` of [`structures`](State::structures) is removed; `None` if it stays. It is
    /// 0 only after the last turn, when a due removal is no longer carried out (TM-RESTORE-6).
    #[inline]
    pub fn mark(&self, slot: usize) -> Option<u8> {
        self.marks[slot].checked_sub(1)
    }

    /// Marks structure number `slot` for removal after this many restores, at most 254, or clears its mark.
    pub fn set_mark(&mut self, slot: usize, restores: Option<u8>) {
        self.marks[slot] = restores.map_or(0, |restores| restores + 1);
    }

    /// The structure on `tile`, by a search through the list.
    pub fn structure_on(&self, tile: Tile) -> Option<&Structure> {
        self.structures().iter().find(|structure| structure.tile() == tile)
    }

    /// Adds a structure at the end. Its tile must be free and its id below [`next_id`](State::next_id), above all others.
    pub fn push(&mut self, structure: Structure) {
        let end = usize::from(self.count);
        self.list[end] = structure;
        self.marks[end] = 0;
        self.count += 1;
    }

    /// Keeps the structures for which `keep(slot, structure, mark)` holds, in their order.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(usize, &Structure, u8) -> bool) {
        let mut kept = 0;
        for slot in 0..usize::from(self.count) {
            if keep(slot, &self.list[slot], self.marks[slot]) {
                (self.list[kept], self.marks[kept]) = (self.list[slot], self.marks[slot]);
                kept += 1;
            }
        }
        self.list[kept..usize::from(self.count)].fill(Structure::default());
        self.marks[kept..usize::from(self.count)].fill(0);
        self.count = kept as u16;
    }

    /// The running number of the next state line: each turn has one deploy line, each frame one line.
    pub fn line(&self) -> u32 {
        u32::from(self.turn) + self.frames
    }

    /// Appends the canonical bytes.
    pub fn save(&self, out: &mut Vec<u8>) {
        for player in &self.players {
            for real in player.reals() {
                out.extend_from_slice(&real.0.to_bits().to_le_bytes());
            }
            put_varint(out, u64::from(player.ms));
            put_varint(out, u64::from(player.total_ms));
            out.push(u8::from(player.crashed) | u8::from(player.timed_out) << 1);
        }
        put_varint(out, u64::from(self.turn));
        put_varint(out, u64::from(self.last_frames));
        put_varint(out, u64::from(self.frames));
        put_varint(out, u64::from(self.next_id));
        out.push(self.ending.map_or(0, |ending| 1 + ending as u8));
        put_varint(out, u64::from(self.count));
        for (slot, structure) in self.structures().iter().enumerate() {
            out.extend_from_slice(&structure.key.to_le_bytes());
            out.extend_from_slice(&structure.health.0.to_bits().to_le_bytes());
            out.push(self.marks[slot]);
        }
    }

    /// Reads what [`save`](State::save) wrote. Checks every invariant of a state.
    pub fn load(rules: &Rules, bytes: &[u8]) -> Option<Self> {
        let mut from = Reader::new(bytes);
        let mut state = Self::new(rules);
        for player in &mut state.players {
            *player = Player::read(&mut from)?;
        }
        state.turn = from.up_to(rules.bounds.max_turns)?;
        state.last_frames = from.number()?;
        state.frames = from.up_to((1 << 28) - 1)?;
        state.next_id = from.number()?;
        let per_turn = 2 * u32::from(rules.bounds.max_orders);
        if state.next_id == 0 || state.next_id > 1 + u32::from(state.turn + 1) * per_turn {
            return None;
        }
        state.ending = match from.byte()? {
            0 => None,
            1 => Some(Ending::Health),
            2 => Some(Ending::Turns),
            _ => return None,
        };
        let over = state.players.iter().any(|player| player.hp.0 <= 0.0);
        let last = state.turn == rules.bounds.max_turns;
        let ending_fits = match state.ending {
            None => !over && !last,
            Some(Ending::Health) => over && !last,
            Some(Ending::Turns) => !over && last,
        };
        let count = from.varint()?;
        if !ending_fits || count > TILES as u64 {
            return None;
        }
        let mut taken = [false; 1024];
        let mut last_id = 0;
        for _ in 0..count {
            let key = u32::from_le_bytes(from.array()?);
            let health = f32::from_bits(u32::from_le_bytes(from.array()?));
            let structure = Structure { key, health: Real(health) };
            let tile = Tile::from_index((key & 1023) as usize)?;
            let fits = key >> 11 & 3 < 3
                && structure.id() > last_id
                && structure.id() < state.next_id
                && health > 0.0
                && health.is_finite()
                && !std::mem::replace(&mut taken[tile.index()], true)
                && (!structure.upgraded() || rules.units[structure.kind().index()].upgradable);
            if !fits {
                return None;
            }
            last_id = structure.id();
            let slot = usize::from(state.count);
            state.push(structure);
            state.marks[slot] = from.byte()?;
        }
        from.end(state)
    }
}

impl Player {
    fn reals(&self) -> [Real; 9] {
        [
            self.hp,
            self.sp,
            self.mp,
            self.time_damage,
            self.sp_spent,
            self.mp_spent,
            self.mp_spoiled,
            self.mp_destroyed,
            self.points,
        ]
    }

    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let mut real = || {
            let value = f32::from_bits(u32::from_le_bytes(from.array()?));
            value.is_finite().then_some(Real(value))
        };
        let mut player = Self {
            hp: real()?,
            sp: real()?,
            mp: real()?,
            time_damage: real()?,
            sp_spent: real()?,
            mp_spent: real()?,
            mp_spoiled: real()?,
            mp_destroyed: real()?,
            points: real()?,
            ..Self::default()
        };
        player.ms = from.number()?;
        player.total_ms = from.number()?;
        let flags = from.byte().filter(|&flags| flags < 4)?;
        (player.crashed, player.timed_out) = (flags & 1 == 1, flags & 2 == 2);
        Some(player)
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State")
            .field("players", &self.players)
            .field("turn", &self.turn)
            .field("frames", &(self.last_frames, self.frames))
            .field("next_id", &self.next_id)
            .field("ending", &self.ending)
            .field("structures", &self.structures())
            .field("marks", &&self.marks[..usize::from(self.count)])
            .finish()
    }
}
