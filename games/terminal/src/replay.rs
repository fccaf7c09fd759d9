//! The original's replay files: reads them as matches, and writes ours.
//!
//! A replay is text: the configuration on the first line that is not blank, then every state line of
//! player 1 (TM-TALK-6).

use agon_game::{Absence, Answer, Answers, Facts, Import, RulesChoice, Seat, Seats, Setup, Sink, Unreadable};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::arena::Tile;
use crate::frame::{Death, Event, Frame};
use crate::line::{self, Eyes, Names};
use crate::orders::{Action, Commands, Order, Refusal};
use crate::rules::{Kind, RecordedChoices, Rules};
use crate::state::State;
use crate::work::Work;
use crate::{INFO, Terminal, config, turn};

/// A unit in a state line: column, row, health, id.
pub(crate) type Entry<'a> = (i32, i32, f32, &'a str);
/// Two tiles of an event.
type Pair = [i32; 2];
/// A self-destruction: tile, tiles hit, damage, kind, id, player.
pub(crate) type Blast<'a> = (Pair, Vec<Pair>, f32, i32, &'a str, u8);
/// A breach or damage: tile, number, kind, id, player.
pub(crate) type Hit<'a> = (Pair, f32, i32, &'a str, u8);
/// A shield or an attack: from, to, number, kind, id, target's id, player.
pub(crate) type Given<'a> = (Pair, Pair, f32, i32, &'a str, &'a str, u8);
/// A step: from, to, nothing, kind, id, player.
pub(crate) type Moved<'a> = (Pair, Pair, [f32; 2], i32, &'a str, u8);
/// A strike: from, to, damage, kind, id, player.
pub(crate) type Struck<'a> = (Pair, Pair, f32, i32, &'a str, u8);
/// A death: tile, kind, id, player, whether by its own player.
#[derive(Deserialize, Clone, Debug, PartialEq)]
pub(crate) struct Died<'a>(
    pub Pair,
    pub i32,
    #[serde(borrow)] pub &'a str,
    pub u8,
    /// The first records lack it.
    #[serde(default)]
    pub Option<bool>,
);

/// A state line as written.
#[derive(Deserialize, Debug)]
pub(crate) struct StateLine<'a> {
    #[serde(rename = "turnInfo")]
    pub turn_info: Vec<i64>,
    #[serde(rename = "p1Stats")]
    pub p1_stats: Vec<f64>,
    #[serde(rename = "p2Stats")]
    pub p2_stats: Vec<f64>,
    #[serde(rename = "p1Units", borrow)]
    pub p1_units: Vec<Vec<Entry<'a>>>,
    #[serde(rename = "p2Units", borrow)]
    pub p2_units: Vec<Vec<Entry<'a>>>,
    #[serde(borrow)]
    pub events: EventLists<'a>,
    #[serde(rename = "endStats")]
    pub end_stats: Option<EndStats>,
}

/// The events of a state line as written.
#[derive(Deserialize, Debug, PartialEq)]
pub(crate) struct EventLists<'a> {
    #[serde(rename = "selfDestruct", borrow)]
    pub self_destruct: Vec<Blast<'a>>,
    #[serde(borrow)]
    pub breach: Vec<Hit<'a>>,
    #[serde(borrow)]
    pub damage: Vec<Hit<'a>>,
    #[serde(borrow)]
    pub shield: Vec<Given<'a>>,
    #[serde(rename = "move", borrow)]
    pub moves: Vec<Moved<'a>>,
    #[serde(borrow)]
    pub spawn: Vec<(Pair, i32, &'a str, u8)>,
    #[serde(borrow)]
    pub death: Vec<Died<'a>>,
    #[serde(borrow)]
    pub attack: Vec<Given<'a>>,
    #[serde(default, borrow)]
    pub melee: Vec<Struck<'a>>,
}

/// The statistics of an end line.
#[derive(Deserialize, Debug)]
pub(crate) struct EndStats {
    pub winner: i64,
    pub turns: i64,
    pub frames: i64,
    pub player1: PlayerStats,
    pub player2: PlayerStats,
}

/// The statistics of a player.
#[derive(Deserialize, Debug, PartialEq)]
pub(crate) struct PlayerStats {
    #[serde(default)]
    pub name: String,
    pub crashed: bool,
    #[serde(default)]
    pub timeout_death: Option<bool>,
    #[serde(default)]
    pub time_damage_taken: Option<f64>,
    pub total_computation_time: f64,
    pub stationary_resource_spent: f32,
    pub dynamic_resource_spent: f32,
    pub dynamic_resource_spoiled: f32,
    pub dynamic_resource_destroyed: f32,
    pub points_scored: f32,
    pub stationary_resource_left_on_board: f32,
}

/// A recorded match: how to set it up, and what both players did.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The configuration, as a setup.
    pub setup: Setup,
    /// For each turn the answers of both players.
    pub turns: Vec<Turn>,
    /// The names of the players; empty if the replay has no end line.
    pub names: [String; 2],
    /// Whether there is an end line.
    pub whole: bool,
    /// For each player the milliseconds in which its bot crashed after the last turn, if it did.
    pub afterwards: [Option<u32>; 2],
}

/// What both players did in a turn.
#[derive(Clone, Debug)]
pub struct Turn {
    /// Their answers, for [`agon_game::Game::play`].
    pub answers: [(Seat, Answer<Commands>); 2],
    /// The seats whose bot was stopped for time in this turn, according to the record.
    pub stopped: Seats,
}

/// The name of a player without a bot.
const BY_HAND: &str = "ByHand";

/// Size limit of a line, in bytes; a longer one is refused.
const LONGEST_LINE: usize = 16 << 20;

/// The configuration line and the state lines of a replay. A last line that was cut off is left out.
pub(crate) fn lines(record: &[u8]) -> Result<(&str, Vec<&str>), Unreadable> {
    let text = match std::str::from_utf8(record) {
        Ok(text) => text,
        // The cut may be inside a character.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&record[..error.valid_up_to()]).expect("it is valid up to there")
        }
        Err(_) => return Err(Unreadable::Foreign),
    };
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let config = lines.next().filter(|line| line.starts_with('{') && line.contains("\"unitInformation\""));
    let config = config.ok_or(Unreadable::Foreign)?;
    let mut lines: Vec<&str> = lines.collect();
    lines.pop_if(|last| {
        serde_json::from_str::<serde::de::IgnoredAny>(last).is_err_and(|error| error.is_eof())
    });
    Ok((config, lines))
}

/// Reads a state line.
pub(crate) fn read(number: usize, line: &str) -> Result<StateLine<'_>, Unreadable> {
    let damaged = |why: String| Unreadable::Damaged(format!("state line {number}: {why}"));
    if line.len() > LONGEST_LINE {
        return Err(damaged("longer than 16 MiB".to_owned()));
    }
    let read: StateLine<'_> = serde_json::from_str(line).map_err(|error| damaged(error.to_string()))?;
    let fits = read.turn_info.len() >= 3 && read.p1_stats.len() == 4 && read.p2_stats.len() == 4;
    if fits {
        Ok(read)
    } else {
        Err(damaged("not the numbers that `turnInfo` and the stats have".to_owned()))
    }
}

/// Reads a replay file as a match of ours.
///
/// # Errors
/// When the bytes are something else, or the replay cannot be read.
pub fn import(record: &[u8]) -> Result<Import<Commands>, Unreadable> {
    let mut recorded = recorded(record)?;
    let mut notes = Vec::new();
    let rules =
        config::load(&recorded.setup.rules).map_err(|error| Unreadable::Damaged(error.to_string()))?;
    if let Some((name, _)) = &mut recorded.setup.rules.file {
        *name = preset_of(&rules.rules).unwrap_or("of the record").to_owned();
    }
    let picks = &rules.rules.picks;
    if !picks.first.is_empty() || !picks.steps.is_empty() {
        let (first, steps) = (picks.first.len(), picks.steps.len());
        notes.push(format!(
            "among equals the original chose otherwise: {first} units were hit first and {steps} steps made, as the \
             rules of this replay say under `agon.picks` (TM-SEASON-7)"
        ));
    }
    let limit = rules.rules.timing.wait_time_bot_max;
    let mut steps = Vec::new();
    for (number, mut turn) in recorded.turns.into_iter().enumerate() {
        for seat in turn.stopped.iter() {
            let answer = &mut turn.answers[seat.index()].1;
            if answer.think_ms() != limit {
                notes.push(format!(
                    "turn {number}: player {seat} was stopped after {} ms; here that counts as the limit, {limit} ms",
                    answer.think_ms()
                ));
            }
            *answer = Answer::Missing(Absence::TimedOut);
        }
        steps.push(turn.answers.into());
    }
    let names = if recorded.whole { recorded.names.into() } else { Vec::new() };
    Ok(Import { setup: recorded.setup, steps, names, whole: recorded.whole, notes })
}

/// The preset with the same numbers.
fn preset_of(rules: &Rules) -> Option<&'static str> {
    let same = |preset: &&agon_game::Preset| {
        let choice = RulesChoice { preset: preset.name.to_owned(), ..RulesChoice::default() };
        config::load(&choice).is_ok_and(|config| config.rules == *rules)
    };
    INFO.presets.iter().find(same).map(|preset| preset.name)
}

/// Reads what a replay file records.
///
/// # Errors
/// When the bytes are something else, or the replay cannot be read.
pub fn recorded(record: &[u8]) -> Result<Recorded, Unreadable> {
    let (config, lines) = lines(record)?;
    let rules =
        RulesChoice { file: Some(("replay".to_owned(), config.to_owned())), ..RulesChoice::default() };
    let setup = Setup { rules, seats: 2, ..Setup::default() };
    let mut recorded =
        Recorded { setup, turns: Vec::new(), names: Default::default(), whole: false, afterwards: [None; 2] };
    let mut shown = RecordedChoices::default();
    for (number, line) in lines.into_iter().enumerate() {
        let line = read(number, line)?;
        note_picks(&line, &mut shown);
        let turn = recorded.turns.len() as i64;
        if line.turn_info[..3] == [1, turn, 0] {
            recorded.turns.push(commands(&line, number)?);
        }
        if let (2, Some(stats)) = (line.turn_info[0], &line.end_stats) {
            recorded.whole = true;
            recorded.names = [stats.player1.name.clone(), stats.player2.name.clone()];
            by_hand(&mut recorded);
            crashes(&mut recorded, &line, stats);
        }
    }
    take_picks(&mut recorded, shown);
    Ok(recorded)
}

/// Adds the attacks and steps of a line to what the record shows.
fn note_picks(line: &StateLine<'_>, shown: &mut RecordedChoices) {
    let [1, turn, frame] = line.turn_info[..3] else { return };
    let (Ok(turn), Ok(frame)) = (turn.try_into(), frame.try_into()) else { return };
    for (_, _, _, _, unit, target, _) in &line.events.attack {
        if let (Ok(unit), Ok(target)) = (unit.parse(), target.parse()) {
            shown.targets.insert((turn, frame, unit), target);
        }
    }
    for (_, [x, y], _, _, unit, _) in &line.events.moves {
        if let (Ok(unit), Some(tile)) = (unit.parse(), Tile::at(*x, *y)) {
            shown.steps.insert((turn, frame, unit), tile);
        }
    }
}

/// TM-SEASON-7: plays the match, and writes into its rules where the original chose otherwise among equals. Only of
/// the first seasons: later ones left nothing to choose.
fn take_picks(recorded: &mut Recorded, shown: RecordedChoices) {
    use agon_game::Game as _;
    let Ok(game) = Terminal::set_up(&recorded.setup) else { return };
    if !game.rules().early.is_early {
        return;
    }
    let (mut state, mut work) = (game.start(), Work { shown: Some(shown), ..Work::default() });
    for turn in &recorded.turns {
        if state.ending.is_none() {
            turn::play(&game, &mut state, &mut work, &turn.answers, &mut agon_game::Ignored);
        }
    }
    let otherwise = work.shown.map(|shown| shown.otherwise).unwrap_or_default();
    let mut first: Vec<_> = work.picks.first.into_iter().collect();
    first.retain(|((turn, _), _)| otherwise.contains(turn));
    first.sort_unstable_by_key(|&(_, place)| place);
    let first = first.iter().map(|((turn, unit), _)| json!([turn, unit]));
    let steps = work.picks.steps.iter();
    let steps = steps.map(|((turn, frame, unit), tile)| json!([turn, frame, unit, tile.x(), tile.y()]));
    let picks: Vec<Value> = first.chain(steps).collect();
    if !picks.is_empty() {
        amend(recorded, "picks", picks.into());
    }
}

/// Writes one of our own keys into the rules of a recorded match.
fn amend(recorded: &mut Recorded, key: &str, value: Value) {
    let Some((_, text)) = recorded.setup.rules.file.as_mut() else { return };
    let Ok(mut config) = serde_json::from_str::<Map<String, Value>>(text) else { return };
    if let Value::Object(own) = config.entry("agon").or_insert_with(|| json!({})) {
        own.insert(key.to_owned(), value);
        *text = Value::Object(config).to_string();
    }
}

/// TM-SEASON-5: who played by hand shows only in the name, and is written into the rules of the match.
fn by_hand(recorded: &mut Recorded) {
    let seats: Vec<u8> = (1..=2).filter(|seat| recorded.names[usize::from(seat - 1)] == BY_HAND).collect();
    if !seats.is_empty() {
        amend(recorded, "byHand", seats.into());
    }
}

/// What both players did, from the spawn events of the first frame.
fn commands(line: &StateLine<'_>, number: usize) -> Result<Turn, Unreadable> {
    let mut lists = [Commands::default(), Commands::default()];
    let mut now = Stage::FIRST;
    for &([x, y], what, _, player) in &line.events.spawn {
        let bad = || Unreadable::Damaged(format!("state line {number}: a spawn event that cannot be"));
        let (tile, seat) = (Tile::at(x, y).ok_or_else(bad)?, player.wrapping_sub(1));
        let own = lists.get_mut(usize::from(seat)).ok_or_else(bad)?;
        let action = match what {
            0..=5 => Action::Place(Kind::ALL[what as usize]),
            6 => Action::Remove,
            7 => Action::Upgrade,
            _ => return Err(bad()),
        };
        let mobile = matches!(action, Action::Place(kind) if kind.is_mobile());
        now = now.next(Seat::new(seat), mobile).ok_or_else(bad)?;
        let list = if now.second { &mut own.deploy } else { &mut own.build };
        list.push(Order::new(action, tile));
    }
    let [one, two] = lists;
    let given =
        |seat, order, ms: f64| (Seat::new(seat), Answer::Given { order, think_ms: ms.max(0.0) as u32 });
    let answers = [given(0, one, line.p1_stats[3]), given(1, two, line.p2_stats[3])];
    Ok(Turn { answers, stopped: Seats::NONE })
}

/// The lines of answers, in the order they are carried out (TM-TURN-1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Stage {
    /// A second line.
    second: bool,
    /// Whose line.
    seat: Seat,
}

impl Stage {
    const FIRST: Self = Self { second: false, seat: Seat::new(0) };

    /// The line the next order was in: a mobile unit was in a second line, anything else in the first line not yet
    /// passed. `None` when no order can come here.
    fn next(self, seat: Seat, mobile: bool) -> Option<Self> {
        let lines = [Self { second: false, seat }, Self { second: true, seat }];
        lines.into_iter().find(|line| *line >= self && (line.second || !mobile))
    }
}

/// TM-TALK-6: a crash shows only in the end line; it happened in the last turn. So did a stop for time, unless the
/// bot took less than the limit there: then it was stopped earlier, and the last turn is its crash (TM-CLOCK-4).
fn crashes(recorded: &mut Recorded, line: &StateLine<'_>, stats: &EndStats) {
    let Some(last) = recorded.turns.len().checked_sub(1) else { return };
    // After the very last turn, the end line has the number of the turn that would have followed.
    let after = line.turn_info[1] - last as i64;
    if !(0..=1).contains(&after) {
        return;
    }
    for (index, player) in [&stats.player1, &stats.player2].into_iter().enumerate() {
        if player.timeout_death == Some(true) {
            let limit = config::load(&recorded.setup.rules)
                .map_or(u32::MAX, |config| config.rules.timing.wait_time_bot_max);
            let reached = recorded.turns.iter().rposition(|turn| turn.answers[index].1.think_ms() >= limit);
            recorded.turns[reached.unwrap_or(last)].stopped.insert(Seat::new(index as u8));
        } else if player.crashed && after == 1 {
            let told: f64 =
                recorded.turns.iter().map(|turn| f64::from(turn.answers[index].1.think_ms())).sum();
            recorded.afterwards[index] = Some((player.total_computation_time - told).clamp(0.0, 1e6) as u32);
        } else if player.crashed && after == 0 {
            let answer = &mut recorded.turns[last].answers[index].1;
            let think_ms = answer.think_ms();
            *answer = Answer::Malformed { why: "the record says that the bot crashed".to_owned(), think_ms };
        }
    }
}

/// Plays a recorded turn and collects its events.
pub(crate) fn play(game: &Terminal, state: &mut State, work: &mut Work, recorded: &Turn) -> Told {
    let mut told = Told::default();
    turn::play(game, state, work, &recorded.answers, &mut told);
    for seat in recorded.stopped.iter() {
        let player = &mut state.players[seat.index()];
        (player.crashed, player.timed_out) = (true, true);
    }
    told
}

/// The events of a turn.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub frames: Vec<std::sync::Arc<Frame>>,
    pub removed: Vec<Death>,
    pub refused: Vec<(Seat, usize, Refusal)>,
}

impl Sink<Terminal> for Told {
    fn event(&mut self, event: Event) {
        match event {
            Event::Frame(frame) => self.frames.push(frame),
            Event::Restored(removed) => self.removed = removed,
            Event::Over(_) => {}
        }
    }

    fn reject(&mut self, seat: Seat, index: usize, refusal: Refusal) {
        self.refused.push((seat, index, refusal));
    }
}

/// Writes a match as a replay file: the configuration, then all state lines as player 1 sees them. `answers` holds
/// both answers of each turn; anything after the end of the match is left out.
pub fn export(game: &Terminal, answers: &[Answers<Commands>], facts: &Facts, out: &mut Vec<u8>) {
    use agon_game::Game as _;
    let eyes = Eyes::of(game.rules(), Seat::new(0));
    out.extend_from_slice(game.config_line().as_bytes());
    out.push(b'\n');
    let (mut state, mut work, mut removed) = (game.start(), Work::default(), Vec::new());
    let mut last = None;
    for answers in answers {
        if state.ending.is_some() {
            break;
        }
        line::deploy(&state, &removed, eyes, out);
        out.push(b'\n');
        let mut told = Told::default();
        turn::play(game, &mut state, &mut work, answers, &mut told);
        line::actions(told.frames.iter().map(AsRef::as_ref), eyes, out);
        removed = told.removed;
        last = told.frames.pop();
    }
    if state.ending.is_some() {
        line::end(game, &state, last.as_deref(), &Names::of(facts), eyes, out);
        out.push(b'\n');
    }
}
