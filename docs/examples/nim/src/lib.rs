//! Nim: two players take matches from a heap.
//!
//! The smallest possible game, and the example in the guide's page on adding one. A real game has a file for each
//! mechanic; this one fits on a page. The rules are in `RULES.md`; each function names, by id, those it decides.

#![forbid(unsafe_code)]

use std::sync::Arc;

use agon_game::prepared::SharedRules;
use agon_game::simple::{InLines, Lines, OneOrder, Random, Refusal};
use agon_game::{
    Answer, Builtin, BuiltinInfo, Chance, Cpus, Game, GameInfo, Outcome, Preset, Recipe, Seat, Seats, Setup,
    SetupError, Sink,
};
use include_dir::include_dir;
use serde::{Deserialize, Serialize};

/// Name, documents and lists.
pub const INFO: GameInfo = GameInfo {
    name: "nim",
    title: "Nim",
    summary: "two players take matches from a heap; the last one wins",
    longest_message: 100,
    presets: &[Preset {
        name: "standard",
        about: "21 matches",
        text: include_str!("../rules/standard.toml"),
        cpus: Cpus::One,
    }],
    builtins: &[
        BuiltinInfo { name: "random", about: "takes any number that is allowed", options: &[] },
        BuiltinInfo { name: "perfect", about: "leaves a multiple of `most` + 1", options: &[] },
    ],
    rulebook: include_str!("../RULES.md"),
    sources: &[
        ("src", include_dir!("$CARGO_MANIFEST_DIR/src")),
        ("spec", include_dir!("$CARGO_MANIFEST_DIR/spec")),
    ],
    example_set: "heap=30",
    looks_like_answer: |text| text.parse::<u16>().is_ok(),
    ..GameInfo::PLAIN
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

impl Rules {
    fn check(&self) -> Result<(), String> {
        let fine = (1..=10_000).contains(&self.heap) && self.most > 0;
        fine.then_some(()).ok_or_else(|| "`heap` must be 1 to 10000 and `most` at least 1".to_owned())
    }
}

/// Everything that never changes in a match.
pub struct Nim {
    rules: Arc<Rules>,
    recipe: Recipe,
}

/// Everything that changes in a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct State {
    /// The matches left.
    pub left: u16,
    /// The seat that takes next, from 0.
    pub mover: u8,
}

/// The number of matches taken.
pub type Order = u16;

impl Game for Nim {
    const INFO: GameInfo = INFO;

    type State = State;
    type Work = ();
    /// Everything: nothing is hidden. NM-WIRE-1.
    type View<'a> = &'a State;
    type Order = Order;
    /// What happened, as a sentence.
    type Event = String;
    type Reason = Refusal;
    type Dialect = Lines;
    type Hand = OneOrder;
    type Prepared = SharedRules<Rules>;

    fn prepare(setup: &Setup) -> Result<SharedRules<Rules>, SetupError> {
        SharedRules::load(&INFO, setup, Rules::check)
    }

    fn begin(shared: &SharedRules<Rules>, seed: i64) -> Result<Self, SetupError> {
        Ok(Self { rules: shared.rules.clone(), recipe: shared.recipe("", "", seed) })
    }

    fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// NM-HEAP-1: a whole heap. NM-TURN-1: player 1 begins.
    fn start(&self) -> State {
        State { left: self.rules.heap, mover: 0 }
    }

    fn deciding(&self, state: &State) -> Seats {
        if state.left == 0 { Seats::NONE } else { Seats::one(Seat::new(state.mover)) }
    }

    fn view<'a>(&'a self, state: &'a State, _: Seat) -> &'a State {
        state
    }

    fn limit_ms(&self, _: &State, _: Seat) -> u32 {
        self.rules.response_time
    }

    /// NM-TAKE-1.
    fn orders(&self, state: &State, _: Seat) -> Vec<Order> {
        (1..=self.rules.most.min(state.left)).collect()
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
        let most = self.rules.most.min(state.left);
        let wanted = answer.order().copied().unwrap_or(1);
        let count = if (1..=most).contains(&wanted) { wanted } else { 1 };
        if count != wanted {
            let why = format!("{wanted} cannot be taken, only 1 to {most}; one was taken");
            out.reject(*seat, 0, Refusal { rule: "NM-TAKE-1", why });
        }
        state.left -= count;
        state.mover = 1 - state.mover;
        out.event(format!("player {seat} took {count}"));
    }

    /// NM-END-1: the last to move has won; the mover is the other player.
    fn outcome(&self, state: &State) -> Option<Outcome> {
        let scores = vec![f64::from(state.mover), f64::from(1 - state.mover)];
        let reason = || format!("player {} took the last match", 2 - state.mover);
        (state.left == 0).then(|| Outcome::by_score(scores, reason()))
    }

    fn moment(&self, state: &State) -> String {
        format!("{} left, player {}", state.left, 1 + state.mover)
    }

    fn pack(&self, order: &Order, out: &mut Vec<u8>) {
        out.extend(order.to_le_bytes());
    }

    fn unpack(&self, bytes: &[u8]) -> Option<Order> {
        Some(u16::from_le_bytes(bytes.try_into().ok()?))
    }

    fn save(&self, state: &State, out: &mut Vec<u8>) {
        out.extend(state.left.to_le_bytes());
        out.push(state.mover);
    }

    fn load(&self, bytes: &[u8]) -> Option<State> {
        let [low, high, mover @ 0..=1] = *bytes else { return None };
        let left = u16::from_le_bytes([low, high]);
        (left <= self.rules.heap).then_some(State { left, mover })
    }

    fn builtin(
        &self,
        name: &str,
        options: &[(String, String)],
        seed: u64,
    ) -> Result<Box<dyn Builtin<Self>>, String> {
        INFO.check_builtin(name, options)?;
        Ok(if name == "perfect" { Box::new(Perfect) } else { Box::new(Random::new(seed)) })
    }

    fn scene(&self, state: &State) -> impl Serialize {
        *state
    }
}

/// The protocol. NM-WIRE-1.
impl InLines for Nim {
    const ANSWER: &'static str = "a number of matches";

    fn question(&self, state: &&State) -> String {
        format!("{} {}", state.left, self.rules.most)
    }
}

/// Leaves a multiple of `most` + 1, from which nobody can win.
struct Perfect;

impl Builtin<Nim> for Perfect {
    fn order(&mut self, game: &Nim, state: &State) -> Order {
        (state.left % (game.rules.most + 1)).max(1)
    }
}
