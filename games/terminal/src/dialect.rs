//! The original protocol: JSON lines over standard input and output.

use std::sync::Arc;

use agon_game::{Dialect, Facts, Heard, Outcome, Seat};
use serde_json::{Value, json};

use crate::Terminal;
use crate::frame::{Death, Event, Frame};
use crate::line::{self, Eyes, Names};
use crate::orders::{Action, Commands, Mistake, Order};
use crate::rules::{Kind, Rules};
use crate::state::State;
use crate::view::View;

/// What has been sent and received so far.
pub struct Wire {
    /// The frames of the last action phase: each seat is sent them before its next deploy line.
    frames: Vec<Arc<Frame>>,
    /// The structures that the last restore removed.
    removed: Vec<Death>,
    /// The state of each seat's conversation.
    seats: [Talk; 2],
    /// The last state shown, which the end line relies on.
    last: Option<State>,
}

/// The conversation with one seat.
#[derive(Clone, Debug, Default)]
struct Talk {
    /// Whether the configuration was sent.
    greeted: bool,
    /// The build stack, once it has been heard.
    build: Option<Vec<Order>>,
    /// Stray lines since the last question.
    stray: u16,
}

impl Dialect<Terminal> for Wire {
    fn new(_: &Terminal) -> Self {
        Self { frames: Vec::new(), removed: Vec::new(), seats: Default::default(), last: None }
    }

    /// TM-TALK-1: first the configuration; then for each turn the frames of the turn before and the deploy line.
    fn ask(&mut self, game: &Terminal, seat: Seat, view: &View<'_>, out: &mut Vec<u8>) {
        let talk = &mut self.seats[seat.index()];
        if !std::mem::replace(&mut talk.greeted, true) {
            out.extend_from_slice(game.config_line().as_bytes());
            out.push(b'\n');
        }
        (talk.build, talk.stray) = (None, 0);
        // Frames of earlier turns belonged to earlier questions.
        let last = self.frames.iter().filter(|frame| frame.turn + 1 == view.state.turn);
        line::actions(last.map(Arc::as_ref), Eyes::of(game.rules(), seat), out);
        line::deploy(view.state, &self.removed, Eyes::of(game.rules(), seat), out);
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
                    "more than {most} lines of a turn are not answers; {}",
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
        line::actions(self.frames.iter().map(Arc::as_ref), Eyes::of(game.rules(), seat), out);
        let Some(state) = &self.last else { return };
        line::end(
            game,
            state,
            self.frames.last().map(Arc::as_ref),
            &Names::of(facts),
            Eyes::of(game.rules(), seat),
            out,
        );
    }
}

/// The entries of an answer line; `None` for a stray one. TM-ANSWER-1: an answer line is a list of lists.
fn entries(message: &[u8]) -> Option<Vec<Value>> {
    match serde_json::from_slice(message).ok()? {
        Value::Array(entries) if entries.iter().all(Value::is_array) => Some(entries),
        _ => None,
    }
}

/// One triple; TM-ANSWER-3: an entry that is not one, or names no unit, is kept as an order that will be refused.
fn order(rules: &Rules, seat: Seat, entry: &Value) -> Order {
    let [name, x, y] = match entry.as_array().map_or(&[][..], Vec::as_slice) {
        [] => return Order::wrong(Mistake::Any),
        [name, x, y] => [name, x, y],
        _ => return Order::wrong(Mistake::Count),
    };
    let Value::String(name) = name else { return Order::wrong(Mistake::NoText) };
    let Some(action) = action(rules, name) else { return Order::wrong(Mistake::shorthand(name)) };
    let (Some(x), Some(y)) = (coordinate(x), coordinate(y)) else { return Order::wrong(Mistake::NotWhole) };
    Order { action, x: Order::turned(seat, x), y: Order::turned(seat, y) }
}

/// A whole number, also when written as 3.0.
fn coordinate(value: &Value) -> Option<i8> {
    let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
    Some(number.clamp(Order::LEAST.into(), Order::MOST.into()) as i8)
}

/// The action for a shorthand of the configuration (TM-CONFIG-2).
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
        let name = match order.action {
            Action::Place(kind) => &rules.units[kind.index()].shorthand,
            Action::Remove => &rules.remove,
            Action::Upgrade => &rules.upgrade,
            Action::Unknown => {
                out.extend_from_slice(mistaken(rules, order.mistake()).to_string().as_bytes());
                continue;
            }
        };
        let name = Value::from(name.as_str());
        let [x, y] = [order.x, order.y].map(|at| Order::turned(seat, at));
        out.extend_from_slice(format!("[{name}, {x}, {y}]").as_bytes());
    }
    out.push(b']');
}

/// An entry with this mistake.
fn mistaken(rules: &Rules, mistake: Mistake) -> Value {
    match mistake {
        Mistake::Any => json!([]),
        Mistake::Count => json!([null]),
        Mistake::NoText => json!([null, null, null]),
        Mistake::NotWhole => json!([rules.units[0].shorthand, null, null]),
        Mistake::Odd => json!(["", null, null]),
        Mistake::Shorthand(shown, more) => {
            let mut name: String = shown.into_iter().filter(|&byte| byte != 0).map(char::from).collect();
            name.push_str(if more { "…" } else { "" });
            json!([name, null, null])
        }
    }
}

/// TM-ANSWER-5: the message about a stray line for the bot's author.
fn stray(message: &[u8]) -> String {
    let start: String = String::from_utf8_lossy(&message[..message.len().min(60)]).into_owned();
    format!("{start:?} is not an answer; print debug text to stderr")
}

#[cfg(test)]
mod tests {
    use agon_game::session::RunningMatch;
    use agon_game::{Answer, Game as _, Session as _, Setup};

    use super::*;

    #[test]
    fn a_refused_entry_is_told_as_it_was_written() {
        let shorthand = |name: &str| format!("the configuration has no shorthand `{name}`");
        let whole = "x and y of [shorthand, x, y] must be whole numbers".to_owned();
        let entries = [
            (r#"["FF",50,5]"#, "(50, 5) lies outside the arena".to_owned()),
            (r#"["FF",-3,0]"#, "(-3, 0) lies outside the arena".to_owned()),
            (r#"["FF",1e9,-1e300]"#, "(127 or more, -100 or less) lies outside the arena".to_owned()),
            (r#"["QQ",3,13]"#, shorthand("QQ")),
            (r#"["Q",3,13]"#, shorthand("Q")),
            (r#"["Wall",3,13]"#, shorthand("Wa…")),
            (r#"["äü",3,13]"#, "the configuration does not have this shorthand".to_owned()),
            (r#"["FF",13]"#, "an order has three elements: [shorthand, x, y]".to_owned()),
            (r#"[0,3,13]"#, "the first element of [shorthand, x, y] must be a text".to_owned()),
            (r#"["FF",3.5,13]"#, whole.clone()),
            (r#"["FF","3",13]"#, whole),
            ("[]", "not a triple [shorthand, x, y] with a shorthand of the configuration".to_owned()),
        ];
        for seat in Seat::first(2) {
            let setup = Setup { seats: 2, ..Setup::default() };
            let mut table = RunningMatch::new(Terminal::set_up(&setup).expect("the default setup"));
            let mut wire = Wire::new(table.game());
            let mut hear = |game: &Terminal, first: &[u8], second: &[u8]| {
                assert!(matches!(wire.hear(game, seat, first), Heard::More));
                let Heard::Answer(commands) = wire.hear(game, seat, second) else { panic!("an answer") };
                commands
            };
            let line = format!("[{}]", entries.each_ref().map(|(entry, _)| *entry).join(","));
            let commands = hear(table.game(), line.as_bytes(), b"[]");
            let (mut said, mut packed) = (Vec::new(), Vec::new());
            Wire::new(table.game()).say(table.game(), seat, &commands, &mut said);
            let lines: Vec<&[u8]> = said.split(|&byte| byte == b'\n').collect();
            assert_eq!(
                hear(table.game(), lines[0], lines[1]),
                commands,
                "{}",
                String::from_utf8_lossy(&said)
            );
            commands.pack(&mut packed);
            assert_eq!(Commands::unpack(&packed).as_ref(), Some(&commands));
            table.play_typed(&[(seat, Answer::Given { order: commands, think_ms: 0 })]);
            let told: Vec<&str> = table.rejections().iter().map(|one| one.why.as_str()).collect();
            assert_eq!(told, entries.each_ref().map(|(_, why)| why.as_str()));
        }
    }

    #[test]
    fn no_bytes_of_a_replay_are_too_odd_to_be_shown() {
        let game = Terminal::set_up(&Setup { seats: 2, ..Setup::default() }).expect("the default setup");
        for (x, y) in (0..=255).flat_map(|x| (0..=255).map(move |y| (x, y))) {
            let commands = Commands::unpack(&[2, 8, x, y, 0, x, y, 0]).expect("two orders");
            let mut said = Vec::new();
            Seat::first(2).for_each(|seat| Wire::new(&game).say(&game, seat, &commands, &mut said));
        }
    }
}
