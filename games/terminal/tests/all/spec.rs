//! The readable rule tests in `spec/`.
//!
//! A board block lists structures, `wall 13,13`, `turret+ 3,12 health 40`, `support 5,10 mark 2`, `wall 0..27,14`, in the order
//! of their ids, and settings: `hp`, `sp`, `mp` (two numbers each), `turn`, `rules` (a preset), `file` (a configuration in
//! `tests/`) and names of rules. `try: NAME=VALUE` and `try: without PATH` note the game's response to such a configuration.
//!
//! An orders line is a list, `wall 13,13; upgrade 3,12; remove 5,10; scout 13,0 x5; ms 6500`, with the coordinates of the arena
//! for both players; or the two lines of the original protocol, separated by `\n`; or `(garbage)` for an answer that is not one.

use std::cell::RefCell;
use std::path::Path;

use agon_game::{Answer, Dialect, Facts, Game as _, Outcome, RulesChoice, Seat, Setup};
use agon_testkit::spec::{self, Adapter};
use serde_json::Value;
use terminal::Terminal;
use terminal::arena::Tile;
use terminal::dialect::Wire;
use terminal::frame::{Event, Events, Frame, Spawned, Who};
use terminal::orders::{Action, Commands, Order};
use terminal::rules::Kind;
use terminal::state::{Real, State, Structure};

thread_local! {
    /// What the board block of the running section tried.
    static NOTES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

struct Spec;

fn kind(word: &str) -> Option<Kind> {
    Kind::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(word))
}

fn tile(word: &str) -> Option<(i8, i8)> {
    let (x, y) = word.split_once(',')?;
    Some((x.parse().ok()?, y.parse().ok()?))
}

fn pair(value: &str) -> Result<[f32; 2], String> {
    let numbers: Vec<f32> = value.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    numbers.try_into().map_err(|_| format!("`{value}` is not two numbers"))
}

/// The game's response to a changed configuration.
fn tried(rules: &RulesChoice, text: &str) -> String {
    let mut choice = rules.clone();
    if let Some(path) = text.strip_prefix("without ") {
        let preset = agon_game::rules::preset(&Terminal::INFO, &choice.preset).expect("a preset");
        let mut config: Value = serde_json::from_str(preset.text).expect("a preset is JSON");
        let (parent, last) = path.rsplit_once('.').unwrap_or(("", path));
        let part =
            parent.split('.').filter(|step| !step.is_empty()).fold(&mut config, |part, step| match part {
                Value::Array(list) => &mut list[step.parse::<usize>().expect("a place in a list")],
                other => &mut other[step],
            });
        match part {
            Value::Array(list) => drop(list.remove(last.parse().expect("a place in a list"))),
            other => drop(other.as_object_mut().expect("an object").remove(last)),
        }
        choice.file = Some(("file".to_owned(), config.to_string()));
    } else if let Some((key, value)) = text.split_once('=') {
        choice.sets.push((key.to_owned(), value.to_owned()));
    }
    match Terminal::set_up(&Setup { rules: choice, seats: 2, ..Setup::default() }) {
        Ok(game) => match game.recipe().rules_name.contains("without effect") {
            true => format!("{text}: accepted as `{}`", game.recipe().rules_name),
            false => format!("{text}: accepted"),
        },
        Err(error) => format!("{text}: {error}"),
    }
}

impl Adapter for Spec {
    type Game = Terminal;

    fn set_up(board: &[&str], settings: &[(String, String)], seed: i64) -> Result<(Terminal, State), String> {
        let mut rules = RulesChoice { preset: "europe-2025".to_owned(), ..RulesChoice::default() };
        let (mut values, mut tries) = (Vec::new(), Vec::new());
        for (name, value) in settings {
            match name.as_str() {
                "rules" => rules.preset.clone_from(value),
                "file" => {
                    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(value);
                    let text = std::fs::read_to_string(place).map_err(|error| format!("{value}: {error}"))?;
                    rules.file = Some((value.clone(), text));
                }
                "hp" | "sp" | "mp" | "turn" => values.push((name.as_str(), value.as_str())),
                "try" => tries.push(value),
                _ => rules.sets.push((name.clone(), value.clone())),
            }
        }
        let notes = tries.into_iter().map(|text| tried(&rules, text)).collect();
        NOTES.with(|kept| *kept.borrow_mut() = notes);
        let setup = Setup { rules, seats: 2, seed, ..Setup::default() };
        let game = Terminal::set_up(&setup).map_err(|error| error.to_string())?;
        let mut state = game.start();
        for (name, value) in values {
            if name == "turn" {
                state.turn = value.parse().map_err(|_| format!("`{value}` is no turn"))?;
                continue;
            }
            for (player, number) in state.players.iter_mut().zip(pair(value)?) {
                let slot = match name {
                    "hp" => &mut player.hp,
                    "sp" => &mut player.sp,
                    _ => &mut player.mp,
                };
                *slot = Real(number);
            }
        }
        for line in board.iter().filter(|line| !line.trim().is_empty()) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let wrong = || format!("`{line}` is not `KIND x,y [health H] [mark N]`");
            let upgraded = words[0].ends_with('+');
            let kind =
                kind(words[0].trim_end_matches('+')).filter(|kind| !kind.is_mobile()).ok_or_else(wrong)?;
            let (columns, y) = words.get(1).and_then(|word| word.split_once(',')).ok_or_else(wrong)?;
            let (first, last) = columns.split_once("..").unwrap_or((columns, columns));
            let number = |word: &str| word.parse::<i32>().map_err(|_| wrong());
            let mut health = game.rules().form(kind, upgraded).start_health;
            let mut mark = 0;
            for option in words[2..].chunks(2) {
                match option {
                    ["health", value] => health = value.parse().map_err(|_| wrong())?,
                    ["mark", value] => mark = value.parse().map_err(|_| wrong())?,
                    _ => return Err(wrong()),
                }
            }
            for x in number(first)?..=number(last)? {
                let tile = Tile::at(x, number(y)?).ok_or_else(wrong)?;
                state.push(Structure::new(state.next_id, kind, upgraded, tile, health));
                state.set_mark(state.structures().len() - 1, (mark > 0).then_some(mark));
                state.next_id += 1;
            }
        }
        Ok((game, state))
    }

    fn answer(game: &Terminal, dialect: &mut Wire, seat: Seat, text: &str) -> Answer<Commands> {
        if text == "(garbage)" {
            return Answer::Malformed { why: "garbage".to_owned(), think_ms: 0 };
        }
        if text.starts_with('[') || text.contains("\\n") {
            return wire_answer(game, dialect, seat, text);
        }
        let (mut commands, mut think_ms) = (Commands::default(), 0);
        for entry in text.split(';').map(str::trim).filter(|entry| !entry.is_empty() && *entry != "nothing") {
            let words: Vec<&str> = entry.split_whitespace().collect();
            if words[0] == "ms" {
                think_ms = words[1].parse().expect("milliseconds");
                continue;
            }
            let (first_line, name) = match words[0].strip_prefix("build:") {
                Some(name) => (true, name),
                None => (!kind(words[0]).is_some_and(Kind::is_mobile), words[0]),
            };
            let (first_line, name) = match name.strip_prefix("deploy:") {
                Some(name) => (false, name),
                None => (first_line, name),
            };
            let action = match name {
                "upgrade" => Action::Upgrade,
                "remove" => Action::Remove,
                "unknown" => Action::Unknown,
                name => Action::Place(kind(name).unwrap_or_else(|| panic!("no unit is called {name}"))),
            };
            let (x, y) = tile(words[1]).unwrap_or_else(|| panic!("{} is no place", words[1]));
            let times = words.get(2).map_or(1, |word| word.trim_start_matches('x').parse().expect("a count"));
            let list = if first_line { &mut commands.build } else { &mut commands.deploy };
            list.extend(std::iter::repeat_n(Order { action, x, y }, times));
        }
        Answer::Given { order: commands, think_ms }
    }

    fn facts(game: &Terminal, state: &State, events: &[Event]) -> Vec<String> {
        let mut facts = NOTES.with(|notes| notes.borrow().clone());
        facts.push(format!("turn {}", state.turn));
        facts.push(format!("{} frames", state.last_frames));
        for (number, player) in (1..).zip(&state.players) {
            let mut say = |what: &str| facts.push(format!("player {number} {what}"));
            say(&format!("hp {:?}", player.hp));
            say(&format!("sp {:?}", player.sp));
            say(&format!("mp {:?}", player.mp));
            say(&format!("ms {} of {}", player.ms, player.total_ms));
            say(&format!("spent {:?} SP and {:?} MP", player.sp_spent, player.mp_spent));
            say(&format!(
                "lost {:?} MP to decay and {:?} on the board",
                player.mp_spoiled, player.mp_destroyed
            ));
            say(&format!("scored {:?}", player.points));
            say(&format!("lost {:?} to time", player.time_damage));
            if player.crashed {
                say("crashed");
            }
        }
        for (slot, structure) in state.structures().iter().enumerate() {
            let plus = if structure.upgraded() { "+" } else { "" };
            let name = structure.kind().name().to_lowercase();
            facts.push(format!(
                "{name}{plus} {} on {:?} health {:?}",
                structure.id(),
                structure.tile(),
                structure.health
            ));
            if let Some(left) = state.mark(slot) {
                facts.push(format!("{name}{plus} {} goes in {left}", structure.id()));
            }
        }
        let mut paths: Vec<(Who, String)> = Vec::new();
        for event in events {
            match event {
                Event::Frame(frame) => frame_facts(frame, &mut paths, &mut facts),
                Event::Restored(deaths) => {
                    for death in deaths {
                        facts.push(format!("{} removed from {:?}", name(death.unit), death.at));
                    }
                }
                Event::Over(_) => {}
            }
        }
        facts.extend(paths.into_iter().map(|(who, path)| format!("{} goes {path}", name(who))));
        wire_facts(game, state, events, &mut facts);
        facts
    }
}

/// The default reading of an orders line: messages of the dialect.
fn wire_answer(game: &Terminal, dialect: &mut Wire, seat: Seat, text: &str) -> Answer<Commands> {
    use agon_game::Heard;
    let mut notes = Vec::new();
    let mut answer = Answer::Missing(agon_game::Absence::TimedOut);
    for message in text.split("\\n") {
        match dialect.hear(game, seat, message.trim().as_bytes()) {
            Heard::More => {}
            Heard::Ignore(why) => notes.push(format!("seat {seat} is told: {}", why.unwrap_or_default())),
            Heard::Answer(order) => {
                answer = Answer::Given { order, think_ms: 0 };
                break;
            }
            Heard::Malformed(why) | Heard::Failed { why, .. } => {
                answer = Answer::Malformed { why, think_ms: 0 };
                break;
            }
            Heard::Close(_) => break,
        }
    }
    NOTES.with(|kept| kept.borrow_mut().extend(notes));
    answer
}

fn name(who: Who) -> String {
    format!("{} {}", who.kind.name().to_lowercase(), who.id)
}

fn frame_facts(frame: &Frame, paths: &mut Vec<(Who, String)>, facts: &mut Vec<String>) {
    let number = frame.frame;
    let mut say = |what: String| facts.push(format!("frame {number}: {what}"));
    let Events { spawn, moves, breach, shield, self_destruct, attack, damage, death, melee, struck } =
        &frame.events;
    for spawn in spawn {
        let what = match spawn.what {
            Spawned::Unit(kind) => kind.name().to_lowercase(),
            Spawned::Removal => "removal of".to_owned(),
            Spawned::Upgrade => "upgrade".to_owned(),
        };
        say(format!("{what} {} on {:?}", spawn.id, spawn.at));
    }
    for step in moves {
        say(format!("{} moves to {:?}", name(step.unit), step.to));
        let letter = match (step.to.x() - step.from.x(), step.to.y() - step.from.y()) {
            (1, _) => 'R',
            (-1, _) => 'L',
            (_, 1) => 'U',
            _ => 'D',
        };
        match paths.iter_mut().find(|(who, _)| *who == step.unit) {
            Some((_, path)) => path.push(letter),
            None => paths.push((step.unit, letter.to_string())),
        }
    }
    for breach in breach {
        say(format!("{} breaches at {:?} for {:?}", name(breach.unit), breach.at, breach.damage));
    }
    for shield in shield {
        say(format!("{} shields {} by {:?}", name(shield.giver), shield.target, shield.amount));
    }
    for blast in self_destruct {
        say(format!(
            "{} self-destructs at {:?} for {:?} on {:?}",
            name(blast.unit),
            blast.at,
            blast.damage,
            blast.tiles
        ));
    }
    let order: Vec<String> = attack.iter().map(|attack| attack.attacker.id.to_string()).collect();
    if !order.is_empty() {
        say(format!("attacks by {}", order.join(" ")));
    }
    for attack in attack {
        say(format!("{} hits {} for {:?}", name(attack.attacker), attack.target, attack.damage));
    }
    if !damage.is_empty() {
        say(format!("{} damages", damage.len()));
    }
    for melee in melee {
        say(format!("{} strikes at {:?}", name(melee.unit), melee.to));
    }
    if !struck.is_empty() {
        say(format!("{} struck", struck.len()));
    }
    for death in death {
        say(format!("{} dies at {:?}", name(death.unit), death.at));
    }
    for (number, lists) in (1..).zip(&frame.lists) {
        for kind in [Kind::Scout, Kind::Demolisher, Kind::Interceptor] {
            for unit in &lists.units[kind.index()] {
                say(format!(
                    "{} {} of player {number} health {:?}",
                    kind.name().to_lowercase(),
                    unit.id,
                    unit.health
                ));
            }
        }
        for unit in lists.units[..3].iter().flatten() {
            say(format!("structure {} health {:?}", unit.id, unit.health));
        }
    }
    for (player, stats) in (1..).zip(&frame.stats) {
        say(format!("player {player} hp {:?} sp {:?} mp {:?}", stats.hp, stats.sp, stats.mp));
    }
}

/// What would be sent to the bots now.
fn wire_facts(game: &Terminal, state: &State, events: &[Event], facts: &mut Vec<String>) {
    let mut dialect = Wire::new(game);
    events.iter().for_each(|event| dialect.tell(game, event));
    for seat in Seat::first(2) {
        let mut sent = Vec::new();
        if state.ending.is_none() {
            dialect.ask(game, seat, &game.view(state, seat), &mut sent);
        } else {
            let outcome: Outcome = game.outcome(state).expect("the match is over");
            let names = vec!["first".to_owned(), "second".to_owned()];
            dialect.end(game, seat, &outcome, &Facts { names, wall_ms: 1 }, &mut sent);
        }
        let text = String::from_utf8(sent).expect("lines are text");
        let mut kinds = Vec::new();
        for line in text.lines() {
            let value: Value = serde_json::from_str(line).expect("lines are JSON");
            let phase = value["turnInfo"][0].as_u64();
            kinds.push(match phase {
                None => "configuration",
                Some(0) => "deploy",
                Some(1) => "frame",
                _ => "end",
            });
            if phase == Some(1) {
                facts.push(format!("seat {seat} reads move {}", value["events"]["move"]));
                continue;
            }
            for key in ["turnInfo", "p1Stats", "p2Stats", "p1Units", "p2Units", "replaySave"] {
                let part = value.get(key).or_else(|| value["timingAndReplay"].get(key));
                part.into_iter().for_each(|part| facts.push(format!("seat {seat} reads {key} {part}")));
            }
            if let Some(deaths) = value["events"]["death"].as_array().filter(|deaths| !deaths.is_empty()) {
                facts.push(format!("seat {seat} reads death {}", Value::from(deaths.clone())));
            }
            if let Some(stats) = value.get("endStats") {
                facts.push(format!("seat {seat} reads winner {}", stats["winner"]));
                facts.push(format!("seat {seat} reads player1 {}", stats["player1"]));
            }
        }
        facts.push(format!("seat {seat} is sent {}", kinds.join(", ")));
    }
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("spec")
}

#[test]
fn every_rule_is_as_written() {
    spec::run::<Spec>(&folder());
}

#[test]
fn every_rule_can_be_found() {
    agon_testkit::rulebook::check(&Terminal::INFO);
}

/// Every changed rule must be noticed by some section.
#[test]
fn changed_numbers_are_noticed() {
    for (name, value) in [
        ("resources.startingHP", "31"),
        ("resources.coresPerRound", "6"),
        ("resources.bitDecayPerRound", "0.5"),
        ("EF.shieldRange", "5"),
        ("DF.attackDamageWalker", "5"),
        ("PI.speed", "0.5"),
        ("SI.selfDestructDamageTower", "39"),
        ("FF.refundPercentage", "0.5"),
        ("timingAndReplay.waitTimeBotSoft", "4000"),
    ] {
        let summary = spec::check::<Spec>(&folder(), &[(name.to_owned(), value.to_owned())]);
        assert!(!summary.failures.is_empty(), "nothing notices {name}={value}");
    }
}

#[test]
fn a_turn_of_a_recorded_match_is_a_section() {
    let setup = Setup { seats: 2, seed: 3, ..Setup::default() };
    agon_testkit::recorded::check::<Spec>(&setup, "TM-ATTACK-1");
}
