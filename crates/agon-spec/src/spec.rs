//! A match as requested.

use agon_game::{GameInfo, Recipe, RulesName};

use crate::{Clock, Ponder};

/// A match as requested. Nothing is looked up yet: whether its game, map and bots exist shows when it is prepared.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchSpec {
    /// The game's name.
    pub game: String,
    /// Who plays, in the order of the seats.
    pub seats: Vec<SeatSpec>,
    /// The rules.
    pub rules: RulesSpec,
    /// `(rule, value)` changes on top, in order.
    pub sets: Vec<(String, String)>,
    /// The map.
    pub map: MapSpec,
    /// The seed; none for a fresh one.
    pub seed: Option<i64>,
    /// The clock the bots have.
    pub clock: Clock,
    /// What happens to a bot that computes while its opponent is to move.
    pub ponder: Ponder,
}

/// Who sits in a seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeatSpec {
    /// The bot as users name it.
    pub bot: String,
    /// A label chosen for it; none for the one derived from its name.
    pub label: Option<String>,
}

/// Which rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RulesSpec {
    /// The game's own.
    #[default]
    Default,
    /// A preset, or a file.
    Named(String),
    /// These rules, whatever the files say by now.
    Text {
        /// The name under which they are shown.
        name: String,
        /// All of them.
        text: String,
    },
}

/// Which map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MapSpec {
    /// The game's default: made or picked by the seed.
    #[default]
    Default,
    /// Generated from the seed.
    Generated,
    /// A map by name, or a file.
    Named(String),
    /// This map, whatever the files say by now.
    Text {
        /// The name under which it is shown.
        name: String,
        /// Its content.
        content: Vec<u8>,
    },
}

impl From<&str> for MapSpec {
    /// A map as users name it: `generate`, a name or a file; empty for the default.
    fn from(name: &str) -> Self {
        match name {
            "" => Self::Default,
            GENERATE => Self::Generated,
            name => Self::Named(name.to_owned()),
        }
    }
}

impl From<&str> for RulesSpec {
    /// Rules as users name them: a preset or a file; empty for the default.
    fn from(name: &str) -> Self {
        if name.is_empty() { Self::Default } else { Self::Named(name.to_owned()) }
    }
}

/// The word for a map that the seed makes.
const GENERATE: &str = "generate";

impl MatchSpec {
    /// A match of the game under its own rules, with a fresh seed and the original clock.
    pub fn new(game: &str, bots: impl IntoIterator<Item = String>) -> Self {
        Self {
            game: game.to_owned(),
            seats: bots.into_iter().map(|bot| SeatSpec { bot, label: None }).collect(),
            rules: RulesSpec::Default,
            sets: Vec::new(),
            map: MapSpec::Default,
            seed: None,
            clock: Clock::ORIGINAL,
            ponder: Ponder::Stop,
        }
    }

    /// The match of a recipe, as one would ask for it: rules and map by name if the game has them, otherwise as the
    /// recipe holds them.
    pub fn of_recipe(info: &GameInfo, recipe: &Recipe, bots: impl IntoIterator<Item = String>) -> Self {
        let Recipe { rules_name, rules, map_name, map, seed, .. } = recipe;
        let mut own = Self { seed: Some(*seed), ..Self::new(info.name, bots) };
        let name = RulesName::parse(rules_name);
        if info.preset(&name.base).is_some() {
            own.rules = preset(info, name.base);
            own.sets = name.sets;
        } else {
            own.rules = RulesSpec::Text { name: rules_name.clone(), text: rules.clone() };
        }
        own.map = if info.maps.iter().any(|bundled| bundled.name == map_name) {
            MapSpec::Named(map_name.clone())
        } else if map_name == "generated" {
            if info.maps.is_empty() { MapSpec::Default } else { MapSpec::Generated }
        } else if map.is_empty() || info.maps.is_empty() {
            MapSpec::Default
        } else {
            MapSpec::Text { name: map_name.clone(), content: map.clone().into_bytes() }
        };
        own
    }

    /// The arguments of `agon play`; none if rules or map are known only by their content.
    pub fn words(&self) -> Option<Vec<String>> {
        let mut options = Vec::new();
        let mut add = |name, value: &str| options.extend(option(name, value));
        if let Some(seed) = self.seed {
            add("seed", &seed.to_string());
        }
        match &self.map {
            MapSpec::Default => {}
            MapSpec::Generated => add("map", GENERATE),
            MapSpec::Named(name) => add("map", name),
            MapSpec::Text { .. } => return None,
        }
        for (number, label) in
            (1..).zip(&self.seats).filter_map(|(number, seat)| Some((number, seat.label.as_ref()?)))
        {
            add("name", &format!("{number}={label}"));
        }
        options.extend(self.conditions()?);
        let played = std::iter::once(&self.game).chain(self.seats.iter().map(|seat| &seat.bot)).cloned();
        Some(match self.seats.iter().any(|seat| seat.bot.starts_with('-')) {
            true => options.into_iter().chain(std::iter::once("--".to_owned())).chain(played).collect(),
            false => played.chain(options).collect(),
        })
    }

    /// The options for the same rules and the same clock; none if the rules are known only by their content.
    pub fn conditions(&self) -> Option<Vec<String>> {
        let mut words = Vec::new();
        let mut add = |name, value: &str| words.extend(option(name, value));
        match &self.rules {
            RulesSpec::Default => {}
            RulesSpec::Named(name) => add("rules", name),
            RulesSpec::Text { .. } => return None,
        }
        self.sets.iter().for_each(|(rule, value)| add("set", &format!("{rule}={value}")));
        let Clock { limited, scale, cap, total, tolerant } = self.clock;
        if !limited {
            add("no-timeouts", "");
        } else {
            if scale != 1.0 {
                add("time-scale", &scale.to_string());
            }
            if let Some(cap) = cap {
                add("time-limit", &format!("{cap:?}"));
            }
            if let Some(total) = total {
                add("time-total", &format!("{total:?}"));
            }
            if tolerant {
                add("clock", "site-2026");
            }
        }
        if self.ponder != Ponder::Stop {
            add("ponder", &self.ponder.to_string());
        }
        Some(words)
    }

    /// The command line that plays this match; none if rules or map are known only by their content.
    pub fn command(&self) -> Option<String> {
        let words = self.words()?;
        shlex::try_join(["agon", "play"].into_iter().chain(words.iter().map(String::as_str))).ok()
    }
}

/// The words of an option. One without a value is a switch; a value that looks like an option is joined to its name.
fn option(name: &str, value: &str) -> Vec<String> {
    match value {
        "" => vec![format!("--{name}")],
        value if value.starts_with('-') => vec![format!("--{name}={value}")],
        value => vec![format!("--{name}"), value.to_owned()],
    }
}

/// The preset as one asks for it: the first is the game's default.
pub fn preset(info: &GameInfo, name: String) -> RulesSpec {
    match info.presets.first() {
        Some(first) if first.name == name => RulesSpec::Default,
        _ => RulesSpec::Named(name),
    }
}
