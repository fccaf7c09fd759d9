//! What people are advised to type.

use std::fmt;
use std::path::Path;

use crate::words::typed;

/// What is to be done, where that is a command or a name to type. All of it is made here: each kind has an id, and for each id a test
/// brings the situation about, types what is advised, and looks at what comes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advised {
    /// This script has Windows line endings.
    Convert(String),
    /// This file may not be executed.
    MakeExecutable(String),
    /// The program lies in the bot's folder and is looked for on the PATH.
    NameWithFolder(String),
    /// The bot lies further inside what was named.
    NameInner(String),
    /// The file is the bot, and its folder was named.
    NameFile(String),
    /// The bot has to be built first.
    Build(String),
    /// Something that it needs is missing, and this installs it.
    Install(String),
    /// Something that it needs is not where bots of a contest run, and this has it come along.
    BringAlong(String),
    /// The cache cannot be written.
    SetCache,
    /// The disk of the cache is full.
    MoveCache,
}

impl Advised {
    /// The ids of all kinds.
    pub const IDS: [&'static str; 10] = [
        "convert",
        "make-executable",
        "name-with-folder",
        "name-inner",
        "name-file",
        "build",
        "install",
        "bring-along",
        "set-cache",
        "move-cache",
    ];

    /// The id of its kind.
    pub fn id(&self) -> &'static str {
        let place = match self {
            Self::Convert(_) => 0,
            Self::MakeExecutable(_) => 1,
            Self::NameWithFolder(_) => 2,
            Self::NameInner(_) => 3,
            Self::NameFile(_) => 4,
            Self::Build(_) => 5,
            Self::Install(_) => 6,
            Self::BringAlong(_) => 7,
            Self::SetCache => 8,
            Self::MoveCache => 9,
        };
        Self::IDS[place]
    }
}

impl fmt::Display for Advised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Convert(file) => write!(f, "convert it: sed -i 's/\\r$//' {}", typed(file)),
            Self::MakeExecutable(file) => write!(f, "try chmod +x {}", typed(file)),
            Self::NameWithFolder(program) => {
                write!(f, "for the file in the bot's folder write {}", typed(&format!("./{program}")))
            }
            Self::NameInner(bot) => write!(f, "the bot is further inside: name {}", typed(bot)),
            Self::NameFile(file) => write!(f, "name the file itself: {}", typed(file)),
            Self::Build(bot) => f.write_str(&NextCommand::Build.about([bot])),
            Self::Install(how) => write!(f, "install it: {how}"),
            Self::BringAlong(how) => write!(f, "put it into its folder: {how}"),
            Self::SetCache => f.write_str("set AGON_CACHE to a folder that you may write"),
            Self::MoveCache => f.write_str("make room, or set AGON_CACHE to a folder on another disk"),
        }
    }
}

/// The commands of agon that messages advise, each with its id.
macro_rules! commands {
    ($($name:ident $id:literal $line:literal)*) => {
        /// A command of agon to type next. In its line `{}` stands for one thing that it is about, `{..}` for all the rest; capital letters
        /// are for the reader to fill in.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum NextCommand {
            $(#[doc = concat!("`", $line, "`.")] $name,)*
        }

        impl NextCommand {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Its id.
            pub const fn id(self) -> &'static str {
                match self { $(Self::$name => $id),* }
            }

            /// Its line, without what it is about.
            pub const fn line(self) -> &'static str {
                match self { $(Self::$name => $line),* }
            }
        }
    };
}

commands! {
    Build "build" "agon build {}"
    CheckBot "check" "agon check GAME {}"
    Explain "explain" "agon explain {}"
    Gauntlet "gauntlet" "agon gauntlet {..}"
    ImageAdd "image-add" "agon image build --add {}"
    ImageGet "image-get" "agon image get {}"
    ImageNpm "image-npm" "agon image build JavaScript --npm {}"
    ImagePip "image-pip" "agon image build Python --pip {}"
    Login "login" "agon login {}"
    LoginFile "login-file" "agon login {} --token-file {}"
    LogsOfMatch "logs-of-match" "agon logs --match {}"
    LogsOfVersion "logs-of-version" "agon logs {}"
    MakeMap "make-map" "agon maps {} generate --draw --seed N"
    Maps "maps" "agon maps {}"
    MapsCheck "maps-check" "agon maps check --game GAME {}"
    New "new" "agon new {} {} my-bot"
    Play "play" "agon play {..}"
    ReplayFeed "replay-feed" "agon replay feed {} BOT --seat 1"
    ReplayGet "replay-get" "agon replay get {}"
    ReplayInfo "replay-info" "agon replay info {}"
    ReplayShow "replay-show" "agon replay show {} --turn {}"
    ServeAdd "serve-add" "agon serve add {} BOT --team NAME"
    ServeNew "serve-new" "agon serve {} --new GAME"
    ServeClock "serve-clock" "agon serve clock {} --confirm"
    ServeContinue "serve-continue" "agon serve resume {}"
    ServePause "serve-pause" "agon serve pause {}"
    ServeResume "serve-resume" "agon serve {}"
    ServeRevoke "serve-revoke" "agon serve revoke {} {}"
    ServeSet "serve-set" "agon serve set {} KEY=VALUE"
    ServeStatus "serve-status" "agon serve status {}"
    ServeWorkers "serve-workers" "agon serve workers {}"
    SprtOn "sprt-on" "agon sprt GAME NEW OLD --on {}"
    Submit "submit" "agon submit {}"
    Verify "verify" "agon verify {}"
    Watch "watch" "agon watch {}"
    Work "work" "agon work {} --token-file {}"
}

impl NextCommand {
    /// The line to type about these, each in quotes where a shell needs them.
    pub fn about<T: AsRef<str>>(self, about: impl IntoIterator<Item = T>) -> String {
        let mut about = about.into_iter().map(|one| typed(one.as_ref()));
        let mut line = String::new();
        let mut rest = self.line();
        while let Some((before, after)) = rest.split_once('{') {
            line += before;
            rest = match after.strip_prefix("..}") {
                Some(after) => {
                    line += &about.by_ref().collect::<Vec<_>>().join(" ");
                    after
                }
                None => {
                    line += &about.next().unwrap_or_default();
                    after.strip_prefix('}').unwrap_or(after)
                }
            };
        }
        line + rest
    }

    /// The same about one path.
    pub fn at(self, path: &Path) -> String {
        self.about([path.to_string_lossy()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_to_be_typed_is_quoted() {
        assert_eq!(
            NextCommand::ServeRevoke.about(["my cup", "hall 2"]),
            "agon serve revoke 'my cup' 'hall 2'"
        );
        assert_eq!(NextCommand::Play.about(["nim", "a b", "c"]), "agon play nim 'a b' c");
        assert_eq!(NextCommand::ReplayShow.about(["x.replay", "4"]), "agon replay show x.replay --turn 4");
        assert_eq!(NextCommand::ServeAdd.at(Path::new("it's")), "agon serve add \"it's\" BOT --team NAME");
    }
}
