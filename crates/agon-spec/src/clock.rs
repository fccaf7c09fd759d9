//! How long a bot may take.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How the rulebook's limits are applied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// Whether there is a limit at all.
    pub limited: bool,
    /// Factor applied to the limits.
    pub scale: f64,
    /// Upper limit on the limit of a single answer.
    pub cap: Option<Duration>,
    /// Upper limit on the charged time of all answers of a seat in one match; `scale` does not lengthen it. None for
    /// as long as the limits of the answers allow.
    pub total: Option<Duration>,
    /// A tolerance of 50 ms that may be used twice, as on the Cultist Wars site since 2026.
    pub tolerant: bool,
}

/// How far past the limit an answer may come under [`Clock::tolerant`].
pub const TOLERANCE: Duration = Duration::from_millis(50);
/// How often an answer may be that late.
pub const TOLERATED: u32 = 2;

impl Clock {
    /// The rulebook's limits, as the original applied them.
    pub const ORIGINAL: Self = Self { limited: true, scale: 1.0, cap: None, total: None, tolerant: false };

    /// The limit for an answer whose rulebook limit is `limit_ms`; none for no limit.
    pub fn limit(&self, limit_ms: u32) -> Option<Duration> {
        let cap = |limit: Duration| self.cap.map_or(limit, |cap| limit.min(cap));
        self.limit_to_connect(limit_ms).map(cap)
    }

    /// The same for connecting, which is not an answer: [`cap`](Self::cap) does not shorten it.
    pub fn limit_to_connect(&self, limit_ms: u32) -> Option<Duration> {
        self.limited.then(|| Duration::from_millis(u64::from(limit_ms)).mul_f64(self.scale))
    }

    /// What a seat has for the whole match; none if that is not limited.
    pub fn in_all(&self) -> Option<Duration> {
        self.total.filter(|_| self.limited)
    }
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self { limited: false, .. } => f.write_str("no limits"),
            Self { tolerant, scale, cap, total, .. } => {
                if let Some(cap) = cap {
                    write!(f, "at most {cap:?}, ")?;
                }
                if let Some(total) = total {
                    write!(f, "{total:?} in all, ")?;
                }
                f.write_str(if *tolerant { "site-2026" } else { "original" })?;
                if *scale == 1.0 { Ok(()) } else { write!(f, " x {scale}") }
            }
        }
    }
}

/// The error for words that name no clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoClock;

impl FromStr for Clock {
    type Err = NoClock;

    /// Reads what [`Display`](fmt::Display) writes.
    fn from_str(text: &str) -> Result<Self, NoClock> {
        if text == "no limits" {
            return Ok(Self { limited: false, ..Self::ORIGINAL });
        }
        let read = |text: &str| time(text).map(Some).map_err(|_| NoClock);
        let (cap, rest) = match text.strip_prefix("at most ") {
            None => (None, text),
            Some(rest) => {
                let (cap, rest) = rest.split_once(", ").ok_or(NoClock)?;
                (read(cap)?, rest)
            }
        };
        let (total, rest) = match rest.split_once(" in all, ") {
            None => (None, rest),
            Some((total, rest)) => (read(total)?, rest),
        };
        let (kind, scale) = match rest.split_once(" x ") {
            None => (rest, 1.0),
            Some((kind, scale)) => (kind, scale.parse().map_err(|_| NoClock)?),
        };
        let tolerant = match kind {
            "original" => false,
            "site-2026" => true,
            _ => return Err(NoClock),
        };
        if is_scale(scale) { Ok(Self { limited: true, scale, cap, total, tolerant }) } else { Err(NoClock) }
    }
}

/// Whether limits can be multiplied by this.
pub fn is_scale(scale: f64) -> bool {
    scale > 0.0 && scale <= 1e6
}

/// Reads a time like `500ms` or `2s`.
///
/// # Errors
/// A sentence that says how to write one.
pub fn time(text: &str) -> Result<Duration, String> {
    let number = |unit: &str| text.strip_suffix(unit)?.trim().parse::<f64>().ok();
    let ms = number("ms").or_else(|| number("s").map(|seconds| seconds * 1e3));
    match ms {
        Some(ms) if (1.0..=86_400_000.0).contains(&ms) => Ok(Duration::from_secs_f64(ms / 1e3)),
        _ => Err("write a number and its unit, from 1ms to 86400s, as in 500ms or 2s".to_owned()),
    }
}

/// The clock of a played match, as its file states it. Other programs and imported records use other words, which are
/// kept unchanged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum RecordedClock {
    /// One of ours.
    Known(Clock),
    /// Something else, in words.
    Other(String),
}

impl RecordedClock {
    /// The clock for showing limits and playing matches again: the original one if the words name none.
    pub fn clock(&self) -> Clock {
        match self {
            Self::Known(clock) => *clock,
            Self::Other(_) => Clock::ORIGINAL,
        }
    }
}

impl From<String> for RecordedClock {
    /// What is read is written back byte for byte.
    fn from(text: String) -> Self {
        match text.parse::<Clock>() {
            Ok(clock) if clock.to_string() == text => Self::Known(clock),
            _ => Self::Other(text),
        }
    }
}

impl From<Clock> for RecordedClock {
    fn from(clock: Clock) -> Self {
        Self::Known(clock)
    }
}

impl From<RecordedClock> for String {
    fn from(clock: RecordedClock) -> Self {
        clock.to_string()
    }
}

impl fmt::Display for RecordedClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(clock) => clock.fmt(f),
            Self::Other(text) => f.write_str(text),
        }
    }
}

/// What happens to a bot that computes while its opponent is to move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ponder {
    /// It is stopped between its turns, and this is reported.
    #[default]
    Stop,
    /// It may.
    Allow,
}

impl fmt::Display for Ponder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stop => "stop",
            Self::Allow => "allow",
        })
    }
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

    #[test]
    fn a_total_holds_where_limits_hold_and_is_not_scaled() {
        let total = Some(Duration::from_secs(60));
        let clock = Clock { total, scale: 2.0, ..Clock::ORIGINAL };
        assert_eq!(clock.in_all(), total);
        assert_eq!(clock.limit(50), Some(Duration::from_millis(100)), "an answer has its own limit");
        assert_eq!(Clock { limited: false, ..clock }.in_all(), None);
        assert_eq!(clock.to_string(), "60s in all, original x 2");
    }

    #[test]
    fn the_words_of_a_clock_are_read_back() {
        let clocks = [
            ("original", Clock::ORIGINAL),
            ("no limits", Clock { limited: false, ..Clock::ORIGINAL }),
            ("site-2026 x 0.5", Clock { tolerant: true, scale: 0.5, ..Clock::ORIGINAL }),
            ("at most 500ms, original", Clock { cap: Some(Duration::from_millis(500)), ..Clock::ORIGINAL }),
            (
                "at most 1.25s, site-2026 x 10",
                Clock {
                    cap: Some(Duration::from_millis(1250)),
                    scale: 10.0,
                    tolerant: true,
                    ..Clock::ORIGINAL
                },
            ),
            ("300s in all, original", Clock { total: Some(Duration::from_secs(300)), ..Clock::ORIGINAL }),
            (
                "at most 500ms, 1.5s in all, site-2026 x 2",
                Clock {
                    cap: Some(Duration::from_millis(500)),
                    total: Some(Duration::from_millis(1500)),
                    scale: 2.0,
                    tolerant: true,
                    limited: true,
                },
            ),
        ];
        for (words, clock) in clocks {
            assert_eq!(words.parse(), Ok(clock), "{words}");
            assert_eq!(clock.to_string(), words);
        }
    }

    #[test]
    fn words_that_are_no_clock_are_kept_to_the_byte() {
        for text in [
            "as recorded",
            "",
            "original x",
            "original x 2.0",
            "original x 0",
            "at most , original",
            " in all, original",
            "60s in all, at most 1s, original",
            "none",
        ] {
            let recorded = RecordedClock::from(text.to_owned());
            assert_eq!(recorded, RecordedClock::Other(text.to_owned()));
            assert_eq!((String::from(recorded.clone()).as_str(), recorded.clock()), (text, Clock::ORIGINAL));
        }
        assert_eq!(RecordedClock::from("original".to_owned()), Clock::ORIGINAL.into());
    }
}
