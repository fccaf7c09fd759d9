//! Reading a configuration in the original JSON format.
//!
//! Longer than 500 lines: it handles every key of the original, each once, with its bounds and message.
//!
//! Unknown keys are kept and passed on to the bots: foreign configurations carry icons, display names and switches
//! of other engines. Keys that the rules need are checked, and an error gives the key's full name (TM-CONFIG-1).

mod old;

use agon_game::rules_name::WITHOUT_EFFECT;
use agon_game::setup::nearest;
use agon_game::{RulesChoice, Seat, Seats, SetupError};
use serde_json::{Map, Value};

use crate::arena::{Reach, Tile};
use crate::rules::{Bounds, Early, Form, Kind, Picks, Resources, Rules, Timing, Unit};

/// A configuration as read.
#[derive(Clone, Debug)]
pub struct Config {
    /// Its numbers.
    pub rules: Rules,
    /// Its name: a preset or a file, plus the changes on top.
    pub name: String,
    /// The whole configuration as one line of JSON, as sent to bots and stored in replays.
    pub line: String,
}

/// Size limit of a configuration, in bytes; a longer one is refused.
const LONGEST: usize = 1 << 20;

/// The largest number a rule may have.
const LARGEST: f64 = 1e6;

/// Upper limit on the ids of a match: they have 19 bits (see `state.rs`).
const MOST_IDS: u64 = 1 << 19;

/// In the first seasons a structure takes two ids and a removal one; in a turn each of the 420 tiles can see both once.
const SECOND_IDS: u64 = 2 * 420;

/// Numbers of the original that are accepted but have no effect here (TM-CONFIG-5).
const IDLE: [&str; 4] =
    ["shieldDecay", "turnIntervalForBitCapSchedule", "bitRampBitCapGrowthRate", "roundStartBitRamp"];

/// The pauses of the original at start and end, made only if configured (TM-CLOCK-5).
const PAUSES: [&str; 2] = ["waitTimeStartGame", "waitTimeEndGame"];

/// Upper limit on a pause, in milliseconds.
const LONGEST_PAUSE: u32 = 60_000;

/// Our own bounds, under the key `agon` (TM-CONFIG-4).
const BOUNDS: [&str; 7] =
    ["maxTurns", "maxFramesPerTurn", "maxOrders", "strayLines", "strict", "byHand", "picks"];

/// Reads the configuration that `choice` names (TM-CONFIG-1).
///
/// # Errors
/// An unknown preset, a text that is not a configuration, or an impossible value.
pub fn load(choice: &RulesChoice) -> Result<Config, SetupError> {
    let (mut name, text) = match &choice.file {
        Some((file, text)) => (file.clone(), text.as_str()),
        None => {
            let preset = agon_game::rules::preset(&crate::INFO, &choice.preset)?;
            (preset.name.to_owned(), preset.text)
        }
    };
    let mut config = parse(&name, text)?;
    let mut asked = [false; 2];
    for (key, value) in &choice.sets {
        let place = format!("--set {key}={value}");
        let full = set(&mut config, key, value, &place)?;
        if let Some(pause) = PAUSES.iter().position(|pause| full == format!("timingAndReplay.{pause}")) {
            asked[pause] = true;
        }
        let note = if is_idle(&full, &config) { WITHOUT_EFFECT } else { "" };
        name = format!("{name}, {key}={value}{note}");
    }
    // The original's kits recognise the configuration line by this word, so it is always there (TM-TALK-1).
    if let Some(Value::Object(timing)) = config.get_mut("timingAndReplay") {
        timing.entry("replaySave").or_insert(Value::from(0));
    }
    let renewed = old::renewed(&config);
    let map = renewed.as_ref().map_or(&config, |renewed| &renewed.config);
    let mut rules = rules(&Part { place: &name, path: String::new(), map })?;
    if let Some(renewed) = &renewed {
        (rules.before_upgrades, rules.early) = (renewed.before_upgrades, renewed.early);
        let Bounds { max_turns, max_orders, .. } = rules.bounds;
        if rules.early.is_early && u64::from(max_turns) * (u64::from(max_orders) * 2 + SECOND_IDS) >= MOST_IDS
        {
            let why = "`agon.maxTurns` times `agon.maxOrders` is too much for this season: ids would run out";
            return Err(bad(&name, why));
        }
    }
    let pauses = rules.timing.pauses_ms.iter_mut().zip(asked);
    pauses.filter(|(_, asked)| !asked).for_each(|(pause, _)| *pause = 0);
    // Presets and records of the original also contain the other idle keys, but no decay of shields.
    let decays = |unit: &Value| [unit, &unit["upgrade"]].iter().any(|form| is_set(&form["shieldDecay"]));
    let units = config.get("unitInformation").and_then(Value::as_array);
    if !name.contains("shieldDecay") && units.is_some_and(|units| units.iter().any(decays)) {
        name = format!("{name}, shieldDecay{WITHOUT_EFFECT}");
    }
    let line = Value::Object(config).to_string();
    Ok(Config { rules, name, line })
}

fn parse(place: &str, text: &str) -> Result<Map<String, Value>, SetupError> {
    if text.len() > LONGEST {
        return Err(bad(place, "a configuration is at most 1 MiB long"));
    }
    // Some editors put a byte order mark at the start.
    match serde_json::from_str(text.strip_prefix('\u{feff}').unwrap_or(text)) {
        Ok(Value::Object(config)) => Ok(config),
        Ok(_) => Err(bad(place, "a configuration is a JSON object with `unitInformation` and `resources`")),
        Err(error) => Err(bad(&format!("{place}, line {}", error.line()), &format!("not JSON: {error}"))),
    }
}

/// One object of the configuration, and its path.
struct Part<'a> {
    place: &'a str,
    path: String,
    map: &'a Map<String, Value>,
}

impl<'a> Part<'a> {
    fn name(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    fn wrong(&self, key: &str, why: &str) -> SetupError {
        bad(self.place, &format!("`{}` {why}", self.name(key)))
    }

    fn part(&self, key: &str) -> Result<Option<Part<'a>>, SetupError> {
        match self.map.get(key) {
            None => Ok(None),
            Some(Value::Object(map)) => Ok(Some(Part { place: self.place, path: self.name(key), map })),
            Some(other) => Err(self.wrong(key, &format!("must be an object, not {}", kind(other)))),
        }
    }

    fn needed(&self, key: &str) -> Result<Part<'a>, SetupError> {
        self.part(key)?.ok_or_else(|| self.wrong(key, "is missing"))
    }

    /// A number from 0 to a million; `None` if the key is missing.
    fn number(&self, key: &str) -> Result<Option<f32>, SetupError> {
        let Some(value) = self.map.get(key) else { return Ok(None) };
        let number = value
            .as_f64()
            .ok_or_else(|| self.wrong(key, &format!("must be a number, not {}", kind(value))))?;
        if !(0.0..=LARGEST).contains(&number) {
            return Err(self.wrong(key, &format!("must be from 0 to 1000000, not {value}")));
        }
        Ok(Some(number as f32))
    }

    /// A number that must be present and greater than 0.
    fn positive(&self, key: &str) -> Result<f32, SetupError> {
        match self.number(key)? {
            None => Err(self.wrong(key, "is missing")),
            Some(0.0) => Err(self.wrong(key, "must be more than 0")),
            Some(number) => Ok(number),
        }
    }

    /// A whole number up to `most`; `None` if the key is missing.
    fn whole(&self, key: &str, most: u32) -> Result<Option<u32>, SetupError> {
        let Some(number) = self.number(key)? else { return Ok(None) };
        if number.fract() != 0.0 || f64::from(number) > f64::from(most) {
            return Err(self.wrong(key, &format!("must be a whole number up to {most}, not {number}")));
        }
        Ok(Some(number as u32))
    }

    /// A name that must be present.
    fn word(&self, key: &str) -> Result<String, SetupError> {
        match self.map.get(key) {
            Some(Value::String(word)) if !word.is_empty() && word.len() <= 32 => Ok(word.clone()),
            Some(other) => Err(self.wrong(key, &format!("must be a short name, not {other}"))),
            None => Err(self.wrong(key, "is missing")),
        }
    }
}

/// Whether the value at this full path asks for something that has no effect here.
fn is_idle(full: &str, config: &Map<String, Value>) -> bool {
    let last = full.rsplit('.').next().unwrap_or_default();
    let pointer = format!("/{}", full.replace('.', "/"));
    IDLE.contains(&last) && Value::from(config.clone()).pointer(&pointer).is_some_and(is_set)
}

/// Whether it is a number above 0.
fn is_set(value: &Value) -> bool {
    value.as_f64().is_some_and(|number| number > 0.0)
}

fn rules(config: &Part<'_>) -> Result<Rules, SetupError> {
    let list = match config.map.get("unitInformation") {
        Some(Value::Array(list)) => list,
        Some(other) => {
            return Err(config.wrong("unitInformation", &format!("must be a list, not {}", kind(other))));
        }
        None => return Err(config.wrong("unitInformation", "is missing")),
    };
    // If one in the middle is missing, all after it have moved, so count before looking.
    if list.len() < ENTRIES.len() {
        let ((index, name), held, all) = (missing(list), list.len(), ENTRIES.len());
        let why = format!("({name}) is missing: the list has {held} of its {all} entries");
        return Err(config.wrong(&format!("unitInformation.{index}"), &why));
    }
    let entry = |index: usize| match &list[index] {
        Value::Object(map) => Ok(Part { place: config.place, path: format!("unitInformation.{index}"), map }),
        other => Err(config
            .wrong(&format!("unitInformation.{index}"), &format!("must be an object, not {}", kind(other)))),
    };
    let mut units = Vec::new();
    let mut radius = 0.0_f32;
    for index in 0..Kind::ALL.len() {
        radius = radius.max(entry(index)?.number("getHitRadius")?.unwrap_or_default());
    }
    for kind in Kind::ALL {
        units.push(unit(kind, &entry(kind.index())?, radius)?);
    }
    let (remove, upgrade) = (entry(6)?.word("shorthand")?, entry(7)?.word("shorthand")?);
    let names: Vec<&String> = units.iter().map(|unit| &unit.shorthand).chain([&remove, &upgrade]).collect();
    for (index, name) in names.iter().enumerate() {
        if names[..index].contains(name) {
            let key = format!("unitInformation.{index}.shorthand");
            return Err(config.wrong(&key, &format!("is `{name}`, which another unit has already")));
        }
    }
    let resources = resources(&config.needed("resources")?)?;
    let timing = timing(&config.needed("timingAndReplay")?)?;
    let bounds = bounds(config)?;
    let picks = picks(config)?;
    let units = <[Unit; 6]>::try_from(units).expect("one for each kind");
    let (before_upgrades, early) = (false, Early::default());
    Ok(Rules { units, remove, upgrade, before_upgrades, early, picks, resources, timing, bounds })
}

/// The entries of `unitInformation`: for each its shorthand in the configurations of the original, and its name.
const ENTRIES: [(&str, &str); 8] = [
    ("FF", "Wall"),
    ("EF", "Support"),
    ("DF", "Turret"),
    ("PI", "Scout"),
    ("EI", "Demolisher"),
    ("SI", "Interceptor"),
    ("RM", "Remove"),
    ("UP", "Upgrade"),
];

/// The first missing entry of a list with too few, and its place: found by the shorthands, if they are those of
/// the original, or by the categories. Otherwise it is the one after the last.
fn missing(list: &[Value]) -> (usize, &'static str) {
    let has = |shorthand: &str| list.iter().any(|entry| entry["shorthand"] == shorthand);
    let mut index = list.len();
    if list.iter().all(|entry| ENTRIES.iter().any(|(shorthand, _)| entry["shorthand"] == *shorthand)) {
        index = ENTRIES.iter().position(|(shorthand, _)| !has(shorthand)).unwrap_or(index);
    } else {
        let count = |wanted: u64| list.iter().filter(|entry| entry["unitCategory"] == wanted).count();
        match (count(0), count(1)) {
            (0, 0) => {}
            (held @ 0..3, _) => return (held, "Wall, Support or Turret"),
            (held, mobile @ 0..3) => return (held + mobile, "Scout, Demolisher or Interceptor"),
            _ => {}
        }
    }
    (index, ENTRIES[index].1)
}

/// A unit of the configuration; its upgrade overwrites the numbers it names (TM-CONFIG-2).
fn unit(kind: Kind, part: &Part<'_>, radius: f32) -> Result<Unit, SetupError> {
    let shorthand = part.word("shorthand")?;
    if let Some(category) = part.number("unitCategory")?
        && category != f32::from(u8::from(kind.is_mobile()))
    {
        let what = if kind.is_mobile() { "1 (mobile)" } else { "0 (structure)" };
        return Err(part.wrong("unitCategory", &format!("must be {what} for the {}", kind.name())));
    }
    part.positive("startHealth")?;
    if kind.is_mobile() {
        part.positive("speed")?;
    }
    let base = form(part, None, radius)?;
    let better = match part.part("upgrade")? {
        Some(upgrade) if !kind.is_mobile() => {
            let better = form(&upgrade, Some(&base), radius)?;
            if better.start_health == 0.0 {
                upgrade.positive("startHealth")?;
            }
            Some(better)
        }
        _ => None,
    };
    Ok(Unit { shorthand, forms: [base, better.unwrap_or(base)], upgradable: better.is_some() })
}

fn form(part: &Part<'_>, base: Option<&Form>, radius: f32) -> Result<Form, SetupError> {
    let number = |key, inherited: fn(&Form) -> f32| -> Result<f32, SetupError> {
        Ok(part.number(key)?.unwrap_or(base.map_or(0.0, inherited)))
    };
    let reach = |key, inherited: fn(&Form) -> Reach| -> Result<Reach, SetupError> {
        // TM-TARGET-8: a unit is reached where its edge is.
        let widened = |range: f32| Reach::new(if range > 0.0 { range + radius } else { range });
        Ok(part.number(key)?.map_or(base.map_or_else(|| Reach::new(0.0), inherited), widened))
    };
    part.number("shieldDecay")?;
    Ok(Form {
        cost1: number("cost1", |form| form.cost1)?,
        cost2: number("cost2", |form| form.cost2)?,
        start_health: number("startHealth", |form| form.start_health)?,
        attack_damage_walker: number("attackDamageWalker", |form| form.attack_damage_walker)?,
        attack_damage_tower: number("attackDamageTower", |form| form.attack_damage_tower)?,
        attack_range: reach("attackRange", |form| form.attack_range)?,
        shield_per_unit: number("shieldPerUnit", |form| form.shield_per_unit)?,
        shield_range: reach("shieldRange", |form| form.shield_range)?,
        shield_bonus_per_y: number("shieldBonusPerY", |form| form.shield_bonus_per_y)?,
        speed: number("speed", |form| form.speed)?,
        player_breach_damage: number("playerBreachDamage", |form| form.player_breach_damage)?,
        metal_for_breach: number("metalForBreach", |form| form.metal_for_breach)?,
        self_destruct_damage_walker: number("selfDestructDamageWalker", |form| {
            form.self_destruct_damage_walker
        })?,
        self_destruct_damage_tower: number("selfDestructDamageTower", |form| {
            form.self_destruct_damage_tower
        })?,
        // What a self-destruction hits is measured to the middle of its tile.
        self_destruct_range: part
            .number("selfDestructRange")?
            .map_or(base.map_or_else(|| Reach::new(0.0), |form| form.self_destruct_range), Reach::new),
        self_destruct_steps_required: part
            .whole("selfDestructStepsRequired", 1_000_000)?
            .unwrap_or(base.map_or(0, |form| form.self_destruct_steps_required)),
        refund_percentage: number("refundPercentage", |form| form.refund_percentage)?,
        turns_required_to_remove: part
            .whole("turnsRequiredToRemove", 254)?
            .map_or(base.map_or(1, |form| form.turns_required_to_remove), |turns| turns.max(1) as u8),
        generates_resource1: number("generatesResource1", |form| form.generates_resource1)?,
        generates_resource2: number("generatesResource2", |form| form.generates_resource2)?,
    })
}

fn resources(part: &Part<'_>) -> Result<Resources, SetupError> {
    let number = |key| part.number(key).map(Option::unwrap_or_default);
    let growth = number("bitGrowthRate")?;
    let interval = part.whole("turnIntervalForBitSchedule", 1_000_000)?.unwrap_or(0);
    if growth > 0.0 && interval == 0 {
        return Err(
            part.wrong("turnIntervalForBitSchedule", "must be at least 1 where `bitGrowthRate` is not 0")
        );
    }
    let decay = number("bitDecayPerRound")?;
    if decay > 1.0 {
        return Err(part.wrong("bitDecayPerRound", &format!("must be from 0 to 1, not {decay}")));
    }
    for key in ["turnIntervalForBitCapSchedule", "bitRampBitCapGrowthRate", "roundStartBitRamp"] {
        number(key)?;
    }
    Ok(Resources {
        starting_hp: part.positive("startingHP")?,
        starting_cores: number("startingCores")?,
        starting_bits: number("startingBits")?,
        cores_per_round: number("coresPerRound")?,
        bits_per_round: number("bitsPerRound")?,
        bit_growth_rate: growth,
        turn_interval_for_bit_schedule: interval,
        bit_decay_per_round: decay,
        max_bits: part.number("maxBits")?.unwrap_or(LARGEST as f32),
    })
}

fn timing(part: &Part<'_>) -> Result<Timing, SetupError> {
    let soft = part.whole("waitTimeBotSoft", 1_000_000)?.unwrap_or(5_000);
    let max = part.whole("waitTimeBotMax", 1_000_000)?.unwrap_or(35_000);
    if max == 0 || max < soft {
        return Err(part.wrong(
            "waitTimeBotMax",
            &format!("must be more than 0 and at least `waitTimeBotSoft`, not {max}"),
        ));
    }
    let pause = |key| part.whole(key, LONGEST_PAUSE).map(Option::unwrap_or_default);
    let pauses_ms = [pause(PAUSES[0])?, pause(PAUSES[1])?];
    Ok(Timing { wait_time_bot_soft: soft, wait_time_bot_max: max, pauses_ms })
}

/// The choices of a recorded match (TM-SEASON-7), under `agon`: turn and unit to be hit first, or turn, frame and unit
/// with the tile of a step.
fn picks(config: &Part<'_>) -> Result<Picks, SetupError> {
    let mut picks = Picks::default();
    let Some(part) = config.part("agon")? else { return Ok(picks) };
    let Some(list) = part.map.get("picks") else { return Ok(picks) };
    let mut add = |pick: &Value| -> Option<()> {
        let number = |number: &Value| u16::try_from(number.as_u64()?).ok();
        let unit = |number: &Value| u32::try_from(number.as_u64()?).ok();
        match &pick.as_array()?[..] {
            [turn, first] => {
                let place = picks.first.len();
                picks.first.insert((number(turn)?, unit(first)?), place);
            }
            [turn, frame, mover, x, y] => {
                let tile = Tile::at(number(x)?.into(), number(y)?.into())?;
                picks.steps.insert((number(turn)?, number(frame)?, unit(mover)?), tile);
            }
            _ => return None,
        }
        Some(())
    };
    let read = list.as_array().and_then(|list| list.iter().try_for_each(&mut add));
    let why = "must be a list of choices: [turn, unit] or [turn, frame, unit, x, y]";
    read.ok_or_else(|| part.wrong("picks", why))?;
    Ok(picks)
}

/// Our own bounds, under `agon`, where an unknown key is an error because these keys are ours (TM-CONFIG-4).
fn bounds(config: &Part<'_>) -> Result<Bounds, SetupError> {
    let mut bounds = Bounds {
        max_turns: 100,
        max_frames_per_turn: 10_000,
        max_orders: 2_000,
        stray_lines: 100,
        strict: false,
        by_hand: Seats::NONE,
    };
    let Some(part) = config.part("agon")? else { return Ok(bounds) };
    if let Some(key) = part.map.keys().find(|key| !BOUNDS.contains(&key.as_str())) {
        let nearest = nearest(key, BOUNDS).map(|name| part.name(&name));
        let key = part.name(key);
        return Err(SetupError::UnknownRule { place: part.place.to_owned(), key, nearest });
    }
    let whole = |key, least: u32, most: u32, to: &mut u16| -> Result<(), SetupError> {
        if let Some(number) = part.whole(key, most)? {
            if number < least {
                return Err(part.wrong(key, &format!("must be at least {least}")));
            }
            *to = number as u16;
        }
        Ok(())
    };
    whole("maxTurns", 1, 1_000, &mut bounds.max_turns)?;
    whole("maxFramesPerTurn", 1, 20_000, &mut bounds.max_frames_per_turn)?;
    whole("maxOrders", 1, 10_000, &mut bounds.max_orders)?;
    whole("strayLines", 0, 10_000, &mut bounds.stray_lines)?;
    match part.map.get("strict") {
        None => {}
        Some(&Value::Bool(strict)) => bounds.strict = strict,
        Some(other) => {
            return Err(part.wrong("strict", &format!("must be true or false, not {}", kind(other))));
        }
    }
    if let Some(seats) = part.map.get("byHand") {
        let number = |seat: &Value| seat.as_u64().filter(|number| (1..=2).contains(number));
        let seats: Option<Vec<u64>> = seats.as_array().and_then(|seats| seats.iter().map(number).collect());
        let why = "must be a list of the seats that people play: [1], [2] or [1, 2]";
        for seat in seats.ok_or_else(|| part.wrong("byHand", why))? {
            bounds.by_hand.insert(Seat::new(seat as u8 - 1));
        }
    }
    if u64::from(bounds.max_turns) * u64::from(bounds.max_orders) * 2 >= MOST_IDS {
        return Err(
            part.wrong("maxOrders", "times `agon.maxTurns` must stay below 262144: ids would run out")
        );
    }
    Ok(bounds)
}

/// Sets one `name=value` on top. `name` is a full path (`resources.startingHP`, `FF.upgrade.cost1`, where the first
/// part may be a unit's shorthand) or a rule's own name if only one part has it (TM-CONFIG-3). Returns the full path.
fn set(config: &mut Map<String, Value>, key: &str, value: &str, place: &str) -> Result<String, SetupError> {
    let value: Value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
    let unknown = |nearest: Option<String>| SetupError::UnknownRule {
        place: place.to_owned(),
        key: key.to_owned(),
        nearest,
    };
    let mut known = Vec::new();
    let mut all = Value::Object(std::mem::take(config));
    paths(&all, "", &mut known);
    let full = full_path(&all, &known, key);
    let full = match full {
        Ok(full) => full,
        Err(several) => {
            if let Value::Object(map) = all {
                *config = map;
            }
            if several.is_empty() {
                let last = |path: &'_ str| path.rsplit('.').next().unwrap_or_default().to_owned();
                let own = BOUNDS.iter().flat_map(|name| [format!("agon.{name}"), (*name).to_owned()]);
                let names: Vec<String> =
                    known.iter().flat_map(|(path, short)| [short.clone(), last(path)]).chain(own).collect();
                return Err(unknown(nearest(key, names.iter().map(String::as_str))));
            }
            return Err(bad(
                place,
                &format!("`{key}` is a rule of several parts; say which: {}", several.join(", ")),
            ));
        }
    };
    let slot = full.split('.').fold(&mut all, |part, step| match part {
        Value::Array(list) => {
            step.parse().ok().and_then(|index: usize| list.get_mut(index)).expect("a known path")
        }
        other => &mut other[step],
    });
    let fits = slot.is_null() || kind(slot) == kind(&value);
    let wanted = kind(slot);
    let found = kind(&value);
    if fits {
        *slot = value;
    }
    if let Value::Object(map) = all {
        *config = map;
    }
    if fits { Ok(full) } else { Err(bad(place, &format!("`{full}` must be {wanted}, not {found}"))) }
}

/// The full path for `key`, or the paths it could mean.
fn full_path(config: &Value, known: &[(String, String)], key: &str) -> Result<String, Vec<String>> {
    let is = |path: &str| known.iter().any(|(full, short)| full == path || short == path);
    let full = |path: &str| {
        known
            .iter()
            .find(|(full, short)| full == path || short == path)
            .map(|(full, _)| full.clone())
            .ok_or_default()
    };
    if is(key) {
        return full(key);
    }
    let named: Vec<&(String, String)> =
        known.iter().filter(|(path, _)| path.rsplit('.').next() == Some(key)).collect();
    match named[..] {
        [(path, _)] => return Ok(path.clone()),
        [_, ..] => return Err(named.iter().map(|(_, short)| short.clone()).collect()),
        [] => {}
    }
    // A number not yet set for a unit, or one of our own bounds that the file omits.
    let own = key.strip_prefix("agon.").unwrap_or(key);
    if BOUNDS.contains(&own) {
        return Ok(format!("agon.{own}"));
    }
    if let Some((unit, number)) = key.rsplit_once('.') {
        const NUMBERS: [&str; 20] = [
            "cost1",
            "cost2",
            "startHealth",
            "attackDamageWalker",
            "attackDamageTower",
            "attackRange",
            "shieldPerUnit",
            "shieldRange",
            "shieldBonusPerY",
            "shieldDecay",
            "speed",
            "playerBreachDamage",
            "metalForBreach",
            "selfDestructDamageWalker",
            "selfDestructDamageTower",
            "selfDestructRange",
            "selfDestructStepsRequired",
            "refundPercentage",
            "turnsRequiredToRemove",
            "generatesResource1",
        ];
        let is_number = NUMBERS.contains(&number) || number == "generatesResource2";
        let base = known.iter().find_map(|(path, short)| {
            let (path, short) = (path.rsplit_once('.')?.0, short.rsplit_once('.')?.0);
            (path == unit || short == unit).then(|| path.to_owned())
        });
        if let Some(base) = base.filter(|base| is_number && base.starts_with("unitInformation.")) {
            return Ok(format!("{base}.{number}"));
        }
    }
    let _ = config;
    Err(Vec::new())
}

/// Lists the paths of all values below `part`, each also in its short form with a shorthand.
fn paths(part: &Value, path: &str, known: &mut Vec<(String, String)>) {
    let join = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match part {
        Value::Object(map) => map.iter().for_each(|(key, value)| paths(value, &join(key), known)),
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                let start = known.len();
                let own = join(&index.to_string());
                paths(value, &own, known);
                if let Some(name) = value.get("shorthand").and_then(Value::as_str) {
                    for (full, short) in &mut known[start..] {
                        *short = format!("{name}{}", &full[own.len()..]);
                    }
                }
            }
        }
        _ => known.push((path.to_owned(), path.to_owned())),
    }
}

/// A helper for a lookup known to succeed.
trait OrDefault<T> {
    fn ok_or_default(self) -> Result<T, Vec<String>>;
}

impl<T> OrDefault<T> for Option<T> {
    fn ok_or_default(self) -> Result<T, Vec<String>> {
        self.ok_or_else(Vec::new)
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn bad(place: &str, why: &str) -> SetupError {
    SetupError::BadRule { place: place.to_owned(), why: why.to_owned() }
}
