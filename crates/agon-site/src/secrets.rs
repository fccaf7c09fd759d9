//! Secrets: made here, kept as hashes.

use agon_store::Sha;
pub use agon_web::gate::same;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;

/// The characters of codes that people read to each other: no two look or sound alike.
const SIGNS: &[u8; 32] = b"23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

/// How long a token is valid, and how long it may stay unused, in milliseconds.
pub const TOKEN: i64 = 90 * 86_400_000;

/// Random bytes.
///
/// # Panics
/// When the system has none: nothing could be kept private then.
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system gives random numbers");
    bytes
}

/// 256 unguessable bits, in 43 characters.
pub fn fresh() -> String {
    URL_SAFE_NO_PAD.encode(random::<32>())
}

/// A code for people to type: 50 bits in ten characters, `K7PQM-3XWDA`.
pub fn code() -> String {
    let signs = random::<10>().map(|byte| char::from(SIGNS[usize::from(byte % 32)]));
    let (a, b) = signs.split_at(5);
    format!("{}-{}", a.iter().collect::<String>(), b.iter().collect::<String>())
}

/// A code as typed: spaces, dashes and case do not matter.
pub fn typed_code(text: &str) -> String {
    let mut signs: String =
        text.chars().filter(char::is_ascii_alphanumeric).take(32).collect::<String>().to_uppercase();
    if signs.len() == 10 {
        signs.insert(5, '-');
    }
    signs
}

/// A code that sets a password: 80 bits in sixteen characters, `K7PQ-M3XW-DA2B-9CDE`, so that nobody finds one even from its hash.
pub fn recovery_code() -> String {
    in_fours(&random::<16>().map(|byte| char::from(SIGNS[usize::from(byte % 32)])))
}

fn in_fours(signs: &[char]) -> String {
    signs.chunks(4).map(|four| four.iter().collect::<String>()).collect::<Vec<_>>().join("-")
}

/// The same as typed: spaces, dashes and case do not matter.
pub fn typed_recovery_code(text: &str) -> String {
    let signs = text.chars().filter(char::is_ascii_alphanumeric).take(32);
    in_fours(&signs.map(|sign| sign.to_ascii_uppercase()).collect::<Vec<_>>())
}

/// The hash under which a secret is stored.
pub fn sha(secret: &str) -> Sha {
    Sha::of(secret)
}

/// The signature of these words with this key.
pub fn signed(key: &str, words: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes());
    URL_SAFE_NO_PAD.encode(hmac::sign(&key, words.as_bytes()))
}

/// The token in the forms of a session: only those who can read a page of this session know it.
pub fn form_token(session: &str) -> String {
    let sha = Sha::of(format!("agon form\n{session}"));
    URL_SAFE_NO_PAD.encode(&sha.bytes()[..24])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_differ_and_codes_survive_being_typed() {
        assert_eq!((fresh().len(), fresh() == fresh()), (43, false));
        let code = code();
        assert_eq!(code.len(), 11);
        assert_eq!(typed_code(&format!(" {} ", code.to_lowercase().replace('-', " "))), code);
        assert_eq!(typed_code("<script>"), "SCRIPT");
        let code = recovery_code();
        assert_eq!((code.len(), code == recovery_code()), (19, false));
        assert_eq!(typed_recovery_code(&format!(" {} ", code.to_lowercase().replace('-', " "))), code);
        assert_eq!(typed_recovery_code(&code.replace('-', "")), code);
        assert!(same("abc", "abc") && !same("abc", "abd") && !same("abc", "ab"));
        assert_ne!(form_token("a"), form_token("b"));
    }
}
