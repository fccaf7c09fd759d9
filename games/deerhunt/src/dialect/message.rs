//! The state message, byte for byte with the spacing of the events.

use std::io::Write as _;

use crate::map::MAX_HUBS;
use crate::rules::Message;
use crate::state::{At, Direction, Kind};
use crate::view::{Seen, View};

/// The `map` of the message. It is by far the longest part and almost never changes.
#[derive(Clone, Debug, Default)]
pub struct Ground {
    of: Option<[bool; MAX_HUBS]>,
    text: Vec<u8>,
}

impl Ground {
    /// DH-FOG-2: the whole ground, without units; saturated hubs are ground.
    pub fn of(&mut self, view: &View<'_>) -> &[u8] {
        if self.of != Some(view.saturated) {
            self.of = Some(view.saturated);
            self.text.clear();
            for y in 0..view.map.height() {
                self.text.extend(if y == 0 { &b"["[..] } else { b", [" });
                for x in 0..view.map.width() {
                    self.text.extend(if x == 0 { &b"\""[..] } else { b", \"" });
                    self.text.push(letter(view, At::new(x, y)));
                    self.text.push(b'"');
                }
                self.text.push(b']');
            }
        }
        &self.text
    }
}

fn letter(view: &View<'_>, at: At) -> u8 {
    if view.map.is_wall(at) {
        b'X'
    } else if view.is_resource(at) {
        b'R'
    } else {
        b' '
    }
}

/// DH-WIRE-1: writes the message. `ground` is the content of `map`.
pub fn write(view: &View<'_>, ground: &[u8], out: &mut Vec<u8>) {
    out.extend(b"{\"map\": [");
    out.extend(ground);
    out.extend(b"], \"my_units\": [");
    units(view, &view.mine, out);
    out.extend(b"], \"their_units\": [");
    units(view, &view.theirs, out);
    put(out, format_args!("], \"my_resources\": {}, \"turns_left\": {}", view.resources, view.turns_left));
    if view.rules.message == Message::Document {
        match view.their_resources {
            Some(owned) => put(out, format_args!(", \"their_resources\": {owned}")),
            None => out.extend(b", \"their_resources\": null"),
        }
    }
    out.push(b'}');
}

fn units(view: &View<'_>, units: &[Seen], out: &mut Vec<u8>) {
    for (index, seen) in units.iter().enumerate() {
        if index > 0 {
            out.extend(b", ");
        }
        match view.rules.message {
            Message::Document | Message::Neo2019 => unit_of_2019(view, seen, out),
            Message::Bc2021 => unit_of_2021(view, seen, out),
        }
    }
}

/// DH-WIRE-2: a unit in the form of 2019; with its health under the document's rules.
fn unit_of_2019(view: &View<'_>, Seen { id, unit }: &Seen, out: &mut Vec<u8>) {
    let At { x, y } = unit.at;
    let rules = view.rules;
    match unit.kind {
        Kind::Melee => {
            put(
                out,
                format_args!(
                    "{{\"type\": \"melee\", \"duplication_time\": {}, \"resource_cost\": {}, \"duplication_status\": {}, ",
                    rules.duplication_time, rules.melee_cost, unit.duplication
                ),
            );
            put_word(out, "stasis_direction", unit.direction.map(Direction::word));
        }
        Kind::Worker => put(
            out,
            format_args!(
                "{{\"type\": \"worker\", \"mining_time\": {}, \"mining_status\": {}, ",
                rules.mining_time, unit.mining
            ),
        ),
    }
    put(out, format_args!("\"x\": {x}, \"y\": {y}, \"id\": {id}"));
    if rules.message == Message::Document {
        put(out, format_args!(", \"hp\": {}", unit.hp));
    }
    out.push(b'}');
}

/// DH-WIRE-2: a unit in the form of 2021.
fn unit_of_2021(view: &View<'_>, Seen { id, unit }: &Seen, out: &mut Vec<u8>) {
    let At { x, y } = unit.at;
    let rules = view.rules;
    match unit.kind {
        Kind::Melee => {
            put(out, format_args!("{{\"type\": \"melee\", \"stun_cost\": {}, ", rules.stun_cost));
        }
        Kind::Worker => {
            put(
                out,
                format_args!(
                    "{{\"type\": \"worker\", \"mining_time\": {}, \"mining_status\": {}, \"duplication_status\": {}, ",
                    rules.mining_time, unit.mining, unit.duplication
                ),
            );
            put_word(out, "stasis_direction", unit.direction.map(Direction::word));
            put(out, format_args!("\"duplication_time\": {}, ", rules.duplication_time));
            put_word(
                out,
                "duplication_unit",
                unit.child.map(|kind| if kind == Kind::Melee { "melee" } else { "worker" }),
            );
            put(
                out,
                format_args!(
                    "\"melee_cost\": {}, \"worker_cost\": {}, ",
                    rules.melee_cost, rules.worker_cost
                ),
            );
        }
    }
    put(out, format_args!("\"x\": {x}, \"y\": {y}, \"id\": {id}, \"stun_status\": {}}}", unit.stun));
}

/// `"name": "word", ` or `"name": null, `.
fn put_word(out: &mut Vec<u8>, name: &str, word: Option<&str>) {
    match word {
        Some(word) => put(out, format_args!("\"{name}\": \"{word}\", ")),
        None => put(out, format_args!("\"{name}\": null, ")),
    }
}

fn put(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to memory");
}
