//! A seat's remaining time for the whole match.

use std::time::Duration;

/// The time of one seat for all its answers together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Budget {
    /// None if the clock sets no total.
    total: Option<Duration>,
    /// Never more than the total.
    spent: Duration,
}

/// How long an answer may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limit {
    /// From the end of the question; none without a clock.
    pub time: Option<Duration>,
    /// Whether this is all the seat has left, and less than the rules give it.
    pub is_last: bool,
}

impl Budget {
    /// The budget at the start of a match.
    pub fn new(total: Option<Duration>) -> Self {
        Self { total, spent: Duration::ZERO }
    }

    /// The limit of the next answer: that of the rules, or what is left if that is less.
    pub fn limit(&self, rules: Option<Duration>) -> Limit {
        let left = self.left().filter(|left| rules.is_none_or(|rules| *left < rules));
        Limit { time: left.or(rules), is_last: left.is_some() }
    }

    /// Deducts what an answer is charged; returns how much of it there was to deduct.
    pub fn charge(&mut self, charged: Duration) -> Duration {
        let charged = self.left().map_or(charged, |left| charged.min(left));
        self.spent += charged;
        charged
    }

    /// What was deducted, and the total; none if the clock sets none.
    pub fn spent(&self) -> Option<(Duration, Duration)> {
        Some((self.spent, self.total?))
    }

    fn left(&self) -> Option<Duration> {
        self.total.map(|total| total.saturating_sub(self.spent))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn the_lesser_of_the_rules_limit_and_what_is_left_counts() {
        let mut budget = Budget::new(Some(MS(120)));
        assert_eq!(budget.limit(Some(MS(50))), Limit { time: Some(MS(50)), is_last: false });
        assert_eq!(budget.charge(MS(80)), MS(80));
        assert_eq!(budget.limit(Some(MS(50))), Limit { time: Some(MS(40)), is_last: true });
        assert_eq!(budget.limit(Some(MS(40))), Limit { time: Some(MS(40)), is_last: false });
        assert_eq!(budget.charge(MS(43)), MS(40), "it has no more than that");
        assert_eq!(budget.spent(), Some((MS(120), MS(120))));
        assert_eq!(budget.limit(Some(MS(50))), Limit { time: Some(MS(0)), is_last: true });
        let free = Budget::new(None);
        assert_eq!((free.limit(None), free.spent()), (Limit { time: None, is_last: false }, None));
    }

    proptest! {
        /// Whatever answers take, a seat is never charged more than the total, and no limit exceeds what is left.
        #[test]
        fn never_more_than_the_total(total in 0u64..100_000, answers in prop::collection::vec((0u64..5_000, 0u64..6_000), 0..200)) {
            let mut budget = Budget::new(Some(MS(total)));
            let mut charged = Duration::ZERO;
            for (rules, took) in answers {
                let limit = budget.limit(Some(MS(rules)));
                prop_assert!(limit.time <= Some(MS(rules)));
                prop_assert!(charged + limit.time.expect("there is a limit") <= MS(total));
                charged += budget.charge(MS(took));
                prop_assert!(charged <= MS(total));
                prop_assert_eq!(budget.spent(), Some((charged, MS(total))));
            }
        }
    }
}
