//! Rules that the bots of one match bring in their folders, as the kits of contests lay them.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use agon_bot::{BotName, NameKind};
use agon_game::GameInfo;
use agon_spec::{MatchSpec, RulesSpec};

use crate::common::Failure;

/// The file in which a kit keeps its rules, for games whose rules are the kit's own JSON.
const RULES_FILE: &str = "game-configs.json";

/// The longest such file that is read, in bytes; the games refuse one that is longer.
const LONGEST: u64 = (1 << 20) + 1;

/// Takes the rules that the bots bring, if none are asked for. Returns what to tell about it.
///
/// Only a single match at the desk follows its bots: series and contests have rules of their own.
///
/// # Errors
/// When two bots bring different rules, or a file cannot be read.
pub fn rules(spec: &mut MatchSpec, info: &GameInfo, names: &[BotName]) -> Result<Option<String>, Failure> {
    let in_json = info.presets.iter().any(|preset| preset.text.trim_start().starts_with('{'));
    if spec.rules != RulesSpec::Default || !in_json {
        return Ok(None);
    }
    let mut found: Option<(PathBuf, String)> = None;
    for name in names {
        let NameKind::Path(bot) = &name.kind else { continue };
        let folder = if bot.is_dir() { bot } else { bot.parent().unwrap_or(Path::new("")) };
        let file = folder.join(RULES_FILE);
        if !file.is_file() {
            continue;
        }
        let text = read(&file)?;
        match &found {
            Some((first, other)) if !same(other, &text) => {
                return Err(Failure::usage(format!(
                    "the bots bring different rules: {} and {}\n  choose one with --rules FILE, or a preset with --rules NAME",
                    first.display(),
                    file.display()
                )));
            }
            Some(_) => {}
            None => found = Some((file, text)),
        }
    }
    let Some((file, text)) = found else { return Ok(None) };
    let name = file.display().to_string();
    let told =
        format!("the rules are those of {name}, which came with the bot; --rules NAME or FILE takes others");
    spec.rules = RulesSpec::Text { name, text };
    Ok(Some(told))
}

fn read(file: &Path) -> Result<String, Failure> {
    let failed = |error: std::io::Error| Failure::usage(format!("{}: {error}", file.display()));
    let mut text = String::new();
    std::fs::File::open(file).map_err(failed)?.take(LONGEST).read_to_string(&mut text).map_err(failed)?;
    Ok(text)
}

/// Whether two files say the same, however they are laid out.
fn same(one: &str, other: &str) -> bool {
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    one == other || value(one).is_some_and(|one| Some(one) == value(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bot's folder with these rules.
    fn folder(root: &Path, name: &str, rules: Option<&str>) -> BotName {
        let folder = root.join(name);
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("run.sh"), "#!/bin/sh\n").expect("a file");
        if let Some(rules) = rules {
            std::fs::write(folder.join(RULES_FILE), rules).expect("a file");
        }
        BotName::parse(&folder.to_string_lossy()).expect("a bot's name")
    }

    #[test]
    fn one_and_the_same_file_is_used_and_two_are_refused() {
        let root = tempfile::tempdir().expect("a folder");
        let info = crate::common::game("terminal").map(agon_game::AnyGame::info).expect("a game");
        let [one, same, other] = [("one", "{\"a\": 1}"), ("same", "{\"a\":1}"), ("other", "{\"a\": 2}")]
            .map(|(name, rules)| folder(root.path(), name, Some(rules)));
        let none = folder(root.path(), "none", None);
        let spec = || MatchSpec::new("terminal", []);
        let took = |names: &[BotName]| {
            let mut spec = spec();
            rules(&mut spec, info, names).map(|told| (told, spec.rules))
        };
        let (told, rules_of_one) = took(&[one.clone(), same]).expect("the same");
        assert!(told.is_some_and(|told| told.contains("one/game-configs.json")));
        assert!(matches!(rules_of_one, RulesSpec::Text { text, .. } if text == "{\"a\": 1}"));
        assert!(took(&[one.clone(), none.clone()]).expect("one").0.is_some());
        let Err(Failure::Usage(why)) = took(&[one.clone(), other]) else { panic!("two were taken") };
        assert!(why.contains("one/game-configs.json") && why.contains("other/game-configs.json"), "{why}");
        assert_eq!(took(&[none]).expect("none"), (None, RulesSpec::Default));
        // What is asked for stays.
        let mut asked = MatchSpec { rules: RulesSpec::Named("europe-2025".to_owned()), ..spec() };
        assert_eq!(rules(&mut asked, info, &[one]).expect("asked"), None);
        assert_eq!(asked.rules, RulesSpec::Named("europe-2025".to_owned()));
    }
}
