//! Stage B of a frame: supports shield mobile units that came into range.

use agon_game::Seat;

use crate::frame;
use crate::health;
use crate::rules::{Form, Rules};
use crate::state::{Real, State, Structure};
use crate::work::{Fate, Work};

/// Every standing support shields each own mobile unit in range that it has not shielded before
/// (TM-SHIELD-1). Supports give in the order of their ids, after the units have moved (TM-SHIELD-2).
pub fn give_shields(rules: &Rules, state: &State, work: &mut Work) {
    if work.givers.slots.is_empty() {
        return;
    }
    let Work { mobiles, givers, given, shields, stride, events, listening, .. } = work;
    for mobile in mobiles.iter_mut().filter(|mobile| mobile.fate != Fate::Breached) {
        let reaching = givers.reaching(mobile.owner, mobile.tile);
        for (word, &reaching) in reaching.iter().enumerate() {
            let done = &mut given[mobile.berth * givers.words + word];
            let mut fresh = reaching & givers.standing[word] & !*done;
            *done |= fresh;
            while fresh != 0 {
                let slot = givers.slots[word * 64 + fresh.trailing_zeros() as usize];
                fresh &= fresh - 1;
                let giver = state.structures()[usize::from(slot)];
                let amount = worth(rules.form(giver.kind(), giver.upgraded()), giver);
                // TM-SHIELD-4: shielding a unit that destroys itself in this frame has no effect.
                if !mobile.exploding {
                    health::shield(mobile, shields, *stride, amount);
                }
                if *listening {
                    events.shield.push(frame::Shield {
                        from: giver.tile(),
                        to: mobile.tile,
                        amount: Real(amount),
                        giver: frame::Who::structure(&giver),
                        target: mobile.id,
                    });
                }
            }
        }
    }
    if *listening {
        events.shield.sort_by_key(|shield| (shield.giver.id, shield.target));
    }
}

/// TM-SEASON-2: in the first seasons each shield lost a little in each frame after the one in which it was given.
pub fn fade(rules: &Rules, work: &mut Work) {
    let loss = rules.early.shield_decay_per_frame;
    if loss > 0.0 {
        let Work { mobiles, shields, stride, .. } = work;
        mobiles.iter_mut().for_each(|mobile| health::fade(mobile, shields, *stride, loss));
    }
}

/// The amount of a shield by `giver`: more for each row between it and its player's corner (TM-SHIELD-3).
pub fn worth(form: &Form, giver: Structure) -> f32 {
    let rows = if giver.owner() == Seat::new(0) { giver.tile().y() } else { 27 - giver.tile().y() };
    form.shield_per_unit + form.shield_bonus_per_y * rows as f32
}
