//! The features that speak for a player in a position. Their weights are in [`weights`](crate::weights).

use agon_game::{Seat, SeatAdvantages};

use crate::CultistWars;
use crate::board::{TILES, Tile, Tiles};
use crate::outcome::PLAYERS;
use crate::shoot::{Struck, aim};
use crate::state::{Owner, State, UnitId, Units, leader};

/// The features of both players.
pub(crate) fn standing(game: &CultistWars, state: &State) -> SeatAdvantages {
    let rules = game.rules();
    let full = f64::from(rules.health_points);
    let neutral = f64::from(state.living_of(Owner::Neutral).len());
    let mut features = Vec::new();
    for seat in Seat::first(PLAYERS) {
        let own = state.living_of(Owner::Player(seat));
        let enemies = state.living_of(Owner::Player(Seat::new(1 - seat.index() as u8)));
        let units = f64::from(own.len());
        let health: f64 = own.iter().map(|unit| f64::from(state.hp(unit))).sum();
        // The damage to each enemy if all own cultists were to shoot at it.
        let shots =
            enemies.iter().map(|enemy| (shots_at(game, state, seat, enemy), u32::from(state.hp(enemy))));
        let ways = Ways::of(game, state, seat);
        features.extend([
            units,
            // A lead counts more the fewer units are left to convert.
            units / (neutral + 0.5).sqrt(),
            health / full / f64::from(own.len() + enemies.len()),
            // Only a leader converts: neutral units and the enemy's.
            state.living_of(Owner::Neutral).iter().map(|unit| 1.0 / (1.0 + ways.to(state, unit))).sum(),
            enemies.without(Units::LEADERS).iter().filter(|&unit| ways.to(state, unit) <= 1.0).count() as f64,
            own.without(Units::LEADERS).iter().map(|unit| best_shot(game, state, seat, unit)).sum::<f64>()
                / full,
            shots.clone().map(|(harm, health)| f64::from(harm.min(health))).sum::<f64>() / full,
            shots.filter(|(harm, health)| harm >= health).count() as f64,
            f64::from(u8::from(state.mover() == seat)),
        ]);
    }
    SeatAdvantages { progress: f64::from(state.turns_played()) / f64::from(rules.number_of_turns), features }
}

/// Steps from a leader to all tiles, ignoring units.
struct Ways([f64; TILES]);

impl Ways {
    /// Further than any tile can be; the distance to every tile when the leader is dead.
    const FAR: f64 = 60.0;

    fn of(game: &CultistWars, state: &State, seat: Seat) -> Self {
        let mut steps = [Self::FAR; TILES];
        let mut front = Tiles::NONE;
        if state.hp(leader(seat)) > 0 {
            front = Tiles::one(state.tile(leader(seat)));
        }
        let mut unseen = game.floor() & !front;
        let mut distance = 0.0;
        while !front.is_empty() {
            for tile in Tile::all().filter(|&tile| front.contains(tile)) {
                steps[usize::from(tile.number())] = distance;
            }
            front = front.around() & unseen;
            unseen = unseen & !front;
            distance += 1.0;
        }
        Self(steps)
    }

    fn to(&self, state: &State, unit: UnitId) -> f64 {
        self.0[usize::from(state.tile(unit).number())]
    }
}

/// How much health all cultists of a player together can shoot off one enemy unit, from where they stand.
fn shots_at(game: &CultistWars, state: &State, seat: Seat, target: UnitId) -> u32 {
    let own = state.living_of(Owner::Player(seat)).without(Units::LEADERS);
    own.iter().map(|shooter| u32::from(harm(game, state, shooter, target))).sum()
}

/// The health a shot takes off its target.
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

/// The most health a unit can shoot off any enemy from where it stands.
fn best_shot(game: &CultistWars, state: &State, seat: Seat, shooter: UnitId) -> f64 {
    let enemies = state.living_of(Owner::Player(Seat::new(1 - seat.index() as u8)));
    f64::from(enemies.iter().map(|enemy| harm(game, state, shooter, enemy)).max().unwrap_or(0))
}
