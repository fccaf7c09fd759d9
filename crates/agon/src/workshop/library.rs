//! Look-ups: games, rules, maps, single rules.

use std::collections::BTreeMap;
use std::io::{self, Write as _};

use agon_bot::advised::NextCommand;
use agon_game::{AnyGame, GameInfo, MapChoice, RulesChoice, Setup};
use agon_rulebook::CodePlace;
use clap::Args;

use crate::common::screen::{self, Screen};
use crate::common::{self, Done, ErrorCode, Failure};
use crate::workshop::json;
use crate::workshop::maps::{self, MapsCommand, MapsOptions};

/// Options of `agon games`.
#[derive(Args, Debug)]
pub struct GamesOptions {
    /// Only this game, with its options
    pub game: Option<String>,
    /// Prints it as JSON
    #[arg(long)]
    pub json: bool,
}
/// Options of `agon rules`.
#[derive(Args, Debug)]
pub struct RulesOptions {
    /// The game
    pub game: String,
    /// Shows every number of a preset or rules file
    #[arg(long, value_name = "PRESET|FILE", conflicts_with = "diff")]
    pub preset: Option<String>,
    /// Shows how two presets or rules files differ
    #[arg(long, num_args = 2, value_names = ["A", "B"])]
    pub diff: Option<Vec<String>>,
    /// Prints it as JSON: every rule with its id, or the numbers requested
    #[arg(long)]
    pub json: bool,
}
/// Options of `agon explain`.
#[derive(Args, Debug)]
pub struct ExplainOptions {
    /// The rule's id, as in results and rulebooks
    #[arg(value_name = "RULE-ID")]
    pub rule: String,
    /// Prints it as JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs `agon games`.
pub fn games(options: &GamesOptions) -> Done {
    let screen = screen::output();
    let mut out = io::stdout().lock();
    let chosen: Vec<&GameInfo> = match &options.game {
        Some(name) => vec![common::game(name)?.info()],
        None => agon_games::all().iter().map(|game| game.info()).collect(),
    };
    if options.json {
        let list: Vec<json::Game> = chosen.into_iter().map(json::Game::from).collect();
        return common::print_json(&mut out, &list);
    }
    for info in chosen {
        describe(&mut out, screen, info)?;
        writeln!(out)?;
    }
    Ok(())
}

/// A game with its presets, maps and built-in bots.
pub(super) fn describe(out: &mut impl io::Write, screen: Screen, info: &GameInfo) -> io::Result<()> {
    writeln!(out, "{}  {}", screen.strong(info.name), info.summary)?;
    let seats = match info.seats {
        (least, most) if least == most => format!("{least}"),
        (least, most) => format!("{least} to {most}"),
    };
    writeln!(out, "  bots      {seats}")?;
    for (index, preset) in info.presets.iter().enumerate() {
        let word = if index == 0 { "rules    " } else { "         " };
        writeln!(out, "  {word} {:<14} {}", preset.name, screen.dim(preset.about))?;
    }
    let alike = info.presets.windows(2).all(|two| two[0].cpus == two[1].cpus);
    for preset in &info.presets[..if alike { 1 } else { info.presets.len() }] {
        let of = if alike { String::new() } else { format!(" ({})", preset.name) };
        writeln!(out, "  CPUs      {}{of}", preset.cpus)?;
    }
    for (index, bot) in info.builtins.iter().enumerate() {
        let word = if index == 0 { "built in " } else { "         " };
        writeln!(out, "  {word} builtin:{:<14} {}", bot.name, screen.dim(bot.about))?;
        for (key, about) in bot.options {
            writeln!(out, "             {}", screen.dim(&format!("?{key}=  {about}")))?;
        }
    }
    let maps: Vec<&str> = info.maps.iter().map(|map| map.name).collect();
    match (maps.is_empty(), info.generates_maps) {
        (true, true) => writeln!(out, "  maps      made from the seed")?,
        (true, false) => writeln!(out, "  maps      the one board of the game")?,
        (false, false) => writeln!(out, "  maps      {}", maps.join(" "))?,
        (false, true) => writeln!(out, "  maps      {} generate", maps.join(" "))?,
    }
    Ok(())
}

/// Runs `agon rules`.
pub fn rules(options: &RulesOptions) -> Done {
    let game = common::game(&options.game)?;
    let screen = screen::output();
    let mut out = io::stdout().lock();
    if options.json {
        return common::print_json(&mut out, &rules_json(game, options)?);
    }
    if let Some(name) = &options.preset {
        let rules = complete(game, name)?;
        match serde_json::from_str::<serde_json::Value>(&rules) {
            Ok(value) => writeln!(out, "{value:#}")?,
            Err(_) => write!(out, "{rules}")?,
        }
    } else if let Some([a, b]) = options.diff.as_deref() {
        let (before, after) = (numbers(&complete(game, a)?), numbers(&complete(game, b)?));
        let mut same = true;
        let names: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let dash = "–".to_owned();
        for name in names {
            let (old, new) = (before.get(name).unwrap_or(&dash), after.get(name).unwrap_or(&dash));
            if old != new {
                same = false;
                writeln!(out, "{name}: {} -> {}", screen.bad(old), screen.good(new))?;
            }
        }
        if same {
            writeln!(out, "{a} and {b} are the same rules")?;
        }
    } else {
        // Marks for programs stand on lines of their own.
        for line in game.info().rulebook.lines().filter(|line| !line.starts_with("<!--")) {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// The output of `agon rules` for programs.
fn rules_json(game: &dyn AnyGame, options: &RulesOptions) -> Result<json::Rules, Failure> {
    let name = game.info().name;
    if let Some(preset) = &options.preset {
        let rules = numbers(&complete(game, preset)?);
        return Ok(json::Rules::Preset { game: name, preset: preset.clone(), rules });
    }
    if let Some([a, b]) = options.diff.as_deref() {
        let (before, after) = (numbers(&complete(game, a)?), numbers(&complete(game, b)?));
        let names: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let differ = names.into_iter().filter(|name| before.get(*name) != after.get(*name));
        let value = |rules: &BTreeMap<String, String>, rule| rules.get(rule).cloned();
        let list = differ.map(|rule| json::RuleDiffers {
            rule: rule.clone(),
            values: [(a.clone(), value(&before, rule)), (b.clone(), value(&after, rule))].into(),
        });
        return Ok(json::Rules::Differences { game: name, differences: list.collect() });
    }
    let rules = agon_rulebook::rules(game.info().rulebook);
    Ok(json::Rules::Rulebook { game: name, rules: rules.iter().map(rule_json).collect() })
}

fn rule_json(rule: &agon_rulebook::Rule) -> json::Rule {
    json::Rule { id: rule.id.clone(), heading: rule.heading.clone(), text: rule.text.clone() }
}

/// The complete text of a preset or rules file.
fn complete(game: &dyn AnyGame, name: &str) -> Result<String, Failure> {
    let info = game.info();
    let mut choice = RulesChoice::default();
    if info.preset(name).is_some() || !std::path::Path::new(name).is_file() {
        choice.preset = name.to_owned();
    } else {
        choice.file = Some((name.to_owned(), common::text(name)?));
    }
    let setup = Setup { rules: choice, ..usual(info) };
    Ok(game.open(&setup)?.recipe().rules.clone())
}

/// A match of this game with default options.
fn usual(info: &GameInfo) -> Setup {
    Setup { rules: RulesChoice::default(), map: MapChoice::Default, seats: info.usual_seats(), seed: 0 }
}

/// Every number of rules in TOML or JSON, by its dotted name.
fn numbers(rules: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    if let Ok(value) = serde_json::from_str::<serde_json::Value>(rules) {
        flatten("", &value, &mut found);
        return found;
    }
    let mut table = String::new();
    for line in rules.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            table = format!("{}.", name.trim_matches(['[', ']']));
        } else if let Some((key, value)) = line.split_once('=') {
            found.insert(format!("{table}{}", key.trim()), value.trim().to_owned());
        }
    }
    found
}

/// The numbers of a preset (the game's own if empty), each with its value, and what the preset's file says of it.
pub fn numbers_of(game: &dyn AnyGame, preset: &str) -> Result<Vec<(String, String, String)>, Failure> {
    let info = game.info();
    let preset = if preset.is_empty() { info.presets.first().map_or("", |first| first.name) } else { preset };
    let text = info.preset(preset).map_or("", |preset| preset.text);
    let said = |key: &str| {
        let line = text.lines().find(|line| line.split('=').next().is_some_and(|name| name.trim() == key));
        line.and_then(|line| line.split_once('#')).map_or("", |(_, words)| words.trim()).to_owned()
    };
    let all = numbers(&complete(game, preset)?);
    Ok(all.into_iter().map(|(key, usual)| (key.clone(), usual, said(&key))).collect())
}

fn flatten(path: &str, value: &serde_json::Value, found: &mut BTreeMap<String, String>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        serde_json::Value::Object(map) => {
            map.iter().for_each(|(key, value)| flatten(&below(key), value, found))
        }
        serde_json::Value::Array(list) => {
            list.iter()
                .enumerate()
                .for_each(|(index, value)| flatten(&below(&index.to_string()), value, found));
        }
        other => drop(found.insert(path.to_owned(), other.to_string())),
    }
}

/// Runs `agon maps`.
pub fn maps(options: &MapsOptions) -> Done {
    if let Some(MapsCommand::Check(options)) = &options.command {
        return maps::check(options);
    }
    let game = common::game(options.game.as_deref().unwrap_or_default())?;
    let info = game.info();
    let mut out = io::stdout().lock();
    let Some(name) = &options.map else {
        if options.json {
            let maps = info.maps.iter().map(|map| json::KnownMap {
                name: map.name,
                seats: map.seats.into(),
                text: map.text,
            });
            let list = json::Maps { game: info.name, generates: info.generates_maps, maps: maps.collect() };
            return common::print_json(&mut out, &list);
        }
        if info.maps.is_empty() {
            match info.generates_maps {
                true => writeln!(
                    out,
                    "{} makes its map from the seed: {}",
                    info.title,
                    NextCommand::MakeMap.about([info.name])
                )?,
                false => {
                    writeln!(out, "{} is always played on this map:\n", info.title)?;
                    draw(&mut out, game, MapChoice::Default, options.seed, info.usual_seats())?;
                }
            }
        }
        for map in info.maps {
            let seats = match map.seats {
                (least, most) if least == most => format!("{least} bots"),
                (least, most) => format!("{least} to {most} bots"),
            };
            // Comments and settings are not rows.
            let rows = map.text.lines().filter(|line| !line.starts_with(';') && !line.contains(':'));
            let width = rows.map(str::len).max().unwrap_or(0);
            writeln!(out, "{:<20} {seats}, {width} columns", map.name)?;
        }
        if info.generates_maps && !info.maps.is_empty() {
            writeln!(
                out,
                "{:<20} made from a seed: {}",
                "generate",
                NextCommand::MakeMap.about([info.name])
            )?;
        }
        return Ok(());
    };
    if name == "generate" && info.generates_maps {
        if options.draw {
            return draw(&mut out, game, MapChoice::Generated, options.seed, info.usual_seats());
        }
        let setup = Setup { map: MapChoice::Generated, seed: options.seed, ..usual(info) };
        let session = game.open(&setup)?;
        if session.recipe().map.is_empty() {
            return Err(Failure::usage(format!(
                "{} draws its map from the seed when a match begins, and has no map files; --draw shows it",
                info.title
            )));
        }
        return show_map(&mut out, options, name, &session.recipe().map);
    }
    let map = info.map(name)?;
    match options.draw {
        true => draw(&mut out, game, MapChoice::Named(name.clone()), options.seed, map.seats.1),
        false => show_map(&mut out, options, map.name, map.text),
    }
}

/// Draws a map as at the start of a match: if a map's file holds one half or a few numbers, this is the whole.
fn draw(out: &mut impl io::Write, game: &dyn AnyGame, map: MapChoice, seed: i64, seats: u8) -> Done {
    let session = game.open(&Setup { map, seed, seats, ..usual(game.info()) })?;
    Ok(write!(out, "{}", screen::output().picture(&screen::shown(session.picture(None))))?)
}

/// Prints one map, as its file or as JSON.
fn show_map(out: &mut impl io::Write, options: &MapsOptions, name: &str, text: &str) -> Done {
    if options.json {
        return common::print_json(
            out,
            &json::Map { game: options.game.as_deref().unwrap_or_default(), name, text },
        );
    }
    Ok(write!(out, "{text}")?)
}

/// Runs `agon explain`.
pub fn explain(options: &ExplainOptions) -> Done {
    let wanted = options.rule.to_uppercase();
    let screen = screen::output();
    let mut out = io::stdout().lock();
    for game in agon_games::all() {
        let info = game.info();
        let Some(found) = agon_rulebook::explain(info, &wanted) else { continue };
        if options.json {
            let places = |places: &[CodePlace]| {
                let one = |place: &CodePlace| json::Place {
                    file: format!("games/{}/{}", info.name, place.path),
                    line: place.line,
                    item: place.item.to_string(),
                };
                places.iter().map(one).collect()
            };
            let rule = json::Explained {
                game: info.name,
                rule: rule_json(&found.rule),
                decided: places(&found.decided),
                tested: places(&found.tested),
            };
            return common::print_json(&mut out, &rule);
        }
        writeln!(out, "{}  {} · {}\n", screen.strong(&found.rule.id), info.title, found.rule.heading)?;
        writeln!(out, "{}\n", found.rule.text)?;
        for (word, places) in [("decided in", found.decided), ("tested in", found.tested)] {
            for CodePlace { path, line, item, .. } in places {
                writeln!(out, "{word:<10} games/{}/{path}:{line}  {item}", info.name)?;
            }
        }
        return Ok(());
    }
    if let Some(game) = agon_games::find(&options.rule) {
        let name = game.info().name;
        return Err(Failure::usage(format!(
            "{name} is a game, not a rule; `agon rules {name}` lists its rules"
        )));
    }
    let known: Vec<String> = agon_games::all()
        .iter()
        .flat_map(|game| agon_rulebook::rules(game.info().rulebook))
        .map(|rule| rule.id)
        .collect();
    let hint = agon_game::setup::nearest(&wanted, known.iter().map(String::as_str));
    let hint = hint.map(|id| format!("; did you mean {id}?")).unwrap_or_default();
    Err(ErrorCode::NotFound.of(format!("no rule is called {wanted}{hint} (agon rules GAME lists them)")))
}
