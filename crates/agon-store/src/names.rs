//! What can be a name in a contest, and how names are compared: no two may look alike.

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

/// The most letters, digits and signs of a name. The marks on a letter are part of it.
const LONGEST: usize = 32;
/// The most marks on a letter: composed text of living languages has no more, and a tower of them would cover its neighbours.
const MARKS: usize = 3;

/// A name as it is stored: what was typed, in Unicode's composed form (NFC), so that what macOS writes as `e` and a diaeresis is
/// the `ë` that others type.
///
/// People have their names in all scripts, so a mark that belongs to a letter (the vowels of Hindi and Tamil) is as good as the
/// letter, and so is the joiner inside a word that Persian is written with.
///
/// # Errors
/// What a name must be.
pub fn named(typed: &str) -> Result<String, String> {
    let name: String = typed.nfc().take(LONGEST * (MARKS + 1) + 1).collect();
    let what = "1 to 32 letters, digits, single spaces, and - _ . ' ·";
    let (mut letters, mut marks, mut length) = (0, 0, 0);
    let mut last = ' ';
    for sign in name.chars() {
        let is_letter = sign.is_alphanumeric() && !is_combining_mark(sign);
        let follows_letter = last.is_alphanumeric() || is_combining_mark(last);
        let is_good = match sign {
            ' ' => last != ' ',
            // Between letters of a script that is joined, never in ASCII, where nobody would see it.
            '\u{200c}' | '\u{200d}' => follows_letter && !last.is_ascii(),
            sign if is_combining_mark(sign) => follows_letter && marks < MARKS,
            sign => is_letter || PUNCTUATION.contains(sign),
        };
        if !is_good {
            return Err(match sign {
                ' ' | '-' => what.to_owned(),
                _ if sign.is_control() || !is_letter && !sign.is_ascii() => {
                    format!("{what}; U+{:04X} is none of these there", u32::from(sign))
                }
                _ => what.to_owned(),
            });
        }
        marks = if is_combining_mark(sign) { marks + 1 } else { 0 };
        letters += usize::from(is_letter);
        length += usize::from(marks == 0 && !JOINERS.contains(&sign));
        last = sign;
    }
    if letters == 0 || length > LONGEST || last == ' ' || JOINERS.contains(&last) {
        return Err(what.to_owned());
    }
    Ok(name)
}

/// Whether this belongs to the letter before it, as the vowel signs of Hindi and Tamil do.
pub fn is_mark(sign: char) -> bool {
    is_combining_mark(sign)
}

/// Apostrophes of O'Brien and O’Connor, the hyphens of Jean‑Luc, the point of Gal·la.
const PUNCTUATION: &str = "-_.'\u{2019}\u{2010}\u{2011}\u{b7}";
/// What joins or separates letters without being seen.
const JOINERS: [char; 2] = ['\u{200c}', '\u{200d}'];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_people_everywhere_are_names() {
        for name in [
            "Ann",
            "Team 2",
            "a-b_c.d",
            "हिन्दी",
            "தமிழ்",
            "علی\u{200c}رضا",
            "O'Brien",
            "O’Connor",
            "Gal·la",
            "Jean\u{2011}Luc",
            "Nguyễn Thị Ánh",
            "ศิริพร",
            "שָׁלוֹם",
            "မြန်မာ",
            "ශ්\u{200d}රී",
            "Ðỗ",
            "Łukasz",
            "李小龍",
            "한글",
            "ʻOkina",
        ] {
            assert_eq!(named(name).as_deref(), Ok(name));
            assert!(!likeness(name).is_empty(), "{name}");
        }
        assert_eq!(named("Zoe\u{308}").as_deref(), Ok("Zoë"));
        assert_eq!(named("\u{1100}\u{1161}").as_deref(), Ok("가"));
        let long = "த்".repeat(32);
        assert_eq!(named(&long).as_deref(), Ok(long.as_str()), "marks are part of their letters");
        assert!(named(&"த்".repeat(33)).is_err());
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for name in [
            "",
            " ",
            "-",
            "'",
            "·",
            " Ann",
            "Ann ",
            "An  n",
            "An\tn",
            "An\nn",
            "<b>",
            "a/b",
            "a&b",
            "a\0b",
            "An\u{202e}n",
            "A\u{200d}nn",
            "Ann\u{200c}",
            "علی\u{200c}",
            "\u{308}",
            "- \u{308}a",
            "Z\u{336}\u{337}\u{338}\u{335}algo",
            "🙂",
        ] {
            assert!(named(name).is_err(), "{name:?}");
        }
        assert!(named(&"a".repeat(33)).is_err());
        assert!(named(&"a".repeat(1 << 20)).is_err());
    }

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
