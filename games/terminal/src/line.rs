//! State lines: the JSON that bots are sent and replays are made of (TM-TALK-2).

use std::io::Write as _;

use agon_game::{Facts, Seat};

use crate::arena::Tile;
use crate::frame::{Death, Events, Frame, Lists, Spawned, Stats};
use crate::state::{Ending, Player, State};
use crate::{Terminal, outcome};

/// Whose eyes a line is for: player 2 sees the arena turned, with the players exchanged (TM-TALK-3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Eyes(Seat);

impl Eyes {
    /// The eyes of a seat; those of the first are a replay's.
    pub const fn of(seat: Seat) -> Self {
        Self(seat)
    }

    const fn turned(self) -> bool {
        self.0.index() == 1
    }

    fn tile(self, tile: Tile) -> Tile {
        if self.turned() { tile.turned() } else { tile }
    }

    fn player(self, seat: Seat) -> u8 {
        if self.turned() { 3 - seat.number() } else { seat.number() }
    }
}

/// What the end line tells of the match beyond the state.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Milliseconds the match took.
    pub duration: u64,
    /// The names of the players.
    pub names: [String; 2],
}

impl Names {
    /// What the referee knows of them.
    pub fn of(facts: &Facts) -> Self {
        let name = |index: usize| facts.names.get(index).cloned().unwrap_or_default();
        Self { duration: facts.wall_ms, names: [name(0), name(1)] }
    }
}

/// Writes lines with the eyes of one seat.
struct Line<'a> {
    eyes: Eyes,
    out: &'a mut Vec<u8>,
}

/// Writes the line of an action frame, without a line feed.
pub fn action(frame: &Frame, eyes: Eyes, out: &mut Vec<u8>) {
    let mut line = Line { eyes, out };
    line.head(1, frame.turn, frame.frame, frame.line);
    line.board(&frame.stats, &frame.lists);
    line.events(&frame.events);
    line.out.push(b'}');
}

/// Writes the line of a deploy phase, with the structures that the restore removed.
pub fn deploy(state: &State, removed: &[Death], eyes: Eyes, out: &mut Vec<u8>) {
    let events = Events { death: removed.to_vec(), ..Events::default() };
    let frame = Frame::of(state, &[], -1, events);
    let mut line = Line { eyes, out };
    line.head(0, frame.turn, -1, frame.line);
    line.board(&frame.stats, &frame.lists);
    line.events(&frame.events);
    line.out.push(b'}');
}

/// Writes the end line: the last board without events, and the statistics (TM-STATS-1).
pub fn end(
    game: &Terminal,
    state: &State,
    last: Option<&Frame>,
    names: &Names,
    eyes: Eyes,
    out: &mut Vec<u8>,
) {
    let turns_over = state.ending == Some(Ending::Turns);
    let fresh;
    let board = match last {
        Some(frame) if !turns_over => frame,
        _ => {
            fresh = Frame::of(state, &[], 0, Events::default());
            &fresh
        }
    };
    let frame = if turns_over { 0 } else { i32::from(state.last_frames) - 1 };
    let mut line = Line { eyes, out };
    // Frames and deploy lines so far, less one: the number of the last line.
    line.head(2, state.turn, frame, state.line() - u32::from(turns_over));
    let stats = state.players.map(|player| Stats { hp: player.hp, sp: player.sp, mp: player.mp, ms: 0 });
    line.board(&stats, &board.lists);
    line.events(&Events::default());
    line.statistics(game, state, names);
    line.out.push(b'}');
}

impl Line<'_> {
    fn head(&mut self, phase: u8, turn: u16, frame: i32, number: u32) {
        let _ = write!(self.out, "{{\"turnInfo\":[{phase},{turn},{frame},{number}]");
    }

    fn board(&mut self, stats: &[Stats; 2], lists: &[Lists; 2]) {
        let order = if self.eyes.turned() { [1, 0] } else { [0, 1] };
        for (number, index) in order.into_iter().enumerate() {
            let Stats { hp, sp, mp, ms } = stats[index];
            let _ = write!(self.out, ",\"p{}Stats\":[{hp:?},{sp:?},{mp:?},{ms}]", number + 1);
        }
        for (number, index) in order.into_iter().enumerate() {
            let _ = write!(self.out, ",\"p{}Units\":[", number + 1);
            let lists = &lists[index];
            for (place, list) in lists.units.iter().chain([&lists.removals, &lists.upgrades]).enumerate() {
                self.comma(place);
                self.list(list, |line, unit| {
                    let at = line.eyes.tile(unit.at);
                    let _ = write!(line.out, "[{},{},{:?},\"{}\"]", at.x(), at.y(), unit.health, unit.id);
                });
            }
            self.out.push(b']');
        }
    }

    fn events(&mut self, events: &Events) {
        self.out.extend_from_slice(b",\"events\":{\"selfDestruct\":");
        self.list(&events.self_destruct, |line, event| {
            line.out.push(b'[');
            line.tile(event.at);
            line.out.push(b',');
            line.list(&event.tiles, |line, &tile| line.tile(tile));
            let (kind, owner) = (event.unit.kind.index(), line.eyes.player(event.unit.owner));
            let _ = write!(line.out, ",{:?},{kind},\"{}\",{owner}]", event.damage, event.unit.id);
        });
        self.out.extend_from_slice(b",\"breach\":");
        self.list(&events.breach, |line, event| {
            line.out.push(b'[');
            line.tile(event.at);
            let (kind, owner) = (event.unit.kind.index(), line.eyes.player(event.unit.owner));
            let _ = write!(line.out, ",{:?},{kind},\"{}\",{owner}]", event.damage, event.unit.id);
        });
        self.out.extend_from_slice(b",\"damage\":");
        self.list(&events.damage, |line, event| {
            line.out.push(b'[');
            line.tile(event.at);
            let (kind, owner) = (event.unit.kind.index(), line.eyes.player(event.unit.owner));
            let _ = write!(line.out, ",{:?},{kind},\"{}\",{owner}]", event.amount, event.unit.id);
        });
        self.out.extend_from_slice(b",\"shield\":");
        self.list(&events.shield, |line, event| {
            line.out.push(b'[');
            line.tile(event.from);
            line.out.push(b',');
            line.tile(event.to);
            let (kind, owner) = (event.giver.kind.index(), line.eyes.player(event.giver.owner));
            let (amount, giver, target) = (event.amount, event.giver.id, event.target);
            let _ = write!(line.out, ",{amount:?},{kind},\"{giver}\",\"{target}\",{owner}]");
        });
        self.out.extend_from_slice(b",\"move\":");
        self.list(&events.moves, |line, event| {
            line.out.push(b'[');
            line.tile(event.from);
            line.out.push(b',');
            line.tile(event.to);
            let (kind, owner) = (event.unit.kind.index(), line.eyes.player(event.unit.owner));
            let _ = write!(line.out, ",[0,0],{kind},\"{}\",{owner}]", event.unit.id);
        });
        self.out.extend_from_slice(b",\"spawn\":");
        self.list(&events.spawn, |line, event| {
            line.out.push(b'[');
            line.tile(event.at);
            let what = spawned(event.what);
            let _ = write!(line.out, ",{what},\"{}\",{}]", event.id, line.eyes.player(event.owner));
        });
        self.out.extend_from_slice(b",\"death\":");
        self.list(&events.death, |line, event| {
            line.out.push(b'[');
            line.tile(event.at);
            let (kind, owner) = (event.unit.kind.index(), line.eyes.player(event.unit.owner));
            let _ = write!(line.out, ",{kind},\"{}\",{owner},{}]", event.unit.id, event.removed);
        });
        self.out.extend_from_slice(b",\"attack\":");
        self.list(&events.attack, |line, event| {
            line.out.push(b'[');
            line.tile(event.from);
            line.out.push(b',');
            line.tile(event.to);
            let (kind, owner) = (event.attacker.kind.index(), line.eyes.player(event.attacker.owner));
            let (damage, attacker, target) = (event.damage, event.attacker.id, event.target);
            let _ = write!(line.out, ",{damage:?},{kind},\"{attacker}\",\"{target}\",{owner}]");
        });
        self.out.extend_from_slice(b",\"melee\":[]}");
    }

    fn statistics(&mut self, game: &Terminal, state: &State, names: &Names) {
        // The original knows no draw; where ours is one, its line says 0.
        let winner = outcome::winner(state).map_or(0, |seat| self.eyes.player(seat));
        let _ = write!(
            self.out,
            ",\"endStats\":{{\"duration\":{},\"winner\":{winner},\"turns\":{},\"frames\":{}",
            names.duration, state.turn, state.frames
        );
        let order = if self.eyes.turned() { [1, 0] } else { [0, 1] };
        for (number, index) in order.into_iter().enumerate() {
            let player: &Player = &state.players[index];
            let name = serde_json::to_string(&names.names[index]).unwrap_or_else(|_| "\"\"".to_owned());
            let _ = write!(
                self.out,
                ",\"player{}\":{{\"name\":{name},\"crashed\":{},\"timeout_death\":{},\"time_damage_taken\":{},\
                 \"total_computation_time\":{},\"stationary_resource_spent\":{:?},\"dynamic_resource_spent\":{:?},\
                 \"dynamic_resource_spoiled\":{:?},\"dynamic_resource_destroyed\":{:?},\"points_scored\":{:?},\
                 \"stationary_resource_left_on_board\":{:?}}}",
                number + 1,
                player.crashed,
                player.timed_out,
                player.time_damage.0,
                player.total_ms,
                player.sp_spent,
                player.mp_spent,
                player.mp_spoiled,
                player.mp_destroyed,
                player.points,
                outcome::left_on_board(game.rules(), state, Seat::new(index as u8)),
            );
        }
        self.out.push(b'}');
    }

    fn tile(&mut self, tile: Tile) {
        let tile = self.eyes.tile(tile);
        let _ = write!(self.out, "[{},{}]", tile.x(), tile.y());
    }

    fn comma(&mut self, place: usize) {
        if place > 0 {
            self.out.push(b',');
        }
    }

    fn list<T>(&mut self, list: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.out.push(b'[');
        for (place, entry) in list.iter().enumerate() {
            self.comma(place);
            each(self, entry);
        }
        self.out.push(b']');
    }
}

/// The number a spawn event has for its unit: the kinds, then removal and upgrade.
fn spawned(what: Spawned) -> usize {
    match what {
        Spawned::Unit(kind) => kind.index(),
        Spawned::Removal => 6,
        Spawned::Upgrade => 7,
    }
}
