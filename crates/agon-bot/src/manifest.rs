//! `agon.toml`: how a bot's folder describes the bot and how to run it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use agon_game::setup::nearest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::algo;
use crate::paths::{can_show, stays};
use crate::words;

/// The name of the file.
pub const FILE: &str = "agon.toml";

/// Larger files are refused.
const LARGEST: u64 = 64 << 10;

/// The contents of `agon.toml`. Unknown keys are errors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// The bot's name in tables.
    pub name: Option<String>,
    /// The protocol it speaks, for games with several: `lines`, `websocket`, `tcp`, `script`.
    pub dialect: Option<String>,
    /// The command that builds it; only `agon build` and `--build` run it.
    pub build: Option<Command>,
    /// The command that runs it, from its own folder.
    pub run: Option<Command>,
    /// Environment variables for both.
    pub env: BTreeMap<String, String>,
    /// Files and folders outside its own that it reads, for a sandbox.
    pub reads: Vec<String>,
    /// The most memory it is to have in a sandbox, in bytes.
    pub memory: Option<u64>,
    /// The defaults of `agon play`, `check` and `sprt` inside this folder.
    pub defaults: Defaults,
}

/// A command: one string, split as a shell would, or a list of words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `run = "python3 bot.py"`
    Line(String),
    /// `run = ["python3", "bot.py"]`
    Words(Vec<String>),
}

/// The defaults of the commands inside the bot's folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Defaults {
    pub game: Option<String>,
    /// The preset of its rules.
    pub rules: Option<String>,
    /// The bots to play against.
    pub opponents: Vec<String>,
}

impl Command {
    /// The words of the command.
    ///
    /// # Errors
    /// A sentence, when a quote is not closed or there is no word.
    pub fn words(&self) -> Result<Vec<String>, String> {
        match self {
            Self::Line(line) => words::split(line).map_err(|why| format!("`{line}`: {why}")),
            Self::Words(words) if words.is_empty() => Err("the command is empty".to_owned()),
            Self::Words(words) => Ok(words.clone()),
        }
    }
}

impl Manifest {
    /// Reads `agon.toml` in `folder`; none when there is none.
    ///
    /// # Errors
    /// A message that points into the file.
    pub fn read(folder: &Path) -> Result<Option<Self>, String> {
        let path = folder.join(FILE);
        let size = match std::fs::metadata(&path) {
            // Opening a pipe of that name would block.
            Ok(found) if !found.is_file() => return Err(format!("{}: not a file", path.display())),
            Ok(found) => found.len(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("{}: {error}", path.display())),
        };
        if size > LARGEST {
            return Err(format!("{}: larger than 64 KiB", path.display()));
        }
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Self::parse(&text).map(Some).map_err(|why| format!("{}{why}", path.display()))
    }

    /// Reads the text of an `agon.toml`.
    ///
    /// # Errors
    /// `:line:column: what is wrong`, with what is allowed, what to write, and the line itself.
    pub fn parse(text: &str) -> Result<Self, String> {
        let table = DeTable::parse(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            at(text, start..start, &no_toml(text, start, error.message()))
        })?;
        Self::of(table.get_ref()).map_err(|(span, why)| at(text, span, &why))
    }

    fn of(table: &DeTable<'_>) -> Result<Self, Wrong> {
        let mut own = Self::default();
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "name" => own.name = Some(string("name", value, "\"Seeker\"")?),
                "dialect" => own.dialect = Some(dialect(value)?),
                "build" => own.build = Some(command("build", value, "\"g++ -O2 -o bot bot.cpp\"")?),
                "run" => own.run = Some(command("run", value, "\"python3 bot.py\"")?),
                "env" => {
                    for (name, value) in inner("env", value, "LEVEL = \"2\"")? {
                        let what = format!("env.{}", name.get_ref());
                        own.env.insert(name.get_ref().to_string(), string(&what, value, "\"2\"")?);
                    }
                }
                "sandbox" => {
                    for (key, value) in inner("sandbox", value, "read = [\"/opt/models\"]")? {
                        match key.get_ref().as_ref() {
                            "read" => own.reads = strings("sandbox.read", value, "[\"/opt/models\"]")?,
                            "memory" => own.memory = Some(memory(value)?),
                            _ => return Err(unknown(key, "sandbox.", &["read", "memory"])),
                        }
                    }
                }
                "defaults" => own.defaults = Defaults::of(inner("defaults", value, "game = \"terminal\"")?)?,
                _ => {
                    let known = ["name", "dialect", "build", "run", "env", "sandbox", "defaults"];
                    return Err(unknown(key, "", &known));
                }
            }
        }
        Ok(own)
    }
}

/// The memory that a bot can be given, in megabytes: with less no runtime starts, and no machine has more.
const MEMORY: std::ops::RangeInclusive<u64> = 32..=1 << 20;

/// Checks that a bot can be given this many megabytes of memory.
///
/// # Errors
/// What it must be, as the end of a sentence.
pub fn check_memory(megabytes: u64) -> Result<(), String> {
    match MEMORY.contains(&megabytes) {
        true => Ok(()),
        false => Err(format!("a number of megabytes, from {} to {}", MEMORY.start(), MEMORY.end())),
    }
}

/// Upper limit on the places of `[sandbox] read`.
const MOST_READS: usize = 32;

impl Manifest {
    /// What it reads outside its own folder, as absolute paths.
    ///
    /// # Errors
    /// A sentence naming what does not exist.
    pub fn reads(&self, folder: &Path) -> Result<Vec<PathBuf>, String> {
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        let wrong = |why: String| format!("{}: [sandbox] read: {why}", folder.join(FILE).display());
        if self.reads.len() > MOST_READS {
            return Err(wrong(format!(
                "{} places are named, but at most {MOST_READS} can be shown",
                self.reads.len()
            )));
        }
        let full = |text: &String| {
            let path = match text.strip_prefix("~/") {
                Some(rest) => home.join(rest),
                None => folder.join(text),
            };
            let path = path.canonicalize().map_err(|error| wrong(format!("`{text}`: {error}")))?;
            if !can_show(&path) {
                return Err(wrong(format!(
                    "`{text}` cannot be shown: a sandbox has a root, /proc, /sys, /dev, /tmp and /etc of its own; name what \
                     the bot reads, such as /etc/fonts"
                )));
            }
            if home.starts_with(&path) && path.parent().is_some() {
                return Err(wrong(format!(
                    "`{text}` is your home, which is never shown to a bot as a whole; name what the bot reads in it"
                )));
            }
            Ok(path)
        };
        self.reads.iter().map(full).collect()
    }
}

/// Checks that what says how a stranger's folder is run and built is its own: errors quote it.
///
/// # Errors
/// A sentence that names the file.
pub(crate) fn read_own(folder: &Path) -> Result<(), String> {
    let files = [FILE, algo::FILE, "package.json", "Cargo.toml"];
    match files.into_iter().find(|file| !stays(&folder.join(file), folder)) {
        Some(file) => {
            Err(format!("{}: it is a link that leads out of the bot's folder", folder.join(file).display()))
        }
        None => Ok(()),
    }
}

impl Defaults {
    fn of(table: &DeTable<'_>) -> Result<Self, Wrong> {
        let mut own = Self::default();
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "game" => own.game = Some(string("defaults.game", value, "\"cultist-wars\"")?),
                "rules" => own.rules = Some(string("defaults.rules", value, "\"standard\"")?),
                "opponents" => {
                    let what = "defaults.opponents";
                    own.opponents = strings(what, value, "[\"builtin:greedy\"]")?;
                }
                _ => return Err(unknown(key, "defaults.", &["game", "rules", "opponents"])),
            }
        }
        Ok(own)
    }
}

/// Where something is wrong, and what.
type Wrong = (Range<usize>, String);

fn unknown(key: &Spanned<impl AsRef<str>>, table: &str, allowed: &[&str]) -> Wrong {
    let own = key.get_ref().as_ref();
    let meant = nearest(own, allowed.iter().copied());
    let meant = meant.map_or_else(String::new, |meant| format!("; did you mean `{table}{meant}`?"));
    let why = format!("there is no key `{table}{own}`{meant} Allowed are {}", allowed.join(", "));
    (key.span(), if why.contains('?') { why } else { why.replacen(" Allowed", "; allowed", 1) })
}

/// The type of a value, in plain words.
fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) | DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

fn mistyped(key: &str, value: &Spanned<DeValue<'_>>, wanted: &str, example: &str) -> Wrong {
    let own = key.rsplit('.').next().unwrap_or(key);
    let is = kind(value.get_ref());
    (value.span(), format!("`{key}` must be {wanted}, not {is}; write {own} = {example}"))
}

fn string(key: &str, value: &Spanned<DeValue<'_>>, example: &str) -> Result<String, Wrong> {
    let wanted = "a string in quotes";
    let text = value.get_ref().as_str().ok_or_else(|| mistyped(key, value, wanted, example))?;
    match text.trim().is_empty() && !key.starts_with("env.") {
        true => {
            Err((value.span(), format!("`{key}` is empty; write {key} = {example}, or leave the key out")))
        }
        false => Ok(text.to_owned()),
    }
}

fn strings(key: &str, value: &Spanned<DeValue<'_>>, example: &str) -> Result<Vec<String>, Wrong> {
    let wrong = |value| mistyped(key, value, "a list of strings in quotes", example);
    let list = value.get_ref().as_array().ok_or_else(|| wrong(value))?;
    list.iter().map(|one| Ok(one.get_ref().as_str().ok_or_else(|| wrong(one))?.to_owned())).collect()
}

fn command(key: &str, value: &Spanned<DeValue<'_>>, example: &str) -> Result<Command, Wrong> {
    let command = match value.get_ref() {
        DeValue::String(line) => Command::Line(line.to_string()),
        DeValue::Array(_) => Command::Words(strings(key, value, "[\"python3\", \"bot.py\"]")?),
        _ => return Err(mistyped(key, value, "a command in quotes, or a list of its words", example)),
    };
    match command.words() {
        Ok(_) => Ok(command),
        Err(why) => Err((value.span(), format!("{key}: {why}"))),
    }
}

fn dialect(value: &Spanned<DeValue<'_>>) -> Result<String, Wrong> {
    const ALL: [&str; 4] = ["lines", "websocket", "tcp", "script"];
    let text = string("dialect", value, "\"lines\"")?;
    if ALL.contains(&text.as_str()) {
        return Ok(text);
    }
    let meant = nearest(&text, ALL).map_or_else(String::new, |meant| format!("; did you mean \"{meant}\"?"));
    Err((value.span(), format!("there is no dialect \"{text}\"{meant} (lines, websocket, tcp, script)")))
}

/// Megabytes, as bytes.
fn memory(value: &Spanned<DeValue<'_>>) -> Result<u64, Wrong> {
    let DeValue::Integer(number) = value.get_ref() else {
        return Err(mistyped("sandbox.memory", value, "a number of megabytes", "512"));
    };
    // A negative one is as wrong as 0.
    let megabytes = u64::from_str_radix(number.as_str(), number.radix()).unwrap_or(0);
    let wrong = |why| (value.span(), format!("`sandbox.memory` must be {why}"));
    check_memory(megabytes).map_err(wrong)?;
    Ok(megabytes << 20)
}

fn inner<'a, 'i>(
    key: &str,
    value: &'a Spanned<DeValue<'i>>,
    example: &str,
) -> Result<&'a DeTable<'i>, Wrong> {
    let wrong = || {
        let is = kind(value.get_ref());
        (value.span(), format!("`{key}` must be a table, not {is}; write [{key}] and below it {example}"))
    };
    value.get_ref().as_table().ok_or_else(wrong)
}

/// Why a text is no TOML, in words for somebody who does not know TOML.
fn no_toml(text: &str, start: usize, why: &str) -> String {
    let before = text.get(..start).unwrap_or("");
    let line = before.rsplit('\n').next().unwrap_or("").to_owned()
        + text.get(start..).unwrap_or("").lines().next().unwrap_or("");
    if why.contains("duplicate") {
        return "this key is given a second time; keep one of them".to_owned();
    }
    match line.split_once('=') {
        Some((key, value)) => {
            let (key, value) = (key.trim(), value.trim());
            match value.chars().next() {
                None => format!("`{key}` has no value; write {key} = \"...\""),
                Some('"' | '\'') if value.contains('\\') => {
                    format!(
                        "a backslash in double quotes has a special meaning; write {key} = '...' in single quotes"
                    )
                }
                Some(quote @ ('"' | '\'')) if value.matches(quote).count() % 2 == 1 => {
                    format!("a quote is not closed; write {key} = {value}{quote}")
                }
                Some('[') => format!("the list is not well formed; write {key} = [\"...\", \"...\"]"),
                Some('{') => format!("the table is not well formed; write {key} = {{ NAME = \"...\" }}"),
                Some(quote @ ('"' | '\'')) => {
                    let text = value.trim_matches(quote);
                    format!("there is something after the closing quote; write {key} = {quote}{text}{quote}")
                }
                Some(_) => format!("text must be in quotes; write {key} = \"{value}\""),
            }
        }
        None if line.trim_start().starts_with('[') => {
            "a table's name must be in brackets; write [defaults] or [env]".to_owned()
        }
        None if line.contains(':') => {
            let (key, value) = line.split_once(':').unwrap_or_default();
            let value = value.trim().trim_matches('"');
            format!("this file is TOML; write {} = \"{value}\"", key.trim().trim_matches('"'))
        }
        None => "this line is not a setting; write KEY = \"VALUE\", and # before a comment".to_owned(),
    }
}

/// `:line:column: why`, with the line itself, for the error at `span` of a file's text.
pub fn at(text: &str, span: Range<usize>, why: &str) -> String {
    let before = text.get(..span.start.min(text.len())).unwrap_or("");
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    format!(":{line}:{column}: {why}\n  {line} | {}", text.lines().nth(line - 1).unwrap_or(""))
}

/// `:line:column: what is wrong`, with the line itself. `hint` sees the line and may add to it.
pub fn toml_error(text: &str, error: &toml::de::Error, hint: impl FnOnce(&str) -> String) -> String {
    let span = error.span().unwrap_or_default();
    let line = text.get(..span.start).unwrap_or("").matches('\n').count();
    let hint = hint(text.lines().nth(line).unwrap_or(""));
    at(text, span, &format!("{}{hint}", error.message()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_file_is_read() {
        let text =
            "name = 'Seeker'\nrun = 'python3 bot.py'\n[env]\nLEVEL = '2'\n[defaults]\ngame = 'terminal'\n";
        let manifest = Manifest::parse(text).expect("a good file");
        assert_eq!(
            manifest.run.expect("a command").words(),
            Ok(vec!["python3".to_owned(), "bot.py".to_owned()])
        );
        assert_eq!(manifest.env["LEVEL"], "2");
        assert_eq!(manifest.defaults.game.as_deref(), Some("terminal"));
    }

    #[test]
    fn memory_is_a_number_of_megabytes() {
        let of = |text: &str| Manifest::parse(&format!("[sandbox]\nmemory = {text}\n"));
        assert_eq!(of("512").expect("a good file").memory, Some(512 << 20));
        assert_eq!(of("0x100").expect("a good file").memory, Some(256 << 20));
        let wanted = ":2:10: `sandbox.memory` must be a number of megabytes, from 32 to 1048576";
        for wrong in ["0", "31", "-64", "1048577", "99999999999999999999"] {
            let why = of(wrong).expect_err(wrong);
            assert!(why.starts_with(wanted), "{why}");
        }
        let why = of("'512 MB'").expect_err("a text");
        assert!(
            why.starts_with(
                ":2:10: `sandbox.memory` must be a number of megabytes, not a string; write memory = 512"
            ),
            "{why}"
        );
    }

    #[test]
    fn errors_point_into_the_file_and_say_what_to_write() {
        for (text, told) in [
            (
                "name = 'x'\nrnu = 'python3 bot.py'\n",
                ":2:1: there is no key `rnu`; did you mean `run`? Allowed are name, dialect, build, run, env, sandbox, defaults\n  2 | rnu = ",
            ),
            ("xyzzy = 1", ":1:1: there is no key `xyzzy`; allowed are name"),
            (
                "run = 5",
                ":1:7: `run` must be a command in quotes, or a list of its words, not a number; write run = \"python3 bot.py\"",
            ),
            ("run = python3 bot.py", "text must be in quotes; write run = \"python3 bot.py\""),
            ("run = 1e", "text must be in quotes; write run = \"1e\""),
            (
                "run = ['a', 5]",
                "`run` must be a list of strings in quotes, not a number; write run = [\"python3\", \"bot.py\"]",
            ),
            ("run = ''", ":1:7: run: ``: the command is empty"),
            ("build = 'cd x && make'", ":1:9: build: `cd x && make`: `&&` needs a shell"),
            ("run = \"python3 bot.py", "a quote is not closed"),
            ("run = \"C:\\games\\bot.exe\"", "single quotes"),
            ("run =", "`run` has no value"),
            ("run: python3 bot.py", "write run = \"python3 bot.py\""),
            ("hello", "this line is not a setting"),
            ("[defaults", "in brackets"),
            ("run = 'a'\nrun = 'b'", "a second time"),
            ("env = 'A=b'", "`env` must be a table, not a string; write [env]"),
            ("[env]\nA = 2", ":2:5: `env.A` must be a string in quotes, not a number; write A = \"2\""),
            (
                "[defaults]\nopponent = 'x'",
                "did you mean `defaults.opponents`? Allowed are game, rules, opponents",
            ),
            (
                "[defaults]\nopponents = 'x'",
                "must be a list of strings in quotes, not a string; write opponents = [\"builtin:greedy\"]",
            ),
            ("dialect = 'line'", "did you mean \"lines\"?"),
            ("name = ' '", "`name` is empty"),
        ] {
            let error = Manifest::parse(text).expect_err(text);
            assert!(error.contains(told), "{text}: {error}");
        }
    }
}
