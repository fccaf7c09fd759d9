//! Comparing recorded games of the originals with this engine.
//!
//! A record is lines of JSON: `init`, one `half` for each half-turn, `end`. Every fact of it is
//! compared: units and timers before and after, fog, verdicts and their error texts, winners, and
//! the state messages byte for byte.

use agon_game::conform::{ConformReport, Recognised};
use agon_game::{Dialect as _, Game, Heard, Ignored, Recipe, Seat, Sink};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::dialect::Dialect;
use crate::event::Event;
use crate::info::INFO;
use crate::map::Map;
use crate::orders::{Moves, Reason, Verb};
use crate::outcome::Ending;
use crate::rules::{Message, Rules, Validation};
use crate::state::{At, Direction, Kind, Lock, Player, State, Unit, UnitId};
use crate::{DeerhuntOf, LARGE, SMALL};

/// The first line of a record.
#[derive(Deserialize)]
struct Init {
    t: String,
    engine: String,
    max_turns: u16,
    map: Option<String>,
    map_file_lines: Option<Vec<String>>,
    grid: Vec<String>,
    hubs: Option<Value>,
    p1: Value,
    p2: Value,
}

/// A half-turn of a record.
#[derive(Deserialize)]
struct Half {
    round: u16,
    player: String,
    turns_left: u16,
    my_resources: Option<u32>,
    pre: Position,
    visible_enemy_ids: Vec<UnitId>,
    their_resources: Option<u32>,
    moves: Value,
    verdicts: Vec<bool>,
    applied: Option<bool>,
    errors: Option<Vec<String>>,
    #[serde(flatten)]
    after: Position,
    raw_state_message: Option<String>,
    raw_reply: Option<String>,
}

/// What each player owns and where the units stand.
#[derive(Deserialize)]
struct Position {
    res: Value,
    p1: Value,
    p2: Value,
    stock: Option<Vec<u16>>,
}

/// The last line of a record.
#[derive(Deserialize)]
struct End {
    winner: Option<String>,
    reason: Option<String>,
    rounds: Option<u16>,
    res: Option<Value>,
}

/// Compares a record.
pub fn conform(record: &[u8], report: &mut ConformReport) -> Recognised {
    let lines: Vec<&[u8]> = record.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect();
    let Some((first, rest)) = lines.split_first() else { return Recognised::Foreign };
    let Ok(init) = serde_json::from_slice::<Init>(first) else { return Recognised::Foreign };
    let preset = match init.engine.as_str() {
        _ if init.t != "init" => return Recognised::Foreign,
        "neo2019p" => "neo2019",
        "bc2021" => "bc2021",
        "MODEL-seed" => "document",
        _ => return Recognised::Foreign,
    };
    let compared = match preset {
        "document" => Comparison::<SMALL>::new(preset, init, report).and_then(|it| it.run(rest)),
        _ => Comparison::<LARGE>::new(preset, init, report).and_then(|it| it.run(rest)),
    };
    match compared {
        Ok(()) => Recognised::Record,
        Err(why) => Recognised::Damaged(why),
    }
}

/// A record being compared with the engine.
struct Comparison<'a, const BLOCKS: usize> {
    game: DeerhuntOf<BLOCKS>,
    state: State<BLOCKS>,
    dialect: Dialect,
    report: &'a mut ConformReport,
}

impl<'a, const BLOCKS: usize> Comparison<'a, BLOCKS> {
    fn new(preset: &str, init: Init, report: &'a mut ConformReport) -> Result<Self, String> {
        let choice = agon_game::RulesChoice { preset: preset.to_owned(), ..Default::default() };
        let mut rules =
            agon_game::rules::load::<Rules>(&INFO, &choice).map_err(|error| error.to_string())?.rules;
        rules.max_rounds = init.max_turns;
        if rules.message == Message::Document {
            rules.validation = Validation::Strict;
        }
        rules.check("record", State::<BLOCKS>::CAPACITY).map_err(|error| error.to_string())?;
        let map = match &init.map_file_lines {
            Some(lines) => Map::parse("record", &lines.join("\n")).map_err(|error| error.to_string())?,
            None => whole_map(&init)?,
        };
        let recipe = Recipe {
            rules_name: preset.to_owned(),
            rules: String::new(),
            map_name: init.map.clone().unwrap_or_default(),
            map: String::new(),
            seats: 2,
            seed: 0,
        };
        let game = DeerhuntOf::assemble(rules, map, recipe).map_err(|error| error.to_string())?;
        let (state, dialect) = (game.start(), Dialect::new(&game));
        let mut it = Self { game, state, dialect, report };
        it.compare("maps", &init.grid, &it.ground(), "start");
        it.compare("start units", &init.p1, &it.rows(&state, Player::One), "player 1");
        it.compare("start units", &init.p2, &it.rows(&state, Player::Two), "player 2");
        if let Some(hubs) = &init.hubs {
            it.compare("hubs", hubs, &it.hub_tiles(), "start");
        }
        Ok(it)
    }

    fn run(mut self, lines: &[&[u8]]) -> Result<(), String> {
        let Some((last, halves)) = lines.split_last() else {
            return Err("ends after its first line".to_owned());
        };
        for (index, line) in halves.iter().enumerate() {
            let half =
                serde_json::from_slice(line).map_err(|error| format!("line {}: {error}", index + 2))?;
            self.half(&half)?;
        }
        let end: End = serde_json::from_slice(last).map_err(|error| format!("last line: {error}"))?;
        self.end(&end);
        Ok(())
    }

    fn half(&mut self, half: &Half) -> Result<(), String> {
        let place = format!("round {}, {}", half.round, half.player);
        let mover = if half.player == "p1" { Player::One } else { Player::Two };
        let now = (self.state.round(), self.state.mover(), self.game.ending(&self.state));
        if !self.compare("turn order", &(half.round, mover, None), &now, &place) {
            return Err(format!("{place}: the engine is elsewhere"));
        }
        let now = self.state;
        self.position(&half.pre, &now, ["resources before", "units before", "stock before"], &place);
        self.sight(half, mover, &place);
        self.messages(half, mover, &place);
        let reply = half.moves.to_string();
        let moves =
            self.hear(mover, reply.as_bytes()).ok_or_else(|| format!("{place}: {reply} is not heard"))?;
        if let Some(raw) = &half.raw_reply {
            let raw = self.hear(mover, raw.as_bytes());
            self.compare("raw replies", &Some(moves.clone()), &raw, &place);
        }
        let mut verdicts = Verdicts { reasons: vec![None; moves.len()], void: false };
        // A record shows the board after the moves and before the timers; a half-turn ends after the timers.
        let mut moved = self.state;
        self.game.carry_out(&mut moved, &moves, &mut verdicts);
        self.game.half_turn(&mut self.state, &moves, &mut Ignored);
        let accepted: Vec<bool> = verdicts.reasons.iter().map(Option::is_none).collect();
        for (index, (recorded, got)) in half.verdicts.iter().zip(&accepted).enumerate() {
            let order = &half.moves[index];
            self.compare("verdicts", recorded, got, &format!("{place}, move {index} {order}"));
        }
        self.compare("verdict counts", &half.verdicts.len(), &accepted.len(), &place);
        if let Some(applied) = half.applied {
            self.compare("lists kept", &applied, &!verdicts.void, &place);
        }
        if let Some(errors) = &half.errors {
            let ids = half.moves.as_array().into_iter().flatten().map(|order| &order[0]);
            let told: Vec<String> = verdicts
                .reasons
                .iter()
                .zip(moves.iter().zip(ids))
                .filter_map(|(reason, (order, id))| Some(original_text(reason.as_ref()?, order.verb, id)))
                .collect();
            self.compare("error texts", errors, &told, &place);
        }
        self.position(&half.after, &moved, ["resources after", "units after", "stock after"], &place);
        Ok(())
    }

    /// Compares resources, units with their timers, and stocks.
    fn position(
        &mut self,
        recorded: &Position,
        state: &State<BLOCKS>,
        kinds: [&'static str; 3],
        place: &str,
    ) {
        let [one, two] = state.resources;
        self.compare(kinds[0], &recorded.res, &json!({"p1": one, "p2": two}), place);
        self.compare(kinds[1], &recorded.p1, &self.rows(state, Player::One), &format!("{place}, p1"));
        self.compare(kinds[1], &recorded.p2, &self.rows(state, Player::Two), &format!("{place}, p2"));
        if let Some(stock) = &recorded.stock {
            let left = state.stock[..self.game.map.hubs()].to_vec();
            self.compare(kinds[2], stock, &left, place);
        }
    }

    /// Compares what the mover sees.
    fn sight(&mut self, half: &Half, mover: Player, place: &str) {
        let view = self.game.view_of(&self.state, mover);
        let ids: Vec<UnitId> = view.theirs.iter().map(|seen| seen.id).collect();
        let (turns_left, resources, theirs) = (view.turns_left, view.resources, view.their_resources);
        let mut recorded = half.visible_enemy_ids.clone();
        recorded.sort_unstable();
        self.compare("fog", &recorded, &ids, place);
        self.compare("turns left", &half.turns_left, &turns_left, place);
        self.compare("opponent's resources", &half.their_resources, &theirs, place);
        if let Some(recorded) = half.my_resources {
            self.compare("own resources", &recorded, &resources, place);
        }
    }

    /// Compares the message to the mover: as JSON, and byte for byte.
    fn messages(&mut self, half: &Half, mover: Player, place: &str) {
        let Some(recorded) = &half.raw_state_message else { return };
        let mut message = Vec::new();
        let view = self.game.view_of(&self.state, mover);
        self.dialect.ask(&self.game, mover.seat(), &view, &mut message);
        let message = String::from_utf8_lossy(&message).into_owned();
        let json = |text: &str| serde_json::from_str::<Value>(text).unwrap_or(Value::Null);
        self.compare("state messages", &json(recorded), &json(&message), place);
        self.compare("state message bytes", recorded, &message, place);
    }

    fn end(&mut self, end: &End) {
        let outcome = self.game.result(&self.state);
        let winner = outcome.as_ref().map(|outcome| match outcome.winner() {
            Some(seat) => format!("p{seat}"),
            None => "tie".to_owned(),
        });
        let reason = self.game.ending(&self.state).map(|ending| match ending {
            Ending::Eliminated(_) => "elimination".to_owned(),
            Ending::RoundLimit => "turn_limit".to_owned(),
        });
        let [one, two] = self.state.resources;
        self.compare("winners", &end.winner, &winner, "end");
        self.compare("reasons of the end", &end.reason, &reason, "end");
        self.compare("rounds", &end.rounds, &Some(self.state.half.div_ceil(2)), "end");
        self.compare("resources at the end", &end.res, &Some(json!({"p1": one, "p2": two})), "end");
    }

    fn hear(&mut self, mover: Player, reply: &[u8]) -> Option<Moves> {
        match self.dialect.hear(&self.game, mover.seat(), reply) {
            Heard::Answer(moves) => Some(moves),
            _ => None,
        }
    }

    /// The units of a player as a record lists them.
    fn rows(&self, state: &State<BLOCKS>, player: Player) -> Value {
        state.army(player).map(|(id, unit)| self.row(id, unit)).collect()
    }

    fn row(&self, id: UnitId, unit: &Unit) -> Value {
        let Unit { at, kind, hp, mining, duplication, stun, .. } = *unit;
        let letter = if kind == Kind::Melee { "m" } else { "w" };
        let direction = unit.direction.map(Direction::word);
        let child = unit.child.map(|kind| kind.to_string());
        match (self.game.rules.message, kind) {
            (Message::Document, _) => json!([id, letter, at.x, at.y, hp, mining.max(duplication)]),
            (Message::Neo2019, Kind::Melee) => json!([id, letter, at.x, at.y, duplication, direction]),
            (Message::Neo2019, Kind::Worker) => json!([id, letter, at.x, at.y, mining]),
            (Message::Bc2021, Kind::Melee) => json!([id, letter, at.x, at.y, stun]),
            (Message::Bc2021, Kind::Worker) => {
                json!([id, letter, at.x, at.y, mining, duplication, direction, child, stun])
            }
        }
    }

    /// The ground at the start, as drawn in records.
    fn ground(&self) -> Vec<String> {
        let map = &self.game.map;
        let letter = |at| match (map.is_wall(at), map.is_resource(at)) {
            (true, _) => 'X',
            (_, true) => 'R',
            _ => ' ',
        };
        let row = |y| (0..map.width()).map(|x| letter(At::new(x, y))).collect();
        (0..map.height()).map(row).collect()
    }

    /// The tiles of the hubs with their numbers, as listed in records.
    fn hub_tiles(&self) -> Value {
        let map = &self.game.map;
        let mut tiles: Vec<_> = map.cells().filter_map(|at| Some((at, map.hub(at)?))).collect();
        tiles.sort_by_key(|&(at, hub)| (hub, at.x, at.y));
        tiles.into_iter().map(|(at, hub)| json!([[at.x, at.y], hub])).collect()
    }

    fn compare<T: PartialEq + std::fmt::Debug>(
        &mut self,
        kind: &'static str,
        expected: &T,
        got: &T,
        place: &str,
    ) -> bool {
        self.report.compare(kind, expected, got, || place.to_owned())
    }
}

/// The map of a record without a map file: its whole ground, and its units in the order of their ids.
fn whole_map(init: &Init) -> Result<Map, String> {
    let rows: Vec<&str> = init.grid.iter().map(String::as_str).collect();
    let mut map = Map::from_rows(&rows, |_, _| Player::One)?;
    for (player, units) in [(Player::One, &init.p1), (Player::Two, &init.p2)] {
        for unit in units.as_array().into_iter().flatten() {
            let place = |index: usize| unit[index].as_u64().and_then(|number| u8::try_from(number).ok());
            let (x, y) = place(2).zip(place(3)).ok_or("a unit without a place")?;
            let kind = if unit[1] == "m" { Kind::Melee } else { Kind::Worker };
            map.units.push((player, kind, At::new(x, y)));
        }
    }
    match map.units.iter().all(|&(_, _, at)| !map.is_wall(at)) {
        true => Ok(map),
        false => Err("a unit in a wall".to_owned()),
    }
}

/// The text the engines of the events printed for a rejected move.
fn original_text(reason: &Reason, verb: Verb, id: &Value) -> String {
    let id = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    match (reason, verb) {
        (Reason::NotYours(_), _) => format!("ERROR: Cannot move enemy unit: {id}"),
        (Reason::Locked(_, Lock::Duplicating), _) => format!("ERROR: {id} cannot act while duplicating"),
        (Reason::Locked(_, Lock::Mining), _) => format!("ERROR: {id} cannot act while mining"),
        (Reason::Locked(_, Lock::Stunned), _) => format!("ERROR: {id} cannot act while stunned"),
        (Reason::Twice(_), _) => format!("ERROR: Cannot make multiple actions for unit {id}"),
        (_, Verb::Walk) => format!("ERROR: Invalid path for unit {id}"),
        (_, Verb::Attack) => format!("ERROR: Unit {id} cannot attack there"),
        (_, Verb::Mine) => format!("ERROR: Unit {id} cannot mine now"),
        (Reason::CannotPayStun(..), _) => format!("ERROR: Unit {id} not enough resources to stun"),
        (_, Verb::Stun) => format!("ERROR: Unit {id} cannot stun there"),
        _ => format!("ERROR: Unit {id} cannot duplicate now"),
    }
}

/// Collects the verdict of every move.
struct Verdicts {
    reasons: Vec<Option<Reason>>,
    void: bool,
}

impl<const BLOCKS: usize> Sink<DeerhuntOf<BLOCKS>> for Verdicts {
    fn event(&mut self, event: Event) {
        self.void |= matches!(event, Event::ListVoid { .. });
    }

    fn reject(&mut self, _: Seat, index: usize, reason: Reason) {
        // A move dropped only because its list was void was itself accepted.
        if !matches!(reason, Reason::Void(..)) {
            self.reasons[index] = Some(reason);
        }
    }
}
