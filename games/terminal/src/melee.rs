//! Strikes of the first seasons: units near each other strike, for nothing.
//!
//! The records list them, so we do; the multiplier of their damage was 0 in every configuration.

use crate::frame;
use crate::rules::{Form, Kind, Rules};
use crate::state::{Real, State};
use crate::work::{Fate, Work};

/// The most strikes of a frame that are listed: they are for readers only.
const MOST_STRIKES: usize = 10_000;

/// Lists the strikes of this frame (TM-SEASON-6).
///
/// Mobile units of both players strike at each other on the same tile or on neighbouring ones. Later in these seasons
/// they did so twice, and every unit also struck at all whose reach it was in: enemies of which one is mobile, and
/// a mobile unit at its own supports.
pub fn strike(rules: &Rules, state: &State, work: &mut Work) {
    if !rules.early.is_early || !work.listening {
        return;
    }
    let in_reach = rules.early.strikes_in_reach;
    let mobiles = work.mobiles.iter().filter(|mobile| mobile.fate != Fate::Breached);
    let mut units: Vec<_> = mobiles.map(|mobile| (frame::Who::mobile(mobile), mobile.tile)).collect();
    let count = units.len();
    if in_reach && count > 0 {
        // Those that fell in this frame, too.
        let standing = state.structures().iter().enumerate();
        let standing =
            standing.filter(|(slot, one)| one.health.0 > 0.0 || work.fallen.contains(&(*slot as u16)));
        units.extend(standing.map(|(_, structure)| (frame::Who::structure(structure), structure.tile())));
    }
    let reach = |form: &Form, kind| if kind == Kind::Support { form.shield_range } else { form.attack_range };
    for (place, &(unit, from)) in units.iter().enumerate() {
        let first = work.events.melee.len();
        for (other_place, &(other, to)) in units.iter().enumerate() {
            let (mobile, other_mobile) = (place < count, other_place < count);
            let square = from.distance2(to);
            let enemies = unit.owner != other.owner;
            let neighbours = mobile && other_mobile && enemies && square <= 1;
            let fits = if other.kind == Kind::Support {
                mobile && !enemies
            } else {
                enemies && (mobile || other_mobile)
            };
            let reached =
                in_reach && fits && square <= reach(rules.form(other.kind, false), other.kind).square;
            let times = usize::from(reached) + usize::from(neighbours) * if in_reach { 2 } else { 1 };
            for _ in 0..times {
                if work.events.struck.len() == MOST_STRIKES {
                    return;
                }
                work.events.struck.push(frame::Damage { at: to, amount: Real(0.0), unit: other });
            }
            // One entry for each tile.
            if times > 0 && !work.events.melee[first..].iter().any(|melee| melee.to == to) {
                work.events.melee.push(frame::Melee { from, to, unit });
            }
        }
    }
}
