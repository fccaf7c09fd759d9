//! What speaks for a player in a position. The weights stand in [`weights`](crate::weights).

use agon_game::{Seat, Standing};

use crate::CultistWars;
use crate::outcome::PLAYERS;
use crate::shoot::{Struck, aim};
use crate::state::{LEADERS, Owner, State, UnitId, Units, leader};

/// The features of both players.
pub(crate) fn standing(game: &CultistWars, state: &State) -> Standing {
    let rules = game.rules();
    let full = f64::from(rules.health_points);
    let mut features = Vec::new();
    for seat in Seat::first(PLAYERS) {
        let other = Seat::new(1 - seat.index() as u8);
        let own = state.living_of(Owner::Player(seat));
        let units = f64::from(own.len());
        let health: f64 = own.iter().map(|unit| f64::from(state.hp(unit))).sum();
        features.extend([
            units,
            units.sqrt(),
            health / full,
            f64::from(state.hp(leader(seat))) / full,
            neutrals(state, seat),
            own.iter()
                .filter(|&unit| unit >= LEADERS)
                .map(|unit| best_shot(game, state, seat, unit))
                .sum::<f64>()
                / full,
            (units + 0.5) / (f64::from(own.len() + state.living_of(Owner::Player(other)).len()) + 1.0),
            f64::from(shots_at(game, state, other, leader(seat))) / full,
            f64::from(u8::from(state.mover() == seat)),
        ]);
    }
    Standing { progress: f64::from(state.turns_played()) / f64::from(rules.number_of_turns), features }
}

/// The neutral units, the nearer to the leader the more: only a leader converts.
fn neutrals(state: &State, seat: Seat) -> f64 {
    if state.hp(leader(seat)) == 0 {
        return 0.0;
    }
    let from = state.tile(leader(seat));
    let near = |unit: UnitId| 1.0 / f64::from(from.distance(state.tile(unit)).max(1));
    state.living_of(Owner::Neutral).iter().map(near).sum()
}

/// How much health the cultists of a player can shoot off one enemy unit together, from where they stand.
fn shots_at(game: &CultistWars, state: &State, seat: Seat, target: UnitId) -> u32 {
    if state.hp(target) == 0 {
        return 0;
    }
    let own = state.living_of(Owner::Player(seat)).without(Units::LEADERS);
    own.iter().map(|shooter| u32::from(harm(game, state, shooter, target))).sum()
}

/// The health that a shot takes off the unit it is aimed at.
fn harm(game: &CultistWars, state: &State, shooter: UnitId, target: UnitId) -> u8 {
    let rules = game.rules();
    if state.tile(shooter).distance(state.tile(target)) > rules.shooting_range {
        return 0;
    }
    match aim(game.lines(), game.floor(), rules.damage, state, shooter, target) {
        Struck::Unit { unit, damage } if unit == target => damage,
        Struck::Unit { .. } | Struck::Obstacle(_) => 0,
    }
}

/// The most health that a unit can shoot off an enemy from where it stands.
fn best_shot(game: &CultistWars, state: &State, seat: Seat, shooter: UnitId) -> f64 {
    let enemies = state.living_of(Owner::Player(Seat::new(1 - seat.index() as u8)));
    f64::from(enemies.iter().map(|enemy| harm(game, state, shooter, enemy)).max().unwrap_or(0))
}
