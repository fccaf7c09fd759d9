//! Numbers and times in readable form.

use agon_store::Time;
use maud::{Markup, html};

/// A text in which a minus before a number is a true one: every number below zero on a page comes from here.
pub fn minus(text: &str) -> String {
    let mut told = String::with_capacity(text.len());
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(sign) = rest.next() {
        let is_minus = sign == '-' && " (:".contains(before) && rest.peek().is_some_and(char::is_ascii_digit);
        told.push(if is_minus { '−' } else { sign });
        before = sign;
    }
    told
}

/// A whole number with commas: `31,480`.
pub fn count(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if number < 0 { minus(&format!("-{text}")) } else { text }
}

/// A number with its sign, a true minus: `+48`, `−12`.
pub fn signed(number: f64) -> String {
    let rounded = number.round();
    match rounded {
        _ if rounded > 0.0 => format!("+{rounded:.0}"),
        _ if rounded < 0.0 => minus(&format!("{rounded:.0}")),
        _ => "0".to_owned(),
    }
}

/// A share as a percentage that never claims more than is known: `93 %`, `> 99 %`.
pub fn percent(share: f64) -> String {
    match share {
        _ if share > 0.995 => "> 99 %".to_owned(),
        _ if share < 0.005 => "< 1 %".to_owned(),
        _ => format!("{:.0} %", share * 100.0),
    }
}

/// How long something takes, or how long ago it was: `8 s`, `41 min`, `5 h`, `2 d`.
pub fn span(ms: i64) -> String {
    match ms.max(0) / 1000 {
        seconds @ 0..=59 => format!("{seconds} s"),
        seconds @ 60..=5_999 => format!("{} min", seconds / 60),
        seconds @ 6_000..=172_799 => format!("{} h", seconds / 3600),
        seconds => format!("{} d", seconds / 86_400),
    }
}

/// How long ago that was.
pub fn ago(then: Time, now: Time) -> String {
    span(now.0 - then.0)
}

/// A range of places: `3 to 9`, or `1`.
pub fn place([from, to]: [u32; 2]) -> String {
    if from == to { from.to_string() } else { format!("{from} to {to}") }
}

/// The same in a table: `3–9`.
pub fn short_place([from, to]: [u32; 2]) -> String {
    if from == to { from.to_string() } else { format!("{from}–{to}") }
}

/// Bytes: `214 kB`, `4.1 MB`.
pub fn bytes(number: u64) -> String {
    match number {
        0..1_000 => format!("{number} bytes"),
        1_000..1_000_000 => format!("{} kB", number / 1_000),
        1_000_000..1_000_000_000 => format!("{:.1} MB", number as f64 / 1e6),
        _ => format!("{:.1} GB", number as f64 / 1e9),
    }
}

/// Words that follow a colon elsewhere, or a person's reason, as a sentence: with a capital letter and a full stop.
pub fn sentence(words: &str) -> String {
    let mut letters = words.trim().chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    let end = if words.trim().ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

/// What a step of a match is called in a game: `turn`, `half-turn`.
pub fn step(game: &str) -> &'static str {
    agon_games::find(game).map_or("step", |game| game.info().step)
}

/// So many of them: `57 turns`, `1 turn`.
pub fn steps(game: &str, count: i64) -> String {
    let one = step(game);
    many(count, one, &format!("{one}s"))
}

/// `1 match`, `2 matches`.
pub fn many(number: i64, one: &str, more: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { more })
}

/// One of our texts, with names of files and the like between backticks for terminals: on a page they become code. A last
/// backtick without a partner is shown as it is.
pub fn told(text: &str) -> Markup {
    let text = &minus(text);
    let parts: Vec<&str> = text.split('`').collect();
    let pairs = (parts.len() - 1) / 2 * 2;
    html! {
        @for (number, part) in parts[..pairs].iter().enumerate() {
            @if number % 2 == 0 { (part) } @else { code { (part) } }
        }
        (parts[pairs..].join("`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minus_before_a_number_is_a_true_one_and_a_hyphen_stays() {
        let said = "v-1 stays: -7 ± 3 Elo (-12 to -1), map-2, 2-5, - no";
        assert_eq!(minus(said), "v-1 stays: −7 ± 3 Elo (−12 to −1), map-2, 2-5, - no");
        // No other source of pages makes one.
        let pages = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/pages")).expect("a folder");
        for file in pages.flatten().map(|entry| entry.path()).filter(|file| file.is_file()) {
            let text = std::fs::read_to_string(&file).expect("a file");
            assert!(!text.contains('−') || file.ends_with("words.rs"), "{}", file.display());
        }
    }

    #[test]
    fn numbers_read_as_people_write_them() {
        assert_eq!(
            [count(0), count(999), count(31_480), count(-1_000_000)],
            ["0", "999", "31,480", "−1,000,000"]
        );
        assert_eq!([signed(48.4), signed(-12.0), signed(-0.2)], ["+48", "−12", "0"]);
        assert_eq!([percent(0.93), percent(0.999), percent(0.0)], ["93 %", "> 99 %", "< 1 %"]);
        assert_eq!(
            [span(8_000), span(150_000), span(7_200_000), span(3 * 86_400_000)],
            ["8 s", "2 min", "2 h", "3 d"]
        );
        assert_eq!((place([3, 9]), short_place([1, 1])), ("3 to 9".to_owned(), "1".to_owned()));
        assert_eq!([bytes(12), bytes(214_000), bytes(4_100_000)], ["12 bytes", "214 kB", "4.1 MB"]);
        assert_eq!(sentence("two leaders shoot"), "Two leaders shoot.");
        assert_eq!(
            told("Zip `a<b`, not `it` itself.").0,
            "Zip <code>a&lt;b</code>, not <code>it</code> itself."
        );
        assert_eq!([told("plain").0, told("one ` alone").0], ["plain", "one ` alone"]);
        assert_eq!(
            [steps("cultist-wars", 1), steps("deerhunt", 57), steps("none", 2)],
            ["1 turn", "57 half-turns", "2 steps"]
        );
        assert_eq!([many(1, "match", "matches"), many(2, "match", "matches")], ["1 match", "2 matches"]);
    }
}
