//! [`Hand`]: a game played choice by choice, by a person who clicks or a program that picks numbers.
//!
//! An answer is a list of choices, and after each of them the game says which further ones have an effect. The rules are
//! not written twice: what a choice does is found by playing it on a state that holds only what the seat may see.

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize as _, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::session::{Listed, RunningMatch, json, value};
use crate::{Answer, Answers, Game, Reason as _, Seat, Seeded, Sink};

/// How a game is played choice by choice.
pub trait Hand<G: Game>: 'static {
    /// One thing to ask for: what a click gives, or one entry of an action mask.
    type Choice: Clone + Eq + Debug + Serialize + DeserializeOwned;

    /// Whether the rules hide anything from any seat.
    const HIDES: bool = false;

    /// The state as far as a view shows it, without anything hidden.
    fn seen(game: &G, view: &G::View<'_>) -> G::State;

    /// Every choice that has an effect when `seat` adds it to `chosen`, which are all allowed. None of them is refused.
    fn choices(game: &G, seat: Seat, seen: &G::State, chosen: &[Self::Choice]) -> Vec<Self::Choice>;

    /// The order that asks for these choices; for none, the order that asks for nothing, or for as little as the rules allow.
    fn order(game: &G, seat: Seat, seen: &G::State, chosen: &[Self::Choice]) -> G::Order;

    /// The choices that make up an order, leaving out what no choice can express.
    fn chosen(game: &G, seat: Seat, order: &G::Order) -> Vec<Self::Choice>;

    /// Which of `chosen` is entry `index` of the order made from them.
    fn entry(_chosen: &[Self::Choice], index: usize) -> usize {
        index
    }

    /// Plays an order of `seat` while the others ask for nothing.
    fn tried(game: &G, seat: Seat, seen: &G::State, order: G::Order, mut out: &mut dyn Sink<G>) -> G::State {
        let mut state = seen.clone();
        let given = |other| {
            let order = if other == seat { order.clone() } else { Self::order(game, other, seen, &[]) };
            (other, Answer::Given { order, think_ms: 0 })
        };
        let answers: Answers<G::Order> = game.deciding(seen).iter().map(given).collect();
        let mut chance = Seeded::stream(0, "hand");
        game.play(&mut state, &mut G::Work::default(), &answers, &mut chance, &mut out);
        state
    }

    /// Where the choices lead before anybody else moves, in games where that can be shown.
    fn midway(_game: &G, _seat: Seat, _seen: &G::State, _chosen: &[Self::Choice]) -> Option<G::State> {
        None
    }

    /// The scene of a state as a seat sees it.
    fn scene(game: &G, _seat: Seat, seen: &G::State) -> impl Serialize {
        game.scene(seen)
    }

    /// Whether a seat may be told of an event, in games that hide something; `before` and `after` are what it sees.
    fn notices(_game: &G, _seat: Seat, _before: &G::State, _after: &G::State, _event: &G::Event) -> bool {
        !Self::HIDES
    }
}

/// Those of `candidates` that have an effect after `chosen`: no part of the resulting order is refused, and it leads to
/// a different state than `chosen` alone.
pub fn effective<G: Game>(
    game: &G,
    seat: Seat,
    seen: &G::State,
    chosen: &[Choice<G>],
    candidates: impl IntoIterator<Item = Choice<G>>,
) -> Vec<Choice<G>> {
    let try_all = |list: &[Choice<G>]| {
        let mut refusals = Refusals::<G>::default();
        let state = G::Hand::tried(game, seat, seen, G::Hand::order(game, seat, seen, list), &mut refusals);
        (state, refusals.found.is_empty())
    };
    let (without, _) = try_all(chosen);
    let mut list = chosen.to_vec();
    let does = |candidate: &Choice<G>| {
        list.push(candidate.clone());
        let (state, allowed) = try_all(&list);
        list.pop();
        allowed && state != without
    };
    candidates.into_iter().filter(does).collect()
}

/// The type of a game's choices.
pub type Choice<G> = <<G as Game>::Hand as Hand<G>>::Choice;

/// Collects refusals, and events if wanted.
struct Refusals<G: Game> {
    seat: Option<Seat>,
    found: Vec<(usize, G::Reason)>,
    events: Vec<G::Event>,
}

impl<G: Game> Default for Refusals<G> {
    fn default() -> Self {
        Self { seat: None, found: Vec::new(), events: Vec::new() }
    }
}

impl<G: Game> Sink<G> for Refusals<G> {
    fn event(&mut self, event: G::Event) {
        if self.seat.is_some() {
            self.events.push(event);
        }
    }

    fn reject(&mut self, seat: Seat, index: usize, reason: G::Reason) {
        if self.seat.is_none_or(|own| own == seat) {
            self.found.push((index, reason));
        }
    }

    fn listens(&self) -> bool {
        self.seat.is_some()
    }
}

/// What a list of choices leads to, in the form a page reads.
#[derive(Clone, Debug, Serialize)]
pub struct Prospect {
    /// What can be added, each written as the game writes its choices.
    pub choices: Box<RawValue>,
    /// Which of the list are refused, and why; `index` counts from 0.
    pub refused: Vec<RefusedChoice>,
    /// The scene before anybody else moves, where the game can show that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub midway: Option<Value>,
    /// The scene after the step, if nobody else does anything.
    pub scene: Value,
    /// The events of that step, as the game writes them.
    pub events: Box<RawValue>,
    /// Its frames, as the game writes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<Box<RawValue>>,
}

/// A choice that is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefusedChoice {
    /// Its index in the list, from 0.
    pub index: usize,
    /// The rule behind it.
    pub rule: &'static str,
    /// Why, as a sentence.
    pub why: String,
}

/// The object-safe face of [`Hand`] in a running match. Choices are passed as a JSON list.
pub trait ByHand {
    /// Whether the rules hide anything from any seat.
    fn hides(&self) -> bool;
    /// The scene as `seat` sees it.
    fn scene_of(&self, seat: Seat) -> Value;
    /// The events of the last step that `seat` may be told of.
    fn events_of(&self, seat: Seat) -> Box<RawValue>;
    /// What `chosen` would lead to.
    ///
    /// # Errors
    /// When it is not a list of choices of this game, or `seat` has nothing to decide.
    fn prospect(&self, seat: Seat, chosen: &Value) -> Result<Prospect, String>;
    /// The packed order that asks for `chosen`.
    ///
    /// # Errors
    /// When it is not a list of choices of this game, or `seat` has nothing to decide.
    fn order_of(&self, seat: Seat, chosen: &Value) -> Result<Vec<u8>, String>;
    /// The choices that make up a packed order.
    fn chosen_in(&self, seat: Seat, order: &[u8]) -> Option<Value>;
}

/// Upper limit on the choices in one list: more than anybody makes by hand.
const MOST_CHOSEN: usize = 4_096;

impl<G: Game> RunningMatch<G> {
    fn seen_by(&self, seat: Seat) -> G::State {
        G::Hand::seen(self.game(), &self.game().view(self.state(), seat))
    }

    fn read(&self, seat: Seat, chosen: &Value) -> Result<Vec<Choice<G>>, String> {
        if !self.game().deciding(self.state()).contains(seat) {
            return Err(format!("seat {seat} has nothing to decide now"));
        }
        if chosen.as_array().is_none_or(|list| list.len() > MOST_CHOSEN) {
            return Err(format!("a list of at most {MOST_CHOSEN} choices is wanted"));
        }
        Vec::<Choice<G>>::deserialize(chosen)
            .map_err(|error| format!("this is not a choice of {}: {error}", G::INFO.title))
    }
}

impl<G: Game> ByHand for RunningMatch<G> {
    fn hides(&self) -> bool {
        G::Hand::HIDES
    }

    fn scene_of(&self, seat: Seat) -> Value {
        value(&G::Hand::scene(self.game(), seat, &self.seen_by(seat)))
    }

    fn events_of(&self, seat: Seat) -> Box<RawValue> {
        let game = self.game();
        let Some(before) = self.before().filter(|_| G::Hand::HIDES) else {
            return json(&Listed(|| {
                self.events_kept().iter().filter(|event| game.frame_change(event, None).is_none())
            }));
        };
        let before = G::Hand::seen(game, &game.view(before, seat));
        let after = self.seen_by(seat);
        json(&Listed(|| {
            let plain = |event: &&G::Event| game.frame_change(event, None).is_none();
            self.events_kept()
                .iter()
                .filter(plain)
                .filter(|event| G::Hand::notices(game, seat, &before, &after, event))
        }))
    }

    fn prospect(&self, seat: Seat, chosen: &Value) -> Result<Prospect, String> {
        let chosen = self.read(seat, chosen)?;
        let (game, seen) = (self.game(), self.seen_by(seat));
        let mut told = Refusals::<G> { seat: Some(seat), ..Refusals::default() };
        let order = G::Hand::order(game, seat, &seen, &chosen);
        let after = G::Hand::tried(game, seat, &seen, order, &mut told);
        let refused: Vec<RefusedChoice> = told
            .found
            .iter()
            .map(|(index, reason)| RefusedChoice {
                index: G::Hand::entry(&chosen, *index),
                rule: reason.rule(),
                why: reason.to_string(),
            })
            .collect();
        // A refused choice spoils what follows; it is taken back before anything else is chosen.
        let choices =
            if refused.is_empty() { G::Hand::choices(game, seat, &seen, &chosen) } else { Vec::new() };
        let scene = |state: &G::State| value(&G::Hand::scene(game, seat, state));
        let plain = || told.events.iter().filter(|event| game.frame_change(event, None).is_none());
        let frames = || {
            let mut before = None;
            told.events.iter().filter_map(move |event| {
                let change = game.frame_change(event, before)?;
                before = Some(event);
                Some(change)
            })
        };
        Ok(Prospect {
            choices: json(&choices),
            refused,
            midway: G::Hand::midway(game, seat, &seen, &chosen).as_ref().map(scene),
            scene: scene(&after),
            events: json(&Listed(plain)),
            frames: frames().next().is_some().then(|| json(&Listed(frames))),
        })
    }

    fn order_of(&self, seat: Seat, chosen: &Value) -> Result<Vec<u8>, String> {
        let chosen = self.read(seat, chosen)?;
        let mut bytes = Vec::new();
        let order = G::Hand::order(self.game(), seat, &self.seen_by(seat), &chosen);
        self.game().pack(&order, &mut bytes);
        Ok(bytes)
    }

    fn chosen_in(&self, seat: Seat, order: &[u8]) -> Option<Value> {
        let order = self.game().unpack(order)?;
        serde_json::to_value(G::Hand::chosen(self.game(), seat, &order)).ok()
    }
}
