//! May a version go live? A bug fix on the last night must not wait: one match without a fault is enough.

/// The state of a version's check match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// It is not over.
    Waiting,
    /// It is over, without a fault of its program.
    Passed,
    /// It is over, and its program failed.
    Broke,
    /// The version could not even be made ready.
    Unfit,
    /// It was given up, for a reason that is not the author's fault.
    Dead,
}

/// What to do with the version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Plan a check match.
    Plan,
    /// Nothing for now.
    Wait,
    /// It goes live.
    Live,
    /// It cannot play, for the reason in its last check match: its author's fault.
    Failed,
    /// Its check was tried too often without a result: our fault.
    GivenUp,
}

/// How many check matches may be given up before somebody has to look into it.
const PATIENCE: usize = 3;

/// What to do with a version after these check matches, oldest first.
pub fn admission(checks: &[Check]) -> Admission {
    match checks.last() {
        None => Admission::Plan,
        Some(Check::Waiting) => Admission::Wait,
        Some(Check::Passed) => Admission::Live,
        Some(Check::Broke | Check::Unfit) => Admission::Failed,
        Some(Check::Dead) if checks.iter().filter(|check| **check == Check::Dead).count() >= PATIENCE => {
            Admission::GivenUp
        }
        Some(Check::Dead) => Admission::Plan,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_match_without_a_fault_is_enough_and_what_is_ours_is_tried_three_times() {
        assert_eq!(admission(&[]), Admission::Plan);
        assert_eq!(admission(&[Check::Waiting]), Admission::Wait);
        assert_eq!(admission(&[Check::Dead, Check::Passed]), Admission::Live);
        assert_eq!(admission(&[Check::Broke]), Admission::Failed);
        assert_eq!(admission(&[Check::Dead, Check::Unfit]), Admission::Failed);
        assert_eq!(admission(&[Check::Dead, Check::Dead]), Admission::Plan);
        assert_eq!(admission(&[Check::Dead, Check::Dead, Check::Dead]), Admission::GivenUp);
    }
}
