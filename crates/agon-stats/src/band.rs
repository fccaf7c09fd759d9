//! An approximate inverse of the curvature of a likelihood, a preconditioner that makes conjugate gradients fast.
//!
//! Most games are between bots of about equal strength. In order of strength their meetings form a narrow band beside the
//! diagonal, which is factored exactly; meetings of bots far apart enter only on the diagonal. A chain of bots, along which
//! plain conjugate gradients creep, thus takes one step.

/// How many places beside the diagonal are kept.
const WIDTH: usize = 24;
/// A pivot below this part of its diagonal is rounding: the last bot of a chain that nothing ties to the rest.
const LEAST: f64 = 1e-10;

/// A factored band: `L D Lᵀ`.
pub(crate) struct Band {
    /// The bot at each place.
    order: Vec<u32>,
    /// `lower[place * WIDTH + k]`: the factor in the row `place + k + 1`.
    lower: Vec<f64>,
    pivots: Vec<f64>,
}

impl Band {
    /// Factors the sum of `weight · (x_first - x_second)²` over `edges`, whose diagonal is `diagonal`. `at` are the strengths
    /// that give the order; rows of `fixed` bots are left out.
    pub fn new(
        edges: impl Iterator<Item = (u32, u32, f64)>,
        diagonal: &[f64],
        fixed: &[bool],
        at: &[f64],
    ) -> Self {
        let bots = at.len();
        let mut order: Vec<u32> = (0..bots as u32).collect();
        order.sort_by(|&a, &b| at[a as usize].total_cmp(&at[b as usize]).then(a.cmp(&b)));
        let mut places = vec![0; bots];
        order.iter().enumerate().for_each(|(place, &bot)| places[bot as usize] = place);
        let mut lower = vec![0.0; bots * WIDTH];
        for (first, second, weight) in edges {
            let [one, other] = [places[first as usize], places[second as usize]];
            let (low, apart) = (one.min(other), one.abs_diff(other));
            if apart <= WIDTH && !fixed[first as usize] && !fixed[second as usize] {
                lower[low * WIDTH + apart - 1] -= weight;
            }
        }
        let mut pivots: Vec<f64> = order.iter().map(|&bot| diagonal[bot as usize]).collect();
        for place in 0..bots {
            let (done, rest) = lower.split_at_mut((place + 1) * WIDTH);
            let own = &mut done[place * WIDTH..];
            let whole = diagonal[order[place] as usize];
            if pivots[place] <= LEAST * whole {
                // What couples it to the rows behind is rounding too. A bot whose games give no information stays where it is.
                own.fill(0.0);
                pivots[place] = if whole > 0.0 { whole } else { f64::INFINITY };
            }
            for row in 0..WIDTH.min(bots - place - 1) {
                let factor = own[row] / pivots[place];
                if factor == 0.0 {
                    continue;
                }
                pivots[place + row + 1] -= factor * own[row];
                let target = &mut rest[row * WIDTH..row * WIDTH + WIDTH - row - 1];
                target.iter_mut().zip(&own[row + 1..]).for_each(|(target, own)| *target -= factor * own);
            }
            own.iter_mut().for_each(|own| *own /= pivots[place]);
        }
        Self { order, lower, pivots }
    }

    /// Solves `L D Lᵀ x = right` for `N` right-hand sides at once, each as if it were alone.
    pub fn solve<const N: usize>(&self, right: &[[f64; N]]) -> Vec<[f64; N]> {
        let bots = self.order.len();
        // Padding at the end, so that every row is whole.
        let mut y: Vec<[f64; N]> = self.order.iter().map(|&bot| right[bot as usize]).collect();
        y.resize(bots + WIDTH, [0.0; N]);
        for place in 0..bots {
            let (done, rest) = y.split_at_mut(place + 1);
            let own = &self.lower[place * WIDTH..(place + 1) * WIDTH];
            for (rest, own) in rest.iter_mut().zip(own) {
                rest.iter_mut().zip(&done[place]).for_each(|(rest, done)| *rest -= own * done);
            }
        }
        for (y, pivot) in y.iter_mut().zip(&self.pivots) {
            y.iter_mut().for_each(|y| *y /= pivot);
        }
        y[bots..].fill([0.0; N]);
        for place in (0..bots).rev() {
            let own = &self.lower[place * WIDTH..(place + 1) * WIDTH];
            let mut sum = [0.0; N];
            for (own, y) in own.iter().zip(&y[place + 1..]) {
                sum.iter_mut().zip(y).for_each(|(sum, y)| *sum += own * y);
            }
            y[place].iter_mut().zip(sum).for_each(|(y, sum)| *y -= sum);
        }
        let mut x = vec![[0.0; N]; bots];
        self.order.iter().zip(&y).for_each(|(&bot, &y)| x[bot as usize] = y);
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_is_solved_exactly() {
        // A chain of bots numbered out of order, with one bot fixed.
        let at = [3.0, 1.0, 0.0, 2.0, 9.0];
        let edges = [(1, 2, 2.0), (1, 3, 5.0), (0, 3, 1.0), (0, 4, 4.0)];
        let mut diagonal = [0.0; 5];
        for (first, second, weight) in edges {
            diagonal[first as usize] += weight;
            diagonal[second as usize] += weight;
        }
        let fixed = [false, false, false, false, true];
        let right = [1.0, -2.0, 0.5, 4.0, 0.0].map(|right| [right]);
        let x: Vec<f64> = Band::new(edges.into_iter(), &diagonal, &fixed, &at).solve(&right).concat();
        assert_eq!(x[4], 0.0);
        let mut image = [0.0; 5];
        for (first, second, weight) in edges {
            let pull = weight * (x[first as usize] - x[second as usize]);
            image[first as usize] += pull;
            image[second as usize] -= pull;
        }
        for (image, right) in image.iter().zip([1.0, -2.0, 0.5, 4.0]) {
            assert!((image - right).abs() < 1e-12, "{image} is not {right}");
        }
    }
}
