//! Recordings of the original's viewer: the frames of a match, from which its commands are found again.
//!
//! A recording is a list of frames: one after each team's turn, which names the team, and one at the end of each tick.
//! Frames show what came of the commands, not the commands. Those of each turn are guessed from what changed and played
//! on our engine until the frame comes out; what was refused left no trace but a text, and stays out.

use agon_game::conform::ConformReport;
use agon_game::{
    Absence, Answer, Answers, Chance, Game as _, Ignored, Import, MapChoice, RulesChoice, Seat, Setup,
    Unreadable,
};
use serde_json::Value;

use crate::JungleBlitz;
use crate::arena::Cell;
use crate::conform::{cell, compare_state, list, recorded_map, text};
use crate::map::{Map, Tile};
use crate::orders::{Action, Command, Entry};
use crate::rules::MAX_TEAMS;
use crate::search::Search;
use crate::state::{State, UnitIndex};
use crate::turn::{self, Turn};

/// How many actions may be tried to find the order of one turn; past it, the order of the units is taken.
const TRIES: u32 = 4_096;

/// Whether bytes begin like a recording.
pub fn looks_like_one(record: &[u8]) -> bool {
    let start = &record[..record.len().min(1 << 16)];
    let holds = |text: &str| start.windows(text.len()).any(|window| window == text.as_bytes());
    start.trim_ascii_start().starts_with(b"[") && holds("\"viewerTiles\"") && holds("\"teams\"")
}

/// Reads a recording as a match of ours.
///
/// # Errors
/// When the bytes are something else, or the recording cannot be read.
pub fn import(record: &[u8]) -> Result<Import<Command>, Unreadable> {
    if !looks_like_one(record) {
        return Err(Unreadable::Foreign);
    }
    let found = read(record, &mut ConformReport::default()).map_err(Unreadable::Damaged)?;
    let mut notes = Vec::new();
    if found.refused > 0 {
        notes.push(format!(
            "{} actions were refused by the original; a recording does not hold them, so they are left out",
            found.refused
        ));
    }
    if found.unexplained > 0 {
        notes.push(format!(
            "{} turns of a team do not follow from any actions that were tried",
            found.unexplained
        ));
    }
    Ok(Import { setup: found.setup, steps: found.steps, names: found.names, whole: found.whole, notes })
}

/// Compares a recording with the engine.
///
/// # Errors
/// When it cannot be read.
pub fn conform(record: &[u8], report: &mut ConformReport) -> Result<(), String> {
    read(record, report).map(|_| ())
}

/// Compares a frame with a state.
fn compare(
    game: &JungleBlitz,
    state: &State,
    frame: &Value,
    report: &mut ConformReport,
    place: &impl Fn(&str) -> String,
) -> Result<(), String> {
    compare_state(game, state, &frame["map"]["diamonds"], &frame["teams"], false, report, place)
}

/// What a recording holds.
struct Recording {
    setup: Setup,
    steps: Vec<Answers<Command>>,
    names: Vec<String>,
    /// Whether it goes to the last tick.
    whole: bool,
    /// How many actions the original refused.
    refused: usize,
    /// How many turns could not be found again.
    unexplained: usize,
}

/// One tick: the turns of the teams with their frames, and the frame at its end.
struct Tick<'a> {
    turns: Vec<(usize, &'a Value)>,
    end: &'a Value,
}

fn read(record: &[u8], report: &mut ConformReport) -> Result<Recording, String> {
    let frames: Vec<Value> = serde_json::from_slice(record).map_err(|error| error.to_string())?;
    let first = frames.first().ok_or("no frame")?;
    let teams = list(&first["teams"], "teams")?;
    let ids = teams.iter().map(|team| text(&team["id"], "team id")).collect::<Result<Vec<_>, _>>()?;
    let ticks = ticks(&frames, &ids)?;
    let setup = setup(first, &ids, &ticks)?;
    let game = JungleBlitz::prepare(&setup)
        .and_then(|prepared| JungleBlitz::begin(&prepared, setup.seed))
        .map_err(|error| error.to_string())?;

    let (mut state, mut search) = (game.start(), Search::default());
    let (mut steps, mut refused, mut unexplained) = (Vec::new(), 0, 0);
    for tick in &ticks {
        let deciding = game.deciding(&state);
        if deciding.is_empty() {
            return Err("frames after the last tick".to_owned());
        }
        turn::forget_marks(&game, &mut state);
        let told = list(&tick.end["teams"], "teams")?;
        let mut answers: Vec<(Seat, Answer<Command>)> = deciding
            .iter()
            .map(|seat| {
                let gone = told.get(seat.index()).is_some_and(|team| team["isDead"] == true);
                state.dead |= u8::from(gone) << seat.index();
                (seat, Answer::Missing(if gone { Absence::Gone } else { Absence::TimedOut }))
            })
            .collect();
        for &(team, frame) in &tick.turns {
            let (command, explained) =
                Finder { game: &game, search: &mut search, frame, team, tries: TRIES }.find(&mut state)?;
            unexplained += usize::from(!explained);
            refused += frame["teams"][team]["errors"].as_array().map_or(0, Vec::len);
            compare(&game, &state, frame, report, &|what| {
                format!("tick {}, turn of team {}, {what}", frame["tick"], team + 1)
            })?;
            let given = answers.iter_mut().find(|(seat, _)| seat.index() == team);
            given.ok_or("a turn of a team that is gone")?.1 = Answer::Given { order: command, think_ms: 0 };
        }
        turn::grow_held_diamonds(&game, &mut state);
        state.tick += 1;
        compare(&game, &state, tick.end, report, &|what| {
            format!("end of tick {}, {what}", tick.end["tick"])
        })?;
        steps.push(answers.into_iter().collect());
    }
    let names = teams.iter().map(|team| team["name"].as_str().unwrap_or_default().to_owned()).collect();
    let whole = state.tick == game.rules.total_tick;
    Ok(Recording { setup, steps, names, whole, refused, unexplained })
}

/// The frames by tick. Frames after the last end of a tick are left out: the recording was cut there.
fn ticks<'a>(frames: &'a [Value], ids: &[String]) -> Result<Vec<Tick<'a>>, String> {
    let (mut ticks, mut turns) = (Vec::new(), Vec::new());
    for frame in frames {
        let number = frame["tick"].as_u64().ok_or("a frame without its tick")?;
        if number != ticks.len() as u64 {
            return Err(format!("a frame of tick {number} where tick {} belongs", ticks.len()));
        }
        match frame["playingTeamId"].as_str() {
            Some(id) => {
                let team = ids.iter().position(|own| own == id).ok_or("a turn of an unknown team")?;
                if turns.iter().any(|(other, _)| *other == team) {
                    return Err(format!("tick {number}: a team plays twice"));
                }
                turns.push((team, frame));
            }
            None => ticks.push(Tick { turns: std::mem::take(&mut turns), end: frame }),
        }
    }
    if ticks.is_empty() { Err("no whole tick".to_owned()) } else { Ok(ticks) }
}

/// How to set the match up: its numbers, map and play orders.
fn setup(first: &Value, ids: &[String], ticks: &[Tick<'_>]) -> Result<Setup, String> {
    let seats = u8::try_from(ids.len()).ok().filter(|&seats| usize::from(seats) <= MAX_TEAMS);
    let seats = seats.ok_or("too many teams")?;
    let units = list(&first["teams"][0]["units"], "units")?.len();
    let number = |value: &Value, what: &str| value.as_u64().ok_or_else(|| format!("no {what}"));
    let total = number(&first["totalTick"], "totalTick")?;
    let orders = play_orders(ids.len(), ticks)?;
    let mut rules = format!("totalTick = {total}\nunitsPerTeam = {units}\nplayOrders = {orders:?}\n");
    for key in ["pointsPerDiamond", "initialDiamondSummonLevel", "maximumDiamondSummonLevel"] {
        rules += &format!("{key} = {}\n", number(&first["gameConfig"][key], key)?);
    }
    let map = map(&first["map"])?.text().into_bytes();
    Ok(Setup {
        rules: RulesChoice { file: Some(("of the record".to_owned(), rules)), ..RulesChoice::default() },
        map: MapChoice::File("recorded".to_owned(), map),
        seats,
        ..Setup::default()
    })
}

/// The map of a recording, from the numbers of its tiles.
fn map(recorded: &Value) -> Result<Map, String> {
    recorded_map(&recorded["viewerTiles"], &recorded["diamonds"], |tile| match tile.as_u64() {
        Some(0 | 2) => Some(Tile::Floor),
        Some(1) => Some(Tile::Spawn),
        Some(3) => Some(Tile::Water),
        Some(4) => Some(Tile::Stone),
        Some(5) => Some(Tile::Trap),
        _ => None,
    })
}

/// The order of each block of ticks (JB-ORDER-1, JB-ORDER-2): the one that fits all turns seen in the block. A team
/// that was late is missing in a tick.
fn play_orders(teams: usize, ticks: &[Tick<'_>]) -> Result<Vec<Vec<u8>>, String> {
    let mut orders = vec![vec![]];
    for team in 0..teams {
        let with = |order: &Vec<usize>, at| [&order[..at], &[team], &order[at..]].concat();
        orders = orders.iter().flat_map(|order| (0..=order.len()).map(move |at| with(order, at))).collect();
    }
    let fits = |order: &Vec<usize>, block: &[Tick<'_>]| {
        block.iter().enumerate().all(|(number, tick)| {
            let mut order = order.clone();
            order.rotate_left(number % teams);
            order.retain(|team| tick.turns.iter().any(|(own, _)| own == team));
            order.iter().eq(tick.turns.iter().map(|(team, _)| team))
        })
    };
    let blocks = ticks.chunks(teams * teams).enumerate();
    blocks
        .map(|(number, block)| {
            let order = orders.iter().find(|order| fits(order, block));
            let order =
                order.ok_or_else(|| format!("block {number} of ticks: no play order fits its turns"))?;
            Ok(order.iter().map(|&team| team as u8 + 1).collect())
        })
        .collect()
}

/// What a unit seems to have done in a turn. Targets that move are looked up when it is played.
#[derive(Clone, Copy)]
enum Deed {
    Plain(Action),
    Attack(UnitIndex),
    Vine(UnitIndex),
    /// Hands the held diamond to this unit.
    Give(UnitIndex),
}

/// Finds the command of one team's turn.
struct Finder<'a> {
    game: &'a JungleBlitz,
    search: &'a mut Search,
    frame: &'a Value,
    team: usize,
    /// Actions that may still be tried.
    tries: u32,
}

impl Finder<'_> {
    /// Plays the turn on `state`; returns its command, and whether the frame came out.
    fn find(mut self, state: &mut State) -> Result<(Command, bool), String> {
        let deeds = self.deeds(state)?;
        if let Some(entries) = self.arrange(state, &deeds, &mut Vec::new())? {
            self.take(state, &entries);
            return Ok((Command { entries }, true));
        }
        let entries: Vec<Entry> = deeds.iter().map(|&(unit, deed)| self.entry(state, unit, deed)).collect();
        self.take(state, &entries);
        Ok((Command { entries }, false))
    }

    /// The deeds of the team's units, in the order of the units.
    fn deeds(&self, state: &State) -> Result<Vec<(UnitIndex, Deed)>, String> {
        let told = &self.frame["teams"][self.team];
        let events = list(&told["events"], "events")?;
        let mut deeds = Vec::new();
        for recorded in list(&told["units"], "units")? {
            let unit = self.unit(&recorded["id"])?;
            let event = events.iter().find(|event| event["unitId"] == recorded["id"]);
            let deed = match event.and_then(|event| Some((event, event["action"].as_str()?))) {
                Some((event, "ATTACK")) => {
                    Some(Deed::Attack(self.unit(&event["attackEvent"]["targetUnitId"])?))
                }
                Some((event, "VINE")) => Some(Deed::Vine(self.unit(&event["vineEvent"]["vineUnitId"])?)),
                Some((event, "DROP")) => {
                    Some(Deed::Plain(Action::Drop(cell(self.game, &event["dropEvent"]["dropPosition"]))))
                }
                Some((_, "SUMMON")) => Some(Deed::Plain(Action::Summon)),
                _ => self.quiet_deed(state, unit, recorded)?,
            };
            deeds.extend(deed.map(|deed| (unit, deed)));
        }
        Ok(deeds)
    }

    /// What a unit did that made no event: it spawned, walked, handed its diamond over, stood still or did nothing.
    fn quiet_deed(&self, state: &State, unit: UnitIndex, recorded: &Value) -> Result<Option<Deed>, String> {
        let (before, now) = (state.unit(unit), cell(self.game, &recorded["position"]));
        if !before.alive() {
            return Ok((now != Cell::NOWHERE).then_some(Deed::Plain(Action::Spawn(now))));
        }
        let path = list(&recorded["path"], "path")?;
        let end = path.last().map(|last| cell(self.game, last));
        if let Some(diamond) = before.diamond().filter(|_| recorded["hasDiamond"] == false) {
            let holder = &self.frame["map"]["diamonds"][usize::from(diamond)]["ownerId"];
            if let Ok(other) = self.unit(holder) {
                return Ok(Some(Deed::Give(other)));
            }
        }
        let had: Vec<Cell> = state.path(&self.game.arena, unit).collect();
        let has: Vec<Cell> = path.iter().map(|at| cell(self.game, at)).collect();
        let picked_up = before.diamond().is_none() && recorded["hasDiamond"] == true;
        Ok(if now != before.cell && now != Cell::NOWHERE {
            Some(Deed::Plain(Action::Move(end.unwrap_or(now))))
        } else if let Some(end) = end.filter(|_| had != has) {
            Some(Deed::Plain(Action::Move(end)))
        } else if picked_up || (!had.is_empty() && has.is_empty()) {
            Some(Deed::Plain(Action::None))
        } else {
            None
        })
    }

    /// The order of deeds that leads to the frame, as entries. Depth first; a deed that is refused ends its branch.
    fn arrange(
        &mut self,
        state: &State,
        left: &[(UnitIndex, Deed)],
        done: &mut Vec<Entry>,
    ) -> Result<Option<Vec<Entry>>, String> {
        // What follows the entries of a turn comes last. A unit that another vined away did not walk there itself, so what is
        // left may be nothing.
        let mut last = *state;
        self.take(&mut last, &[]);
        if self.is_frame(&last)? {
            return Ok(Some(done.clone()));
        }
        for (at, &(unit, deed)) in left.iter().enumerate() {
            if self.tries == 0 {
                return Ok(None);
            }
            self.tries -= 1;
            let (mut next, entry) = (*state, self.entry(state, unit, deed));
            let Entry::Unit { action, .. } = entry else { continue };
            let mut chance = Nothing;
            let mut turn = Turn {
                game: self.game,
                state: &mut next,
                search: self.search,
                chance: &mut chance,
                out: &mut Ignored,
            };
            if turn.entry(unit, action, &mut 0).is_err() {
                continue;
            }
            let mut rest = left.to_vec();
            rest.remove(at);
            done.push(entry);
            if let Some(found) = self.arrange(&next, &rest, done)? {
                return Ok(Some(found));
            }
            done.pop();
        }
        Ok(None)
    }

    /// A deed as an entry, with the places as they are now.
    fn entry(&self, state: &State, unit: UnitIndex, deed: Deed) -> Entry {
        let action = match deed {
            Deed::Plain(action) => action,
            Deed::Attack(victim) => Action::Attack(state.unit(victim).cell),
            Deed::Vine(victim) => Action::Vine(state.unit(victim).cell),
            Deed::Give(other) => Action::Drop(state.unit(other).cell),
        };
        Entry::Unit { unit: unit - self.game.first_unit(self.team), action }
    }

    /// Plays the team's turn.
    fn take(&mut self, state: &mut State, entries: &[Entry]) {
        let mut chance = Nothing;
        let mut turn =
            Turn { game: self.game, state, search: self.search, chance: &mut chance, out: &mut Ignored };
        turn.take(self.team, &Command { entries: entries.to_vec() });
    }

    /// Whether the frame shows this state.
    fn is_frame(&self, state: &State) -> Result<bool, String> {
        let mut report = ConformReport::default();
        compare(self.game, state, self.frame, &mut report, &|_| String::new())?;
        Ok(report.differ() == 0)
    }

    /// The unit with a recorded id.
    fn unit(&self, id: &Value) -> Result<UnitIndex, String> {
        let index = id.as_str().and_then(|id| id.parse::<u8>().ok());
        let known = index.filter(|index| (1..=self.game.unit_count()).contains(index));
        known.map(|index| index - 1).ok_or_else(|| format!("unit id {id}"))
    }
}

/// No random choice is left: every spawn names the tile it ended on.
struct Nothing;

impl Chance for Nothing {
    fn below(&mut self, _: u32) -> u32 {
        0
    }
}

#[cfg(test)]
mod tests;
