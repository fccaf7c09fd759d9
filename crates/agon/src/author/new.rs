//! `agon new`: a small, complete, tested starter bot. The files are built into the binary, so that neither a checkout
//! nor a network is needed; they are the example bots of `games/*/bots`, which each game lists itself.

use std::borrow::Cow;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use agon_bot::advised::NextCommand;
use agon_bot::manifest::Command;
use agon_bot::rights;
use agon_game::setup::nearest;
use agon_game::{GameInfo, Starter, StarterLanguage};
use clap::Args;

use crate::author::{agents, json};
use crate::ci::workflow::BuildServer;
use crate::common::languages::{self, Answer};
use crate::common::screen;
use crate::common::{self, Done, Failure, here};

/// Examples for the help.
pub const EXAMPLES: &str = "Without arguments, lists what there is.

Examples:
  agon new                                 every game and its languages
  agon new cultist-wars python my-bot      a Python bot in the new folder my-bot
  agon new --ci github                     has GitHub run agon ci for the bot in this folder (agon docs ci)";

/// Options of `agon new`.
#[derive(Args, Debug)]
pub struct NewOptions {
    /// The game (see `agon games`)
    pub game: Option<String>,
    /// The language
    pub language: Option<String>,
    /// The folder to create for the bot
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Also writes the file that has a build server run `agon ci` (alone: for the bot in this folder)
    #[arg(long, value_enum, value_name = "SERVER")]
    pub ci: Option<BuildServer>,
    /// Prints the list, or what was made, as JSON
    #[arg(long)]
    pub json: bool,
}

/// A game's starter.
#[derive(Clone, Copy)]
struct Offer {
    game: &'static GameInfo,
    starter: &'static Starter,
}

/// All starters: by game, the easiest language first.
fn offers() -> impl Iterator<Item = Offer> + Clone {
    agon_games::all().iter().flat_map(|game| offers_of(game.info()))
}

/// The starters of a game.
fn offers_of(game: &'static GameInfo) -> impl Iterator<Item = Offer> + Clone {
    game.starters.iter().map(move |starter| Offer { game, starter })
}

/// A program that must be installed.
struct Tool {
    program: &'static str,
    /// The oldest version that works.
    least: u32,
    /// How to get it.
    how: &'static str,
}

/// What a starter in this language needs.
fn tool(language: StarterLanguage) -> Tool {
    let (program, least, how) = match language {
        StarterLanguage::Python => {
            ("python3", 3, "apt install python3, brew install python, or https://www.python.org")
        }
        StarterLanguage::JavaScript => ("node", 20, "https://nodejs.org, or brew install node"),
        StarterLanguage::Cpp => ("g++", 8, "apt install g++, or xcode-select --install"),
        StarterLanguage::Rust => ("cargo", 1, "https://rustup.rs"),
        StarterLanguage::Java => {
            ("javac", 17, "apt install openjdk-17-jdk, brew install openjdk, or https://adoptium.net")
        }
        StarterLanguage::TypeScript => {
            ("tsc", 4, "npm install --global typescript, or apt install node-typescript")
        }
        StarterLanguage::Go => ("go", 1, "apt install golang-go, brew install go, or https://go.dev"),
        StarterLanguage::Kotlin => {
            ("kotlinc", 1, "apt install kotlin, brew install kotlin, or https://kotlinlang.org")
        }
        StarterLanguage::CSharp => ("mcs", 5, "apt install mono-mcs mono-runtime, or brew install mono"),
    };
    Tool { program, least, how }
}

/// Runs `agon new`.
pub fn run(options: &NewOptions) -> Done {
    let NewOptions { game, language, folder, ci, json } = options;
    let game = match (game, ci) {
        (Some(game), _) => common::game(game)?.info(),
        (None, Some(server)) => return workflow(*server, *json),
        (None, None) => return list(offers(), *json),
    };
    let Some(language) = language else { return list(offers_of(game), *json) };
    let offer = find(game, language)?;
    let starter = offer.starter;
    let Some(folder) = folder else {
        return Err(Failure::usage(format!(
            "name the folder for the bot: {}",
            NextCommand::New.about([game.name, starter.language.name()])
        )));
    };
    write_all(offer, folder)?;
    let workflow = ci.map(|server| server.write(folder)).transpose()?;
    if *json {
        let missing = missing(starter.language);
        let made = json::Made { folder, starter: offer.json(), missing, workflow: workflow.as_deref() };
        common::print_json(&mut io::stdout(), &made)?;
    } else {
        report(offer, folder)?;
        workflow.iter().try_for_each(|file| tell(file))?;
    }
    Ok(())
}

/// Writes the file for a build server, for the bot in this folder.
fn workflow(server: BuildServer, as_json: bool) -> Done {
    here::game(here::read()?.as_ref())?;
    let file = server.write(Path::new("."))?;
    match as_json {
        true => common::print_json(&mut io::stdout(), &json::MadeWorkflow { workflow: &file }),
        false => Ok(tell(&file)?),
    }
}

/// Says where the file for a build server is, and what it needs.
fn tell(file: &Path) -> io::Result<()> {
    writeln!(
        io::stdout(),
        "{}: set the variables AGON_ARCHIVE and AGON_SHA256 at the build server (agon docs ci)",
        file.display()
    )
}

/// The starter named by `language`.
fn find(game: &'static GameInfo, language: &str) -> Result<Offer, Failure> {
    let typed = language.to_lowercase();
    let known = StarterLanguage::ALL.into_iter().find(|known| known.names().contains(&typed.as_str()));
    if let Some(offer) = offers_of(game).find(|offer| Some(offer.starter.language) == known) {
        return Ok(offer);
    }
    let names: Vec<&str> = offers_of(game).map(|offer| offer.starter.language.name()).collect();
    let hint = match known {
        Some(_) => String::new(),
        None => nearest(&typed, names.iter().copied())
            .map(|name| format!("; did you mean `{name}`?"))
            .unwrap_or_default(),
    };
    Err(Failure::usage(format!(
        "there is no {} starter in `{language}`{hint}\n  languages: {}\n  \
         A bot can be in any language: `agon docs` describes what it reads and writes",
        game.title,
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    )))
}

/// Writes all files, or leaves nothing behind.
fn write_all(offer: Offer, folder: &Path) -> Done {
    let shown = folder.display();
    match fs::read_dir(folder).map(|mut entries| entries.next().is_some()) {
        Ok(false) => {}
        Ok(true) => {
            return Err(Failure::usage(format!(
                "{shown} is not empty, so nothing was written; name a new folder"
            )));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(Failure::usage(format!("{shown} is a file; name a new folder")));
        }
        Err(error) => return Err(Failure::own(format!("{shown}: {error}"))),
    }
    let made_before = folder.exists();
    let written = offer.files().try_for_each(|(name, text)| write(&folder.join(name), &text));
    if let Err((path, error)) = written {
        // Everything in it is ours: the folder was empty or missing.
        for name in offer.names() {
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
        rights::create_public_folder(path.parent().expect("a file lies in a folder"))?;
        rights::write_public(path, text)?;
        // A script that contests start directly needs its exec bit.
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

/// Prints what was made and what to type next.
fn report(offer: Offer, folder: &Path) -> Done {
    let Offer { game, starter } = offer;
    let screen = screen::output();
    let mut out = io::stdout().lock();
    let name = screen.strong(&folder.display().to_string());
    let language = starter.language.title();
    let article = if game.title.starts_with(['A', 'E', 'I', 'O', 'U']) { "an" } else { "a" };
    writeln!(out, "{name}: {article} {} bot in {language}, {} files\n", game.title, offer.names().count())?;
    let quoted =
        shlex::try_quote(&folder.to_string_lossy()).map(|text| text.into_owned()).unwrap_or_default();
    let manifest = agents::manifest(starter);
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
        "\nThe strategy is in {}; README.md says what to do next, AGENTS.md says it to a program. The rules: agon rules {}",
        starter.strategy, game.name
    )?;
    out.flush()?;
    if let Some(missing) = missing(starter.language) {
        eprintln!("{} {missing}", screen::errors().bad("missing:"));
    }
    Ok(())
}

/// What this machine lacks for a language, and how to get it.
fn missing(language: StarterLanguage) -> Option<String> {
    let Tool { program, least, how } = tool(language);
    let title = language.title();
    let said = match languages::version(program, "--version") {
        Answer::Version(said) => said,
        Answer::Fails(why) => {
            return Some(format!("{title} needs `{program}`, which does not run here: {why}. Get it: {how}"));
        }
        Answer::Missing => {
            return Some(format!(
                "{title} needs `{program}`, which is not installed or not on the PATH. Get it: {how}"
            ));
        }
    };
    let version = said
        .split(|c: char| !c.is_ascii_digit() && c != '.')
        .find(|word| word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.'))?;
    let major: u32 = version.split('.').next()?.parse().ok()?;
    (major < least)
        .then(|| format!("{title} needs {program} {least} or later; this is {version}. Get it: {how}"))
}

/// Lists starters.
fn list(offers: impl Iterator<Item = Offer>, as_json: bool) -> Done {
    let mut out = io::stdout().lock();
    if as_json {
        return common::print_json(&mut out, &offers.map(Offer::json).collect::<Vec<_>>());
    }
    let screen = screen::output();
    writeln!(out, "agon new GAME LANGUAGE DIR\n")?;
    let mut last = "";
    for Offer { game, starter } in offers {
        if game.name != last {
            write!(out, "{}  {:<14}", if last.is_empty() { "" } else { "\n" }, screen.strong(game.name))?;
            last = game.name;
        }
        write!(out, " {}", starter.language.name())?;
    }
    writeln!(out)?;
    Ok(())
}

impl Offer {
    /// The files of the bot: the starter's own, and what programs that improve it read.
    fn files(self) -> impl Iterator<Item = (&'static str, Cow<'static, str>)> {
        let agents = agents::text(self.game, self.starter);
        let own = self.starter.files.iter().map(|(name, text)| (*name, Cow::Borrowed(*text)));
        own.chain([(agents::FILE, Cow::Owned(agents))])
    }

    /// The names of all of them.
    fn names(self) -> impl Iterator<Item = &'static str> {
        self.starter.files.iter().map(|file| file.0).chain([agents::FILE])
    }

    fn json(self) -> json::Starter {
        let starter = self.starter;
        let manifest = agents::manifest(starter);
        let line = |command: Option<Command>| match command {
            Some(Command::Line(line)) => Some(line),
            _ => None,
        };
        json::Starter {
            game: self.game.name,
            language: starter.language.name(),
            needs: tool(starter.language).program,
            build: line(manifest.build),
            run: line(manifest.run),
            test: starter.test,
            opponents: manifest.defaults.opponents,
            strategy: starter.strategy,
            files: self.names().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(offer: Offer) -> PathBuf {
        let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games");
        games.join(offer.game.name).join("bots").join(offer.starter.language.name())
    }

    #[test]
    fn the_guide_lists_the_starters_that_are_there() {
        for game in agon_games::all() {
            let name = game.info().name;
            let page = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/games/{name}.md"));
            let page = fs::read_to_string(page).expect("its page");
            let row = page.lines().find(|line| line.starts_with("| Starters |")).expect("a row");
            let mut listed: Vec<&str> = row
                .split('`')
                .skip(1)
                .step_by(2)
                .map(|word| word.rsplit(' ').next().unwrap_or(word))
                .collect();
            let here = offers().filter(|offer| offer.game.name == name);
            let mut there: Vec<&str> = here.map(|offer| offer.starter.language.name()).collect();
            listed.sort_unstable();
            there.sort_unstable();
            assert_eq!(listed, there, "{name}");
        }
    }

    #[test]
    fn every_starter_is_complete() {
        for offer in offers() {
            let Offer { game: info, starter } = offer;
            let what = format!("{} in {}", info.name, starter.language.title());
            let manifest = agents::manifest(starter);
            assert_eq!(manifest.defaults.game.as_deref(), Some(info.name), "{what}");
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
    fn what_programs_read_names_commands_that_are_there() {
        use clap::CommandFactory as _;
        for offer in offers() {
            let what = format!("{} in {}", offer.game.name, offer.starter.language.title());
            let (_, text) = offer.files().find(|file| file.0 == agents::FILE).expect("it is there");
            assert!(text.lines().count() <= 60 && !text.contains('{'), "{what}: {text}");
            for wanted in [offer.starter.strategy, offer.starter.test, &format!("--llms {}", offer.game.name)]
            {
                assert!(text.contains(wanted), "{what}: {wanted}");
            }
            assert_eq!(
                text.contains("agon build"),
                agents::manifest(offer.starter).build.is_some(),
                "{what}"
            );
            // Commands stand on lines of their own, and between backquotes.
            let lines = text.lines().filter(|line| line.starts_with("agon "));
            let quoted = text.split('`').skip(1).step_by(2).filter(|words| words.starts_with("agon "));
            let mut seen = 0;
            for line in lines.chain(quoted) {
                let line = line.split(" #").next().unwrap_or_default().trim_end();
                if line != "agon COMMAND --help" {
                    let parsed = crate::cli::Cli::command().try_get_matches_from(line.split(' '));
                    parsed.unwrap_or_else(|error| panic!("{what}: {line}: {error}"));
                    seen += 1;
                }
            }
            assert!(seen >= 18, "{what}: {seen}");
        }
    }

    #[test]
    fn every_file_of_an_example_folder_is_in_the_starter() {
        for offer in offers() {
            let starter = offer.starter;
            for folder in ["", "test", "src"] {
                for entry in fs::read_dir(source(offer).join(folder)).into_iter().flatten().flatten() {
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
                        assert!(listed, "{}: {name} is not in the starter", source(offer).display());
                    }
                }
            }
        }
    }

    #[test]
    fn what_several_starters_hold_is_the_same() {
        let shared = |name: &str| {
            let mut all =
                offers().flat_map(|offer| offer.starter.files).filter(move |file| file.0.ends_with(name));
            let first = all.next().expect("a starter holds it").1;
            assert!(all.all(|(_, text)| *text == first), "{name} differs");
        };
        ["Json.java", "json.hpp", "src/json.rs"].into_iter().for_each(shared);
    }

    #[test]
    fn what_cannot_be_made_says_why_and_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("a file");
        fs::write(&file, "mine").expect("a file");
        let why = |folder: &Path| match write_all(offers().next().expect("a starter"), folder) {
            Err(Failure::Usage(why) | Failure::Own(why)) => why,
            other => panic!("{other:?}"),
        };
        assert!(why(&file).contains("is a file"));
        assert!(why(folder.path()).contains("not empty"));
        // A file where a folder is needed makes writing fail in the middle.
        assert!(why(&file.join("bot")).contains("a file"));
        assert_eq!(fs::read(&file).expect("still there"), b"mine");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn languages_have_several_names_and_unknown_ones_are_listed() {
        let game = common::game("cultist-wars").expect("a game").info();
        assert_eq!(find(game, "C++").expect("known").starter.language, StarterLanguage::Cpp);
        assert_eq!(find(game, "js").expect("known").starter.language, StarterLanguage::JavaScript);
        let Err(Failure::Usage(why)) = find(game, "pyton").map(|_| ()) else { panic!("found") };
        assert!(
            why.contains("did you mean `python`?") && why.contains("languages: python, javascript, cpp"),
            "{why}"
        );
    }
}
