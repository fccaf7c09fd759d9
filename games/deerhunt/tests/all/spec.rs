//! The readable rule tests in `spec/`, and whether they notice a changed rule.

use std::path::Path;

use agon_game::{Answer, Dialect as _, Game, Recipe, RulesChoice, Seat, Setup, SetupError};
use agon_testkit::spec::{self, Adapter};
use deerhunt::event::Event;
use deerhunt::map::Map;
use deerhunt::orders::{Move, Moves, Verb, Words};
use deerhunt::rules::Rules;
use deerhunt::state::{At, Direction, Player, State};
use deerhunt::{DeerhuntOf, LARGE};

type Deerhunt = DeerhuntOf<LARGE>;

/// Boards show the whole map: `X` wall, `R` resource, `w` and `m` units of player 1, `W` and `M` of
/// player 2. With `file: yes` a board is a map file. Without rows the seed decides which map is generated
/// or picked. `resources: 100 50`, `stock: 3 10`, `round: 4` and the names of rules set what they name.
struct Spec;

impl Adapter for Spec {
    type Game = Deerhunt;

    fn set_up(
        board: &[&str],
        settings: &[(String, String)],
        seed: i64,
    ) -> Result<(Deerhunt, State<LARGE>), String> {
        let mut choice = RulesChoice::default();
        let (mut file, mut resources, mut stock, mut round, mut of_preset) = (false, None, None, 1, None);
        let numbers = |text: &str| -> Result<Vec<u32>, String> {
            text.split(' ')
                .map(|number| number.parse().map_err(|_| format!("bad number in `{text}`")))
                .collect()
        };
        for (name, value) in settings {
            match name.as_str() {
                "rules" => choice.preset.clone_from(value),
                "file" => file = true,
                "resources" => resources = Some(numbers(value)?),
                "stock" => stock = Some(numbers(value)?),
                "round" => round = numbers(value)?[0],
                "in preset" => of_preset = Some(value.as_str()),
                // Changes to a preset go first: the board's own settings win.
                _ if of_preset.is_some() => {
                    if of_preset == Some(choice.preset.as_str()) {
                        choice.sets.insert(0, (name.clone(), value.clone()));
                    }
                }
                _ => choice.sets.push((name.clone(), value.clone())),
            }
        }
        let game = if board.is_empty() {
            let setup = Setup { rules: choice, seats: 2, seed, ..Setup::default() };
            Deerhunt::set_up(&setup)
        } else {
            let owner = |letter: char, _| if letter.is_lowercase() { Player::One } else { Player::Two };
            let map = match file {
                true => Map::parse("board", &board.join("\n")).map_err(|error| error.to_string())?,
                false => Map::from_rows(board, owner)?,
            };
            on_map(&choice, map)
        };
        let game = game.map_err(|error| error.to_string())?;
        let mut state = game.start();
        if let Some(resources) = resources {
            state.resources = [resources[0], resources[1]];
        }
        for (hub, left) in stock.into_iter().flatten().enumerate() {
            state.stock[hub] = left as u16;
        }
        state.half = (round as u16 - 1) * 2;
        Ok((game, state))
    }

    /// `0 UP RIGHT; 3 ATTACK LEFT`; `-` is the empty list; anything in brackets is sent as is.
    fn answer(
        game: &Deerhunt,
        dialect: &mut <Deerhunt as Game>::Dialect,
        seat: Seat,
        text: &str,
    ) -> Answer<Moves> {
        if text.starts_with(['[', '{', '"']) || text == "null" {
            return <Raw as Adapter>::answer(game, dialect, seat, text);
        }
        let moves = text.split(';').map(str::trim).filter(|text| *text != "-").map(read_move).collect();
        let mut message = Vec::new();
        dialect.say(game, seat, &moves, &mut message);
        <Raw as Adapter>::answer(game, dialect, seat, &String::from_utf8_lossy(&message))
    }

    fn facts(game: &Deerhunt, state: &State<LARGE>, events: &[Event]) -> Vec<String> {
        let mut facts = vec![
            game.moment(state),
            format!("{} units made", state.made),
            format!("at most {} units", game.rules.max_units),
            format!("limit {} ms", game.limit_ms(state, Seat::new(0))),
            format!("connecting takes at most {} ms", game.rules.connect_timeout_ms),
            format!("map {} {} x {}", game.recipe().map_name, game.map.width(), game.map.height()),
            format!("{} hubs", game.map.hubs()),
        ];
        for id in 0..state.made {
            let unit = state.unit(id);
            if unit.hp == 0 {
                facts.push(format!("{id} is dead"));
                continue;
            }
            let At { x, y } = unit.at;
            facts.push(format!("{id} at {x},{y}"));
            facts.push(format!("{id} is a {} of {}", unit.kind, unit.owner));
            facts.push(format!("{id} hp {}", unit.hp));
            facts.push(format!("{id} mining {}", unit.mining));
            facts.push(format!("{id} duplicating {}", unit.duplication));
            facts.push(format!("{id} stun {}", unit.stun));
        }
        for hub in 0..game.map.hubs() {
            facts.push(format!("hub {hub} has {}", state.stock[hub.min(15)]));
        }
        for player in Player::BOTH {
            let seat = player.seat();
            facts.push(format!("{seat} owns {}", state.resources[player as usize]));
            let view = game.view(state, seat);
            let ids: Vec<String> = view.theirs.iter().map(|seen| seen.id.to_string()).collect();
            facts
                .push(format!("{seat} sees {}", if ids.is_empty() { "-".to_owned() } else { ids.join(" ") }));
            let mut message = Vec::new();
            <Deerhunt as Game>::Dialect::new(game).ask(game, seat, &view, &mut message);
            facts.extend(
                told(&String::from_utf8_lossy(&message))
                    .into_iter()
                    .map(|fact| format!("{seat} is told {fact}")),
            );
        }
        facts.extend(events.iter().map(|event| match event {
            Event::Born { unit, at, .. } => format!("{unit} born at {},{}", at.x, at.y),
            Event::ChildLost { parent, .. } => format!("child of {parent} lost"),
            Event::Mined { unit, amount, .. } => format!("{unit} mined {amount}"),
            Event::HubSaturated { hub } => format!("hub {hub} saturated"),
            Event::ListVoid { player } => format!("list of {} void", player.seat()),
            other => format!("{other:?}"),
        }));
        facts
    }
}

fn on_map(choice: &RulesChoice, map: Map) -> Result<Deerhunt, SetupError> {
    let loaded = agon_game::rules::load::<Rules>(&Deerhunt::INFO, choice)?;
    loaded.rules.check(&loaded.name, State::<LARGE>::CAPACITY)?;
    let recipe = Recipe {
        rules_name: loaded.name,
        rules: loaded.text,
        map_name: "board".to_owned(),
        map: String::new(),
        seats: 2,
        seed: 0,
    };
    Deerhunt::assemble(loaded.rules, map, recipe)
}

/// Sends lines as they are.
struct Raw;

impl Adapter for Raw {
    type Game = Deerhunt;

    fn set_up(_: &[&str], _: &[(String, String)], _: i64) -> Result<(Deerhunt, State<LARGE>), String> {
        Err("never used".to_owned())
    }

    fn facts(_: &Deerhunt, _: &State<LARGE>, _: &[Event]) -> Vec<String> {
        Vec::new()
    }
}

fn read_move(text: &str) -> Move {
    let mut words = text.split(' ');
    let unit = words.next().and_then(|id| id.parse().ok());
    let mut words = words.peekable();
    let verb = words.peek().and_then(|word| Verb::ALL[1..].iter().find(|verb| verb.word() == *word));
    if verb.is_some() {
        words.next();
    }
    let direction = |word: &str| Direction::ALL.into_iter().find(|direction| direction.word() == word);
    Move { unit, verb: *verb.unwrap_or(&Verb::Walk), words: words.map(direction).collect::<Words>() }
}

/// The parts of a message: rows of the map, units as they were written, numbers.
fn told(message: &str) -> Vec<String> {
    let json: serde_json::Value = serde_json::from_str(message).expect("a message is JSON");
    let mut facts = Vec::new();
    for row in json["map"].as_array().into_iter().flatten() {
        let letters: String = row.as_array().into_iter().flatten().filter_map(|cell| cell.as_str()).collect();
        facts.push(format!("map {}", letters.replace(' ', ".")));
    }
    for name in ["my_units", "their_units"] {
        let list = message.split_once(&format!("\"{name}\": [")).map_or("", |(_, list)| list);
        let list = list.split_once(']').map_or("", |(list, _)| list);
        facts.extend(
            list.split_inclusive('}').map(|unit| format!("{name} {}", unit.trim_start_matches(", "))),
        );
    }
    for name in ["my_resources", "their_resources", "turns_left"] {
        facts.extend(json.get(name).map(|number| format!("{name} {number}")));
    }
    facts
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("spec")
}

#[test]
fn the_rules_are_as_specified() {
    spec::run::<Spec>(&folder());
}

#[test]
fn rulebook_code_and_spec_name_the_same_rules() {
    agon_testkit::rulebook::check(&Deerhunt::INFO);
}

/// Any rule of any preset, given another value, breaks a section of that preset.
#[test]
fn a_changed_number_of_a_preset_is_noticed() {
    let mut unnoticed = Vec::new();
    for preset in Deerhunt::INFO.presets {
        for line in preset.text.lines().filter(|line| line.contains('=') && !line.starts_with('#')) {
            let (name, value) = line.split_once(" = ").expect("a rule is `name = value`");
            if without_effect(preset.name, name) {
                continue;
            }
            for other in others(name, value) {
                let overrides = [("in preset", preset.name), (name, &other)];
                let overrides = overrides.map(|(name, value)| (name.to_owned(), value.to_owned()));
                if spec::check::<Spec>(&folder(), &overrides).failures.is_empty() {
                    unnoticed.push(format!("{}: {name} = {value} as {other}", preset.name));
                }
            }
        }
    }
    assert!(unnoticed.is_empty(), "no section notices\n  {}", unnoticed.join("\n  "));
}

/// Other values a rule could have.
fn others(name: &str, value: &str) -> Vec<String> {
    let words: &[&str] = match name {
        "tie" => &["player_2", "shared"],
        "validation" => &["form", "strict", "each"],
        "maps" => &["[]", "[\"delta\"]"],
        "opponent_resources" => &["with_worker", "never"],
        "attackers" => &["melee", "any"],
        "duplication" => &["melee_itself", "workers_both"],
        "countdown" => &["round", "half"],
        "timers_of_the_dead" => &["cancelled", "run_on"],
        "message" => &["document", "2019", "2021"],
        _ if value == "true" || value == "false" => &["true", "false"],
        _ => {
            let number: u32 = value.parse().expect("the rest are numbers");
            return if number > 1 {
                vec![(number - 1).to_string(), (number + 1).to_string()]
            } else {
                vec!["2".to_owned()]
            };
        }
    };
    words.iter().filter(|word| **word != value.trim_matches('"')).map(|word| (*word).to_owned()).collect()
}

/// Rules that a preset carries only so that they can be changed: other rules of the preset keep them from having any effect.
fn without_effect(preset: &str, name: &str) -> bool {
    match name {
        "map_width" | "map_height" | "hubs" | "start_workers" | "start_melees" => preset != "document",
        "worker_cost" | "stun_cost" | "stun_length" | "stun_range" | "compat_stun_registry" => {
            preset != "bc2021"
        }
        // Every unit has one health there.
        "attack_damage" => preset != "document",
        _ => false,
    }
}

#[test]
fn a_turn_of_a_recorded_match_is_a_section() {
    let setup = Setup { seats: 2, seed: 3, ..Setup::default() };
    agon_testkit::recorded::check::<Spec>(&setup, "DH-ATTACK-1");
}
