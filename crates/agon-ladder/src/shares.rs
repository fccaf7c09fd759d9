//! Which kind of work comes next while several wait: each has its share, and what one does not use goes to the others.
//!
//! Check matches are not here: they come before everything else.

/// The purpose of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// Rated matches.
    Ladder,
    /// Is a version better than the one before?
    Promotion,
    /// Requests: challenges and drafts.
    Asked,
}

impl Lane {
    const ALL: [Self; 3] = [Self::Ladder, Self::Promotion, Self::Asked];

    /// Its tenths while all wait: the ladder has at least half, requests at most a fifth.
    fn parts(self) -> f64 {
        match self {
            Self::Ladder => 5.0,
            Self::Promotion => 3.0,
            Self::Asked => 2.0,
        }
    }
}

/// How much each lane has had.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shares {
    /// Matches of each lane, divided by its parts. An idle lane saves nothing up.
    had: [f64; 3],
}

impl Shares {
    /// The next lane, among those that have work.
    pub fn next(&mut self, has_work: impl Fn(Lane) -> bool) -> Option<Lane> {
        let waiting = Lane::ALL.into_iter().filter(|lane| has_work(*lane));
        let next = waiting.min_by(|a, b| self.of(*a).total_cmp(&self.of(*b)))?;
        let least = self.of(next);
        for lane in Lane::ALL.into_iter().filter(|lane| !has_work(*lane)) {
            let own = &mut self.had[lane as usize];
            *own = own.max(least);
        }
        Some(next)
    }

    /// Counts planned matches of a lane.
    pub fn count(&mut self, lane: Lane, matches: usize) {
        self.had[lane as usize] += matches as f64 / lane.parts();
    }

    fn of(&self, lane: Lane) -> f64 {
        self.had[lane as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(
        shares: &mut Shares,
        blocks: usize,
        matches: usize,
        has_work: impl Fn(usize, Lane) -> bool,
    ) -> [usize; 3] {
        let mut had = [0; 3];
        for block in 0..blocks {
            if let Some(lane) = shares.next(|lane| has_work(block, lane)) {
                shares.count(lane, matches);
                had[lane as usize] += matches;
            }
        }
        had
    }

    #[test]
    fn while_all_wait_the_ladder_has_half_and_what_was_asked_for_a_fifth() {
        assert_eq!(run(&mut Shares::default(), 1000, 2, |_, _| true), [1000, 600, 400]);
    }

    #[test]
    fn what_one_leaves_over_goes_to_the_others_and_nobody_saves_up() {
        let mut shares = Shares::default();
        assert_eq!(run(&mut shares, 100, 1, |_, lane| lane == Lane::Asked), [0, 0, 100]);
        // The ladder does not catch up for the time when it was idle.
        let had = run(&mut shares, 100, 1, |_, lane| lane != Lane::Promotion);
        assert!((68..=74).contains(&had[0]), "{had:?}");
        assert_eq!(shares.next(|_| false), None);
    }
}
