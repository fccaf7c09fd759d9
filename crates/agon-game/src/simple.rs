//! What a simple game need not write: one in which nothing is hidden, and an answer is one order on one line.

use std::fmt::{self, Display};
use std::str::FromStr;

use serde::{Serialize, de::DeserializeOwned};

use crate::{Builtin, Dialect, Game, Hand, Heard, Seat, Seeded, hand};

/// A game that talks in [`Lines`].
pub trait InLines: Game<Order: Display + FromStr> {
    /// What an answer is, to end the sentence "the answer must be ...".
    const ANSWER: &'static str;

    /// The line that asks for one.
    fn question(&self, view: &Self::View<'_>) -> String;
}

/// A question is a line, the answer is the order as text.
#[derive(Clone, Copy, Debug)]
pub struct Lines;

impl<G: InLines> Dialect<G> for Lines {
    fn new(_: &G) -> Self {
        Self
    }

    fn ask(&mut self, game: &G, _: Seat, view: &G::View<'_>, out: &mut Vec<u8>) {
        out.extend(game.question(view).into_bytes());
    }

    fn hear(&mut self, _: &G, _: Seat, message: &[u8]) -> Heard<G::Order> {
        let order = std::str::from_utf8(message).ok().and_then(|text| text.trim().parse().ok());
        order.map_or_else(|| Heard::Malformed(format!("the answer must be {}", G::ANSWER)), Heard::Answer)
    }

    fn say(&self, _: &G, _: Seat, order: &G::Order, out: &mut Vec<u8>) {
        out.extend(order.to_string().into_bytes());
    }
}

/// The hand of a game that lists its orders ([`Game::orders`]): a choice is a whole order. Nothing chosen is the first that
/// is listed. A game that lists none is not played by hand.
#[derive(Clone, Copy, Debug)]
pub enum OneOrder {}

impl<G> Hand<G> for OneOrder
where
    G: for<'a> Game<View<'a> = &'a <G as Game>::State, Order: Serialize + DeserializeOwned, Hand = Self>,
{
    type Choice = G::Order;

    fn seen(_: &G, view: &G::View<'_>) -> G::State {
        (*view).clone()
    }

    fn choices(game: &G, seat: Seat, seen: &G::State, chosen: &[G::Order]) -> Vec<G::Order> {
        match chosen {
            [] => hand::effective(game, seat, seen, chosen, game.orders(seen, seat)),
            _ => Vec::new(),
        }
    }

    fn order(game: &G, seat: Seat, seen: &G::State, chosen: &[G::Order]) -> G::Order {
        let first = || game.orders(seen, seat).into_iter().next();
        let any = || game.random_order(seen, seat, &mut Seeded::stream(0, "hand"));
        chosen.last().cloned().or_else(first).unwrap_or_else(any)
    }

    fn chosen(_: &G, _: Seat, order: &G::Order) -> Vec<G::Order> {
        vec![order.clone()]
    }

    fn entry(chosen: &[G::Order], _: usize) -> usize {
        chosen.len().saturating_sub(1)
    }
}

/// The built-in bot of a game without secrets that plays at random ([`Game::random_order`]).
#[derive(Clone, Debug)]
pub struct Random(Seeded);

impl Random {
    /// Plays the same for the same seed.
    pub fn new(seed: u64) -> Self {
        Self(Seeded::stream(seed as i64, "random"))
    }
}

impl<G: for<'a> Game<View<'a> = &'a <G as Game>::State>> Builtin<G> for Random {
    fn order(&mut self, game: &G, state: &G::State) -> G::Order {
        let seat = game.deciding(state).iter().next().expect("somebody is to move");
        game.random_order(state, seat, &mut self.0)
    }
}

/// Why an order was rejected, as a sentence with the rule behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The id of the rule.
    pub rule: &'static str,
    /// The sentence.
    pub why: String,
}

impl Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl crate::Reason for Refusal {
    fn rule(&self) -> &'static str {
        self.rule
    }
}
