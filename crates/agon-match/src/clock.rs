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
    /// A tolerance of 50 ms that may be used twice: what the Cultist Wars site does since 2026.
    pub tolerant: bool,
}

/// How much later than the limit an answer may come under [`Clock::tolerant`].
pub const TOLERANCE: Duration = Duration::from_millis(50);
/// How often it may.
pub const TOLERATED: u32 = 2;

impl Clock {
    /// The rulebook's limits, as the original kept them.
    pub const ORIGINAL: Self = Self { limited: true, scale: 1.0, tolerant: false };

    /// The limit for an answer whose limit in the rulebook is `limit_ms`; none for no limit.
    pub fn limit(&self, limit_ms: u32) -> Option<Duration> {
        self.limited.then(|| Duration::from_millis(u64::from(limit_ms)).mul_f64(self.scale))
    }
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self { limited: false, .. } => f.write_str("no limits"),
            Self { tolerant, scale, .. } => {
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
