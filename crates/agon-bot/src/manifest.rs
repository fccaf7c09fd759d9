//! `agon.toml`: how a bot's folder says what it is and how it runs.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

/// The name of the file.
pub const FILE: &str = "agon.toml";

/// A larger file is refused.
const LARGEST: u64 = 64 << 10;

/// What `agon.toml` holds. Unknown keys are errors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The bot's name in tables.
    pub name: Option<String>,
    /// The protocol it speaks where a game has several: `lines`, `websocket`, `tcp`, `script`.
    pub dialect: Option<String>,
    /// The command that builds it, run by `agon build` and `--build` only.
    pub build: Option<Command>,
    /// The command that runs it, from its own folder.
    pub run: Option<Command>,
    /// Environment variables for both.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// What `agon play`, `check` and `sprt` assume inside this folder.
    #[serde(default)]
    pub defaults: Defaults,
}

/// A command: one text, split like a shell would, or a list of words.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Command {
    /// `run = "python3 bot.py"`
    Line(String),
    /// `run = ["python3", "bot.py"]`
    Words(Vec<String>),
}

/// What the commands assume inside the bot's folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Defaults {
    /// The game.
    pub game: Option<String>,
    /// The preset of its rules.
    pub rules: Option<String>,
    /// The bots to play against.
    #[serde(default)]
    pub opponents: Vec<String>,
}

impl Command {
    /// The words of the command.
    ///
    /// # Errors
    /// A sentence, when a quote is not closed or there is no word.
    pub fn words(&self) -> Result<Vec<String>, String> {
        let words = match self {
            Self::Line(line) => {
                shlex::split(line).ok_or_else(|| format!("`{line}`: a quote is not closed"))?
            }
            Self::Words(words) => words.clone(),
        };
        if words.is_empty() { Err("the command is empty".to_owned()) } else { Ok(words) }
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
            // A pipe of that name would be waited for.
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
    /// `:line:column: what is wrong`, with the line itself.
    pub fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| toml_error(text, &error, |_| String::new()))
    }
}

/// `:line:column: what is wrong`, with the line itself. `hint` sees the line and may have more to say.
pub fn toml_error(text: &str, error: &toml::de::Error, hint: impl FnOnce(&str) -> String) -> String {
    let start = error.span().map_or(0, |span| span.start.min(text.len()));
    let before = text.get(..start).unwrap_or("");
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    let shown = text.lines().nth(line - 1).unwrap_or("");
    format!(":{line}:{column}: {}{}\n  {line} | {shown}", error.message(), hint(shown))
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
    fn errors_point_into_the_file() {
        let error = Manifest::parse("name = 'x'\nrnu = 'python3 bot.py'\n").unwrap_err();
        assert!(error.starts_with(":2:1: unknown field `rnu`"), "{error}");
        assert!(error.contains("2 | rnu ="), "{error}");
    }
}
