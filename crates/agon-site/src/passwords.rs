//! Passwords: which are acceptable, and their hashes.

use std::sync::Arc;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, Version};
use tokio::sync::Semaphore;

use crate::guesses::{PasswordPart, guesses};
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

/// How many guesses a password must withstand, as a power of ten. Of 130 weak ones of all kinds the hardest takes 10^7.6 (`thisismypassword`),
/// of 2,000 times twelve random letters and digits the easiest 10^8.9; of twelve random digits alone one in twenty is refused.
const GUESSES: f64 = 8.0;

/// Words that come to everybody's mind here.
const NEAR_AT_HAND: &str = "agon contest tournament ladder match game bot bots team teams code coder organiser organizer admin root \
    login signin welcome hello password passwort geheim test user guest \
    spring summer autumn fall winter frühling fruehling sommer herbst \
    jan feb mar apr mai jun jul aug sep oct okt nov dec dez januar februar märz juni juli oktober dezember \
    montag dienstag mittwoch donnerstag freitag samstag sonntag \
    qaz wsx edc rfv tgb yhn ujm qwertz qwertzuiop asdfghjkl yxcvbnm azerty azertyuiop qsdfghjklm";

/// What somebody who guesses knows.
#[derive(Clone, Debug, Default)]
pub struct Known(pub Vec<String>);

/// Checks that this can be a password where these names and titles are known.
///
/// # Errors
/// Sentences that say why not, and what would be better.
pub fn check(password: &str, known: &Known) -> Result<(), String> {
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
    let own = known.0.iter().map(String::as_str);
    let found = guesses(password, own.chain(NEAR_AT_HAND.split_whitespace()).chain(COMMON.lines()));
    if found.log10 >= GUESSES {
        return Ok(());
    }
    let parts: Vec<&str> = found.parts.iter().map(|part| told(*part)).collect();
    let why = match parts.split_last() {
        Some((last, [])) => format!(": it is mostly {last}"),
        Some((last, others)) => format!(": it is mostly {} and {last}", others.join(", ")),
        None => String::new(),
    };
    Err(format!(
        "This password is too easy to guess{why}. Use four unrelated words that have nothing to do with this contest, or let your browser \
         generate one."
    ))
}

fn told(part: PasswordPart) -> &'static str {
    match part {
        PasswordPart::Known => "something that anybody here would try first",
        PasswordPart::Common => "a password that many use",
        PasswordPart::Word => "a common word or name",
        PasswordPart::Keys => "keys beside each other",
        PasswordPart::Again => "a repetition",
        PasswordPart::Row => "a row such as aaa, abc or 123",
        PasswordPart::Date => "a year or a date",
    }
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

    /// Checks that this can be a password, as [`check`] does.
    ///
    /// # Errors
    /// Sentences that say why not, and what would be better.
    pub async fn judge(&self, password: String, known: Known) -> Result<(), String> {
        self.work(move || check(&password, &known)).await
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

    fn known() -> Known {
        let texts = [
            "ann-example",
            "Autumn Cup",
            "cultist-wars",
            "Cultist Wars",
            "jungle-blitz",
            "Brute Forcers",
            "2026",
        ];
        Known(texts.map(str::to_owned).into())
    }

    #[test]
    fn unrelated_words_and_random_characters_pass() {
        for good in [
            "correct horse battery",
            "four unrelated words here",
            "another set of words",
            "melon brass hat dune",
            "apple tree house door",
            "cheese wagon lighthouse",
            "river-lamp-onion-chair",
            "der hund frisst gerne kuchen",
            "ünï-ködé ßätze 12",
            "Trombone!Gravel9Kiosk",
            "kzmqwjxhvbnr",
            "x7Kp2mQw9rTz",
            "aB3$kL9!pQ2z",
            "8UAa7FO4M9Z5",
            "J8#sd02kfnWq",
            "kx82-mmqp-02ls",
            "my autumn cup has nine warm spoons",
            &"never enough of these x9 ".repeat(5),
        ] {
            assert_eq!(check(good, &known()), Ok(()), "{good}: {:?}", guesses(good, []));
        }
    }

    #[test]
    fn random_characters_pass() {
        let signs: Vec<char> = ('a'..='z').chain('A'..='Z').chain('0'..='9').collect();
        let mut state = 1_u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            signs[(state >> 33) as usize % signs.len()]
        };
        for _ in 0..100 {
            let password: String = (0..12).map(|_| draw()).collect();
            assert_eq!(check(&password, &known()), Ok(()), "{password}");
        }
    }

    #[test]
    fn passwords_that_anybody_would_try_are_refused() {
        let mut wrong = Vec::new();
        for (bad, why) in [
            ("elevensigns", "at least 12"),
            (&*"x1y2z3".repeat(22), "at most 128"),
            // Lists that everybody has, with digits and letters that stand for others.
            ("letmein123456", "something that anybody here"),
            ("starwars2026", "a password that many use"),
            ("Password1234", "too easy to guess"),
            ("P@$$w0rd2026!", "too easy to guess"),
            ("1l0v3y0u2026!", "too easy to guess"),
            ("h3ll0w0rld123", "too easy to guess"),
            ("Sp1d3rm4n!!99", "too easy to guess"),
            ("correct-horse-battery-staple", "too easy to guess"),
            ("michael19871987", "too easy to guess"),
            ("thisismypassword", "too easy to guess"),
            // A season or a month and a year.
            ("summer2026!!", "something that anybody here"),
            ("w1nter2025##!", "too easy to guess"),
            ("Spring2027#1", "too easy to guess"),
            ("Winter-2026-Summer", "too easy to guess"),
            ("frühling2026!", "too easy to guess"),
            ("November272026", "too easy to guess"),
            ("Monday-2026-11", "too easy to guess"),
            ("27.Nov.2026!", "too easy to guess"),
            ("24.Dezember.2026", "too easy to guess"),
            ("19.11.1987!!", "a year or a date"),
            // Names of the contest, its game, its teams, its people.
            ("cultist-wars1", "something that anybody here"),
            ("cult1stw4rs99", "something that anybody here"),
            ("CultistWars-2026!", "something that anybody here"),
            ("jung1e-b1itz77", "too easy to guess"),
            ("AutumnCup2026!", "too easy to guess"),
            ("BruteForcers12", "too easy to guess"),
            ("teambruteforcers", "too easy to guess"),
            ("weloveagon2026", "too easy to guess"),
            ("ann-example-ann", "too easy to guess"),
            ("organiser2026", "too easy to guess"),
            ("srawtsitluc12", "too easy to guess"),
            // Keys, rows, repetitions.
            ("1qaz2wsx3edc", "too easy to guess"),
            ("1qaz!QAZ2wsx", "too easy to guess"),
            ("!QAZ2wsx#EDC", "too easy to guess"),
            ("qwertzuiop12", "too easy to guess"),
            ("zxcvbnm,./12", "too easy to guess"),
            ("123456789012", "too easy to guess"),
            ("112233445566", "too easy to guess"),
            ("abcdefghijkl", "too easy to guess"),
            ("aaaaaaaaaaaaab", "a row such as aaa"),
            ("aaaabbbbcccc", "too easy to guess"),
            ("guess guess guess", "a repetition"),
            ("letmein!letmein!", "too easy to guess"),
            ("jessica1!jessica1!", "too easy to guess"),
            ("s.u.m.m.e.r.2026", "too easy to guess"),
            ("c-u-l-t-i-s-t-1", "too easy to guess"),
            (&*"long enough. ".repeat(9), "a repetition"),
        ] {
            let said = check(bad, &known());
            if !said.as_ref().is_err_and(|said| said.contains(why)) {
                wrong.push((bad.to_owned(), said));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn hostile_passwords_are_judged_like_others() {
        for odd in [
            "\u{0}".repeat(12),
            "\u{202e}".repeat(128),
            "e\u{301}".repeat(64),
            "İẞŉ".repeat(40),
            "a1".repeat(64),
            "(a+)+$".repeat(20),
            (0..128_u32).filter_map(|n| char::from_u32(0x1_F600 + n)).collect(),
            (33..127_u8).map(char::from).collect(),
        ] {
            let _ = check(&odd, &known());
        }
    }
}
