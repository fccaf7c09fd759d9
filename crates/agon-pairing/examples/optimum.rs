//! The fewest games that could order a field: what share of a round robin's games, if the true ratings were known and all games shared
//! out for the least error. And the truest order that a quarter of those games can give the 40 versions of `agon-ladder`'s test of the
//! truth.
//!
//! `cargo run --release -p agon-pairing --example optimum`; the figures are in `docs/formats.md`. The error of the ratings follows
//! from how often each pair meets: the covariance `C` is the inverse of the curvature of the likelihood. The shares that minimise the
//! trace of `A C`, where `A` says which errors count, are found by multiplying each by the square root of the information it gives.
//! For the truest order `A` is the gain in Kendall's tau, recomputed at each step.

use agon_game::Seeded;
use agon_stats::score_of_elo;

const BOTS: usize = 100;
const FIELDS: i64 = 5;
const STEPS: usize = 400;
const VERSION_FIELDS: i64 = 20;

type Matrix = Vec<Vec<f64>>;

fn main() {
    println!("| what counts | between neighbours | of all |\n|---|---|---|");
    for (what, of_all) in [("neighbours", 0.0), ("both alike", 1.0), ("all ratings", 1e6)] {
        let mut sums = [0.0; 2];
        for field in 0..FIELDS {
            let shares = optimum(&strengths(field), of_all);
            sums.iter_mut().zip(shares).for_each(|(sum, share)| *sum += 100.0 * share / FIELDS as f64);
        }
        println!("| {what} | {:.0} % | {:.0} % |", sums[0], sums[1]);
    }
    let mut sums = [0.0; 3];
    for field in 0..VERSION_FIELDS {
        let taus = truest(&versions(field));
        sums.iter_mut().zip(taus).for_each(|(sum, tau)| *sum += tau / VERSION_FIELDS as f64);
    }
    let [robin, even, best] = sums;
    println!(
        "\n40 versions, 20 games a pair: tau {robin:.3}; a quarter of them, all alike {even:.3}, at best {best:.3}"
    );
}

/// Ratings in Elo, best first.
fn strengths(field: i64) -> Vec<f64> {
    let mut chance = Seeded::stream(field, "strengths");
    let mut uniform = || (chance.bits() >> 11) as f64 / (1u64 << 53) as f64;
    let mut elo: Vec<f64> =
        (0..BOTS).map(|_| 300.0 * ((0..12).map(|_| uniform()).sum::<f64>() - 6.0)).collect();
    elo.sort_by(|a, b| b.total_cmp(a));
    elo
}

/// Twenty versions within 60 Elo, twenty spread over 550 on either side of them.
fn versions(field: i64) -> Vec<f64> {
    let mut chance = Seeded::stream(field, "strengths");
    let mut uniform = || (chance.bits() >> 11) as f64 / (1u64 << 53) as f64;
    let near: Vec<f64> = (0..20).map(|place| f64::from(place) * 3.0 - 30.0).collect();
    let far = (0..20).map(|_| (if uniform() < 0.5 { -1.0 } else { 1.0 }) * (50.0 + 550.0 * uniform()));
    near.into_iter().chain(far).collect()
}

/// The expected Kendall's tau with 20 games a pair, with a quarter of them shared out evenly, and shared out for the truest order.
fn truest(elo: &[f64]) -> [f64; 3] {
    let robin = vec![vec![20.0; elo.len()]; elo.len()];
    let even = vec![vec![5.0; elo.len()]; elo.len()];
    let best = shared_out(elo, &even, |own| tau(elo, own).1);
    [robin, even, best].map(|games| tau(elo, &covariance(elo, &games)).0)
}

/// As many games as these, shared out to give the most information about what counts, which depends on the covariance so far.
fn shared_out(elo: &[f64], games: &Matrix, counts: impl Fn(&Matrix) -> Matrix) -> Matrix {
    let pairs = || (0..elo.len()).flat_map(|one| (one + 1..elo.len()).map(move |other| (one, other)));
    let all: f64 = pairs().map(|(one, other)| games[one][other]).sum();
    let mut shares = games.clone();
    for _ in 0..STEPS {
        let own = covariance(elo, &shares);
        let tells = times(&times(&own, &counts(&own)), &own);
        let mut sum = 0.0;
        for (one, other) in pairs() {
            let told =
                weight(elo, one, other) * (tells[one][one] + tells[other][other] - 2.0 * tells[one][other]);
            // A pair without any games could never get games again.
            shares[one][other] = (shares[one][other] * told.max(0.0).sqrt()).max(1e-12);
            sum += shares[one][other];
        }
        shares.iter_mut().flatten().for_each(|share| *share *= all / sum);
    }
    shares
}

/// The expected Kendall's tau of ratings with this covariance, and how it falls with the variance of each pair's difference.
fn tau(elo: &[f64], covariance: &Matrix) -> (f64, Matrix) {
    let bots = elo.len();
    let pairs = (bots * (bots - 1) / 2) as f64;
    let (mut tau, mut counts) = (0.0, vec![vec![0.0; bots]; bots]);
    for one in 0..bots {
        for other in one + 1..bots {
            let variance = covariance[one][one] + covariance[other][other] - 2.0 * covariance[one][other];
            // A game between equals gives information of 1/4, in units of ln(10) / 400 squared.
            let far = (elo[one] - elo[other]).abs() * std::f64::consts::LN_10 / 400.0 / variance.sqrt();
            tau += libm::erf(far / std::f64::consts::SQRT_2) / pairs;
            let falls = (-far * far / 2.0).exp() * far / variance;
            counts[one][one] += falls;
            counts[other][other] += falls;
            counts[one][other] -= falls;
            counts[other][one] -= falls;
        }
    }
    (tau, counts)
}

/// The shares of a round robin's games that reach its error between neighbours and its error of all ratings, when games are shared out
/// to minimise the first plus `of_all` times the second.
fn optimum(elo: &[f64], of_all: f64) -> [f64; 2] {
    let even = vec![vec![1.0; BOTS]; BOTS];
    let robin = errors(&covariance(elo, &even));
    let counts = counts(robin, of_all);
    let shares = shared_out(elo, &even, |_| counts.clone());
    let best = errors(&covariance(elo, &shares));
    [best[0] / robin[0], best[1] / robin[1]]
}

/// Which errors count, each in units of the round robin's.
fn counts(robin: [f64; 2], of_all: f64) -> Matrix {
    let mut counts = vec![vec![0.0; BOTS]; BOTS];
    (0..BOTS).for_each(|bot| counts[bot][bot] = of_all / BOTS as f64 / robin[1]);
    let part = 1.0 / (BOTS - 1) as f64 / robin[0];
    for bot in 0..BOTS - 1 {
        counts[bot][bot] += part;
        counts[bot + 1][bot + 1] += part;
        counts[bot][bot + 1] -= part;
        counts[bot + 1][bot] -= part;
    }
    counts
}

/// The mean square errors: between neighbours, and of all ratings.
fn errors(covariance: &Matrix) -> [f64; 2] {
    let between =
        |bot: usize| covariance[bot][bot] + covariance[bot + 1][bot + 1] - 2.0 * covariance[bot][bot + 1];
    let neighbours = (0..BOTS - 1).map(between).sum::<f64>() / (BOTS - 1) as f64;
    [neighbours, (0..BOTS).map(|bot| covariance[bot][bot]).sum::<f64>() / BOTS as f64]
}

/// The information one game of two bots gives about their difference.
fn weight(elo: &[f64], one: usize, other: usize) -> f64 {
    let expected = score_of_elo(elo[one] - elo[other]);
    expected * (1.0 - expected)
}

/// The covariance of ratings about their mean, when pairs meet as often as `games` says above its diagonal.
fn covariance(elo: &[f64], games: &Matrix) -> Matrix {
    // Games say nothing about the mean, so it is added before the inversion and removed after it.
    let bots = elo.len();
    let mean = 1.0 / bots as f64;
    let mut curvature = vec![vec![mean; bots]; bots];
    for one in 0..bots {
        for other in one + 1..bots {
            let told = games[one][other] * weight(elo, one, other);
            curvature[one][one] += told;
            curvature[other][other] += told;
            curvature[one][other] -= told;
            curvature[other][one] -= told;
        }
    }
    let mut found = inverse(curvature);
    found.iter_mut().flatten().for_each(|value| *value -= mean);
    found
}

/// Gauss-Jordan elimination; positive definite matrices need no pivoting.
fn inverse(mut matrix: Matrix) -> Matrix {
    let bots = matrix.len();
    let mut found: Matrix =
        (0..bots).map(|row| (0..bots).map(|column| f64::from(u8::from(row == column))).collect()).collect();
    for pivot in 0..bots {
        let by = matrix[pivot][pivot];
        matrix[pivot].iter_mut().chain(&mut found[pivot]).for_each(|value| *value /= by);
        let (own, its) = (matrix[pivot].clone(), found[pivot].clone());
        for row in (0..bots).filter(|&row| row != pivot) {
            let by = matrix[row][pivot];
            matrix[row].iter_mut().zip(&own).for_each(|(value, own)| *value -= by * own);
            found[row].iter_mut().zip(&its).for_each(|(value, its)| *value -= by * its);
        }
    }
    found
}

fn times(one: &Matrix, other: &Matrix) -> Matrix {
    let mut product = vec![vec![0.0; one.len()]; one.len()];
    for (row, result) in one.iter().zip(&mut product) {
        for (value, line) in row.iter().zip(other).filter(|(value, _)| **value != 0.0) {
            result.iter_mut().zip(line).for_each(|(result, other)| *result += value * other);
        }
    }
    product
}
