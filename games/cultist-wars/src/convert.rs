//! CONVERT: a leader takes over a cultist.

use crate::state::{Owner, State, UnitId};

/// The distance from which a leader converts. CW-CONVERT-1.
pub const REACH: u8 = 1;

/// Gives a living cultist to a new owner; place and health points stay. CW-CONVERT-1.
pub(crate) fn convert(state: &mut State, target: UnitId, owner: Owner) {
    state.owned.iter_mut().for_each(|units| units.remove(target));
    state.owned[usize::from(owner.number())].insert(target);
}
