//! What people are advised to type.

use std::fmt;

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
    /// The cache cannot be written.
    SetCache,
    /// The disk of the cache is full.
    MoveCache,
}

impl Advised {
    /// The ids of all kinds.
    pub const IDS: [&'static str; 8] = [
        "convert",
        "make-executable",
        "name-with-folder",
        "name-inner",
        "name-file",
        "build",
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
            Self::SetCache => 6,
            Self::MoveCache => 7,
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
            Self::Build(bot) => write!(f, "agon build {}", typed(bot)),
            Self::SetCache => f.write_str("set AGON_CACHE to a folder that you may write"),
            Self::MoveCache => f.write_str("make room, or set AGON_CACHE to a folder on another disk"),
        }
    }
}
