//! What bots send: REGISTER and COMMAND, and everything else.

use std::io::Write as _;

use agon_game::{Heard, Seat};
use serde_json::Value;

use super::{Remembered, Wire, ask};
use crate::JungleBlitz;
use crate::orders::{Action, Command, Entry, Flaw};
use crate::rules::MAX_ACTIONS;

/// A longer team name is cut.
const LONGEST_NAME: usize = 100;
/// How much of a bot's message is quoted in its fault.
const LONGEST_QUOTED: usize = 40;

/// The first message of a bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Registration {
    /// With the name of its team.
    Name(String),
    /// With a token that identifies a seat.
    Token(String),
}

/// Reads a REGISTER message (JB-WIRE-1): either `teamName` or `token`, not empty.
///
/// # Errors
/// Why it is not one, for the bot's fault; its connection is to be closed.
pub fn register(message: &[u8]) -> Result<Registration, String> {
    let value: Value = serde_json::from_slice(message)
        .map_err(|error| format!("the first message must be REGISTER, but this is not JSON: {error}"))?;
    if value.get("type").and_then(Value::as_str) != Some("REGISTER") {
        return Err("the first message must be an object with type REGISTER".to_owned());
    }
    let field = |name: &str| {
        let text = value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        text.map(|text| text.chars().take(LONGEST_NAME).collect::<String>())
    };
    match (field("teamName"), field("token")) {
        (Some(name), None) => Ok(Registration::Name(name)),
        (None, Some(token)) => Ok(Registration::Token(token)),
        (Some(_), Some(_)) => Err("REGISTER must give `teamName` or `token`, not both".to_owned()),
        (None, None) => Err("REGISTER must give a `teamName` (or the `token` of the match)".to_owned()),
    }
}

/// Reads one message of a team during the match.
///
/// - JB-WIRE-1: its first REGISTER gives its name; a second one closes the connection.
/// - JB-WIRE-4: a command counts for the tick that was asked; one for another tick, or a second one, is a fault and ignored.
/// - JB-WIRE-6: other messages are ignored; anything that is not a JSON object closes the connection.
pub(super) fn message(wire: &mut Wire, game: &JungleBlitz, seat: Seat, message: &[u8]) -> Heard<Command> {
    let value: Value = match serde_json::from_slice(message) {
        Ok(value) => value,
        Err(error) => return Heard::Close(format!("the message is not JSON: {error}")),
    };
    let Value::Object(fields) = &value else {
        return Heard::Close("the message is JSON but not an object".to_owned());
    };
    let own = &mut wire.seats[seat.index()];
    match fields.get("type").and_then(Value::as_str) {
        Some("REGISTER") if own.registered => Heard::Close("the team is already registered".to_owned()),
        Some("REGISTER") => match register(message) {
            Ok(registration) => {
                own.registered = true;
                if let Registration::Name(name) = registration {
                    own.name = ask::quoted(&name);
                    own.called = Some(name);
                }
                Heard::Ignore(None)
            }
            Err(why) => Heard::Close(why),
        },
        Some("COMMAND") => match own.asked {
            None => Heard::Ignore(Some("a COMMAND came before the first TICK".to_owned())),
            Some(asked) => match own.take(fields.get("tick"), asked) {
                Ok(()) => actions(game, seat, fields.get("actions")),
                Err(why) => Heard::Ignore(Some(why)),
            },
        },
        _ => Heard::Ignore(Some("the type of the message is neither COMMAND nor REGISTER".to_owned())),
    }
}

impl Remembered {
    /// Takes the first answer to the last tick asked, while it is still awaited (JB-WIRE-4).
    ///
    /// # Errors
    /// What a COMMAND with that `tick` is instead, for the bot's fault.
    fn take(&mut self, tick: Option<&Value>, asked: u16) -> Result<(), String> {
        let Some(value) = tick else {
            return Err(format!("a COMMAND without a tick; tick {asked} was asked"));
        };
        let Some(tick) = tick_number(value) else {
            let shown: String = value.to_string().chars().take(LONGEST_QUOTED).collect();
            return Err(format!("a COMMAND whose tick is {shown}; it must be the number {asked}"));
        };
        if tick > asked {
            return Err(format!("a COMMAND for tick {tick}, which was not asked yet; tick {asked} was"));
        }
        let unanswered = self.open.iter().position(|open| *open == tick);
        let Some(position) = unanswered else {
            return Err(format!("another COMMAND for tick {tick}, which was already answered"));
        };
        self.open.remove(position);
        match asked - tick {
            0 if self.waited_for => {
                self.waited_for = false;
                Ok(())
            }
            0 => Err(format!("an answer to tick {tick} after its limit")),
            1 => Err(format!("an answer to tick {tick}, 1 tick late")),
            late => Err(format!("an answer to tick {tick}, {late} ticks late")),
        }
    }
}

/// Reads a tick number; `66.0` is one, `"66"` is not.
fn tick_number(value: &Value) -> Option<u16> {
    let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
    (0.0..=f64::from(u16::MAX)).contains(&number).then_some(number as u16)
}

/// The list of actions (JB-WIRE-5). Without one, the team has still answered, with nothing.
fn actions(game: &JungleBlitz, seat: Seat, actions: Option<&Value>) -> Heard<Command> {
    match actions.and_then(Value::as_array) {
        None => Heard::Answer(Command { entries: vec![Entry::Flawed(Flaw::NoActions)] }),
        Some(list) if list.len() > MAX_ACTIONS => Heard::Malformed(format!(
            "{} actions are more than the {MAX_ACTIONS} a command may have",
            list.len()
        )),
        Some(list) => {
            let entries =
                list.iter().map(|value| entry(game, seat, value).unwrap_or_else(Entry::Flawed)).collect();
            Heard::Answer(Command { entries })
        }
    }
}

/// One entry: an object of type UNIT (JB-ACT-1) for a unit of the sender (JB-ACT-2). The first mistake counts.
fn entry(game: &JungleBlitz, seat: Seat, value: &Value) -> Result<Entry, Flaw> {
    let fields = value.as_object().ok_or(Flaw::Empty)?;
    if fields.get("type").and_then(Value::as_str) != Some("UNIT") {
        return Err(Flaw::NotUnit);
    }
    let word = fields.get("action").and_then(Value::as_str).ok_or(Flaw::UnknownAction)?;
    let target = || {
        let target = fields.get("target")?;
        Some(game.arena.cell_at(whole(target.get("x")?)?, whole(target.get("y")?)?))
    };
    let action = Action::named(word, target).ok_or(Flaw::UnknownAction)?.ok_or(Flaw::BadTarget)?;
    let id = fields.get("unitId").and_then(Value::as_str).filter(|id| !id.is_empty()).ok_or(Flaw::NoUnit)?;
    let first = game.first_unit(seat.index());
    let own = (0..game.units_per_team).find(|unit| id == (first + unit + 1).to_string());
    own.map(|unit| Entry::Unit { unit, action }).ok_or(Flaw::NotYours)
}

/// A whole number, also when written `3.0`, or as a string: the original reads `"3"` as a number.
fn whole(value: &Value) -> Option<i64> {
    if let Value::String(text) = value {
        return text.trim().parse().ok();
    }
    value.as_i64().or_else(|| {
        let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
        Some(number.clamp(-1.0, f64::from(u16::MAX)) as i64)
    })
}

/// Appends the canonical COMMAND.
pub(super) fn command(game: &JungleBlitz, tick: u16, seat: Seat, order: &Command, out: &mut Vec<u8>) {
    let put =
        |out: &mut Vec<u8>, text: std::fmt::Arguments<'_>| out.write_fmt(text).expect("writing to memory");
    put(out, format_args!("{{\"type\":\"COMMAND\",\"tick\":{tick},\"actions\":"));
    if order.entries == [Entry::Flawed(Flaw::NoActions)] {
        out.extend(b"null}");
        return;
    }
    out.push(b'[');
    for (position, entry) in order.entries.iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        match *entry {
            Entry::Flawed(flaw) => out.extend(flawed(flaw).as_bytes()),
            Entry::Unit { unit, action } => {
                let id = game.first_unit(seat.index()) + unit + 1;
                put(out, format_args!("{{\"type\":\"UNIT\",\"action\":"));
                out.extend(ask::quoted(action.word()));
                put(out, format_args!(",\"unitId\":\"{id}\""));
                match action.target().map(|cell| game.arena.point(cell)) {
                    None => {}
                    Some(Some(at)) => put(out, format_args!(",\"target\":{{\"x\":{},\"y\":{}}}", at.x, at.y)),
                    Some(None) => out.extend(b",\"target\":{\"x\":-1,\"y\":-1}"),
                }
                out.push(b'}');
            }
        }
    }
    out.extend(b"]}");
}

/// An entry with this flaw and no earlier one.
fn flawed(flaw: Flaw) -> &'static str {
    match flaw {
        Flaw::Empty | Flaw::NoActions => "null",
        Flaw::NotUnit => r#"{"type":""}"#,
        Flaw::UnknownAction => r#"{"type":"UNIT","action":""}"#,
        Flaw::BadTarget => r#"{"type":"UNIT","action":"MOVE"}"#,
        Flaw::NoUnit => r#"{"type":"UNIT","action":"NONE"}"#,
        Flaw::NotYours => r#"{"type":"UNIT","action":"NONE","unitId":"0"}"#,
    }
}
