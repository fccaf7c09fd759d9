//! May a version go live? A bug fix on the last night must not wait: one match without a fault is enough.

/// How a check match of a version stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Check {
    /// It is not over.
    Waiting,
    /// It is over; what its program did wrong there, if anything.
    Over(Option<String>),
    /// The version could not even be made ready: why.
    Unfit(String),
    /// It was given up, for a reason that is not the author's.
    Dead,
}

/// What becomes of the version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It plays a check match.
    Plan,
    /// Nothing for now.
    Wait,
    /// It goes live.
    Live,
    /// It cannot play: why, with whose fault it is.
    Failed(String),
}

/// So many check matches are given up before somebody has to look.
const PATIENCE: usize = 3;

/// What becomes of a version after these check matches, the first first.
pub fn admission(checks: &[Check]) -> Admission {
    match checks.last() {
        None => Admission::Plan,
        Some(Check::Waiting) => Admission::Wait,
        Some(Check::Over(None)) => Admission::Live,
        Some(Check::Over(Some(fault))) => {
            Admission::Failed(format!("yours: in its check match it failed: {fault}"))
        }
        Some(Check::Unfit(why)) => Admission::Failed(format!("yours: {why}")),
        Some(Check::Dead) if checks.iter().filter(|check| **check == Check::Dead).count() >= PATIENCE => {
            Admission::Failed(
                "ours: no check match of it came to its end; the organiser has to look at the server".into(),
            )
        }
        Some(Check::Dead) => Admission::Plan,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_match_without_a_fault_is_enough_and_every_no_says_whose_fault_it_is() {
        assert_eq!(admission(&[]), Admission::Plan);
        assert_eq!(admission(&[Check::Waiting]), Admission::Wait);
        assert_eq!(admission(&[Check::Dead, Check::Over(None)]), Admission::Live);
        let Admission::Failed(why) = admission(&[Check::Over(Some("crash".into()))]) else {
            panic!("it failed")
        };
        assert!(why.starts_with("yours") && why.contains("crash"), "{why}");
        assert_eq!(admission(&[Check::Dead, Check::Dead]), Admission::Plan);
        let Admission::Failed(why) = admission(&[Check::Dead, Check::Dead, Check::Dead]) else {
            panic!("it failed")
        };
        assert!(why.starts_with("ours"), "{why}");
    }
}
