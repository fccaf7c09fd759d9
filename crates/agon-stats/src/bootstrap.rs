//! The block bootstrap: how much would the ratings change with other seeds?

use agon_game::{Chance as _, Seeded};

use crate::likelihood::Choices;

/// The strengths of `samples` imagined tournaments of as many blocks as the real one, drawn from it with
/// replacement. A sample without a peak (possible only without a prior) is left out.
///
/// The blocks are drawn from all, not for each line-up apart: a line-up that played one block would then
/// never vary, and its bots would seem to be known exactly.
pub(crate) fn resample(
    choices: &Choices,
    blocks: usize,
    sd: Option<f64>,
    start: &[f64],
    samples: u32,
    seed: i64,
) -> Vec<Vec<f64>> {
    let mut chance = Seeded::stream(seed, "bootstrap");
    let mut strengths = Vec::new();
    for _ in 0..samples {
        let mut times = vec![0u64; blocks];
        for _ in 0..blocks {
            times[chance.below(blocks as u32) as usize] += 1;
        }
        strengths
            .extend(choices.gather(|block| times[block]).peak(sd, Some(start)).map(|peak| peak.strengths));
    }
    strengths
}

/// The value below which the share `part` of the sorted `values` lies, between two of them in proportion.
pub(crate) fn quantile(values: &[f64], part: f64) -> f64 {
    let place = part * (values.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(values.len() - 1);
    values[below] + (place - below as f64) * (values[above] - values[below])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles() {
        let values = [1.0, 2.0, 4.0];
        assert_eq!([0.0, 0.25, 0.5, 1.0].map(|part| quantile(&values, part)), [1.0, 1.5, 2.0, 4.0]);
        assert_eq!(quantile(&[3.0], 0.975), 3.0);
    }
}
