//! What a game offers to bot authors, and what its contest accepts from them.

/// A bot to start from: `agon new` writes its files.
#[derive(Clone, Copy, Debug)]
pub struct Starter {
    /// What it is written in.
    pub language: StarterLanguage,
    /// The file with the strategy, which is what its author changes.
    pub strategy: &'static str,
    /// The command that runs its own test, inside its folder.
    pub test: &'static str,
    /// Its files, as `(path inside its folder, text)`.
    pub files: &'static [(&'static str, &'static str)],
}

/// A starter: its language, its strategy, the command of its test; then its folder in `bots` and what lies there besides the four
/// files that every starter has, unchanged, and files from elsewhere in the game under another name. For use in a file of the
/// game's `src`.
#[macro_export]
macro_rules! starter {
    ($language:ident, $strategy:literal, $test:literal,
        $folder:literal: $($file:literal)+ $(, $name:literal from $path:literal)*) => {
        $crate::starter!(@ $language, $strategy, $test, $folder:
            "README.md" "agon.toml" ".gitignore" $($file)+ "test/input.txt" $(, $name from $path)*)
    };
    (@ $language:ident, $strategy:literal, $test:literal,
        $folder:literal: $($file:literal)+ $(, $name:literal from $path:literal)*) => {
        $crate::Starter {
            language: $crate::StarterLanguage::$language,
            strategy: $strategy,
            test: $test,
            files: &[
                $(($file, include_str!(concat!("../bots/", $folder, "/", $file))),)+
                $(($name, include_str!(concat!("../", $path))),)*
            ],
        }
    };
}

/// A language that starters are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StarterLanguage {
    /// Python.
    Python,
    /// JavaScript.
    JavaScript,
    /// C++.
    Cpp,
    /// Rust.
    Rust,
    /// Java.
    Java,
    /// TypeScript.
    TypeScript,
    /// Go.
    Go,
    /// Kotlin.
    Kotlin,
    /// C#.
    CSharp,
}

impl StarterLanguage {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Python,
        Self::JavaScript,
        Self::Cpp,
        Self::Rust,
        Self::Java,
        Self::TypeScript,
        Self::Go,
        Self::Kotlin,
        Self::CSharp,
    ];

    /// The name in commands first, then other names people type.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Self::Python => &["python", "py", "python3"],
            Self::JavaScript => &["javascript", "js", "node", "nodejs"],
            Self::Cpp => &["cpp", "c++", "cxx"],
            Self::Rust => &["rust", "rs"],
            Self::Java => &["java"],
            Self::TypeScript => &["typescript", "ts"],
            Self::Go => &["go", "golang"],
            Self::Kotlin => &["kotlin", "kt"],
            Self::CSharp => &["csharp", "c#", "cs"],
        }
    }

    /// The name in commands, which is also the name of its folder in `bots`.
    pub fn name(self) -> &'static str {
        self.names()[0]
    }

    /// The name people read.
    pub fn title(self) -> &'static str {
        match self {
            Self::Python => "Python",
            Self::JavaScript => "JavaScript",
            Self::Cpp => "C++",
            Self::Rust => "Rust",
            Self::Java => "Java",
            Self::TypeScript => "TypeScript",
            Self::Go => "Go",
            Self::Kotlin => "Kotlin",
            Self::CSharp => "C#",
        }
    }
}

/// The form in which a contest accepts bots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandIn {
    /// One source file, refused above a size in bytes.
    Source {
        /// The allowed file name endings; `None` allows those of every language.
        endings: Option<&'static [&'static str]>,
        /// The largest size in bytes.
        largest: u64,
    },
    /// A zip without folders that holds this file.
    Flat(&'static str),
    /// A zip of a folder that holds one of these files; any folder if none are named.
    Folder(&'static [&'static str]),
}
