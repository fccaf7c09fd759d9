//! Quantiles of the normal and of Student's distribution, the same on every machine.

use std::f64::consts::{PI, SQRT_2};

/// The share of the standard normal distribution below `z`.
pub fn normal_below(z: f64) -> f64 {
    libm::erfc(-z / SQRT_2) / 2.0
}

/// How many standard deviations to each side hold `confidence` of the standard normal distribution.
pub fn deviations(confidence: f64) -> f64 {
    let tail = (1.0 - confidence) / 2.0;
    if tail <= 0.0 {
        return f64::INFINITY;
    }
    // Hastings' approximation, right to 0.003 (Abramowitz and Stegun 26.2.22); each of Halley's steps triples its digits.
    let s = (-2.0 * libm::log(tail)).sqrt();
    let mut z = s - (2.30753 + 0.27061 * s) / (1.0 + 0.99229 * s + 0.04481 * s * s);
    for _ in 0..3 {
        let step = (normal_below(-z) - tail) * (2.0 * PI).sqrt() * libm::exp(z * z / 2.0);
        z += step / (1.0 - z * step / 2.0);
    }
    z
}

/// The same for Student's distribution, where the standard deviation is estimated too. `freedom` is at least 1.
pub fn student_deviations(confidence: f64, freedom: f64) -> f64 {
    let (mut t, tail) = (deviations(confidence), (1.0 - confidence) / 2.0);
    // Beyond this many degrees of freedom the two agree to six digits, and the normal quantile is exact.
    if freedom > 1e6 || !t.is_finite() {
        return t;
    }
    // The tail is convex, and Student's is the heavier: so Newton's steps from the normal quantile only grow it, and stop.
    for _ in 0..100 {
        let (above, density) = student(t, freedom);
        let next = t + (above - tail) / density;
        if next.partial_cmp(&(t * (1.0 + 1e-15))) != Some(std::cmp::Ordering::Greater) {
            break;
        }
        t = next;
    }
    t
}

/// The share of Student's distribution below `z`, for an estimated standard deviation. `freedom` is above 0.
pub fn student_below(z: f64, freedom: f64) -> f64 {
    if freedom > 1e6 || !z.is_finite() {
        return normal_below(z);
    }
    let (above, _) = student(z.abs(), freedom);
    if z < 0.0 { above } else { 1.0 - above }
}

/// The share of Student's distribution above `t`, which is not negative, and its density there.
fn student(t: f64, freedom: f64) -> (f64, f64) {
    let a = freedom / 2.0;
    let (x, y) = (freedom / (freedom + t * t), t * t / (freedom + t * t));
    let power = libm::exp(-a * libm::log1p(t * t / freedom));
    let scale = half_step(a) * power;
    // The incomplete beta function, as whichever of its two series halves its terms at least: of the tail, or of the middle. All terms are
    // positive, so no digits cancel.
    let sum = |first: f64, by: f64| {
        let (mut term, mut sum, mut n) = (1.0, 1.0, 0.0);
        while term > sum * 1e-17 {
            term *= by * (a + 0.5 + n) / (first + n);
            sum += term;
            n += 1.0;
        }
        sum
    };
    let above = match x < 0.5 {
        true => scale * y.sqrt() / (a * PI.sqrt()) * sum(a + 1.0, x) / 2.0,
        false => 0.5 - scale * y.sqrt() / PI.sqrt() * sum(1.5, y),
    };
    (above, scale * x.sqrt() / (PI * freedom).sqrt())
}

/// Γ(a + ½) / Γ(a), from its asymptotic series far enough out.
fn half_step(mut a: f64) -> f64 {
    let mut before = 1.0;
    while a < 24.0 {
        before *= a / (a + 0.5);
        a += 1.0;
    }
    let r = 1.0 / a;
    let series = -r / 8.0 + r.powi(3) / 192.0 - r.powi(5) / 640.0 + 17.0 * r.powi(7) / 14336.0;
    before * a.sqrt() * libm::exp(series)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against tables, and where Student's distribution has a closed form.
    #[test]
    fn quantiles_are_those_of_the_tables() {
        let near =
            |found: f64, known: f64| assert!((found / known - 1.0).abs() < 1e-12, "{found} is not {known}");
        near(deviations(0.5), 0.674_489_750_196_081_7);
        near(deviations(0.9), 1.644_853_626_951_472_7);
        near(deviations(0.95), 1.959_963_984_540_054);
        near(deviations(0.99), 2.575_829_303_548_900_4);
        near(deviations(0.999), 3.290_526_731_491_926);
        assert_eq!(deviations(1.0), f64::INFINITY);
        for confidence in [0.001, 0.5, 0.8, 0.95, 0.999] {
            // The quantiles of 1 and of 2 degrees of freedom.
            near(student_deviations(confidence, 1.0), libm::tan(PI / 2.0 * confidence));
            near(
                student_deviations(confidence, 2.0),
                confidence * (2.0 / (1.0 - confidence * confidence)).sqrt(),
            );
        }
        near(student_deviations(0.95, 3.0), 3.182_446_305_283_71);
        near(student_deviations(0.95, 10.0), 2.228_138_851_986_274_5);
        near(student_deviations(0.95, 30.0), 2.042_272_456_301_238);
        near(student_deviations(0.99, 100.0), 2.625_890_521_438_018);
        near(student_deviations(0.95, 1000.0), 1.962_339_080_826_408_5);
        // Between the last of these and the normal distribution, which is the limit.
        let far = student_deviations(0.95, 1e6);
        assert!(far > deviations(0.95) && (far / deviations(0.95) - 1.0) < 1.3e-6, "{far}");
        assert_eq!(student_deviations(1.0, 5.0), f64::INFINITY);
    }

    #[test]
    fn a_share_and_its_quantile_are_each_others_inverse() {
        for freedom in [1.0, 2.0, 3.0, 7.5, 40.0, 900.0] {
            for confidence in [0.5, 0.9, 0.95, 0.999] {
                let z = student_deviations(confidence, freedom);
                let (below, above) = (student_below(-z, freedom), 1.0 - student_below(z, freedom));
                let tail = (1.0 - confidence) / 2.0;
                assert!(
                    (below - tail).abs() < 1e-12 && (above - tail).abs() < 1e-12,
                    "{confidence} {freedom}: {below}"
                );
            }
            assert_eq!((student_below(0.0, freedom), student_below(f64::INFINITY, freedom)), (0.5, 1.0));
        }
    }
}
