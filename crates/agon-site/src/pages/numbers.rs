//! The numbers of a contest's rules: read from its rules file, listed with what they are by default, and put into the
//! rulebook wherever it names one.

use std::collections::BTreeMap;

use serde_json::Value;
use toml_edit::{DocumentMut, Item, TableLike};

/// A field of the rules with its value, as people read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleField {
    /// Its path: `resources.startingHP`, `Wall.upgrade.startHealth`.
    pub path: String,
    /// Its value.
    pub value: String,
}

/// The numbers and switches of a rules file, JSON or TOML, in the order of the file; empty if it is neither.
pub fn fields(rules: &str) -> Vec<RuleField> {
    let mut all = Vec::new();
    if let Ok(value) = serde_json::from_str::<Value>(rules) {
        of_json("", &value, &mut all);
    } else if let Ok(document) = rules.parse::<DocumentMut>() {
        of_table("", document.as_table(), &mut all);
    }
    all
}

fn below(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Keys by which an entry of a list is called.
const NAMES: [&str; 3] = ["display", "name", "id"];

fn of_json(path: &str, value: &Value, all: &mut Vec<RuleField>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                of_json(&below(path, key), value, all);
            }
        }
        Value::Array(entries) => {
            for entry in entries {
                // An entry without a name is a list of places and the like, not a number of the rules.
                if let Some(name) = NAMES.iter().find_map(|key| entry.get(key)?.as_str()) {
                    of_json(name, entry, all);
                }
            }
        }
        Value::Number(_) | Value::Bool(_) => {
            all.push(RuleField { path: path.to_owned(), value: value.to_string() });
        }
        Value::String(_) | Value::Null => {}
    }
}

fn of_table(path: &str, table: &dyn TableLike, all: &mut Vec<RuleField>) {
    for (key, item) in table.iter() {
        let path = below(path, key);
        match item {
            Item::Value(value) if value.is_integer() || value.is_float() || value.is_bool() => {
                let value = value.clone().decorated("", "").to_string();
                all.push(RuleField { path, value });
            }
            Item::Value(_) | Item::Table(_) => {
                if let Some(table) = item.as_table_like() {
                    of_table(&path, table, all);
                }
            }
            Item::None | Item::ArrayOfTables(_) => {}
        }
    }
}

/// The rulebook with the numbers of these rules: `` `startingHP` (30) `` has the contest's own value. A name that several
/// parts of the rules have, with different values, is left as it is.
pub fn with_numbers(rulebook: &str, fields: &[RuleField]) -> String {
    let mut known: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    for field in fields {
        let name = field.path.rsplit('.').next().unwrap_or(&field.path);
        let value = Some(field.value.as_str());
        known
            .entry(name)
            .and_modify(|same| *same = same.filter(|same| Some(*same) == value))
            .or_insert(value);
        known.insert(&field.path, value);
    }
    let (mut told, mut rest) = (String::with_capacity(rulebook.len()), rulebook);
    while let Some(at) = rest.find("` (") {
        let (before, after) = (&rest[..at], &rest[at + 3..]);
        told.push_str(before);
        told.push_str("` (");
        let name = before.rsplit('`').next().unwrap_or_default();
        let digits =
            after.find(|sign: char| !(sign.is_ascii_digit() || ".,-".contains(sign))).unwrap_or(after.len());
        let old = after[..digits].trim_end_matches(['.', ',']);
        rest = after;
        if let Some(Some(value)) = known.get(name)
            && !old.is_empty()
            && old.replace(',', "").parse::<f64>().is_ok()
        {
            // Rules count time in milliseconds, the text in seconds where it says so.
            match value.parse::<f64>() {
                Ok(ms) if after[old.len()..].starts_with(" s)") => told.push_str(&(ms / 1_000.0).to_string()),
                _ => told.push_str(value),
            }
            rest = &after[old.len()..];
        }
    }
    told.push_str(rest);
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_from_either_form() {
        let json = r#"{"unitInformation":[{"display":"Wall","cost1":1,"upgrade":{"startHealth":120}}],
            "resources":{"startingHP":30.5,"list":[1,2]},"debug":false,"text":"x"}"#;
        let told: Vec<String> =
            fields(json).into_iter().map(|field| format!("{}={}", field.path, field.value)).collect();
        let expected =
            ["Wall.cost1=1", "Wall.upgrade.startHealth=120", "debug=false", "resources.startingHP=30.5"];
        let mut sorted = told.clone();
        sorted.sort();
        assert_eq!(sorted, expected);
        let toml = "a = 3 # of each\n[items]\nsword = { cost = 2, bonus = 5 }\nkind = \"x\"\n";
        let told: Vec<String> =
            fields(toml).into_iter().map(|field| format!("{}={}", field.path, field.value)).collect();
        assert_eq!(told, ["a=3", "items.sword.cost=2", "items.sword.bonus=5"]);
        assert!(fields("neither { nor").is_empty());
    }

    #[test]
    fn the_rulebook_says_the_contests_numbers() {
        let own = fields(
            "startingGold = 7\nmaxTurns = 1000\n[a]\ncost = 1\n[b]\ncost = 2\n[c]\nsame = 4\n[d]\nsame = 4\n",
        );
        let book = "starts with `startingGold` (3) gold, for `maxTurns` (10,000) turns; `cost` (5), `same` (9.5), `other` (1), \
                    `startingGold` (see above), the end `maxTurns` (5)";
        assert_eq!(
            with_numbers(book, &own),
            "starts with `startingGold` (7) gold, for `maxTurns` (1000) turns; `cost` (5), `same` (4), `other` (1), \
             `startingGold` (see above), the end `maxTurns` (1000)"
        );
    }

    #[test]
    fn every_game_with_its_default_rules_reads_as_before() {
        for game in agon_games::all() {
            let info = game.info();
            let setup = agon_game::Setup { seats: 2, ..agon_game::Setup::default() };
            let session = game.open(&setup).unwrap_or_else(|error| panic!("{}: {error}", info.name));
            let own = fields(&session.recipe().rules);
            assert!(!own.is_empty(), "{}", info.name);
            let told = with_numbers(info.rulebook, &own);
            let plain = |text: &str| text.replace(',', "").replace(".0)", ")");
            for (before, after) in info.rulebook.lines().zip(told.lines()) {
                assert_eq!(plain(before), plain(after), "{}", info.name);
            }
        }
    }
}
