//! `AGENTS.md`, which `agon new` puts into a bot's folder: what a program that improves the bot has to know.

use agon_bot::manifest::{self, Manifest};
use agon_game::{GameInfo, Starter};

/// The name of the file.
pub const FILE: &str = "AGENTS.md";

/// The text, with `{...}` where it depends on the game and the language.
const TEMPLATE: &str = include_str!("agents.md");

/// The `agon.toml` of a starter.
pub fn manifest(starter: &Starter) -> Manifest {
    let text = starter.files.iter().find(|file| file.0 == manifest::FILE).map_or("", |file| file.1);
    Manifest::parse(text).expect("a test reads every manifest")
}

/// The text for a starter of this game.
pub fn text(game: &GameInfo, starter: &Starter) -> String {
    let manifest = manifest(starter);
    let opponent = manifest.defaults.opponents.first().map_or("its opponent", String::as_str);
    let others: Vec<String> =
        game.builtins.iter().rev().take(2).map(|bot| format!("builtin:{}", bot.name)).collect();
    let rule = agon_rulebook::rules(game.rulebook).first().map_or_else(String::new, |rule| rule.id.clone());
    let build = match manifest.build {
        Some(_) => "agon build                 # compiles it, if something changed\n",
        None => "",
    };
    let ponder = if game.alternating {
        "- Do not compute in the opponent's turn: a bot that does is stopped.\n"
    } else {
        ""
    };
    let test = format!("{:<26} # feeds it recorded input", starter.test);
    let filled = [
        ("title", game.title),
        ("language", starter.language.title()),
        ("strategy", starter.strategy),
        ("game", game.name),
        ("rule", &rule),
        ("build", build),
        ("test", &test),
        ("opponent", opponent),
        ("others", &others.join(" ")),
        ("ponder", ponder),
    ];
    filled.iter().fold(TEMPLATE.to_owned(), |text, (key, value)| text.replace(&format!("{{{key}}}"), value))
}
