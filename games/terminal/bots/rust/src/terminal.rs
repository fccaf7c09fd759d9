//! The protocol of Terminal: reads the lines of the game, writes the two lines of an answer.
//!
//! All decisions are in strategy.rs. You always play from below: your half is
//! rows 0 to 13. Print with eprintln! only: standard output is how you talk to the game.

use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead, Write};

use crate::json::Value;

/// What a strategy does. Only `turn` is needed.
pub trait Play {
    /// The match begins.
    fn start(&mut self, _config: &Config) {}
    /// A deploy phase: give your orders.
    fn turn(&mut self, config: &Config, turn: &mut Turn);
    /// A moment of the action phase.
    fn frame(&mut self, _config: &Config, _frame: &Frame) {}
    /// The match is over: `stats["winner"]` is 1 if that is you.
    fn end(&mut self, _stats: &Value) {}
}

/// The configuration: what units are called and what they cost.
pub struct Config {
    /// All of it.
    pub raw: Value,
    names: Vec<String>,
}

#[allow(dead_code)] // A kit: not every strategy needs everything.
impl Config {
    /// Reads the first line of a match.
    pub fn new(raw: Value) -> Self {
        let names = raw["unitInformation"].list().iter().map(|unit| unit["shorthand"].text().to_owned());
        Self { names: names.collect(), raw }
    }

    pub fn wall(&self) -> usize {
        0
    }

    pub fn support(&self) -> usize {
        1
    }

    pub fn turret(&self) -> usize {
        2
    }

    pub fn scout(&self) -> usize {
        3
    }

    pub fn demolisher(&self) -> usize {
        4
    }

    pub fn interceptor(&self) -> usize {
        5
    }

    /// The kind with this name.
    pub fn kind(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|own| own == name)
    }

    /// What a unit costs: structure points for structures, mobile points for mobile units.
    pub fn cost(&self, kind: usize) -> f64 {
        self.raw["unitInformation"][kind][if kind >= 3 { "cost2" } else { "cost1" }].number()
    }

    /// What the upgrade of a structure costs, if there is one.
    pub fn upgrade_cost(&self, kind: usize) -> Option<f64> {
        let upgrade = &self.raw["unitInformation"][kind]["upgrade"];
        match (upgrade, &upgrade["cost1"]) {
            (Value::Null, _) => None,
            (_, Value::Null) => Some(self.cost(kind)),
            (_, cost) => Some(cost.number()),
        }
    }
}

/// A structure on the board.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code)]
pub struct Structure {
    /// 1 is you.
    pub owner: u8,
    /// 0 wall, 1 support, 2 turret.
    pub kind: usize,
    pub health: f64,
    pub upgraded: bool,
    /// Marked for removal.
    pub leaving: bool,
}

/// A deploy phase: what you see, and the orders you give.
#[allow(dead_code)]
pub struct Turn {
    pub number: u32,
    pub health: f64,
    pub structure_points: f64,
    pub mobile_points: f64,
    pub enemy_health: f64,
    pub enemy_structure_points: f64,
    pub enemy_mobile_points: f64,
    pub structures: HashMap<(i32, i32), Structure>,
    build_stack: Vec<(String, i32, i32)>,
    deploy_stack: Vec<(String, i32, i32)>,
}

/// Whether (x, y) lies in the diamond.
pub fn inside(x: i32, y: i32) -> bool {
    match y {
        0..=13 => (13 - y..=14 + y).contains(&x),
        14..=27 => (y - 14..=41 - y).contains(&x),
        _ => false,
    }
}

#[allow(dead_code)]
impl Turn {
    /// Reads a deploy line.
    pub fn new(state: &Value) -> Self {
        let mut structures = HashMap::new();
        for (owner, lists) in [(1, &state["p1Units"]), (2, &state["p2Units"])] {
            let marked = |list: usize| -> HashSet<_> { lists[list].list().iter().map(tile).collect() };
            let (removed, upgraded) = (marked(6), marked(7));
            for kind in 0..3 {
                for unit in lists[kind].list() {
                    let (at, health) = (tile(unit), unit[2].number());
                    let (upgraded, leaving) = (upgraded.contains(&at), removed.contains(&at));
                    structures.insert(at, Structure { owner, kind, health, upgraded, leaving });
                }
            }
        }
        Self {
            number: state["turnInfo"][1].number() as u32,
            health: state["p1Stats"][0].number(),
            structure_points: state["p1Stats"][1].number(),
            mobile_points: state["p1Stats"][2].number(),
            enemy_health: state["p2Stats"][0].number(),
            enemy_structure_points: state["p2Stats"][1].number(),
            enemy_mobile_points: state["p2Stats"][2].number(),
            structures,
            build_stack: Vec::new(),
            deploy_stack: Vec::new(),
        }
    }

    /// Builds a structure in your half, if possible; returns whether it was.
    pub fn build(&mut self, config: &Config, kind: usize, x: i32, y: i32) -> bool {
        let cost = config.cost(kind);
        let free = inside(x, y) && y < 14 && !self.structures.contains_key(&(x, y));
        if !free || cost > self.structure_points {
            return false;
        }
        self.structure_points -= cost;
        self.structures.insert((x, y), Structure { owner: 1, kind, health: 0.0, upgraded: false, leaving: false });
        self.build_stack.push((config.names[kind].clone(), x, y));
        true
    }

    /// Upgrades a structure of yours, if possible; returns whether it was.
    pub fn upgrade(&mut self, config: &Config, x: i32, y: i32) -> bool {
        let Some(structure) = self.structures.get_mut(&(x, y)) else { return false };
        let Some(cost) = config.upgrade_cost(structure.kind) else { return false };
        if structure.owner != 1 || structure.upgraded || cost > self.structure_points {
            return false;
        }
        structure.upgraded = true;
        self.structure_points -= cost;
        self.build_stack.push((config.names[7].clone(), x, y));
        true
    }

    /// Marks a structure of yours for removal.
    pub fn remove(&mut self, config: &Config, x: i32, y: i32) {
        self.build_stack.push((config.names[6].clone(), x, y));
    }

    /// Deploys up to `count` mobile units on one of your edges and returns how many were deployed.
    pub fn deploy(&mut self, config: &Config, kind: usize, x: i32, y: i32, count: u32) -> u32 {
        let cost = config.cost(kind);
        let mut done = 0;
        if (x + y != 13 && x - y != 14) || self.structures.contains_key(&(x, y)) {
            return done;
        }
        while done < count && cost <= self.mobile_points {
            self.mobile_points -= cost;
            self.deploy_stack.push((config.names[kind].clone(), x, y));
            done += 1;
        }
        done
    }

    /// The two lines of the answer.
    pub fn answer(&self) -> String {
        format!("{}\n{}\n", stack(&self.build_stack), stack(&self.deploy_stack))
    }
}

/// A mobile unit on the board.
#[derive(Clone, Debug)]
#[allow(dead_code)]
pub struct Mobile {
    pub at: (i32, i32),
    /// 1 is you.
    pub owner: u8,
    /// 3 scout, 4 demolisher, 5 interceptor.
    pub kind: usize,
    pub health: f64,
    pub id: String,
}

/// Something that happened in a frame.
#[derive(Clone, Debug, Default)]
#[allow(dead_code)]
pub struct Event {
    pub at: (i32, i32),
    /// Where a unit moved, or the target of an attack or a shield.
    pub to: Option<(i32, i32)>,
    /// Damage done, or the amount of a shield.
    pub amount: f64,
    /// The kind of unit that did or suffered it; 6 is a removal and 7 an upgrade.
    pub kind: usize,
    pub id: String,
    /// The id of the target of an attack or a shield; empty elsewhere.
    pub target: String,
    /// 1 is you.
    pub owner: u8,
}

/// A moment of the action phase: what moves, and what happened.
#[allow(dead_code)]
pub struct Frame {
    pub turn: u32,
    pub number: u32,
    pub health: f64,
    pub enemy_health: f64,
    pub mobiles: Vec<Mobile>,
    pub spawns: Vec<Event>,
    pub moves: Vec<Event>,
    pub breaches: Vec<Event>,
    pub damages: Vec<Event>,
    pub shields: Vec<Event>,
    pub attacks: Vec<Event>,
    pub self_destructs: Vec<Event>,
    pub deaths: Vec<Event>,
}

impl Frame {
    /// Reads a frame's line.
    pub fn new(state: &Value) -> Self {
        let mut mobiles = Vec::new();
        for (owner, lists) in [(1, &state["p1Units"]), (2, &state["p2Units"])] {
            for kind in 3..6 {
                mobiles.extend(lists[kind].list().iter().map(|unit| {
                    let (at, health, id) = (tile(unit), unit[2].number(), unit[3].text().to_owned());
                    Mobile { at, owner, kind, health, id }
                }));
            }
        }
        // Each letter is a field of an event, in the order the game writes them.
        let events = |name: &str, fields: &str| -> Vec<Event> {
            state["events"][name].list().iter().map(|entry| Event::new(entry, fields)).collect()
        };
        Self {
            turn: state["turnInfo"][1].number() as u32,
            number: state["turnInfo"][2].number() as u32,
            health: state["p1Stats"][0].number(),
            enemy_health: state["p2Stats"][0].number(),
            mobiles,
            spawns: events("spawn", "@kio"),
            moves: events("move", "@>-kio"),
            breaches: events("breach", "@akio"),
            damages: events("damage", "@akio"),
            shields: events("shield", "@>akito"),
            attacks: events("attack", "@>akito"),
            self_destructs: events("selfDestruct", "@-akio"),
            deaths: events("death", "@kio"),
        }
    }
}

impl Event {
    fn new(entry: &Value, fields: &str) -> Self {
        let mut event = Self::default();
        for (field, value) in fields.chars().zip(entry.list()) {
            match field {
                '@' => event.at = tile(value),
                '>' => event.to = Some(tile(value)),
                'a' => event.amount = value.number(),
                'k' => event.kind = value.number() as usize,
                'i' => event.id = value.text().to_owned(),
                't' => event.target = value.text().to_owned(),
                'o' => event.owner = value.number() as u8,
                _ => {}
            }
        }
        event
    }
}

/// The tile that a list begins with.
fn tile(value: &Value) -> (i32, i32) {
    (value[0].number() as i32, value[1].number() as i32)
}

/// Plays a match over standard input and output.
pub fn run(strategy: &mut impl Play) {
    // A game that is gone needs no answer.
    let _ = talk(strategy, io::stdin().lock(), io::stdout().lock());
}

/// Answers the lines of a match.
pub fn talk(strategy: &mut impl Play, lines: impl BufRead, mut out: impl Write) -> io::Result<()> {
    let mut config = None;
    for line in lines.lines() {
        // Anything but JSON is not for us.
        let Some(message) = Value::parse(&line?) else { continue };
        if message["unitInformation"] != Value::Null {
            strategy.start(config.insert(Config::new(message)));
            continue;
        }
        let Some(config) = &config else { continue };
        match message["turnInfo"][0] {
            Value::Number(0.0) => {
                let mut turn = Turn::new(&message);
                strategy.turn(config, &mut turn);
                out.write_all(turn.answer().as_bytes())?;
                out.flush()?;
            }
            Value::Number(1.0) => strategy.frame(config, &Frame::new(&message)),
            Value::Number(2.0) => {
                strategy.end(&message["endStats"]);
                break;
            }
            _ => {}
        }
    }
    Ok(())
}

/// A line of an answer: a JSON list of triples.
fn stack(orders: &[(String, i32, i32)]) -> String {
    let orders: Vec<String> = orders.iter().map(|(name, x, y)| format!("[{name:?},{x},{y}]")).collect();
    format!("[{}]", orders.join(","))
}
