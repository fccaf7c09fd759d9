//! Looks only at its own next action.

use agon_game::{Builtin, Seat};

use crate::CultistWars;
use crate::orders::{Action, Order};
use crate::shoot::Struck;
use crate::state::{LEADERS, Owner, State, UnitId, Units, leader};
use crate::view::View;

/// Takes the best available conversion or shot, else moves towards the next one.
pub(super) struct Greedy;

impl Builtin<CultistWars> for Greedy {
    fn order(&mut self, game: &CultistWars, view: View<'_>) -> Order {
        let View { seat, state, .. } = view;
        let gain = |action: &Action| gain(game, state, seat, *action);
        match actions(game, state).max_by_key(gain).filter(|action| gain(action) > 0) {
            Some(action) => action.into(),
            None => approach(state, seat),
        }
    }
}

/// All conversions and shots of the mover that have an effect.
pub(super) fn actions<'a>(game: &'a CultistWars, state: &'a State) -> impl Iterator<Item = Action> + 'a {
    let seat = state.mover();
    let own = state.living_of(Owner::Player(seat));
    let enemies = state.living_of(Owner::Player(opponent(seat)));
    let others = state.living().without(own);
    let near = move |unit: UnitId, target: UnitId| state.tile(unit).distance(state.tile(target));
    let leads = own.iter().filter(move |&unit| unit == leader(seat));
    let conversions = leads.flat_map(move |unit| {
        let beside = others.iter().filter(move |&target| target >= LEADERS && near(unit, target) == 1);
        beside.map(move |target| Action::Convert { unit, target })
    });
    let shooters = own.iter().filter(move |&unit| unit != leader(seat));
    let shots = shooters.flat_map(move |unit| {
        let range = game.rules().shooting_range;
        let seen = enemies.iter().filter(move |&target| near(unit, target) <= range);
        // Only shots that hit their target; a shot at something behind it hits the same unit.
        let clear = seen.filter(move |&target| hits(game, state, unit, target).is_some());
        clear.map(move |target| Action::Shoot { unit, target })
    });
    conversions.chain(shots)
}

/// The damage of a shot, if it hits its target.
pub(super) fn hits(game: &CultistWars, state: &State, unit: UnitId, target: UnitId) -> Option<u8> {
    match game.strike(state, unit, target) {
        Struck::Unit { unit, damage } if unit == target => Some(damage),
        _ => None,
    }
}

/// The value of an action; a unit is worth 10.
fn gain(game: &CultistWars, state: &State, seat: Seat, action: Action) -> u32 {
    match action {
        Action::Convert { target, .. } if state.owner(target) == Some(Owner::Player(opponent(seat))) => 20,
        Action::Convert { .. } => 12,
        Action::Shoot { unit, target } => {
            let damage = u32::from(hits(game, state, unit, target).unwrap_or(0));
            if damage >= u32::from(state.hp(target)) { 15 } else { damage }
        }
        Action::Move { .. } | Action::Wait => 0,
    }
}

/// The leader goes to the nearest cultist it can convert; without any, a cultist goes to the nearest enemy.
fn approach(state: &State, seat: Seat) -> Order {
    let own = state.living_of(Owner::Player(seat));
    let chief = leader(seat);
    let neutrals = state.living_of(Owner::Neutral);
    if own.contains(chief)
        && let Some(target) = nearest(state, chief, neutrals)
    {
        return Order::Convert { unit: chief.into(), target: target.into() };
    }
    let enemies = state.living_of(Owner::Player(opponent(seat)));
    let hunters = own.iter().filter(|&unit| unit != chief);
    let pairs = hunters.filter_map(|unit| Some((unit, nearest(state, unit, enemies)?)));
    let closest = pairs.min_by_key(|&(unit, target)| state.tile(unit).distance(state.tile(target)));
    closest.map_or(Order::Wait, |(unit, target)| {
        let tile = state.tile(target);
        Order::Move { unit: unit.into(), x: tile.x().into(), y: tile.y().into() }
    })
}

fn nearest(state: &State, unit: UnitId, among: Units) -> Option<UnitId> {
    among.iter().min_by_key(|&target| state.tile(unit).distance(state.tile(target)))
}

/// The other player.
pub(super) const fn opponent(seat: Seat) -> Seat {
    Seat::new(1 - seat.index() as u8)
}
