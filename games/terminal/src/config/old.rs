//! Configurations of the first seasons (2018 and 2019), translated into today's keys.
//!
//! The rest of what their records show is in [`Early`]. Where they are silent we read liberally: TM-CONFIG-6.

use serde_json::{Map, Number, Value, json};

use crate::rules::{Early, Kind};

/// A configuration in today's keys.
pub struct Renewed {
    /// The configuration.
    pub config: Map<String, Value>,
    /// Whether it is from before there were upgrades; if so, its state lines are shorter.
    pub before_upgrades: bool,
    /// What else was different.
    pub early: Early,
}

/// The shorthands of removals and upgrades if the file has no entries for them.
const ADDED: [&str; 2] = ["RM", "UP"];

/// The configuration in today's keys, if it is from one of the first seasons (TM-CONFIG-6,
/// TM-SEASON-1); else `None`.
pub fn renewed(config: &Map<String, Value>) -> Option<Renewed> {
    let list = config.get("unitInformation")?.as_array()?;
    let has = |unit: &Value, name| unit.get(name).is_some();
    let is_old =
        list.iter().any(|unit| (has(unit, "stability") || has(unit, "cost")) && !has(unit, "startHealth"));
    let ends_early = list.len() == 6 || list.len() == 7 && list[6]["shorthand"] == ADDED[0];
    let before_upgrades = (6..8).contains(&list.len())
        && (is_old || ends_early)
        && !list.iter().any(|unit| has(unit, "upgrade"));
    if !is_old && !before_upgrades {
        return None;
    }
    let mut list = list.clone();
    if is_old {
        let general = General::of(config);
        for (kind, unit) in Kind::ALL.into_iter().zip(&mut list) {
            if let Value::Object(unit) = unit {
                general.renew(kind, unit);
            }
        }
    }
    if before_upgrades {
        list.extend(ADDED[list.len() - 6..].iter().map(|shorthand| json!({ "shorthand": shorthand })));
    }
    let mut config = config.clone();
    config.insert("unitInformation".to_owned(), list.into());
    if is_old {
        config.entry("timingAndReplay").or_insert_with(|| json!({}));
    }
    let number = |part: &str, name: &str| {
        config.get(part).and_then(|part| part[name].as_f64()).unwrap_or_default().clamp(0.0, 1e6) as f32
    };
    // The later engine of then came with the pauses.
    let later = config.get("timingAndReplay").is_some_and(|timing| has(timing, "waitTimeStartGame"));
    let early = Early {
        is_early: is_old,
        shield_decay_per_frame: number("mechanics", "shieldDecayPerFrame"),
        cores_for_crash: number("resources", "coresForPlayerDamage"),
        strikes_in_reach: later,
        dust: if later { 0.001 } else { 0.0 },
    };
    let early = if is_old { early } else { Early::default() };
    Some(Renewed { config, before_upgrades, early })
}

/// Numbers that were once set for all units together, and are set for each unit today.
struct General {
    breach: Value,
    metal: Value,
    refund: Value,
    delay: Value,
    steps: Value,
    radius: Value,
}

impl General {
    fn of(config: &Map<String, Value>) -> Self {
        let at = |part: &str, name: &str, usual: f64| {
            let found = config.get(part).and_then(|part| part.get(name)).cloned();
            found.unwrap_or_else(|| Number::from_f64(usual).map_or(Value::Null, Value::Number))
        };
        Self {
            breach: at("mechanics", "basePlayerHealthDamage", 1.0),
            metal: at("resources", "coresForPlayerDamage", 1.0),
            refund: at("mechanics", "destroyOwnUnitRefund", 0.5),
            delay: at("mechanics", "destroyOwnUnitDelay", 1.0),
            steps: at("mechanics", "stepsRequiredSelfDestruct", 5.0),
            radius: at("mechanics", "selfDestructRadius", 1.5),
        }
    }

    /// Adds today's numbers to a unit. Existing ones stay: some files have both.
    fn renew(&self, kind: Kind, unit: &mut Map<String, Value>) {
        let add = |unit: &mut Map<String, Value>, name: &str, value: Option<Value>| {
            if let Some(value) = value {
                unit.entry(name).or_insert(value);
            }
        };
        let old = |unit: &Map<String, Value>, name: &str| unit.get(name).cloned();
        let health = old(unit, "stability").or_else(|| old(unit, "startHealth"));
        add(unit, "startHealth", health.clone());
        let cost = old(unit, "cost");
        add(unit, if kind.is_mobile() { "cost2" } else { "cost1" }, cost);
        let range = old(unit, "range");
        add(unit, if kind == Kind::Support { "shieldRange" } else { "attackRange" }, range);
        let shield = old(unit, "shieldAmount");
        add(unit, "shieldPerUnit", shield);
        // "Information" was the word for mobile units, "firewalls" that for structures.
        let walker = old(unit, "damageI").or_else(|| old(unit, "damage"));
        add(unit, "attackDamageWalker", walker);
        if !kind.is_mobile() {
            add(unit, "refundPercentage", Some(self.refund.clone()));
            add(unit, "turnsRequiredToRemove", Some(self.delay.clone()));
            return;
        }
        let tower = old(unit, "damageF").or_else(|| old(unit, "damage"));
        add(unit, "attackDamageTower", tower);
        add(unit, "playerBreachDamage", Some(self.breach.clone()));
        add(unit, "metalForBreach", Some(self.metal.clone()));
        add(unit, "selfDestructDamageWalker", health.clone());
        add(unit, "selfDestructDamageTower", health);
        add(unit, "selfDestructStepsRequired", Some(self.steps.clone()));
        add(unit, "selfDestructRange", Some(self.radius.clone()));
    }
}
