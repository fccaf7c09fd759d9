//! How a match ended.

use serde::{Deserialize, Serialize};

use crate::Seat;

/// How a match ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The game's own score of each seat.
    pub scores: Vec<f64>,
    /// The rank of each seat, from 1; equal ranks are shared (1, 2, 2, 4).
    pub ranks: Vec<u8>,
    /// Why it ended, as a sentence fragment in the game's words: `turn limit`, `player 2 timed out`.
    pub reason: String,
}

impl Outcome {
    /// Ranks by score, higher first, equal scores shared.
    pub fn by_score(scores: Vec<f64>, reason: impl Into<String>) -> Self {
        Self::by(scores, reason, |score, _| score)
    }

    /// Ranks by `key(score, seat index)`, higher first, equal keys shared.
    pub fn by<K: PartialOrd>(
        scores: Vec<f64>,
        reason: impl Into<String>,
        key: impl Fn(f64, usize) -> K,
    ) -> Self {
        let keys: Vec<K> = scores.iter().enumerate().map(|(seat, &score)| key(score, seat)).collect();
        let ranks =
            keys.iter().map(|own| 1 + keys.iter().filter(|other| *other > own).count() as u8).collect();
        Self { scores, ranks, reason: reason.into() }
    }

    /// Whether a match that ended like this, if it ended, is the recorded one; a record without an outcome always
    /// agrees. The reason is not compared: it is text for people, which a later version may word differently.
    pub fn agrees(own: Option<&Self>, recorded: Option<&Self>) -> bool {
        let same = |own: &Self, recorded: &Self| own.scores == recorded.scores && own.ranks == recorded.ranks;
        recorded.is_none_or(|recorded| own.is_some_and(|own| same(own, recorded)))
    }

    /// Whether these ranks are possible: each is one more than the number of seats before it, and, where the game says that
    /// [ranks follow scores](crate::GameInfo::ranks_follow_scores), whoever scored more is before whoever scored less.
    pub fn is_possible(scores: &[f64], ranks: &[u8], follow_scores: bool) -> bool {
        let before = |own: u8| ranks.iter().filter(|rank| **rank < own).count();
        let seats = || scores.iter().zip(ranks);
        let follows = |(score, rank): (&f64, &u8)| seats().all(|(other, its)| score <= other || rank < its);
        ranks.iter().all(|&own| usize::from(own) == 1 + before(own))
            && (!follow_scores || seats().all(follows))
    }

    /// What a test can check of it, one line of text each.
    pub fn facts(&self) -> [String; 3] {
        let list = |numbers: Vec<String>| numbers.join(" ");
        [
            format!("outcome: {}", self.reason),
            format!("scores: {}", list(self.scores.iter().map(f64::to_string).collect())),
            format!("ranks: {}", list(self.ranks.iter().map(u8::to_string).collect())),
        ]
    }

    /// The seat that alone has rank 1; none for a draw.
    pub fn winner(&self) -> Option<Seat> {
        let mut first = self.ranks.iter().enumerate().filter(|&(_, &rank)| rank == 1);
        match (first.next(), first.next()) {
            (Some((seat, _)), None) => Some(Seat::new(seat as u8)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_the_scores() {
        let is = |scores: &[f64], ranks: &[u8]| Outcome::is_possible(scores, ranks, true);
        assert!(is(&[3.0, 1.0], &[1, 2]) && is(&[2.0, 2.0], &[2, 1]) && is(&[2.0, 2.0, 1.0], &[1, 1, 3]));
        assert!(!is(&[3.0, 1.0], &[2, 1]) && !is(&[3.0, 1.0], &[1, 1]), "more is better");
        assert!(Outcome::is_possible(&[3.0, 1.0], &[2, 1], false));
        for ranks in [&[2, 2][..], &[1, 3], &[0, 1], &[1, 2, 2, 3]] {
            assert!(!Outcome::is_possible(&vec![0.0; ranks.len()], ranks, false), "{ranks:?}");
        }
    }

    #[test]
    fn equal_scores_share_a_rank_and_the_next_is_skipped() {
        let outcome = Outcome::by_score(vec![3.0, 7.0, 3.0, -1.0], "turn limit");
        assert_eq!(outcome.ranks, [2, 1, 2, 4]);
        assert_eq!(outcome.winner(), Some(Seat::new(1)));
        assert_eq!(Outcome::by_score(vec![2.0, 2.0], "turn limit").winner(), None);
    }
}
