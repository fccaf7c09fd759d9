//! A state as JSON, for spectators and the viewer.

use serde_json::{Value, json};

use crate::frame::{Events, Frame};
use crate::state::State;

/// The state: the board as a frame has it, and what else is known of the players.
pub fn scene(state: &State) -> Value {
    let board = Frame::of(state, &[], -1, Events::default());
    let players: Vec<Value> = state
        .players
        .iter()
        .map(|player| {
            json!({
                "hp": player.hp.0, "sp": player.sp.0, "mp": player.mp.0,
                "ms": player.ms, "total_ms": player.total_ms, "points": player.points.0,
                "crashed": player.crashed, "timed_out": player.timed_out,
            })
        })
        .collect();
    json!({ "turn": state.turn, "frames": state.frames, "players": players, "units": board.lists })
}
