//! A JSON value as lines of text, one per leaf, so that a test can check single values in it.

use serde_json::Value;

/// The leaves of a value with their paths: `units.3.hp = 4`; a list also gives its length: `units has 14 entries`.
pub fn leaves(value: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    add("", value, &mut lines);
    lines
}

fn add(path: &str, value: &Value, lines: &mut Vec<String>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| add(&below(key), value, lines)),
        Value::Array(entries) => {
            lines.push(format!("{path} has {} entries", entries.len()));
            (0..).zip(entries).for_each(|(at, value): (u32, _)| add(&below(&at.to_string()), value, lines));
        }
        value => lines.push(format!("{path} = {value}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_leaf_has_its_line() {
        let value = json!({ "turn": 3, "units": [{ "hp": 4, "tile": null }, { "name": "a\nb" }] });
        let lines = [
            "turn = 3",
            "units has 2 entries",
            "units.0.hp = 4",
            "units.0.tile = null",
            r#"units.1.name = "a\nb""#,
        ];
        assert_eq!(leaves(&value), lines);
    }
}
