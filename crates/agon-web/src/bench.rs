//! The bot that somebody writes in the page: its folder, and what its text can play.

use agon_game::GameInfo;
use serde::Serialize;
use serde_json::{Value, json};

use crate::folder::{BotFolder, FolderError};

/// A number of the rules, by its name, with what it usually is.
#[derive(Clone, Debug, Serialize)]
pub struct BenchNumber {
    /// As `--set` takes it.
    pub key: String,
    /// What it is, in words; empty where nothing is known.
    pub title: String,
    /// Its value in the usual rules.
    pub usual: String,
}

/// The bot of a viewer that was started with a folder.
#[derive(Debug)]
pub struct Bench {
    /// The folder.
    pub folder: BotFolder,
    /// The game it plays.
    pub info: &'static GameInfo,
    /// The preset of its rules; the game's own if empty.
    pub rules: String,
    /// Whom it usually plays against, as for `agon play`.
    pub opponents: Vec<String>,
    /// The numbers of its rules.
    pub numbers: Vec<BenchNumber>,
}

impl Bench {
    /// What the page begins with.
    pub(crate) fn page(&self) -> Result<Value, FolderError> {
        let text = self.folder.newest()?;
        let builtin = |name: &str| format!("builtin:{name}");
        let mut bosses: Vec<(String, String)> =
            self.info.builtins.iter().map(|bot| (builtin(bot.name), bot.name.to_owned())).collect();
        // The usual opponents first, and one of them that is another bot in any case.
        for usual in self.opponents.iter().rev() {
            bosses.retain(|(bot, _)| bot != usual);
            bosses.insert(0, (usual.clone(), usual.trim_start_matches("builtin:").to_owned()));
        }
        let mut presets: Vec<Value> =
            self.info.presets.iter().map(|it| json!({"name": it.name, "about": it.about})).collect();
        if let Some(at) = self.info.presets.iter().position(|it| it.name == self.rules) {
            presets.swap(0, at);
        }
        let maps: Vec<&str> = self.info.maps.iter().map(|map| map.name).collect();
        Ok(json!({
            "text": text,
            "name": self.folder.name,
            "game": self.info.name,
            "title": self.info.title,
            "seats": self.info.usual_seats(),
            "starters": [],
            "limits": {},
            "opponents": bosses.iter().map(|(bot, name)| json!({"version": bot, "name": name, "boss": true})).collect::<Vec<_>>(),
            "versions": [],
            "maps": maps,
            "presets": presets,
            "numbers": self.numbers,
        }))
    }
}
