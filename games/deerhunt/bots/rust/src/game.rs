//! The messages of Deerhunt as named types. `agon docs deerhunt` describes every field.
#![allow(dead_code)] // Not every strategy needs everything.

use crate::json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Worker,
    Melee,
}

#[derive(Clone, Debug)]
pub struct Unit {
    pub id: i32,
    pub kind: Kind,
    pub x: i32,
    pub y: i32,
    /// Under the rules of the document only.
    pub health: Option<i32>,
    /// Half-turns until it can act again: it mines, duplicates or is stunned.
    pub busy: i32,
}

/// What you see before one of your half-turns.
#[derive(Clone, Debug)]
pub struct State {
    /// `map[y][x]`: `X` wall, `R` resource, blank ground. Units are not on it.
    pub map: Vec<Vec<char>>,
    pub mine: Vec<Unit>,
    /// Those you see.
    pub theirs: Vec<Unit>,
    pub resources: i32,
    pub turns_left: i32,
}

impl State {
    /// Reads a message; none when it is not a state.
    pub fn read(message: &str) -> Option<Self> {
        let raw = Value::parse(message)?;
        if !matches!(raw["map"], Value::List(_)) {
            return None;
        }
        let tile = |tile: &Value| tile.text().chars().next().unwrap_or(' ');
        Some(Self {
            map: raw["map"].list().iter().map(|row| row.list().iter().map(tile).collect()).collect(),
            mine: raw["my_units"].list().iter().map(unit).collect(),
            theirs: raw["their_units"].list().iter().map(unit).collect(),
            resources: whole(&raw["my_resources"]),
            turns_left: whole(&raw["turns_left"]),
        })
    }

    /// The tile there; a wall outside the map.
    pub fn tile(&self, (x, y): (i32, i32)) -> char {
        let index = |number: i32| usize::try_from(number).ok();
        index(y).and_then(|y| self.map.get(y)?.get(index(x)?)).copied().unwrap_or('X')
    }
}

fn unit(raw: &Value) -> Unit {
    let timers = ["mining_status", "duplication_status", "stun_status"];
    Unit {
        id: whole(&raw["id"]),
        kind: if raw["type"].text() == "melee" { Kind::Melee } else { Kind::Worker },
        x: whole(&raw["x"]),
        y: whole(&raw["y"]),
        health: (raw["hp"] != Value::Null).then(|| whole(&raw["hp"])),
        busy: timers.iter().map(|timer| whole(&raw[*timer])).max().unwrap_or(0),
    }
}

fn whole(raw: &Value) -> i32 {
    raw.number() as i32
}

/// A unit and what it does: `3, ["UP"]`, `3, ["ATTACK", "LEFT"]`, `3, ["MINE"]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Move {
    pub unit: i32,
    pub words: Vec<&'static str>,
}

impl Move {
    pub fn json(&self) -> String {
        format!("[{}, {:?}]", self.unit, self.words)
    }
}
