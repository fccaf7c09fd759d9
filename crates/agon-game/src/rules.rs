//! Reading rules: a preset or a file, with changes on top.
//!
//! Our own rules files are TOML. A file may give all rules or some of them; the rest comes from the
//! preset it names with `preset = "..."`, or from the game's default.

use std::collections::BTreeMap;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value as Json;
use toml::{Table, Value};

use crate::setup::nearest;
use crate::{GameInfo, RulesChoice, RulesName, SetupError};

/// Rules as loaded.
#[derive(Clone, Debug)]
pub struct Loaded<R> {
    /// The rules.
    pub rules: R,
    /// Their name: the preset or the file, and the changes on top.
    pub name: String,
    /// All of them as a rules file.
    pub text: String,
}

/// Reads the rules that `choice` names.
///
/// # Errors
/// An unknown preset or rule (with the nearest name), or a value of the wrong type.
pub fn load<R: Serialize + DeserializeOwned>(
    info: &GameInfo,
    choice: &RulesChoice,
) -> Result<Loaded<R>, SetupError> {
    let mut table;
    let name;
    match &choice.file {
        None => {
            let preset = preset(info, &choice.preset)?;
            name = preset.name.to_owned();
            table = parse(preset.name, preset.text)?;
        }
        Some((file, text)) => {
            let mut changes = parse(file, text)?;
            let base = match changes.remove("preset") {
                None => String::new(),
                Some(Value::String(base)) => base,
                Some(_) => return Err(bad(file, "`preset` must be the name of a preset")),
            };
            let base = preset(info, &base)?;
            table = parse(base.name, base.text)?;
            name = file.clone();
            merge(&mut table, changes, "", file)?;
        }
    }
    for (key, value) in &choice.sets {
        set(&mut table, key, value, &format!("--set {key}={value}"))?;
    }
    let name = RulesName { base: name, sets: choice.sets.clone() }.to_string();
    let rules: R =
        table.try_into().map_err(|error: toml::de::Error| bad(&name, &in_words(error.message())))?;
    let text = toml::to_string(&rules).map_err(|error| bad(&name, &error.to_string()))?;
    Ok(Loaded { rules, name, text })
}

/// A number of the rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleNumber {
    /// Its name for changes on top, `--set NAME=VALUE`.
    pub key: String,
    /// Its place in the rules file: `resources.startingHP`.
    pub path: String,
    /// Its name in words: `resources: starting HP`.
    pub title: String,
    /// What it is in these rules.
    pub usual: String,
}

/// All numbers of complete rules, by their places: our own TOML, or a configuration in JSON, in which a part of a list is called
/// by its `shorthand`, and a number by its own name where only one part has it.
pub fn numbers(text: &str) -> Vec<RuleNumber> {
    let json = serde_json::from_str::<Json>(text).ok();
    let is_json = json.is_some();
    let toml = || text.parse::<Table>().ok().and_then(|table| serde_json::to_value(table).ok());
    let mut all = Vec::new();
    leaves(&json.or_else(toml).unwrap_or_default(), ["", "", ""], &mut all);
    let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    all.iter().for_each(|(number, _)| *names.entry(last(&number.path)).or_default() += 1);
    let named = all.into_iter().filter(|(_, value)| value.is_number()).map(|(mut number, _)| {
        let own = last(&number.path);
        if is_json && names.get(&own) == Some(&1) {
            number.key = own;
        }
        number
    });
    named.collect()
}

/// Lists all values below a part of the rules, with the part's path, its name for changes and its title.
fn leaves(part: &Json, [path, key, title]: [&str; 3], all: &mut Vec<(RuleNumber, Json)>) {
    let join = |above: &str, own: &str, by: &str| match above {
        "" => own.to_owned(),
        above => format!("{above}{by}{own}"),
    };
    match part {
        Json::Object(map) => {
            for (name, value) in map {
                let title = join(title, &titled(name), ": ");
                leaves(value, [&join(path, name, "."), &join(key, name, "."), &title], all);
            }
        }
        Json::Array(list) => {
            for (index, value) in list.iter().enumerate().filter(|(_, value)| value.is_object()) {
                let named = |name: &str| value.get(name).and_then(Json::as_str).map(str::to_owned);
                let path = join(path, &index.to_string(), ".");
                let own = named("shorthand").unwrap_or_else(|| path.clone());
                leaves(value, [&path, &own, &named("display").unwrap_or_else(|| own.clone())], all);
            }
        }
        value => {
            let number = RuleNumber {
                key: key.to_owned(),
                path: path.to_owned(),
                title: title.to_owned(),
                usual: value.to_string(),
            };
            all.push((number, value.clone()));
        }
    }
}

/// A name of a rules file in words: `startingHP` is `starting HP`.
fn titled(name: &str) -> String {
    let mut text = String::new();
    for sign in name.chars() {
        let is_next = sign.is_uppercase() && text.ends_with(char::is_lowercase);
        text.extend((is_next || sign == '_').then_some(' '));
        text.extend(Some(sign).filter(|sign| *sign != '_'));
    }
    let word = |word: &str| match word.chars().any(char::is_lowercase) {
        true => word.to_lowercase(),
        false => word.to_owned(),
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// The preset called `name`, or the default for an empty name.
///
/// # Errors
/// When there is none.
pub fn preset(info: &GameInfo, name: &str) -> Result<&'static crate::Preset, SetupError> {
    let found = if name.is_empty() { info.presets.first() } else { info.preset(name) };
    found.ok_or_else(|| SetupError::UnknownPreset {
        game: info.name,
        name: name.to_owned(),
        known: info.presets.iter().map(|preset| preset.name).collect::<Vec<_>>().join(", "),
    })
}

fn parse(place: &str, text: &str) -> Result<Table, SetupError> {
    text.parse::<Table>().map_err(|error| {
        let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        let place = line.map_or_else(|| place.to_owned(), |line| format!("{place}, line {line}"));
        bad(&place, error.message())
    })
}

/// Lays `changes` over `table`; an unknown key is an error.
fn merge(table: &mut Table, changes: Table, path: &str, place: &str) -> Result<(), SetupError> {
    for (key, value) in changes {
        let full = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        let Some(old) = table.get_mut(&key) else {
            let nearest = nearest(&key, table.keys().map(String::as_str));
            return Err(SetupError::UnknownRule { place: place.to_owned(), key: full, nearest });
        };
        match (old, value) {
            (Value::Table(inner), Value::Table(changes)) => merge(inner, changes, &full, place)?,
            (Value::Float(number), Value::Integer(whole)) => *number = whole as f64,
            (old, new) if std::mem::discriminant(old) == std::mem::discriminant(&new) => *old = new,
            (old, new) => {
                let given = match new {
                    Value::Float(number) => number.to_string(),
                    Value::String(text) => {
                        format!("`{}`", text.chars().take(40).collect::<String>().escape_debug())
                    }
                    _ => kind(&new).to_owned(),
                };
                let why = format!("`{full}` must be {}, not {given}", kind(old));
                return Err(bad(place, &why));
            }
        }
    }
    Ok(())
}

/// Applies one `name=value` of the command line; `a.b` reaches into tables.
fn set(table: &mut Table, key: &str, value: &str, place: &str) -> Result<(), SetupError> {
    let value = format!("v = {value}")
        .parse::<Table>()
        .ok()
        .and_then(|mut parsed| parsed.remove("v"))
        .unwrap_or_else(|| Value::String(value.to_owned()));
    let mut changes = Table::new();
    let mut parts = key.rsplit('.');
    changes.insert(parts.next().unwrap_or_default().to_owned(), value);
    for part in parts {
        changes = Table::from_iter([(part.to_owned(), Value::Table(changes))]);
    }
    merge(table, changes, "", place)
}

/// The message of an integer parser, without its type names.
fn in_words(message: &str) -> String {
    let most = match message.rsplit_once(", expected ") {
        Some((_, "u8")) => u64::from(u8::MAX),
        Some((_, "u16")) => u64::from(u16::MAX),
        Some((_, "u32")) => u64::from(u32::MAX),
        _ => return message.to_owned(),
    };
    let given = message.split('`').nth(1).unwrap_or("this");
    format!("{given} is not a whole number from 0 to {most}")
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "a string",
        Value::Integer(_) => "a whole number",
        Value::Float(_) => "a number",
        Value::Boolean(_) => "true or false",
        Value::Datetime(_) => "a date",
        Value::Array(_) => "a list",
        Value::Table(_) => "a table",
    }
}

fn bad(place: &str, why: &str) -> SetupError {
    SetupError::BadRule { place: place.to_owned(), why: why.to_owned() }
}
