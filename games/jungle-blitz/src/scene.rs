//! The state for spectators.

use agon_game::Scene;
use serde_json::{Value, json};

use crate::JungleBlitz;
use crate::state::State;

/// The state as JSON.
pub fn scene(_game: &JungleBlitz, _state: &State) -> Value {
    json!({})
}

/// Far path searches.
pub fn far_searches() -> Vec<Scene> {
    Vec::new()
}
