//! A hundred wrong command lines: the message names the thing, the place and what to do.

use std::path::Path;

use crate::common::{err, folder};

/// What is typed, and what the answer contains.
const LINES: &[(&str, &[&str])] = &[
    // Commands.
    ("", &["Usage: agon <COMMAND>", "play"]),
    ("paly", &["'paly'", "'play'"]),
    ("run cultist-wars a b", &["'run'", "did you mean `agon play`?"]),
    ("match cultist-wars a b", &["'match'", "did you mean `agon play`?"]),
    ("init", &["'init'", "did you mean `agon new`?"]),
    ("list", &["'list'", "did you mean `agon games`?"]),
    ("help", &["'help'", "did you mean `agon --help`?"]),
    ("version", &["'version'", "did you mean `agon --version`?"]),
    ("test cultist-wars bot.py", &["./tests: there are no tests", "agon replay keep"]),
    ("compile bot.c", &["'compile'", "did you mean `agon build`?"]),
    ("verify x.replay", &["x.replay", "agon replay verify"]),
    ("elo", &["'elo'", "did you mean `agon rate`?"]),
    (
        "cultist-wars bot.py builtin:greedy",
        &["'cultist-wars'", "agon play cultist-wars bot.py builtin:greedy"],
    ),
    ("bot.py", &["'bot.py'", "agon check GAME bot.py"]),
    ("--play", &["'--play'", "--help"]),
    ("replay", &["Usage: agon replay <COMMAND>", "verify"]),
    ("replay inof x", &["'inof'", "'info'"]),
    ("maps", &["agon maps", "<GAME>"]),
    // Games.
    ("play terminl a b", &["`terminl`", "did you mean `terminal`?"]),
    ("play chess a b", &["`chess`", "games: cultist-wars"]),
    ("play", &["which game?", "agon games"]),
    ("play cultist-wars", &["no bots are named", "builtin:NAME"]),
    ("check cultistwars bot.py", &["`cultistwars`", "did you mean `cultist-wars`?"]),
    ("rules", &["<GAME>", "--help"]),
    ("rules jungle", &["`jungle`", "did you mean `jungle-blitz`?"]),
    ("explain CW-SHOT-3", &["CW-SHOT-3", "did you mean CW-SHOOT-3?"]),
    ("explain shooting", &["SHOOTING", "agon rules GAME"]),
    ("explain cultist-wars", &["a game, not a rule", "agon rules cultist-wars"]),
    ("bench chess", &["`chess`", "games: cultist-wars"]),
    ("new chess python x", &["`chess`", "games:"]),
    ("new cultist-wars pyton x", &["`pyton`", "did you mean `python`?"]),
    ("new cultist-wars cobol x", &["`cobol`", "languages: python"]),
    ("new cultist-wars python", &["name the folder", "agon new cultist-wars python my-bot"]),
    ("new cultist-wars python full", &["full is not empty", "name a new folder"]),
    ("docs fist-match", &["fist-match", "first-match"]),
    // Bots.
    ("play cultist-wars bto.py builtin:greedy", &["`bto.py`", "did you mean `bot.py`?"]),
    ("play cultist-wars bot.py greedy", &["`greedy`", "did you mean `builtin:greedy`?"]),
    ("play cultist-wars bot.py builtin:gredy", &["`gredy`", "there are idle, random, greedy, hunter"]),
    ("play cultist-wars bot.py builtin:hunter?node=5", &["`node`", "options: nodes"]),
    ("play cultist-wars bot.py builtin:hunter?nodes", &["`nodes` is not KEY=VALUE", "builtin:hunter"]),
    ("play cultist-wars bot.py builtin:hunter?nodes=many", &["nodes", "many"]),
    ("play cultist-wars bot.py cmd:", &["`cmd:` names no command", "cmd:PROGRAM ARGUMENTS"]),
    ("play cultist-wars bot.py 'cmd:cd x && ./b'", &["cmd:cd x && ./b", "`&&` needs a shell", "sh -c"]),
    ("play cultist-wars bot.py \"cmd:'\"", &["cmd:'", "a quote is not closed"]),
    ("play cultist-wars bot.py 'python3 bot.py'", &["python3 bot.py", "cmd:python3 bot.py"]),
    ("play cultist-wars bot.py", &["Cultist Wars", "2 bots", "not by 1"]),
    ("play cultist-wars a.py b.py c.py", &["Cultist Wars", "2 bots", "not by 3"]),
    ("play cultist-wars bot.py ws:", &["`ws:`", "has no WebSocket"]),
    ("play cultist-wars bot.py tcp:", &["`tcp:`", "not played over TCP"]),
    ("play jungle-blitz bot.py ws:99999", &["`99999` is not a port", "up to 65535"]),
    ("play cultist-wars bot.py git:", &["git:", "git:HEAD~1"]),
    ("play cultist-wars bot.py nowhere", &["`nowhere`: no such file", "builtin:"]),
    ("play cultist-wars bot.py outer", &["`outer`", "name outer/inner"]),
    ("play cultist-wars bot.py ''", &["empty"]),
    ("check cultist-wars nowhere.py", &["nowhere.py", "no such file"]),
    ("build nowhere.c", &["nowhere.c", "no such file"]),
    ("pack nowhere", &["nowhere"]),
    ("pin nowhere x", &["nowhere", "no such file"]),
    ("pin bot.py", &["<NAME>", "Usage: agon pin <BOT> <NAME>"]),
    ("pin builtin:greedy x", &["builtin:greedy", "nothing to freeze"]),
    ("sprt cultist-wars bot.py gredy", &["gredy", "no such file"]),
    ("gauntlet cultist-wars bot.py bto.py", &["bto.py", "did you mean `bot.py`?"]),
    // agon.toml.
    (
        "play cultist-wars wrong/key builtin:greedy",
        &["wrong/key/agon.toml:2:1", "`rnu`", "did you mean `run`?"],
    ),
    (
        "play cultist-wars wrong/type builtin:greedy",
        &["wrong/type/agon.toml:1:7", "`run` must be a command in quotes", "not a number; write run ="],
    ),
    ("play cultist-wars wrong/shell builtin:greedy", &["wrong/shell/agon.toml:1:7", "`&&` needs a shell"]),
    (
        "play cultist-wars wrong/bare builtin:greedy",
        &["wrong/bare/agon.toml:1:", "write run = \"python3 bot.py\""],
    ),
    (
        "play cultist-wars wrong/list builtin:greedy",
        &["wrong/list/agon.toml:1:", "`run` must be a list of strings in quotes", "not a number"],
    ),
    ("play cultist-wars wrong/none builtin:greedy", &["wrong/none", "run = \"...\""]),
    (
        "play cultist-wars wrong/game builtin:greedy",
        &["wrong/game/agon.toml:2:1", "did you mean `defaults.game`?"],
    ),
    (
        "play cultist-wars wrong/dialect builtin:greedy",
        &["wrong/dialect/agon.toml:1:11", "did you mean \"lines\"?"],
    ),
    ("build wrong/build", &["wrong/build/agon.toml:1:9", "the command is empty"]),
    ("check cultist-wars wrong/key", &["wrong/key/agon.toml:2:1", "did you mean `run`?"]),
    // Values.
    (
        "play cultist-wars bot.py builtin:greedy --seed abc",
        &["'abc'", "'--seed <N>'", "a whole number, as in --seed 7"],
    ),
    ("play cultist-wars bot.py builtin:greedy --seed 1.5", &["'1.5'", "'--seed <N>'", "whole number"]),
    ("play cultist-wars bot.py builtin:greedy --seed 99999999999999999999", &["'--seed <N>'", "too large"]),
    ("play cultist-wars bot.py builtin:greedy --seed", &["'--seed <N>'", "a value is required"]),
    (
        "play cultist-wars bot.py builtin:greedy --time-scale fast",
        &["'fast'", "'--time-scale <X>'", "--time-scale 1.5"],
    ),
    ("play cultist-wars bot.py builtin:greedy --time-scale 0", &["--time-scale 0", "a number above 0"]),
    ("play cultist-wars bot.py builtin:greedy --time-limit 5", &["'5'", "--time-limit", "500ms"]),
    ("play cultist-wars bot.py builtin:greedy --clock site", &["'site'", "--clock", "site-2026"]),
    ("play cultist-wars bot.py builtin:greedy --map nowhere", &["nowhere", "no such file"]),
    (
        "play jungle-blitz bot.py builtin:raider --map esay-glade",
        &["esay-glade", "did you mean `easy-glade`?"],
    ),
    ("play cultist-wars bot.py builtin:greedy --rules standart", &["`standart`", "did you mean `standard`?"]),
    ("play cultist-wars bot.py builtin:greedy --set turns", &["--set turns", "write RULE=VALUE"]),
    (
        "play cultist-wars bot.py builtin:greedy --set turns=5",
        &["`turns`", "did you mean `number_of_turns`?"],
    ),
    ("play cultist-wars bot.py builtin:greedy --set number_of_turns=x", &["number_of_turns", "x"]),
    ("play cultist-wars bot.py builtin:greedy --port 0", &["'0'", "--port", "--port 9000"]),
    ("play cultist-wars bot.py builtin:greedy --view 3", &["--view 3", "from 1 to 2"]),
    ("play cultist-wars bot.py builtin:greedy --name mine", &["--name mine", "--name 1=mine"]),
    ("play cultist-wars bot.py builtin:greedy --js deno", &["'deno'", "--js", "node"]),
    ("play cultist-wars bot.py builtin:greedy -n 100", &["one match", "agon gauntlet cultist-wars"]),
    ("gauntlet cultist-wars bot.py builtin:greedy --journal -", &["'-'", "a journal is a file", "--json"]),
    ("gauntlet cultist-wars bot.py builtin:greedy -n many", &["'many'", "--games", "a whole number"]),
    ("gauntlet cultist-wars bot.py builtin:greedy -j -1", &["'-1'", "Usage: agon gauntlet"]),
    ("maps jungle-blitz esay-glade", &["esay-glade", "did you mean `easy-glade`?"]),
    ("maps check nowhere.txt", &["nowhere.txt", "no such file"]),
    ("watch --port http", &["'http'", "'--port <N>'", "a whole number"]),
    ("completions csh", &["'csh'", "bash"]),
    // Habits.
    ("gauntlet cultist-wars a b --concurrency 4", &["'--concurrency'", "`-j N`"]),
    ("gauntlet cultist-wars a b --concurrency=4", &["--concurrency", "`-j N`"]),
    ("gauntlet cultist-wars a b -concurrency 4", &["-concurrency", "`-j N`"]),
    ("gauntlet cultist-wars a b --rounds 4", &["'--rounds'", "`-n N`"]),
    ("play cultist-wars a b --timeout 100", &["'--timeout'", "--time-limit 500ms"]),
    ("play cultist-wars a b --timescale 2", &["'--timescale'", "`--time-scale X`"]),
    ("play cultist-wars a b -p1 x", &["-p1", "agon play GAME BOT BOT"]),
    ("play --game cultist-wars a b", &["'--game'", "the game is the first word"]),
    ("play -engine cmd=./a -engine cmd=./b", &["-engine", "agon gauntlet GAME NEW OLD"]),
    ("build bot.c --release", &["'--release'", "leave it out"]),
    ("play cultist-wars a b --sed 5", &["'--sed'", "'--seed'"]),
    ("play cultist-wars a b --json --watch", &["'--json'", "cannot be used with", "'--watch'"]),
    // Files.
    ("replay info nowhere.replay", &["nowhere.replay: no such file"]),
    ("replay info bot.py full/x", &["full/x", "`agon replay info` takes one file"]),
    ("replay keep x.replay --seat 1 --turn 1 --bot nowhere", &["--bot nowhere: no such folder"]),
    ("replay keep x.replay --seat 1 --turn 1 --later 20", &["--score X", "--advantage P"]),
    ("watch nowhere.replay", &["nowhere.replay: no such file"]),
    ("replay info bot.py", &["bot.py", "replay"]),
    ("replay export nowhere.replay --format jsn", &["'jsn'", "--format", "json, html"]),
    ("replay show nowhere.replay --turn x", &["'x'", "--turn", "a whole number"]),
    ("replay fork x.replay bot.py", &["--seat <N>", "--turn <T>"]),
    ("conform terminal nowhere", &["nowhere"]),
    ("rate nowhere.jsonl", &["nowhere.jsonl"]),
    ("referee cultist-wars", &["--p1 <CMD>"]),
    ("referee cultist-wars -p1 ./a -p2 ./b -d seed=x", &["seed=x", "64-bit integer"]),
    ("referee cultist-wars -p1 ./a", &["Cultist Wars", "1 player"]),
];

/// Words understood only by readers of our parsers.
const RIDDLES: &[&str] = &[
    "untagged",
    "mantissa",
    "invalid digit",
    "invalid float",
    "invalid type",
    "expected one of",
    "did not match any variant",
    "panicked",
    "ParseIntError",
    "unwrap",
    "is not in 0..",
    "os error",
];

const FILES: &[(&str, &str)] = &[
    ("bot.py", "print('WAIT')\n"),
    ("full/x", ""),
    ("outer/inner/bot.py", ""),
    ("wrong/key/agon.toml", "name = 'x'\nrnu = './bot'\n"),
    ("wrong/type/agon.toml", "run = 5\n"),
    ("wrong/shell/agon.toml", "run = 'cd x && ./bot'\n"),
    ("wrong/bare/agon.toml", "run = python3 bot.py\n"),
    ("wrong/list/agon.toml", "run = ['python3', 3]\n"),
    ("wrong/none/agon.toml", "name = 'x'\n"),
    ("wrong/game/agon.toml", "[defaults]\ngmae = 'terminal'\n"),
    ("wrong/dialect/agon.toml", "dialect = 'line'\n"),
    ("wrong/build/agon.toml", "build = ''\n"),
];

fn wrong(folder: &Path, line: &str, told: &[&str]) -> Option<String> {
    let words = shlex::split(line).expect("a line of ours");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = crate::common::command(folder, &words).output().expect("agon starts");
    let said = err(&done);
    let mut faults = Vec::new();
    if done.status.code() != Some(2) {
        faults.push(format!("exit {:?}", done.status.code()));
    }
    faults.extend(told.iter().filter(|told| !said.contains(**told)).map(|told| format!("not told: {told}")));
    faults.extend(
        RIDDLES.iter().filter(|riddle| said.contains(**riddle)).map(|riddle| format!("a riddle: {riddle}")),
    );
    (!faults.is_empty()).then(|| format!("agon {line}\n  {}\n  said: {said}", faults.join(", ")))
}

#[test]
fn a_hundred_wrong_command_lines_are_answered_well() {
    let folder = folder();
    for (name, text) in FILES {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    assert!(LINES.len() >= 100, "{}", LINES.len());
    let found: Vec<String> =
        LINES.iter().filter_map(|(line, told)| wrong(folder.path(), line, told)).collect();
    assert!(found.is_empty(), "{} of {}:\n{}", found.len(), LINES.len(), found.join("\n"));
}

#[test]
fn a_full_disk_names_the_file_and_what_to_do() {
    if !Path::new("/dev/full").exists() {
        println!("skipped: this system has no /dev/full");
        return;
    }
    let folder = folder();
    let done = crate::common::command(
        folder.path(),
        &["play", "cultist-wars", "builtin:idle", "builtin:idle", "--replay", "/dev/full"],
    );
    let mut done = done;
    let done = done.output().expect("agon starts");
    let said = err(&done);
    assert_eq!(done.status.code(), Some(3), "{said}");
    assert!(said.contains("/dev/full") && said.contains("disk is full"), "{said}");
}
