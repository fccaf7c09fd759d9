//! Comparing recorded matches of the original referee with this engine.
//!
//! There are five kinds of record, recognised by their first line: matches, boards, answer lines in given positions
//! and shot lines as lines of JSON; conversations as plain text.

use agon_game::conform::{ConformReport, Recognised};
use agon_game::{
    Absence, Answer, Dialect as _, Game as _, Heard, Ignored, MapChoice, RulesChoice, Seat, Seeded, Setup,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::board::{HEIGHT, Tile, WIDTH};
use crate::dialect::Lines;
use crate::map::Map;
use crate::orders::Order;
use crate::outcome::PLAYERS;
use crate::state::{Ending, LEADERS, Owner, State, UnitId};
use crate::{CultistWars, rules};

/// Compares a record. The kinds in the report are `games` (start and end of a match), `turns`, `boards`, `answer
/// lines`, `shot lines` and `conversations`.
pub(crate) fn compare(record: &[u8], report: &mut ConformReport) -> Recognised {
    let Ok(text) = std::str::from_utf8(record) else { return Recognised::Foreign };
    let first = text.lines().next().unwrap_or_default();
    let has = |key: &str| first.contains(&format!("\"{key}\":"));
    if first.starts_with("### turn ") {
        settle(conversation(text, report).map_err(|(line, why)| format!("line {line}: {why}")))
    } else if first.starts_with('{') && has("seed") && has("rows") && has("turns") {
        each_line(text, report, game)
    } else if first.starts_with('{') && has("seed") && has("rows") && has("n") {
        each_line(text, report, board)
    } else if first.starts_with('{') && has("seed") && has("prefix") && has("cases") {
        each_line(text, report, answer_lines)
    } else if serde_json::from_str::<ShotLine>(first).is_ok() {
        each_line(text, report, shot_line)
    } else {
        Recognised::Foreign
    }
}

fn settle(result: Result<(), String>) -> Recognised {
    result.map_or_else(Recognised::Damaged, |()| Recognised::Record)
}

/// Names the place of a record when something differs.
type Place<'a> = &'a dyn Fn() -> String;

/// Reads each line as a separate record.
fn each_line<T: DeserializeOwned>(
    text: &str,
    report: &mut ConformReport,
    compare: impl Fn(T, &mut ConformReport, Place<'_>) -> Result<(), String>,
) -> Recognised {
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = || format!("line {}", index + 1);
        let compared = serde_json::from_str(line)
            .map_err(|error| error.to_string())
            .and_then(|record| compare(record, report, &place));
        if let Err(why) = compared {
            return Recognised::Damaged(format!("{}: {why}", place()));
        }
    }
    Recognised::Record
}

/// A unit in a record: id, type, health points, column, row, owner.
type UnitRow = [i32; 6];

/// The living units in the form of a record.
fn unit_rows(state: &State) -> Vec<UnitRow> {
    let row = |unit: UnitId| {
        let (tile, owner) = (state.tile(unit), state.owner(unit).map_or(-1, |owner| owner.number().into()));
        let kind = i32::from(unit < LEADERS);
        [unit.into(), kind, state.hp(unit).into(), tile.x().into(), tile.y().into(), owner]
    };
    state.living().iter().map(row).collect()
}

fn rows(game: &CultistWars) -> Vec<String> {
    (0..HEIGHT).map(|y| game.map().row(y).into_iter().map(char::from).collect()).collect()
}

/// The match of a seed under the original's rules.
fn seeded(seed: i64) -> CultistWars {
    let setup = Setup { seed, seats: PLAYERS, map: MapChoice::Default, rules: RulesChoice::default() };
    CultistWars::set_up(&setup).expect("the standard rules make a board of any seed")
}

/// How the referee reads an answer line; no line is a timeout.
fn heard(game: &CultistWars, seat: Seat, line: Option<&str>) -> Answer<Order> {
    match line.map(|line| Lines::default().hear(game, seat, line.as_bytes())) {
        None => Answer::Missing(Absence::TimedOut),
        Some(Heard::Answer(order)) => Answer::Given { order, think_ms: 0 },
        Some(_) => Answer::Malformed { why: String::new(), think_ms: 0 },
    }
}

/// The resolved action in the words of a record; `None` for an invalid one.
fn resolved(game: &CultistWars, state: &State, seat: Seat, answer: &Answer<Order>) -> Option<String> {
    let action = game.resolve(state, seat, answer.order()?).ok()?;
    Some(action.to_string())
}

/// Plays the mover's answer, unless the match is over.
fn play(game: &CultistWars, state: &mut State, answer: Answer<Order>) {
    if let Some(seat) = game.deciding(state).iter().next() {
        game.play(state, &mut (), &[(seat, answer)], &mut Seeded::stream(0, "play"), &mut Ignored);
    }
}

/// The end in the words of a record.
fn reason(ending: Option<Ending>) -> &'static str {
    match ending {
        None => "goes on",
        Some(Ending::Elimination) => "elim",
        Some(Ending::TurnLimit) => "limit",
        Some(Ending::Fault(_, crate::state::Fault::Malformed | crate::state::Fault::Invalid)) => "invalid",
        Some(Ending::Fault(..)) => "timeout",
    }
}

fn scores(game: &CultistWars, state: &State) -> Vec<f64> {
    game.outcome(state).map(|outcome| outcome.scores).unwrap_or_default()
}

#[derive(Deserialize)]
struct GameRecord {
    seed: i64,
    rows: Vec<String>,
    units: Vec<UnitRow>,
    turns: Vec<TurnRecord>,
    end: EndRecord,
}

#[derive(Deserialize)]
struct TurnRecord {
    /// The turn's index, from 0.
    t: u32,
    /// The mover's index.
    p: usize,
    /// The answer line; null for none.
    a: Option<String>,
    /// The resolved action; null for an invalid one.
    f: Option<String>,
    /// The neutrals' generator after the turn.
    r: u32,
    /// The living units after the turn.
    u: Vec<UnitRow>,
}

#[derive(Deserialize)]
struct EndRecord {
    reason: String,
    scores: Vec<f64>,
    counts: Vec<u32>,
    turns: u32,
}

/// A match, turn by turn. After the first difference the rest means nothing and is skipped.
fn game(record: GameRecord, report: &mut ConformReport, place: Place<'_>) -> Result<(), String> {
    let game = seeded(record.seed);
    let mut state = game.start();
    let start = (record.rows, record.units);
    let own_start = (rows(&game), unit_rows(&state));
    if start != own_start {
        report.compare("games", &start, &own_start, || format!("{}, start", place()));
        return Ok(());
    }
    let mut turns = 0;
    for turn in record.turns {
        let seat = state.mover();
        let answer = heard(&game, seat, turn.a.as_deref());
        let mut got = (turns, seat.index(), resolved(&game, &state, seat, &answer), 0, Vec::new());
        if game.outcome(&state).is_none() {
            play(&game, &mut state, answer);
            turns += 1;
        }
        (got.3, got.4) = (state.generator(), unit_rows(&state));
        let index = turn.t;
        let expected = (turn.t, turn.p, turn.f, turn.r, turn.u);
        let at = || format!("{}, turn {index}, answer {:?}", place(), turn.a);
        if !report.compare("turns", &expected, &got, at) {
            report.compare("games", &"alike to the end", &"different turns", place);
            return Ok(());
        }
    }
    let counts: Vec<u32> = Seat::first(PLAYERS).map(|seat| state.count(seat)).collect();
    let got = (reason(state.ending()), scores(&game, &state), counts, turns);
    let expected = (record.end.reason.as_str(), record.end.scores, record.end.counts, record.end.turns);
    report.compare("games", &expected, &got, || format!("{}, end", place()));
    Ok(())
}

#[derive(Deserialize)]
struct BoardRecord {
    seed: i64,
    rows: Vec<String>,
    /// The tiles of units 2 to 13.
    n: Vec<[u8; 2]>,
}

fn board(record: BoardRecord, report: &mut ConformReport, place: Place<'_>) -> Result<(), String> {
    let game = seeded(record.seed);
    let start = game.start();
    let neutrals = start.living_of(Owner::Neutral).iter().map(|unit| start.tile(unit));
    let got = (rows(&game), neutrals.map(|tile| [tile.x(), tile.y()]).collect());
    report.compare("boards", &(record.rows, record.n), &got, || format!("{}, seed {}", place(), record.seed));
    Ok(())
}

#[derive(Deserialize)]
struct AnswerRecord {
    seed: i64,
    /// The answers that lead to the position.
    prefix: Vec<String>,
    /// The mover's index.
    player: usize,
    units: Vec<UnitRow>,
    /// Answer lines, each with its resolved action or null.
    cases: Vec<(String, Option<String>)>,
}

fn answer_lines(record: AnswerRecord, report: &mut ConformReport, place: Place<'_>) -> Result<(), String> {
    let game = seeded(record.seed);
    let mut state = game.start();
    for line in &record.prefix {
        let answer = heard(&game, state.mover(), Some(line));
        play(&game, &mut state, answer);
    }
    let seat = state.mover();
    let position = (seat.index(), unit_rows(&state));
    if position != (record.player, record.units) {
        report.count("answer lines", false, || {
            (format!("{}, the position", place()), "as recorded".to_owned(), format!("{position:?}"))
        });
        return Ok(());
    }
    for (line, expected) in &record.cases {
        let got = resolved(&game, &state, seat, &heard(&game, seat, Some(line)));
        report.compare("answer lines", expected, &got, || format!("{}, answer {line:?}", place()));
    }
    Ok(())
}

/// Shooter, target, and the tiles between them.
type ShotLine = (i32, i32, i32, i32, Vec<[u8; 2]>);

fn shot_line(record: ShotLine, report: &mut ConformReport, place: Place<'_>) -> Result<(), String> {
    let (from_x, from_y, to_x, to_y, expected) = record;
    let tile = |x, y| Tile::new(x, y).ok_or_else(|| format!("({x}, {y}) is not on the board"));
    let (from, to) = (tile(from_x, from_y)?, tile(to_x, to_y)?);
    let got: Vec<[u8; 2]> =
        crate::shoot::Lines::new().between(from, to).map(|tile| [tile.x(), tile.y()]).collect();
    report.compare("shot lines", &expected, &got, || format!("{}, {from} to {to}", place()));
    Ok(())
}

/// A conversation: for each turn `### turn N player P limit_ms L`, then lines `> ` sent and one line `< ` answered;
/// at the end `### end REASON scores A B`. It names no seed: the first message defines the match.
fn conversation(text: &str, report: &mut ConformReport) -> Result<(), (usize, String)> {
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line)).peekable();
    let mut running: Option<(CultistWars, State, Lines)> = None;
    let mut difference = None;
    let mut differs = |expected: String, got: String, line: usize| {
        if expected != got && difference.is_none() {
            difference = Some((format!("line {line}"), expected, got));
        }
    };
    let mut ended = false;
    while let Some((number, line)) = lines.next() {
        let wrong = |why: &str| (number, why.to_owned());
        if ended {
            return Err(wrong("nothing can follow the end"));
        }
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["###", "turn", turn, "player", player, "limit_ms", limit] => {
                let mut sent = Vec::new();
                while let Some((_, line)) = lines.next_if(|(_, line)| line.starts_with("> ")) {
                    sent.push(&line[2..]);
                }
                let answer = lines.next().and_then(|(_, line)| line.strip_prefix("< "));
                let answer = answer.ok_or_else(|| wrong("an answer `< ...` must end the turn"))?;
                let (game, state, dialect) = match &mut running {
                    Some(running) => running,
                    None => {
                        let game = from_first_message(&sent).map_err(|why| wrong(&why))?;
                        let state = game.start();
                        running.insert((game, state, Lines::default()))
                    }
                };
                let seat = state.mover();
                let (mut asked, limit_ms) = (Vec::new(), game.limit_ms(state, seat));
                dialect.ask(game, seat, &game.view(state, seat), &mut asked);
                let now = format!("turn {} player {} limit {limit_ms}", state.turns_played(), seat.index());
                differs(format!("turn {turn} player {player} limit {limit}"), now, number);
                differs(sent.join("\n"), String::from_utf8_lossy(&asked).into_owned(), number + 1);
                let answer = heard(game, seat, (answer != "(timeout)").then_some(answer));
                play(game, state, answer);
            }
            ["###", "end", reason_given, "scores", first, second] => {
                let (game, state, _) = running.as_ref().ok_or_else(|| wrong("no turn was recorded"))?;
                let got: Vec<String> = scores(game, state).iter().map(f64::to_string).collect();
                let got = format!("{} {}", reason(state.ending()), got.join(" "));
                differs(format!("{reason_given} {first} {second}"), got, number);
                ended = true;
            }
            _ => return Err(wrong("`### turn ...` or `### end ...` is expected")),
        }
    }
    if !ended {
        return Err((text.lines().count(), "the end is missing".to_owned()));
    }
    report.count("conversations", difference.is_none(), || difference.unwrap_or_default());
    Ok(())
}

/// The match that starts with this first message.
fn from_first_message(lines: &[&str]) -> Result<CultistWars, String> {
    let [_, _, rest @ ..] = lines else { return Err("the first message is too short".to_owned()) };
    let (rows, units) = rest.split_at_checked(HEIGHT.into()).ok_or("the board is too short")?;
    let rules = rules::load(&RulesChoice::default()).map_err(|error| error.to_string())?.rules;
    let mut map = Map::empty(&rules);
    for (y, row) in (0..).zip(rows) {
        if row.len() != usize::from(WIDTH) {
            return Err(format!("`{row}` is not a row of {WIDTH} tiles"));
        }
        for (x, symbol) in (0..).zip(row.bytes()) {
            if symbol == b'x' {
                map.floor.remove(Tile::at(x, y));
            }
        }
    }
    for unit in units.iter().skip(1) {
        let numbers: Option<Vec<i32>> = unit.split(' ').map(|word| word.parse().ok()).collect();
        let placed = match numbers.as_deref() {
            Some(&[id @ 0..14, _, hp @ 1..=255, x, y, owner @ 0..=2]) => Tile::new(x, y)
                .filter(|&tile| map.floor.contains(tile) && !map.start.occupied.contains(tile))
                .zip(Owner::from_number(owner as u8))
                .map(|(tile, owner)| map.start.place(id as UnitId, tile, owner, hp as u8)),
            _ => None,
        };
        placed.ok_or_else(|| format!("`{unit}` is not a unit on a free tile"))?;
    }
    Ok(CultistWars::on_map(rules, map))
}
