//! Stage C of a frame: mobile units with nowhere to go destroy themselves.

use crate::frame;
use crate::health::hit_mobile;
use crate::rules::{Form, Rules};
use crate::state::{Real, State};
use crate::work::{Fate, Mobile, NONE, Work};

/// Carries out the self-destructions of this frame, by ascending id (TM-SELF-1).
pub fn self_destruct(rules: &Rules, state: &mut State, work: &mut Work) {
    for index in 0..work.mobiles.len() {
        // A unit killed by another self-destruction before its turn still goes off.
        if !work.mobiles[index].exploding {
            continue;
        }
        let mobile = work.mobiles[index];
        let form = rules.form(mobile.kind, false);
        // TM-SELF-2: it does damage only after enough steps.
        if mobile.steps >= form.self_destruct_steps_required {
            go_off(rules, state, work, &mobile, form);
        }
        // TM-SELF-4: either way its health is 0; it still attacks in this frame.
        let mobile = &mut work.mobiles[index];
        (mobile.base, mobile.shielded, mobile.health, mobile.shields) = (0.0, 0.0, 0.0, (0, 0));
        if mobile.fate != Fate::Dead {
            mobile.fate = Fate::Dead;
            let mobile = *mobile;
            bury_mobile(rules, state, work, &mobile);
        }
    }
}

/// TM-SELF-3: every enemy unit in range takes the configured damage, with one number for mobile units
/// and another for structures; also those that lost their last health earlier in this frame.
fn go_off(rules: &Rules, state: &mut State, work: &mut Work, mobile: &Mobile, form: &Form) {
    let range = &form.self_destruct_range;
    let (to_mobiles, to_structures) = (form.self_destruct_damage_walker, form.self_destruct_damage_tower);
    let mut tiles = [Vec::new(), Vec::new()];
    let (damages, deaths) = (work.events.damage.len(), work.events.death.len());
    for target in 0..work.mobiles.len() {
        let other = work.mobiles[target];
        let hit = other.owner != mobile.owner
            && other.fate != Fate::Breached
            && other.tile.distance2(mobile.tile) <= range.square
            && to_mobiles > 0.0;
        if hit {
            if work.listening {
                tiles[0].push(other.tile);
                work.events.damage.push(frame::Damage {
                    at: other.tile,
                    amount: Real(to_mobiles),
                    unit: frame::Who::mobile(&other),
                });
            }
            if hit_mobile(work, target, to_mobiles, rules.early.dust) {
                bury_mobile(rules, state, work, &other);
            }
        }
    }
    if to_structures > 0.0 {
        let enemy = 1 - mobile.owner.index();
        let mut hits = Vec::new();
        range.each(mobile.tile, |tile| {
            let slot = work.slot_on[tile];
            if slot != NONE && state.structures()[usize::from(slot)].owner().index() == enemy {
                hits.push(slot);
            }
        });
        for slot in hits {
            let structure = state.structures()[usize::from(slot)];
            if work.listening {
                tiles[1].push(structure.tile());
                work.events.damage.push(frame::Damage {
                    at: structure.tile(),
                    amount: Real(to_structures),
                    unit: frame::Who::structure(&structure),
                });
            }
            hit_structure(state, work, slot, to_structures);
        }
    }
    if work.listening {
        let unit = frame::Who::mobile(mobile);
        let [mut first, second] = tiles;
        let damages = (damages, work.events.damage.len() - damages);
        let deaths = (deaths, work.events.death.len() - deaths);
        let mut tell = |mut tiles: Vec<_>, damage| {
            // One entry for each victim: two that share a tile name it twice.
            tiles.sort();
            let (at, damage) = (mobile.tile, Real(damage));
            work.events.self_destruct.push(frame::SelfDestruct { at, tiles, damage, unit, damages, deaths });
        };
        // TM-SELF-5: one event if both damages are equal, else one for each.
        if to_mobiles == to_structures {
            first.extend(second);
            tell(first, to_mobiles);
        } else {
            tell(first, to_mobiles);
            tell(second, to_structures);
        }
    }
}

/// Takes `damage` from a structure; with no health left it is no longer a target (TM-HEALTH-3).
#[inline]
pub fn hit_structure(state: &mut State, work: &mut Work, slot: u16, damage: f32) {
    let structure = &mut state.structures_mut()[usize::from(slot)];
    let stood = structure.health.0 > 0.0;
    structure.health.0 -= damage;
    if stood && structure.health.0 <= 0.0 {
        let structure = *structure;
        work.standing[structure.owner().index()].remove(structure.tile());
        work.fallen.push(slot);
        if work.listening {
            work.events.death.push(frame::Death {
                at: structure.tile(),
                unit: frame::Who::structure(&structure),
                removed: false,
            });
        }
    }
}

/// Records the death of a mobile unit: its mobile points count as destroyed.
#[inline]
pub fn bury_mobile(rules: &Rules, state: &mut State, work: &mut Work, mobile: &Mobile) {
    let player = &mut state.players[mobile.owner.index()];
    player.mp_destroyed =
        Real(crate::state::tenth(player.mp_destroyed.0 + rules.form(mobile.kind, false).cost2));
    if work.listening {
        work.events.death.push(frame::Death {
            at: mobile.tile,
            unit: frame::Who::mobile(mobile),
            removed: false,
        });
    }
}
