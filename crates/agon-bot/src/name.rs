//! How users name a bot.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::algo;
use crate::join;
use crate::manifest::Manifest;
use crate::run::Run;
use crate::words;

/// Prefix for a script to be run by Node.
pub(crate) const NODE: &str = "node:";

/// A bot as the user named it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotName {
    /// What was written.
    pub text: String,
    /// What it means.
    pub kind: NameKind,
    /// Whether it runs in a sandbox.
    pub confined: Confined,
    /// What holds for all bots of its run.
    pub run: Arc<Run>,
}

/// What a bot's name means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameKind {
    /// A file or folder; with `node:` in front, a script runs under Node.
    Path(PathBuf),
    /// `cmd:` a command line, split as a shell would but run without one; `lines:` likewise, for a bot that talks in
    /// lines in a game whose bots usually dial in.
    Command(Vec<String>),
    /// `builtin:` a bot inside the program, with its options in order.
    Builtin {
        name: String,
        /// `key=value` options.
        options: Vec<(String, String)>,
    },
    /// `ws:` waits for a program started elsewhere to connect over WebSocket.
    WebSocket,
    /// `tcp:` waits for a program started elsewhere to connect over TCP.
    Tcp,
    /// `join:` waits for an `agon join`, which starts the bot on its own machine.
    Join,
}

/// Whether a bot runs in a sandbox, and on whose behalf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Confined {
    /// It runs with our user's rights.
    #[default]
    No,
    /// Our user's own bot: it may change a copy of its folder, sees the user's packages, and its `agon.toml` is
    /// trusted.
    Own,
    /// A stranger's bot: it sees its folder and the system.
    Foreign,
}

/// Which engine runs scripts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Js {
    /// The one built into our program.
    #[default]
    Embedded,
    /// Node, which compiles to machine code but does not restrict the script.
    Node,
}

impl BotName {
    /// Parses what the user wrote. A bare word that is no path is not taken for a built-in.
    ///
    /// # Errors
    /// A sentence for the user.
    pub fn parse(text: &str) -> Result<Self, String> {
        let command = text.strip_prefix("cmd:").or_else(|| text.strip_prefix("lines:"));
        let kind = if let Some(command) = command {
            if command.trim().is_empty() {
                return Err(format!(
                    "`{text}` names no command; write it after the colon: cmd:PROGRAM ARGUMENTS"
                ));
            }
            NameKind::Command(words::split(command).map_err(|why| format!("`{text}`: {why}"))?)
        } else if let Some(builtin) = text.strip_prefix("builtin:") {
            let (name, options) = builtin.split_once('?').unwrap_or((builtin, ""));
            let options = options.split('&').filter(|option| !option.is_empty()).map(|option| {
                let (key, value) =
                    option.split_once('=').ok_or_else(|| format!("`{text}`: `{option}` is not KEY=VALUE"))?;
                Ok((key.to_owned(), value.to_owned()))
            });
            NameKind::Builtin { name: name.to_owned(), options: options.collect::<Result<_, String>>()? }
        } else if text.starts_with("ws:") {
            NameKind::WebSocket
        } else if text.starts_with("tcp:") {
            NameKind::Tcp
        } else if text.starts_with("join:") {
            NameKind::Join
        } else if text.is_empty() {
            return Err("a bot's name is empty".to_owned());
        } else {
            NameKind::Path(PathBuf::from(text.strip_prefix(NODE).unwrap_or(text)))
        };
        Ok(Self { text: text.to_owned(), kind, confined: Confined::No, run: Arc::default() })
    }

    /// The port in `ws:8765` or `tcp:5000`; none in `ws:`.
    ///
    /// # Errors
    /// A sentence for the user.
    pub fn port(&self) -> Result<Option<u16>, String> {
        match self.text.split_once(':') {
            None | Some((_, "")) => Ok(None),
            Some((way, port)) => match port.parse() {
                Ok(port) if port > 0 => Ok(Some(port)),
                _ => Err(format!(
                    "`{port}` is not a port; write {way}: alone, or {way}: and a number up to 65535"
                )),
            },
        }
    }

    /// Where `join:`, `join:9000` or `join:0.0.0.0:9000` listens: only on this machine, unless an address is given.
    ///
    /// # Errors
    /// A sentence for the user.
    pub fn join_address(&self) -> Result<SocketAddr, String> {
        let place = self.text.strip_prefix("join:").unwrap_or_default();
        let local = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let found = match place {
            "" => Some(local(join::PORT)),
            place => place.parse().ok().map(local).or_else(|| place.parse().ok()),
        };
        found.filter(|address| address.port() > 0).ok_or_else(|| {
            format!(
                "`{place}` is not an address; write join:PORT for this machine alone, or join:ADDRESS:PORT"
            )
        })
    }

    /// Whether the name itself says that the bot talks in lines.
    pub fn says_lines(&self) -> bool {
        self.text.starts_with("lines:")
    }

    /// Which engine runs it, if it is a script.
    pub fn js(&self) -> Js {
        if self.text.starts_with(NODE) { Js::Node } else { Js::Embedded }
    }

    /// A short name for tables: the `name` in its folder's `agon.toml`, or [`place`](Self::place).
    pub fn label(&self) -> String {
        let own = match &self.kind {
            NameKind::Path(path) if path.is_dir() => Manifest::read(path).ok().flatten(),
            _ => None,
        };
        let name = own.and_then(|own| own.name).map(|name| shortened(name.trim()));
        name.filter(|name| !name.is_empty()).unwrap_or_else(|| self.place())
    }

    /// A short name for tables after where it is: the folder of `bots/python/bot.py` says more than `bot.py`.
    pub fn place(&self) -> String {
        match &self.kind {
            NameKind::Builtin { .. } => self.text.trim_start_matches("builtin:").to_owned(),
            NameKind::Command(words) => of_command(words),
            NameKind::WebSocket | NameKind::Tcp | NameKind::Join => self.text.clone(),
            NameKind::Path(path) => {
                let full = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                let part = |path: &Path| {
                    algo::owner(path).file_name().map(|name| name.to_string_lossy().into_owned())
                };
                let own = part(&full).unwrap_or_else(|| self.text.clone());
                let generic = full.file_stem().is_some_and(|stem| {
                    ["bot", "main", "index", "run", "a"].contains(&stem.to_string_lossy().as_ref())
                });
                match full.parent().and_then(part).filter(|_| generic && !full.is_dir()) {
                    Some(folder) => format!("{folder}/{own}"),
                    None => own,
                }
            }
        }
    }
}

/// The longest label that a command or an `agon.toml` gives, in characters.
const LONGEST: usize = 32;

/// What runs somebody's program and says nothing of it.
const RUNNERS: &[&str] = &[
    "env", "python", "python3", "pypy3", "node", "ruby", "perl", "lua", "php", "sh", "bash", "mono",
    "dotnet", "nice", "exec",
];

/// A command without what any bot's command has: its interpreter, and the folders of its files. All other words stay, because
/// what tells two commands apart is often the last of them (`bot --depth 5`).
fn of_command(words: &[String]) -> String {
    let is_runner = |word: &str| RUNNERS.contains(&word.rsplit('/').next().unwrap_or(word));
    let mut rest = words;
    // What was given to the interpreter (`-u`) goes with it; `sh -c` is the command itself.
    while let [first, second, more @ ..] = rest
        && is_runner(first)
    {
        rest = match (second.as_str(), more) {
            ("-u" | "-O" | "-B" | "-E", [_, ..]) => more,
            (option, _) if option.starts_with('-') => break,
            _ => &rest[1..],
        };
    }
    let shown = |word: &String| match Path::new(word).file_name() {
        // Only a path of a file, and no option or setting that names one.
        Some(name) if !word.starts_with('-') && !word.contains(['=', ' ', ':']) => {
            name.to_string_lossy().into_owned()
        }
        _ => word.clone(),
    };
    shortened(&rest.iter().map(shown).collect::<Vec<_>>().join(" "))
}

/// A label that leaves room for others.
fn shortened(label: &str) -> String {
    match label.chars().count() > LONGEST {
        true => label.chars().take(LONGEST - 1).chain(['…']).collect(),
        false => label.to_owned(),
    }
}

impl fmt::Display for BotName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_name_is_understood() {
        let kind = |text: &str| BotName::parse(text).map(|name| name.kind);
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            kind("cmd:python3 'my bot.py' -x"),
            Ok(NameKind::Command(words(&["python3", "my bot.py", "-x"])))
        );
        assert_eq!(
            kind("builtin:hunter?nodes=500&seed=1"),
            Ok(NameKind::Builtin {
                name: "hunter".to_owned(),
                options: vec![("nodes".to_owned(), "500".to_owned()), ("seed".to_owned(), "1".to_owned())],
            })
        );
        assert_eq!(kind("bots/python"), Ok(NameKind::Path(PathBuf::from("bots/python"))));
        assert_eq!(kind("node:bots/a.js"), Ok(NameKind::Path(PathBuf::from("bots/a.js"))));
        assert_eq!(BotName::parse("node:bots/a.js").expect("a name").js(), Js::Node);
        assert!(kind("builtin:hunter?fast").unwrap_err().contains("KEY=VALUE"));
        assert!(kind("cmd:'").unwrap_err().contains("quote"));
        assert!(kind("cmd:").is_err() && kind("").is_err());
        let place =
            |text: &str| BotName::parse(text).expect("a name").join_address().map(|place| place.to_string());
        assert_eq!(place("join:").as_deref(), Ok("127.0.0.1:7878"));
        assert_eq!(place("join:9000").as_deref(), Ok("127.0.0.1:9000"));
        assert_eq!(place("join:0.0.0.0:9000").as_deref(), Ok("0.0.0.0:9000"));
        assert!(place("join:0").is_err() && place("join:here").unwrap_err().contains("join:PORT"));
    }

    #[test]
    fn labels_are_short_and_tell_bots_apart() {
        let label = |text: &str| BotName::parse(text).expect("a name").label();
        assert_eq!(label("games/x/bots/python/bot.py"), "python/bot.py");
        assert_eq!(label("old/seeker.js"), "seeker.js");
        assert_eq!(label("builtin:greedy"), "greedy");
        assert_eq!(label("bots/my-algo/algo-target"), "my-algo");
        assert_eq!(label("bots/my-algo/algo-target/run.sh"), "my-algo/run.sh");
        for (command, shown) in [
            ("cmd:bot a sleep:1000", "bot a sleep:1000"),
            ("cmd:python3 -u bots/x/bot.py", "bot.py"),
            ("cmd:env B=0.012 TH=6 python3 bot.py", "B=0.012 TH=6 python3 bot.py"),
            ("cmd:./bot --depth 5", "bot --depth 5"),
            ("cmd:./bot --book=/a/b", "bot --book=/a/b"),
            ("cmd:sh -c 'cd x && ./b'", "sh -c cd x && ./b"),
            ("cmd:java -cp out Player", "java -cp out Player"),
            ("cmd:python3", "python3"),
            ("cmd:./bot aaaaaaaaaa bbbbbbbbbb cccccccccc", "bot aaaaaaaaaa bbbbbbbbbb ccccc…"),
        ] {
            assert_eq!(label(command), shown, "{command}");
        }
    }

    #[test]
    fn a_bot_is_called_what_its_agon_toml_says() {
        let folder = tempfile::tempdir().expect("a folder");
        let bot = BotName::parse(folder.path().to_str().expect("a name")).expect("a bot");
        let place = bot.label();
        for (text, called) in [("name = ' Seeker '", "Seeker"), ("name = ''", &place), ("name = 5", &place)] {
            std::fs::write(folder.path().join("agon.toml"), text).expect("a file");
            assert_eq!(bot.label(), called, "{text}");
        }
        assert_eq!(bot.place(), place);
    }
}
