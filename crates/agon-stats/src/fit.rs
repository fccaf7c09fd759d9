//! The peak of the Bradley-Terry likelihood of many bots, and the curvature around it.
//!
//! Sums run over sorted pairs in a fixed order and `exp` comes from the `libm` crate, so that the same results give the same
//! bits on every machine. All strengths here are natural logarithms.

use crate::band::Band;
use crate::pairs::Meeting;

/// The expected score of a bot that is `lead` stronger.
pub(crate) fn logistic(lead: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-lead))
}

/// The logarithm of [`logistic`].
pub(crate) fn log_logistic(lead: f64) -> f64 {
    if lead > 0.0 { -libm::log1p(libm::exp(-lead)) } else { lead - libm::log1p(libm::exp(lead)) }
}

/// Strengths with the largest likelihood. A bot with a `fixed` strength keeps it; without any, the mean is 0. From every bot a
/// chain of "scored against" must lead to every other (see `scale.rs`), or there is no peak.
///
/// `exact` fits continue until no strength moves by 1e-9 Elo; others until the remaining error is certainly below 1e-7.
pub(crate) fn peak(pairs: &[Meeting], fixed: &[Option<f64>], start: &[f64], exact: bool) -> Vec<f64> {
    let mut at: Vec<f64> = fixed.iter().zip(start).map(|(fixed, start)| fixed.unwrap_or(*start)).collect();
    let mut last = f64::INFINITY;
    for _ in 0..200 {
        let (system, gradient) = System::new(pairs, fixed, &at);
        let tolerance = if last < 0.1 { 1e-8 } else { 1e-2 };
        let step = system.solve(&gradient, tolerance);
        // The logarithm of the logistic curve is self-concordant: steps shortened like this always gain, from any start, and
        // towards the end none is shortened.
        let longest = pairs
            .iter()
            .map(|pair| (step[pair.first as usize] - step[pair.second as usize]).abs())
            .fold(0.0, f64::max);
        let length = if longest > 1e-6 { libm::log1p(longest) / longest } else { 1.0 };
        at.iter_mut().zip(&step).for_each(|(at, step)| *at += length * step);
        let moved = step.iter().fold(0.0f64, |most, step| most.max(step.abs()));
        // 1e-9 Elo, or as near as rounding allows.
        if moved < 1e-9 / crate::ELO || (moved < 1e-10 && moved > last / 2.0) {
            break;
        }
        // A step leaves an error of about its own square, plus that of its solution, which may add up along a chain of bots.
        if !exact && moved * (longest.max(moved) + 1e3 * tolerance) < 1e-7 / crate::ELO {
            break;
        }
        last = moved;
    }
    at
}

/// The curvature of the negative log-likelihood at some strengths: a sum over pairs of `weight · (x_first - x_second)²`.
pub(crate) struct System {
    edges: Vec<Edge>,
    fixed: Vec<bool>,
    band: Band,
}

/// Two bots that met, and the information from their meetings.
#[derive(Clone, Copy)]
struct Edge {
    first: u32,
    second: u32,
    weight: f64,
}

impl System {
    /// The curvature at these strengths, and the gradient of the log-likelihood.
    pub fn new(pairs: &[Meeting], fixed: &[Option<f64>], at: &[f64]) -> (Self, Vec<f64>) {
        let fixed: Vec<bool> = fixed.iter().map(Option::is_some).collect();
        let (mut gradient, mut diagonal) = (vec![0.0; at.len()], vec![0.0; at.len()]);
        let mut edges = Vec::with_capacity(pairs.len());
        for pair in pairs {
            let (first, second) = (pair.first as usize, pair.second as usize);
            let (chance, meetings) = (logistic(at[first] - at[second]), pair.meetings as f64);
            let surplus = pair.wins() - meetings * chance;
            gradient[first] += surplus;
            gradient[second] -= surplus;
            let weight = meetings * chance * (1.0 - chance);
            diagonal[first] += weight;
            diagonal[second] += weight;
            edges.push(Edge { first: pair.first, second: pair.second, weight });
        }
        let plain = edges.iter().map(|edge| (edge.first, edge.second, edge.weight));
        let band = Band::new(plain, &diagonal, &fixed, at);
        (Self { edges, fixed, band }, gradient)
    }

    /// Solves `curvature · x = right` by conjugate gradients, to `tolerance` relative to the size of the right-hand side. Fixed
    /// bots have `x = 0`; without any, only differences count, and the mean of `x` is 0.
    pub fn solve(&self, right: &[f64], tolerance: f64) -> Vec<f64> {
        let right: Vec<[f64; 1]> = right.iter().map(|&right| [right]).collect();
        self.solve_all(&right, tolerance).concat()
    }

    /// The same for `N` right-hand sides at once, each as if it were alone, to the last bit. All take little more time than
    /// one, because a processor does the same operation on several numbers at once.
    pub fn solve_all<const N: usize>(&self, right: &[[f64; N]], tolerance: f64) -> Vec<[f64; N]> {
        let size = right.len();
        let mut x = vec![[0.0; N]; size];
        let mut rest = right.to_vec();
        self.project(&mut rest);
        let near = |rest: &[[f64; N]]| {
            let mut z = self.band.solve(rest);
            self.project(&mut z);
            z
        };
        let mut direction = near(&rest);
        let mut size_of_rest = dots(&rest, &direction);
        let enough = size_of_rest.map(|size| size * tolerance * tolerance);
        let mut image = vec![[0.0; N]; size];
        let mut is_done = [false; N];
        for _ in 0..(4 * size + 50) {
            for own in 0..N {
                is_done[own] |= size_of_rest[own] <= enough[own] || size_of_rest[own] <= 0.0;
            }
            if !is_done.contains(&false) {
                break;
            }
            self.apply(&direction, &mut image);
            let bend = dots(&direction, &image);
            // Finished columns stay where they are.
            let mut length = [0.0; N];
            for own in 0..N {
                is_done[own] |= bend[own] <= 0.0;
                length[own] = if is_done[own] { 0.0 } else { size_of_rest[own] / bend[own] };
            }
            for place in 0..size {
                for own in 0..N {
                    x[place][own] += length[own] * direction[place][own];
                    rest[place][own] -= length[own] * image[place][own];
                }
            }
            let z = near(&rest);
            let next = dots(&rest, &z);
            let mut keep = [0.0; N];
            for own in 0..N {
                if !is_done[own] {
                    keep[own] = next[own] / size_of_rest[own];
                    size_of_rest[own] = next[own];
                }
            }
            for (direction, z) in direction.iter_mut().zip(&z) {
                for own in 0..N {
                    direction[own] = z[own] + keep[own] * direction[own];
                }
            }
        }
        self.project(&mut x);
        x
    }

    fn apply<const N: usize>(&self, x: &[[f64; N]], image: &mut [[f64; N]]) {
        image.fill([0.0; N]);
        for edge in &self.edges {
            let (first, second) = (edge.first as usize, edge.second as usize);
            let (one, other) = (x[first], x[second]);
            for own in 0..N {
                let pull = edge.weight * (one[own] - other[own]);
                image[first][own] += pull;
                image[second][own] -= pull;
            }
        }
        let fixed = image.iter_mut().zip(&self.fixed).filter(|(_, fixed)| **fixed);
        fixed.for_each(|(image, _)| *image = [0.0; N]);
    }

    /// Removes the component that the curvature cannot see.
    fn project<const N: usize>(&self, x: &mut [[f64; N]]) {
        if self.fixed.contains(&true) {
            let fixed = x.iter_mut().zip(&self.fixed).filter(|(_, fixed)| **fixed);
            fixed.for_each(|(x, _)| *x = [0.0; N]);
            return;
        }
        let mut mean = [0.0; N];
        for x in &*x {
            mean.iter_mut().zip(x).for_each(|(sum, x)| *sum += x);
        }
        let mean = mean.map(|sum| sum / x.len() as f64);
        x.iter_mut().for_each(|x| x.iter_mut().zip(mean).for_each(|(x, mean)| *x -= mean));
    }
}

/// The scalar products of each of the `N` columns of one with that of the other.
fn dots<const N: usize>(one: &[[f64; N]], other: &[[f64; N]]) -> [f64; N] {
    let mut sums = [0.0; N];
    for (one, other) in one.iter().zip(other) {
        for own in 0..N {
            sums[own] += one[own] * other[own];
        }
    }
    sums
}

/// The scalar product.
pub(crate) fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_bots_have_a_closed_form() {
        // 30 wins and 20 draws of 60 games.
        let at = peak(&[Meeting::games(0, 1, 80, 60)], &[None, None], &[0.0, 0.0], true);
        let lead = (40.0f64 / 20.0).ln();
        assert!((at[0] - lead / 2.0).abs() < 1e-12 && (at[1] + lead / 2.0).abs() < 1e-12, "{at:?}");
        let at = peak(&[Meeting::games(0, 1, 80, 60)], &[None, Some(3.0)], &[0.0, 0.0], true);
        assert!((at[0] - 3.0 - lead).abs() < 1e-12 && at[1] == 3.0, "{at:?}");
    }

    #[test]
    fn a_far_start_finds_the_same_peak() {
        let chain: Vec<Meeting> = (0..30).map(|bot| Meeting::games(bot, bot + 1, 1_990, 1_000)).collect();
        let (free, zero) = (vec![None; 31], vec![0.0; 31]);
        let near = peak(&chain, &free, &zero, true);
        let far: Vec<f64> = (0..31).map(|bot| f64::from(bot * bot) - 300.0).collect();
        let far = peak(&chain, &free, &far, true);
        assert!((near[0] - near[30] - 30.0 * 199f64.ln()).abs() < 1e-9, "{near:?}");
        let mean = far.iter().sum::<f64>() / 31.0;
        for (near, far) in near.iter().zip(&far) {
            assert!((near - far + mean).abs() < 1e-9, "{near} {far}");
        }
    }

    #[test]
    fn a_solution_solves() {
        let pairs = [Meeting::games(0, 1, 5, 9), Meeting::games(1, 2, 4, 6), Meeting::games(0, 2, 1, 3)];
        let (system, _) = System::new(&pairs, &[None; 3], &[0.3, -0.2, 0.1]);
        let right = [1.0, 0.5, -1.5];
        let x = system.solve(&right, 1e-12);
        let mut image = [[0.0]; 3];
        system.apply(&[[x[0]], [x[1]], [x[2]]], &mut image);
        assert!(image.iter().zip(right).all(|(image, right)| (image[0] - right).abs() < 1e-12));
        assert!(x.iter().sum::<f64>().abs() < 1e-12);
    }
    #[test]
    fn several_right_sides_have_the_solutions_of_each_alone_to_the_last_bit() {
        // A ring in which no two sides finish after the same number of steps; one side is zero.
        let pairs: Vec<Meeting> = (0..70)
            .map(|bot| Meeting::games(bot, (bot * bot + bot + 1) % 70, u64::from(bot % 7), 9))
            .collect();
        let pairs = crate::pairs::Pairs::new(70, pairs);
        let at: Vec<f64> = (0..70).map(|bot| f64::from(bot % 13) / 5.0).collect();
        for fixed in [None, Some(0.4)] {
            let mut all = vec![None; 70];
            all[3] = fixed;
            let (system, _) = System::new(pairs.list(), &all, &at);
            let right: Vec<[f64; 4]> = (0..70)
                .map(|bot| {
                    [f64::from(u8::from(bot == 9)), 0.0, f64::from(bot) - 30.0, 1.0 / f64::from(bot + 1)]
                })
                .collect();
            let together = system.solve_all(&right, 1e-9);
            for own in 0..4 {
                let alone = system.solve(&right.iter().map(|right| right[own]).collect::<Vec<_>>(), 1e-9);
                let same =
                    together.iter().zip(&alone).all(|(one, other)| one[own].to_bits() == other.to_bits());
                assert!(same, "{own}");
            }
        }
    }
}
