//! [`Game`]: the rules of a game as a pure state machine.

use std::fmt::{Debug, Display};

use serde::Serialize;

use crate::conform::{ConformReport, Recognised};
use crate::leaves::leaves;
use crate::session::value;
use crate::{
    Answer, Answers, Chance, Dialect, Facts, GameInfo, Hand, Import, Ink, Kit, MapFindings, Outcome, Picture,
    Recipe, Seat, SeatAdvantages, Seats, Seeded, Setup, SetupError, Unreadable, Workload,
};

/// The rules of a game. `self` holds what never changes in a match (rules, map, tables); the state is a small separate value,
/// so that a search can copy it cheaply.
///
/// The same setup, answers and draws of chance give the same states on every machine. Nothing a bot asks for is an error here:
/// it is played, or rejected through the [`Sink`].
pub trait Game: Sized + Send + Sync + 'static {
    /// Name, presets, maps and documents of the game.
    const INFO: GameInfo;

    /// All that changes in a match. Equal states behave equally for ever.
    type State: Clone + Eq + Debug + Send;
    /// Scratch memory that [`play`](Game::play) reuses from call to call; its content never matters.
    type Work: Default + Send;
    /// What one seat may see.
    type View<'a>: Debug;
    /// What a bot asks for in one answer: the whole list where a game takes lists.
    type Order: Clone + Eq + Debug + Send;
    /// What happened, for spectators.
    type Event: Clone + Debug + Serialize + Send;
    /// Why an order was rejected.
    type Reason: Reason;
    /// The original wire protocol.
    type Dialect: Dialect<Self>;
    /// How it is played choice by choice.
    type Hand: Hand<Self>;
    /// What the matches of one setup share: the rules, the maps to choose from, and every table that does not depend on the
    /// seed.
    type Prepared: Send + Sync + 'static;

    /// Reads rules and maps, once for all matches of a setup. The setup's seed is not used.
    ///
    /// # Errors
    /// When the setup names something unknown, contradicts itself or exceeds a capacity.
    fn prepare(setup: &Setup) -> Result<Self::Prepared, SetupError>;

    /// The match of a seed.
    ///
    /// # Errors
    /// When the seed makes or picks a map that cannot be played under these rules.
    fn begin(prepared: &Self::Prepared, seed: i64) -> Result<Self, SetupError>;

    /// One match from rules, map, seats and seed.
    ///
    /// # Errors
    /// Those of [`prepare`](Game::prepare) and [`begin`](Game::begin).
    fn set_up(setup: &Setup) -> Result<Self, SetupError> {
        Self::begin(&Self::prepare(setup)?, setup.seed)
    }

    /// The complete setup: everything needed to build this game again, with no defaults left in it.
    fn recipe(&self) -> &Recipe;

    /// The state before the first answer.
    fn start(&self) -> Self::State;

    /// Who must answer now. Empty exactly when [`outcome`](Game::outcome) returns one.
    fn deciding(&self, state: &Self::State) -> Seats;

    /// What `seat` sees. Bots, and the messages to them, are made from this and nothing else.
    fn view<'a>(&'a self, state: &'a Self::State, seat: Seat) -> Self::View<'a>;

    /// The rulebook's limit for the answer of `seat`, in milliseconds.
    fn limit_ms(&self, state: &Self::State, seat: Seat) -> u32;

    /// Thinking time in milliseconds from which an answer costs its player something in the game, where thinking time is part
    /// of play.
    fn soft_limit_ms(&self) -> Option<u32> {
        None
    }

    /// How long the referee waits before the first question, and lets bots run on after the last message, in milliseconds.
    fn pauses_ms(&self) -> [u32; 2] {
        [0, 0]
    }

    /// Plays one step: `answers` holds one entry for each deciding seat, ascending.
    fn play(
        &self,
        state: &mut Self::State,
        work: &mut Self::Work,
        answers: &[(Seat, Answer<Self::Order>)],
        chance: &mut impl Chance,
        out: &mut impl Sink<Self>,
    );

    /// How the match ended; none while it goes on.
    fn outcome(&self, state: &Self::State) -> Option<Outcome>;

    /// Where in the match `state` is, in the rulebook's words: `turn 12`, `round 3, player 2`.
    fn moment(&self, state: &Self::State) -> String;

    /// What speaks for each seat in a position: the features of [`GameInfo::advantage`], from everything on the board, hidden
    /// or not. It is read from the state alone, without any history.
    fn standing(&self, _state: &Self::State) -> SeatAdvantages {
        SeatAdvantages::default()
    }

    /// Appends the canonical bytes of an order.
    fn pack(&self, order: &Self::Order, out: &mut Vec<u8>);

    /// Reads what [`pack`](Game::pack) wrote. `None` for anything else; never panics.
    fn unpack(&self, bytes: &[u8]) -> Option<Self::Order>;

    /// The part of an order that everybody may read, if the order contains something the bot says to its author alone; none if
    /// the whole order may be read. It must play the same.
    fn public(&self, _order: &Self::Order) -> Option<Self::Order> {
        None
    }

    /// Appends the canonical bytes of a state. Equal states have equal bytes, on every machine.
    fn save(&self, state: &Self::State, out: &mut Vec<u8>);

    /// Reads what [`save`](Game::save) wrote. `None` for anything else; never panics.
    fn load(&self, bytes: &[u8]) -> Option<Self::State>;

    /// The orders that the rules allow `seat`, in games where they are few enough to be listed; none in all others.
    fn orders(&self, _state: &Self::State, _seat: Seat) -> Vec<Self::Order> {
        Vec::new()
    }

    /// A random order of `seat`: the policy of benchmarks and property tests. Mostly legal. Written by games that do not list
    /// their [`orders`](Game::orders).
    fn random_order(&self, state: &Self::State, seat: Seat, chance: &mut impl Chance) -> Self::Order {
        let mut orders = self.orders(state, seat);
        assert!(!orders.is_empty(), "{} neither lists its orders nor draws one", Self::INFO.name);
        orders.swap_remove(chance.below(orders.len() as u32) as usize)
    }

    /// Changes at random what `seat` may not see, if anything is hidden. The view of `seat` must stay the same.
    fn scramble_hidden(&self, _state: &mut Self::State, _seat: Seat, _chance: &mut impl Chance) {}

    /// Replaces `state` by one that `seat` cannot tell from it, given what it was shown: what it does not see may be anywhere
    /// it could have reached since it was last shown. Without secrets the state stays as it is. `shown` are the earlier states
    /// in which `seat` was asked, the latest first; a game looks back as far as it needs to.
    ///
    /// How much is hidden is not drawn: a player who keeps count nearly knows it.
    fn determinize(
        &self,
        _state: &mut Self::State,
        _seat: Seat,
        _shown: &mut dyn Iterator<Item = Self::State>,
        _chance: &mut Seeded,
    ) {
    }

    /// A built-in bot, by its name in [`GameInfo::builtins`]. `options` are those given as `builtin:name?key=value`, in order.
    ///
    /// # Errors
    /// A sentence for the user, when the name or an option is unknown or out of range.
    fn builtin(
        &self,
        name: &str,
        options: &[(String, String)],
        seed: u64,
    ) -> Result<Box<dyn Builtin<Self>>, String>;

    /// How bots of the original contest are started and connect, under these rules.
    fn kit(&self) -> Kit {
        Kit::Lines
    }

    /// The board for a terminal, as `eyes` sees it, or all of it. Undrawn it is the scene, one line for each value, which
    /// hides nothing.
    fn picture(&self, state: &Self::State, _eyes: Option<Seat>) -> Picture {
        let mut picture = Picture::new();
        for leaf in leaves(&value(&self.scene(state))) {
            picture.line().put(Ink::Plain, leaf);
        }
        picture
    }

    /// The state for spectators and for the exported replay.
    fn scene(&self, state: &Self::State) -> impl Serialize;

    /// Compares a recorded match of the original, if there is one, with this engine. `record` is the whole (already unpacked)
    /// content of a file.
    fn conform(_record: &[u8], _report: &mut ConformReport) -> Recognised {
        Recognised::Foreign
    }

    /// The board within a step, just after `event`, as `eyes` sees it: one picture per frame, in games whose steps have
    /// frames. None in all others.
    fn frame(&self, _event: &Self::Event, _eyes: Option<Seat>) -> Option<Picture> {
        None
    }

    /// How many frames the step that led to `state` had, known even if nobody listened to it; 0 in games whose steps have
    /// none.
    fn frame_count(&self, _state: &Self::State) -> u32 {
        0
    }

    /// A frame within a step for the viewer, as the changes since `before`, the previous frame of the same step (if none, the
    /// whole frame). None for events that are no frames, and in games whose steps have none.
    fn frame_change<'a>(
        &'a self,
        _event: &'a Self::Event,
        _before: Option<&'a Self::Event>,
    ) -> Option<impl Serialize + 'a> {
        None::<()>
    }

    /// Whether [`import`](Game::import) reads anything.
    const IMPORTS: bool = false;

    /// Reads a match that the original recorded, in games whose original writes replay files.
    ///
    /// # Errors
    /// When the bytes are something else, or cannot be read.
    fn import(_record: &[u8]) -> Result<Import<Self::Order>, Unreadable> {
        Err(Unreadable::Foreign)
    }

    /// Appends the match with these answers, one list per step, as the original would have recorded it. `false` where the
    /// original has no such files.
    fn export(&self, _steps: &[Answers<Self::Order>], _facts: &Facts, _out: &mut Vec<u8>) -> bool {
        false
    }

    /// Checks a map file, in games that have map files; `name` appears in errors.
    ///
    /// # Errors
    /// Where and why it is not a map.
    fn check_map(_name: &str, _content: &[u8]) -> Option<Result<MapFindings, SetupError>> {
        None
    }

    /// The game's own workloads for `agon bench`, besides those every game has.
    fn workloads() -> Vec<Workload> {
        Vec::new()
    }
}

/// Why an order was rejected: a short sentence and the rule behind it.
pub trait Reason: Clone + Debug + Display + Send {
    /// The id of the rule in the game's `RULES.md`.
    fn rule(&self) -> &'static str;

    /// Whether the order asked for what is already so, which its author need not mind.
    fn is_harmless(&self) -> bool {
        false
    }
}

/// Whether `text` has the form of a rule id: capitalised words and a number, joined by `-`.
pub fn is_rule_id(text: &str) -> bool {
    let Some((words, number)) = text.rsplit_once('-') else { return false };
    let word = |word: &str| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    };
    words.contains('-') && words.split('-').all(word) && number.parse::<u32>().is_ok()
}

/// Receives what [`Game::play`] reports. Search and playouts use [`Ignored`], which costs nothing.
pub trait Sink<G: Game> {
    /// Reports that something happened.
    fn event(&mut self, event: G::Event);

    /// Reports that the order of `seat` (or entry `index`, from 0, of its list) is not carried out.
    fn reject(&mut self, seat: Seat, index: usize, reason: G::Reason);

    /// Whether anybody listens. If not, games may skip building costly events.
    fn listens(&self) -> bool {
        true
    }
}

/// A sink chosen at run time. Callers that are not in a hurry play into one of these, so that the rules are compiled once for
/// all of them.
impl<G: Game> Sink<G> for &mut dyn Sink<G> {
    fn event(&mut self, event: G::Event) {
        (**self).event(event);
    }

    fn reject(&mut self, seat: Seat, index: usize, reason: G::Reason) {
        (**self).reject(seat, index, reason);
    }

    fn listens(&self) -> bool {
        (**self).listens()
    }
}

/// The sink of playouts: nobody listens.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ignored;

impl<G: Game> Sink<G> for Ignored {
    fn event(&mut self, _: G::Event) {}
    fn reject(&mut self, _: Seat, _: usize, _: G::Reason) {}
    fn listens(&self) -> bool {
        false
    }
}

/// A built-in bot. It sees its view and keeps what it likes between turns.
pub trait Builtin<G: Game>: Send {
    /// The answer to this view.
    fn order(&mut self, game: &G, view: G::View<'_>) -> G::Order;
}
