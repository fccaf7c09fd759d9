//! What changed from one JSON value to the next.
//!
//! A delta is JSON too, made to be applied with structural sharing, so that a viewer can hold every
//! state of a long match and pay only for what changes:
//!
//! - anything but an object: the new value itself
//! - `{"=": value}`: the new value, if it is an object
//! - `{"+": [at, removed, [items...]]}`: a list in which `removed` items from `at` on were replaced
//! - `{"key": delta, ..., "-": ["key"...]}`: an object or a list (whose keys are positions) in which
//!   these places changed and these keys are gone

use serde_json::{Map, Value, json};

/// The change from `old` to `new`; none when they are equal.
pub fn delta(old: &Value, new: &Value) -> Option<Value> {
    if old == new {
        return None;
    }
    Some(match (old, new) {
        (Value::Object(old), Value::Object(new)) if plain(old) && plain(new) => objects(old, new),
        (Value::Array(old), Value::Array(new)) => lists(old, new),
        (_, new) => whole(new),
    })
}

/// `new` as a whole, without reference to an old value.
pub fn whole(new: &Value) -> Value {
    if new.is_object() { json!({ "=": new }) } else { new.clone() }
}

/// Whether no key of an object has a meaning in deltas.
fn plain(object: &Map<String, Value>) -> bool {
    !["=", "+", "-"].iter().any(|sign| object.contains_key(*sign))
}

fn objects(old: &Map<String, Value>, new: &Map<String, Value>) -> Value {
    let mut changes = Map::new();
    for (key, value) in new {
        let change = old.get(key).map_or_else(|| Some(whole(value)), |before| delta(before, value));
        if let Some(change) = change {
            changes.insert(key.clone(), change);
        }
    }
    let gone: Vec<&String> = old.keys().filter(|key| !new.contains_key(*key)).collect();
    if !gone.is_empty() {
        changes.insert("-".to_owned(), json!(gone));
    }
    Value::Object(changes)
}

fn lists(old: &[Value], new: &[Value]) -> Value {
    let short = old.len().min(new.len());
    let front = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let back = old.iter().rev().zip(new.iter().rev()).take(short - front).take_while(|(a, b)| a == b).count();
    let (before, after) = (&old[front..old.len() - back], &new[front..new.len() - back]);
    if before.len() != after.len() {
        return json!({ "+": [front, before.len(), after] });
    }
    let changes = before
        .iter()
        .zip(after)
        .enumerate()
        .filter_map(|(place, (a, b))| delta(a, b).map(|change| ((front + place).to_string(), change)));
    Value::Object(changes.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reader's half, as in `web/src/lib/delta.ts`.
    fn apply(old: &Value, change: &Value) -> Value {
        let Value::Object(change) = change else { return change.clone() };
        if let Some(new) = change.get("=") {
            return new.clone();
        }
        let mut new = old.clone();
        if let Some(splice) = change.get("+") {
            let at = splice[0].as_u64().unwrap() as usize;
            let gone = splice[1].as_u64().unwrap() as usize;
            let items = splice[2].as_array().unwrap().clone();
            new.as_array_mut().unwrap().splice(at..at + gone, items);
            return new;
        }
        for (key, change) in change {
            match &mut new {
                Value::Array(list) => {
                    let place: usize = key.parse().unwrap();
                    list[place] = apply(&list[place], change);
                }
                Value::Object(object) if key == "-" => {
                    change.as_array().unwrap().iter().for_each(|key| {
                        object.remove(key.as_str().unwrap());
                    });
                }
                Value::Object(object) => {
                    let before = object.get(key).cloned().unwrap_or(Value::Null);
                    object.insert(key.clone(), apply(&before, change));
                }
                _ => panic!("only objects and lists have places"),
            }
        }
        new
    }

    #[test]
    fn a_delta_leads_from_the_old_value_to_the_new_one() {
        let values = [
            json!(null),
            json!(3),
            json!([1, 2, 3]),
            json!([1, 2, 3, 4]),
            json!([2, 3]),
            json!([]),
            json!({}),
            json!({ "a": 1, "b": [{ "x": 1 }, { "x": 2 }] }),
            json!({ "a": 2, "b": [{ "x": 1 }, { "x": 3, "y": { "z": null } }] }),
            json!({ "b": [{ "x": 2 }], "c": { "-": [1] } }),
            json!({ "=": 1 }),
            json!({ "+": [0, 1, []], "-": ["a"] }),
            json!([[1, [2, 3]], { "k": "v" }]),
            json!([[1, [2]], { "k": { "=": "v" } }]),
        ];
        for old in &values {
            for new in &values {
                match delta(old, new) {
                    None => assert_eq!(old, new),
                    Some(change) => assert_eq!(&apply(old, &change), new, "{old} -> {change}"),
                }
            }
        }
    }

    #[test]
    fn a_delta_tells_only_what_changed() {
        let old = json!({ "turn": 1, "units": [{ "id": 0, "hp": 10 }, { "id": 1, "hp": 10 }] });
        let new = json!({ "turn": 2, "units": [{ "id": 0, "hp": 10 }, { "id": 1, "hp": 7 }] });
        assert_eq!(delta(&old, &new), Some(json!({ "turn": 2, "units": { "1": { "hp": 7 } } })));
    }
}
