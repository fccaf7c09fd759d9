//! Whose doing it was that a seat could not answer: decided from what was counted, so that anybody can decide it again.

use serde::{Deserialize, Serialize};

/// A wait is the machine's fault if it exceeds what the other bots used in it by more than this, in microseconds.
const UNEXPLAINED_US: u64 = 10_000;

/// What was counted while a seat was kept from answering for so long that nobody can say how it would have played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// The seat, from 1.
    pub seat: u8,
    /// Since it was asked, in microseconds.
    pub wall_us: u64,
    /// How long it was kept from running meanwhile.
    pub waited_us: u64,
    /// What the other seats used meanwhile.
    pub used: Vec<Use>,
}

/// What a seat used while another one was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Use {
    /// The seat, from 1.
    pub seat: u8,
    /// Its CPU time in microseconds.
    pub cpu_us: u64,
    /// The part that was not its to use: all of it in another's turn, and what exceeds an equal share of the CPUs where all
    /// think at once.
    pub beyond_us: u64,
    /// Whether the kernel counted it. What was only sampled may be much more.
    pub counted: bool,
}

/// Whose doing a wait was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// The machine's: the match is void.
    Machine,
    /// Nobody's: what others used was theirs. It is not charged.
    Nobody,
    /// That of the seat with this number, from 1.
    Seat(u8),
}

impl Wait {
    pub fn doing(&self) -> Doing {
        let all = self.used.iter().map(|used| used.cpu_us).fold(0, u64::saturating_add);
        let by = self.used.iter().max_by_key(|used| used.beyond_us).filter(|by| by.beyond_us > 0);
        let is_theirs = match self.used.iter().all(|used| used.counted) {
            true => self.waited_us <= all.saturating_add(UNEXPLAINED_US),
            false => by.is_some_and(|by| by.cpu_us >= self.waited_us / 2),
        };
        match by {
            _ if !is_theirs => Doing::Machine,
            None => Doing::Nobody,
            Some(by) => Doing::Seat(by.seat),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(waited_us: u64, used: &[(u64, u64, bool)]) -> Doing {
        let used = used.iter().zip(2..).map(|(&(cpu_us, beyond_us, counted), seat)| Use {
            seat,
            cpu_us,
            beyond_us,
            counted,
        });
        Wait { seat: 1, wall_us: 2 * waited_us, waited_us, used: used.collect() }.doing()
    }

    #[test]
    fn a_wait_is_the_machines_only_if_the_other_bots_do_not_explain_it() {
        assert_eq!(wait(100_000, &[(89_000, 89_000, true)]), Doing::Machine);
        assert_eq!(wait(100_000, &[(90_000, 90_000, true)]), Doing::Seat(2));
        // What they used within their shares is nobody's fault; who went beyond is named.
        assert_eq!(wait(100_000, &[(60_000, 0, true), (60_000, 0, true)]), Doing::Nobody);
        assert_eq!(wait(100_000, &[(60_000, 0, true), (60_000, 1, true)]), Doing::Seat(3));
        assert_eq!(wait(100_000, &[]), Doing::Machine);
    }

    #[test]
    fn what_was_only_sampled_names_whoever_used_half_of_it() {
        assert_eq!(wait(100_000, &[(50_000, 50_000, false)]), Doing::Seat(2));
        assert_eq!(wait(100_000, &[(49_000, 49_000, false)]), Doing::Machine);
        assert_eq!(wait(100_000, &[(90_000, 0, true), (90_000, 0, false)]), Doing::Machine);
    }
}
