//! The arithmetic of healths and shields, in 32-bit floats.

use crate::work::{Fate, Mobile, Work};

/// Adds a shield to a mobile unit (TM-HEALTH-1): the health shown is its own plus all shields, summed from the oldest.
#[inline]
pub fn shield(mobile: &mut Mobile, shields: &mut [f32], stride: usize, amount: f32) {
    let (first, count) = mobile.shields;
    shields[mobile.berth * stride + first + count] = amount;
    mobile.shields.1 += 1;
    sum(mobile, shields, stride);
}

/// Takes `damage` from a mobile unit. TM-HEALTH-2: a hit of at least all shields together removes them all and takes
/// the rest from the unit; a smaller one drains the oldest shield first, then the next. TM-HEALTH-4: a hit of at least
/// the health shown kills the unit, even if the sums in 32-bit floats would leave a little.
#[inline]
pub fn hit(mobile: &mut Mobile, shields: &mut [f32], stride: usize, damage: f32) {
    if damage >= mobile.health {
        (mobile.base, mobile.shields.1) = (0.0, 0);
    } else if mobile.shields.1 == 0 {
        mobile.base -= damage;
    } else if damage >= mobile.shielded {
        mobile.base -= damage - mobile.shielded;
        mobile.shields.1 = 0;
    } else {
        let mut rest = damage;
        while rest > 0.0 && mobile.shields.1 > 0 {
            let oldest = &mut shields[mobile.berth * stride + mobile.shields.0];
            if rest >= *oldest {
                rest -= *oldest;
                mobile.shields = (mobile.shields.0 + 1, mobile.shields.1 - 1);
            } else {
                *oldest -= rest;
                rest = 0.0;
            }
        }
    }
    sum(mobile, shields, stride);
}

/// Takes `loss` from each shield; one without strength is gone.
pub fn fade(mobile: &mut Mobile, shields: &mut [f32], stride: usize, loss: f32) {
    let (first, count) = mobile.shields;
    let start = mobile.berth * stride + first;
    let own = &mut shields[start..start + count];
    own.iter_mut().for_each(|shield| *shield = (*shield - loss).max(0.0));
    let gone = own.iter().take_while(|shield| **shield == 0.0).count();
    mobile.shields = (first + gone, count - gone);
    sum(mobile, shields, stride);
}

#[inline]
fn sum(mobile: &mut Mobile, shields: &[f32], stride: usize) {
    let (first, count) = mobile.shields;
    let start = mobile.berth * stride + first;
    mobile.shielded = shields[start..start + count].iter().fold(0.0, |sum, shield| sum + shield);
    mobile.health = mobile.base + mobile.shielded;
}

/// Hits mobile unit `target` and returns whether it was alive and now has no health left (TM-HEALTH-3): no more than
/// `dust` (TM-SEASON-8).
#[inline]
pub fn hit_mobile(work: &mut Work, target: usize, damage: f32, dust: f32) -> bool {
    let Work { mobiles, shields, stride, .. } = work;
    let mobile = &mut mobiles[target];
    hit(mobile, shields, *stride, damage);
    let dies = mobile.health <= dust && mobile.fate != Fate::Dead;
    if dies {
        mobile.fate = Fate::Dead;
    }
    dies
}
