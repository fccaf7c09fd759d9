//! The presets, and a table of matches that must never change.

use agon_game::session::{RunningMatch, random_answers};
use agon_game::{Dialect as _, Game as _, RulesChoice, Seat, Seeded, Session as _, Setup};
use serde_json::Value;
use terminal::Terminal;
use terminal::arena::Reach;
use terminal::dialect::Wire;
use terminal::rules::Kind;

fn config(preset: &str) -> Value {
    serde_json::from_str(Terminal::INFO.preset(preset).expect("a preset").text).expect("JSON")
}

/// The paths of all numbers that differ between two configurations.
fn differences(one: &Value, other: &Value, path: &str, found: &mut Vec<String>) {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            assert!(one.keys().eq(other.keys()), "{path}: not the same keys");
            one.iter()
                .for_each(|(key, value)| differences(value, &other[key], &format!("{path}.{key}"), found));
        }
        (Value::Array(one), Value::Array(other)) => {
            for (index, (one, other)) in one.iter().zip(other).enumerate() {
                differences(one, other, &format!("{path}.{index}"), found);
            }
        }
        _ if one != other => found.push(format!("{path}: {one} and {other}")),
        _ => {}
    }
}

#[test]
fn the_document_differs_from_the_matches_in_two_numbers() {
    let mut found = Vec::new();
    differences(&config("document"), &config("europe-2025"), "", &mut found);
    assert_eq!(
        found,
        [
            ".unitInformation.1.upgrade.shieldBonusPerY: 0.3 and 0.4",
            ".unitInformation.3.selfDestructDamageTower: 17 and 15",
            ".unitInformation.3.selfDestructDamageWalker: 17 and 15",
        ],
        "the bonus of a row, and the Scout's self-destruction"
    );
}

/// The response to the configuration in a file, after a change.
fn said(change: impl Fn(&mut Value)) -> String {
    let mut file = config("document");
    change(&mut file);
    let rules =
        RulesChoice { file: Some(("file".to_owned(), format!("\u{feff}{file}"))), ..RulesChoice::default() };
    match Terminal::set_up(&Setup { rules, seats: 2, ..Setup::default() }) {
        Ok(game) => {
            // The configuration stored in a replay gives the same name again.
            let again = Terminal::set_up(&game.recipe().setup()).expect("a recipe");
            assert_eq!(again.recipe(), game.recipe());
            game.recipe().rules_name.clone()
        }
        Err(error) => error.to_string(),
    }
}

#[test]
fn a_file_is_read_with_its_byte_order_mark_and_told_what_is_wrong() {
    assert_eq!(said(|_| {}), "file");
    assert_eq!(
        said(|file| file["unitInformation"][1]["upgrade"]["shieldDecay"] = 0.5.into()),
        "file, shieldDecay (without effect)"
    );
    assert_eq!(
        said(|file| file["agon"]["maxTurn"] = 5.into()),
        "file: no rule is called `agon.maxTurn`; did you mean `agon.maxTurns`?"
    );
    let without = |file: &mut Value, index: usize| {
        file["unitInformation"].as_array_mut().expect("a list").remove(index);
    };
    let missing = |what: &str| format!("file: {what} is missing: the list has 7 of its 8 entries");
    let names =
        ["Wall", "Support", "Turret", "Scout", "Demolisher", "Interceptor", "Remove", "Upgrade"].into_iter();
    for (index, name) in names.enumerate() {
        let what = format!("`unitInformation.{index}` ({name})");
        assert_eq!(said(|file| without(file, index)), missing(&what));
    }
    // With shorthands of another season only the categories are left to go by.
    for (index, what) in [
        (0, "`unitInformation.2` (Wall, Support or Turret)"),
        (4, "`unitInformation.5` (Scout, Demolisher or Interceptor)"),
        (7, "`unitInformation.7` (Upgrade)"),
    ] {
        let told = said(|file| {
            without(file, index);
            file["unitInformation"][1]["shorthand"] = "XX".into();
        });
        assert_eq!(told, missing(what));
    }
}

/// TM-CONFIG-6: the numbers of a file of the first seasons, one by one, and what is sent to its bots.
#[test]
fn a_configuration_of_the_first_seasons_means_the_numbers_of_today() {
    let text = include_str!("../first-season.json");
    let set_up = |text: String| {
        let file = Some(("first-season.json".to_owned(), text));
        Terminal::set_up(&Setup {
            rules: RulesChoice { file, ..RulesChoice::default() },
            seats: 2,
            ..Setup::default()
        })
    };
    let game = set_up(text.to_owned()).expect("it is read");
    let again = Terminal::set_up(&game.recipe().setup()).expect("a recipe");
    assert_eq!((again.rules(), again.recipe()), (game.rules(), game.recipe()));
    let sent: Value = serde_json::from_str(game.config_line()).expect("a line of JSON");
    assert_eq!(sent, serde_json::from_str::<Value>(text).expect("JSON"), "bots are sent the file as it is");
    let rules = game.rules();
    let form = |kind| rules.form(kind, false);
    let [wall, support, turret, scout, demolisher, interceptor] = Kind::ALL.map(form);
    assert!(rules.before_upgrades && rules.units.iter().all(|unit| !unit.upgradable));
    assert_eq!((wall.cost1, wall.cost2, wall.start_health), (1.0, 0.0, 60.0));
    assert_eq!((wall.refund_percentage, wall.turns_required_to_remove), (0.5, 1));
    assert_eq!((support.shield_per_unit, support.shield_range), (10.0, Reach::new(3.5 + 0.51)));
    assert_eq!(support.attack_range, Reach::new(0.0));
    assert_eq!((turret.attack_damage_walker, turret.attack_damage_tower), (16.0, 0.0));
    // To the edge of its target (TM-TARGET-8).
    assert_eq!(turret.attack_range, Reach::new(3.5 + 0.51));
    assert_eq!((scout.cost1, scout.cost2, scout.speed), (0.0, 1.0, 0.5));
    assert_eq!((scout.attack_damage_walker, scout.attack_damage_tower), (1.0, 2.0));
    assert_eq!((scout.player_breach_damage, scout.metal_for_breach), (1.0, 1.0));
    assert_eq!((demolisher.self_destruct_damage_walker, demolisher.self_destruct_damage_tower), (5.0, 5.0));
    assert_eq!(
        (interceptor.self_destruct_steps_required, interceptor.self_destruct_range),
        (5, Reach::new(1.5))
    );

    // Only the six units, and without the numbers set once for all units.
    let mut short: Value = serde_json::from_str(text).expect("JSON");
    short["unitInformation"].as_array_mut().expect("a list").pop();
    short.as_object_mut().expect("an object").remove("mechanics");
    short.as_object_mut().expect("an object").remove("timingAndReplay");
    let least = set_up(short.to_string()).expect("it is read");
    assert_eq!((least.rules().remove.as_str(), &least.rules().units), ("RM", &rules.units));

    // A state line as those seasons wrote it.
    let mut lines = Vec::new();
    let state = game.start();
    Wire::new(&game).ask(&game, Seat::new(0), &game.view(&state, Seat::new(0)), &mut lines);
    let lines = String::from_utf8(lines).expect("text");
    let state: Value = serde_json::from_str(lines.lines().nth(1).expect("two lines")).expect("a state line");
    assert_eq!(state["turnInfo"], serde_json::json!([0, 0, -1]));
    assert_eq!(state["p1Units"].as_array().map(Vec::len), Some(7));
}

/// Hashes of the last states of random matches. A change here is a changed rule: raise `rules_version`.
///
/// With version 2 those of `citadel-2026` changed, the only ones that go through all turns with structures marked for
/// removal: a removal due after the last turn is not carried out (TM-RESTORE-6).
#[test]
fn random_matches_end_as_they_always_did() {
    let mut hashes = Vec::new();
    for preset in Terminal::INFO.presets {
        for seed in 0..2 {
            let rules = RulesChoice { preset: preset.name.to_owned(), ..RulesChoice::default() };
            let setup = Setup { rules, seats: 2, seed, ..Setup::default() };
            let mut table = RunningMatch::new(Terminal::set_up(&setup).expect("a preset"));
            let mut chance = Seeded::stream(seed, "final hash");
            let mut answers = Vec::new();
            while !table.deciding().is_empty() {
                random_answers(table.game(), table.state(), &mut chance, &mut answers);
                table.play_typed(&answers);
            }
            hashes.push((preset.name, seed, table.hash()));
        }
    }
    assert_eq!(hashes, FINAL);
}

const FINAL: [(&str, i64, u64); 14] = [
    ("document", 0, 3_389_429_766_263_076_789),
    ("document", 1, 1_680_605_505_697_717_172),
    ("europe-2025", 0, 3_389_429_766_263_076_789),
    ("europe-2025", 1, 9_058_705_192_668_806_148),
    ("base-2025", 0, 11_806_827_944_039_305),
    ("base-2025", 1, 11_146_555_151_062_463_278),
    ("citadel-2026", 0, 2_127_297_559_426_551_205),
    ("citadel-2026", 1, 16_501_406_018_542_063_842),
    ("kit-2020", 0, 5_887_434_183_643_061_813),
    ("kit-2020", 1, 7_656_903_761_980_650_783),
    ("season-2019", 0, 4_907_008_685_305_912_252),
    ("season-2019", 1, 15_990_627_744_916_929_840),
    ("season-2018", 0, 839_243_458_947_298_600),
    ("season-2018", 1, 7_096_696_030_855_927_748),
];
