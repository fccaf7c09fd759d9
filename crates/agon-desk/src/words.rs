//! Figures as people say them, and text from elsewhere made safe to be shown.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory as _};

/// A time in milliseconds, as short as possible.
pub fn milliseconds(ms: f64) -> String {
    match ms {
        ms if ms < 0.1 => format!("{:.0} µs", ms * 1e3),
        ms if ms < 10.0 => format!("{ms:.1} ms"),
        ms if ms < 10_000.0 => format!("{ms:.0} ms"),
        ms => format!("{:.1} s", ms / 1e3),
    }
}

/// A score; whole numbers without a point.
pub fn score(score: f64) -> String {
    if score.fract() == 0.0 { format!("{score:.0}") } else { format!("{score:.2}") }
}

/// `12,345`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// An answer without meaningless white space: around its lines, and in JSON anywhere.
pub fn tidy(answer: &str) -> String {
    let line = |line: &str| {
        serde_json::from_str::<serde_json::Value>(line)
            .map_or_else(|_| line.trim().to_owned(), |value| value.to_string())
    };
    answer.trim().lines().map(line).collect::<Vec<_>>().join("\\n")
}

/// Whether a character is no sign to read, but does something to the text around it or to a terminal: control
/// characters, those that turn the direction of writing, ends of lines, and all that is invisible.
fn acts(c: char) -> bool {
    let what = c.general_category();
    let format =
        [GeneralCategory::Format, GeneralCategory::LineSeparator, GeneralCategory::ParagraphSeparator];
    c.is_control() || format.contains(&what)
}

/// Makes text from elsewhere (a bot, somebody's file) safe for a terminal: characters that would do something are shown
/// instead of obeyed. All code that prints such text passes it through here, and JSON through [`harmless_json`].
pub fn harmless(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\t' => ' ',
            // Within words of some languages, and between the parts of an emoji.
            '\u{200c}' | '\u{200d}' => c,
            c if acts(c) => '\u{fffd}',
            c => c,
        })
        .collect()
}

/// Makes JSON safe for a terminal, and leaves it the same JSON: characters that would do something are escaped. The
/// ASCII ones are already, where they are in strings; all others can only be in strings.
pub fn harmless_json(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        if c >= '\u{7f}' && acts(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                safe.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            safe.push(c);
        }
    }
    safe
}

/// As [`harmless`], line by line.
pub fn harmless_lines(text: &str) -> String {
    text.split('\n').map(harmless).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([1, 999, 1000, 1_234_567].map(thousands), ["1", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn nothing_in_text_or_json_acts_on_a_terminal() {
        let foreign =
            "a\u{7f}b\u{9b}31mc\u{202e}d\u{2066}e\u{2028}f\u{200b}g\u{61c}h\u{feff}i\u{e0041}j\u{ad}k";
        assert_eq!(harmless(foreign), "a�b�31mc�d�e�f�g�h�i�j�k");
        assert_eq!(
            harmless("Zoë 日本 می\u{200c}خواهم 👩\u{200d}🚀 \t."),
            "Zoë 日本 می\u{200c}خواهم 👩\u{200d}🚀  ."
        );
        let json = serde_json::to_string_pretty(&[foreign, "\u{1b}[2J\n", "Zoë 👩🚀"]).expect("JSON");
        let safe = harmless_json(&json);
        assert!(
            safe.contains(
                "a\\u007fb\\u009b31mc\\u202ed\\u2066e\\u2028f\\u200bg\\u061ch\\ufeffi\\udb40\\udc41j\\u00adk"
            ),
            "{safe}"
        );
        assert!(safe.contains("\n  \"Zoë 👩🚀\""), "what is only read stays: {safe}");
        let same = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
        assert_eq!(same(&safe), same(&json));
    }
}
