//! What most games prepare for the matches of a setup: rules, and where the map comes from.

use std::sync::{Arc, OnceLock};

use serde::{Serialize, de::DeserializeOwned};

use crate::rules::{self, Loaded};
use crate::{BundledMap, GameInfo, Recipe, Setup, SetupError};

/// The rules of a setup, with all of a recipe except map and seed.
#[derive(Clone, Debug)]
pub struct SharedRules<R> {
    /// The rules.
    pub rules: Arc<R>,
    name: String,
    text: String,
    /// The number of seats.
    pub seats: u8,
}

impl<R> SharedRules<R> {
    /// Wraps loaded rules, for matches of this many seats.
    pub fn new(loaded: Loaded<R>, seats: u8) -> Self {
        Self { rules: Arc::new(loaded.rules), name: loaded.name, text: loaded.text, seats }
    }

    /// Loads rules that `check` finds nothing wrong with, for as many seats as the game has.
    ///
    /// # Errors
    /// When the seats do not fit, or the rules are not such; `check` says what is allowed.
    pub fn load(
        info: &GameInfo,
        setup: &Setup,
        check: impl FnOnce(&R) -> Result<(), String>,
    ) -> Result<Self, SetupError>
    where
        R: Serialize + DeserializeOwned,
    {
        info.check_seats(setup.seats.into())?;
        let loaded: Loaded<R> = rules::load(info, &setup.rules)?;
        check(&loaded.rules).map_err(|why| SetupError::BadRule { place: loaded.name.clone(), why })?;
        Ok(Self::new(loaded, setup.seats))
    }

    /// The recipe of a match: `map` is the map's text, empty where the seed makes it.
    pub fn recipe(&self, map_name: &str, map: &str, seed: i64) -> Recipe {
        Recipe {
            rules_name: self.name.clone(),
            rules: self.text.clone(),
            map_name: map_name.to_owned(),
            map: map.to_owned(),
            seats: self.seats,
            seed,
        }
    }
}

/// Where the map of a match comes from; `M` is a map as read by the game, cheap to clone.
pub enum Maps<M> {
    /// The map that was asked for.
    One(M),
    /// The seed picks one of the built-in maps. Each is read when it is first picked.
    Picked(Vec<(&'static BundledMap, OnceLock<M>)>),
    /// The seed makes it.
    Made,
}

impl<M: Clone> Maps<M> {
    /// Lets the seed pick one of these; there is at least one.
    pub fn picked(maps: impl IntoIterator<Item = &'static BundledMap>) -> Self {
        Self::Picked(maps.into_iter().map(|map| (map, OnceLock::new())).collect())
    }

    /// The map of a match: `pick` chooses an index below the number it is given, `read` reads a built-in map,
    /// `make` generates one.
    ///
    /// # Errors
    /// Those of `read` and `make`.
    pub fn of(
        &self,
        pick: impl FnOnce(u32) -> u32,
        read: impl FnOnce(&'static BundledMap) -> Result<M, SetupError>,
        make: impl FnOnce() -> Result<M, SetupError>,
    ) -> Result<M, SetupError> {
        match self {
            Self::One(map) => Ok(map.clone()),
            Self::Picked(maps) => {
                let (map, known) = &maps[pick(maps.len() as u32) as usize];
                match known.get() {
                    Some(known) => Ok(known.clone()),
                    None => {
                        let new = read(map)?;
                        Ok(known.get_or_init(|| new).clone())
                    }
                }
            }
            Self::Made => make(),
        }
    }
}
