//! How many guesses a password withstands, by somebody who knows the contest and how people make passwords.
//!
//! `zxcvbn` knows what passwords are made of: words, names, dates, rows of keys, repetitions. What it makes of a whole password is
//! too kind, though: for each further part it multiplies by ten thousand at least, so `summer2026!!` passes. Here a password is
//! taken apart in every way that its signs suggest, each part is as hard as `zxcvbn` finds it alone, and the easiest way counts.

use std::collections::BTreeSet;

use zxcvbn::matching::patterns::{DictionaryPattern, MatchPattern};
use zxcvbn::zxcvbn;

/// The beginning of a password that is looked at.
const LOOKED_AT: usize = 64;
/// Parts are looked for among so many pieces that follow each other.
const PIECES: usize = 8;
/// The shortest word that is looked for inside a password.
const SHORTEST: usize = 3;

// In powers of ten.
/// That there is another part.
const PART: f64 = 0.1;
/// A letter and a sign of which nothing is known. `zxcvbn` itself counts ten for each.
const LETTER: f64 = 1.415;
const SIGN: f64 = 1.3;
const DIGIT: f64 = 1.0;
/// The sign that stands between all letters, or all words.
const SPACED: f64 = 1.0;

/// What a part of a password is, most telling first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PasswordPart {
    /// A word that belongs to the contest or its people.
    Known,
    /// Among the most used passwords.
    Common,
    /// A word, or the name of a person.
    Word,
    /// Keys beside each other.
    Keys,
    /// The same again.
    Again,
    /// As `aaa`, `abc` or `123`.
    Row,
    /// A year or a date.
    Date,
}

/// How hard a password is.
#[derive(Clone, Debug)]
pub struct Guesses {
    /// The number of guesses, as a power of ten.
    pub log10: f64,
    /// What was found in it.
    pub parts: BTreeSet<PasswordPart>,
}

/// How hard it is to guess a password for somebody who knows these texts: names, titles, words of them.
pub fn guesses<'a>(password: &str, texts: impl IntoIterator<Item = &'a str>) -> Guesses {
    let password: String = password.chars().take(LOOKED_AT).collect();
    let words = words_in(&password, texts);
    let whole = easiest(&password, &words);
    let signs = || password.chars().filter(|sign| !sign.is_alphanumeric());
    if signs().count() < 3 || signs().collect::<BTreeSet<_>>().len() > 1 {
        return whole;
    }
    // `s.u.m.m.e.r`
    let mut joined = easiest(&password.replace(|sign: char| !sign.is_alphanumeric(), ""), &words);
    joined.log10 += SPACED;
    if joined.log10 < whole.log10 { joined } else { whole }
}

/// A letter as it is compared: digits and signs that stand for letters are these letters.
fn fold(sign: char) -> char {
    match sign.to_lowercase().next().unwrap_or(sign) {
        '4' | '@' => 'a',
        '8' => 'b',
        '(' | '<' | '{' | '[' => 'c',
        '3' => 'e',
        '6' | '9' => 'g',
        '1' | '!' | '|' | 'l' => 'i',
        '0' => 'o',
        '5' | '$' => 's',
        '7' | '+' => 't',
        '%' => 'x',
        '2' => 'z',
        other => other,
    }
}

fn folded(text: &str) -> Vec<char> {
    text.chars().map(fold).collect()
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|sign| sign.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn contains(all: &[char], part: &[char]) -> bool {
    all.windows(part.len()).any(|window| window == part)
}

/// The words of these texts that are in a password, forwards or backwards: each alone, and each text run together.
fn words_in<'a>(password: &str, texts: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let (plain, close) = (folded(password), folded(&squeezed(password)));
    let back: Vec<char> = plain.iter().rev().copied().collect();
    let mut words = Vec::new();
    for text in texts {
        let parts = text.split(|sign: char| !sign.is_alphanumeric()).map(squeezed);
        for word in parts.chain([squeezed(text)]) {
            let own = folded(&word);
            let is_in = || [&plain, &close, &back].into_iter().any(|all| contains(all, &own));
            if own.len() >= SHORTEST && !words.contains(&word) && is_in() {
                words.push(word);
            }
        }
    }
    words
}

/// Where a password may be taken apart: where letters, digits and signs meet, before capitals, and around known words.
fn seams(signs: &[char], words: &[String]) -> Vec<usize> {
    let kind = |sign: char| (sign.is_alphabetic(), sign.is_numeric());
    let is_seam = |(one, other): (char, char)| {
        let is_sign = !one.is_alphanumeric();
        kind(one) != kind(other) || (one.is_lowercase() && other.is_uppercase()) || (is_sign && one != other)
    };
    let pairs = signs.iter().copied().zip(signs.iter().copied().skip(1)).enumerate();
    let mut seams: BTreeSet<usize> = pairs.filter(|(_, pair)| is_seam(*pair)).map(|(at, _)| at + 1).collect();
    seams.extend([0, signs.len()]);
    let plain: Vec<char> = signs.iter().copied().map(fold).collect();
    for word in words {
        let word = folded(word);
        let found = plain.windows(word.len()).enumerate().filter(|(_, window)| *window == word);
        seams.extend(found.flat_map(|(at, _)| [at, at + word.len()]));
    }
    seams.into_iter().collect()
}

/// The easiest way to take a password apart.
fn easiest(password: &str, words: &[String]) -> Guesses {
    let signs: Vec<char> = password.chars().collect();
    let text = |from: usize, to: usize| signs[from..to].iter().collect::<String>();
    let words_of_it: Vec<&str> = words.iter().map(String::as_str).collect();
    let seams = seams(&signs, words);
    let mut best = vec![Guesses { log10: 0.0, parts: BTreeSet::new() }];
    for to in 1..seams.len() {
        let mut least = Guesses { log10: f64::INFINITY, parts: BTreeSet::new() };
        for from in (0..to).filter(|from| to - from <= PIECES || (*from == 0 && to + 1 == seams.len())) {
            let part = text(seams[from], seams[to]);
            let before = text(0, seams[from]).to_lowercase();
            let has_been = before.contains(&part.to_lowercase());
            // One letter or two may be there again by chance.
            let is_again = has_been && part.chars().count() >= SHORTEST;
            let is_separator = has_been && part.chars().count() == 1 && !part.contains(char::is_alphanumeric);
            let found = match is_again || is_separator {
                true => Guesses {
                    log10: 0.0,
                    parts: is_again.then_some(PasswordPart::Again).into_iter().collect(),
                },
                false => one(&part, &words_of_it),
            };
            let log10 = best[from].log10 + found.log10 + if from > 0 { PART } else { 0.0 };
            if log10 < least.log10 {
                least = Guesses { log10, parts: best[from].parts.union(&found.parts).copied().collect() };
            }
        }
        best.push(least);
    }
    best.pop().expect("there is one to begin with")
}

/// How hard a part is by itself.
fn one(part: &str, words: &[&str]) -> Guesses {
    let found = zxcvbn(part, words);
    let mut parts = BTreeSet::new();
    let mut log10 = 0.0;
    for (place, token) in found.sequence().iter().enumerate() {
        if place > 0 {
            log10 += PART;
        }
        if token.pattern == MatchPattern::BruteForce {
            log10 += token.token.chars().map(unknown).sum::<f64>();
            continue;
        }
        log10 += (token.guesses.unwrap_or(1).max(1) as f64).log10();
        parts.extend(what(&token.pattern));
    }
    Guesses { log10, parts }
}

fn unknown(sign: char) -> f64 {
    match sign {
        _ if sign.is_alphabetic() => LETTER,
        _ if sign.is_numeric() => DIGIT,
        _ => SIGN,
    }
}

fn what(pattern: &MatchPattern) -> Option<PasswordPart> {
    // The names of its dictionaries are not public.
    let dictionary = |found: &DictionaryPattern| match format!("{:?}", found.dictionary_name).as_str() {
        "UserInputs" => PasswordPart::Known,
        "Passwords" => PasswordPart::Common,
        _ => PasswordPart::Word,
    };
    match pattern {
        MatchPattern::Dictionary(found) => Some(dictionary(found)),
        MatchPattern::Spatial(_) => Some(PasswordPart::Keys),
        MatchPattern::Repeat(_) => Some(PasswordPart::Again),
        MatchPattern::Sequence(_) => Some(PasswordPart::Row),
        MatchPattern::Regex(_) | MatchPattern::Date(_) => Some(PasswordPart::Date),
        MatchPattern::BruteForce => None,
    }
}
