//! A turn, as the ordered list of its stages.

use std::sync::Arc;

use agon_game::{Answer, Seat, Sink};

use crate::arena::Tile;
use crate::frame::{Event, Frame};
use crate::orders::{Action, Commands, Order, Refusal};
use crate::rules::Rules;
use crate::self_destruct::bury_mobile;
use crate::state::{Ending, State};
use crate::work::{Fate, Work};
use crate::{Terminal, attack, clock, deploy, melee, movement, restore, self_destruct, shield};

/// Plays one turn (TM-TURN-1):
///
/// 1. the clock: damage for slow answers, crashes,
/// 2. the first line of player 1, that of player 2, the second line of player 1, that of player 2,
/// 3. action frames until no mobile unit is left,
/// 4. the restore that opens the next turn, unless the match is over.
pub fn play(
    game: &Terminal,
    state: &mut State,
    work: &mut Work,
    answers: &[(Seat, Answer<Commands>)],
    out: &mut impl Sink<Terminal>,
) {
    let rules = game.rules();
    work.listening = out.listens();
    work.events = Default::default();
    let mut commands: [Option<&Commands>; 2] = [None; 2];
    for (seat, answer) in answers {
        let counts = clock::charge(rules, state, *seat, answer);
        commands[seat.index()] = answer.order().filter(|_| counts);
    }

    work.lay_out(state);
    for seat in Seat::first(2) {
        if let Some(commands) = commands[seat.index()] {
            let most = usize::from(rules.bounds.max_orders);
            refuse_too_many(rules, seat, commands, out);
            for (index, order) in commands.build.iter().take(most).enumerate() {
                deploy::first_line(rules, state, work, seat, order)
                    .unwrap_or_else(|refusal| out.reject(seat, index, refusal));
            }
        }
    }
    for seat in Seat::first(2) {
        if let Some(commands) = commands[seat.index()] {
            let before = commands.build.len();
            let most = usize::from(rules.bounds.max_orders).saturating_sub(before);
            for (index, order) in commands.deploy.iter().take(most).enumerate() {
                deploy::second_line(rules, state, work, seat, order)
                    .unwrap_or_else(|refusal| out.reject(seat, before + index, refusal));
            }
        }
    }

    act(rules, state, work, out);

    // TM-END-1: a player without health ends the match after the frame; TM-END-2: so does the last turn.
    if state.players.iter().any(|player| player.hp.0 <= 0.0) {
        state.ending = Some(Ending::Health);
        for index in 0..work.mobiles.len() {
            let mobile = work.mobiles[index];
            work.listening = false;
            bury_mobile(rules, state, work, &mobile);
        }
        if out.listens() {
            out.event(Event::Over(Arc::new(*state)));
        }
        return;
    }
    let removed = restore::restore(rules, state, work);
    if !removed.is_empty() {
        out.event(Event::Restored(removed));
    }
    if state.turn == rules.bounds.max_turns {
        state.ending = Some(Ending::Turns);
        if out.listens() {
            out.event(Event::Over(Arc::new(*state)));
        }
    }
}

/// The action phase: frames until no mobile unit is left, at least one (TM-TURN-2).
fn act(rules: &Rules, state: &mut State, work: &mut Work, out: &mut impl Sink<Terminal>) {
    work.make_ready(rules, state);
    let mut frame = 0;
    loop {
        work.frame = frame;
        play_frame(rules, state, work);
        frame += 1;
        if frame == rules.bounds.max_frames_per_turn {
            call_off(rules, state, work);
        }
        if work.listening {
            let told = Frame::take(state, work, i32::from(frame) - 1);
            // A frame's line follows the deploy line of its turn.
            let told = Frame { line: told.line + 1, ..told };
            out.event(Event::Frame(Arc::new(told)));
        }
        state.frames += 1;
        if work.mobiles.is_empty() || state.players.iter().any(|player| player.hp.0 <= 0.0) {
            break;
        }
    }
    state.last_frames = frame;
    state.retain(|_, structure, _| structure.health.0 > 0.0);
}

/// One frame, as the ordered list of its stages (TM-FRAME-1).
fn play_frame(rules: &Rules, state: &mut State, work: &mut Work) {
    movement::move_units(rules, state, work);
    shield::fade(rules, work);
    shield::give_shields(rules, state, work);
    self_destruct::self_destruct(rules, state, work);
    attack::attack(rules, state, work);
    melee::strike(rules, state, work);
    remove_the_dead(state, work);
}

/// Stage E of a frame: units that have no health left or have breached leave the board (TM-FRAME-2).
fn remove_the_dead(state: &State, work: &mut Work) {
    work.mobiles.retain(|mobile| mobile.fate == Fate::Alive);
    while let Some(slot) = work.fallen.pop() {
        work.take_off(slot.into(), state.structures()[usize::from(slot)]);
    }
}

/// TM-TURN-3: after the last frame allowed in a turn, all mobile units leave the board.
fn call_off(rules: &Rules, state: &mut State, work: &mut Work) {
    for mobile in std::mem::take(&mut work.mobiles) {
        bury_mobile(rules, state, work, &mobile);
    }
}

/// TM-ANSWER-4: everything beyond the bound is refused, with one message.
fn refuse_too_many(rules: &Rules, seat: Seat, commands: &Commands, out: &mut impl Sink<Terminal>) {
    let most = rules.bounds.max_orders;
    if commands.build.len() + commands.deploy.len() > usize::from(most) {
        out.reject(seat, usize::from(most), Refusal::TooMany(most));
    }
}

/// The tile of an order; a refusal shows it in the coordinates of its player.
pub(crate) fn own_tile(seat: Seat, order: &Order) -> Result<Tile, Refusal> {
    order.tile().ok_or_else(|| match order.action {
        Action::Unknown => Refusal::NotUnderstood(order.mistake()),
        _ => Refusal::Outside(Order::turned(seat, order.x), Order::turned(seat, order.y)),
    })
}
