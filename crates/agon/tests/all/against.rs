//! `agon check --against`: a bot that meets its own match again gives the same answers, however odd it is.

use std::path::Path;

use crate::common::{agon, err, folder, out};
use serde_json::Value;

/// A shell function that reads the questions of Cultist Wars.
const READ: &str = "first=9
question() {
    while [ $first -gt 0 ]; do read -r line || exit 0; first=$((first-1)); done
    read -r units || exit 0
    while [ $units -gt 0 ]; do read -r line; units=$((units-1)); done
}
";

/// The same for Jungle Blitz.
const TICKS: &str = r#"
work() { :; }
say() { echo '{"type":"COMMAND","tick":'"$1"',"actions":['"$2"']}'; }
tick() { read -r line || exit 0; number=${line#*'"tick":'}; number=${number%%,*}; }
"#;

/// The same for Terminal, whose answers are two lines for each question that is not a frame.
const DEPLOY: &str = r#"
deploy() { while read -r line; do case $line in *'"turnInfo":[0'*) return;; esac; done; exit 0; }
"#;

/// What is odd about a bot, its game, and its program as shell or as script.
struct Odd(&'static str, &'static str, &'static str);

const ODD: &[Odd] = &[
    Odd("counts the questions", "cultist-wars", "n=0; while :; do question; n=$((n+1)); [ $n -lt 5 ] && echo WAIT || echo \"$n FLY 3\"; done"),
    Odd("talks besides", "cultist-wars", "while :; do question; echo thinking; echo ''; echo WAIT; done"),
    Odd("ends lines as Windows does", "cultist-wars", "while :; do question; printf 'WAIT\\r\\n'; done"),
    Odd("answers twice", "cultist-wars", "while :; do question; echo WAIT; echo WAIT twice; done"),
    Odd("answers before it is asked", "cultist-wars", "echo WAIT early; while :; do question; echo WAIT; done"),
    Odd("knows its seat", "cultist-wars", "while :; do question; echo WAIT; [ $AGON_SEAT = 1 ] || echo seat 2; done"),
    Odd("says what no rule allows", "cultist-wars", "for i in 1 2 3; do question; echo WAIT; done; question; echo 99 FLY 3; sleep 9"),
    Odd("ends in the middle", "cultist-wars", "for i in 1 2 3 4 5; do question; echo WAIT; done; question; exit 3"),
    Odd("is silent in the end", "cultist-wars", "for i in 1 2 3; do question; echo WAIT; done; question; sleep 1000"),
    Odd("sends half a line", "cultist-wars", "question; echo WAIT; question; printf WAI; exit 0"),
    Odd("says names", "jungle-blitz", "echo '{\"type\":\"REGISTER\",\"teamName\":\"Odd\"}'\nwhile :; do tick; name=${line#*'\"name\":\"'}; >&2 echo \"${name%%\\\"*}\"; case $line in *'\"name\":\"Other\"'*) say $number '{\"type\":\"UNIT\",\"action\":\"NONE\",\"unitId\":\"Other\"}';; *) say $number;; esac; done"),
    Odd("is told its errors", "jungle-blitz", "echo '{\"type\":\"REGISTER\",\"teamName\":\"Odd\"}'\nwhile :; do tick; errors=${line#*'\"errors\":['}; say $number '{\"type\":\"UNIT\",\"action\":\"MOVE\",\"unitId\":\"'${#errors}'\",\"target\":{\"x\":\"1\",\"y\":\"1\"}}'; done"),
    Odd("answers an earlier tick", "jungle-blitz", "echo '{\"type\":\"REGISTER\",\"teamName\":\"Odd\"}'\nwhile :; do tick; say $((number-1)); say $number; done"),
    Odd("repeats its removals", "terminal", "while :; do deploy; echo '[[\"FF\",13,13],[\"RM\",13,13],[\"RM\",13,13]]'; echo '[[\"PI\",13,0],[\"PI\",99,0]]'; done"),
    Odd("prints between its lines", "terminal", "while :; do deploy; echo debug; echo '[]'; echo debug; echo '[]'; done"),
    Odd("keeps a state and draws by chance", "ostibot", "const next = (input) => ((input.state || {}).n || 0) + 1;
        export const script = {
            shop(input) { return { actions: [], state: { n: next(input) } }; },
            play(input) {
                const own = input.gameState.adventurers.filter((one) => one.teamId === input.you);
                const direction = () => [\"UP\", \"DOWN\", \"LEFT\", \"RIGHT\"][Math.floor(Math.random() * 4)];
                const actions = own.map((one) => ({ adventurerId: one.id, move: { direction: direction() } }));
                return { actions: next(input) % 3 ? actions : [], state: { n: next(input), at: Date.now() } };
            },
        };"),
];

/// The command of a bot in `name`.
fn command(folder: &Path, number: usize, odd: &Odd) -> String {
    let Odd(_, game, text) = odd;
    let (name, text) = match *game {
        "ostibot" => (format!("{number}.js"), (*text).to_owned()),
        "jungle-blitz" => (format!("{number}.sh"), format!("{TICKS}{text}\n")),
        "terminal" => (format!("{number}.sh"), format!("{DEPLOY}{text}\n")),
        _ => (format!("{number}.sh"), format!("{READ}{text}\n")),
    };
    std::fs::write(folder.join(&name), text).expect("a file");
    if *game == "jungle-blitz" { format!("lines:sh {name}") } else { name }
}

#[test]
fn odd_bots_meet_their_own_match_again() {
    let folder = folder();
    let mut wrong = Vec::new();
    let other = "echo '{\"type\":\"REGISTER\",\"teamName\":\"Other\"}'\nwhile :; do tick; say $number; done";
    std::fs::write(folder.path().join("other.sh"), format!("{TICKS}{other}\n")).expect("a file");
    for (number, odd) in ODD.iter().enumerate() {
        let Odd(what, game, _) = odd;
        let bot = command(folder.path(), number, odd);
        let opponent = match *game {
            "jungle-blitz" => "lines:sh other.sh",
            "terminal" => "builtin:rush",
            "ostibot" => "builtin:looter",
            _ => "builtin:greedy",
        };
        for seat in ["1", "2"] {
            let seats = if seat == "1" { [&*bot, opponent] } else { [opponent, &*bot] };
            let few: &[&str] = match *game {
                "jungle-blitz" => &["--set", "totalTick=12"],
                "cultist-wars" => &["--set", "number_of_turns=12"],
                _ => &[],
            };
            // A silent bot must time out, and on a busy machine the answers of others must not be late.
            let scale = if *game == "cultist-wars" { "8" } else { "3" };
            let replay = format!("{number}-{seat}.replay");
            let line = ["play", game, seats[0], seats[1], "--replay", &replay, "--seed", "7"];
            let played = agon(folder.path(), &[&line[..], &["--quiet", "--time-scale", scale], few].concat());
            let again =
                ["check", game, &bot, "--against", &replay, "--seat", seat, "--json", "--time-scale", scale];
            let again = agon(folder.path(), &again);
            let Ok(result) = serde_json::from_str::<Value>(&out(&again)) else {
                wrong.push(format!("{what}, seat {seat}: {}{}{}", err(&played), out(&again), err(&again)));
                continue;
            };
            let (same, differ) = (result["same"].as_u64(), result["differ"].as_u64());
            if differ != Some(0) || same < Some(1) {
                wrong.push(format!("{what}, seat {seat}: {result}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), 2 * ODD.len(), wrong.join("\n"));
}
