//! The original protocol: JSON lines over standard input and output.

use std::sync::Arc;

use agon_game::{Dialect, Facts, Heard, Outcome, Seat};
use serde_json::Value;

use crate::Terminal;
use crate::arena::SIDE;
use crate::frame::{Death, Event, Frame};
use crate::line::{self, Eyes, Names};
use crate::orders::{Action, Commands, Order};
use crate::rules::{Kind, Rules};
use crate::state::State;
use crate::view::View;

/// What has been said so far.
pub struct Wire {
    /// The frames of the last action phase: each seat is sent them before its next deploy line.
    frames: Vec<Arc<Frame>>,
    /// The structures that the last restore removed.
    removed: Vec<Death>,
    /// What each seat is up to.
    seats: [Talk; 2],
    /// The last state that was shown; what the end line counts on.
    last: Option<State>,
}

/// The conversation with one seat.
#[derive(Clone, Debug, Default)]
struct Talk {
    /// Whether the configuration was sent.
    greeted: bool,
    /// The build stack, once it was heard.
    build: Option<Vec<Order>>,
    /// Stray lines since the last question.
    stray: u16,
}

impl Dialect<Terminal> for Wire {
    fn new(_: &Terminal) -> Self {
        Self { frames: Vec::new(), removed: Vec::new(), seats: Default::default(), last: None }
    }

    /// TM-TALK-1: the configuration first; then for each turn the frames of the one before and the
    /// deploy line.
    fn ask(&mut self, game: &Terminal, seat: Seat, view: &View<'_>, out: &mut Vec<u8>) {
        let talk = &mut self.seats[seat.index()];
        if !std::mem::replace(&mut talk.greeted, true) {
            out.extend_from_slice(game.config_line().as_bytes());
            out.push(b'\n');
        }
        (talk.build, talk.stray) = (None, 0);
        // Frames of an earlier turn were for an earlier question.
        let last = self.frames.iter().filter(|frame| frame.turn + 1 == view.state.turn);
        line::actions(last.map(Arc::as_ref), Eyes::of(seat), out);
        line::deploy(view.state, &self.removed, Eyes::of(seat), out);
        self.last = Some(*view.state);
    }

    /// TM-ANSWER-1: two lines, each a JSON list of triples. TM-ANSWER-5: any other line is stray.
    fn hear(&mut self, game: &Terminal, seat: Seat, message: &[u8]) -> Heard<Commands> {
        let talk = &mut self.seats[seat.index()];
        let bounds = &game.rules().bounds;
        let Some(entries) = entries(message) else {
            if bounds.strict {
                return Heard::Malformed(format!("{}; in strict mode that is a crash", stray(message)));
            }
            talk.stray = talk.stray.saturating_add(1);
            if talk.stray > bounds.stray_lines {
                let most = bounds.stray_lines;
                return Heard::Malformed(format!(
                    "more than {most} lines of a turn are no answer; {}",
                    stray(message)
                ));
            }
            return Heard::Ignore(Some(stray(message)));
        };
        let most = usize::from(bounds.max_orders) + 1;
        let stack: Vec<Order> =
            entries.iter().take(most).map(|entry| order(game.rules(), seat, entry)).collect();
        match talk.build.take() {
            None => {
                talk.build = Some(stack);
                Heard::More
            }
            Some(build) => Heard::Answer(Commands { build, deploy: stack }),
        }
    }

    fn say(&self, game: &Terminal, seat: Seat, order: &Commands, out: &mut Vec<u8>) {
        stack(game.rules(), seat, &order.build, out);
        out.push(b'\n');
        stack(game.rules(), seat, &order.deploy, out);
    }

    fn tell(&mut self, _: &Terminal, event: &Event) {
        match event {
            Event::Frame(frame) => {
                if frame.frame == 0 {
                    self.frames.clear();
                    self.removed.clear();
                }
                self.frames.push(Arc::clone(frame));
            }
            Event::Restored(removed) => self.removed.clone_from(removed),
            Event::Over(state) => self.last = Some(**state),
        }
    }

    /// TM-TALK-5: the last frames and the end line.
    fn end(&mut self, game: &Terminal, seat: Seat, _: &Outcome, facts: &Facts, out: &mut Vec<u8>) {
        line::actions(self.frames.iter().map(Arc::as_ref), Eyes::of(seat), out);
        let Some(state) = &self.last else { return };
        line::end(game, state, self.frames.last().map(Arc::as_ref), &Names::of(facts), Eyes::of(seat), out);
    }
}

/// The entries of an answer line; `None` for a stray one. TM-ANSWER-1: an answer line is a list of lists.
fn entries(message: &[u8]) -> Option<Vec<Value>> {
    match serde_json::from_slice(message).ok()? {
        Value::Array(entries) if entries.iter().all(Value::is_array) => Some(entries),
        _ => None,
    }
}

/// One triple; TM-ANSWER-3: what is none, or names no unit, is kept as an order that will be refused.
fn order(rules: &Rules, seat: Seat, entry: &Value) -> Order {
    let unknown = Order { action: Action::Unknown, x: 0, y: 0 };
    let [Value::String(name), x, y] = entry.as_array().map_or(&[][..], Vec::as_slice) else { return unknown };
    let (Some(action), Some(x), Some(y)) = (action(rules, name), coordinate(x), coordinate(y)) else {
        return unknown;
    };
    // TM-TALK-3: player 2 counts from its own corner.
    let turn = |at: i8| if seat.index() == 0 { at } else { (SIDE - 1) as i8 - at };
    Order { action, x: turn(x), y: turn(y) }
}

/// A whole number, also where it is written as 3.0; -1 and 28 stand for all beyond.
fn coordinate(value: &Value) -> Option<i8> {
    let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
    Some(number.clamp(-1.0, f64::from(SIDE)) as i8)
}

/// What a shorthand of the configuration means (TM-CONFIG-2).
fn action(rules: &Rules, name: &str) -> Option<Action> {
    if name == rules.remove {
        Some(Action::Remove)
    } else if name == rules.upgrade {
        Some(Action::Upgrade)
    } else {
        Kind::ALL.into_iter().find(|kind| rules.units[kind.index()].shorthand == name).map(Action::Place)
    }
}

fn stack(rules: &Rules, seat: Seat, orders: &[Order], out: &mut Vec<u8>) {
    out.push(b'[');
    for (place, order) in orders.iter().enumerate() {
        if place > 0 {
            out.extend_from_slice(b", ");
        }
        let turn = |at: i8| if seat.index() == 0 { at } else { (SIDE - 1) as i8 - at };
        let name = match order.action {
            Action::Place(kind) => &rules.units[kind.index()].shorthand,
            Action::Remove => &rules.remove,
            Action::Upgrade => &rules.upgrade,
            Action::Unknown => {
                out.extend_from_slice(b"[]");
                continue;
            }
        };
        let name = Value::from(name.as_str());
        out.extend_from_slice(format!("[{name}, {}, {}]", turn(order.x), turn(order.y)).as_bytes());
    }
    out.push(b']');
}

/// TM-ANSWER-5: what the author of a bot is told about a stray line.
fn stray(message: &[u8]) -> String {
    let start: String = String::from_utf8_lossy(&message[..message.len().min(60)]).into_owned();
    format!("this line is no answer, you printed to stdout; use stderr: {start:?}")
}
