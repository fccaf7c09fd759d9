//! The messages of Jungle Blitz as named types. `agon docs jungle-blitz` describes every field.
#![allow(dead_code)] // Not every brain needs everything.

use std::collections::HashMap;

use crate::json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    pub x: i32,
    pub y: i32,
}

impl Position {
    pub fn distance(self, other: Position) -> i32 {
        (self.x - other.x).abs() + (self.y - other.y).abs()
    }

    pub fn neighbours(self) -> [Position; 4] {
        [(0, -1), (0, 1), (-1, 0), (1, 0)].map(|(dx, dy)| Position { x: self.x + dx, y: self.y + dy })
    }

    /// None where there is none.
    fn read(raw: &Value) -> Option<Self> {
        (*raw != Value::Null).then(|| Position { x: whole(&raw["x"]), y: whole(&raw["y"]) })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tile {
    Empty,
    Wall,
    Spawn,
}

#[derive(Clone, Debug)]
pub struct Unit {
    pub id: String,
    pub team_id: String,
    /// None before it has spawned, and while it is dead.
    pub position: Option<Position>,
    /// The tiles it will still walk.
    pub path: Vec<Position>,
    pub diamond_id: Option<String>,
    pub is_summoning: bool,
}

impl Unit {
    /// What it is to do.
    pub fn act(&self, name: &'static str, target: Option<Position>) -> Action {
        Action { unit_id: self.id.clone(), name, target }
    }
}

#[derive(Clone, Debug)]
pub struct Team {
    pub id: String,
    pub name: String,
    pub score: i32,
    pub is_dead: bool,
    /// What was wrong with its last command.
    pub errors: Vec<String>,
    pub units: Vec<Unit>,
}

#[derive(Clone, Debug)]
pub struct Diamond {
    pub id: String,
    pub position: Position,
    /// From 1 to 5.
    pub level: i32,
    /// The points it scores when dropped.
    pub points: i32,
    /// The unit that holds it.
    pub owner_id: Option<String>,
}

/// What a unit is to do: SPAWN, MOVE, SUMMON, DROP, ATTACK, VINE or NONE; all but SUMMON and NONE have a target.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    pub unit_id: String,
    pub name: &'static str,
    pub target: Option<Position>,
}

impl Action {
    pub fn json(&self) -> String {
        let target = self.target.map_or("null".to_owned(), |at| format!("{{\"x\":{},\"y\":{}}}", at.x, at.y));
        let (name, unit) = (self.name, quoted(&self.unit_id));
        format!("{{\"type\":\"UNIT\",\"action\":\"{name}\",\"unitId\":{unit},\"target\":{target}}}")
    }
}

/// The content of a TICK message: the whole map is visible.
#[derive(Clone, Debug)]
pub struct Tick {
    /// From 0; the last is `total - 1`.
    pub number: i32,
    pub total: i32,
    /// `tiles[x][y]`
    pub tiles: Vec<Vec<Tile>>,
    pub diamonds: Vec<Diamond>,
    pub teams: Vec<Team>,
    /// Your own.
    pub team_id: String,
    /// The ids of the teams in the order they play, for this tick and the next ones.
    pub orders: HashMap<i32, Vec<String>>,
}

impl Tick {
    /// Reads a message; none when it is not a TICK for a team.
    pub fn read(message: &str) -> Option<Self> {
        let raw = Value::parse(message)?;
        let tile = |tile: &Value| match tile.text() {
            "EMPTY" => Tile::Empty,
            "SPAWN" => Tile::Spawn,
            _ => Tile::Wall,
        };
        let diamond = |raw: &Value| {
            Some(Diamond {
                id: text(&raw["id"]),
                position: Position::read(&raw["position"])?,
                level: whole(&raw["summonLevel"]),
                points: whole(&raw["points"]),
                owner_id: optional(&raw["ownerId"]),
            })
        };
        let mut orders = HashMap::new();
        if let Value::Object(entries) = &raw["teamPlayOrderings"] {
            for (tick, order) in entries {
                orders.insert(tick.parse().ok()?, order.list().iter().map(text).collect());
            }
        }
        let map = &raw["map"];
        let own = Self {
            number: whole(&raw["tick"]),
            total: whole(&raw["totalTick"]),
            tiles: map["tiles"].list().iter().map(|column| column.list().iter().map(tile).collect()).collect(),
            diamonds: map["diamonds"].list().iter().map(diamond).collect::<Option<_>>()?,
            teams: raw["teams"].list().iter().map(team).collect(),
            team_id: text(&raw["teamId"]),
            orders,
        };
        own.teams.iter().any(|team| team.id == own.team_id).then_some(own)
    }

    /// Your own team.
    pub fn me(&self) -> &Team {
        self.teams.iter().find(|team| team.id == self.team_id).expect("seen when it was read")
    }

    /// All units of all teams.
    pub fn units(&self) -> impl Iterator<Item = &Unit> {
        self.teams.iter().flat_map(|team| &team.units)
    }

    /// The tile there; a wall outside the map.
    pub fn tile(&self, at: Position) -> Tile {
        let index = |number: i32| usize::try_from(number).ok();
        let found = index(at.x).and_then(|x| self.tiles.get(x)?.get(index(at.y)?));
        found.copied().unwrap_or(Tile::Wall)
    }

    /// All spawn tiles.
    pub fn spawns(&self) -> Vec<Position> {
        let columns = (0..).zip(&self.tiles);
        let all = columns.flat_map(|(x, column)| (0..).zip(column).map(move |(y, tile)| (Position { x, y }, *tile)));
        all.filter(|(_, tile)| *tile == Tile::Spawn).map(|(at, _)| at).collect()
    }
}

fn team(raw: &Value) -> Team {
    Team {
        id: text(&raw["id"]),
        name: text(&raw["name"]),
        score: whole(&raw["score"]),
        is_dead: raw["isDead"] == Value::Bool(true),
        errors: raw["errors"].list().iter().map(text).collect(),
        units: raw["units"].list().iter().map(unit).collect(),
    }
}

fn unit(raw: &Value) -> Unit {
    Unit {
        id: text(&raw["id"]),
        team_id: text(&raw["teamId"]),
        position: Position::read(&raw["position"]),
        path: raw["path"].list().iter().filter_map(Position::read).collect(),
        diamond_id: optional(&raw["diamondId"]),
        is_summoning: raw["isSummoning"] == Value::Bool(true),
    }
}

fn text(raw: &Value) -> String {
    raw.text().to_owned()
}

fn optional(raw: &Value) -> Option<String> {
    Some(text(raw)).filter(|text| !text.is_empty())
}

fn whole(raw: &Value) -> i32 {
    raw.number() as i32
}

/// A text as a JSON string.
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => out += &format!("\\u{:04x}", u32::from(c)),
            c => out.push(c),
        }
    }
    out + "\""
}
