//! The restore that opens each turn except the first: decay, income, removals.

use crate::frame::{Death, Who};
use crate::rules::Rules;
use crate::state::{Real, State, tenth};
use crate::work::Work;

/// Restores both players and opens the next turn. Returns the removed structures if somebody listens. Health never changes here.
pub fn restore(rules: &Rules, state: &mut State, work: &Work) -> Vec<Death> {
    state.turn += 1;
    let resources = &rules.resources;
    let growth = match resources.turn_interval_for_bit_schedule {
        0 => 0.0,
        interval => resources.bit_growth_rate * (u32::from(state.turn) / interval) as f32,
    };
    let (mut made_sp, mut made_mp) = ([0.0; 2], [0.0; 2]);
    for structure in state.structures() {
        let form = rules.form(structure.kind(), structure.upgraded());
        made_sp[structure.owner().index()] += form.generates_resource1;
        made_mp[structure.owner().index()] += form.generates_resource2;
    }
    for (index, player) in state.players.iter_mut().enumerate() {
        // TM-RESTORE-1: mobile points decay first; TM-RESTORE-2: then income, growing by the schedule, up to the cap;
        // TM-RESTORE-3: points made by structures come with the income.
        let kept = tenth(player.mp.0 * (1.0 - resources.bit_decay_per_round));
        player.mp_spoiled = Real(tenth(player.mp_spoiled.0 + (player.mp.0 - kept)));
        let mp = tenth(kept + resources.bits_per_round + growth + made_mp[index]);
        player.mp = Real(mp.min(tenth(resources.max_bits)));
        player.sp = Real(tenth(player.sp.0 + resources.cores_per_round + made_sp[index]));
    }
    count_down(state);
    // TM-RESTORE-6: after the last turn nothing is removed or refunded any more.
    if state.turn == rules.bounds.max_turns { Vec::new() } else { remove_due(rules, state, work) }
}

/// TM-RESTORE-4: each mark counts down.
fn count_down(state: &mut State) {
    for slot in 0..state.structures().len() {
        let mark = state.mark(slot).map(|restores| restores.saturating_sub(1));
        state.set_mark(slot, mark);
    }
}

/// TM-RESTORE-4: at 0 the structure goes, and its refund is paid after the income, by ascending ids. TM-RESTORE-5: the
/// refund is a share of everything paid for it, in proportion to its health. In the first seasons those with the marks
/// of this turn go by the numbers of these (TM-SEASON-3).
fn remove_due(rules: &Rules, state: &mut State, work: &Work) -> Vec<Death> {
    let mut removed = Vec::new();
    let slots = 0..state.structures().len();
    let mut due: Vec<usize> = slots.filter(|&slot| state.mark(slot) == Some(0)).collect();
    if !work.marks.is_empty() {
        due.sort_by_key(|&slot| work.marks.get(&state.structures()[slot].id()));
    }
    let any = !due.is_empty();
    for slot in due {
        let structure = state.structures()[slot];
        let form = rules.form(structure.kind(), structure.upgraded());
        let paid = rules.worth(structure.kind(), structure.upgraded());
        let refund = form.refund_percentage * paid * structure.health.0 / form.start_health;
        let player = &mut state.players[structure.owner().index()];
        player.sp = Real(tenth(player.sp.0 + refund));
        if work.listening {
            removed.push(Death { at: structure.tile(), unit: Who::structure(&structure), removed: true });
        }
        let slots = state.structures_mut();
        slots[slot].health = Real(0.0);
    }
    if any {
        state.retain(|_, structure, _| structure.health.0 > 0.0);
    }
    removed
}
