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

/// What the general book alone says: of presets, and of the documents a preset follows.
const GENERAL: [&str; 2] = ["<!-- only in the general book -->", "<!-- end -->"];

/// The rulebook of a contest, of the game's book. `` `startingHP` (30) `` says the contest's own value; a value that the
/// contest's rules do not have, or have several of, is left out, and so is what the general book alone says. `usual`
/// are the fields of the rules that the book is written for.
pub fn rulebook(book: &str, own: &[RuleField], usual: &[RuleField]) -> String {
    let (own, usual) = (by_name(own), by_name(usual));
    let text = without_general(book);
    let (mut told, mut rest) = (String::with_capacity(text.len()), text.as_str());
    while let Some(at) = rest.find("` (").into_iter().chain(rest.find("`\n(")).min() {
        let (before, after) = (&rest[..at], &rest[at + 3..]);
        let name = before.rsplit('`').next().unwrap_or_default();
        told.push_str(before);
        told.push('`');
        let old: &str = &after[..after.find([' ', ')']).unwrap_or(after.len())];
        let end = after.find(')').map_or(after.len(), |end| end + 1);
        // Any other text in brackets is prose.
        if value(&usual, name).is_none() || !is_value(old) {
            told.push_str(&rest[at + 1..at + 3]);
            rest = after;
            continue;
        }
        if let Some(Some(value)) = value(&own, name) {
            told.push_str(&rest[at + 1..at + 3]);
            // Rules count time in milliseconds, the text in seconds where it says so.
            match value.parse::<f64>() {
                Ok(ms) if after[..end].ends_with(" s)") => told.push_str(&(ms / 1_000.0).to_string()),
                _ => told.push_str(value),
            }
            rest = &after[old.len()..];
        } else {
            rest = &after[end..];
        }
    }
    told.push_str(rest);
    told
}

/// What holds whatever the preset is.
fn without_general(book: &str) -> String {
    let mut general = false;
    let mut text = String::with_capacity(book.len());
    for line in book.split_inclusive('\n') {
        match GENERAL.iter().position(|mark| *mark == line.trim_end()) {
            Some(mark) => general = mark == 0,
            None if general => {}
            None => text.push_str(line),
        }
    }
    text
}

/// Fields by their paths, and by their own names: none where several fields of one name differ.
fn by_name(fields: &[RuleField]) -> BTreeMap<&str, Option<&str>> {
    let mut all: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    for field in fields {
        let value = Some(field.value.as_str());
        let name = field.path.rsplit('.').next().unwrap_or(&field.path);
        all.entry(name).and_modify(|same| *same = same.filter(|same| Some(*same) == value)).or_insert(value);
    }
    all.extend(fields.iter().map(|field| (field.path.as_str(), Some(field.value.as_str()))));
    all
}

/// The value of a field; an upgrade that leaves one out has that of the part it upgrades.
fn value<'a>(fields: &BTreeMap<&str, Option<&'a str>>, name: &str) -> Option<Option<&'a str>> {
    let upgraded = || fields.get(name.replace(".upgrade.", ".").as_str());
    fields.get(name).or_else(upgraded).copied()
}

fn is_value(text: &str) -> bool {
    matches!(text, "true" | "false") || text.parse::<f64>().is_ok()
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

    /// The fields of a preset as a contest is founded with it.
    fn preset(game: &dyn agon_game::AnyGame, name: &str) -> Vec<RuleField> {
        let rules = agon_game::RulesChoice { preset: name.to_owned(), ..Default::default() };
        let setup = agon_game::Setup { rules, seats: 2, ..agon_game::Setup::default() };
        let session = game.open(&setup).unwrap_or_else(|error| panic!("{name}: {error}"));
        fields(&session.recipe().rules)
    }

    #[test]
    fn the_rulebook_says_the_contests_numbers() {
        let of = fields;
        let usual =
            of("startingGold = 3\nmaxTurns = 9\nsame = 9.5\ncost = 5\nwait = 5000\ngone = 2\non = true\n\
                        [a]\ncost = 5\n[a.upgrade]\nhealth = 2\n");
        let own = of(
            "startingGold = 7\nmaxTurns = 1000\nwait = 15000\non = false\n[a]\ncost = 1\nhealth = 8\n[b]\ncost = 2\n[c]\nsame = 4\n[d]\nsame = 4\n",
        );
        let book = "<!-- only in the general book -->\nThe preset `x` has 9.\n<!-- end -->\n\
                    starts with `startingGold` (3) gold, for `maxTurns`\n(9) turns; `cost` (5), `same` (9.5), `other` (1), \
                    `startingGold` (see above), in `wait` (5 s), `gone` (2 of it), `on` (true), `a.cost` (5), `a.upgrade.health` (2)";
        assert_eq!(
            rulebook(book, &own, &usual),
            "starts with `startingGold` (7) gold, for `maxTurns`\n(1000) turns; `cost`, `same` (4), `other` (1), \
             `startingGold` (see above), in `wait` (15 s), `gone`, `on` (false), `a.cost` (1), `a.upgrade.health` (8)"
        );
    }

    #[test]
    fn a_games_own_rules_read_as_its_book() {
        for game in agon_games::all() {
            let info = game.info();
            let usual = preset(*game, info.presets[0].name);
            assert!(!usual.is_empty(), "{}", info.name);
            let told = rulebook(info.rulebook, &usual, &usual);
            let book = without_general(info.rulebook);
            assert_eq!(book.lines().count(), told.lines().count(), "{}", info.name);
            let plain = |text: &str| text.replace(".0)", ")");
            for (before, after) in book.lines().zip(told.lines()) {
                assert_eq!(plain(before), plain(after), "{}", info.name);
            }
        }
    }

    /// Numbers of a rule that some preset has too, and that mean something else: sizes of boards, ids, examples, and what
    /// holds where a file leaves a field out.
    const OTHERS: [(&str, &[&str]); 11] = [
        ("CW-BOARD-1", &["7"]),
        ("CW-UNIT-1", &["12"]),
        ("CW-MAP-2", &["6", "12"]),
        ("CW-MAP-3", &["6"]),
        ("CW-WIRE-1", &["7"]),
        ("DH-TIME-2", &["3", "4"]),
        ("JB-MAP-4", &["3"]),
        ("JB-WIRE-5", &["3"]),
        ("TM-CONFIG-6", &["0.5", "5", "1.5"]),
        ("TM-CLOCK-5", &["3"]),
        ("TM-SEASON-6", &["10"]),
    ];

    /// With every number of the rules replaced, none of any preset is left, but for those that are no numbers of the rules.
    #[test]
    fn no_number_of_any_preset_is_left() {
        for game in agon_games::all() {
            let info = game.info();
            let usual = preset(*game, info.presets[0].name);
            let own: Vec<RuleField> =
                usual.iter().map(|field| RuleField { value: "@".to_owned(), ..field.clone() }).collect();
            let told = rulebook(info.rulebook, &own, &usual);
            let numbers: std::collections::BTreeSet<String> = info
                .presets
                .iter()
                .flat_map(|named| preset(*game, named.name))
                .filter_map(|field| Some(field.value.parse::<f64>().ok()?.to_string()))
                .filter(|value| !["0", "1", "2"].contains(&value.as_str()))
                .collect();
            for rule in told.split("\n\n") {
                let id = rule.trim_start_matches("**").split("**").next().unwrap_or_default();
                let words = rule.split(|sign: char| !(sign.is_ascii_alphanumeric() || ".-_`".contains(sign)));
                let others =
                    OTHERS.iter().find(|(rule, _)| *rule == id).map_or(&[][..], |(_, others)| others);
                for left in
                    words.filter_map(|word| Some(word.trim_end_matches('.').parse::<f64>().ok()?.to_string()))
                {
                    assert!(
                        !numbers.contains(&left) || others.contains(&left.as_str()),
                        "{} {id}: {left}",
                        info.name
                    );
                }
            }
        }
    }
}
