//! The rule tests in `spec/`, and whether they notice a changed rule.
//!
//! A board is a map, then settings: names of rules, and
//!
//! - `phase: shop` to begin in the shop; otherwise nobody has bought anything and turn 1 begins;
//! - `round: 2`, `turn: 29`, `team 1: 5` (its gold), `fire: 3,2 4,2`, `pile: 3,2 7`,
//!   `item: 3,2 rusty_sword`, `p1: hp 40`;
//! - `a1: at 3,2 hp 40 gold 5 wears rusty_sword holds health_potion,big_boots`, or `a1: gone`;
//! - `refused: yes` when the setup is expected to be refused.
//!
//! A board without a second team or without a portal gets them in two rows below, behind a wall; that second team has
//! nobody on the map, so only team 1 is asked.
//!
//! Orders: `a1 UP`, `a1 use i1`, `buy a1 rusty_sword [equip]`, `sell a1 i1`, `equip a1 i1`,
//! `unequip a1 i1`, `give a1 a2 i1`, joined by `, ` (`129 x buy ...` is 129 of them); `-` for an empty list; or a line of JSON.

use std::path::Path;

use agon_game::{Answer, Dialect, Game, Heard, Ignored, MapChoice, RulesChoice, Seat, Seeded, Setup};
use agon_testkit::spec::{self, Adapter};
use ostibot::Ostibot;
use ostibot::dialect::Talk;
use ostibot::event::Event;
use ostibot::geometry::{Cell, Direction};
use ostibot::items::Kind;
use ostibot::names::{AdventurerId, ItemId};
use ostibot::orders::{Act, Action, Order, Unclear};
use ostibot::state::{Adventurer, Item, Phase, Pile, Place, State};
use serde_json::Value;

struct Spec;

impl Adapter for Spec {
    type Game = Ostibot;

    fn set_up(board: &[&str], settings: &[(String, String)], seed: i64) -> Result<(Ostibot, State), String> {
        let (mut rules, mut changes, mut refused) = (RulesChoice::default(), Vec::new(), false);
        for (name, value) in settings {
            let own = ["phase", "round", "turn", "fire", "pile", "item"];
            match name.as_str() {
                "preset" => rules.preset.clone_from(value),
                "refused" => refused = true,
                name if own.contains(&name) || name.starts_with("team ") || is_name(name) => {
                    changes.push((name, value.as_str()));
                }
                _ => rules.sets.push((name.clone(), value.clone())),
            }
        }
        let drawn = board.concat();
        let mut map = board.join("\n");
        let seats = drawn.chars().filter_map(|c| c.to_digit(10)).max().unwrap_or(1).max(2) as u8;
        let alone = !drawn.contains('2') && !refused;
        if (alone || !drawn.contains('P')) && !refused {
            map += if alone { "\n######\n#2##P#" } else { "\n######\n####P#" };
        }
        let setup = |rules, map: String| Setup {
            rules,
            map: MapChoice::File("board".to_owned(), map.into_bytes()),
            seats,
            seed,
        };
        let game = match (Ostibot::set_up(&setup(rules, map)), refused) {
            (Ok(game), false) => game,
            (Err(error), false) => return Err(error.to_string()),
            (Ok(_), true) => return Err("the setup is not refused".to_owned()),
            (Err(error), true) => {
                let map = MapChoice::File(format!("refused: {error}"), b"1P2".to_vec());
                let game = Ostibot::set_up(&Setup { map, seats: 2, ..Setup::default() });
                let game = game.map_err(|error| error.to_string())?;
                let state = game.start();
                return Ok((game, state));
            }
        };
        let mut state = game.start();
        if alone {
            state.adventurers[game.members(Seat::new(1))].fill(Adventurer::NOBODY);
        }
        if let Some((_, round)) = changes.iter().find(|(name, _)| *name == "round") {
            state.round = number(round)?;
        }
        if !changes.contains(&("phase", "shop")) {
            let nothing: Vec<_> = game
                .deciding(&state)
                .iter()
                .map(|seat| (seat, Answer::Given { order: Order::default(), think_ms: 0 }))
                .collect();
            game.play(&mut state, &mut (), &nothing, &mut Seeded::stream(0, "spec"), &mut Ignored);
        }
        for (name, value) in changes {
            change(&game, &mut state, name, value).map_err(|why| format!("`{name}: {value}`: {why}"))?;
        }
        // The first team to act may have lost its adventurers.
        if let Phase::Play(_) = state.phase {
            let first = (0..game.seats())
                .find(|&place| state.has_adventurers(&game, game.team_at(state.round, place)));
            state.phase = Phase::Play(first.ok_or("nobody is on the map")?);
        }
        Ok((game, state))
    }

    fn answer(game: &Ostibot, dialect: &mut Talk, seat: Seat, text: &str) -> Answer<Order> {
        let message =
            text.replace("(1 MiB)", &"x".repeat(1 << 20)).replace("(1000 actions)", &"{},".repeat(1000));
        if text.starts_with(['{', '[', '"']) {
            return match dialect.hear(game, seat, message.as_bytes()) {
                Heard::Answer(order) | Heard::Failed { order: Some(order), .. } => {
                    Answer::Given { order, think_ms: 0 }
                }
                Heard::Malformed(why) | Heard::Failed { why, .. } => Answer::Malformed { why, think_ms: 0 },
                other => panic!("{text} is heard as {other:?}"),
            };
        }
        let parts = text.split(", ").filter(|part| *part != "-");
        let repeated = |part: &str| {
            let (times, part) = part.split_once(" x ").unwrap_or(("1", part));
            vec![Action::from(act(part)); times.parse().expect("a number of times")]
        };
        let actions = parts.flat_map(repeated).collect();
        Answer::Given { order: Order { actions, error: None }, think_ms: 0 }
    }

    fn facts(game: &Ostibot, state: &State, events: &[Event]) -> Vec<String> {
        let mut facts = Vec::new();
        let at = |cell: Cell| format!("{},{}", cell.x(), cell.y());
        if game.recipe().map_name.starts_with("refused: ") {
            facts.push(game.recipe().map_name.clone());
        }
        facts.push(format!("moment: {}", game.moment(state)));
        facts.push(format!("rounds: {}", game.rules().nb_rounds));
        facts.push(format!("turn {}", state.turn));
        facts.push(format!("round {}", state.round));
        let order: Vec<_> = game.order_of_play(state.round).map(|team| team.to_string()).collect();
        facts.push(format!("order of play: {}", order.join(" ")));
        for team in Seat::first(game.seats()) {
            facts.push(format!("team {team} gold {}", state.gold_of(team)));
            facts.push(format!("team {team} has {} s", game.limit_ms(state, team) / 1000));
            let here = game.members(team).filter(|&who| state.adventurers[who].is_here()).count();
            facts.push(format!("team {team} has {here} on the map"));
        }
        for (who, adventurer) in state.adventurers[..game.places()].iter().enumerate() {
            let Adventurer { id, cell, hp, escape, gold } = *adventurer;
            let team = game.team_of(who);
            facts.push(match (adventurer.is_here(), escape) {
                (true, _) => format!("{id} of team {team} at {}", at(cell)),
                (false, 0) => format!("{id} dead"),
                (false, _) => format!("{id} escaped"),
            });
            if hp > 0 {
                facts.push(format!("{id} hp {hp}"));
                facts.push(format!("{id} gold {gold}"));
            }
        }
        for item in state.items.iter() {
            let Item { id, place, kind } = *item;
            let kind = kind.id();
            facts.push(match place {
                Place::Ground(cell) => format!("{id} {kind} lies at {}", at(cell)),
                Place::Pack(who) => format!("{} holds {id} {kind}", state.adventurers[usize::from(who)].id),
                Place::Worn(who) => format!("{} wears {id} {kind}", state.adventurers[usize::from(who)].id),
            });
        }
        for (index, object) in game.map().objects.iter().enumerate() {
            facts.push(match state.object_hp(index) {
                None => format!("{object} gone"),
                Some(0) => format!("{object} open"),
                Some(hp) => format!("{object} hp {hp}"),
            });
        }
        facts.extend(state.piles.iter().map(|pile| format!("{} gold at {}", pile.amount, at(pile.cell))));
        facts.extend(state.fire.iter().map(|cell| format!("fire at {}", at(cell))));
        for team in Seat::first(game.seats()) {
            let view = game.view(state, team);
            facts.extend(view.seen.iter().map(|cell| format!("{team} sees {}", at(cell))));
            facts.extend(view.objects.iter().map(|(object, _)| format!("{team} sees {object}")));
            facts.extend(view.adventurers.iter().map(|body| format!("{team} sees {}", body.id)));
        }
        facts.extend(events.iter().map(|event| serde_json::to_string(event).expect("events are JSON")));
        facts
    }

    fn asked(game: &Ostibot, state: &State, dialect: &mut Talk) -> Vec<String> {
        let mut facts = Vec::new();
        for seat in game.deciding(state).iter() {
            let mut message = Vec::new();
            dialect.ask(game, seat, &game.view(state, seat), &mut message);
            let question: Value = serde_json::from_slice(&message).expect("questions are JSON");
            leaves(&format!("{seat} is told"), &question, &mut facts);
        }
        facts
    }
}

/// Every value of a JSON text with its path: `1 is told input/round 1`; objects also with their keys.
fn leaves(path: &str, value: &Value, facts: &mut Vec<String>) {
    let step =
        |key: &str| if path.ends_with("told") { format!("{path} {key}") } else { format!("{path}/{key}") };
    match value {
        Value::Object(fields) => {
            facts.push(format!("{path} {{{}}}", fields.keys().cloned().collect::<Vec<_>>().join(" ")));
            fields.iter().for_each(|(key, value)| leaves(&step(key), value, facts));
        }
        Value::Array(entries) => {
            facts.push(format!("{path} [{}]", entries.len()));
            entries
                .iter()
                .enumerate()
                .for_each(|(index, value)| leaves(&step(&index.to_string()), value, facts));
        }
        Value::String(text) => facts.push(format!("{path} {text}")),
        other => facts.push(format!("{path} {other}")),
    }
}

/// Whether `text` is a letter and a number: `a1`, `p12`.
fn is_name(text: &str) -> bool {
    let digits = text.strip_prefix(['a', 'p', 'c', 'v', 'd']);
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| format!("`{text}` is no number"))
}

fn cell(text: &str) -> Result<Cell, String> {
    let (x, y) = text.trim().split_once(',').ok_or(format!("`{text}` is no cell"))?;
    Ok(Cell::new(number(x)?, number(y)?))
}

fn kind(text: &str) -> Result<Kind, String> {
    Kind::asked(text).ok_or(format!("`{text}` is no item"))
}

/// Applies one setting to the state.
fn change(game: &Ostibot, state: &mut State, name: &str, value: &str) -> Result<(), String> {
    let words: Vec<&str> = value.split_whitespace().collect();
    match name {
        "phase" | "round" => {}
        "turn" => state.turn = number(value)?,
        "fire" => {
            for word in words {
                state.fire.insert(cell(word)?);
            }
        }
        "pile" => {
            let pile = Pile { cell: cell(words[0])?, amount: number(words[1])? };
            state.piles.push(pile).map_err(|_| "no room")?;
        }
        "item" => new_item(state, Place::Ground(cell(words[0])?), kind(words[1])?),
        _ => match name.strip_prefix("team ") {
            Some(team) => state.gold[number::<usize>(team)? - 1] = number(value)?,
            None if name.starts_with('a') => {
                let id = AdventurerId::read(name);
                let who =
                    state.adventurers.iter().position(|one| one.id == id).ok_or("nobody has that name")?;
                if value == "gone" {
                    state.adventurers[who] = Adventurer::NOBODY;
                }
                for pair in words.chunks_exact(2) {
                    place(state, who, pair[0], pair[1])?;
                }
            }
            None => {
                let named = |object: &ostibot::map::Object| object.to_string() == name;
                let index = game.map().objects.iter().position(named).ok_or("nothing has that name")?;
                state.hp[index] = number(words.last().ok_or("nothing said")?)?;
            }
        },
    }
    Ok(())
}

fn place(state: &mut State, who: usize, what: &str, value: &str) -> Result<(), String> {
    let adventurer = &mut state.adventurers[who];
    match what {
        "at" => adventurer.cell = cell(value)?,
        "hp" => adventurer.hp = number(value)?,
        "gold" => adventurer.gold = number(value)?,
        "wears" | "holds" => {
            for name in value.split(',') {
                let place = if what == "wears" { Place::Worn(who as u8) } else { Place::Pack(who as u8) };
                new_item(state, place, kind(name)?);
            }
        }
        other => return Err(format!("`{other}` is not at, hp, gold, wears or holds")),
    }
    Ok(())
}

fn new_item(state: &mut State, place: Place, kind: Kind) {
    state.last_item += 1;
    state.items.push(Item { id: ItemId(state.last_item), place, kind }).expect("few items");
}

/// One entry of a list, in the short form of the spec files.
fn act(text: &str) -> Act {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (name, item) = (AdventurerId::read, ItemId::read);
    match words[..] {
        ["buy", who, what, ref rest @ ..] => match Kind::asked(what) {
            Some(kind) => Act::Buy { who: name(who), kind, equip: rest == ["equip"] },
            None => Act::Unclear { who: name(who), why: Unclear::ItemType },
        },
        ["sell", who, what] => Act::Sell { who: name(who), item: item(what) },
        ["equip", who, what] => Act::Equip { who: name(who), item: item(what) },
        ["unequip", who, what] => Act::Unequip { who: name(who), item: item(what) },
        ["give", from, to, what] => Act::Transfer { from: name(from), to: name(to), item: item(what) },
        [who, "use", what] => Act::Use { who: name(who), item: item(what) },
        [who, direction] => match Direction::named(direction) {
            Some(direction) => Act::Move { who: name(who), direction },
            None => Act::Unclear { who: name(who), why: Unclear::Direction },
        },
        [who] => Act::Unclear { who: name(who), why: Unclear::Nothing },
        _ => panic!("`{text}` is no order"),
    }
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("spec")
}

#[test]
fn every_spec_section_holds() {
    spec::run::<Spec>(&folder());
}

#[test]
fn every_rule_stands_in_rulebook_code_and_spec() {
    agon_testkit::rulebook::check(&Ostibot::INFO);
}

/// All rules except the catalogue, each with a value that must be noticed.
const CHANGES: [(&str, &str); 25] = [
    ("nbRounds", "1"),
    ("startingGold", "4"),
    ("timeout", "301"),
    ("adventurersPerRound", "2"),
    ("adventurerHp", "121"),
    ("adventurerDamage", "21"),
    ("blockDamage", "21"),
    ("visionLength", "6"),
    ("spawnerVision", "6"),
    ("corruptionStartAt", "31"),
    ("corruptionSpreadSpeed", "5"),
    ("corruptionDamage", "21"),
    ("spikeDamage", "21"),
    ("portalHp", "101"),
    ("chestHp", "101"),
    ("chestGold", "13"),
    ("vaseHp", "41"),
    ("vaseGold", "4"),
    ("doorHp", "41"),
    ("goldPile", "2"),
    ("healCost", "3"),
    ("sellRatio", "0.6"),
    ("maxTurns", "299"),
    ("slideBumps", "true"),
    ("revealTerrain", "false"),
];

/// Every number of the rules is tested somewhere in `spec/`: with another value a section fails.
#[test]
fn every_changed_rule_is_noticed() {
    let mut changes: Vec<(String, String)> =
        CHANGES.iter().map(|(rule, value)| (rule.to_string(), value.to_string())).collect();
    changes.extend(["manhattan", "chebyshev"].map(|metric| ("visionMetric".to_owned(), metric.to_owned())));
    let game = Ostibot::set_up(&Setup { seats: 2, ..Setup::default() }).expect("the default set-up");
    for (kind, item) in &game.rules().items {
        changes.push((format!("items.{}.cost", kind.id()), (item.cost + 1).to_string()));
        changes.push((format!("items.{}.bonus", kind.id()), (item.bonus + 1).to_string()));
    }
    assert_every_rule_is_among(&changes, &game);
    let unchanged = spec::check::<Spec>(&folder(), &[]).failures;
    assert!(unchanged.is_empty(), "the sections must hold before a rule is changed");
    let mut unnoticed = Vec::new();
    for change in &changes {
        let failures = spec::check::<Spec>(&folder(), std::slice::from_ref(change)).failures;
        if !failures.iter().any(|failure| failure.contains(": expected `")) {
            unnoticed.push(format!("{}={}: {failures:?}", change.0, change.1));
        }
    }
    assert!(unnoticed.is_empty(), "no spec section notices\n{}", unnoticed.join("\n"));
    println!("{} changed rules, each noticed", changes.len());
}

fn assert_every_rule_is_among(changes: &[(String, String)], game: &Ostibot) {
    let rules: Value = serde_json::to_value(game.rules()).expect("rules are JSON");
    for (rule, value) in rules.as_object().expect("an object") {
        let parts = value.as_object().map(|items| {
            items.keys().flat_map(|id| ["cost", "bonus"].map(|part| format!("items.{id}.{part}")))
        });
        let names: Vec<String> = parts.map_or_else(|| vec![rule.clone()], Iterator::collect);
        for name in names {
            assert!(changes.iter().any(|(changed, _)| *changed == name), "{name} is never changed");
        }
    }
}

#[test]
fn a_turn_of_a_recorded_match_is_a_section() {
    let setup = Setup { seats: 3, seed: 3, ..Setup::default() };
    agon_testkit::recorded::check::<Spec>(&setup, "OB-HIT-1");
}
