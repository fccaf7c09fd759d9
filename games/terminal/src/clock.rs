//! The clock as part of the game: slow answers cost health, crashes cost the match.

use agon_game::{Absence, Answer, Seat};

use crate::orders::Commands;
use crate::rules::Rules;
use crate::state::{Real, State, tenth};

/// Charges `seat` for its answer and returns whether the answer's orders are carried out.
pub fn charge(rules: &Rules, state: &mut State, seat: Seat, answer: &Answer<Commands>) -> bool {
    let stopped = state.players[seat.index()].crashed;
    match answer {
        // TM-CLOCK-4: a bot that was stopped for time counts as crashed from the next turn on.
        _ if stopped => crash(rules, state, seat, 0),
        Answer::Given { think_ms, .. } => slow(rules, state, seat, *think_ms),
        // TM-CLOCK-3: the bot is stopped at the maximum, with the damage for that time.
        Answer::Missing(Absence::TimedOut) => {
            slow(rules, state, seat, rules.timing.wait_time_bot_max);
            let player = &mut state.players[seat.index()];
            (player.crashed, player.timed_out) = (true, true);
        }
        Answer::Malformed { think_ms, .. } => crash(rules, state, seat, *think_ms),
        Answer::Missing(Absence::Gone | Absence::NeverStarted) => crash(rules, state, seat, 0),
    }
    matches!(answer, Answer::Given { .. }) && !stopped
}

/// TM-CLOCK-1: costs one health for each whole second beyond the soft limit, before the first frame. TM-SEASON-5: it costs
/// nothing who plays by hand.
fn slow(rules: &Rules, state: &mut State, seat: Seat, ms: u32) {
    let is_by_hand = rules.bounds.by_hand.contains(seat);
    let over = if is_by_hand { 0 } else { ms.saturating_sub(rules.timing.wait_time_bot_soft) };
    let damage = (over / 1_000) as f32;
    think(state, seat, ms);
    state.players[seat.index()].time_damage.0 += damage;
    hurt(state, seat, damage);
}

/// TM-CLOCK-2: a crash costs one more than the health at the start, before the first frame. TM-SEASON-4: in the
/// first seasons the opponent is paid for it.
fn crash(rules: &Rules, state: &mut State, seat: Seat, ms: u32) {
    think(state, seat, ms);
    state.players[seat.index()].crashed = true;
    hurt(state, seat, rules.resources.starting_hp + 1.0);
    let other = &mut state.players[1 - seat.index()];
    other.sp = Real(tenth(other.sp.0 + rules.early.cores_for_crash));
}

fn think(state: &mut State, seat: Seat, ms: u32) {
    let player = &mut state.players[seat.index()];
    player.ms = ms;
    player.total_ms = player.total_ms.saturating_add(ms);
}

/// Health lost this way counts as points of the other player (TM-STATS-1).
fn hurt(state: &mut State, seat: Seat, damage: f32) {
    let player = &mut state.players[seat.index()];
    player.hp = Real(player.hp.0 - damage);
    state.players[1 - seat.index()].points.0 += damage;
}
