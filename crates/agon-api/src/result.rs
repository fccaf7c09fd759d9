//! The result of a match, wherever it is played, sent, kept or shown: a line of a journal, what a worker posts, a row of a contest's log.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

/// An object that is read field by field. Serde's `flatten` copies every value before it says whose it is, which takes a line of a journal
/// twice as long.
pub trait Fields: Sized {
    /// Takes the value of this key; false if there is no such field.
    ///
    /// # Errors
    /// When the value is another one.
    fn take<'de, A: MapAccess<'de>>(&mut self, key: &str, object: &mut A) -> Result<bool, A::Error>;
}

/// Reads an object into `fields`, which keep what it does not name. What they do not know is skipped.
///
/// # Errors
/// Those of its values.
pub fn read<'de, F: Fields, D: Deserializer<'de>>(fields: F, from: D) -> Result<F, D::Error> {
    struct Reading<F>(F);

    #[derive(Deserialize)]
    struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

    impl<'de, F: Fields> Visitor<'de> for Reading<F> {
        type Value = F;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(mut self, mut object: A) -> Result<F, A::Error> {
            while let Some(Key(key)) = object.next_key()? {
                if !self.0.take(&key, &mut object)? {
                    object.next_value::<serde::de::IgnoredAny>()?;
                }
            }
            Ok(self.0)
        }
    }

    from.deserialize_map(Reading(fields))
}

/// Makes a struct whose fields may stand among those of another one.
macro_rules! fields {
    ($(#[$about:meta])* $name:ident { $($(#[$field_about:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize)]
        pub struct $name { $($(#[$field_about])* pub $field: $type,)* }

        impl Fields for $name {
            fn take<'de, A: MapAccess<'de>>(&mut self, key: &str, object: &mut A) -> Result<bool, A::Error> {
                match key {
                    $(stringify!($field) => self.$field = object.next_value()?,)*
                    _ => return Ok(false),
                }
                Ok(true)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                read(Self::default(), from)
            }
        }
    };
}

fields! {
    /// What the replay of a match proves.
    Proven {
        /// The rank of each seat; the lowest is the best.
        ranks: Vec<u8>,
        /// The score of each seat.
        scores: Vec<f64>,
        /// Why the match ended, in the game's words.
        reason: String,
        /// The number of steps played.
        steps: u32,
        /// A hash of rules, map and the state before the first turn, in hexadecimal; journals of earlier versions lack it.
        #[serde(skip_serializing_if = "String::is_empty")]
        start: String,
        /// A hash of all answers, in hexadecimal: equal for equal games.
        answers: String,
        /// The seats, from 1, that never gave an answer in the form of the game; empty for none.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        silent: Vec<u8>,
    }
}

fields! {
    /// What was observed on the machine that played, and no replay proves.
    Observed {
        /// What programs did wrong.
        #[serde(skip_serializing_if = "FaultsTold::is_empty")]
        faults: FaultsTold,
        /// The longest answer of each seat in milliseconds.
        max_ms: Vec<f64>,
        /// Wall time of the match in microseconds; 0 where it is not kept, as in a contest's log.
        #[serde(skip_serializing_if = "is_zero")]
        wall_us: u64,
        /// In a contest: how strictly its programs were confined, at the least.
        #[serde(skip_serializing_if = "String::is_empty")]
        level: String,
        /// In a contest: the hash of the suites of attacks that the machine has held off; none where they do not apply.
        #[serde(skip_serializing_if = "Option::is_none")]
        suites: Option<String>,
        /// The images that programs ran in, as strangers' do: the hash of each, in order; empty for none.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        images: Vec<String>,
        /// In a series: for each seat, the number of orders that the rules rejected; empty for none.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        rejected: Vec<u64>,
        /// In a series: how each seat's program was confined, if one ran in a sandbox: `off` or the level; empty without a program.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        sandbox: Vec<String>,
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The result of a match that was played to its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MatchResult {
    /// What its replay proves.
    #[serde(flatten)]
    pub proven: Proven,
    /// What was observed.
    #[serde(flatten)]
    pub observed: Observed,
}

impl Fields for MatchResult {
    fn take<'de, A: MapAccess<'de>>(&mut self, key: &str, object: &mut A) -> Result<bool, A::Error> {
        Ok(self.proven.take(key, object)? || self.observed.take(key, object)?)
    }
}

impl<'de> Deserialize<'de> for MatchResult {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        read(Self::default(), from)
    }
}

/// What programs did wrong, as far as it is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FaultsTold {
    /// In a contest, to everybody: for each seat, the kind of fault by which its program first broke, if it did. What was said about it belongs
    /// to the seat.
    Public(Vec<Option<String>>),
    /// In a series, to whoever owns the bots: each kind of fault of each seat.
    Counted(Vec<FaultCount>),
}

impl Default for FaultsTold {
    fn default() -> Self {
        Self::Counted(Vec::new())
    }
}

impl FaultsTold {
    /// What everybody is told, by seat; empty for a series.
    pub fn public(&self) -> &[Option<String>] {
        match self {
            Self::Public(kinds) => kinds,
            Self::Counted(_) => &[],
        }
    }

    /// Each kind of fault of each seat; empty for a contest.
    pub fn counted(&self) -> &[FaultCount] {
        match self {
            Self::Public(_) => &[],
            Self::Counted(faults) => faults,
        }
    }

    fn is_empty(&self) -> bool {
        self.public().is_empty() && self.counted().is_empty()
    }
}

/// One kind of fault of one seat in a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultCount {
    /// The seat, from 1.
    pub seat: u8,
    /// The kind, in words.
    pub kind: String,
    /// How often.
    pub count: u64,
    /// When it first happened, in the game's words.
    pub turn: String,
    /// What happened that first time.
    pub message: String,
    /// The lines of the bot's standard error that say most about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stderr: Vec<String>,
}
