//! From what the user asked for to a game.

use agon_game::{Chance, MapChoice, Recipe, Seeded, Setup, SetupError, rules};

use crate::DeerhuntOf;
use crate::generate::generate;
use crate::info::INFO;
use crate::map::{MAX_HUBS, Map};
use crate::rules::Rules;
use crate::state::{Player, State};

/// Builds a game.
pub fn set_up<const BLOCKS: usize>(setup: &Setup) -> Result<DeerhuntOf<BLOCKS>, SetupError> {
    if !INFO.seats_fit(setup.seats.into()) {
        return Err(SetupError::BadSeats {
            game: INFO.name,
            needs: "2 bots".to_owned(),
            got: setup.seats.into(),
        });
    }
    let mut loaded = rules::load::<Rules>(&INFO, &setup.rules)?;
    if setup.map == MapChoice::Generated && !loaded.rules.maps.is_empty() {
        // The recipe must make the map again: so its rules pick none.
        let sets = [setup.rules.sets.clone(), vec![("maps".to_owned(), "[]".to_owned())]].concat();
        loaded = rules::load::<Rules>(&INFO, &agon_game::RulesChoice { sets, ..setup.rules.clone() })?;
    }
    loaded.rules.check(&loaded.name, State::<BLOCKS>::CAPACITY)?;
    let (map_name, map_text) = pick_map(setup, &loaded.rules)?;
    let map = match &map_text {
        Some(text) => Map::parse(&map_name, text)?,
        None => generate(&loaded.rules, setup.seed)?,
    };
    let recipe = Recipe {
        rules_name: loaded.name,
        rules: loaded.text,
        map_name,
        map: map_text.unwrap_or_default(),
        seats: setup.seats,
        seed: setup.seed,
    };
    DeerhuntOf::assemble(loaded.rules, map, recipe)
}

/// DH-MAP-5: the map asked for; else the seed picks one of those of the rules; else it makes one.
/// Gives the name, and the text unless the map is to be made.
fn pick_map(setup: &Setup, rules: &Rules) -> Result<(String, Option<String>), SetupError> {
    let bundled = |name: &str| {
        let found = INFO.maps.iter().find(|map| map.name == name);
        found.map(|map| (name.to_owned(), Some(map.text.to_owned()))).ok_or_else(|| SetupError::UnknownMap {
            game: INFO.name,
            name: name.to_owned(),
            nearest: agon_game::setup::nearest(name, INFO.maps.iter().map(|map| map.name)),
        })
    };
    match &setup.map {
        MapChoice::Named(name) => bundled(name),
        MapChoice::File(name, content) => match String::from_utf8(content.clone()) {
            Ok(text) => Ok((name.clone(), Some(text))),
            Err(_) => Err(SetupError::BadMap { place: name.clone(), why: "is not UTF-8 text".to_owned() }),
        },
        MapChoice::Default if !rules.maps.is_empty() => {
            let pick = Seeded::stream(setup.seed, "map choice").below(rules.maps.len() as u32);
            bundled(&rules.maps[pick as usize])
        }
        MapChoice::Default | MapChoice::Generated => Ok(("generated".to_owned(), None)),
    }
}

impl<const BLOCKS: usize> DeerhuntOf<BLOCKS> {
    /// Puts rules and map together.
    ///
    /// # Errors
    /// When the map has more units or hubs than the rules or a state allow, or an army is missing.
    pub fn assemble(rules: Rules, map: Map, recipe: Recipe) -> Result<Self, SetupError> {
        let bad = |why: String| Err(SetupError::BadMap { place: recipe.map_name.clone(), why });
        for player in Player::BOTH {
            if !map.units.iter().any(|unit| unit.0 == player) {
                return bad(format!("{player} has no unit (`w` or `m`) on it"));
            }
        }
        if map.units.len() > rules.max_units.into() {
            return bad(format!("has {} units; `max_units` is {}", map.units.len(), rules.max_units));
        }
        if rules.hub_capacity > 0 && map.hubs() > MAX_HUBS {
            return bad(format!("has {} hubs; at most {MAX_HUBS} can have a stock", map.hubs()));
        }
        Ok(Self { rules, map, recipe })
    }
}
