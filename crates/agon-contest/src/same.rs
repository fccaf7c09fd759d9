//! Did two matches go the same way? Hashes of where a match begins and of all that was answered.

use std::collections::BTreeSet;

use agon_game::{Answer, PackedAnswer, Seat, Session};
use xxhash_rust::xxh3::Xxh3;

/// A hash of where a match begins: rules, map and state. The seed is left out, because in some games it decides nothing. A map made from
/// the seed is in no recipe, so the scene is needed.
pub fn start(session: &mut dyn Session) -> u64 {
    let mut hash = Xxh3::new();
    let recipe = session.recipe();
    for text in [&recipe.rules, &recipe.map, &session.scene().to_string()] {
        hash.update(&(text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
    hash.update(&session.hash().to_le_bytes());
    hash.digest()
}

/// A hash of all answers of a match, and who gave one at all.
#[derive(Clone, Default)]
pub struct AnswerHash {
    hash: Xxh3,
    answered: BTreeSet<u8>,
}

impl AnswerHash {
    /// Adds what was played, without its duration or the words of a malformed answer.
    pub fn add(&mut self, seat: Seat, answer: &PackedAnswer) {
        let (kind, order): (u8, &[u8]) = match answer {
            Answer::Given { order, .. } => (0, order),
            Answer::Malformed { .. } => (1, &[]),
            Answer::Missing(absence) => (2 + *absence as u8, &[]),
        };
        if kind == 0 {
            self.answered.insert(seat.number());
        }
        self.hash.update(&[seat.number(), kind]);
        self.hash.update(&(order.len() as u32).to_le_bytes());
        self.hash.update(order);
    }

    /// Adds how it ended: the same answers may end differently where time is part of play.
    pub fn ended(&mut self, ranks: &[u8]) {
        ranks.iter().for_each(|&rank| self.hash.update(&[rank]));
    }

    pub fn digest(&self) -> u64 {
        self.hash.digest()
    }

    /// The seats, from 1, of this many that never gave an answer in the form of the game.
    pub fn silent(&self, seats: usize) -> Vec<u8> {
        (1..=seats.min(usize::from(u8::MAX)) as u8).filter(|seat| !self.answered.contains(seat)).collect()
    }
}
