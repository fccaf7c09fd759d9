//! What is known about a game before a match is set up.

use std::ops::RangeInclusive;

use include_dir::Dir;

use crate::setup::nearest;
use crate::{Feature, HandIn, RulesName, SetupError, Starter};

/// A game's name, numbers and documents.
#[derive(Clone, Copy, Debug)]
pub struct GameInfo {
    /// The name on the command line and of its folder: `cultist-wars`.
    pub name: &'static str,
    /// The name people read: `Cultist Wars`.
    pub title: &'static str,
    /// One line: what the game is.
    pub summary: &'static str,
    /// Raised whenever a rule changes; a replay made under another version is not "altered".
    pub rules_version: u32,
    /// The fewest and the most seats.
    pub seats: (u8, u8),
    /// What one step is called: `turn`, `tick`, `half-turn`.
    pub step: &'static str,
    /// Whether only one seat thinks at a time.
    pub alternating: bool,
    /// Whether a bot that did not answer in time is stopped for the rest of the match.
    pub stops_late_bots: bool,
    /// How the original talks to its bots.
    pub transport: Transport,
    /// The longest message a bot may send, in bytes.
    pub longest_message: usize,
    /// Whether measured thinking time is part of play, so that replays must keep it.
    pub time_is_played: bool,
    /// Whether whoever scored more always ranks before whoever scored less; not so where elimination decides. Equal scores may rank
    /// either way.
    pub ranks_follow_scores: bool,
    /// The presets of the rules; the first is the default.
    pub presets: &'static [Preset],
    /// The maps built into the program; empty where the seed makes the map.
    pub maps: &'static [BundledMap],
    /// Whether a map can be generated from the seed.
    pub generates_maps: bool,
    /// The bots built into the program.
    pub builtins: &'static [BuiltinInfo],
    /// `RULES.md`.
    pub rulebook: &'static str,
    /// The folders whose files define and prove the rules, `src` and `spec`, by their names inside the game's folder.
    pub sources: &'static [(&'static str, Dir<'static>)],
    /// A change of one rule, as an example for `--set`.
    pub example_set: &'static str,
    /// Whether a text looks like an answer in this game, used to recognise a bot that plays another game.
    pub looks_like_answer: fn(&str) -> bool,
    /// What files of the original [`Game::import`](crate::Game::import) reads, in words; empty where none is known that holds
    /// every order of a match.
    pub recordings: &'static str,
    /// Whether any text can be read as a map, so that being readable proves little.
    pub reads_any_map: bool,
    /// The form in which the contest accepts bots.
    pub hand_in: HandIn,
    /// Bots to start from, the easiest language first.
    pub starters: &'static [Starter],
    /// What speaks for a seat in a position, with weights, the score first; empty where no weights have been found.
    pub advantage: &'static [Feature],
    /// The built-in bot that plays matches on where very many are needed: quick, and reasonably strong.
    pub policy: &'static str,
    /// The built-in bot that plays matches on where orders are judged, with its options as in `builtin:NAME?KEY=VALUE`: the
    /// strongest that plays a match in milliseconds.
    pub judge: &'static str,
}

/// `whole` in a native build; `bare` in a WebAssembly module, which has no command line that could ask for the texts.
pub const fn with_tools<T: ?Sized>(whole: &'static T, bare: &'static T) -> &'static T {
    if cfg!(target_family = "wasm") { bare } else { whole }
}

impl GameInfo {
    /// Two seats that take turns in lines of text, and nothing that only some games have: what a game says differently, it
    /// says before `..GameInfo::PLAIN`.
    pub const PLAIN: Self = Self {
        name: "",
        title: "",
        summary: "",
        rules_version: 1,
        seats: (2, 2),
        step: "turn",
        alternating: true,
        stops_late_bots: false,
        transport: Transport::Lines,
        longest_message: 10_000,
        time_is_played: false,
        ranks_follow_scores: true,
        presets: &[],
        maps: &[],
        generates_maps: false,
        builtins: &[],
        rulebook: "",
        sources: &[],
        example_set: "",
        looks_like_answer: |_| false,
        recordings: "",
        reads_any_map: false,
        hand_in: HandIn::Folder(&[]),
        starters: &[],
        advantage: &[],
        policy: "random",
        judge: "random",
    };

    /// The files of [`sources`](Self::sources) as `(path inside the game's folder, text)`, sorted.
    pub fn source_files(&self) -> Vec<(String, &'static str)> {
        let mut files = Vec::new();
        let mut folders: Vec<_> = self.sources.iter().map(|(name, folder)| (*name, folder)).collect();
        while let Some((name, folder)) = folders.pop() {
            folders.extend(folder.dirs().map(|inner| (name, inner)));
            files.extend(folder.files().filter_map(|file| {
                Some((format!("{name}/{}", file.path().display()), file.contents_utf8()?))
            }));
        }
        files.sort_unstable();
        files
    }

    /// The default number of seats: two, if the game allows it.
    pub fn usual_seats(&self) -> u8 {
        self.seats.0.max(2).min(self.seats.1)
    }
}

/// How the original talks to its bots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Lines over standard input and output.
    Lines,
    /// Text frames over WebSocket; also lines.
    WebSocket,
    /// Length-prefixed messages over TCP; also lines.
    Tcp,
    /// Functions of a script inside an embedded engine; also lines.
    Script,
}

/// A named set of rules.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// One line: what it is.
    pub about: &'static str,
    /// The rules file itself.
    pub text: &'static str,
    /// Where its bots run.
    pub cpus: Cpus,
}

/// The CPUs a bot may run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cpus {
    /// One CPU. Bots that take turns share it with each other and the referee, which makes handing over a question
    /// quickest. A runtime with threads of its own (Java, .NET, Mono) may use all.
    One,
    /// All CPUs of this machine, as at home.
    All,
}

impl Cpus {
    /// The same as one word, for scripts.
    pub fn word(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::All => "all",
        }
    }
}

impl std::fmt::Display for Cpus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::One => "one, which the bots share; Java, .NET and Mono may use all",
            Self::All => "each bot may use all CPUs, as at home",
        })
    }
}

/// A map built into the program.
#[derive(Clone, Copy, Debug)]
pub struct BundledMap {
    /// Its name.
    pub name: &'static str,
    /// The fewest and the most seats it is made for.
    pub seats: (u8, u8),
    /// The map file itself.
    pub text: &'static str,
}

/// A bot built into the program.
#[derive(Clone, Copy, Debug)]
pub struct BuiltinInfo {
    /// Its name in `builtin:NAME`.
    pub name: &'static str,
    /// One line: how it plays.
    pub about: &'static str,
    /// Its options as `(key, what it does and its default)`.
    pub options: &'static [(&'static str, &'static str)],
}

impl GameInfo {
    /// The preset called `name`.
    pub fn preset(&self, name: &str) -> Option<&'static Preset> {
        self.presets.iter().find(|preset| preset.name == name)
    }

    /// The built-in map called `name`.
    ///
    /// # Errors
    /// When there is none, with the most similar name there is.
    pub fn map(&self, name: &str) -> Result<&'static BundledMap, SetupError> {
        self.maps.iter().find(|map| map.name == name).ok_or_else(|| SetupError::UnknownMap {
            game: self.name,
            name: name.to_owned(),
            nearest: nearest(name, self.maps.iter().map(|map| map.name)),
        })
    }

    /// The CPUs bots run on under the rules called `rules_name`; rules from a file follow the first preset.
    pub fn cpus(&self, rules_name: &str) -> Cpus {
        let base = RulesName::parse(rules_name).base;
        self.preset(&base).or(self.presets.first()).map_or(Cpus::One, |preset| preset.cpus)
    }

    /// Whether `count` seats are possible.
    pub fn seats_fit(&self, count: usize) -> bool {
        (usize::from(self.seats.0)..=usize::from(self.seats.1)).contains(&count)
    }

    /// The same, as what is wrong if they are not.
    ///
    /// # Errors
    /// When they are not.
    pub fn check_seats(&self, count: usize) -> Result<(), SetupError> {
        let needs = match self.seats {
            (least, most) if least == most => format!("{least} bots"),
            (least, most) => format!("{least} to {most} bots"),
        };
        let wrong = SetupError::BadSeats { game: self.title, needs, got: count };
        if self.seats_fit(count) { Ok(()) } else { Err(wrong) }
    }

    /// Checks what follows `builtin:`: the name of a built-in bot and the keys of its options.
    ///
    /// # Errors
    /// A sentence for the user, when one is unknown.
    pub fn check_builtin(&self, name: &str, options: &[(String, String)]) -> Result<(), String> {
        let Some(bot) = self.builtins.iter().find(|bot| bot.name == name) else {
            let known: Vec<&str> = self.builtins.iter().map(|bot| bot.name).collect();
            return Err(format!(
                "{} has no built-in bot `{name}`; there are {}",
                self.name,
                known.join(", ")
            ));
        };
        let known: Vec<&str> = bot.options.iter().map(|(key, _)| *key).collect();
        match options.iter().find(|(key, _)| !known.contains(&key.as_str())) {
            None => Ok(()),
            Some((key, _)) => {
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                Err(format!("builtin:{name} has no option `{key}`; options: {known}"))
            }
        }
    }
}

/// The last value given for an option of a built-in bot that takes a whole number; none if it was not given.
///
/// # Errors
/// A sentence for the user, when it is no such number.
pub fn number_option(
    options: &[(String, String)],
    key: &str,
    allowed: RangeInclusive<u32>,
) -> Result<Option<u32>, String> {
    let Some((_, value)) = options.iter().rfind(|(given, _)| given == key) else { return Ok(None) };
    let number = value.parse().ok().filter(|number| allowed.contains(number)).map(Some);
    let (least, most) = allowed.into_inner();
    number.ok_or_else(|| format!("`{key}` must be a whole number from {least} to {most}, not `{value}`"))
}
