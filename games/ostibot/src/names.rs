//! The names of things on the wire: a letter and a number (OB-BOT-4).

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A name on the wire: a letter and a number, with a single spelling (OB-BOT-4).
macro_rules! name {
    ($(#[$about:meta])* $name:ident, $letter:literal) => {
        $(#[$about])*
        #[cfg_attr(test, derive(ts_rs::TS), ts(type = "string"))]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u16);

        impl $name {
            /// Stands for any text that cannot be such a name. Written `?`.
            pub const UNKNOWN: Self = Self(0);

            /// Reads a name; anything else is [`UNKNOWN`](Self::UNKNOWN).
            pub fn read(text: &str) -> Self {
                let number = text.strip_prefix($letter).filter(|digits| digits.starts_with(|c: char| c.is_ascii_digit() && c != '0'));
                Self(number.and_then(|digits| digits.parse().ok()).unwrap_or(0))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.0 {
                    0 => f.write_str("?"),
                    number => write!(f, "{}{number}", $letter),
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                Ok(Self::read(&String::deserialize(from)?))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }
    };
}

name!(
    /// The name of an adventurer, `a1`; numbers rise through the match and are never reused.
    AdventurerId, 'a'
);
name!(
    /// The name of an item, `i1`; numbers rise through the match and are never reused.
    ItemId, 'i'
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_one_form() {
        assert_eq!(AdventurerId::read("a12"), AdventurerId(12));
        assert_eq!(AdventurerId(12).to_string(), "a12");
        for odd in ["", "a", "a0", "a01", "a+1", "i1", "a65536", "A1", "a1 ", "?"] {
            assert_eq!(AdventurerId::read(odd), AdventurerId::UNKNOWN, "{odd}");
        }
        assert_eq!(ItemId::UNKNOWN.to_string(), "?");
    }
}
