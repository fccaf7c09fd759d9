//! Bots that dial in, in the forms in which they come from the contests.

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{agon, err, folder, is_installed, json, out, write};

/// A bot of Jungle Blitz that registers by name, writes numbers as texts, and fails in tick 3: it says goodbye and
/// waits until the other end has hung up, as the library websockets does, and only then reports what happened.
const TIGERS: &str = r#"
import json, os
from websocket import CLOSE, WebSocket

socket = WebSocket(os.environ["AGON_ADDRESS"])
socket.send(json.dumps({"type": "REGISTER", "teamName": "Tigers"}))
try:
    for message in socket:
        tick = json.loads(message)["tick"]
        if tick == 3:
            raise ValueError("a tiger sleeps")
        move = {"type": "UNIT", "action": "MOVE", "unitId": "1", "target": {"x": "1", "y": "1"}}
        socket.send(json.dumps({"type": "COMMAND", "tick": tick, "actions": [move]}))
except ValueError:
    socket._send(CLOSE, b"")
    while socket.input.read(1):
        pass
    raise
"#;

#[test]
fn a_bot_is_called_as_it_registers_and_its_last_words_are_heard() {
    if !is_installed("python3") {
        return;
    }
    let place = folder();
    write(&place, "bot/application.py", TIGERS);
    write(
        &place,
        "bot/websocket.py",
        include_str!("../../../../games/jungle-blitz/bots/python/websocket.py"),
    );
    let line =
        ["play", "jungle-blitz", "bot", "builtin:idle", "--set", "totalTick=8", "--replay", "m.replay"];
    let result = json(&agon(place.path(), &[&line[..], &["--json"]].concat()));
    assert_eq!(result["seats"][0]["registered"], "Tigers", "{result:#}");
    assert_eq!(result["seats"][1]["registered"], Value::Null);
    let faults = result["seats"][0]["faults"].to_string();
    assert!(faults.contains("ValueError: a tiger sleeps") && faults.contains("application.py"), "{faults}");
    // A target given as texts is read: something else is wrong with the move.
    assert!(!result["seats"][0]["rejections"].to_string().contains("target"), "{result:#}");
    let told = agon(place.path(), &["replay", "export", "m.replay", "--format", "json"]);
    assert!(out(&told).contains("Tigers"), "the replay keeps the name");
    let output = agon(place.path(), &[&line[..6], &["--replay", "n.replay"]].concat());
    assert!(out(&output).contains("bot (Tigers)"), "{}", out(&output));
}

const PLAYER: &str = "from move import Move
class GridPlayer:
    def tick(self, game_map, your_units, enemy_units, resources, turns_left):
        BODY
";

/// Plays Deerhunt with `bot` in seat 1 for a few turns, and returns the screen and what went to standard error.
fn hunt(place: &TempDir, bot: &str, rules: &str) -> (String, String) {
    let sets = ["--rules", rules, "--set", "max_rounds=6"];
    let output = agon(place.path(), &[&["play", "deerhunt", bot, "builtin:idle"], &sets[..]].concat());
    (out(&output), err(&output))
}

#[test]
fn the_bot_in_a_repository_of_the_contest_is_found() {
    if !is_installed("python3") {
        return;
    }
    let place = folder();
    write(&place, "repo/run.sh", "#!/bin/bash\ntmux new-session -d 'python3 server.py'\n");
    write(&place, "repo/server/server.py", "");
    write(&place, "repo/client/grid_player.py", &PLAYER.replace("BODY", "return []"));
    let (screen, said) = hunt(&place, "repo", "neo2019");
    assert!(
        said.contains("note: repo is not a bot itself; the bot in it is") && said.contains("client"),
        "{said}"
    );
    assert!(screen.contains("wins") || screen.contains("Draw"), "{screen}{said}");
    assert!(!screen.contains("never started"), "{screen}");
    write(&place, "repo/other/grid_player.py", "");
    let (_, said) = hunt(&place, "repo", "neo2019");
    assert!(said.contains("has several below it; name one of"), "{said}");
}

#[test]
fn a_bot_for_other_rules_says_which() {
    if !is_installed("python3") {
        return;
    }
    let place = folder();
    let one = "return [Move(unit, WORDS) for unit in your_units.units.values()]";
    for (body, rules, told) in [
        (one.replace("WORDS", "'DUPLICATE_M', 'UP'"), "neo2019", "written for --rules bc2021"),
        (one.replace("WORDS", "'STUN', 'UP'"), "document", "written for --rules bc2021"),
        (one.replace("WORDS", "'DUPLICATE', 'UP'"), "bc2021", "written for --rules neo2019"),
        (
            "return [unit.stun('UP') for unit in your_units.units.values()]".to_owned(),
            "neo2019",
            "this bot was written for other rules; try --rules bc2021",
        ),
        (
            "return [unit.duplicate('UP') for unit in your_units.units.values()]".to_owned(),
            "bc2021",
            "this bot was written for other rules; try --rules neo2019",
        ),
    ] {
        write(&place, "bot/grid_player.py", &PLAYER.replace("BODY", &body));
        let (screen, said) = hunt(&place, "bot", rules);
        assert!(screen.contains(told), "{body} under {rules}: {screen}{said}");
    }
}

#[test]
fn the_move_that_voids_a_list_is_named() {
    if !is_installed("python3") {
        return;
    }
    let place = folder();
    let body = "units = list(your_units.units.values())
        return [Move(units[0], 'ATTACK', 'SIDEWAYS')] + [Move(unit, 'MINE') for unit in units[1:]]";
    write(&place, "bot/grid_player.py", &PLAYER.replace("BODY", body));
    let (screen, said) = hunt(&place, "bot", "document");
    let void = "ignored with its whole list, because of move 1 of it (unit ";
    assert!(screen.contains(void) && screen.contains(", ATTACK)"), "{screen}{said}");
    // No exception: the bot itself says where it is.
    let body =
        body.replace("return", "import sys; print('grid_player.py:12: charge', file=sys.stderr); return");
    write(&place, "bot/grid_player.py", &PLAYER.replace("BODY", &body));
    let (screen, said) = hunt(&place, "bot", "document");
    let line = screen.lines().find(|line| line.contains(void)).unwrap_or_default();
    assert!(line.contains("(grid_player.py, line 12)"), "{screen}{said}");
    let body = "return [Move(unit, 'UP') for unit in your_units.units.values()][:1] + [Move(7)]";
    write(&place, "bot/grid_player.py", &PLAYER.replace("BODY", body));
    write(
        &place,
        "bot/move.py",
        "class Move:\n    def __init__(self, unit, *words):\n        self.words = words\n    \
           def to_tuple(self):\n        return [1, self.words or 'UP']\n",
    );
    let (screen, said) = hunt(&place, "bot", "neo2019");
    assert!(screen.contains("move 2 is [1, \"UP\"], which is no [id, [word, ...]]"), "{screen}{said}");
}
