//! The features that speak for a player in a position. Their weights are in
//! [`weights`](crate::weights).

use agon_game::{Seat, SeatAdvantages};

use crate::rules::{Kind, Rules};
use crate::state::State;

/// The features of both players.
pub(crate) fn standing(rules: &Rules, state: &State) -> SeatAdvantages {
    let full = f64::from(rules.resources.starting_hp.max(1.0));
    let health = state.players.map(|player| f64::from(player.hp.0.max(0.0)) / full);
    // Structure points of each player standing in structures of each kind; damaged ones count in part.
    let mut built = [[0.0; 3]; 2];
    for structure in state.structures() {
        let (kind, upgraded) = (structure.kind(), structure.upgraded());
        let whole = f64::from(rules.form(kind, upgraded).start_health.max(1.0));
        let part = (f64::from(structure.health.0) / whole).min(1.0);
        built[structure.owner().index()][kind.index()] += part * f64::from(rules.worth(kind, upgraded));
    }
    let all = [0, 1].map(|seat| built[seat].iter().sum::<f64>() + f64::from(state.players[seat].sp.0));
    let mut features = Vec::new();
    for seat in Seat::first(2) {
        let (own, other) = (seat.index(), 1 - seat.index());
        let player = &state.players[own];
        let (structure, mobile) = (f64::from(player.sp.0), f64::from(player.mp.0));
        let turrets = built[own][Kind::Turret.index()];
        features.extend([
            health[own],
            health[own].sqrt(),
            structure / 10.0,
            mobile / 10.0,
            built[own][Kind::Wall.index()] / 10.0,
            built[own][Kind::Support.index()] / 10.0,
            turrets / 10.0,
            mobile / (mobile + built[other][Kind::Turret.index()] + 10.0),
            turrets.sqrt(),
            (health[own] + 0.01) / (health[own] + health[other] + 0.02),
            (all[own] + 5.0) / (all[own] + all[other] + 10.0),
            health[own] / (health[own] + f64::from(state.players[other].mp.0) / 10.0 + 0.1),
        ]);
    }
    let played = f64::from(state.turn) / f64::from(rules.bounds.max_turns.max(1));
    let worst = health.into_iter().fold(1.0, f64::min);
    SeatAdvantages { progress: played.max(1.0 - worst), features }
}
