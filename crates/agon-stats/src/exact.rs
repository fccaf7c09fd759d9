//! Tests whether something happens more often here than there. Exact, however small the counts.

/// A part of a whole, in counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    pub part: u64,
    pub whole: u64,
}

impl Share {
    /// The share as a number from 0 to 1; 0 for an empty whole.
    pub fn rate(self) -> f64 {
        if self.whole == 0 { 0.0 } else { self.part as f64 / self.whole as f64 }
    }
}

impl std::ops::AddAssign for Share {
    fn add_assign(&mut self, other: Self) {
        self.part += other.part;
        self.whole += other.whole;
    }
}

impl std::ops::Sub for Share {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { part: self.part - other.part, whole: self.whole - other.whole }
    }
}

/// The probability that `own` gets this many or more of all the parts, if they were as likely there as with the `others`: Fisher's
/// exact test, one-sided. 1 if there is nothing to compare with.
pub fn more_often(own: Share, others: Share) -> f64 {
    let (whole, parts) = (own.whole + others.whole, own.part + others.part);
    let factorial = |n: u64| libm::lgamma(n as f64 + 1.0);
    let ways = |of: u64, some: u64| factorial(of) - factorial(some) - factorial(of - some);
    let all = ways(whole, own.whole);
    let exactly = |part: u64| (ways(parts, part) + ways(whole - parts, own.whole - part) - all).exp();
    let least = own.part.max((own.whole + parts).saturating_sub(whole));
    (least..=own.whole.min(parts)).map(exactly).sum::<f64>().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(part: u64, whole: u64) -> Share {
        Share { part, whole }
    }

    #[test]
    fn it_is_fishers_test() {
        // The lady tasting tea: of 4 cups of each kind she names 3, or all 4, rightly.
        assert!((more_often(share(3, 4), share(1, 4)) - 17.0 / 70.0).abs() < 1e-12);
        assert!((more_often(share(4, 4), share(0, 4)) - 1.0 / 70.0).abs() < 1e-12);
        // As `fisher.test(matrix(c(8, 12, 5, 95), 2), alternative = "greater")` computes it: by hand with whole numbers.
        let choose = |n: u64, k: u64| (0..k).fold(1.0, |ways, i| ways * (n - i) as f64 / (i + 1) as f64);
        let by_hand: f64 =
            (8..=13).map(|k| choose(13, k) * choose(107, 20 - k)).sum::<f64>() / choose(120, 20);
        assert!((more_often(share(8, 20), share(5, 100)) / by_hand - 1.0).abs() < 1e-9);
    }

    #[test]
    fn where_there_is_nothing_to_compare_nothing_stands_out() {
        assert_eq!(more_often(share(5, 5), share(0, 0)), 1.0);
        assert_eq!(more_often(share(0, 0), share(3, 5)), 1.0);
        assert!((more_often(share(0, 50), share(3, 500)) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn large_numbers_keep_it_exact_enough() {
        let p = more_often(share(300, 10_000), share(2_000, 100_000));
        assert!((1e-11..1e-9).contains(&p), "{p}");
    }
}
