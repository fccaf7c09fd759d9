//! How long a bot may take.

use std::fmt;
use std::time::Duration;

/// How the rulebook's limits are applied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// Whether there is a limit at all.
    pub limited: bool,
    /// Limits are multiplied by this.
    pub scale: f64,
    /// No limit for an answer is longer than this.
    pub cap: Option<Duration>,
    /// A tolerance of 50 ms that may be used twice: what the Cultist Wars site does since 2026.
    pub tolerant: bool,
}

/// How much later than the limit an answer may come under [`Clock::tolerant`].
pub const TOLERANCE: Duration = Duration::from_millis(50);
/// How often it may.
pub const TOLERATED: u32 = 2;

impl Clock {
    /// The rulebook's limits, as the original kept them.
    pub const ORIGINAL: Self = Self { limited: true, scale: 1.0, cap: None, tolerant: false };

    /// The limit for an answer whose limit in the rulebook is `limit_ms`; none for no limit.
    pub fn limit(&self, limit_ms: u32) -> Option<Duration> {
        let cap = |limit: Duration| self.cap.map_or(limit, |cap| limit.min(cap));
        self.limit_to_connect(limit_ms).map(cap)
    }

    /// The same for connecting, which is no answer: [`cap`](Self::cap) does not shorten it.
    pub fn limit_to_connect(&self, limit_ms: u32) -> Option<Duration> {
        self.limited.then(|| Duration::from_millis(u64::from(limit_ms)).mul_f64(self.scale))
    }
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self { limited: false, .. } => f.write_str("no limits"),
            Self { tolerant, scale, cap, .. } => {
                if let Some(cap) = cap {
                    write!(f, "at most {cap:?}, ")?;
                }
                f.write_str(if *tolerant { "site-2026" } else { "original" })?;
                if *scale == 1.0 { Ok(()) } else { write!(f, " x {scale}") }
            }
        }
    }
}

/// What happens to a bot that computes while its opponent is to move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ponder {
    /// It is stopped between its turns, and this is reported.
    #[default]
    Stop,
    /// It may.
    Allow,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_shortens_limits_and_never_lengthens_them() {
        let cap = Some(Duration::from_secs(1));
        let clock = Clock { cap, scale: 2.0, ..Clock::ORIGINAL };
        assert_eq!(clock.limit(300_000), cap);
        assert_eq!(clock.limit(50), Some(Duration::from_millis(100)));
        assert_eq!(clock.limit_to_connect(5_000), Some(Duration::from_secs(10)));
        assert_eq!(Clock { limited: false, ..clock }.limit(50), None);
        assert_eq!(clock.to_string(), "at most 1s, original x 2");
    }
}
