//! The name of the rules of a match: where they come from, and what was changed on top.

use std::fmt;

/// Appended to a change, or to a rule of a file, that the game knows but ignores.
pub const WITHOUT_EFFECT: &str = " (without effect)";

/// The name of the rules of a match: `standard, maxTurns=10, shotRange=3`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulesName {
    /// The preset or the file.
    pub base: String,
    /// `(rule, value)` changes on top, in order.
    pub sets: Vec<(String, String)>,
}

impl RulesName {
    /// Reads a name. A comma inside a value belongs to the value, unless what follows looks like another
    /// change.
    pub fn parse(text: &str) -> Self {
        let mut parts = text.split(", ");
        let mut own = Self { base: parts.next().unwrap_or_default().to_owned(), sets: Vec::new() };
        for part in parts {
            let part = match part.strip_suffix(WITHOUT_EFFECT) {
                // A rule of the file itself: not a change.
                Some(rule) if !rule.contains('=') => continue,
                Some(part) => part,
                None => part,
            };
            match (part.split_once('=').filter(|(key, _)| is_rule(key)), own.sets.last_mut()) {
                (Some((key, value)), _) => own.sets.push((key.to_owned(), value.to_owned())),
                (None, Some((_, value))) => *value = format!("{value}, {part}"),
                (None, None) => own.base = format!("{}, {part}", own.base),
            }
        }
        own
    }
}

fn is_rule(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || "._-".contains(c))
}

impl fmt::Display for RulesName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base)?;
        self.sets.iter().try_for_each(|(key, value)| write!(f, ", {key}={value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_back() {
        let name = |base: &str, sets: &[(&str, &str)]| RulesName {
            base: base.to_owned(),
            sets: sets.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
        };
        for own in [
            name("standard", &[]),
            name("my rules, new.toml", &[]),
            name("standard", &[("maxTurns", "10"), ("FF.cost", "2.5")]),
            name("x.toml", &[("list", "[1, 2, 3]"), ("text", "\"a=b\"")]),
        ] {
            assert_eq!(RulesName::parse(&own.to_string()), own, "{own}");
        }
        assert_eq!(
            RulesName::parse("season-8, a=1 (without effect), shieldDecay (without effect)"),
            name("season-8", &[("a", "1")])
        );
    }
}
