//! Every rule can be found: in the rulebook, in the code, in a spec section.
//!
//! In `RULES.md` a rule is a paragraph that begins with its id in bold: `**CW-SHOOT-3** ...`.
//! In the code its id stands in the comment of the function that decides it. In `spec/` it
//! stands in a heading.

use agon_game::GameInfo;

/// A rule of a rulebook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its id: `CW-SHOOT-3`.
    pub id: String,
    /// Its text, without the id, lines joined.
    pub text: String,
    /// The heading it stands under.
    pub heading: String,
}

/// The rules of a rulebook, in its order.
pub fn rules(rulebook: &str) -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    let mut heading = "";
    let mut open = false;
    for line in rulebook.lines() {
        let start = line.trim_start_matches("- ").strip_prefix("**").and_then(|rest| rest.split_once("**"));
        if let Some(title) = line.strip_prefix('#') {
            heading = title.trim_start_matches('#').trim();
            open = false;
        } else if let Some((id, text)) = start.filter(|(id, _)| is_id(id)) {
            let text = text.trim().to_owned();
            rules.push(Rule { id: id.to_owned(), text, heading: heading.to_owned() });
            open = true;
        } else if line.trim().is_empty() {
            open = false;
        } else if open && let Some(rule) = rules.last_mut() {
            rule.text.push(' ');
            rule.text.push_str(line.trim());
        }
    }
    rules
}

/// Whether `text` has the form of a rule id: capital words and a number, joined by `-`.
pub fn is_id(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    parts.len() >= 3
        && parts[..parts.len() - 1].iter().all(|part| {
            !part.is_empty() && part.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
        })
        && parts[parts.len() - 1].parse::<u32>().is_ok()
}

/// The ids that stand in `text`, each once, in order.
pub fn ids(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')) {
        let word = word.trim_matches('-');
        if is_id(word) && !found.iter().any(|id| id == word) {
            found.push(word.to_owned());
        }
    }
    found
}

/// Checks that rulebook, code and spec files name the same rules.
///
/// # Panics
/// With a list of what is missing where.
pub fn check(info: &GameInfo) {
    let rules: Vec<String> = rules(info.rulebook).into_iter().map(|rule| rule.id).collect();
    assert!(!rules.is_empty(), "{}: RULES.md has no rule", info.name);
    let mut wrong = Vec::new();
    for (index, id) in rules.iter().enumerate() {
        if rules[..index].contains(id) {
            wrong.push(format!("{id} stands twice in RULES.md"));
        }
        for (what, folder) in [("code", "src/"), ("spec", "spec/")] {
            let named = |(path, text): &(&str, &str)| path.starts_with(folder) && ids(text).contains(id);
            if !info.sources.iter().any(named) {
                wrong.push(format!("{id} is named in no {what} file"));
            }
        }
    }
    for (path, text) in info.sources {
        for id in ids(text) {
            if !rules.contains(&id) {
                wrong.push(format!("{path} names {id}, which RULES.md does not have"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n  {}", info.name, wrong.join("\n  "));
}
