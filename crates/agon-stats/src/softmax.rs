//! Who of several finishes first, from what speaks for each: fits the weights that make what happened most likely.
//!
//! Each [`ScoredPosition`] has a row of values for each seat; the chance of a seat is the softmax over the seats of the weighted sums of their
//! rows (a conditional logit, McFadden 1974). Sums run in a fixed order and `exp` comes from the `libm` crate, so that the same positions
//! give the same bits on every machine.

use agon_game::advantage::softmax;

use crate::fit::dot;

/// A position and who finished first from it.
#[derive(Clone, Debug, PartialEq)]
pub struct ScoredPosition {
    /// The values of the first seat, then those of the second, and so on.
    pub values: Vec<f64>,
    /// Each seat's share of first place; they sum to 1.
    pub shares: Vec<f64>,
}

impl ScoredPosition {
    fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.values.chunks(self.values.len() / self.shares.len())
    }

    /// The chance of each seat under these weights.
    pub fn chances(&self, weights: &[f64]) -> Vec<f64> {
        // Computed as viewers do, so that the weights fitted here suit them.
        softmax(self.rows().map(|row| dot(row, weights)).collect())
    }
}

/// The weights, one per column, that maximise the likelihood less `ridge` times the square of each weight, with values measured in their
/// standard deviations among the seats of a position: `ridge` is per position. A column that never differs among the seats of a position
/// has weight 0. None without positions.
pub fn fit(positions: &[ScoredPosition], ridge: f64) -> Option<Vec<f64>> {
    let first = positions.first()?;
    let width = first.values.len() / first.shares.len();
    let scales = scales(positions, width);
    let scaled: Vec<ScoredPosition> = positions.iter().map(|position| position.scaled(&scales)).collect();
    let mut weights = vec![0.0; width];
    let mut before = loss(&scaled, &weights, ridge);
    for _ in 0..100 {
        let (gradient, mut curvature) = derivatives(&scaled, &weights, ridge);
        let step = solve(&mut curvature, gradient)?;
        // The likelihood is concave: some part of a Newton step always gains, until only rounding is left.
        let mut length = 1.0;
        let after = loop {
            let tried: Vec<f64> =
                weights.iter().zip(&step).map(|(weight, step)| weight + length * step).collect();
            let after = loss(&scaled, &tried, ridge);
            if after <= before || length < 1e-6 {
                weights = tried;
                break after;
            }
            length /= 2.0;
        };
        if before - after < 1e-10 {
            break;
        }
        before = after;
    }
    Some(weights.iter().zip(&scales).map(|(weight, scale)| weight * scale).collect())
}

/// The mean squared error of the chances, summed over the seats of a position and halved, so that with two seats it is the usual Brier
/// score.
pub fn brier<'a>(told: impl IntoIterator<Item = (&'a [f64], &'a [f64])>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for (chances, shares) in told {
        sum += chances.iter().zip(shares).map(|(chance, share)| (chance - share).powi(2)).sum::<f64>() / 2.0;
        count += 1.0;
    }
    sum / f64::max(count, 1.0)
}

/// The chances of single seats against their outcomes, in ten bins of equal width: how many are in each, the sum of their chances, and the
/// sum of their shares.
pub fn reliability<'a>(told: impl IntoIterator<Item = (&'a [f64], &'a [f64])>) -> [(f64, f64, f64); 10] {
    let mut bins = [(0.0, 0.0, 0.0); 10];
    for (chances, shares) in told {
        for (chance, share) in chances.iter().zip(shares) {
            let bin = &mut bins[((chance * 10.0) as usize).min(9)];
            *bin = (bin.0 + 1.0, bin.1 + chance, bin.2 + share);
        }
    }
    bins
}

/// The calibration error of these bins: the distance between mean chance and mean share, averaged over the bins by their counts.
pub fn calibration_error(bins: &[(f64, f64, f64); 10]) -> f64 {
    let count: f64 = bins.iter().map(|(count, ..)| count).sum();
    bins.iter().map(|(_, chance, share)| (chance - share).abs()).sum::<f64>() / f64::max(count, 1.0)
}

impl ScoredPosition {
    fn scaled(&self, scales: &[f64]) -> Self {
        let values =
            self.rows().flat_map(|row| row.iter().zip(scales).map(|(value, scale)| value * scale)).collect();
        Self { values, shares: self.shares.clone() }
    }
}

/// One over the standard deviation of each column within positions; 0 where it never differs.
fn scales(positions: &[ScoredPosition], width: usize) -> Vec<f64> {
    let (mut squares, mut count) = (vec![0.0; width], 0.0);
    for position in positions {
        let seats = position.shares.len() as f64;
        for column in 0..width {
            let mean = position.rows().map(|row| row[column]).sum::<f64>() / seats;
            squares[column] += position.rows().map(|row| (row[column] - mean).powi(2)).sum::<f64>();
        }
        count += seats;
    }
    squares.into_iter().map(|sum| if sum > 1e-12 { f64::sqrt(count / sum) } else { 0.0 }).collect()
}

/// The negative mean log-likelihood, plus the penalty on the weights.
fn loss(positions: &[ScoredPosition], weights: &[f64], ridge: f64) -> f64 {
    let one = |position: &ScoredPosition| -> f64 {
        let chances = position.chances(weights);
        -chances
            .iter()
            .zip(&position.shares)
            .map(|(chance, share)| share * libm::log(chance.max(1e-300)))
            .sum::<f64>()
    };
    positions.iter().map(one).sum::<f64>() / positions.len() as f64 + ridge * dot(weights, weights)
}

/// The direction in which the loss falls, and its curvature, row by row.
fn derivatives(positions: &[ScoredPosition], weights: &[f64], ridge: f64) -> (Vec<f64>, Vec<Vec<f64>>) {
    let width = weights.len();
    let each = 1.0 / positions.len() as f64;
    let mut gradient: Vec<f64> = weights.iter().map(|weight| -2.0 * ridge * weight).collect();
    // A little more on the diagonal than the penalty needs, for columns that never differ.
    let diagonal =
        |row: usize| (0..width).map(|at| if at == row { 2.0 * ridge + 1e-9 } else { 0.0 }).collect();
    let mut curvature: Vec<Vec<f64>> = (0..width).map(diagonal).collect();
    for position in positions {
        let chances = position.chances(weights);
        let mut mean = vec![0.0; width];
        for (row, chance) in position.rows().zip(&chances) {
            mean.iter_mut().zip(row).for_each(|(mean, value)| *mean += chance * value);
        }
        for ((row, chance), share) in position.rows().zip(&chances).zip(&position.shares) {
            for at in 0..width {
                gradient[at] += each * (share - chance) * row[at];
                let pull = each * chance * (row[at] - mean[at]);
                if pull != 0.0 {
                    let line = &mut curvature[at][..=at];
                    line.iter_mut()
                        .zip(row)
                        .zip(&mean)
                        .for_each(|((one, value), mean)| *one += pull * (value - mean));
                }
            }
        }
    }
    (gradient, curvature)
}

/// Solves a symmetric, positive definite system given by its lower half (Cholesky); none if rounding has spoilt it.
fn solve(matrix: &mut [Vec<f64>], mut right: Vec<f64>) -> Option<Vec<f64>> {
    let width = right.len();
    for row in 0..width {
        for column in 0..=row {
            let (above, own) = matrix.split_at_mut(row);
            let known = if column < row { &above[column] } else { &own[0] };
            let rest = own[0][column] - dot(&own[0][..column], &known[..column]);
            own[0][column] = if column < row {
                rest / known[column]
            } else {
                Some(rest.sqrt()).filter(|root| *root > 0.0)?
            };
        }
        right[row] = (right[row] - dot(&matrix[row][..row], &right[..row])) / matrix[row][row];
    }
    for row in (0..width).rev() {
        let later: f64 = (row + 1..width).map(|at| matrix[at][row] * right[at]).sum();
        right[row] = (right[row] - later) / matrix[row][row];
    }
    Some(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(values: &[f64], shares: &[f64]) -> ScoredPosition {
        ScoredPosition { values: values.to_vec(), shares: shares.to_vec() }
    }

    #[test]
    fn one_column_has_a_closed_form() {
        // The seat with one more finishes first in three of four.
        let ahead = position(&[1.0, 0.0], &[0.75, 0.25]);
        let weights = fit(&[ahead.clone(), position(&[5.0, 4.0], &[0.75, 0.25])], 0.0).unwrap();
        assert!((weights[0] - libm::log(3.0)).abs() < 1e-6, "{weights:?}");
        assert!((ahead.chances(&weights)[0] - 0.75).abs() < 1e-6);
    }

    #[test]
    fn weights_that_made_the_shares_are_found_again_with_three_seats() {
        let truth = [0.8, -1.5, 0.0];
        let made: Vec<ScoredPosition> = (0..60_i32)
            .map(|number| {
                let values: Vec<f64> =
                    (0..9).map(|at| (f64::from((number * 9 + at).pow(2)) * 0.618_034).fract()).collect();
                let blank = ScoredPosition { values: values.clone(), shares: vec![1.0, 0.0, 0.0] };
                ScoredPosition { values, shares: blank.chances(&truth) }
            })
            .collect();
        let weights = fit(&made, 0.0).unwrap();
        assert!(weights.iter().zip(truth).all(|(own, truth)| (own - truth).abs() < 1e-5), "{weights:?}");
    }

    #[test]
    fn a_column_that_tells_nothing_weighs_nothing() {
        let weights = fit(&[position(&[1.0, 3.0, 0.0, 3.0], &[1.0, 0.0])], 0.01).unwrap();
        assert!(weights[0] > 0.1 && weights[1] == 0.0, "{weights:?}");
    }

    #[test]
    fn the_scores_of_chances() {
        let told: [(&[f64], &[f64]); 2] = [(&[0.8, 0.2], &[1.0, 0.0]), (&[0.8, 0.2], &[0.0, 1.0])];
        assert!((brier(told) - (0.04 + 0.64) / 2.0).abs() < 1e-12);
        // 0.8 came true in one of two cases, and so did 0.2.
        assert!((calibration_error(&reliability(told)) - 0.3).abs() < 1e-12);
    }
}
