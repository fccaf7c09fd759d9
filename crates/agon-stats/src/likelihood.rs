//! The likelihood of rankings with ties under Plackett-Luce, and where it is largest.
//!
//! A match of the bots `A` is a row of choices: who comes first, who of the rest comes next, and so on.
//! A group `C` of `k` tied bots is chosen with the chance `f(C) / Σ f(S)`, over all groups `S` of bots
//! left, where `f(C) = δ_k · (product of the strengths in C)^(1/k)` and `δ_1 = 1`. With two seats and no
//! ties this is Bradley-Terry; with two seats and ties it is Davidson's model with `ν = δ_2`.
//!
//! The sums over groups are elementary symmetric polynomials of the `k`-th roots, so no group is ever
//! listed. In the logarithms of strengths and `δ` the likelihood is concave: Newton's steps find its peak.

use std::collections::BTreeMap;

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use crate::results::Match;

/// One choice: from the bots left, a group was ahead of the rest.
#[derive(Clone, Debug)]
struct Choice {
    /// Which set of bots was left, an index into `Choices::sets`.
    set: usize,
    /// The bots of the group.
    group: Vec<usize>,
}

/// The choices of every block, the sets of bots in them listed once.
pub(crate) struct Choices {
    bots: usize,
    sets: Vec<Vec<usize>>,
    blocks: Vec<Vec<Choice>>,
}

impl Choices {
    /// Splits blocks of matches into choices. `bots` is how many bots there are and `number` gives each
    /// its number.
    pub fn new<'a>(
        bots: usize,
        number: impl Fn(&str) -> usize,
        blocks: impl Iterator<Item = &'a [Match]>,
    ) -> Self {
        let mut raw = Vec::new();
        for block in blocks {
            let choices = block.iter().flat_map(|game| choices_of(game, &number));
            raw.push(choices.collect::<Vec<_>>());
        }
        // Sets are numbered in their own order, so that sums over them do not depend on that of games.
        let mut numbers: BTreeMap<Vec<usize>, usize> =
            raw.iter().flatten().map(|(set, _)| (set.clone(), 0)).collect();
        numbers.values_mut().enumerate().for_each(|(index, number)| *number = index);
        let blocks = raw
            .into_iter()
            .map(|block| block.into_iter().map(|(set, group)| Choice { set: numbers[&set], group }).collect())
            .collect();
        Self { bots, sets: numbers.into_keys().collect(), blocks }
    }

    /// Adds the blocks up, each as often as `times` says.
    pub fn gather(&self, times: impl Fn(usize) -> u64) -> Evidence<'_> {
        let widest = self.blocks.iter().flatten().map(|choice| choice.group.len()).max().unwrap_or(1);
        let mut chosen = vec![vec![0; self.bots]; widest + 1];
        let mut groups = vec![0; widest + 1];
        let mut offered = vec![0; self.sets.len()];
        for (index, block) in self.blocks.iter().enumerate() {
            let times = times(index);
            for Choice { set, group } in block.iter().filter(|_| times > 0) {
                offered[*set] += times;
                groups[group.len()] += times;
                group.iter().for_each(|&bot| chosen[group.len()][bot] += times);
            }
        }
        let orders = (1..=widest).filter(|&order| order == 1 || groups[order] > 0).collect();
        Evidence { bots: self.bots, sets: &self.sets, offered, chosen, groups, orders }
    }

    /// For every two bots, whether the first was ever ahead of or level with the second.
    pub fn ahead_or_level(&self) -> Vec<Vec<bool>> {
        let mut ahead = vec![vec![false; self.bots]; self.bots];
        for Choice { set, group } in self.blocks.iter().flatten() {
            for &winner in group {
                self.sets[*set].iter().for_each(|&other| ahead[winner][other] = true);
            }
        }
        ahead
    }
}

/// The sets of bots left and the groups chosen from them. The last bot alone is no choice.
fn choices_of(game: &Match, number: impl Fn(&str) -> usize) -> Vec<(Vec<usize>, Vec<usize>)> {
    let mut left: Vec<(u8, usize)> =
        game.ranks.iter().copied().zip(game.bots.iter().map(|bot| number(bot))).collect();
    let mut choices = Vec::new();
    while left.len() > 1 {
        let mut set: Vec<usize> = left.iter().map(|&(_, bot)| bot).collect();
        set.sort_unstable();
        let first = left.iter().map(|&(rank, _)| rank).min().expect("some are left");
        let group = left.iter().filter(|&&(rank, _)| rank == first).map(|&(_, bot)| bot).collect();
        left.retain(|&(rank, _)| rank != first);
        choices.push((set, group));
    }
    choices
}

/// Blocks added up: all that the likelihood needs to know, in whole numbers.
pub(crate) struct Evidence<'a> {
    bots: usize,
    sets: &'a [Vec<usize>],
    /// How often something was chosen from each set.
    offered: Vec<u64>,
    /// `chosen[k][bot]`: how often the bot was in a chosen group of `k`.
    chosen: Vec<Vec<u64>>,
    /// `groups[k]`: how often a group of `k` was chosen.
    groups: Vec<u64>,
    /// 1, and the sizes of the ties that happened. Ties of other sizes are held to be impossible.
    orders: Vec<usize>,
}

/// The peak of the likelihood.
pub(crate) struct Peak {
    /// The natural logarithm of the strength of each bot; their mean is 0.
    pub strengths: Vec<f64>,
    /// The sizes of ties that happened, and `δ` of each.
    pub ties: Vec<(usize, f64)>,
    /// The covariance of the strengths (about their mean).
    pub covariance: DMatrix<f64>,
}

impl Evidence<'_> {
    /// The strengths of largest likelihood, times a normal prior of standard deviation `sd` on every
    /// logarithm of a strength and of a `δ` if there is one. Nothing when there is no peak.
    pub fn peak(&self, sd: Option<f64>, start: Option<&[f64]>) -> Option<Peak> {
        let size = self.bots + self.orders.len() - 1;
        let mut at = DVector::zeros(size);
        if let Some(start) = start {
            at.rows_mut(0, self.bots).copy_from_slice(start);
        }
        let (mut value, mut gradient, mut curvature) = self.evaluate(&at, sd);
        let scale = 1.0 + self.offered.iter().sum::<u64>() as f64;
        let mut last_step = f64::INFINITY;
        for _ in 0..500 {
            let step = self.factor(&curvature)?.solve(&gradient);
            // What is left to gain. Near the peak rounding hides any gain, so the last steps are taken on trust.
            let gain = gradient.dot(&step);
            let mut length = 1.0;
            loop {
                let next = &at - &step * length;
                let there = self.evaluate(&next, sd);
                if there.0 <= value - 1e-4 * length * gain + 1e-13 * scale {
                    at = next;
                    (value, gradient, curvature) = there;
                    break;
                }
                length /= 2.0;
                if length < 1e-12 {
                    return None;
                }
            }
            if step.amax() * length > 20.0 * size as f64 || at.amax() > 500.0 {
                return None; // running away: the likelihood grows for ever
            }
            // Newton's steps shrink ever faster until only rounding is left of them.
            let moved = step.amax() * length / (1.0 + at.amax());
            if moved < 1e-13 || (moved < 1e-7 && moved > last_step / 2.0) {
                break;
            }
            last_step = moved;
        }
        let mean = at.rows(0, self.bots).mean();
        let inverse = self.factor(&curvature)?.inverse();
        let centre = DMatrix::identity(self.bots, self.bots)
            - DMatrix::from_element(self.bots, self.bots, 1.0 / self.bots as f64);
        Some(Peak {
            strengths: at.rows(0, self.bots).iter().map(|strength| strength - mean).collect(),
            ties: self.orders[1..].iter().enumerate().map(|(i, &k)| (k, at[self.bots + i].exp())).collect(),
            covariance: &centre * inverse.view((0, 0), (self.bots, self.bots)) * &centre,
        })
    }

    /// Only differences of strengths show in results; adding the square of their sum to the curvature
    /// makes it definite without moving the peak.
    fn factor(&self, curvature: &DMatrix<f64>) -> Option<Cholesky<f64, Dyn>> {
        let mut definite = curvature.clone();
        let weight = curvature.diagonal().rows(0, self.bots).mean().max(1e-9) / self.bots as f64;
        definite.view_mut((0, 0), (self.bots, self.bots)).add_scalar_mut(weight);
        Cholesky::new(definite)
    }

    /// Minus the logarithm of likelihood times prior, its gradient and its curvature, by the logarithms
    /// of the strengths and of `δ` for every size of ties.
    fn evaluate(&self, at: &DVector<f64>, sd: Option<f64>) -> (f64, DVector<f64>, DMatrix<f64>) {
        let precision = sd.map_or(0.0, |sd| 1.0 / (sd * sd));
        let mut value = precision / 2.0 * at.norm_squared();
        let mut gradient = at * precision;
        let mut curvature = DMatrix::from_diagonal_element(at.len(), at.len(), precision);
        for (index, &order) in self.orders.iter().enumerate() {
            for bot in 0..self.bots {
                let times = self.chosen[order][bot] as f64 / order as f64;
                value -= times * at[bot];
                gradient[bot] -= times;
            }
            if index > 0 {
                let tie = self.bots + index - 1;
                value -= self.groups[order] as f64 * at[tie];
                gradient[tie] -= self.groups[order] as f64;
            }
        }
        for (set, &times) in self.sets.iter().zip(&self.offered).filter(|&(_, &times)| times > 0) {
            self.add_offer(set, times as f64, at, &mut value, &mut gradient, &mut curvature);
        }
        (value, gradient, curvature)
    }

    /// Adds `times` the logarithm of `Z = Σ_k δ_k e_k(roots of the strengths in set)` and its derivatives:
    /// the mean and the covariance of the choice.
    fn add_offer(
        &self,
        set: &[usize],
        times: f64,
        at: &DVector<f64>,
        value: &mut f64,
        gradient: &mut DVector<f64>,
        curvature: &mut DMatrix<f64>,
    ) {
        let seats = set.len();
        let orders: Vec<(usize, usize)> =
            self.orders.iter().copied().enumerate().filter(|&(_, order)| order <= seats).collect();
        // Dividing all strengths by the largest divides Z by it and keeps every number in range.
        let top = set.iter().map(|&bot| at[bot]).fold(f64::NEG_INFINITY, f64::max);
        let roots: Vec<Vec<f64>> = orders
            .iter()
            .map(|&(_, k)| set.iter().map(|&bot| ((at[bot] - top) / k as f64).exp()).collect())
            .collect();
        let delta = |index: usize| if index == 0 { 1.0 } else { at[self.bots + index - 1].exp() };
        let weights: Vec<f64> =
            orders.iter().zip(&roots).map(|(&(i, k), x)| delta(i) * symmetric(k, x, &[])).collect();
        let z: f64 = weights.iter().sum();
        *value += times * (z.ln() + top);

        // The expected share of each seat in the choice, in all and by size of the group.
        let mut share = vec![0.0; seats];
        let mut by_order = vec![vec![0.0; seats]; orders.len()];
        for (o, (&(i, k), x)) in orders.iter().zip(&roots).enumerate() {
            for seat in 0..seats {
                by_order[o][seat] = delta(i) * x[seat] * symmetric(k - 1, x, &[seat]) / z / k as f64;
                share[seat] += by_order[o][seat];
            }
        }
        for (seat, &bot) in set.iter().enumerate() {
            gradient[bot] += times * share[seat];
            for (other, &its) in set.iter().enumerate() {
                let both: f64 = (0..orders.len())
                    .map(|o| {
                        let ((i, k), x) = (orders[o], &roots[o]);
                        if seat == other {
                            by_order[o][seat] / k as f64
                        } else if k < 2 {
                            0.0
                        } else {
                            let rest = symmetric(k - 2, x, &[seat, other]);
                            delta(i) * x[seat] * x[other] * rest / z / (k * k) as f64
                        }
                    })
                    .sum();
                curvature[(bot, its)] += times * (both - share[seat] * share[other]);
            }
        }
        for (o, &(i, _)) in orders.iter().enumerate().filter(|(_, (i, _))| *i > 0) {
            let tie = self.bots + i - 1;
            let chance = weights[o] / z;
            gradient[tie] += times * chance;
            for (p, &(j, _)) in orders.iter().enumerate().filter(|(_, (j, _))| *j > 0) {
                let both = if i == j { chance } else { 0.0 };
                curvature[(tie, self.bots + j - 1)] += times * (both - chance * weights[p] / z);
            }
            for (seat, &bot) in set.iter().enumerate() {
                let together = times * (by_order[o][seat] - share[seat] * chance);
                curvature[(tie, bot)] += together;
                curvature[(bot, tie)] += together;
            }
        }
    }
}

/// The elementary symmetric polynomial: the sum of the products of every `k` of `x`, without the places
/// `left_out`.
fn symmetric(k: usize, x: &[f64], left_out: &[usize]) -> f64 {
    let mut sums = [0.0; crate::results::MOST_SEATS + 1];
    sums[0] = 1.0;
    for (_, &value) in x.iter().enumerate().filter(|(place, _)| !left_out.contains(place)) {
        for size in (1..=k).rev() {
            sums[size] += sums[size - 1] * value;
        }
    }
    sums[k]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symmetric_polynomials() {
        let x = [2.0, 3.0, 5.0, 7.0];
        assert_eq!(symmetric(0, &x, &[]), 1.0);
        assert_eq!(symmetric(2, &x, &[]), 6.0 + 10.0 + 14.0 + 15.0 + 21.0 + 35.0);
        assert_eq!(symmetric(2, &x, &[1]), 10.0 + 14.0 + 35.0);
        assert_eq!(symmetric(4, &x, &[]), 210.0);
    }

    fn games() -> Vec<Match> {
        let ranks = [[1, 2, 2, 4], [3, 1, 1, 1], [1, 2, 3, 4], [4, 3, 1, 2], [2, 2, 1, 2], [2, 1, 4, 3]];
        let bots = ["a", "b", "c", "d"].map(String::from).to_vec();
        ranks.map(|ranks| Match { bots: bots.clone(), ranks: ranks.to_vec() }).to_vec()
    }

    fn choices(games: &[Match]) -> Choices {
        Choices::new(4, |name| usize::from(name.as_bytes()[0] - b'a'), games.chunks(1))
    }

    #[test]
    fn gradient_and_curvature_are_the_derivatives_of_the_value() {
        let games = games();
        let choices = choices(&games);
        let evidence = choices.gather(|_| 1);
        assert_eq!(evidence.orders, [1, 2, 3]);
        let at = DVector::from_vec(vec![0.3, -0.4, 0.2, 0.1, -0.5, 0.7]);
        let (_, gradient, curvature) = evidence.evaluate(&at, Some(2.0));
        let step = 1e-5;
        for i in 0..at.len() {
            let moved = |by: f64| {
                let mut there = at.clone();
                there[i] += by;
                evidence.evaluate(&there, Some(2.0))
            };
            let (up, down) = (moved(step), moved(-step));
            assert!(((up.0 - down.0) / (2.0 * step) - gradient[i]).abs() < 1e-7);
            for j in 0..at.len() {
                assert!(((up.1[j] - down.1[j]) / (2.0 * step) - curvature[(i, j)]).abs() < 1e-7);
            }
        }
    }

    /// The definition, word by word: every group of the bots left is listed.
    #[test]
    fn the_value_is_that_of_the_definition() {
        let games = games();
        let at = [0.3, -0.4, 0.2, 0.1, -0.5, 0.7];
        let mut expected = 0.0;
        for game in &games {
            let mut left = vec![0, 1, 2, 3];
            while left.len() > 1 {
                let best = left.iter().map(|&bot: &usize| game.ranks[bot]).min().unwrap();
                let f = |group: &[usize]| {
                    let k = group.len();
                    let delta = [0.0, at[4], at[5]].get(k - 1).map_or(0.0, |log: &f64| log.exp());
                    delta * group.iter().map(|&bot| at[bot]).sum::<f64>().exp().powf(1.0 / k as f64)
                };
                let all: f64 = (1..1u32 << left.len())
                    .map(|mask| {
                        let member = |place: &usize| mask >> place & 1 == 1;
                        f(&(0..left.len()).filter(member).map(|place| left[place]).collect::<Vec<_>>())
                    })
                    .sum();
                let group: Vec<usize> = left.iter().copied().filter(|&bot| game.ranks[bot] == best).collect();
                expected -= (f(&group) / all).ln();
                left.retain(|bot| !group.contains(bot));
            }
        }
        let choices = choices(&games);
        let (value, ..) = choices.gather(|_| 1).evaluate(&DVector::from_column_slice(&at), None);
        assert!((value - expected).abs() < 1e-12, "{value} {expected}");
    }
}
