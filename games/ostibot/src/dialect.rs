//! The protocol over a pipe: a line of JSON for each call of `shop` or `play`, and a line of JSON with the
//! function's return value (OB-BOT-3).
//!
//! ```text
//! {"phase":"shop","input":{"you":"1","rules":{...},...}}
//! {"actions":[{"buy":{"adventurerId":"a1","itemType":"rusty_sword","equip":true}}],"state":{"n":1}}
//! ```
//!
//! A bot that knows it has failed (the host of a script that threw) says so instead: `{"failed":"why"}`. That is
//! no answer, and a fault with that sentence. An `error` in an answer is also a fault, but the answer counts.
//!
//! The dialect keeps the `state` of each seat word for word and sends it with the next question.

use agon_game::{Absence, Answer, Dialect, Heard, Seat};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::Ostibot;
use crate::geometry::Direction;
use crate::input::Input;
use crate::items::Kind;
use crate::names::{AdventurerId, ItemId};
use crate::orders::{Act, Action, Order, Unclear};
use crate::view::View;

/// Upper limit on the entries of a list; a longer list is no answer (OB-BOT-3).
pub const LONGEST_LIST: usize = 1_000;
/// Upper limit on a bot's own `state`, in bytes (OB-BOT-7).
pub const LARGEST_STATE: usize = 1 << 20;
/// How many characters of a `reason` or an `error` are kept (OB-BOT-6).
pub const LONGEST_NOTE: usize = 500;

/// The conversations of a match: what each bot wants to remember.
#[derive(Clone, Debug)]
pub struct Talk {
    states: Vec<Option<Box<str>>>,
    /// How many answers each seat still owes: the referee gave up on them before they came.
    owed: Vec<u32>,
    /// Whether each seat has answered what it was last asked.
    answered: Vec<bool>,
}

impl Talk {
    /// The `state` that `seat` last gave, as JSON text; `None` before it gave one (OB-BOT-7).
    pub fn state(&self, seat: Seat) -> Option<&str> {
        self.states[seat.index()].as_deref()
    }
}

impl Dialect<Ostibot> for Talk {
    fn new(game: &Ostibot) -> Self {
        let seats = usize::from(game.seats());
        Self { states: vec![None; seats], owed: vec![0; seats], answered: vec![true; seats] }
    }

    fn ask(&mut self, _: &Ostibot, seat: Seat, view: &View<'_>, out: &mut Vec<u8>) {
        self.answered[seat.index()] = false;
        let phase = if view.shop { "shop" } else { "play" };
        out.extend_from_slice(b"{\"phase\":\"");
        out.extend_from_slice(phase.as_bytes());
        out.extend_from_slice(b"\",\"input\":");
        let written = serde_json::to_writer(&mut *out, &Input(view));
        debug_assert!(written.is_ok(), "an input is always JSON");
        if let Some(state) = self.state(seat) {
            out.pop_if(|brace| *brace == b'}');
            out.extend_from_slice(b",\"state\":");
            out.extend_from_slice(state.as_bytes());
            out.push(b'}');
        }
        out.push(b'}');
    }

    fn hear(&mut self, _: &Ostibot, seat: Seat, message: &[u8]) -> Heard<Order> {
        // Answers come in the order of the questions. Without this, one late answer would put all later ones a question behind.
        if let Some(owed) = self.owed[seat.index()].checked_sub(1) {
            self.owed[seat.index()] = owed;
            // On a slow machine a host may report late that it gave a script up: that has been reported already.
            let failed = matches!(read(message), Err(Unread::Failed(_)));
            let why = "an answer arrived after its time was up, and was ignored";
            return Heard::Ignore((!failed).then(|| why.to_owned()));
        }
        self.answered[seat.index()] = true;
        match read(message) {
            Ok((order, state)) => {
                if let Some(state) = state {
                    self.states[seat.index()] = Some(state);
                }
                match &order.error {
                    Some(error) => {
                        Heard::Failed { why: format!("it reports an error: {error}"), order: Some(order) }
                    }
                    None => Heard::Answer(order),
                }
            }
            Err(Unread::Malformed(why)) => Heard::Malformed(why),
            Err(Unread::Failed(why)) => Heard::Failed { why, order: None },
        }
    }

    fn missed(&mut self, _: &Ostibot, seat: Seat, answer: &Answer<Order>) {
        let late = *answer == Answer::Missing(Absence::TimedOut) && !self.answered[seat.index()];
        self.owed[seat.index()] += u32::from(late);
    }

    fn say(&self, _: &Ostibot, _: Seat, order: &Order, out: &mut Vec<u8>) {
        let actions: Vec<Value> = order.actions.iter().map(written).collect();
        let mut answer = json!({ "actions": actions });
        if let Some(error) = &order.error {
            answer["error"] = Value::from(&**error);
        }
        out.extend_from_slice(answer.to_string().as_bytes());
    }
}

/// What `shop` and `play` return (OB-BOT-3), or that they failed.
#[derive(Deserialize)]
struct Returned<'a> {
    #[serde(default)]
    actions: Actions,
    #[serde(default, borrow, deserialize_with = "even_null")]
    state: Option<&'a RawValue>,
    #[serde(default)]
    error: Value,
    #[serde(default)]
    failed: Option<String>,
}

/// `null` is a state like any other; only a missing `state` keeps the old one.
fn even_null<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

/// Why a line holds no answer: a sentence for the bot's author.
enum Unread {
    Malformed(String),
    /// The bot says that it failed.
    Failed(String),
}

/// Reads an answer: the order and the state to keep.
fn read(message: &[u8]) -> Result<(Order, Option<Box<str>>), Unread> {
    let first = message.iter().find(|byte| !byte.is_ascii_whitespace());
    if first != Some(&b'{') {
        return Err(Unread::Malformed("the answer must be a JSON object like {\"actions\":[]}".to_owned()));
    }
    let returned: Returned<'_> = serde_json::from_slice(message).map_err(|error| {
        Unread::Malformed(format!("the answer is not a JSON object as asked for: {error}"))
    })?;
    if let Some(why) = returned.failed {
        return Err(Unread::Failed(why.chars().take(LONGEST_NOTE).collect()));
    }
    let state = returned.state.map(RawValue::get);
    if let Some(size) = state.map(str::len).filter(|&size| size > LARGEST_STATE) {
        return Err(Unread::Malformed(format!("`state` has {size} bytes; at most {LARGEST_STATE} are kept")));
    }
    // Line breaks can stand only between JSON tokens, and would end the line the state is sent in.
    let state = state.map(|text| text.replace(['\n', '\r'], " ").into());
    let error = match returned.error {
        Value::Null => None,
        Value::String(text) => note(&text),
        other => note(&other.to_string()),
    };
    Ok((Order { actions: returned.actions.0, error }, state))
}

/// The list of actions.
#[derive(Default)]
struct Actions(Vec<Action>);

impl<'de> Deserialize<'de> for Actions {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Actions;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("`actions` to be an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Actions, A::Error> {
                let mut actions = Vec::new();
                while let Some(entry) = entries.next_element::<Value>()? {
                    if actions.len() == LONGEST_LIST {
                        return Err(A::Error::custom(format!("more than {LONGEST_LIST} actions")));
                    }
                    actions.push(action(&entry));
                }
                Ok(Actions(actions))
            }
        }
        from.deserialize_seq(List)
    }
}

/// The first characters of a remark.
fn note(text: &str) -> Option<Box<str>> {
    let kept: String = text.chars().take(LONGEST_NOTE).collect();
    (!kept.is_empty()).then(|| kept.into())
}

/// What an entry asks for. Any entry becomes something the rules can answer.
fn action(entry: &Value) -> Action {
    // An entry asks for exactly one thing (OB-ACT-4), and directions have one spelling (OB-ACT-5).
    const ASKS: [&str; 7] = ["move", "use", "buy", "sell", "equip", "unequip", "transfer"];
    let adventurer = |of: &Value, key| of[key].as_str().map_or(AdventurerId::UNKNOWN, AdventurerId::read);
    let who = adventurer(entry, "adventurerId");
    let mut asks = ASKS.into_iter().filter(|&ask| entry.get(ask).is_some_and(|asked| !asked.is_null()));
    let (ask, body) = match (asks.next(), asks.next()) {
        (Some(ask), None) => (ask, &entry[ask]),
        (None, _) => return Act::Unclear { who, why: Unclear::Nothing }.into(),
        (Some(_), Some(_)) => return Act::Unclear { who, why: Unclear::Several }.into(),
    };
    let item = body["itemId"].as_str().map_or(ItemId::UNKNOWN, ItemId::read);
    let buyer = adventurer(body, "adventurerId");
    let act = match ask {
        "move" => match body["direction"].as_str().and_then(Direction::named) {
            Some(direction) => Act::Move { who, direction },
            None => Act::Unclear { who, why: Unclear::Direction },
        },
        "use" => Act::Use { who, item },
        "buy" => match body["itemType"].as_str().and_then(Kind::asked) {
            Some(kind) => Act::Buy { who: buyer, kind, equip: body["equip"] == true },
            None => Act::Unclear { who: buyer, why: Unclear::ItemType },
        },
        "sell" => Act::Sell { who: buyer, item },
        "equip" => Act::Equip { who: buyer, item },
        "unequip" => Act::Unequip { who: buyer, item },
        _ => Act::Transfer { from: adventurer(body, "from"), to: adventurer(body, "to"), item },
    };
    Action { act, reason: body["reason"].as_str().and_then(note) }
}

/// The entry a tidy bot would have written.
fn written(action: &Action) -> Value {
    let mut entry = match action.act {
        Act::Move { who, direction } => json!({"adventurerId": who, "move": {"direction": direction}}),
        Act::Use { who, item } => json!({"adventurerId": who, "use": {"itemId": item}}),
        Act::Buy { who, kind, equip } => {
            json!({"buy": {"adventurerId": who, "itemType": kind, "equip": equip}})
        }
        Act::Sell { who, item } => json!({"sell": {"adventurerId": who, "itemId": item}}),
        Act::Equip { who, item } => json!({"equip": {"adventurerId": who, "itemId": item}}),
        Act::Unequip { who, item } => json!({"unequip": {"adventurerId": who, "itemId": item}}),
        Act::Transfer { from, to, item } => json!({"transfer": {"from": from, "to": to, "itemId": item}}),
        Act::Unclear { who, why: Unclear::Nothing } => json!({"adventurerId": who}),
        Act::Unclear { who, why: Unclear::Several } => json!({"adventurerId": who, "move": {}, "use": {}}),
        Act::Unclear { who, why: Unclear::Direction } => {
            json!({"adventurerId": who, "move": {"direction": "?"}})
        }
        Act::Unclear { who, why: Unclear::ItemType } => {
            json!({"buy": {"adventurerId": who, "itemType": "?"}})
        }
    };
    if let Some(reason) = &action.reason {
        let asked =
            entry.as_object_mut().and_then(|entry| entry.values_mut().find(|value| value.is_object()));
        if let Some(asked) = asked {
            asked["reason"] = Value::from(&**reason);
        }
    }
    entry
}
