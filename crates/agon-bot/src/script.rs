//! JavaScript files as bots, for games that call a script's functions.
//!
//! To everything else such a bot is a program like any other: a process that reads questions and
//! writes answers, one per line. This module decides which process. Both kinds give the script the
//! same world (`script/host.js`) and the same limits.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::guard;
use crate::launch::{Launch, known_file};
use crate::manifest::Manifest;
use crate::name::{BotName, Js, NODE, NameKind};
use crate::paths::settled;

/// The hidden subcommand that makes our program the process of a script: `agon __script ...`.
pub const SUBCOMMAND: &str = "__script";

/// What sits between a script and its host, in either engine: a JavaScript function.
pub const HOST: &str = include_str!("script/host.js");

/// The host for Node.
const NODE_HOST: &str = include_str!("script/node.cjs");

impl BotName {
    /// The same bot under Node, if it is a script.
    pub fn under_node(mut self) -> Self {
        if self.js() != Js::Node && Script::file(&self).is_some() {
            self.text.insert_str(0, NODE);
        }
        self
    }
}

/// A script to run as a bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    pub file: PathBuf,
    /// The seed of the match. It decides, with the bot's seat, what `Math.random` returns.
    pub seed: i64,
    /// Its seat, from 1.
    pub seat: u8,
    /// How long the referee waits for an answer; none for no limit.
    pub limit: Option<Duration>,
    /// How often the script has been restarted in this match.
    pub restarts: u32,
    /// Whether it has not answered the last question: a line for it goes out before the next answer.
    pub owes: bool,
}

impl Script {
    /// The JavaScript file of the bot called `name`; none when the bot is a program.
    ///
    /// A folder counts when a JavaScript file is what would run there. A folder with a command in its
    /// `agon.toml` is a program, unless it says `dialect = "script"`: then the command is the file.
    pub fn file(name: &BotName) -> Option<PathBuf> {
        let NameKind::Path(path) = &name.kind else { return None };
        let path = settled(path);
        let file = if path.is_dir() {
            match Manifest::read(&path).ok()? {
                Some(Manifest { dialect, run: Some(run), .. }) => match &run.words().ok()?[..] {
                    [file] if dialect.as_deref() == Some("script") => path.join(file),
                    _ => return None,
                },
                _ => known_file(&path)?,
            }
        } else {
            path
        };
        let ending = file.extension().and_then(|ending| ending.to_str());
        (matches!(ending, Some("js" | "mjs" | "cjs")) && file.is_file()).then_some(file)
    }

    /// When to give up on an answer: before the referee gives up on the bot.
    pub fn budget(&self) -> Option<Duration> {
        self.limit.map(|limit| limit - (limit / 10).min(Duration::from_millis(50)))
    }

    /// The arguments after [`SUBCOMMAND`].
    pub fn arguments(&self) -> Vec<OsString> {
        let limit = self.limit.map_or("none".to_owned(), |limit| limit.as_millis().to_string());
        let owes = if self.owes { "owes" } else { "new" }.to_owned();
        let numbers = [self.seed.to_string(), self.seat.to_string(), limit, self.restarts.to_string(), owes];
        numbers.into_iter().map(OsString::from).chain([self.file.clone().into()]).collect()
    }

    /// Parses what [`arguments`](Self::arguments) wrote; none for anything else.
    pub fn read(arguments: &[OsString]) -> Option<Self> {
        let [seed, seat, limit, restarts, owes, file] = arguments else { return None };
        let limit = match limit.to_str()? {
            "none" => None,
            limit => Some(Duration::from_millis(limit.parse().ok()?)),
        };
        Some(Self {
            file: file.into(),
            seed: seed.to_str()?.parse().ok()?,
            seat: seat.to_str()?.parse().ok()?,
            limit,
            restarts: restarts.to_str()?.parse().ok()?,
            owes: owes == "owes",
        })
    }

    /// The command that runs it.
    pub fn launch(&self, js: Js) -> Launch {
        let (program, arguments) = match js {
            Js::Embedded => {
                let program =
                    guard::program().map_or("agon".into(), |program| program.as_os_str().to_owned());
                (program, [SUBCOMMAND.into()].into_iter().chain(self.arguments()).collect())
            }
            Js::Node => {
                let limit = self.limit.map_or(0, |limit| limit.as_millis());
                let mut arguments: Vec<OsString> = [
                    "--no-warnings",
                    "--experimental-vm-modules",
                    "--unhandled-rejections=none",
                    "-e",
                    NODE_HOST,
                    "--",
                ]
                .map(OsString::from)
                .into();
                arguments.push(self.file.clone().into());
                arguments.extend(
                    [self.seed.to_string(), self.seat.to_string(), limit.to_string()].map(OsString::from),
                );
                arguments.push(HOST.into());
                ("node".into(), arguments)
            }
        };
        // Dates then look the same everywhere.
        let environment = vec![("TZ".to_owned(), "UTC".to_owned())];
        let folder = self.file.parent().map(PathBuf::from);
        Launch { program, arguments, environment, folder, ..Launch::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &std::path::Path) -> Option<PathBuf> {
        Script::file(&BotName::parse(path.to_str().expect("a name")).expect("a name"))
    }

    #[test]
    fn files_and_folders_of_javascript_are_scripts() {
        let folder = tempfile::tempdir().expect("a folder");
        let (folder, path) = (folder.path(), |name: &str| folder.path().join(name));
        let write = |name: &str, text: &str| std::fs::write(path(name), text).expect("a file");
        assert_eq!(file(folder), None, "nothing is there");
        write("bot.js", "");
        assert_eq!(file(&path("bot.js")), Some(path("bot.js")));
        assert_eq!(file(folder), Some(path("bot.js")));
        write("agon.toml", "name = \"mine\"");
        assert_eq!(file(folder), Some(path("bot.js")), "a name alone says nothing about how it runs");
        write("agon.toml", "run = \"node bot.js\"");
        assert_eq!(file(folder), None, "a program that happens to be written in JavaScript");
        write("agon.toml", "dialect = \"script\"\nrun = \"own.mjs\"");
        write("own.mjs", "");
        assert_eq!(file(folder), Some(path("own.mjs")));
        write("bot.py", "");
        assert_eq!(file(&path("bot.py")), None);
        assert_eq!(file(&path("gone.js")), None);
    }

    #[test]
    fn arguments_are_read_as_they_were_written() {
        for limit in [None, Some(Duration::from_millis(1_000))] {
            let script =
                Script { file: "mein böt.js".into(), seed: -5, seat: 2, limit, restarts: 3, owes: true };
            assert_eq!(Script::read(&script.arguments()), Some(script));
        }
        assert_eq!(Script::read(&["1".into()]), None);
    }

    #[test]
    fn an_answer_is_given_up_before_the_referee_gives_up_the_bot() {
        let budget = |limit| {
            let script = Script { file: PathBuf::new(), seed: 0, seat: 1, limit, restarts: 0, owes: false };
            script.budget().map(|budget| budget.as_millis())
        };
        assert_eq!(budget(Some(Duration::from_secs(300))), Some(299_950));
        assert_eq!(budget(Some(Duration::from_millis(50))), Some(45));
        assert_eq!(budget(None), None);
    }
}
