//! Empirical likelihood: of all distributions of block scores with a given property, the one that fits the
//! counts best.
//!
//! Scores and counts are given as `(score, count)`, with positive counts and scores on both sides of one
//! half (see `Tally::lifted`).

/// The LLR of two expected scores: the best likelihood of the counts at mean `s1` against that at `s0`.
pub(crate) fn mean_llr(counts: &[(f64, f64)], s0: f64, s1: f64) -> f64 {
    let around = |s: f64| counts.iter().map(|&(a, n)| (a - s, n)).collect::<Vec<_>>();
    let (at0, at1) = (around(s0), around(s1));
    let (x0, x1) = (tilt(&at0), tilt(&at1));
    at0.iter().zip(&at1).map(|(&(f0, n), &(f1, _))| n * ((1.0 + x0 * f0) / (1.0 + x1 * f1)).ln()).sum()
}

/// The LLR of two values of `t`, the excess of the mean over one half in standard deviations: the best
/// likelihood of the counts at `t1` against that at `t0`.
pub(crate) fn excess_llr(counts: &[(f64, f64)], t0: f64, t1: f64) -> f64 {
    let (p0, p1) = (fit_excess(counts, t0), fit_excess(counts, t1));
    counts.iter().zip(p0.iter().zip(&p1)).map(|(&(_, n), (p0, p1))| n * (p1 / p0).ln()).sum()
}

/// The same for blocks of so many results that a sum of many games is nearly normal: the likelihood ratio of Student's
/// statistic, which knows nothing of single results and does not have to learn how often each of them comes.
pub(crate) fn student_llr(counts: &[(f64, f64)], t0: f64, t1: f64) -> f64 {
    let (blocks, mean, deviation) = describe(counts.iter().copied());
    let t = (mean - 0.5) / deviation;
    blocks * student_gain(t, t0, t1)
}

/// How much a block adds to it where the excess is `t`.
fn student_gain(t: f64, t0: f64, t1: f64) -> f64 {
    let of = |t1: f64| (t - t1).mul_add(t - t1, 1.0);
    (of(t0) / of(t1)).ln() / 2.0
}

/// The sum of the weights, the mean and the standard deviation.
fn describe(weighted: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64, f64) {
    let sum: f64 = weighted.clone().map(|(_, p)| p).sum();
    let mean = weighted.clone().map(|(a, p)| a * p).sum::<f64>() / sum;
    let variance = weighted.map(|(a, p)| (a - mean) * (a - mean) * p).sum::<f64>() / sum;
    (sum, mean, variance.sqrt())
}

/// How much of a search from an end begins with the counts themselves.
const OF_COUNTS: f64 = 0.02;

/// The best fitting distribution whose mean is `t` of its standard deviations above one half.
///
/// `t` is not linear in the probabilities, so there can be more than one distribution that fits best among its
/// neighbours. The search begins at the counts and at both ends, and the likeliest is kept.
fn fit_excess(counts: &[(f64, f64)], t: f64) -> Vec<f64> {
    let total: f64 = counts.iter().map(|&(_, n)| n).sum();
    let seen: Vec<f64> = counts.iter().map(|&(_, n)| n / total).collect();
    let from_end = |end: usize| {
        let mut chances: Vec<f64> = seen.iter().map(|seen| OF_COUNTS * seen).collect();
        chances[end] += 1.0 - OF_COUNTS;
        chances
    };
    let found = |start: Vec<f64>| {
        let chances = search_excess(counts, t, start);
        let (_, mean, deviation) = describe(counts.iter().zip(&chances).map(|(&(a, _), &p)| (a, p)));
        let is_one = ((mean - 0.5) / deviation - t).abs() < 1e-6 * (1.0 + t.abs());
        let fits: f64 = counts.iter().zip(&chances).map(|(&(_, n), p)| n * p.ln()).sum();
        (is_one && fits.is_finite(), fits, chances)
    };
    let near = found(seen.clone());
    if near.0 && t.abs() < ONE_BELOW && total > MANY {
        return near.2;
    }
    let all = [near, found(from_end(0)), found(from_end(counts.len() - 1))].into_iter();
    let best = all.max_by(|one, other| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
    best.expect("three searches").2
}

/// Below this excess, with more than this many blocks, the search from the counts finds the likeliest; a test compares it
/// with the others.
const ONE_BELOW: f64 = 0.25;
const MANY: f64 = 30.0;

/// A best fitting distribution, from these chances on: the excess is linearised around a distribution, the tilt for that
/// line is found, and this is repeated around the resulting distribution until it no longer changes. If `t`
/// is so far away that no distribution satisfies the line, the step towards it is halved.
fn search_excess(counts: &[(f64, f64)], t: f64, mut chances: Vec<f64>) -> Vec<f64> {
    let mut line = counts.to_vec();
    for _ in 0..100 {
        let (_, mean, deviation) = describe(counts.iter().zip(&chances).map(|(&(a, _), &p)| (a, p)));
        let here = (mean - 0.5) / deviation;
        let mut part = 1.0;
        loop {
            let aim = here + part * (t - here);
            for (place, &(a, _)) in line.iter_mut().zip(counts) {
                let z = (a - mean) / deviation;
                place.0 = (a - 0.5) / deviation - aim / 2.0 * (1.0 + z * z);
            }
            let (least, most) = ends(&line);
            if least < -1e-3 && most > 1e-3 || part < 1e-9 {
                break;
            }
            part /= 2.0;
        }
        let x = tilt(&line);
        let mut moved = 0.0f64;
        let sum: f64 = line.iter().map(|&(f, n)| n / (1.0 + x * f)).sum();
        for (chance, &(f, n)) in chances.iter_mut().zip(&line) {
            let next = n / (1.0 + x * f) / sum;
            moved = moved.max((next - *chance).abs());
            *chance = next;
        }
        if part == 1.0 && moved < 1e-11 {
            break;
        }
    }
    chances
}

/// The best fitting distribution under which `f` has mean 0 is `n_i / (1 + x f_i)`; this finds the `x` that
/// gives that mean. `line` holds `(f, n)`, with `f` of both signs.
fn tilt(line: &[(f64, f64)]) -> f64 {
    let (least, most) = ends(line);
    // The sum falls from plus to minus infinity between its two poles: Newton steps, and halving where they
    // leave the bracket.
    let (mut low, mut high) = (-1.0 / most, -1.0 / least);
    let mut x = 0.0;
    for _ in 0..200 {
        let (mut sum, mut slope) = (0.0, 0.0);
        for &(f, n) in line {
            let part = f / (1.0 + x * f);
            sum += n * part;
            slope -= n * part * part;
        }
        if sum > 0.0 {
            low = x
        } else {
            high = x
        }
        let newton = x - sum / slope;
        let next = if newton > low && newton < high { newton } else { f64::midpoint(low, high) };
        if (next - x).abs() <= 1e-15 * (1.0 + x.abs()) {
            return next;
        }
        x = next;
    }
    x
}

/// The least and the largest value of a line.
fn ends(line: &[(f64, f64)]) -> (f64, f64) {
    line.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), &(f, _)| (least.min(f), most.max(f)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two results: the probability of a win alone determines `t`, so the likelihood has a closed form.
    #[test]
    fn two_results_have_a_closed_form() {
        for t in [-3.0f64, -0.4, 0.0, 0.05, 1.15, 5.0] {
            let p = fit_excess(&[(0.0, 30.0), (1.0, 70.0)], t);
            // (p - 1/2) / sqrt(p (1 - p)) = t
            let win = 0.5 + t / 2.0 / (1.0 + t * t).sqrt();
            assert!((p[1] - win).abs() < 1e-9, "{t}: {} {win}", p[1]);
        }
    }

    /// No distribution in a fine grid that meets the hypothesis fits better.
    #[test]
    fn nothing_fits_better() {
        let counts = [(0.0, 12.0), (0.5, 50.0), (1.0, 38.0)];
        let value = |p: &[f64]| counts.iter().zip(p).map(|(&(_, n), p)| n * p.ln()).sum::<f64>();
        for t in [-0.5, 0.1, 0.8] {
            let best = value(&fit_excess(&counts, t));
            let mut seen = 0;
            for draw in 1..1000 {
                // With the draws fixed, t rises with the wins: find them by bisection.
                let draw = f64::from(draw) / 1000.0;
                let (mut low, mut high) = (0.0, 1.0 - draw);
                let at = |win: f64| {
                    let mean = win + draw / 2.0;
                    (mean - 0.5) / (win + draw / 4.0 - mean * mean).sqrt()
                };
                for _ in 0..80 {
                    let middle = f64::midpoint(low, high);
                    if at(middle) < t { low = middle } else { high = middle }
                }
                if (at(low) - t).abs() < 1e-6 && low > 0.0 && low + draw < 1.0 {
                    seen += 1;
                    assert!(value(&[1.0 - draw - low, draw, low]) <= best + 1e-9, "{t} {draw}");
                }
            }
            assert!(seen > 300, "{seen}");
        }
    }

    /// What fits best, of what the searches from the counts and from both ends find.
    fn likeliest(counts: &[(f64, f64)], t: f64) -> f64 {
        let total: f64 = counts.iter().map(|&(_, n)| n).sum();
        let starts = (0..=counts.len()).map(|end| {
            let mut start: Vec<f64> = counts.iter().map(|&(_, n)| n / total).collect();
            if end < counts.len() {
                start.iter_mut().for_each(|chance| *chance *= 0.02);
                start[end] += 0.98;
            }
            start
        });
        let value = |p: &[f64]| counts.iter().zip(p).map(|(&(_, n), p)| n * p.ln()).sum::<f64>();
        let meets = |p: &[f64]| {
            let (_, mean, deviation) = describe(counts.iter().zip(p).map(|(&(a, _), &p)| (a, p)));
            ((mean - 0.5) / deviation - t).abs() < 1e-6
        };
        let found = starts.map(|start| search_excess(counts, t, start)).filter(|p| meets(p));
        found.map(|p| value(&p)).filter(|fits| fits.is_finite()).fold(f64::NEG_INFINITY, f64::max)
    }

    #[test]
    fn of_several_best_fits_the_likeliest_is_found() {
        use agon_game::{Chance as _, Seeded};
        let mut chance = Seeded::stream(3, "likeliest");
        for _ in 0..400 {
            let mut draw = || (chance.below(3) * chance.below(12)) as f64;
            let counts: Vec<(f64, f64)> = (0..5).map(|p| (f64::from(p) / 4.0, draw().max(1e-3))).collect();
            for t in [-0.2, 0.0, 0.08, 0.24, 0.4, 0.81] {
                let own = fit_excess(&counts, t);
                let own: f64 = counts.iter().zip(&own).map(|(&(_, n), p)| n * p.ln()).sum();
                assert!(own > likeliest(&counts, t) - 1e-5, "{counts:?} {t}: {own}");
            }
        }
    }

    /// Two draws and two losses of a point: an independent search over all distributions gives -2.72. From the counts alone
    /// another best fit was found, and -3.73, which accepted H0.
    #[test]
    fn four_pairs_are_not_decided_by_a_worse_fit() {
        let counts = [(0.0, 1e-3), (0.25, 2.0), (0.5, 2.0), (0.75, 1e-3), (1.0, 1e-3)];
        let llr = excess_llr(&counts, 0.0, 200.0 * 2f64.sqrt() * std::f64::consts::LN_10 / 800.0);
        assert!((llr + 2.72).abs() < 5e-3, "{llr}");
    }
}
