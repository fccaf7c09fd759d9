//! A newcomer among bots whose ratings are taken as known.

use crate::pairs::{Meeting, Pairs};
use crate::scale::{Scale, ScalePlace};
use crate::{ELO, fit, student_deviations};

/// What results say about a newcomer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Newcomer {
    /// Its rating. If no finite one fits best, the one at which its run of wins, or losses, had an even chance.
    pub elo: f64,
    /// What is known about it.
    pub place: ScalePlace,
    /// Half of its 95 % interval; none before it has both won and lost points.
    pub half: Option<f64>,
}

/// Rates bot 0 by its `blocks` against the bots from 1 on, whose ratings are given. Before the first block it is
/// placed in their middle.
///
/// # Panics
/// When a block names a bot without a rating.
pub fn newcomer(ratings: &[f64], blocks: &[Vec<Meeting>]) -> Newcomer {
    let own = |block: &[Meeting]| block.iter().filter(|pair| pair.first == 0).copied().collect::<Vec<_>>();
    let blocks: Vec<Vec<Meeting>> =
        blocks.iter().map(|block| own(block)).filter(|block| !block.is_empty()).collect();
    if blocks.is_empty() {
        let middle = ratings.iter().sum::<f64>() / ratings.len().max(1) as f64;
        return Newcomer { elo: middle, place: ScalePlace::Unknown, half: None };
    }
    let pairs = Pairs::new(ratings.len() + 1, blocks.iter().flatten().copied());
    let anchors: Vec<(u32, f64)> = (1..).zip(ratings.iter().copied()).collect();
    let scale = Scale::fit(&pairs, &anchors, None);
    let (elo, place) = (scale.elo[0], scale.place[0]);
    let chance = |pair: &Meeting| fit::logistic((elo - ratings[pair.second as usize - 1]) / ELO);
    let count = |pair: &Meeting| pair.meetings as f64;
    let told: f64 = pairs.list().iter().map(|pair| count(pair) * chance(pair) * (1.0 - chance(pair))).sum();
    let surplus = |block: &Vec<Meeting>| -> f64 {
        block.iter().map(|pair| pair.wins() - count(pair) * chance(pair)).sum::<f64>()
    };
    let seen: f64 = blocks.iter().map(|block| surplus(block) * surplus(block)).sum();
    // Blocks that never varied are assumed to vary as much as one that may be won whole or lost whole.
    let games: f64 = pairs.list().iter().map(count).sum();
    let block = games / blocks.len() as f64;
    let least = block * block * told / games;
    let freedom = (blocks.len() as f64 - 1.0).max(1.0);
    let half = ELO * seen.max(least).sqrt() / told * student_deviations(0.95, freedom);
    Newcomer { elo, place, half: (place == ScalePlace::Known).then_some(half) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_rating_is_the_one_that_explains_its_score() {
        assert_eq!(newcomer(&[100.0, 300.0], &[]).elo, 200.0);
        // 76 % against 0: 200.
        let block = |points| vec![Meeting::games(0, 1, points, 2)];
        let blocks: Vec<_> = (0..100).map(|number| block(if number < 52 { 4 } else { 2 })).collect();
        let found = newcomer(&[0.0], &blocks);
        assert!((found.elo - crate::elo_of_score(0.76).unwrap()).abs() < 1e-6, "{found:?}");
        // The spread of the scores is known in closed form: 0.25 sqrt(0.52 * 0.48 / 100) / (0.76 * 0.24).
        let half =
            ELO * 0.5 * (0.52f64 * 0.48 / 100.0).sqrt() / (0.76 * 0.24) * student_deviations(0.95, 99.0);
        assert!((found.half.unwrap() - half).abs() < 0.01, "{found:?} {half}");
        let unbeaten = newcomer(&[0.0], &[block(4), block(4)]);
        assert_eq!((unbeaten.place, unbeaten.half), (ScalePlace::Above, None));
        assert!(unbeaten.elo > 0.0);
    }

    #[test]
    fn blocks_that_never_vary_leave_an_interval() {
        let blocks: Vec<_> = (0..10).map(|_| vec![Meeting::games(0, 1, 2, 2)]).collect();
        let found = newcomer(&[0.0], &blocks);
        assert!(found.elo.abs() < 1e-6 && found.half.unwrap() > 50.0, "{found:?}");
    }

    #[test]
    fn the_interval_holds_the_truth() {
        use agon_game::Seeded;
        let ratings: Vec<f64> = (0..12).map(|bot| f64::from(bot) * 60.0).collect();
        let mut held = 0;
        for run in 0..400 {
            let mut chance = Seeded::stream(run, "newcomer");
            let mut random = move || (chance.bits() >> 11) as f64 / (1u64 << 53) as f64;
            let truth = 700.0 * random();
            let blocks: Vec<Vec<Meeting>> = (0..60)
                .map(|block| {
                    let other = block % 12;
                    let expected = crate::score_of_elo(truth - ratings[other]);
                    let wins = (0..2).filter(|_| random() < expected).count() as u64;
                    vec![Meeting::games(0, other as u32 + 1, 2 * wins, 2)]
                })
                .collect();
            let found = newcomer(&ratings, &blocks);
            held += usize::from((found.elo - truth).abs() <= found.half.unwrap_or(f64::INFINITY));
        }
        println!("{held} of 400");
        assert!((368..=396).contains(&held), "{held} of 400");
    }
}
