//! The readable rule tests in a game's `spec/` folder.
//!
//! A spec file is Markdown. A section whose heading begins with a rule id is a test: text for people, then fenced blocks
//! in this order, as often as needed:
//!
//! ````text
//! ## CW-SHOOT-3 The nearest obstruction takes the shot
//!
//! A cultist shoots over four tiles; a neutral stands in between.
//!
//! ```board
//! ... the board before, in the game's own drawing ...
//! seed: 7            (settings: `seed`, `draws`, names of rules, and the game's own)
//! ```
//! ```orders
//! 1: 2 SHOOT 9       (seat: what its bot answers; `(timeout)` or `(gone)` for nothing)
//! --                 (the next step begins)
//! 2: WAIT
//! ```
//! ```expect
//! unit 9 hp 4        (a fact that must hold after the orders)
//! not unit 3 ...     (a fact that must not)
//! 1 rejected 0: CW-SHOOT-1   (seat, entry from 0, and rule of a rejected order)
//! ```
//! ````
//!
//! Instead of a board, a section can begin in a position of a recorded match, as `agon replay export --format spec` and
//! the viewer write it: a block `position` with the names of rules and map, the seed and the bytes of the state, preceded
//! by blocks `rules` and `map` if these are not the game's own. The effects of a step can then be expected in terms of
//! what spectators are told, in the same way in every game:
//!
//! ````text
//! ```expect
//! event {"event":"shot",...}    (an event of the last step, as the viewer reads it)
//! scene units.4.hp = 3          (a value of the scene after it, as the viewer reads it)
//! ```
//! ````
//!
//! A section without either continues from the blocks before it in the same section; blocks of different sections share
//! nothing. Which facts exist is up to each game: one line of text each, made by [`Adapter::facts`] from the state and
//! the events of the last step.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::Path;

use agon_game::leaves::leaves;
use agon_game::session::play_stream;
use agon_game::{
    Absence, Answer, Chance, Dialect, Game, Heard, MapChoice, Reason as _, RulesChoice, Seat, Seeded, Setup,
    Sink,
};

/// How a game's spec files are read.
pub trait Adapter {
    type Game: Game;

    /// Builds a match from a board block. `settings` are its `name: value` lines, without `seed` and `draws`; overrides
    /// from outside come last, so that they win.
    ///
    /// # Errors
    /// A sentence saying what is wrong with the block.
    fn set_up(
        board: &[&str],
        settings: &[(String, String)],
        seed: i64,
    ) -> Result<(Self::Game, <Self::Game as Game>::State), String>;

    /// What a line of an orders block means. By default a message of the dialect.
    fn answer(
        game: &Self::Game,
        dialect: &mut <Self::Game as Game>::Dialect,
        seat: Seat,
        text: &str,
    ) -> Answer<<Self::Game as Game>::Order> {
        for message in text.split("\\n") {
            match dialect.hear(game, seat, message.as_bytes()) {
                Heard::More | Heard::Ignore(_) => {}
                Heard::Answer(order) | Heard::Failed { order: Some(order), .. } => {
                    return Answer::Given { order, think_ms: 0 };
                }
                Heard::Malformed(why) | Heard::Failed { why, order: None } => {
                    return Answer::Malformed { why, think_ms: 0 };
                }
                Heard::Close(_) => return Answer::Missing(Absence::Gone),
            }
        }
        Answer::Missing(Absence::TimedOut)
    }

    /// Facts about the state and the last step, one line of text each.
    fn facts(
        game: &Self::Game,
        state: &<Self::Game as Game>::State,
        events: &[<Self::Game as Game>::Event],
    ) -> Vec<String>;

    /// Facts about the messages that ask for the next answers, one line of text each: for rules about what bots are told.
    /// By default nothing is asked.
    fn asked(
        _game: &Self::Game,
        _state: &<Self::Game as Game>::State,
        _dialect: &mut <Self::Game as Game>::Dialect,
    ) -> Vec<String> {
        Vec::new()
    }
}

/// The result of running spec files.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// How many sections were run.
    pub sections: usize,
    /// What failed, with file, line, and the facts that do hold.
    pub failures: Vec<String>,
}

/// Runs all spec files of a folder and panics if one of them fails.
///
/// # Panics
/// With everything that failed, or if the folder holds no test.
pub fn run<A: Adapter>(folder: &Path) {
    let summary = check::<A>(folder, &[]);
    assert!(summary.sections > 0, "{} holds no spec section", folder.display());
    assert!(summary.failures.is_empty(), "\n{}", summary.failures.join("\n\n"));
    println!("{} spec sections", summary.sections);
}

/// Runs all spec files of a folder with settings that override those in the files.
///
/// # Panics
/// When the folder cannot be read.
pub fn check<A: Adapter>(folder: &Path, overrides: &[(String, String)]) -> Summary {
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("a readable folder entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    paths.sort();
    let mut summary = Summary::default();
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a readable spec file");
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        run_text::<A>(&name, &text, overrides, &mut summary);
    }
    summary
}

/// Runs the sections of one text.
pub fn check_text<A: Adapter>(text: &str) -> Summary {
    let mut summary = Summary::default();
    run_text::<A>("text", text, &[], &mut summary);
    summary
}

fn run_text<A: Adapter>(name: &str, text: &str, overrides: &[(String, String)], summary: &mut Summary) {
    for section in sections(text) {
        summary.sections += 1;
        if let Err(why) = run_section::<A>(&section, overrides) {
            summary.failures.push(format!("{name}:{why}\n  in: {}", section.title));
        }
    }
}

struct Section<'a> {
    title: &'a str,
    blocks: Vec<Block<'a>>,
}

struct Block<'a> {
    kind: &'a str,
    line: usize,
    lines: Vec<&'a str>,
}

fn sections(text: &str) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mut open: Option<Block<'_>> = None;
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        if let Some(kind) = line.strip_prefix("```") {
            match open.take() {
                Some(block) => {
                    if inside && let Some(section) = sections.last_mut() {
                        section.blocks.push(block);
                    }
                }
                None => open = Some(Block { kind: kind.trim(), line: number + 1, lines: Vec::new() }),
            }
        } else if let Some(block) = &mut open {
            block.lines.push(line);
        } else if let Some(title) = line.strip_prefix('#') {
            let title = title.trim_start_matches('#').trim();
            inside = title.split_whitespace().next().is_some_and(agon_rulebook::is_id);
            if inside {
                sections.push(Section { title, blocks: Vec::new() });
            }
        }
    }
    sections
}

/// One match of a section.
struct Running<G: Game> {
    game: G,
    state: G::State,
    dialect: G::Dialect,
    work: G::Work,
    draws: Draws,
    told: Told<G>,
}

fn run_section<A: Adapter>(section: &Section<'_>, overrides: &[(String, String)]) -> Result<(), String> {
    let mut running: Option<Running<A::Game>> = None;
    let mut own = Own::default();
    let mut expectations = 0;
    for block in &section.blocks {
        let at = |why: String| format!("{}: {why}", block.line);
        match block.kind {
            "board" => running = Some(set_up::<A>(block, overrides).map_err(at)?),
            "rules" => own.rules = Some(block.lines.join("\n")),
            "map" => own.map = Some(block.lines.join("\n")),
            "position" => {
                let position = position(block, std::mem::take(&mut own), overrides).map_err(at)?;
                running = Some(position);
            }
            "orders" | "expect" => {
                let running = running
                    .as_mut()
                    .ok_or_else(|| at("a board block or a position must come first".to_owned()))?;
                if block.kind == "orders" {
                    give::<A>(running, block).map_err(at)?;
                } else {
                    expectations += block.lines.iter().filter(|line| !line.trim().is_empty()).count();
                    expect::<A>(running, block)?;
                }
            }
            "" | "text" => {}
            other => {
                return Err(at(format!(
                    "`{other}` is not a kind of block (board, position, rules, map, orders, expect)"
                )));
            }
        }
    }
    if expectations == 0 {
        return Err("0: the section expects nothing".to_owned());
    }
    Ok(())
}

fn set_up<A: Adapter>(block: &Block<'_>, overrides: &[(String, String)]) -> Result<Running<A::Game>, String> {
    let (mut board, mut settings, mut seed, mut draws) = (Vec::new(), Vec::new(), 0, None);
    for line in &block.lines {
        match line.split_once(": ").or_else(|| line.split_once(':').filter(|(_, value)| value.is_empty())) {
            Some(("seed", value)) => {
                seed = value.trim().parse().map_err(|_| format!("bad seed `{value}`"))?
            }
            Some(("draws", value)) => {
                let numbers = value.split([',', ' ']).filter(|text| !text.is_empty()).map(str::parse);
                draws =
                    Some(numbers.collect::<Result<VecDeque<u32>, _>>().map_err(|error| error.to_string())?);
            }
            Some((name, value))
                if !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_.- ".contains(c)) =>
            {
                settings.push((name.trim().to_owned(), value.trim().to_owned()));
            }
            _ => board.push(*line),
        }
    }
    settings.extend(overrides.iter().cloned());
    let (game, state) = A::set_up(&board, &settings, seed)?;
    let dialect = <A::Game as Game>::Dialect::new(&game);
    let draws = Draws { tape: draws, seeded: play_stream(seed), empty: false };
    Ok(Running { game, state, dialect, work: Default::default(), draws, told: Told::default() })
}

/// The rules and map of a position that are not the game's own.
#[derive(Default)]
struct Own {
    rules: Option<String>,
    map: Option<String>,
}

/// A position of a recorded match.
fn position<G: Game>(
    block: &Block<'_>,
    own: Own,
    overrides: &[(String, String)],
) -> Result<Running<G>, String> {
    let mut setup = Setup {
        rules: RulesChoice {
            file: own.rules.map(|text| ("rules".to_owned(), text)),
            ..RulesChoice::default()
        },
        map: own.map.map_or(MapChoice::Default, |text| MapChoice::File("map".to_owned(), text.into_bytes())),
        ..Setup::default()
    };
    let (mut drawn, mut state) = (0, Vec::new());
    for line in block.lines.iter().filter(|line| !line.trim().is_empty()) {
        let (name, value) = line.split_once(':').ok_or_else(|| format!("`{line}` is not `NAME: VALUE`"))?;
        let value = value.trim();
        let wrong = || format!("`{line}`: `{value}` is none of what `{name}` can be");
        match name {
            "rules" => setup.rules.preset = value.to_owned(),
            "map" if value == "generate" => setup.map = MapChoice::Generated,
            "map" => setup.map = MapChoice::Named(value.to_owned()),
            "seats" => setup.seats = value.parse().map_err(|_| wrong())?,
            "seed" => setup.seed = value.parse().map_err(|_| wrong())?,
            "drawn" => drawn = value.parse::<u32>().map_err(|_| wrong())?,
            "state" => state.extend(bytes(value).ok_or_else(wrong)?),
            _ => match name.strip_prefix("set ") {
                Some(rule) => setup.rules.sets.push((rule.to_owned(), value.to_owned())),
                None => {
                    return Err(format!("`{name}` is none of rules, map, seats, seed, drawn, set, state"));
                }
            },
        }
    }
    setup.rules.sets.extend(overrides.iter().cloned());
    let game = G::set_up(&setup).map_err(|error| error.to_string())?;
    let state = game.load(&state).ok_or("`state` is not a state of this match")?;
    let mut seeded = play_stream(setup.seed);
    for _ in 0..drawn {
        seeded.bits();
    }
    let draws = Draws { tape: None, seeded, empty: false };
    let dialect = G::Dialect::new(&game);
    Ok(Running { game, state, dialect, work: Default::default(), draws, told: Told::default() })
}

/// Bytes written as pairs of hexadecimal digits.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let pair = |at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    (0..text.len()).step_by(2).map(pair).collect()
}

fn give<A: Adapter>(running: &mut Running<A::Game>, block: &Block<'_>) -> Result<(), String> {
    let steps = block.lines.split(|line| line.trim() == "--");
    for step in steps {
        let Running { game, state, dialect, work, draws, told } = running;
        let mut lines: Vec<(Seat, &str)> = Vec::new();
        for line in step.iter().filter(|line| !line.trim().is_empty()) {
            let (seat, text) = line
                .split_once(':')
                .and_then(|(seat, text)| Some((seat.trim().parse::<u8>().ok()?, text.trim())))
                .filter(|(seat, _)| (1..=Seat::MAX).contains(seat))
                .ok_or_else(|| format!("`{line}` is not `SEAT: answer`"))?;
            lines.push((Seat::new(seat - 1), text));
        }
        let deciding = game.deciding(state);
        if let Some((seat, _)) = lines.iter().find(|(seat, _)| !deciding.contains(*seat)) {
            return Err(format!("seat {seat} is not asked now, but {deciding:?} ({})", game.moment(state)));
        }
        let answers: Vec<_> = deciding
            .iter()
            .map(|seat| {
                dialect.ask(game, seat, &game.view(state, seat), &mut Vec::new());
                let mut own = lines.iter().filter(|(other, _)| *other == seat);
                let line = own.next().map(|line| line.1);
                let (text, think_ms) = line.map_or((None, 0), |line| {
                    let (text, think_ms) = timed(line);
                    (Some(text), think_ms)
                });
                let answer = match (text, own.next()) {
                    (Some("(gone)"), None) => Answer::Missing(Absence::Gone),
                    (Some("(never started)"), None) => Answer::Missing(Absence::NeverStarted),
                    (Some("(timeout)"), None) => Answer::Missing(Absence::TimedOut),
                    (Some("(malformed)"), None) => {
                        Answer::Malformed { why: "malformed".to_owned(), think_ms }
                    }
                    (Some(text), None) => match packed(text) {
                        Some(order) => {
                            let order = bytes(order).and_then(|order| game.unpack(&order));
                            let order = order.ok_or_else(|| format!("`{text}` is not an order"))?;
                            Answer::Given { order, think_ms }
                        }
                        None => match A::answer(game, dialect, seat, text) {
                            Answer::Given { order, .. } if think_ms > 0 => Answer::Given { order, think_ms },
                            answer => answer,
                        },
                    },
                    (None, _) => return Err(format!("seat {seat} must answer too")),
                    (_, Some(_)) => return Err(format!("seat {seat} answers twice")),
                };
                Ok((seat, answer))
            })
            .collect::<Result<_, String>>()?;
        *told = Told::default();
        for (seat, answer) in &answers {
            if let Answer::Malformed { .. } = answer {
                told.facts.push(format!("{seat} malformed"));
            }
        }
        game.play(state, work, &answers, draws, told);
        if draws.empty {
            return Err("more draws of chance than `draws:` holds".to_owned());
        }
    }
    Ok(())
}

/// A line of orders with the time the answer took: `(after 6500 ms) WAIT`.
fn timed(line: &str) -> (&str, u32) {
    let told = line.strip_prefix("(after ").and_then(|rest| rest.split_once(" ms) "));
    told.and_then(|(ms, text)| Some((text, ms.parse().ok()?))).unwrap_or((line, 0))
}

/// The digits of an order given by its bytes: `(packed 0a1b)`.
fn packed(text: &str) -> Option<&str> {
    text.strip_prefix("(packed ")?.strip_suffix(')')
}

fn expect<A: Adapter>(running: &mut Running<A::Game>, block: &Block<'_>) -> Result<(), String> {
    let mut facts = running.told.facts.clone();
    facts.extend(A::facts(&running.game, &running.state, &running.told.events));
    facts.extend(A::asked(&running.game, &running.state, &mut running.dialect));
    match running.game.outcome(&running.state) {
        Some(outcome) => facts.extend(outcome.facts()),
        None => facts.push("goes on".to_owned()),
    }
    // The facts that every game has are many, and rarely asked for.
    let asks_for =
        |word: &str| block.lines.iter().any(|line| line.trim().trim_start_matches("not ").starts_with(word));
    if asks_for("event ") {
        let written = |event| serde_json::to_string(event).map(|event| format!("event {event}"));
        facts.extend(running.told.events.iter().filter_map(|event| written(event).ok()));
    }
    if asks_for("scene ") {
        let scene =
            serde_json::to_value(running.game.scene(&running.state)).map_err(|error| error.to_string())?;
        facts.extend(leaves(&scene).into_iter().map(|line| format!("scene {line}")));
    }
    for (offset, line) in block.lines.iter().enumerate() {
        let wanted = line.trim();
        let (wanted, holds) = match wanted.strip_prefix("not ") {
            Some(rest) => (rest, false),
            None => (wanted, true),
        };
        if !wanted.is_empty() && facts.iter().any(|fact| fact == wanted) != holds {
            let mut why = format!("{}: expected `{}`; the facts are:", block.line + 1 + offset, line.trim());
            facts.iter().for_each(|fact| write!(why, "\n    {fact}").expect("writing to a string"));
            return Err(why);
        }
    }
    Ok(())
}

/// Random draws: those of a `draws:` line, or seeded.
struct Draws {
    tape: Option<VecDeque<u32>>,
    seeded: Seeded,
    empty: bool,
}

impl Chance for Draws {
    fn below(&mut self, n: u32) -> u32 {
        match &mut self.tape {
            None => self.seeded.below(n),
            Some(tape) => {
                let next = tape.pop_front();
                self.empty |= next.is_none();
                next.unwrap_or(0).min(n - 1)
            }
        }
    }
}

/// What was reported during the last step.
struct Told<G: Game> {
    events: Vec<G::Event>,
    facts: Vec<String>,
}

impl<G: Game> Default for Told<G> {
    fn default() -> Self {
        Self { events: Vec::new(), facts: Vec::new() }
    }
}

impl<G: Game> Sink<G> for Told<G> {
    fn event(&mut self, event: G::Event) {
        self.events.push(event);
    }

    fn reject(&mut self, seat: Seat, index: usize, reason: G::Reason) {
        self.facts.push(format!("{seat} rejected {index}: {}", reason.rule()));
    }
}
