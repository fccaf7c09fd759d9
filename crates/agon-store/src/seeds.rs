//! Seeds of blocks. They come from a secret whose hash is published before the first match, so that nobody can choose them by their
//! outcome. The secret is published when the contest is over, and everybody can compute them again.

use crate::{MatchId, Sha};

/// A new secret: 64 hexadecimal digits.
///
/// # Errors
/// When the system has no randomness.
pub fn secret() -> std::io::Result<String> {
    let mut bytes = [0u8; 32];
    getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The seed of a block. Small enough for every JSON reader to hold exactly.
pub fn seed(secret: &str, block: i64) -> i64 {
    let sha = Sha::of(format!("agon seed\n{secret}\n{block}"));
    let first: [u8; 8] = sha.bytes()[..8].try_into().expect("eight of thirty-two bytes");
    i64::from_be_bytes(first) & ((1 << 53) - 1)
}

/// Whether a match is among those played again, one in `share`. Nobody can tell in advance without the secret.
pub fn is_drawn(secret: &str, game: MatchId, share: u64) -> bool {
    let sha = Sha::of(format!("agon again\n{secret}\n{game}"));
    let first: [u8; 8] = sha.bytes()[..8].try_into().expect("eight of thirty-two bytes");
    share > 0 && u64::from_be_bytes(first).is_multiple_of(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_follow_from_the_secret_and_differ() {
        let one = secret().expect("randomness");
        let other = secret().expect("randomness");
        assert_ne!(one, other);
        assert_eq!(one.len(), 64);
        assert_eq!(seed(&one, 1), seed(&one, 1));
        assert_ne!(seed(&one, 1), seed(&one, 2));
        assert_ne!(seed(&one, 1), seed(&other, 1));
        // Published contests are recomputed with this, so it must never change.
        assert_eq!(seed("0", 1), 3_558_834_341_973_398);
    }

    #[test]
    fn one_match_in_a_hundred_is_drawn_and_which_they_are_depends_on_the_secret() {
        let drawn = |secret: &str, share| -> Vec<i64> {
            (0..100_000).filter(|game| is_drawn(secret, MatchId(*game), share)).collect()
        };
        let (one, other) = (drawn("0", 100), drawn("1", 100));
        assert!((900..1_100).contains(&one.len()), "{}", one.len());
        assert!(one.iter().filter(|game| other.contains(game)).count() < 50);
        assert_eq!((drawn("0", 1).len(), drawn("0", 0).len()), (100_000, 0));
    }
}
