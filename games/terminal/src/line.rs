//! State lines: the JSON that is sent to bots and that replays are made of (TM-TALK-2).

use std::io::Write as _;
use std::ops::Range;

use agon_game::{Facts, Seat};

use crate::arena::Tile;
use crate::frame::{Damage, Death, Events, Frame, Lists, Spawned, Stats, Who};
use crate::rules::Rules;
use crate::state::{Ending, Player, Real, State};
use crate::{Terminal, outcome};

/// The eyes a line is written for: player 2 sees the arena turned, with the players exchanged (TM-TALK-3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Eyes {
    seat: Seat,
    /// The form before there were upgrades: three numbers in `turnInfo`, and no list of upgraded structures (TM-CONFIG-6).
    short: bool,
}

impl Eyes {
    /// The eyes of a seat under these rules; a replay uses those of the first seat.
    pub const fn of(rules: &Rules, seat: Seat) -> Self {
        Self { seat, short: rules.before_upgrades }
    }

    const fn turned(self) -> bool {
        self.seat.index() == 1
    }

    fn tile(self, tile: Tile) -> Tile {
        if self.turned() { tile.turned() } else { tile }
    }

    fn player(self, seat: Seat) -> u8 {
        if self.turned() { 3 - seat.number() } else { seat.number() }
    }
}

/// What the end line says about the match beyond the state.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Duration of the match, in milliseconds.
    pub duration: u64,
    /// The names of the players.
    pub names: [String; 2],
}

impl Names {
    /// Takes them from the facts the referee knows.
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

/// The lists of units in the line before, and their place in the text: most structures stay unchanged for hundreds
/// of frames, and an unchanged list is copied.
#[derive(Default)]
struct Before<'a> {
    lists: Option<&'a [Lists; 2]>,
    places: [[Range<usize>; 8]; 2],
}

/// Writes the lines of action frames, each with a line feed.
pub fn actions<'a>(frames: impl Iterator<Item = &'a Frame>, eyes: Eyes, out: &mut Vec<u8>) {
    let mut before = Before::default();
    for frame in frames {
        let mut line = Line { eyes, out };
        line.head(1, frame.turn, frame.frame, frame.line);
        line.board(&frame.stats, &frame.lists, &mut before);
        line.events(&frame.events);
        line.text("}\n");
    }
}

/// Writes the line of one action frame, without a line feed.
pub fn action(frame: &Frame, eyes: Eyes, out: &mut Vec<u8>) {
    actions(std::iter::once(frame), eyes, out);
    out.pop();
}

/// Writes the line of a deploy phase, with the structures that the restore removed (TM-TALK-2).
pub fn deploy(state: &State, removed: &[Death], eyes: Eyes, out: &mut Vec<u8>) {
    let events = Events { death: removed.to_vec(), ..Events::default() };
    let frame = Frame::of(state, &[], -1, events);
    let mut line = Line { eyes, out };
    line.head(0, frame.turn, -1, frame.line);
    line.board(&frame.stats, &frame.lists, &mut Before::default());
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
    // Frames and deploy lines so far, minus one: the number of the last line.
    line.head(2, state.turn, frame, state.line() - u32::from(turns_over));
    let stats = state.players.map(|player| Stats { hp: player.hp, sp: player.sp, mp: player.mp, ms: 0 });
    line.board(&stats, &board.lists, &mut Before::default());
    line.events(&Events::default());
    line.statistics(game, state, names);
    line.out.push(b'}');
}

impl Line<'_> {
    fn head(&mut self, phase: u8, turn: u16, frame: i32, number: u32) {
        self.text("{\"turnInfo\":[");
        self.number(phase).text(",").number(turn).text(",").number(frame);
        if !self.eyes.short {
            self.text(",").number(number);
        }
        self.text("]");
    }

    fn board<'a>(&mut self, stats: &[Stats; 2], lists: &'a [Lists; 2], before: &mut Before<'a>) {
        let order = if self.eyes.turned() { [1, 0] } else { [0, 1] };
        for (number, index) in order.into_iter().enumerate() {
            let Stats { hp, sp, mp, ms } = stats[index];
            self.text(if number == 0 { ",\"p1Stats\":[" } else { ",\"p2Stats\":[" });
            self.real(hp).text(",").real(sp).text(",").real(mp).text(",").number(ms).text("]");
        }
        for (number, index) in order.into_iter().enumerate() {
            self.text(if number == 0 { ",\"p1Units\":[" } else { ",\"p2Units\":[" });
            let old = before.lists.map(|lists| lists[index].all());
            let lists = lists[index].all();
            let shown = if self.eyes.short { 7 } else { 8 };
            for (place, list) in lists.into_iter().enumerate().take(shown) {
                self.comma(place);
                let start = self.out.len();
                let known = &mut before.places[index][place];
                if old.is_some_and(|old| old[place] == list) {
                    self.out.extend_from_within(known.clone());
                } else {
                    self.list(list, |line, unit| {
                        let at = line.eyes.tile(unit.at);
                        line.text("[").number(at.x()).text(",").number(at.y()).text(",").real(unit.health);
                        line.text(",\"").number(unit.id).text("\"]");
                    });
                }
                *known = start..self.out.len();
            }
            self.out.push(b']');
        }
        before.lists = Some(lists);
    }

    fn events(&mut self, events: &Events) {
        self.out.extend_from_slice(b",\"events\":{\"selfDestruct\":");
        self.list(&events.self_destruct, |line, event| {
            line.out.push(b'[');
            line.tile(event.at);
            line.out.push(b',');
            line.list(&event.tiles, |line, &tile| line.tile(tile));
            line.text(",").real(event.damage).who(event.unit);
        });
        self.out.extend_from_slice(b",\"breach\":");
        self.list(&events.breach, |line, event| {
            line.out.push(b'[');
            line.tile(event.at);
            line.text(",").real(event.damage).who(event.unit);
        });
        self.out.extend_from_slice(b",\"damage\":");
        let comma = if events.damage.is_empty() || events.struck.is_empty() { "" } else { "," };
        self.text("[").damages(&events.damage).text(comma).damages(&events.struck).text("]");
        self.out.extend_from_slice(b",\"shield\":");
        self.list(&events.shield, |line, event| {
            line.out.push(b'[');
            line.tile(event.from);
            line.out.push(b',');
            line.tile(event.to);
            line.text(",").real(event.amount).pair(event.giver, event.target);
        });
        self.out.extend_from_slice(b",\"move\":");
        self.list(&events.moves, |line, event| {
            line.out.push(b'[');
            line.tile(event.from);
            line.out.push(b',');
            line.tile(event.to);
            line.text(",[0,0]").who(event.unit);
        });
        self.out.extend_from_slice(b",\"spawn\":");
        self.list(&events.spawn, |line, event| {
            line.out.push(b'[');
            line.tile(event.at);
            line.text(",").number(spawned(event.what)).text(",\"").number(event.id).text("\",");
            line.number(line.eyes.player(event.owner)).text("]");
        });
        self.out.extend_from_slice(b",\"death\":");
        self.list(&events.death, |line, event| {
            line.out.push(b'[');
            line.tile(event.at);
            let unit = event.unit;
            line.text(",").number(unit.kind.index()).text(",\"").number(unit.id).text("\",");
            line.number(line.eyes.player(unit.owner)).text(if event.removed { ",true]" } else { ",false]" });
        });
        self.out.extend_from_slice(b",\"attack\":");
        self.list(&events.attack, |line, event| {
            line.out.push(b'[');
            line.tile(event.from);
            line.out.push(b',');
            line.tile(event.to);
            line.text(",").real(event.damage).pair(event.attacker, event.target);
        });
        self.out.extend_from_slice(b",\"melee\":");
        self.list(&events.melee, |line, event| {
            line.out.push(b'[');
            line.tile(event.from);
            line.out.push(b',');
            line.tile(event.to);
            line.text(",0.0").who(event.unit);
        });
        self.out.push(b'}');
    }

    fn statistics(&mut self, game: &Terminal, state: &State, names: &Names) {
        // The original knows no draws; for a draw here, its line says 0.
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
        self.text("[").number(tile.x()).text(",").number(tile.y()).text("]");
    }

    fn damages(&mut self, damages: &[Damage]) -> &mut Self {
        for (place, event) in damages.iter().enumerate() {
            self.comma(place);
            self.out.push(b'[');
            self.tile(event.at);
            self.text(",").real(event.amount).who(event.unit);
        }
        self
    }

    /// The end of an event's entry: its unit.
    fn who(&mut self, unit: Who) {
        self.text(",").number(unit.kind.index()).text(",\"").number(unit.id).text("\",");
        self.number(self.eyes.player(unit.owner)).text("]");
    }

    /// The end of an event's entry: its unit, and the unit it affects.
    fn pair(&mut self, unit: Who, target: u32) {
        self.text(",").number(unit.kind.index()).text(",\"").number(unit.id).text("\",\"");
        let owner = self.eyes.player(unit.owner);
        self.number(target).text("\",").number(owner).text("]");
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.out.extend_from_slice(text.as_bytes());
        self
    }

    fn number(&mut self, number: impl itoa::Integer) -> &mut Self {
        self.out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
        self
    }

    /// A number with a decimal point, in the shortest form that reads back the same. Nearly all have at most one
    /// decimal; for these there is a path several times as fast as the general one.
    fn real(&mut self, Real(number): Real) -> &mut Self {
        let tenths = (number * 10.0).round() as i32;
        // Small enough that a 32-bit float distinguishes tenths, so it is the only number with one decimal that
        // reads back as this one.
        if (1..100_000).contains(&tenths) && tenths as f32 / 10.0 == number {
            let last = (tenths % 10) as u8;
            self.number(tenths / 10).out.extend_from_slice(&[b'.', b'0' + last]);
        } else {
            let _ = write!(self.out, "{number:?}");
        }
        self
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

/// The number of its unit in a spawn event: the kinds, then removal and upgrade.
fn spawned(what: Spawned) -> usize {
    match what {
        Spawned::Unit(kind) => kind.index(),
        Spawned::Removal => 6,
        Spawned::Upgrade => 7,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_written_as_short_as_it_can_be_read_again() {
        let written = |number: f32| {
            let mut out = Vec::new();
            Line { eyes: Eyes { seat: Seat::new(0), short: false }, out: &mut out }.real(Real(number));
            String::from_utf8(out).expect("text")
        };
        let tenths = (-30_000..=1_100_000).map(|tenths| tenths as f32 / 10.0);
        let others = (0..200_000).map(|step| step as f32 * 0.013_7 - 9.0);
        let near = (1..5_000).map(|tenths| (tenths as f32 / 10.0).next_up());
        for number in tenths.chain(others).chain(near).chain([-0.0, f32::MIN_POSITIVE, f32::MAX, 1e16]) {
            assert_eq!(written(number), format!("{number:?}"));
        }
    }
}
