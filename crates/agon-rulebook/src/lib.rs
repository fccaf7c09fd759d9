//! Every rule can be found: in the rulebook, in the code, in a spec section.
//!
//! In `RULES.md` a rule is a paragraph or list item that begins with its id in bold: `**CW-SHOOT-3** ...`. In the
//! code its id is in a comment of the item that decides it. In `spec/` it is the first word of a heading.

#![forbid(unsafe_code)]

mod code;
mod page;

use agon_game::GameInfo;
pub use agon_game::is_rule_id as is_id;

pub use code::{CodePlace, places};
pub use page::{Rule, rules, sections};

/// The ids in `text`, each once, in order.
pub fn ids(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')) {
        let word = word.trim_matches('-');
        if is_id(word) && !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

/// A rule with everything known about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    pub rule: Rule,
    /// Where the code decides it.
    pub decided: Vec<CodePlace>,
    /// The spec sections that prove it.
    pub tested: Vec<CodePlace>,
}

/// The rule `id` of a game, with the places that decide and prove it; none if the game has no such rule.
pub fn explain(info: &GameInfo, id: &str) -> Option<Explained> {
    let rule = rules(info.rulebook).into_iter().find(|rule| rule.id == id)?;
    let (mut decided, mut tested) = (Vec::new(), Vec::new());
    for (path, text) in info.source_files() {
        if path.starts_with("src/") {
            decided.extend(places(&path, text, id));
        } else {
            tested.extend(sections(&path, text, id));
        }
    }
    // What the code does comes before what it calls a number or an error.
    decided.sort_by_key(|place| !place.is_function);
    Some(Explained { rule, decided, tested })
}

/// Checks that rulebook, code and spec files name the same rules, and that each rule is decided in a named item
/// and proved in a spec section.
///
/// # Panics
/// With a list of what is missing where.
pub fn check(info: &GameInfo) {
    let rules: Vec<String> = rules(info.rulebook).into_iter().map(|rule| rule.id).collect();
    assert!(!rules.is_empty(), "{}: RULES.md has no rule", info.name);
    let mut wrong = Vec::new();
    for (index, id) in rules.iter().enumerate() {
        if rules[..index].contains(id) {
            wrong.push(format!("{id} appears twice in RULES.md"));
        }
        let found = explain(info, id).expect("a rule of this rulebook");
        if found.decided.is_empty() {
            wrong.push(format!("{id} is not named at any function or type of the code"));
        }
        if found.tested.is_empty() {
            wrong.push(format!("{id} is not the first word of any heading in spec/"));
        }
    }
    for (path, text) in info.source_files() {
        for id in ids(text) {
            if !rules.iter().any(|rule| rule == id) {
                wrong.push(format!("{path} names {id}, which RULES.md does not have"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n  {}", info.name, wrong.join("\n  "));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_capital_words_and_a_number() {
        for id in ["CW-SHOOT-3", "DH-2019-TURN-12"] {
            assert!(is_id(id), "{id}");
        }
        for other in ["CW-3", "CW-SHOOT", "cw-shoot-3", "CW--3", "UTF-8", "CW-SHOOT-3a", ""] {
            assert!(!is_id(other), "{other}");
        }
        assert_eq!(ids("A-B-1, (A-B-2) and A-B-1."), ["A-B-1", "A-B-2"]);
    }
}
