//! The state for spectators: positions as `[x, y]`, units and teams by their ids on the wire, from 1.

use serde::Serialize;

use crate::JungleBlitz;
use crate::arena::Cell;
use crate::outcome::pending;
use crate::state::{DiamondIndex, State};

type At = [u8; 2];

/// A state.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Scene {
    tick: u16,
    /// The number of ticks in the match.
    total_tick: u16,
    /// The rows of the map.
    map: Vec<String>,
    /// The teams in the order in which they play this tick.
    play_order: Vec<u8>,
    teams: Vec<Team>,
    units: Vec<Unit>,
    diamonds: Vec<Diamond>,
}

/// A team.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Team {
    score: u32,
    /// The pending points of its diamonds.
    pending: u32,
    deaths: u16,
    /// Whether its connection is gone for good.
    gone: bool,
}

/// A unit.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Unit {
    id: u8,
    team: usize,
    /// Null while it is not on the board.
    at: Option<At>,
    /// The tiles of its stored path.
    path: Vec<At>,
    /// The diamond it holds.
    diamond: Option<DiamondIndex>,
    /// Ticks until its diamond reaches the next level.
    summoning: u8,
    vined_by: Option<u8>,
    killed_by: Option<u8>,
    died_at: Option<At>,
}

/// A diamond.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Diamond {
    at: Option<At>,
    level: u8,
    points: u16,
    /// The unit that holds it.
    owner: Option<u8>,
}

impl Scene {
    pub(crate) fn new(game: &JungleBlitz, state: &State) -> Self {
        let at = |cell: Cell| game.arena.point(cell).map(|point| [point.x, point.y]);
        let unit = |index| {
            let unit = state.unit(index);
            Unit {
                id: index + 1,
                team: game.team_of(index) + 1,
                at: at(unit.cell),
                path: state.path(&game.arena, index).filter_map(at).collect(),
                diamond: unit.diamond(),
                summoning: unit.summoning,
                vined_by: (unit.vined_by > 0).then_some(unit.vined_by),
                killed_by: (unit.attacked_by > 0).then_some(unit.attacked_by),
                died_at: at(unit.died_at),
            }
        };
        let team = |team| Team {
            score: state.scores[team],
            pending: pending(game, state, team),
            deaths: state.deaths[team],
            gone: state.is_dead(team),
        };
        let diamonds = state.diamonds[..game.arena.diamonds().len()].iter();
        Self {
            tick: state.tick,
            total_tick: game.rules.total_tick,
            map: game.map.text().lines().filter(|line| !line.contains(':')).map(str::to_owned).collect(),
            play_order: game.play_order(state.tick).iter().map(|team| team + 1).collect(),
            teams: (0..game.teams()).map(team).collect(),
            units: (0..game.unit_count()).map(unit).collect(),
            diamonds: diamonds
                .map(|diamond| Diamond {
                    at: at(diamond.cell),
                    level: diamond.level,
                    points: diamond.points,
                    owner: diamond.owner.holder().map(|unit| unit + 1),
                })
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Point;
    use crate::event::Event;

    #[test]
    fn the_viewer_reads_what_is_written() {
        let types = agon_testkit::generated![Scene, Team, Unit, Diamond, Event, Point];
        agon_testkit::generated::check(
            "games/jungle-blitz/viewer/generated.ts",
            "games/jungle-blitz/src",
            &types,
        );
    }
}
