//! The readable rule tests in a game's `spec/` folder.
//!
//! A spec file is Markdown. A section whose heading begins with a rule id is a test: words for
//! people, then fenced blocks in this order, as often as needed:
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
//! A section without `board` goes on from the blocks before it in the same section; blocks of
//! different sections share nothing. What facts there are is each game's matter: one line of
//! text each, made by [`Adapter::facts`] from the state and the events of the last step.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::Path;

use agon_game::{Absence, Answer, Chance, Dialect, Game, Heard, Outcome, Reason as _, Seat, Seeded, Sink};

/// How a game's spec files are read.
pub trait Adapter {
    /// The game.
    type Game: Game;

    /// Builds a match from a board block. `settings` are its `name: value` lines, without `seed`
    /// and `draws`; the first entries may be overrides from the outside and come last, to win.
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

    /// What can be said of the state and the last step, one line of text each.
    fn facts(
        game: &Self::Game,
        state: &<Self::Game as Game>::State,
        events: &[<Self::Game as Game>::Event],
    ) -> Vec<String>;

    /// What can be said of the messages that ask for the next answers, one line of text each: for
    /// rules about what bots are told. By default nothing is asked.
    fn asked(
        _game: &Self::Game,
        _state: &<Self::Game as Game>::State,
        _dialect: &mut <Self::Game as Game>::Dialect,
    ) -> Vec<String> {
        Vec::new()
    }
}

/// What running spec files gave.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// How many sections were run.
    pub sections: usize,
    /// What failed, with file, line, and the facts there are.
    pub failures: Vec<String>,
}

/// Runs all spec files of a folder and fails when one of them does.
///
/// # Panics
/// With everything that failed, or when the folder holds no test.
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
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for section in sections(&text) {
            summary.sections += 1;
            if let Err(why) = run_section::<A>(&section, overrides) {
                summary.failures.push(format!("{name}:{why}\n  in: {}", section.title));
            }
        }
    }
    summary
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
    let mut expectations = 0;
    for block in &section.blocks {
        let at = |why: String| format!("{}: {why}", block.line);
        match block.kind {
            "board" => running = Some(set_up::<A>(block, overrides).map_err(at)?),
            "orders" | "expect" => {
                let running =
                    running.as_mut().ok_or_else(|| at("a board block must come first".to_owned()))?;
                if block.kind == "orders" {
                    give::<A>(running, block).map_err(at)?;
                } else {
                    expectations += block.lines.iter().filter(|line| !line.trim().is_empty()).count();
                    expect::<A>(running, block)?;
                }
            }
            "" | "text" => {}
            other => return Err(at(format!("`{other}` is no kind of block (board, orders, expect)"))),
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
    let draws = Draws { tape: draws, seeded: Seeded::stream(seed, "play"), empty: false };
    Ok(Running { game, state, dialect, work: Default::default(), draws, told: Told::default() })
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
                let answer = match (own.next().map(|line| line.1), own.next()) {
                    (Some("(gone)"), None) => Answer::Missing(Absence::Gone),
                    (Some("(never started)"), None) => Answer::Missing(Absence::NeverStarted),
                    (Some("(timeout)"), None) => Answer::Missing(Absence::TimedOut),
                    (Some(text), None) => A::answer(game, dialect, seat, text),
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

fn expect<A: Adapter>(running: &mut Running<A::Game>, block: &Block<'_>) -> Result<(), String> {
    let mut facts = running.told.facts.clone();
    facts.extend(A::facts(&running.game, &running.state, &running.told.events));
    facts.extend(A::asked(&running.game, &running.state, &mut running.dialect));
    if let Some(Outcome { scores, ranks, reason }) = running.game.outcome(&running.state) {
        let list = |numbers: Vec<String>| numbers.join(" ");
        facts.push(format!("outcome: {reason}"));
        facts.push(format!("scores: {}", list(scores.iter().map(f64::to_string).collect())));
        facts.push(format!("ranks: {}", list(ranks.iter().map(u8::to_string).collect())));
    } else {
        facts.push("goes on".to_owned());
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

/// Draws of chance: those of a `draws:` line, or seeded.
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

/// What the last step told.
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
