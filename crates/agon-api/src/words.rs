//! Enums whose values are words, on the wire and in the database.

use std::fmt;

/// A word that is no value of an enum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWord {
    /// The enum.
    pub of: &'static str,
    /// The word.
    pub word: String,
}

impl fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} `{}`", self.of, self.word)
    }
}

impl std::error::Error for UnknownWord {}

/// Makes an enum of which each value has a word.
#[macro_export]
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$case_about:meta])* $case:ident = $word:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum $name { $($(#[$case_about])* $case,)* }

        impl $name {
            /// Its word.
            pub fn word(self) -> &'static str {
                match self { $(Self::$case => $word,)* }
            }

            /// The value of a word.
            ///
            /// # Errors
            /// When the word is unknown.
            pub fn of(word: &str) -> Result<Self, $crate::UnknownWord> {
                match word {
                    $($word => Ok(Self::$case),)*
                    other => Err($crate::UnknownWord { of: stringify!($name), word: other.to_owned() }),
                }
            }
        }
    };
}
