//! `agon new`: a small, complete, tested bot to begin with. The files lie inside this program, so that neither a
//! checkout nor a network is needed; they are the example bots of `games/*/bots`, written once.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use agon_bot::manifest::{self, Command, Manifest};
use agon_game::setup::nearest;
use clap::Args;
use serde_json::{Value, json};

use crate::common::screen;
use crate::common::{self, Done, Failure};

/// Examples for the help.
pub const EXAMPLES: &str = "Without arguments it lists what there is.

Examples:
  agon new                                 every game and its languages
  agon new cultist-wars python my-bot      a Python bot in the new folder my-bot";

/// Options of `agon new`.
#[derive(Args, Debug)]
pub struct NewOptions {
    /// The game (see `agon games`)
    pub game: Option<String>,
    /// The language
    pub language: Option<String>,
    /// The folder of the bot, which is made
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Prints what there is, or what was made, as JSON
    #[arg(long)]
    pub json: bool,
}

/// A bot to begin with.
struct Starter {
    game: &'static str,
    language: Language,
    /// Where the strategy is, which is what its author changes.
    strategy: &'static str,
    /// What runs its own test, inside its folder.
    test: &'static str,
    files: &'static [(&'static str, &'static str)],
}

/// The files of a folder of `games`, as they are, and files from elsewhere in `games` under another name.
macro_rules! files {
    ($folder:literal: $($file:literal)+ $(, $name:literal from $path:literal)*) => {
        &[
            $(($file, include_str!(concat!("../../../../games/", $folder, "/", $file))),)+
            $(($name, include_str!(concat!("../../../../games/", $path))),)*
        ]
    };
}

/// All starters: by game, the easiest language first.
const STARTERS: &[Starter] = &[
    Starter {
        game: "cultist-wars",
        language: Language::Python,
        strategy: "bot.py",
        test: "python3 test/test_bot.py",
        files: files!("cultist-wars/bots/python": "README.md" "agon.toml" ".gitignore" "bot.py" "test/test_bot.py" "test/input.txt"),
    },
    Starter {
        game: "cultist-wars",
        language: Language::JavaScript,
        strategy: "bot.js",
        test: "node test/bot.test.js",
        files: files!("cultist-wars/bots/javascript": "README.md" "agon.toml" ".gitignore" "bot.js" "test/bot.test.js" "test/input.txt"),
    },
    Starter {
        game: "cultist-wars",
        language: Language::Cpp,
        strategy: "bot.cpp",
        test: "g++ -std=c++17 -Wall -o test/run test/test.cpp && test/run",
        files: files!("cultist-wars/bots/cpp": "README.md" "agon.toml" ".gitignore" "bot.cpp" "test/test.cpp" "test/input.txt"),
    },
    Starter {
        game: "cultist-wars",
        language: Language::Rust,
        strategy: "bot.rs",
        test: "cargo test --target-dir target",
        files: files!("cultist-wars/bots/rust": "README.md" "agon.toml" ".gitignore" "Cargo.toml" "bot.rs" "test/test.rs" "test/input.txt"),
    },
    Starter {
        game: "cultist-wars",
        language: Language::Java,
        strategy: "Player.java",
        test: "javac -d out Player.java test/PlayerTest.java && java -cp out PlayerTest",
        files: files!("cultist-wars/bots/java": "README.md" "agon.toml" ".gitignore" "Player.java" "test/PlayerTest.java" "test/input.txt"),
    },
    Starter {
        game: "cultist-wars",
        language: Language::TypeScript,
        strategy: "bot.ts",
        test: "tsc --target es2020 --module commonjs --outDir out bot.ts && node test/bot.test.js",
        files: files!("cultist-wars/bots/typescript": "README.md" "agon.toml" ".gitignore" "bot.ts" "test/bot.test.js" "test/input.txt"),
    },
    Starter {
        game: "cultist-wars",
        language: Language::Go,
        strategy: "bot.go",
        test: "cp bot.go test/ && go test test/bot.go test/bot_test.go",
        files: files!("cultist-wars/bots/go": "README.md" "agon.toml" ".gitignore" "bot.go" "test/bot_test.go" "test/input.txt"),
    },
    Starter {
        game: "cultist-wars",
        language: Language::Kotlin,
        strategy: "bot.kt",
        test: "kotlinc bot.kt test/test.kt -include-runtime -d test/run.jar && java -cp test/run.jar TestKt",
        files: files!("cultist-wars/bots/kotlin": "README.md" "agon.toml" ".gitignore" "bot.kt" "test/test.kt" "test/input.txt"),
    },
    Starter {
        game: "cultist-wars",
        language: Language::CSharp,
        strategy: "bot.cs",
        test: "mcs -main:BotTest -out:test/run.exe bot.cs test/test.cs && mono test/run.exe",
        files: files!("cultist-wars/bots/csharp": "README.md" "agon.toml" ".gitignore" "bot.cs" "test/test.cs" "test/input.txt"),
    },
    Starter {
        game: "deerhunt",
        language: Language::Python,
        strategy: "grid_player.py",
        test: "python3 test/test_grid_player.py",
        files: files!("deerhunt/bots/python": "README.md" "agon.toml" ".gitignore" "grid_player.py" "test/test_grid_player.py" "test/input.txt",
            "test/client/helper_classes.py" from "deerhunt/client/2019/helper_classes.py",
            "test/client/move.py" from "deerhunt/client/2019/move.py"),
    },
    Starter {
        game: "deerhunt",
        language: Language::JavaScript,
        strategy: "strategy.js",
        test: "node test/strategy.test.js",
        files: files!("deerhunt/bots/javascript": "README.md" "agon.toml" ".gitignore" "strategy.js" "bot.js" "test/strategy.test.js" "test/input.txt"),
    },
    Starter {
        game: "jungle-blitz",
        language: Language::Python,
        strategy: "brain.py",
        test: "python3 test/test_brain.py",
        files: files!("jungle-blitz/bots/python": "README.md" "agon.toml" ".gitignore" "brain.py" "game.py" "application.py" "websocket.py" "with_websockets.py" "test/test_brain.py" "test/input.txt"),
    },
    Starter {
        game: "jungle-blitz",
        language: Language::JavaScript,
        strategy: "brain.js",
        test: "node test/brain.test.js",
        files: files!("jungle-blitz/bots/javascript": "README.md" "agon.toml" ".gitignore" "package.json" "brain.js" "game.js" "bot.js" "test/brain.test.js" "test/input.txt"),
    },
    Starter {
        game: "jungle-blitz",
        language: Language::Java,
        strategy: "Brain.java",
        test: "javac -d target/test *.java test/*.java && java -cp target/test BrainTest",
        files: files!("jungle-blitz/bots/java": "README.md" "agon.toml" ".gitignore" "build.sh" "Brain.java" "Game.java" "Bot.java" "Json.java" "test/BrainTest.java" "test/input.txt"),
    },
    Starter {
        game: "ostibot",
        language: Language::JavaScript,
        strategy: "bot.js",
        test: "node test/bot.test.js",
        files: files!("ostibot/bots/javascript": "README.md" "agon.toml" ".gitignore" "package.json" "bot.js" "ostibot.d.ts" "test/bot.test.js" "test/input.txt"),
    },
    Starter {
        game: "ostibot",
        language: Language::Python,
        strategy: "strategy.py",
        test: "python3 test/test_strategy.py",
        files: files!("ostibot/bots/python": "README.md" "agon.toml" ".gitignore" "strategy.py" "game.py" "test/test_strategy.py" "test/input.txt"),
    },
    Starter {
        game: "terminal",
        language: Language::Python,
        strategy: "strategy.py",
        test: "python3 test/test_strategy.py",
        files: files!("terminal/bots/python": "README.md" "agon.toml" ".gitignore" "algo.json" "run.sh" "strategy.py" "terminal.py" "test/test_strategy.py" "test/input.txt"),
    },
    Starter {
        game: "terminal",
        language: Language::JavaScript,
        strategy: "strategy.js",
        test: "node test/strategy.test.js",
        files: files!("terminal/bots/javascript": "README.md" "agon.toml" ".gitignore" "algo.json" "run.sh" "strategy.js" "terminal.js" "test/strategy.test.js" "test/input.txt"),
    },
    Starter {
        game: "terminal",
        language: Language::Rust,
        strategy: "src/strategy.rs",
        test: "cargo test --target-dir target",
        files: files!("terminal/bots/rust": "README.md" "agon.toml" ".gitignore" "algo.json" "run.sh" "build.sh" "Cargo.toml" "src/main.rs" "src/strategy.rs" "src/terminal.rs" "src/json.rs" "test/test.rs" "test/input.txt"),
    },
    Starter {
        game: "terminal",
        language: Language::Java,
        strategy: "src/Strategy.java",
        test: "javac -d target/test src/*.java test/*.java && java -cp target/test StrategyTest",
        files: files!("terminal/bots/java": "README.md" "agon.toml" ".gitignore" "algo.json" "run.sh" "build.sh" "src/Strategy.java" "src/Terminal.java" "src/Json.java" "test/StrategyTest.java" "test/input.txt"),
    },
];

/// A language, its other names, and what it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    Python,
    JavaScript,
    Cpp,
    Rust,
    Java,
    TypeScript,
    Go,
    Kotlin,
    CSharp,
}

/// A program that must be installed.
struct Tool {
    program: &'static str,
    /// The oldest version that will do.
    least: u32,
    /// How to get it.
    how: &'static str,
}

impl Language {
    const ALL: [Self; 9] = [
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
    fn names(self) -> &'static [&'static str] {
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

    fn name(self) -> &'static str {
        self.names()[0]
    }

    fn title(self) -> &'static str {
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

    fn tool(self) -> Tool {
        let (program, least, how) = match self {
            Self::Python => {
                ("python3", 3, "apt install python3, brew install python, or https://www.python.org")
            }
            Self::JavaScript => ("node", 20, "https://nodejs.org, or brew install node"),
            Self::Cpp => ("g++", 8, "apt install g++, or xcode-select --install"),
            Self::Rust => ("cargo", 1, "https://rustup.rs"),
            Self::Java => {
                ("javac", 17, "apt install openjdk-17-jdk, brew install openjdk, or https://adoptium.net")
            }
            Self::TypeScript => ("tsc", 4, "npm install --global typescript, or apt install node-typescript"),
            Self::Go => ("go", 1, "apt install golang-go, brew install go, or https://go.dev"),
            Self::Kotlin => {
                ("kotlinc", 1, "apt install kotlin, brew install kotlin, or https://kotlinlang.org")
            }
            Self::CSharp => ("mcs", 5, "apt install mono-mcs mono-runtime, or brew install mono"),
        };
        Tool { program, least, how }
    }
}

/// Runs `agon new`.
pub fn run(options: &NewOptions) -> Done {
    let NewOptions { game, language, folder, json } = options;
    let Some(game) = game else { return list(STARTERS.iter(), *json) };
    let game = common::game(game)?.info();
    let of_game = || STARTERS.iter().filter(|starter| starter.game == game.name);
    let Some(language) = language else { return list(of_game(), *json) };
    let starter = find(game.title, of_game, language)?;
    let Some(folder) = folder else {
        return Err(Failure::usage(format!(
            "name the folder for the bot: agon new {} {} my-bot",
            game.name,
            starter.language.name()
        )));
    };
    write_all(starter, folder)?;
    if *json {
        let made =
            json!({ "folder": folder, "starter": starter.json(), "missing": missing(starter.language) });
        writeln!(io::stdout(), "{made:#}")?;
    } else {
        report(starter, game.title, folder)?;
    }
    Ok(())
}

/// The starter that `language` names.
fn find<I: Iterator<Item = &'static Starter>>(
    game: &str,
    of_game: impl Fn() -> I,
    language: &str,
) -> Result<&'static Starter, Failure> {
    let typed = language.to_lowercase();
    let known = Language::ALL.into_iter().find(|known| known.names().contains(&typed.as_str()));
    if let Some(starter) = of_game().find(|starter| Some(starter.language) == known) {
        return Ok(starter);
    }
    let names: Vec<&str> = of_game().map(|starter| starter.language.name()).collect();
    let hint = match known {
        Some(_) => String::new(),
        None => nearest(&typed, names.iter().copied())
            .map(|name| format!("; did you mean `{name}`?"))
            .unwrap_or_default(),
    };
    Err(Failure::usage(format!(
        "there is no {game} starter in `{language}`{hint}\n  languages: {}\n  \
         A bot can be in any language: `agon docs` describes what it reads and writes",
        names.join(", ")
    )))
}

/// Writes the files, or leaves nothing behind.
fn write_all(starter: &Starter, folder: &Path) -> Done {
    let shown = folder.display();
    match fs::read_dir(folder).map(|mut entries| entries.next().is_some()) {
        Ok(false) => {}
        Ok(true) => {
            return Err(Failure::usage(format!(
                "{shown} is not empty; name a new folder, nothing was written"
            )));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(Failure::usage(format!("{shown} is a file; name a new folder")));
        }
        Err(error) => return Err(Failure::own(format!("{shown}: {error}"))),
    }
    let made_before = folder.exists();
    let written = starter.files.iter().try_for_each(|(name, text)| write(&folder.join(name), text));
    if let Err((path, error)) = written {
        // Everything in it is ours: it was empty or not there.
        for (name, _) in starter.files {
            let _ = fs::remove_file(folder.join(name));
        }
        for inside in ["test/client", "test", "src"] {
            let _ = fs::remove_dir(folder.join(inside));
        }
        if !made_before {
            let _ = fs::remove_dir_all(folder);
        }
        return Err(Failure::own(format!("{}: {error}; nothing was kept", path.display())));
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), (PathBuf, io::Error)> {
    let write = || {
        fs::create_dir_all(path.parent().expect("a file lies in a folder"))?;
        fs::write(path, text)?;
        // A script that contests start by itself needs its exec bit.
        #[cfg(unix)]
        if text.starts_with("#!") {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(path)?.permissions().mode();
            fs::set_permissions(path, fs::Permissions::from_mode(mode | ((mode & 0o444) >> 2)))?;
        }
        Ok(())
    };
    write().map_err(|error| (path.to_owned(), error))
}

/// What was made and what to type next.
fn report(starter: &Starter, game: &str, folder: &Path) -> Done {
    let screen = screen::output();
    let mut out = io::stdout().lock();
    let name = screen.strong(&folder.display().to_string());
    writeln!(out, "{name}: a {game} bot in {}, {} files\n", starter.language.title(), starter.files.len())?;
    let quoted =
        shlex::try_quote(&folder.to_string_lossy()).map(|text| text.into_owned()).unwrap_or_default();
    let manifest = starter.manifest();
    let opponent = manifest.defaults.opponents.first().map_or("its opponents", String::as_str);
    let mut steps = vec![(format!("cd {quoted}"), String::new())];
    if manifest.build.is_some() {
        steps.push(("agon build".to_owned(), "compiles it, when something changed".to_owned()));
    }
    steps.push(("agon play".to_owned(), format!("plays against {opponent}")));
    steps.push(("agon check".to_owned(), "tries it in odd situations".to_owned()));
    steps.push((starter.test.to_owned(), "feeds it recorded input".to_owned()));
    let width = steps.iter().map(|step| step.0.len()).filter(|&width| width <= 40).max().unwrap_or(0);
    for (command, about) in steps {
        let line = format!("  {command:width$}  {}", screen.dim(&about));
        writeln!(out, "{}", line.trim_end())?;
    }
    writeln!(
        out,
        "\nThe strategy is in {}; README.md says how to go on. The rules: agon rules {}",
        starter.strategy, starter.game
    )?;
    out.flush()?;
    if let Some(missing) = missing(starter.language) {
        eprintln!("{} {missing}", screen::errors().bad("missing:"));
    }
    Ok(())
}

/// What is missing on this machine for a language, and how to get it.
fn missing(language: Language) -> Option<String> {
    let Tool { program, least, how } = language.tool();
    let title = language.title();
    let output = std::process::Command::new(program).arg("--version").output();
    let Ok(output) = output else {
        return Some(format!(
            "{title} needs `{program}`, which is not installed or not on the PATH. Get it: {how}"
        ));
    };
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let version = said
        .split(|c: char| !c.is_ascii_digit() && c != '.')
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'))?;
    let major: u32 = version.split('.').next()?.parse().ok()?;
    (major < least)
        .then(|| format!("{title} needs {program} {least} or later; here is {version}. Get it: {how}"))
}

/// Lists starters.
fn list(starters: impl Iterator<Item = &'static Starter>, as_json: bool) -> Done {
    let mut out = io::stdout().lock();
    if as_json {
        let all: Vec<Value> = starters.map(Starter::json).collect();
        writeln!(out, "{:#}", json!(all))?;
        return Ok(());
    }
    let screen = screen::output();
    writeln!(out, "agon new GAME LANGUAGE DIR\n")?;
    let mut last = "";
    for starter in starters {
        if starter.game != last {
            write!(out, "{}  {:<14}", if last.is_empty() { "" } else { "\n" }, screen.strong(starter.game))?;
            last = starter.game;
        }
        write!(out, " {}", starter.language.name())?;
    }
    writeln!(out)?;
    Ok(())
}

impl Starter {
    fn manifest(&self) -> Manifest {
        let text = self.files.iter().find(|(name, _)| *name == manifest::FILE).map_or("", |file| file.1);
        Manifest::parse(text).expect("a test reads every manifest")
    }

    fn json(&self) -> Value {
        let manifest = self.manifest();
        let line = |command: Option<Command>| match command {
            Some(Command::Line(line)) => Some(line),
            _ => None,
        };
        json!({
            "game": self.game, "language": self.language.name(), "needs": self.language.tool().program,
            "build": line(manifest.build), "run": line(manifest.run), "test": self.test,
            "opponents": manifest.defaults.opponents, "strategy": self.strategy,
            "files": self.files.iter().map(|file| file.0).collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(starter: &Starter) -> PathBuf {
        let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games");
        games.join(starter.game).join("bots").join(starter.language.name())
    }

    #[test]
    fn every_starter_is_complete() {
        for starter in STARTERS {
            let what = format!("{} in {}", starter.game, starter.language.title());
            let manifest = starter.manifest();
            assert_eq!(manifest.defaults.game.as_deref(), Some(starter.game), "{what}");
            let info = agon_games::find(starter.game).expect("a game").info();
            let rules = manifest.defaults.rules.expect("a preset");
            assert!(info.preset(&rules).is_some(), "{what}: {rules}");
            for opponent in manifest.defaults.opponents {
                let known = info.builtins.iter().any(|bot| opponent == format!("builtin:{}", bot.name));
                assert!(known, "{what}: {opponent}");
            }
            for wanted in ["README.md", ".gitignore", "agon.toml", starter.strategy] {
                assert!(starter.files.iter().any(|(name, _)| *name == wanted), "{what}: {wanted}");
            }
            let readme = starter.files.iter().find(|file| file.0 == "README.md").expect("it is there").1;
            assert!(readme.contains(starter.test), "{what}: its README does not say how to test");
            assert!(
                starter.files.iter().all(|(_, text)| !text.contains('\r')),
                "{what}: Windows line endings"
            );
        }
    }

    #[test]
    fn every_file_of_an_example_folder_is_in_the_starter() {
        for starter in STARTERS {
            for folder in ["", "test", "src"] {
                for entry in fs::read_dir(source(starter).join(folder)).into_iter().flatten().flatten() {
                    let name = entry.file_name().to_string_lossy().into_owned();
                    let name = if folder.is_empty() { name } else { format!("{folder}/{name}") };
                    let ignored = [
                        "__pycache__",
                        "test",
                        "src",
                        "node_modules",
                        "target",
                        "bot",
                        "algo",
                        "algo.jar",
                        "bot.jar",
                        "out",
                        "test/run",
                        "Cargo.lock",
                        "agon-replays",
                    ];
                    if !ignored.contains(&name.as_str()) && !name.ends_with("__pycache__") {
                        let listed = starter.files.iter().any(|file| file.0 == name);
                        assert!(listed, "{}: {name} is not in the starter", source(starter).display());
                    }
                }
            }
        }
    }

    #[test]
    fn what_several_starters_hold_is_the_same() {
        let shared = |name: &str| {
            let mut all =
                STARTERS.iter().flat_map(|starter| starter.files).filter(move |file| file.0.ends_with(name));
            let first = all.next().expect("a starter holds it").1;
            assert!(all.all(|(_, text)| *text == first), "{name} differs");
        };
        shared("Json.java");
    }

    #[test]
    fn what_cannot_be_made_says_why_and_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a file");
        fs::write(&file, "mine").expect("a file");
        let why = |folder: &Path| match write_all(&STARTERS[0], folder) {
            Err(Failure::Usage(why) | Failure::Own(why)) => why,
            other => panic!("{other:?}"),
        };
        assert!(why(&file).contains("is a file"));
        assert!(why(folder.path()).contains("not empty"));
        // A file where a folder is needed: the disk says no in the middle.
        assert!(why(&file.join("bot")).contains("a file"));
        assert_eq!(fs::read(&file).expect("still there"), b"mine");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn languages_have_several_names_and_unknown_ones_are_listed() {
        let of_game = || STARTERS.iter().filter(|starter| starter.game == "cultist-wars");
        assert_eq!(find("Cultist Wars", of_game, "C++").expect("known").language, Language::Cpp);
        assert_eq!(find("Cultist Wars", of_game, "js").expect("known").language, Language::JavaScript);
        let Err(Failure::Usage(why)) = find("Cultist Wars", of_game, "pyton").map(|_| ()) else {
            panic!("found")
        };
        assert!(
            why.contains("did you mean `python`?") && why.contains("languages: python, javascript, cpp"),
            "{why}"
        );
    }
}
