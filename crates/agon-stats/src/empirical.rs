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

/// The best fitting distribution whose mean is `t` of its standard deviations above one half.
///
/// `t` is not linear in the probabilities, so it is linearised around a distribution, the tilt for that
/// line is found, and this is repeated around the resulting distribution until it no longer changes. If `t`
/// is so far away that no distribution satisfies the line, the step towards it is halved.
fn fit_excess(counts: &[(f64, f64)], t: f64) -> Vec<f64> {
    let total: f64 = counts.iter().map(|&(_, n)| n).sum();
    let mut chances: Vec<f64> = counts.iter().map(|&(_, n)| n / total).collect();
    let mut line = counts.to_vec();
    for _ in 0..100 {
        let weighted = || counts.iter().zip(&chances).map(|(&(a, _), &p)| (a, p));
        let mean: f64 = weighted().map(|(a, p)| a * p).sum();
        let deviation = weighted().map(|(a, p)| (a - mean) * (a - mean) * p).sum::<f64>().sqrt();
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
}
