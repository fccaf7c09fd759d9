//! The state for spectators.
use crate::Ostibot;
use crate::state::State;
pub(crate) fn scene(_: &Ostibot, _: &State) -> serde_json::Value {
    serde_json::Value::Null
}
