//! Turns the user's setup into a game.

use std::sync::Arc;

use agon_game::prepared::{Maps, SharedRules};
use agon_game::{BundledMap, Chance, MapChoice, Recipe, Seeded, Setup, SetupError, rules};

use crate::DeerhuntOf;
use crate::generate::generate;
use crate::info::INFO;
use crate::map::{MAX_HUBS, Map};
use crate::rules::Rules;
use crate::state::Player;

/// What the matches of one setup share. DH-MAP-5: the map is the requested one; else the seed picks one of those
/// in the rules; else one is generated from it.
pub struct Prepared {
    rules: SharedRules<Rules>,
    maps: Maps<Ground>,
}

/// A map with its name and text.
#[derive(Clone)]
struct Ground {
    name: String,
    text: String,
    map: Arc<Map>,
}

/// Reads rules and maps. `capacity` is the number of units that a state can hold.
///
/// # Errors
/// When the setup cannot be played.
pub fn prepare(setup: &Setup, capacity: usize) -> Result<Prepared, SetupError> {
    INFO.check_seats(setup.seats.into())?;
    let mut loaded = rules::load::<Rules>(&INFO, &setup.rules)?;
    if setup.map == MapChoice::Generated && !loaded.rules.maps.is_empty() {
        // The recipe must generate the same map again, so its rules list none to pick from.
        let sets = [setup.rules.sets.clone(), vec![("maps".to_owned(), "[]".to_owned())]].concat();
        loaded = rules::load::<Rules>(&INFO, &agon_game::RulesChoice { sets, ..setup.rules.clone() })?;
    }
    loaded.rules.check(&loaded.name, capacity)?;
    let maps = match &setup.map {
        MapChoice::Named(name) => Maps::One(Ground::bundled(INFO.map(name)?)?),
        MapChoice::File(name, content) => match String::from_utf8(content.clone()) {
            Ok(text) => Maps::One(Ground::read(name, text)?),
            Err(_) => {
                return Err(SetupError::BadMap { place: name.clone(), why: "is not UTF-8 text".to_owned() });
            }
        },
        MapChoice::Default if !loaded.rules.maps.is_empty() => {
            let maps = loaded.rules.maps.iter().map(|name| INFO.map(name));
            Maps::picked(maps.collect::<Result<Vec<_>, _>>()?)
        }
        MapChoice::Default | MapChoice::Generated => Maps::Made,
    };
    Ok(Prepared { rules: SharedRules::new(loaded, setup.seats), maps })
}

/// The match of a seed.
///
/// # Errors
/// When its map cannot be played under these rules.
pub fn begin<const BLOCKS: usize>(prepared: &Prepared, seed: i64) -> Result<DeerhuntOf<BLOCKS>, SetupError> {
    let rules = &prepared.rules.rules;
    let made = || {
        let map = Arc::new(generate(rules, seed)?);
        Ok(Ground { name: "generated".to_owned(), text: String::new(), map })
    };
    let pick = |count| Seeded::stream(seed, "map choice").below(count);
    let ground = prepared.maps.of(pick, Ground::bundled, made)?;
    let recipe = prepared.rules.recipe(&ground.name, &ground.text, seed);
    DeerhuntOf::assemble(rules.clone(), ground.map, recipe)
}

impl Ground {
    fn read(name: &str, text: String) -> Result<Self, SetupError> {
        let map = Arc::new(Map::parse(name, &text)?);
        Ok(Self { name: name.to_owned(), text, map })
    }

    fn bundled(map: &BundledMap) -> Result<Self, SetupError> {
        Self::read(map.name, map.text.to_owned())
    }
}

impl<const BLOCKS: usize> DeerhuntOf<BLOCKS> {
    /// Puts rules and map together.
    ///
    /// # Errors
    /// When the map has more units or hubs than the rules or a state allow, or an army is missing.
    pub fn assemble(
        rules: impl Into<Arc<Rules>>,
        map: impl Into<Arc<Map>>,
        recipe: Recipe,
    ) -> Result<Self, SetupError> {
        let (rules, map) = (rules.into(), map.into());
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
