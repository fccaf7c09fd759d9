//! Stage A of a frame: mobile units step, breach, or find that they have nowhere to go.

use crate::arena::Tile;
use crate::frame;
use crate::path::next_step;
use crate::rules::Rules;
use crate::state::{Real, State, tenth};
use crate::work::{Fate, Mobile, Work};

/// Moves every mobile unit, by ascending id (TM-MOVE-1).
///
/// TM-MOVE-2: a unit accumulates its speed each frame and acts when it has accumulated a whole step.
/// TM-MOVE-3: on its target edge it breaches. TM-SELF-1: with nowhere to go it destroys itself.
pub fn move_units(rules: &Rules, state: &mut State, work: &mut Work) {
    for index in 0..work.mobiles.len() {
        let waiting = &mut work.mobiles[index];
        let form = rules.form(waiting.kind, false);
        waiting.progress += form.speed;
        if waiting.progress >= 1.0 {
            waiting.progress -= 1.0;
            let mut mobile = *waiting;
            if mobile.edge.holds(mobile.tile) {
                mobile.fate = Fate::Breached;
                let own = mobile.owner.index();
                breach(state, own, form.player_breach_damage, form.metal_for_breach);
                if work.listening {
                    work.events.breach.push(frame::Breach {
                        at: mobile.tile,
                        damage: Real(form.player_breach_damage),
                        unit: frame::Who::mobile(&mobile),
                    });
                    work.events.death.push(frame::Death {
                        at: mobile.tile,
                        unit: frame::Who::mobile(&mobile),
                        removed: false,
                    });
                }
            } else if let Some(tile) = step(rules, state, work, &mut mobile) {
                if work.listening {
                    work.events.moves.push(frame::Step {
                        from: mobile.tile,
                        to: tile,
                        unit: frame::Who::mobile(&mobile),
                    });
                }
                mobile.went_sideways = tile.y() == mobile.tile.y();
                mobile.tile = tile;
                mobile.steps += 1;
            } else {
                mobile.exploding = true;
            }
            work.mobiles[index] = mobile;
        }
    }
}

/// The next step of a unit: its own (see [`next_step`]), or in a recorded match that of the record (TM-SEASON-7).
#[inline]
fn step(rules: &Rules, state: &State, work: &mut Work, mobile: &mut Mobile) -> Option<Tile> {
    if !rules.early.is_early {
        return next_step(work, mobile, None);
    }
    let key = (state.turn, work.frame, mobile.id);
    let Some(shown) = &work.shown else {
        return next_step(work, mobile, rules.picks.steps.get(&key).copied());
    };
    let tile = shown.steps.get(&key).copied();
    let own = next_step(work, &mut mobile.clone(), None);
    let picked = next_step(work, mobile, tile);
    if let Some(tile) = picked.filter(|_| picked != own) {
        work.picks.steps.insert(key, tile);
    }
    picked
}

/// TM-MOVE-4: a breach costs the enemy health and earns structure points, both at once.
fn breach(state: &mut State, own: usize, damage: f32, metal: f32) {
    state.players[1 - own].hp.0 -= damage;
    let player = &mut state.players[own];
    player.sp = Real(tenth(player.sp.0 + metal));
    player.points.0 += damage;
}
