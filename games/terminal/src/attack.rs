//! Stage D of a frame: every unit that was alive at its start picks one target and hits it.

use agon_game::Seat;

use crate::arena::Tile;
use crate::frame;
use crate::health::hit_mobile;
use crate::rules::{Form, Rules};
use crate::self_destruct::{bury_mobile, hit_structure};
use crate::state::{Real, State};
use crate::work::{Fate, Mobile, NONE, Work};

/// What an attacker hits.
#[derive(Clone, Copy)]
enum Target {
    Mobile(usize),
    Structure(u16),
}

/// Lets all units attack in the order of their ids (TM-ATTACK-1). A structure built or upgraded in the second line of an
/// answer can be younger than a mobile unit. Damage takes effect at once. TM-ATTACK-2: units that lost their last health
/// earlier in this frame attack too; units that breached do not.
pub fn attack(rules: &Rules, state: &mut State, work: &mut Work) {
    line_up(work);
    let mut active = std::mem::take(&mut work.active);
    aim_guns(work, &mut active);
    let mut next = 0;
    for (word, bits) in active.iter_mut().enumerate() {
        while *bits != 0 {
            let slot = work.guns.slots[word * 64 + bits.trailing_zeros() as usize];
            *bits &= *bits - 1;
            let gun = state.structures()[usize::from(slot)];
            while work.mobiles.get(next).is_some_and(|mobile| mobile.id < gun.id()) {
                shoot_mobile(rules, state, work, next);
                next += 1;
            }
            let form = rules.form(gun.kind(), gun.upgraded());
            shoot(rules, state, work, form, frame::Who::structure(&gun), gun.tile());
        }
    }
    work.active = active;
    for index in next..work.mobiles.len() {
        shoot_mobile(rules, state, work, index);
    }
}

/// The attack of a mobile unit.
#[inline]
fn shoot_mobile(rules: &Rules, state: &mut State, work: &mut Work, index: usize) {
    let mobile = &work.mobiles[index];
    if mobile.fate != Fate::Breached {
        let (who, tile) = (frame::Who::mobile(mobile), mobile.tile);
        shoot(rules, state, work, rules.form(mobile.kind, false), who, tile);
    }
}

/// Lists the mobile units that can be hit; no unit moves any more in this frame.
#[inline]
fn line_up(work: &mut Work) {
    let Work { mobiles, targets, .. } = work;
    targets.iter_mut().for_each(Vec::clear);
    for (index, mobile) in mobiles.iter().enumerate().filter(|(_, mobile)| mobile.fate == Fate::Alive) {
        targets[mobile.owner.index()].push((mobile.tile, index as u32));
    }
}

/// The guns that have a mobile unit in range, or may hit structures.
#[inline]
fn aim_guns(work: &Work, active: &mut Vec<u64>) {
    active.clear();
    active.resize(work.guns.words, 0);
    if work.guns_hit_structures {
        active.copy_from_slice(&work.guns.standing);
        return;
    }
    for (own, targets) in work.targets.iter().enumerate() {
        let enemy = Seat::new(1 - own as u8);
        for &(tile, _) in targets {
            for (active, reaching) in active.iter_mut().zip(work.guns.reaching(enemy, tile)) {
                *active |= reaching;
            }
        }
    }
    for (active, standing) in active.iter_mut().zip(&work.guns.standing) {
        *active &= standing;
    }
}

/// Carries out one attack, if there is a target.
#[inline]
fn shoot(rules: &Rules, state: &mut State, work: &mut Work, form: &Form, who: frame::Who, from: Tile) {
    let early = rules.early.is_early;
    let Some(mut target) = choose(state, work, form, who.owner, from, early) else { return };
    if let Target::Mobile(index) = &mut target
        && early
    {
        *index = first_of_equals(rules, state, work, who, *index);
    }
    match target {
        Target::Mobile(index) => {
            let damage = form.attack_damage_walker;
            let mobile = work.mobiles[index];
            if work.listening {
                tell(work, who, from, frame::Who::mobile(&mobile), mobile.tile, damage);
            }
            if hit_mobile(work, index, damage, rules.early.dust) {
                bury_mobile(rules, state, work, &mobile);
            }
        }
        Target::Structure(slot) => {
            let damage = form.attack_damage_tower;
            if work.listening {
                let structure = state.structures()[usize::from(slot)];
                tell(work, who, from, frame::Who::structure(&structure), structure.tile(), damage);
            }
            hit_structure(state, work, slot, damage);
        }
    }
}

/// The target of an attacker of `owner` on `from`: TM-TARGET-1 names the candidates, and TM-TARGET-2 prefers mobile units
/// to structures.
#[inline]
fn choose(
    state: &State,
    work: &mut Work,
    form: &Form,
    owner: Seat,
    from: Tile,
    early: bool,
) -> Option<Target> {
    if form.attack_damage_walker > 0.0
        && let Some(index) = choose_mobile(work, form, owner, from, early)
    {
        return Some(Target::Mobile(index));
    }
    if form.attack_damage_tower > 0.0 { choose_structure(state, work, form, owner, from) } else { None }
}

/// TM-TARGET-3: the nearest; TM-TARGET-4: the one with the least health; then [`rest`] decides.
#[inline]
fn choose_mobile(work: &Work, form: &Form, owner: Seat, from: Tile, early: bool) -> Option<usize> {
    let mut best: Option<usize> = None;
    let mut best_square = form.attack_range.square;
    for &(tile, index) in &work.targets[1 - owner.index()] {
        let square = tile.distance2(from);
        if square > best_square {
            continue;
        }
        let index = index as usize;
        let mobile = &work.mobiles[index];
        if mobile.fate != Fate::Alive {
            continue;
        }
        if square == best_square
            && let Some(best) = best
        {
            let other = &work.mobiles[best];
            let [health, least] = [mobile, other].map(|mobile| compared(mobile, early));
            let better = health < least
                || health == least && rest(owner, mobile.tile, mobile.id) > rest(owner, other.tile, other.id);
            if !better {
                continue;
            }
        }
        (best, best_square) = (Some(index), square);
    }
    best
}

/// The health of which the least is hit: with the shields, but in the first seasons without them (TM-TARGET-9).
#[inline]
fn compared(mobile: &Mobile, early: bool) -> f32 {
    if early { mobile.base } else { mobile.health }
}

#[inline]
fn choose_structure(state: &State, work: &mut Work, form: &Form, owner: Seat, from: Tile) -> Option<Target> {
    let Work { nearest, standing, slot_on, .. } = work;
    form.attack_range.nearest(from, &standing[1 - owner.index()], nearest);
    let mut best = NONE;
    for tile in nearest.tiles() {
        let slot = slot_on[tile.index()];
        if best != NONE {
            let [old, new] = [best, slot].map(|slot| &state.structures()[usize::from(slot)]);
            let better = new.health.0 < old.health.0
                || new.health == old.health
                    && rest(owner, new.tile(), new.id()) > rest(owner, old.tile(), old.id());
            if !better {
                continue;
            }
        }
        best = slot;
    }
    (best != NONE).then_some(Target::Structure(best))
}

/// TM-SEASON-7: of the units equal to `best` in all but the number, the one that a recorded match hits first.
#[cold]
fn first_of_equals(rules: &Rules, state: &State, work: &mut Work, who: frame::Who, best: usize) -> usize {
    let key_of = |mobile: &Mobile| (mobile.owner, mobile.tile, mobile.fate, compared(mobile, true));
    let key = key_of(&work.mobiles[best]);
    let picks = if work.shown.is_some() { &work.picks } else { &rules.picks };
    let place = |mobile: &Mobile| picks.first.get(&(state.turn, mobile.id)).copied();
    let equals = work.mobiles.iter().enumerate().filter(|(_, mobile)| key_of(mobile) == key);
    let listed = equals.filter_map(|(index, mobile)| Some((place(mobile)?, index)));
    let chosen = listed.min().map_or(best, |(_, index)| index);
    let Some(shown) = &mut work.shown else { return chosen };
    let target = shown.targets.get(&(state.turn, work.frame, who.id));
    let index = target.and_then(|id| work.mobiles.binary_search_by_key(id, |mobile| mobile.id).ok());
    let index = index.filter(|&index| key_of(&work.mobiles[index]) == key).unwrap_or(chosen);
    // All that are hit are listed, for the order among them; it is kept only if it is not ours in this turn.
    let unit = (state.turn, work.mobiles[index].id);
    let place = work.picks.first.len();
    if !work.picks.first.contains_key(&unit)
        && work.mobiles.iter().filter(|mobile| key_of(mobile) == key).count() > 1
    {
        work.picks.first.insert(unit, place);
        if index != chosen {
            shown.otherwise.insert(state.turn);
        }
        return index;
    }
    chosen
}

/// The key that decides between equal targets: TM-TARGET-5 the lowest row for player 1, the highest for player 2;
/// TM-TARGET-6 the largest distance from the middle line; TM-TARGET-7 the youngest. The larger key wins.
#[inline]
fn rest(owner: Seat, tile: Tile, id: u32) -> (i32, i32, u32) {
    let towards = if owner.index() == 0 { -tile.y() } else { tile.y() };
    (towards, (2 * tile.x() - 27).abs(), id)
}

#[cold]
fn tell(work: &mut Work, who: frame::Who, from: Tile, target: frame::Who, at: Tile, damage: f32) {
    let amount = Real(damage);
    work.events.attack.push(frame::Attack { from, to: at, damage: amount, attacker: who, target: target.id });
    work.events.damage.push(frame::Damage { at, amount, unit: target });
}
