//! A state for spectators and the viewer.

use serde::Serialize;

use crate::frame::{Events, Frame, Lists};
use crate::state::{Real, State};

/// The board in the form of a frame, and further facts about the players.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Scene {
    turn: u16,
    /// Frames played.
    frames: u32,
    players: Vec<Player>,
    units: [Lists; 2],
}

/// Facts about a player.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Player {
    hp: Real,
    sp: Real,
    mp: Real,
    /// Milliseconds of the last answer.
    ms: u32,
    /// Milliseconds of all answers.
    total_ms: u32,
    points: Real,
    crashed: bool,
    timed_out: bool,
}

impl Scene {
    pub(crate) fn new(state: &State) -> Self {
        let player = |player: &crate::state::Player| Player {
            hp: player.hp,
            sp: player.sp,
            mp: player.mp,
            ms: player.ms,
            total_ms: player.total_ms,
            points: player.points,
            crashed: player.crashed,
            timed_out: player.timed_out,
        };
        Self {
            turn: state.turn,
            frames: state.frames,
            players: state.players.iter().map(player).collect(),
            units: Frame::of(state, &[], -1, Events::default()).lists,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Tile;
    use crate::frame::{
        Attack, Breach, Damage, Death, SelfDestruct, Shield, Spawn, Spawned, Standing, Stats, Step, Who,
    };
    use crate::rules::Kind;

    #[test]
    fn the_viewer_reads_what_is_written() {
        let types = agon_testkit::generated![
            Scene,
            Player,
            Lists,
            Standing,
            Stats,
            Events,
            Spawn,
            Spawned,
            Step,
            Breach,
            Shield,
            SelfDestruct,
            Attack,
            Damage,
            Death,
            Who,
            Kind,
            Real,
            Tile,
        ];
        agon_testkit::generated::check("games/terminal/viewer/generated.ts", "games/terminal/src", &types);
    }
}
