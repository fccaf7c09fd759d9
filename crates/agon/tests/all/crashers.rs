//! Bots that mostly crash are never found to be better, whatever happens in the rest of their matches.

use std::path::Path;

use serde_json::Value;

use crate::common::{agon, err, folder, is_installed, last_event, out};

/// A test of `crashy.py` against an idle bot, with limits so wide that time does not matter.
fn tested(folder: &Path, game: &str, more: &[&str]) -> Value {
    let base = ["sprt", game, "crashy.py", "builtin:idle", "--elo1", "100", "--json", "--replays", "none"];
    last_event(&agon(folder, &[&base[..], &["--seed", "1", "-j", "1", "--time-scale", "20"], more].concat()))
}

#[test]
fn a_bot_that_crashes_on_most_boards_and_wins_the_others_is_rejected() {
    if !is_installed("python3") {
        return;
    }
    let folder = folder();
    // The answers of all matches in which it crashes are equal: there are none.
    let starter = include_str!("../../../../games/cultist-wars/bots/python/bot.py");
    let crash = "    board = Board(lines)\n    import zlib\n    \
                 if zlib.crc32(repr(sorted(board.walls)).encode()) % 10 < 7:\n        sys.exit(3)\n";
    let crashy = starter.replace("    board = Board(lines)\n", crash);
    assert!(crashy.contains("zlib"), "the starter has changed");
    std::fs::write(folder.path().join("crashy.py"), crashy).expect("a bot");
    let result = tested(folder.path(), "cultist-wars", &["--set", "number_of_turns=40"]);
    assert_eq!(result["decision"], "not_better", "{result}");
    assert_eq!(result["pairings"][0]["counted"], result["pairings"][0]["blocks"], "each board is a start");
}

#[test]
fn a_bot_that_crashes_now_and_then_on_the_only_arena_is_rejected() {
    if !is_installed("python3") {
        return;
    }
    let folder = folder();
    // Seven of ten matches are crashes with equal answers; in the others the scouts start elsewhere.
    let crashy = "
import json, sys
place = sys.argv[0] + '.count'
try: number = int(open(place).read())
except OSError: number = 0
open(place, 'w').write(str(number + 1))
config = json.loads(sys.stdin.readline())
scout = config['unitInformation'][3]['shorthand']
if number * 7 % 10 < 7: sys.exit(3)
for line in sys.stdin:
    if '\"turnInfo\":[0' in line.replace(' ', ''):
        print('[]'); print(json.dumps([[scout, 13 - number % 14, number % 14]]), flush=True)
";
    std::fs::write(folder.path().join("crashy.py"), crashy).expect("a bot");
    // Files that it writes do not make it a new version.
    let result = tested(folder.path(), "terminal", &["-n", "60"]);
    assert_eq!(result["decision"], "not_better", "{result}");
    assert_eq!(result["pairings"][0]["counted"], result["pairings"][0]["blocks"], "something varies here");
    assert_ne!(result["faults"], Value::Array(Vec::new()), "{result}");
}

#[test]
fn a_bot_that_dies_at_its_first_line_ends_a_series_early() {
    if !is_installed("python3") {
        return;
    }
    let folder = folder();
    std::fs::write(
        folder.path().join("dead.py"),
        "import sys\nprint('no plan', file=sys.stderr)\nsys.exit(3)\n",
    )
    .expect("a bot");
    let base = ["-n", "60", "--seed", "1", "-j", "1", "--quiet"];
    for bots in [["dead.py", "builtin:greedy"], ["builtin:greedy", "dead.py"]] {
        let series = agon(folder.path(), &[&["gauntlet", "cultist-wars"], &bots[..], &base].concat());
        let said = err(&series);
        assert_eq!(series.status.code(), Some(2), "{}{said}", out(&series));
        assert!(said.contains("dead.py never answered: in each of its 4 matches it "), "{said}");
        assert!(said.contains("exit code 3") && said.contains("no plan"), "{said}");
        // What plays it alone, and not how to go on.
        assert!(said.contains("agon play cultist-wars") && !said.contains("--resume"), "{said}");
    }
    // When all were played anyway, they are shown, with the same exit code.
    let four = ["gauntlet", "cultist-wars", "dead.py", "builtin:greedy", "-n", "4", "-j", "1", "--quiet"];
    let four = agon(folder.path(), &four);
    assert_eq!(four.status.code(), Some(2), "{}", out(&four));
    assert!(out(&four).contains("Warning: dead.py never gave an answer"), "{}", out(&four));
    let test = ["sprt", "cultist-wars", "dead.py", "builtin:greedy", "--seed", "1", "-j", "1", "--json"];
    let test = agon(folder.path(), &test);
    assert_eq!(test.status.code(), Some(15), "{}", err(&test));
    let result = last_event(&test);
    assert_eq!(result["pairings"][0]["blocks"], 2, "{result}");
    // In a tournament it loses, as the rulebook says.
    let tournament = [&["tournament", "cultist-wars", "dead.py", "builtin:greedy"][..], &base].concat();
    assert!(agon(folder.path(), &tournament).status.success());
}
