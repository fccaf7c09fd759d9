//! Passwords: which are acceptable, and their hashes.

use std::sync::Arc;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, Version};
use tokio::sync::Semaphore;

use crate::secrets;

/// The shortest and the longest password, in characters.
pub const LENGTH: std::ops::RangeInclusive<usize> = 12..=128;
/// Memory for one hash, in KiB.
const MEMORY: u32 = 19 * 1024;
/// The number of passes over the memory.
const PASSES: u32 = 2;
/// How many are computed at once, to bound memory and CPU use.
const AT_ONCE: usize = 2;
/// The first guesses of every attacker, among passwords that are long enough.
const COMMON: &str = include_str!("common-passwords.txt");

/// Computes hashes, a few at once.
#[derive(Clone, Debug)]
pub struct Passwords {
    room: Arc<Semaphore>,
}

impl Default for Passwords {
    fn default() -> Self {
        Self { room: Arc::new(Semaphore::new(AT_ONCE)) }
    }
}

/// Checks that this can be the password of the account with that name.
///
/// # Errors
/// A sentence that says what it must be.
pub fn check(password: &str, name: &str) -> Result<(), String> {
    let length = password.chars().count();
    if length < *LENGTH.start() {
        return Err(format!(
            "The password has {length} characters; it needs at least {}. Four unrelated words make a good one.",
            LENGTH.start()
        ));
    }
    if length > *LENGTH.end() {
        return Err(format!("The password has {length} characters; at most {} are allowed.", LENGTH.end()));
    }
    let plain = |text: &str| -> String {
        text.chars().filter(|sign| sign.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let (own, name) = (plain(password), plain(name));
    let mut signs: Vec<char> = own.chars().collect();
    signs.sort_unstable();
    signs.dedup();
    let is_name = !name.is_empty() && own.replace(&name, "").chars().count() < 6;
    let is_common = COMMON.lines().any(|line| line == own);
    if signs.len() < 5 || is_name || is_common {
        return Err(
            "This password is among the first that anybody would try. Choose another one: four unrelated \
             words, for example."
                .to_owned(),
        );
    }
    Ok(())
}

fn argon() -> Argon2<'static> {
    let params = Params::new(MEMORY, PASSES, 1, None).expect("numbers that Argon2 takes");
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

impl Passwords {
    /// The hash of a password, in the PHC format.
    pub async fn hash(&self, password: String) -> String {
        self.work(move || {
            let salt = secrets::random::<16>();
            let hash = argon().hash_password_with_salt(password.as_bytes(), &salt);
            hash.expect("a password of this length has a hash").to_string()
        })
        .await
    }

    /// Whether this is the password with that hash. Without a hash it takes as long and is false.
    pub async fn is(&self, password: String, hash: Option<String>) -> bool {
        self.work(move || {
            let Some(hash) = hash else {
                let _ = argon().hash_password_with_salt(password.as_bytes(), &[0; 16]);
                return false;
            };
            PasswordHash::new(&hash)
                .is_ok_and(|hash| argon().verify_password(password.as_bytes(), &hash).is_ok())
        })
        .await
    }

    async fn work<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        let _room = self.room.acquire().await.expect("it is never closed");
        tokio::task::spawn_blocking(work).await.expect("it does not panic")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_password_is_known_by_its_hash_and_no_other_is() {
        let passwords = Passwords::default();
        let hash = passwords.hash("correct horse battery".into()).await;
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        assert_ne!(hash, passwords.hash("correct horse battery".into()).await, "each has its own salt");
        assert!(passwords.is("correct horse battery".into(), Some(hash.clone())).await);
        assert!(!passwords.is("correct horse batterz".into(), Some(hash)).await);
        assert!(!passwords.is("anything at all".into(), None).await);
        assert!(!passwords.is("anything at all".into(), Some("$nonsense".into())).await);
    }

    #[test]
    fn passwords_that_anybody_would_try_are_refused() {
        for good in ["correct horse battery", "ünï-ködé ßätze 12", &"long enough. ".repeat(9)] {
            assert_eq!(check(good, "Ann"), Ok(()), "{good}");
        }
        for (bad, why) in [
            ("elevensigns", "at least 12"),
            (&*"x1y2z3".repeat(22), "at most 128"),
            ("123456789012", "first that anybody"),
            ("Password1234", "first that anybody"),
            ("aaaaaaaaaaaaab", "first that anybody"),
            ("ann-example-ann", "first that anybody"),
            ("Anna Example 1", "first that anybody"),
        ] {
            let said = check(bad, if bad.starts_with("Anna") { "Anna Example" } else { "ann-example" });
            assert!(said.as_ref().is_err_and(|said| said.contains(why)), "{bad}: {said:?}");
        }
    }
}
