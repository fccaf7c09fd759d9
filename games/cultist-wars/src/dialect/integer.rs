//! Numbers as Java reads them.

/// Reads a number as Java's `Integer.parseInt` does: an optional sign, then decimal digits, leading
/// zeros allowed, within 32 bits (CW-LINE-5). Digits of other scripts count too (CW-LINE-6).
pub fn parse(word: &str) -> Option<i32> {
    let (negative, digits) = match word.as_bytes().first()? {
        b'-' => (true, &word[1..]),
        b'+' => (false, &word[1..]),
        _ => (false, word),
    };
    if digits.is_empty() {
        return None;
    }
    // Counts downwards, because there is one more negative number.
    let mut number = 0i32;
    for c in digits.chars() {
        number = number.checked_mul(10)?.checked_sub(digit(c)?)?;
    }
    if negative { Some(number) } else { number.checked_neg() }
}

/// The value of a decimal digit of any script in Unicode's basic plane. Java looks at 16-bit units, so
/// digits beyond that plane do not count.
fn digit(c: char) -> Option<i32> {
    let value =
        |zero: u32| u32::from(c).checked_sub(zero).filter(|&value| value < 10).map(|value| value as i32);
    if c.is_ascii() { value('0'.into()) } else { ZEROS.iter().find_map(|&zero| value(zero)) }
}

/// The zeros of the scripts whose ten digits are contiguous, as assigned by Unicode.
const ZEROS: [u32; 36] = [
    0x0660, 0x06f0, 0x07c0, 0x0966, 0x09e6, 0x0a66, 0x0ae6, 0x0b66, 0x0be6, 0x0c66, 0x0ce6, 0x0d66, 0x0de6,
    0x0e50, 0x0ed0, 0x0f20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0,
    0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
];

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn reads_what_java_reads() {
        let good = [
            ("0", 0),
            ("-0", 0),
            ("+3", 3),
            ("0007", 7),
            ("2147483647", i32::MAX),
            ("-2147483648", i32::MIN),
            ("\u{0663}", 3),
            ("1\u{ff12}", 12),
        ];
        for (word, number) in good {
            assert_eq!(parse(word), Some(number), "{word}");
        }
        let bad =
            ["", "+", "-", "+-1", "1.0", "1,1", "a", "0x1", " 1", "2147483648", "-2147483649", "\u{1d7d9}"];
        for word in bad {
            assert_eq!(parse(word), None, "{word}");
        }
    }
}
