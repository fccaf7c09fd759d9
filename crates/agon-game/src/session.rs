//! The object-safe face of games: one running match, and the game before a match.
//!
//! Longer than 500 lines: two traits and the one type that implements them for every game.
//!
//! Orders cross this boundary as their canonical bytes ([`Game::pack`]), which is also what a replay holds: the referee, a
//! replay and a re-run feed a match in exactly the same way.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use xxhash_rust::xxh3::xxh3_64;

use crate::bench::Bench;
use crate::conform::{ConformReport, Recognised};
use crate::hand::{ByHand, Hand as _};
use crate::{
    Answer, Answers, Builtin, Chance, Dialect, Facts, Game, GameInfo, Heard, Import, Kit, MapFindings,
    Outcome, Picture, Reason, Recipe, Seat, SeatAdvantages, Seats, Seeded, Setup, SetupError, Sink,
    Unreadable,
};

/// An answer whose order is in canonical bytes.
pub type PackedAnswer = Answer<Vec<u8>>;

/// A rejected order, described for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Whose order.
    pub seat: Seat,
    /// The entry of its list, from 0; 0 where a game takes one order.
    pub index: usize,
    /// The rule behind it.
    pub rule: &'static str,
    /// Why, as a sentence.
    pub why: String,
    /// Whether the order asked for what is already so.
    pub harmless: bool,
}

/// Where a match is: together with the recipe, everything that decides how the same answers continue it.
///
/// The dialect is not part of it: what bots were told and said decides nothing in the rules.
#[derive(Clone, Debug)]
pub struct Position {
    steps: u32,
    /// The canonical bytes of the state.
    state: Vec<u8>,
    /// How far the rules have drawn.
    chance: Seeded,
}

impl Position {
    /// How many steps were played.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// The canonical bytes of the state.
    pub fn state(&self) -> &[u8] {
        &self.state
    }

    /// The same position with another future: the rules draw from `seed` from here on.
    #[must_use]
    pub fn redrawn(self, seed: i64) -> Self {
        Self { chance: future_stream(seed), ..self }
    }

    /// How often the rules have drawn in the match of `seed`; none if too often to count.
    pub fn drawn(&self, seed: i64) -> Option<u32> {
        self.chance.drawn_since(play_stream(seed), MOST_DRAWN)
    }
}

/// Upper limit on the draws of a match that are counted.
const MOST_DRAWN: u32 = 10_000_000;

/// The stream the rules of the match of `seed` draw from.
pub fn play_stream(seed: i64) -> Seeded {
    Seeded::stream(seed, "play")
}

/// The stream the rules draw from in another future of a match.
fn future_stream(seed: i64) -> Seeded {
    Seeded::stream(seed, "future")
}

/// One running match of some game. No function has a default, so that a wrapper must forward every one.
pub trait Session: Send {
    /// The game.
    fn info(&self) -> &'static GameInfo;
    /// Everything needed to set this match up again.
    fn recipe(&self) -> &Recipe;
    /// How bots of the original contest are started and connect.
    fn kit(&self) -> Kit;
    /// How many steps were played.
    fn steps(&self) -> u32;
    /// Where the match is, in the game's words.
    fn moment(&self) -> String;
    /// Who must answer now; empty when the match is over.
    fn deciding(&self) -> Seats;
    /// The limit for the answer of `seat`, in milliseconds.
    fn limit_ms(&self, seat: Seat) -> u32;
    /// Thinking time in milliseconds from which an answer costs its player something in the game ([`Game::soft_limit_ms`]).
    fn soft_limit_ms(&self) -> Option<u32>;
    /// The pauses before the first question and after the last message, in milliseconds.
    fn pauses_ms(&self) -> [u32; 2];
    /// Appends the message that asks `seat`. Once per seat and step, in ascending order of seats.
    fn ask(&mut self, seat: Seat, out: &mut Vec<u8>);
    /// Reads a message of `seat`.
    fn hear(&mut self, seat: Seat, message: &[u8]) -> Heard<Vec<u8>>;
    /// Appends the canonical message for a packed order; `false` when it is not one.
    fn say(&self, seat: Seat, order: &[u8], out: &mut Vec<u8>) -> bool;
    /// The part of a packed order that everybody may read ([`Game::public`]); none if the whole order may be read.
    fn public(&self, order: &[u8]) -> Option<Vec<u8>>;
    /// The name under which the bot of `seat` registered ([`Dialect::registered`](crate::Dialect::registered)), otherwise the
    /// one announced for it.
    fn registered(&self, seat: Seat) -> Option<String>;
    /// Announces the name a bot from elsewhere gave itself: untrusted text, already bounded.
    fn announce(&mut self, seat: Seat, name: String);
    /// Seats a built-in bot.
    ///
    /// # Errors
    /// A sentence for the user.
    fn seat_builtin(
        &mut self,
        seat: Seat,
        name: &str,
        options: &[(String, String)],
        seed: u64,
    ) -> Result<(), String>;
    /// Lets the built-in bot of `seat` answer, as a packed order.
    ///
    /// # Panics
    /// When there is none in that seat.
    fn think(&mut self, seat: Seat) -> Vec<u8>;
    /// A random order of `seat`, mostly legal, as a packed order.
    fn stray(&self, seat: Seat, chance: &mut Seeded) -> Vec<u8>;
    /// What speaks for each seat as the match stands.
    fn standing(&self) -> SeatAdvantages;
    /// Plays one step with one answer per deciding seat, ascending.
    ///
    /// # Errors
    /// When the seats or the bytes of an order do not fit this step, as the answers of a damaged or altered replay may not. The
    /// match is unchanged.
    fn play(&mut self, answers: &[(Seat, PackedAnswer)]) -> Result<(), String>;
    /// The orders the last step rejected.
    fn rejections(&self) -> &[Rejection];
    /// The events of the last step; empty unless [`keep_events`](Session::keep_events) was called, and always in a WebAssembly
    /// module, which gets them as text ([`events_json`](Session::events_json)).
    fn events(&self) -> Vec<Value>;
    /// Keeps the events of each step from now on.
    fn keep_events(&mut self);
    /// How the match ended; none while it goes on.
    fn outcome(&self) -> Option<&Outcome>;
    /// Appends what `seat` is told at the end.
    fn end(&mut self, seat: Seat, facts: &Facts, out: &mut Vec<u8>);
    /// A hash of the canonical bytes of the state.
    fn hash(&mut self) -> u64;
    /// The board for a terminal.
    fn picture(&self, eyes: Option<Seat>) -> Picture;
    /// The board after each frame of the last step; empty where steps have no frames, and unless
    /// [`keep_events`](Session::keep_events) was called.
    fn frames(&self, eyes: Option<Seat>) -> Vec<Picture>;
    /// The state as JSON.
    fn scene(&self) -> Value;
    /// Where the match is.
    fn position(&self) -> Position;
    /// Goes to a position of the same recipe, with a dialect that has heard nothing yet. Returns `false`, without any change,
    /// when the position does not belong to this match.
    fn go_to(&mut self, position: &Position) -> bool;
    /// A position that `seat` cannot tell from this one ([`Game::determinize`]), which is this one in games without secrets;
    /// none if it does not belong to this match. `shown` are the positions in which `seat` was asked before, the latest first.
    fn determinized(
        &self,
        position: &Position,
        seat: Seat,
        shown: &mut dyn Iterator<Item = &Position>,
        chance: &mut Seeded,
    ) -> Option<Position>;
    /// Makes the rules draw from `seed` from here on, as [`Position::redrawn`] does; the dialect keeps what it has heard.
    fn redraw(&mut self, seed: i64);
    /// The events of the last step as a JSON list, without the frames; empty unless [`keep_events`](Session::keep_events) was
    /// called.
    fn events_json(&self) -> Box<RawValue>;
    /// The frames of the last step as a JSON list ([`Game::frame_change`]); none where it has no frames.
    fn frames_json(&self) -> Option<Box<RawValue>>;
    /// How many frames the last step had, whether events were kept or not.
    fn frame_count(&self) -> u32;
    /// The match as played choice by choice.
    fn by_hand(&self) -> &dyn ByHand;
}

/// A game before any match.
pub trait AnyGame: Send + Sync {
    /// What is known about it.
    fn info(&self) -> &'static GameInfo;
    /// Reads rules and maps, for many matches that differ only in their seeds.
    ///
    /// # Errors
    /// When the setup cannot be played.
    fn prepare(&self, setup: &Setup) -> Result<Box<dyn Ready>, SetupError>;
    /// Sets up one match.
    ///
    /// # Errors
    /// When the setup cannot be played.
    fn open(&self, setup: &Setup) -> Result<Box<dyn Session>, SetupError> {
        self.prepare(setup)?.open(setup.seed)
    }
    /// Compares a recorded match of the original with the engine.
    fn conform(&self, record: &[u8], report: &mut ConformReport) -> Recognised;
    /// Reads a match that the original recorded.
    ///
    /// # Errors
    /// When the bytes are something else or cannot be read, or the match cannot be set up.
    fn import(&self, _record: &[u8]) -> Result<Import<Vec<u8>>, Unreadable> {
        Err(Unreadable::Foreign)
    }
    /// The match with these answers, one list per step, as the original would have recorded it; `None` where the original has no
    /// such files.
    ///
    /// # Errors
    /// When the setup cannot be played, or the answers are not those of such a match.
    fn export(
        &self,
        _setup: &Setup,
        _steps: &mut dyn Iterator<Item = &[(Seat, PackedAnswer)]>,
        _facts: &Facts,
    ) -> Result<Option<Vec<u8>>, String> {
        Ok(None)
    }
    /// Checks a map file, in games that have map files; `name` appears in errors.
    ///
    /// # Errors
    /// Where and why it is not a map.
    fn check_map(&self, _name: &str, _content: &[u8]) -> Option<Result<MapFindings, SetupError>> {
        None
    }
    /// The workloads every game has, and its own. A WebAssembly module has none, or only random matches if built to be measured
    /// (the feature `playouts`).
    ///
    /// # Errors
    /// When the setup cannot be played.
    fn bench(&self, setup: &Setup) -> Result<Bench, SetupError>;
}

/// A game whose rules and maps are loaded: a match needs only a seed.
pub trait Ready: Send + Sync {
    /// The match of a seed.
    ///
    /// # Errors
    /// When the seed makes or picks a map that cannot be played under these rules.
    fn open(&self, seed: i64) -> Result<Box<dyn Session>, SetupError>;
}

/// [`Ready`] for a [`Game`].
struct Prepared<G: Game>(G::Prepared);

impl<G: Game> Ready for Prepared<G> {
    fn open(&self, seed: i64) -> Result<Box<dyn Session>, SetupError> {
        Ok(Box::new(RunningMatch::new(G::begin(&self.0, seed)?)))
    }
}

/// [`AnyGame`] for a [`Game`].
pub struct Face<G>(PhantomData<fn() -> G>);

impl<G> Face<G> {
    /// The face of `G`.
    #[expect(clippy::new_without_default, reason = "a constant, not a value with a default")]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

/// What only a command line asks for is left out of a WebAssembly module: it is a quarter of the code.
const BARE: bool = cfg!(target_family = "wasm");

impl<G: Game> AnyGame for Face<G> {
    fn info(&self) -> &'static GameInfo {
        const { &G::INFO }
    }

    fn prepare(&self, setup: &Setup) -> Result<Box<dyn Ready>, SetupError> {
        Ok(Box::new(Prepared::<G>(G::prepare(setup)?)))
    }

    fn conform(&self, record: &[u8], report: &mut ConformReport) -> Recognised {
        if BARE && !G::IMPORTS {
            return Recognised::Foreign;
        }
        G::conform(record, report)
    }

    fn import(&self, record: &[u8]) -> Result<Import<Vec<u8>>, Unreadable> {
        let Import { setup, steps, names, whole, notes } = G::import(record)?;
        let game = G::set_up(&setup).map_err(|error| Unreadable::Damaged(error.to_string()))?;
        let pack = |order: &G::Order| {
            let mut bytes = Vec::new();
            game.pack(order, &mut bytes);
            Some(bytes)
        };
        let packed =
            |(seat, answer): &(Seat, Answer<G::Order>)| answer.convert(pack).map(|answer| (*seat, answer));
        let steps = steps.iter().map(|answers| answers.iter().filter_map(packed).collect()).collect();
        Ok(Import { setup, steps, names, whole, notes })
    }

    fn export(
        &self,
        setup: &Setup,
        steps: &mut dyn Iterator<Item = &[(Seat, PackedAnswer)]>,
        facts: &Facts,
    ) -> Result<Option<Vec<u8>>, String> {
        if BARE {
            return Ok(None);
        }
        let mut table = RunningMatch::new(G::set_up(setup).map_err(|error| error.to_string())?);
        let mut typed = Vec::new();
        for answers in steps {
            typed.push(table.typed(answers)?);
            table.play_typed(typed.last().expect("just pushed"));
        }
        let mut out = Vec::new();
        Ok(table.game.export(&typed, facts, &mut out).then_some(out))
    }

    fn check_map(&self, name: &str, content: &[u8]) -> Option<Result<MapFindings, SetupError>> {
        if BARE { None } else { G::check_map(name, content) }
    }

    fn bench(&self, setup: &Setup) -> Result<Bench, SetupError> {
        match (BARE, cfg!(feature = "playouts")) {
            (false, _) => Bench::new::<G>(setup),
            (true, true) => Bench::bare::<G>(setup),
            (true, false) => Ok(Bench::default()),
        }
    }
}

/// One running match of `G`, with its dialect and its built-in bots.
pub struct RunningMatch<G: Game> {
    game: G,
    state: G::State,
    work: G::Work,
    chance: Seeded,
    dialect: G::Dialect,
    bots: Vec<Option<Box<dyn Builtin<G>>>>,
    log: Log<G>,
    steps: u32,
    outcome: Option<Outcome>,
    bytes: Vec<u8>,
    /// The names of bots from elsewhere.
    announced: BTreeMap<Seat, String>,
}

impl<G: Game> RunningMatch<G> {
    /// A match of `game` before its first answer.
    pub fn new(game: G) -> Self {
        let recipe = game.recipe();
        let chance = play_stream(recipe.seed);
        let bots = (0..recipe.seats).map(|_| None).collect();
        let state = game.start();
        let dialect = G::Dialect::new(&game);
        let outcome = game.outcome(&state);
        let log =
            Log { events: Vec::new(), rejections: Vec::new(), wanted: false, asked: false, before: None };
        let work = G::Work::default();
        let (bytes, announced) = (Vec::new(), BTreeMap::new());
        Self { game, state, work, chance, dialect, bots, log, steps: 0, outcome, bytes, announced }
    }

    /// The game.
    pub fn game(&self) -> &G {
        &self.game
    }

    /// The state.
    pub fn state(&self) -> &G::State {
        &self.state
    }

    /// The events of the last step.
    pub(crate) fn events_kept(&self) -> &[G::Event] {
        &self.log.events
    }

    /// The state before the last step, if events are kept and some may not be shown to everybody.
    pub(crate) fn before(&self) -> Option<&G::State> {
        self.log.before.as_ref()
    }

    /// The answers with their orders unpacked, if they fit this step.
    fn typed(&self, answers: &[(Seat, PackedAnswer)]) -> Result<Answers<G::Order>, String> {
        let deciding = self.game.deciding(&self.state);
        if deciding.is_empty() {
            return Err(format!("the match is over, yet {} more answers follow", answers.len()));
        }
        if !answers.iter().map(|(seat, _)| *seat).eq(deciding.iter()) {
            return Err(format!(
                "{:?} must answer, not {:?}",
                deciding,
                answers.iter().map(|a| a.0).collect::<Seats>()
            ));
        }
        let typed = |(seat, answer): &(Seat, PackedAnswer)| {
            let answer = answer.convert(|order| self.game.unpack(order));
            Ok((*seat, answer.ok_or_else(|| format!("the order of seat {seat} is damaged"))?))
        };
        answers.iter().map(typed).collect()
    }

    /// Plays typed answers.
    pub fn play_typed(&mut self, answers: &[(Seat, Answer<G::Order>)]) {
        self.log.events.clear();
        self.log.rejections.clear();
        if G::Hand::HIDES && self.log.wanted {
            self.log.before = Some(self.state.clone());
        }
        let Self { game, state, work, chance, dialect, log, .. } = self;
        for (seat, answer) in answers {
            if answer.order().is_none() {
                dialect.missed(game, *seat, answer);
            }
        }
        let mut teller = Teller { game, dialect, log };
        let mut out: &mut dyn Sink<G> = &mut teller;
        game.play(state, work, answers, chance, &mut out);
        self.steps += 1;
        self.outcome = game.outcome(state);
    }
}

/// What was reported during a step.
struct Log<G: Game> {
    events: Vec<G::Event>,
    rejections: Vec<Rejection>,
    /// Whether spectators want the events.
    wanted: bool,
    /// Whether any seat is asked by messages, so that the dialect needs the events.
    asked: bool,
    /// The state before the step, if events are wanted and some may not be shown to everybody.
    before: Option<G::State>,
}

/// Passes what a step reports on to the dialect and the log.
struct Teller<'a, G: Game> {
    game: &'a G,
    dialect: &'a mut G::Dialect,
    log: &'a mut Log<G>,
}

/// Upper limit on the rejections listed per step; the dialect is told of all.
const LISTED_REJECTIONS: usize = 1_000;

impl<G: Game> Sink<G> for Teller<'_, G> {
    fn listens(&self) -> bool {
        self.log.wanted || self.log.asked
    }

    fn event(&mut self, event: G::Event) {
        self.dialect.tell(self.game, &event);
        if self.log.wanted {
            self.log.events.push(event);
        }
    }

    fn reject(&mut self, seat: Seat, index: usize, reason: G::Reason) {
        self.dialect.rejected(self.game, seat, index, &reason);
        if self.log.rejections.len() < LISTED_REJECTIONS {
            let (rule, why, harmless) = (reason.rule(), reason.to_string(), reason.is_harmless());
            self.log.rejections.push(Rejection { seat, index, rule, why, harmless });
        }
    }
}

impl<G: Game> Session for RunningMatch<G> {
    fn info(&self) -> &'static GameInfo {
        const { &G::INFO }
    }

    fn recipe(&self) -> &Recipe {
        self.game.recipe()
    }

    fn kit(&self) -> Kit {
        self.game.kit()
    }

    fn steps(&self) -> u32 {
        self.steps
    }

    fn moment(&self) -> String {
        self.game.moment(&self.state)
    }

    fn deciding(&self) -> Seats {
        self.game.deciding(&self.state)
    }

    fn limit_ms(&self, seat: Seat) -> u32 {
        self.game.limit_ms(&self.state, seat)
    }

    fn soft_limit_ms(&self) -> Option<u32> {
        self.game.soft_limit_ms()
    }

    fn pauses_ms(&self) -> [u32; 2] {
        self.game.pauses_ms()
    }

    fn ask(&mut self, seat: Seat, out: &mut Vec<u8>) {
        self.log.asked = true;
        let view = self.game.view(&self.state, seat);
        self.dialect.ask(&self.game, seat, &view, out);
    }

    fn registered(&self, seat: Seat) -> Option<String> {
        self.dialect.registered(seat).or_else(|| self.announced.get(&seat).cloned())
    }

    fn announce(&mut self, seat: Seat, name: String) {
        self.announced.insert(seat, name);
    }

    fn hear(&mut self, seat: Seat, message: &[u8]) -> Heard<Vec<u8>> {
        let pack = |order| {
            let mut bytes = Vec::new();
            self.game.pack(&order, &mut bytes);
            bytes
        };
        match self.dialect.hear(&self.game, seat, message) {
            Heard::Answer(order) => Heard::Answer(pack(order)),
            Heard::Failed { why, order } => Heard::Failed { why, order: order.map(pack) },
            Heard::More => Heard::More,
            Heard::Malformed(why) => Heard::Malformed(why),
            Heard::Ignore(why) => Heard::Ignore(why),
            Heard::Close(why) => Heard::Close(why),
        }
    }

    fn say(&self, seat: Seat, order: &[u8], out: &mut Vec<u8>) -> bool {
        let order = self.game.unpack(order);
        if let Some(order) = &order {
            self.dialect.say(&self.game, seat, order, out);
        }
        order.is_some()
    }

    fn public(&self, order: &[u8]) -> Option<Vec<u8>> {
        let public = self.game.public(&self.game.unpack(order)?)?;
        let mut bytes = Vec::new();
        self.game.pack(&public, &mut bytes);
        Some(bytes)
    }

    fn seat_builtin(
        &mut self,
        seat: Seat,
        name: &str,
        options: &[(String, String)],
        seed: u64,
    ) -> Result<(), String> {
        self.bots[seat.index()] = Some(self.game.builtin(name, options, seed)?);
        Ok(())
    }

    fn think(&mut self, seat: Seat) -> Vec<u8> {
        let bot = self.bots[seat.index()].as_mut().expect("the referee seats a bot before it lets it think");
        let order = bot.order(&self.game, self.game.view(&self.state, seat));
        let mut bytes = Vec::new();
        self.game.pack(&order, &mut bytes);
        bytes
    }

    fn stray(&self, seat: Seat, chance: &mut Seeded) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.game.pack(&self.game.random_order(&self.state, seat, chance), &mut bytes);
        bytes
    }

    fn standing(&self) -> SeatAdvantages {
        self.game.standing(&self.state)
    }

    fn play(&mut self, answers: &[(Seat, PackedAnswer)]) -> Result<(), String> {
        let typed = self.typed(answers)?;
        self.play_typed(&typed);
        Ok(())
    }

    fn rejections(&self) -> &[Rejection] {
        &self.log.rejections
    }

    fn events(&self) -> Vec<Value> {
        if BARE {
            return Vec::new();
        }
        self.log.events.iter().map(|event| serde_json::to_value(event).unwrap_or(Value::Null)).collect()
    }

    fn keep_events(&mut self) {
        self.log.wanted = true;
    }

    fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    fn end(&mut self, seat: Seat, facts: &Facts, out: &mut Vec<u8>) {
        if let Some(outcome) = &self.outcome {
            self.dialect.end(&self.game, seat, outcome, facts, out);
        }
    }

    fn hash(&mut self) -> u64 {
        self.bytes.clear();
        self.game.save(&self.state, &mut self.bytes);
        xxh3_64(&self.bytes)
    }

    fn picture(&self, eyes: Option<Seat>) -> Picture {
        self.game.picture(&self.state, eyes)
    }

    fn frames(&self, eyes: Option<Seat>) -> Vec<Picture> {
        self.log.events.iter().filter_map(|event| self.game.frame(event, eyes)).collect()
    }

    fn scene(&self) -> Value {
        value(&self.game.scene(&self.state))
    }

    fn position(&self) -> Position {
        let mut state = Vec::new();
        self.game.save(&self.state, &mut state);
        Position { steps: self.steps, state, chance: self.chance.clone() }
    }

    fn go_to(&mut self, position: &Position) -> bool {
        let Some(state) = self.game.load(&position.state) else { return false };
        self.outcome = self.game.outcome(&state);
        self.state = state;
        self.chance = position.chance.clone();
        self.steps = position.steps;
        self.dialect = G::Dialect::new(&self.game);
        self.log.events.clear();
        self.log.rejections.clear();
        true
    }

    fn determinized(
        &self,
        position: &Position,
        seat: Seat,
        shown: &mut dyn Iterator<Item = &Position>,
        chance: &mut Seeded,
    ) -> Option<Position> {
        if !G::Hand::HIDES {
            return Some(position.clone());
        }
        let mut state = self.game.load(&position.state)?;
        let mut shown = shown.map_while(|position| self.game.load(&position.state));
        self.game.determinize(&mut state, seat, &mut shown, chance);
        let mut bytes = Vec::new();
        self.game.save(&state, &mut bytes);
        Some(Position { state: bytes, ..position.clone() })
    }

    fn redraw(&mut self, seed: i64) {
        self.chance = future_stream(seed);
    }

    fn events_json(&self) -> Box<RawValue> {
        json(&Listed(|| self.log.events.iter().filter(|event| self.game.frame_change(event, None).is_none())))
    }

    fn frames_json(&self) -> Option<Box<RawValue>> {
        let frames = || {
            let mut before = None;
            self.log.events.iter().filter_map(move |event| {
                let change = self.game.frame_change(event, before)?;
                before = Some(event);
                Some(change)
            })
        };
        frames().next().is_some().then(|| json(&Listed(frames)))
    }

    fn frame_count(&self) -> u32 {
        self.game.frame_count(&self.state)
    }

    fn by_hand(&self) -> &dyn ByHand {
        self
    }
}

/// A list built while it is being serialised.
pub(crate) struct Listed<F>(pub(crate) F);

impl<F: Fn() -> I, I: Iterator<Item: Serialize>> Serialize for Listed<F> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq((self.0)())
    }
}

/// The same as a value, to compare and take apart.
pub(crate) fn value(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// Our own values as JSON. This fails only for map keys that are not strings, which none of them has.
pub(crate) fn json(value: &impl Serialize) -> Box<RawValue> {
    to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// Random answers of all deciding seats.
pub fn random_answers<G: Game>(
    game: &G,
    state: &G::State,
    chance: &mut impl Chance,
    answers: &mut Vec<(Seat, Answer<G::Order>)>,
) {
    answers.clear();
    for seat in game.deciding(state).iter() {
        let order = game.random_order(state, seat, chance);
        answers.push((seat, Answer::Given { order, think_ms: 0 }));
    }
}
