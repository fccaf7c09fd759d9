//! Reading rules: a preset or a file, with changes on top.
//!
//! Our own rules files are TOML. A file may give all rules or some of them; the rest comes from the
//! preset it names with `preset = "..."`, or from the game's default.

use serde::{Serialize, de::DeserializeOwned};
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
