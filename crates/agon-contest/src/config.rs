//! `contest.toml`: a tournament, or a contest of `agon serve`, in a file.
//!
//! It fixes what decides results: game, rules, maps, clock, seeds, bots. How it is run (`-j`, `--json`, which replays are
//! kept) stays on the command line. The sections `[site]`, `[ladder]` and `[sandbox]` are for `agon serve`, `seed` and
//! `bots` for `agon tournament`; each ignores what belongs to the other.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

pub use agon_api::contest::SignUpWord;
pub use agon_bot::Level;
pub use agon_game::setup::nearest;

use agon_bot::manifest::{at, check_memory, toml_error};
use serde::Deserialize;
use toml::de::DeTable;

/// The largest file accepted, in bytes.
const LARGEST: u64 = 1 << 20;

/// The content of `contest.toml`. Unknown keys are errors. Paths are relative to the file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContestFile {
    pub game: String,
    /// A preset or a rules file.
    #[serde(default)]
    pub rules: Option<String>,
    /// Changes to those rules.
    #[serde(default)]
    pub set: toml::Table,
    /// Maps by name, files, or `generate`; the rounds take them in turn.
    #[serde(default)]
    pub maps: Vec<String>,
    /// Seats in a match.
    #[serde(default)]
    pub seats: Option<u8>,
    /// The seed of the first round; each round has the next. A tournament needs it; a site derives its seeds from its
    /// secret.
    #[serde(default)]
    pub seed: Option<i64>,
    /// Matches played by each pairing, or in a ladder by each bot, rounded up to whole blocks. The other formats have their
    /// own lengths.
    #[serde(default)]
    pub games: Option<u64>,
    /// Who plays whom; by default a round robin.
    #[serde(default)]
    pub format: Option<FormatName>,
    /// Rounds of a swiss tournament.
    #[serde(default)]
    pub rounds: Option<u32>,
    /// Blocks per encounter in knockout and double elimination.
    #[serde(default)]
    pub best_of: Option<u32>,
    /// How many advance from a heat.
    #[serde(default)]
    pub advance: Option<usize>,
    /// A ladder finds out only who the best ones are, this many; `agon serve` says how certain that is.
    #[serde(default)]
    pub decide_top: Option<usize>,
    /// A journal, or the folder of a series, whose ratings seed the bots.
    #[serde(default)]
    pub seeding: Option<String>,
    /// `original` or `site-2026`.
    #[serde(default)]
    pub clock: Option<String>,
    /// Multiplies all time limits.
    #[serde(default)]
    pub time_scale: Option<f64>,
    /// No answer may take longer than this: `500ms`, `2s`.
    #[serde(default)]
    pub time_limit: Option<String>,
    /// Limit on the total time of a seat's answers in one match: `300s`.
    #[serde(default)]
    pub time_total: Option<String>,
    /// `stop` or `allow`.
    #[serde(default)]
    pub ponder: Option<String>,
    /// The bots of a tournament.
    #[serde(default)]
    pub bots: Vec<ContestBot>,
    /// What else `agon serve` needs to know.
    #[serde(default)]
    pub site: SiteSection,
    /// How the ladder of `agon serve` is played.
    #[serde(default)]
    pub ladder: LadderSection,
    /// How the bots of `agon serve` are confined.
    #[serde(default)]
    pub sandbox: SandboxSection,
    /// What machines that join must be like; only `agon serve` reads it.
    #[serde(default)]
    pub workers: WorkersSection,
    /// The path and the text of the file, which errors point into.
    #[serde(skip)]
    source: (String, String),
}

/// The section `[site]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SiteSection {
    /// The name of the contest; by default the folder's.
    pub title: Option<String>,
    /// Built-in bots on the ladder; by default all of the game's.
    pub bosses: Option<Vec<String>>,
    /// The time zone of the dates, such as `Europe/Vienna`; by default UTC.
    pub time_zone: Option<String>,
    /// When uploads open.
    pub opens: Option<Date>,
    /// When uploads close.
    pub closes: Option<Date>,
    /// The most people in one team; by default one.
    pub team_size: Option<u8>,
    /// Who may sign up; by default nobody.
    pub sign_up: Option<SignUpWord>,
    /// Addresses or networks of proxies before the one on this machine, which append to `X-Forwarded-For` as well.
    pub trusted_proxies: Vec<String>,
    /// Wrong passwords for one account from one address in a quarter of an hour; by default ten.
    pub wrong_passwords: Option<u32>,
    /// The program that sends mail, with its arguments; by default none is sent.
    pub mail: Vec<String>,
    /// Whoever hands in needs a mail address of one of these domains; by default of none.
    pub mail_domains: Vec<String>,
    /// The address that hears of a new leader and of announcements; by default none does.
    pub webhook: Option<WebhookAddress>,
    /// Whether it also hears the verdict on each version.
    pub webhook_verdicts: bool,
    /// The folder that gets what is public, once a night; by default none does.
    pub nightly: Option<PathBuf>,
}

/// The address of a webhook. Whoever knows it can write there, so it is not shown, not even by accident.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct WebhookAddress(pub String);

impl fmt::Debug for WebhookAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookAddress")
    }
}

/// A date with a time, as in TOML.
pub type Date = toml::value::Datetime;

/// The section `[ladder]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LadderSection {
    /// The number of rated matches a version plays, apart from those in which others need it.
    pub matches: u32,
}

impl Default for LadderSection {
    fn default() -> Self {
        Self { matches: 400 }
    }
}

/// The section `[sandbox]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SandboxSection {
    /// The lowest level at which bots are played; written down when the first machine plays.
    pub level: Option<Level>,
    /// The organiser trusts everybody who uploads: their bots also run where this machine cannot confine them.
    pub trust_bots: bool,
    /// The memory of each bot, in bytes; in megabytes in the file.
    #[serde(deserialize_with = "megabytes")]
    pub memory: Option<u64>,
    /// The image that all bots and builds run in, by its hash.
    pub image: Option<String>,
    /// Folders with packages that all bots and builds can read.
    pub packages: Vec<String>,
    /// Environment variables that lead to them.
    pub env: BTreeMap<String, String>,
}

/// Reads a number of megabytes that a bot can have, as bytes.
fn megabytes<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    let megabytes = u64::deserialize(from)?;
    let wrong = |why| serde::de::Error::custom(format!("`memory` must be {why}"));
    check_memory(megabytes).map_err(wrong)?;
    Ok(Some(megabytes << 20))
}

/// The section `[workers]`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WorkersSection {
    /// The speed of the contest, in the unit of `agon work`; by default that of the machine that runs it, or of the first
    /// that joins.
    pub speed: Option<f64>,
    /// How many per cent slower or faster a machine that joins may be.
    pub tolerance: f64,
}

impl Default for WorkersSection {
    fn default() -> Self {
        Self { speed: None, tolerance: 20.0 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FormatName {
    /// Everybody meets everybody equally often.
    RoundRobin,
    /// Rounds in which bots of equal points meet.
    Swiss,
    /// The loser of an encounter is out.
    Knockout,
    /// A bot that has lost two encounters is out.
    DoubleElimination,
    /// Each match is between those whose meeting tells most.
    Ladder,
}

/// A bot of a contest: a name, or a name with a label.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged, expecting = "a bot is a string, or { bot = \"...\", label = \"...\" }")]
pub enum ContestBot {
    /// `"bots/alice"`
    Name(String),
    /// `{ bot = "bots/alice", label = "Alice" }`
    Labelled(Labelled),
}

/// A bot with a label.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Labelled {
    pub bot: String,
    /// Its name in tables.
    pub label: String,
}

impl ContestFile {
    /// Reads a file; file names in it become relative to the working directory.
    ///
    /// # Errors
    /// A message that points into the file.
    pub fn read(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let about = std::fs::metadata(path).map_err(|error| format!("{shown}: {error}"))?;
        if about.len() > LARGEST {
            return Err(format!("{shown}: larger than 1 MiB"));
        }
        let text = std::fs::read_to_string(path).map_err(|error| format!("{shown}: {error}"))?;
        let mut file = Self::parse(&text).map_err(|why| format!("{shown}{why}"))?;
        file.source.0 = shown.to_string();
        let folder = path.parent().unwrap_or(Path::new(""));
        let here = |name: &mut String| {
            let moved = folder.join(&*name);
            if moved.exists() {
                *name = moved.display().to_string();
            }
        };
        file.rules.iter_mut().for_each(here);
        file.seeding.iter_mut().for_each(here);
        file.maps.iter_mut().for_each(here);
        file.sandbox.packages.iter_mut().for_each(here);
        for bot in &mut file.bots {
            let (ContestBot::Name(name) | ContestBot::Labelled(Labelled { bot: name, .. })) = bot;
            if !["cmd:", "builtin:", "git:"].iter().any(|prefix| name.starts_with(prefix)) {
                *name = folder.join(&*name).display().to_string();
            }
        }
        Ok(file)
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// `:line:column: what is wrong`, with the line itself.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut file: Self = toml::from_str(text).map_err(|error| {
            let why = toml_error(text, &error, hint);
            // A line that holds a secret is not quoted.
            match why.split_once('\n') {
                Some((why, line)) if line.contains("webhook") => why.to_owned(),
                _ => why,
            }
        })?;
        text.clone_into(&mut file.source.1);
        Ok(file)
    }

    /// Whether it names this key of a section; of no section if that is empty.
    pub fn names(&self, section: &str, key: &str) -> bool {
        let Ok(file) = self.source.1.parse::<toml::Table>() else { return false };
        let within = match section {
            "" => Some(&file),
            section => file.get(section).and_then(toml::Value::as_table),
        };
        within.is_some_and(|table| table.contains_key(key))
    }

    /// The problem with this key, with the file and the line it is in.
    pub fn wrong(&self, key: &str, why: &str) -> String {
        let (path, text) = &self.source;
        let span = DeTable::parse(text).ok().and_then(|table| {
            table.get_ref().iter().find(|(own, _)| own.get_ref() == key).map(|(own, _)| own.span())
        });
        match span {
            Some(span) => format!("{path}{}", at(text, span, &format!("`{key}`: {why}"))),
            None => format!("{path}: `{key}`: {why}"),
        }
    }
}

/// Suggests the key that was probably meant.
fn hint(line: &str) -> String {
    const KEYS: &[&str] = &[
        "game",
        "rules",
        "set",
        "maps",
        "seats",
        "seed",
        "games",
        "format",
        "rounds",
        "best_of",
        "advance",
        "decide_top",
        "seeding",
        "clock",
        "time_scale",
        "time_limit",
        "time_total",
        "ponder",
        "bots",
        "title",
        "bosses",
        "trusted_proxies",
        "wrong_passwords",
        "mail",
        "mail_domains",
        "webhook",
        "webhook_verdicts",
        "nightly",
        "matches",
        "[site]",
        "[ladder]",
        "level",
        "trust_bots",
        "memory",
        "packages",
        "env",
        "[sandbox]",
    ];
    let key = line.split('=').next().unwrap_or("").trim();
    let nearest = agon_game::setup::nearest(key, KEYS.iter().copied()).filter(|_| !KEYS.contains(&key));
    nearest.map(|key| format!("; did you mean `{key}`?")).unwrap_or_default()
}

impl ContestBot {
    /// The bot, and its label if it has one.
    pub fn parts(&self) -> (&str, Option<&str>) {
        match self {
            Self::Name(bot) => (bot, None),
            Self::Labelled(Labelled { bot, label }) => (bot, Some(label)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "game = 'cultist-wars'\nset = { turns = 60 }\nseed = 1000\ngames = 20\nbots = [\n  'builtin:greedy',\n  \
                         { bot = 'bots/alice', label = 'Alice' },\n]\n";

    #[test]
    fn a_whole_file_is_read() {
        let file = ContestFile::parse(WHOLE).expect("a good file");
        assert_eq!((file.game.as_str(), file.seed, file.games), ("cultist-wars", Some(1000), Some(20)));
        assert_eq!((file.site, file.ladder.matches), (SiteSection::default(), 400));
        assert_eq!(file.bots[0].parts(), ("builtin:greedy", None));
        assert_eq!(file.bots[1].parts(), ("bots/alice", Some("Alice")));
        assert_eq!(file.set["turns"].as_integer(), Some(60));
    }

    #[test]
    fn the_address_of_a_webhook_is_not_quoted() {
        let parsed = |line: &str| ContestFile::parse(&format!("game = 'g'\n[site]\n{line}\n"));
        let file = parsed("webhook = 'https://chat.example/secret'").expect("a good file");
        assert!(!format!("{:?}", file.site).contains("chat"));
        for wrong in ["webhook = 'https://chat.example/secret", "webhook = ['https://chat.example/secret']"] {
            let why = parsed(wrong).expect_err("no text");
            assert!(why.starts_with(":3:") && !why.contains("secret"), "{why}");
        }
        let why = parsed("webhok = 'x'").expect_err("no such key");
        assert!(why.contains("did you mean `webhook`?") && why.contains("3 | webhok = 'x'"), "{why}");
    }

    #[test]
    fn sections_of_a_site_stand_beside_those_of_a_tournament() {
        let site = "[site]\ntitle = 'Autumn'\nbosses = ['builtin:greedy']\n[ladder]\nmatches = 50\n";
        let file = ContestFile::parse(&format!("{WHOLE}{site}")).expect("a good file");
        assert_eq!(file.site.title.as_deref(), Some("Autumn"));
        assert_eq!((file.site.bosses, file.ladder.matches), (Some(vec!["builtin:greedy".to_owned()]), 50));
        assert_eq!(file.sandbox, SandboxSection::default());
        let held =
            "[sandbox]\nlevel = 'B'\ntrust_bots = true\npackages = ['env']\nenv = { PYTHONPATH = '/env' }\n";
        let held = ContestFile::parse(&format!("game = 'g'\n{held}")).expect("a good file").sandbox;
        assert_eq!(held.level, Some(Level::B));
        assert!(held.trust_bots && held.packages == ["env"] && held.env["PYTHONPATH"] == "/env");
        let memory = |text: &str| ContestFile::parse(&format!("game = 'g'\n[sandbox]\nmemory = {text}\n"));
        assert_eq!(memory("512").expect("a good file").sandbox.memory, Some(512 << 20));
        for wrong in ["0", "31", "-1", "1e3", "'512 MB'", "99999999999"] {
            let why = memory(wrong).expect_err(wrong);
            assert!(why.starts_with(":3:10: ") && why.contains(&format!("3 | memory = {wrong}")), "{why}");
        }
        let wrong = ContestFile::parse("game = 'g'\n[sandbox]\ntrust_bot = true\n").unwrap_err();
        assert!(wrong.contains("trust_bots"), "{wrong}");
        let alone = ContestFile::parse(&format!("game = 'cultist-wars'\n{site}")).expect("a good file");
        assert_eq!((alone.seed, alone.bots.len()), (None, 0));
        let error =
            ContestFile::parse(&format!("game = 'g'\n{}", site.replace("title", "titel"))).unwrap_err();
        assert!(
            error.starts_with(":3:1: unknown field `titel`") && error.contains("did you mean `title`?"),
            "{error}"
        );
    }

    #[test]
    fn errors_point_into_the_file() {
        let error = ContestFile::parse(&WHOLE.replace("seed =", "seeed =")).unwrap_err();
        assert!(error.starts_with(":3:1: unknown field `seeed`"), "{error}");
        assert!(error.contains("did you mean `seed`?") && error.contains("3 | seeed = 1000"), "{error}");
        let error = ContestFile::parse(&format!("format = 'swis'\n{WHOLE}")).unwrap_err();
        assert!(error.starts_with(":1:10: unknown variant `swis`"), "{error}");
        assert!(error.contains("`swiss`, `knockout`") && error.contains("1 | format = 'swis'"), "{error}");
        let file =
            ContestFile::parse(&format!("{WHOLE}format = 'swiss'\nrounds = 9\n")).expect("a good file");
        let wrong = file.wrong("rounds", "too many");
        assert!(
            wrong.starts_with(":10:1: `rounds`: too many") && wrong.contains("10 | rounds = 9"),
            "{wrong}"
        );
        assert_eq!(file.wrong("best_of", "why"), ": `best_of`: why");
        let error = ContestFile::parse(&WHOLE.replace("label", "lable")).unwrap_err();
        assert!(error.contains("a bot is a string, or"), "{error}");
    }

    #[test]
    fn files_are_found_beside_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("contest.toml");
        std::fs::write(&path, format!("rules = 'mine.toml'\nmaps = ['generate', 'a.map']\n{WHOLE}"))
            .expect("written");
        std::fs::write(folder.path().join("mine.toml"), "").expect("written");
        let file = ContestFile::read(&path).expect("a good file");
        assert_eq!(file.rules, Some(folder.path().join("mine.toml").display().to_string()));
        assert_eq!(file.maps, ["generate", "a.map"], "what is no file stays a name");
        assert_eq!(file.bots[1].parts().0, folder.path().join("bots/alice").display().to_string());
    }
}
