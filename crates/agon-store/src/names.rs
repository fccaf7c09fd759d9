//! How names are compared: no two in a contest may look alike.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;
use unicode_security::confusable_detection::skeleton;

/// What of a name the eye sees, as it is stored and compared. Big and small letters, blanks and signs make no difference; forms that
/// Unicode holds to be the same text (NFKC) and letters that it holds to look alike (UTS 39: `Аnn` with a Cyrillic first letter, `B0b`)
/// neither. Marks above and below letters do: `José` is not `Jose`.
///
/// Small letters come first, so that `I` is the same as `i`, and not as `l`.
pub fn likeness(name: &str) -> String {
    let small: String = name.nfkc().flat_map(char::to_lowercase).collect();
    // Of what looks alike, Unicode names one, which may be a big letter again.
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
            // Cyrillic, Greek, wide and mathematical letters, a ligature.
            ("Ann", "Аnn"),
            ("Omega", "Οmega"),
            ("Bots", "Ｂｏｔｓ"),
            ("Bots", "𝐁𝐨𝐭𝐬"),
            ("Ratfink", "Ratﬁnk"),
            ("B0b", "Bob"),
            ("Modern", "Modem"),
            ("paypa1", "paypal"),
            // The same text, composed and not.
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
