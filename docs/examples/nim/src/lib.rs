//! Nim: two players take matches from a heap.
//!
//! The smallest possible game, and the example in the guide's page on adding one. A real game has a file for each
//! mechanic; this one fits on a page. The rules are in `RULES.md`; each function names, by id, those it decides.

#![forbid(unsafe_code)]

use std::fmt;
use std::io::Write as _;

use agon_game::conform::{Recognised, Report};
use agon_game::{
    Answer, Builtin, BuiltinInfo, Chance, Cpus, Dialect, Game, GameInfo, Hand, HandIn, Heard, Ink, Outcome,
    Picture, Preset, Recipe, Seat, Seats, Setup, SetupError, Sink, Transport, hand, rules,
};
use serde::{Deserialize, Serialize};

/// Name, documents and lists.
pub const INFO: GameInfo = GameInfo {
    name: "nim",
    title: "Nim",
    summary: "two players take matches from a heap; the last one wins",
    rules_version: 1,
    seats: (2, 2),
    step: "turn",
    alternating: true,
    stops_late_bots: false,
    transport: Transport::Lines,
    longest_message: 100,
    time_is_played: false,
    ranks_follow_scores: true,
    presets: &[Preset {
        name: "standard",
        about: "21 matches",
        text: include_str!("../rules/standard.toml"),
        cpus: Cpus::One,
    }],
    maps: &[],
    generates_maps: false,
    builtins: &[
        BuiltinInfo { name: "random", about: "takes any number that is allowed", options: &[] },
        BuiltinInfo { name: "perfect", about: "leaves a multiple of `most` + 1", options: &[] },
    ],
    rulebook: include_str!("../RULES.md"),
    sources: &[("src/lib.rs", include_str!("lib.rs")), ("spec/take.md", include_str!("../spec/take.md"))],
    example_set: "heap=30",
    looks_like_answer: |text| text.parse::<u16>().is_ok(),
    reads_any_map: false,
    hand_in: HandIn::Folder(&[]),
    starters: &[],
    advantage: &[],
    policy: "random",
};

/// Every number of the rulebook.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Matches at the start, 1 to 10,000. NM-HEAP-1.
    pub heap: u16,
    /// The largest number that may be taken, at least 1. NM-TAKE-1.
    pub most: u16,
    /// Milliseconds for an answer.
    pub response_time: u32,
}

/// Everything that never changes in a match.
pub struct Nim {
    rules: Rules,
    recipe: Recipe,
}

/// Everything that changes in a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// The matches left.
    pub left: u16,
    /// The seat that takes next.
    pub mover: Seat,
}

/// What a seat sees: everything. NM-WIRE-1.
pub type View<'a> = &'a State;

/// The number of matches taken.
pub type Order = u16;

/// What happened.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Took {
    /// The player who took, from 1.
    pub player: u8,
    /// How many.
    pub count: u16,
    /// What is left.
    pub left: u16,
}

/// Why an order was rejected.
#[derive(Clone, Copy, Debug)]
pub struct Refused {
    wanted: u16,
    allowed: u16,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cannot be taken, only 1 to {}; one was taken", self.wanted, self.allowed)
    }
}

impl agon_game::Reason for Refused {
    fn rule(&self) -> &'static str {
        "NM-TAKE-1"
    }
}

impl Nim {
    /// How many may be taken now. NM-TAKE-1.
    pub fn allowed(&self, state: &State) -> u16 {
        self.rules.most.min(state.left)
    }
}

impl Game for Nim {
    const INFO: GameInfo = INFO;

    type State = State;
    type Work = ();
    type View<'a> = View<'a>;
    type Order = Order;
    type Event = Took;
    type Reason = Refused;
    type Dialect = Lines;
    type Hand = Choices;
    /// The rules, and a recipe without its seed.
    type Prepared = (Rules, Recipe);

    fn prepare(setup: &Setup) -> Result<(Rules, Recipe), SetupError> {
        if setup.seats != 2 {
            let needs = "2 bots".to_owned();
            return Err(SetupError::BadSeats { game: INFO.name, needs, got: setup.seats.into() });
        }
        let loaded: rules::Loaded<Rules> = rules::load(&INFO, &setup.rules)?;
        let rules = loaded.rules;
        if !(1..=10_000).contains(&rules.heap) || rules.most == 0 {
            let why = "`heap` must be 1 to 10000 and `most` at least 1".to_owned();
            return Err(SetupError::BadRule { place: loaded.name, why });
        }
        let recipe = Recipe {
            rules_name: loaded.name,
            rules: loaded.text,
            map_name: String::new(),
            map: String::new(),
            seats: setup.seats,
            seed: 0,
        };
        Ok((rules, recipe))
    }

    fn begin((rules, recipe): &(Rules, Recipe), seed: i64) -> Result<Self, SetupError> {
        Ok(Self { rules: rules.clone(), recipe: Recipe { seed, ..recipe.clone() } })
    }

    fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// NM-HEAP-1: a whole heap. NM-TURN-1: player 1 begins.
    fn start(&self) -> State {
        State { left: self.rules.heap, mover: Seat::new(0) }
    }

    fn deciding(&self, state: &State) -> Seats {
        if state.left == 0 { Seats::NONE } else { Seats::one(state.mover) }
    }

    fn view<'a>(&'a self, state: &'a State, _: Seat) -> View<'a> {
        state
    }

    fn limit_ms(&self, _: &State, _: Seat) -> u32 {
        self.rules.response_time
    }

    /// NM-TURN-1, NM-TAKE-2.
    fn play(
        &self,
        state: &mut State,
        (): &mut (),
        answers: &[(Seat, Answer<Order>)],
        _: &mut impl Chance,
        out: &mut impl Sink<Self>,
    ) {
        let [(seat, answer)] = answers else { return };
        let allowed = self.allowed(state);
        let count = match answer.order() {
            Some(count) if (1..=allowed).contains(count) => *count,
            Some(wanted) => {
                out.reject(*seat, 0, Refused { wanted: *wanted, allowed });
                1
            }
            None => 1,
        };
        state.left -= count;
        state.mover = Seat::new(1 - seat.index() as u8);
        out.event(Took { player: seat.number(), count, left: state.left });
    }

    /// NM-END-1: the last to move has won; the mover is the other player.
    fn outcome(&self, state: &State) -> Option<Outcome> {
        let winner = 1 - state.mover.index();
        let scores = (0..2).map(|seat| f64::from(u8::from(seat == winner))).collect();
        (state.left == 0)
            .then(|| Outcome::by_score(scores, format!("player {} took the last match", winner + 1)))
    }

    fn moment(&self, state: &State) -> String {
        format!("{} left, player {}", state.left, state.mover)
    }

    fn pack(&self, order: &Order, out: &mut Vec<u8>) {
        out.extend(order.to_le_bytes());
    }

    fn unpack(&self, bytes: &[u8]) -> Option<Order> {
        Some(u16::from_le_bytes(bytes.try_into().ok()?))
    }

    fn save(&self, state: &State, out: &mut Vec<u8>) {
        out.extend(state.left.to_le_bytes());
        out.push(state.mover.index() as u8);
    }

    fn load(&self, bytes: &[u8]) -> Option<State> {
        let [low, high, mover @ 0..=1] = *bytes else { return None };
        let left = u16::from_le_bytes([low, high]);
        (left <= self.rules.heap).then_some(State { left, mover: Seat::new(mover) })
    }

    fn random_order(&self, state: &State, _: Seat, chance: &mut impl Chance) -> Order {
        1 + chance.below(self.allowed(state).into()) as u16
    }

    /// Nothing is hidden. NM-WIRE-1.
    fn scramble_hidden(&self, _: &mut State, _: Seat, _: &mut impl Chance) {}

    fn builtin(
        &self,
        name: &str,
        options: &[(String, String)],
        seed: u64,
    ) -> Result<Box<dyn Builtin<Self>>, String> {
        if let Some((key, _)) = options.first() {
            return Err(format!("builtin:{name} has no option `{key}`"));
        }
        match name {
            "random" => Ok(Box::new(Random(agon_game::Seeded::stream(seed as i64, "random")))),
            "perfect" => Ok(Box::new(Perfect)),
            _ => Err(format!("nim has no built-in bot `{name}`; there are random, perfect")),
        }
    }

    fn picture(&self, state: &State, _: Option<Seat>) -> Picture {
        let mut picture = Picture::new();
        picture.line().put(Ink::Treasure, "| ".repeat(state.left.into()));
        picture
    }

    fn scene(&self, state: &State) -> impl Serialize {
        Scene { left: state.left, mover: state.mover.number() }
    }

    /// There are no records of an original.
    fn conform(_: &[u8], _: &mut Report) -> Recognised {
        Recognised::Foreign
    }
}

/// The state for spectators.
#[derive(Serialize)]
struct Scene {
    left: u16,
    /// Whose turn it is, from 1.
    mover: u8,
}

/// The protocol.
pub struct Lines;

impl Dialect<Nim> for Lines {
    fn new(_: &Nim) -> Self {
        Self
    }

    /// NM-WIRE-1.
    fn ask(&mut self, game: &Nim, _: Seat, view: &View<'_>, out: &mut Vec<u8>) {
        write!(out, "{} {}", view.left, game.rules.most).expect("writing to memory");
    }

    /// The rules decide whether the number is allowed.
    fn hear(&mut self, _: &Nim, _: Seat, message: &[u8]) -> Heard<Order> {
        let text = String::from_utf8_lossy(message);
        match text.trim().parse() {
            Ok(count) => Heard::Answer(count),
            Err(_) => Heard::Malformed("the answer must be a number of matches".to_owned()),
        }
    }

    fn say(&self, _: &Nim, _: Seat, order: &Order, out: &mut Vec<u8>) {
        write!(out, "{order}").expect("writing to memory");
    }
}

/// Play choice by choice: how many to take. Choosing nothing takes one.
pub enum Choices {}

impl Hand<Nim> for Choices {
    type Choice = Order;

    fn seen(_: &Nim, view: &View<'_>) -> State {
        **view
    }

    fn choices(game: &Nim, seat: Seat, seen: &State, chosen: &[Order]) -> Vec<Order> {
        if chosen.is_empty() {
            return hand::effective(game, seat, seen, chosen, 1..=game.allowed(seen));
        }
        Vec::new()
    }

    fn order(_: &Nim, _: Seat, chosen: &[Order]) -> Order {
        chosen.last().copied().unwrap_or(1)
    }

    fn chosen(_: &Nim, _: Seat, order: &Order) -> Vec<Order> {
        vec![*order]
    }
}

/// Takes any number.
struct Random(agon_game::Seeded);

impl Builtin<Nim> for Random {
    fn order(&mut self, game: &Nim, view: View<'_>) -> Order {
        1 + self.0.below(game.allowed(view).into()) as u16
    }
}

/// Leaves a multiple of `most` + 1, from which nobody can win.
struct Perfect;

impl Builtin<Nim> for Perfect {
    fn order(&mut self, game: &Nim, view: View<'_>) -> Order {
        (view.left % (game.rules.most + 1)).max(1)
    }
}
