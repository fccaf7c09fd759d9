//! How names are compared: no two in a contest may look alike.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;
use unicode_security::confusable_detection::skeleton;

/// What the eye sees of a name, as it is stored and compared. Letter case, blanks and signs make no difference. Neither do forms that
/// Unicode treats as the same text (NFKC), nor letters that it treats as look-alikes (UTS 39: `Аnn` with a Cyrillic first letter, `B0b`).
/// Diacritics do: `José` is not `Jose`.
///
/// The name is lowercased first, so that `I` equals `i`, not `l`.
pub fn likeness(name: &str) -> String {
    let small: String = name.nfkc().flat_map(char::to_lowercase).collect();
    // Unicode picks one of each set of look-alikes, which may be a capital again.
    let seen = skeleton(&small).flat_map(char::to_lowercase);
    seen.filter(|sign| sign.is_alphanumeric() || is_combining_mark(*sign)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_alike_is_alike() {
        for (one, other) in [
            ("Ann", "a-n n"),
            // Cyrillic, Greek, full-width and mathematical letters, a ligature.
            ("Ann", "Аnn"),
            ("Omega", "Οmega"),
            ("Bots", "Ｂｏｔｓ"),
            ("Bots", "𝐁𝐨𝐭𝐬"),
            ("Ratfink", "Ratﬁnk"),
            ("B0b", "Bob"),
            ("Modern", "Modem"),
            ("paypa1", "paypal"),
            // The same text, composed and decomposed.
            ("José", "Jose\u{301}"),
        ] {
            assert_eq!(likeness(one), likeness(other), "{one} {other}");
        }
        for (one, other) in
            [("José", "Jose"), ("Ann", "Anna"), ("Team 2", "Team 3"), ("Ali", "All"), ("राम", "रम")]
        {
            assert_ne!(likeness(one), likeness(other), "{one} {other}");
        }
        assert_eq!(likeness(" -_."), "");
    }

    #[test]
    fn what_is_compared_twice_stays() {
        for name in ["Ann", "Аnn", "B0b", "Modem", "José", "𝐁𝐨𝐭𝐬", "İstanbul", "ẞ", "ﷺ"] {
            let once = likeness(name);
            assert_eq!(likeness(&once), once, "{name}");
        }
    }
}
