//! The protocol of Terminal: reads the lines of the game, writes the two lines of an answer.
//!
//! Nothing here decides anything; that is strategy.rs's matter. You always play from below: your half is
//! rows 0 to 13. Print with eprintln! only, for standard output is how you talk to the game.

use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead, Write};

use crate::json::Value;

/// What a strategy does. Only `turn` is needed.
pub trait Play {
    /// The match begins.
    fn start(&mut self, _config: &Config) {}
    /// A deploy phase: give your orders.
    fn turn(&mut self, config: &Config, turn: &mut Turn);
    /// A frame of the action phase, as the game sent it.
    fn frame(&mut self, _state: &Value) {}
    /// The match is over; `endStats` is in it.
    fn end(&mut self, _state: &Value) {}
}

/// The configuration: what units are called and what they cost.
pub struct Config {
    /// All of it.
    pub raw: Value,
    names: Vec<String>,
}

#[allow(dead_code)] // A kit: not every strategy asks for everything.
impl Config {
    fn new(raw: Value) -> Self {
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

    /// What a unit costs: structure points for structures, mobile points for mobile units.
    pub fn cost(&self, kind: usize) -> f64 {
        self.raw["unitInformation"][kind][if kind >= 3 { "cost2" } else { "cost1" }].number()
    }

    /// What the upgrade of a structure costs, where there is one.
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
}

/// A deploy phase: what you see, and the orders you give.
#[allow(dead_code)]
pub struct Turn {
    pub number: u32,
    pub health: f64,
    pub structure_points: f64,
    pub mobile_points: f64,
    pub enemy_health: f64,
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
    fn new(state: &Value) -> Self {
        let mut structures = HashMap::new();
        for (owner, lists) in [(1, &state["p1Units"]), (2, &state["p2Units"])] {
            let place = |unit: &Value| (unit[0].number() as i32, unit[1].number() as i32);
            let upgraded: HashSet<_> = lists[7].list().iter().map(place).collect();
            for kind in 0..3 {
                for unit in lists[kind].list() {
                    let at = place(unit);
                    let (health, upgraded) = (unit[2].number(), upgraded.contains(&at));
                    structures.insert(at, Structure { owner, kind, health, upgraded });
                }
            }
        }
        Self {
            number: state["turnInfo"][1].number() as u32,
            health: state["p1Stats"][0].number(),
            structure_points: state["p1Stats"][1].number(),
            mobile_points: state["p1Stats"][2].number(),
            enemy_health: state["p2Stats"][0].number(),
            enemy_mobile_points: state["p2Stats"][2].number(),
            structures,
            build_stack: Vec::new(),
            deploy_stack: Vec::new(),
        }
    }

    /// Builds a structure in your half; whether that is possible.
    pub fn build(&mut self, config: &Config, kind: usize, x: i32, y: i32) -> bool {
        let cost = config.cost(kind);
        let free = inside(x, y) && y < 14 && !self.structures.contains_key(&(x, y));
        if !free || cost > self.structure_points {
            return false;
        }
        self.structure_points -= cost;
        self.structures.insert((x, y), Structure { owner: 1, kind, health: 0.0, upgraded: false });
        self.build_stack.push((config.names[kind].clone(), x, y));
        true
    }

    /// Upgrades a structure of yours; whether that is possible.
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

    /// Deploys up to `count` mobile units on one of your edges; how many it could.
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
}

/// Plays a match.
pub fn run(strategy: &mut impl Play) {
    let mut config = None;
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        // What is no JSON is not for us.
        let Some(message) = Value::parse(&line) else { continue };
        if message["unitInformation"] != Value::Null {
            strategy.start(config.insert(Config::new(message)));
            continue;
        }
        let Some(config) = &config else { continue };
        match message["turnInfo"][0] {
            Value::Number(0.0) => {
                let mut turn = Turn::new(&message);
                strategy.turn(config, &mut turn);
                let sent = write!(out, "{}\n{}\n", stack(&turn.build_stack), stack(&turn.deploy_stack));
                if sent.and_then(|()| out.flush()).is_err() {
                    break;
                }
            }
            Value::Number(1.0) => strategy.frame(&message),
            Value::Number(2.0) => {
                strategy.end(&message);
                break;
            }
            _ => {}
        }
    }
}

/// A line of an answer: a JSON list of triples.
fn stack(orders: &[(String, i32, i32)]) -> String {
    let orders: Vec<String> = orders.iter().map(|(name, x, y)| format!("[{name:?},{x},{y}]")).collect();
    format!("[{}]", orders.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first lines of a match, shortened.
    const CONFIG: &str = r#"{"unitInformation":[{"shorthand":"FF","cost1":1},{"shorthand":"EF","cost1":4},
        {"shorthand":"DF","cost1":2,"upgrade":{"cost1":5}},{"shorthand":"PI","cost2":1},{"shorthand":"EI","cost2":3},
        {"shorthand":"SI","cost2":1},{"shorthand":"RM"},{"shorthand":"UP"}]}"#;
    const DEPLOY: &str = r#"{"turnInfo":[0,3,-1,40],"p1Stats":[30.0,9.0,2.0,0],"p2Stats":[29.0,1.0,7.5,0],
        "p1Units":[[[13,13,60.0,"1"]],[],[],[],[],[],[],[]],"p2Units":[[],[],[[14,14,75.0,"2"]],[],[],[],[],[[14,14,0.0,"2"]]],
        "events":{}}"#;

    #[test]
    fn a_turn_is_read_and_answered() {
        let config = Config::new(Value::parse(CONFIG).unwrap());
        let mut turn = Turn::new(&Value::parse(DEPLOY).unwrap());
        assert_eq!((turn.number, turn.structure_points, turn.enemy_mobile_points), (3, 9.0, 7.5));
        assert!(turn.structures[&(14, 14)].upgraded);
        assert!(!turn.build(&config, config.turret(), 13, 13), "taken");
        assert!(!turn.build(&config, config.turret(), 14, 14), "not ours");
        assert!(turn.build(&config, config.turret(), 12, 13) && turn.upgrade(&config, 12, 13));
        assert!(!turn.upgrade(&config, 12, 13) && !turn.upgrade(&config, 13, 13));
        assert_eq!(turn.deploy(&config, config.scout(), 13, 0, 5), 2);
        assert_eq!(turn.deploy(&config, config.scout(), 13, 1, 5), 0);
        assert_eq!(stack(&turn.build_stack), r#"[["DF",12,13],["UP",12,13]]"#);
        assert_eq!(stack(&turn.deploy_stack), r#"[["PI",13,0],["PI",13,0]]"#);
    }
}
