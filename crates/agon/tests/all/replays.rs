//! Replays on the command line: a bot's input is exported to the byte, altered and unreadable files are reported, the
//! bots' own words are shown with their faults, and nothing in a file from somebody else controls the terminal.

use std::fs;
use std::path::Path;

use crate::common::{agon, err, folder, good, json, out};
use agon_game::{Outcome, Recipe};
use agon_replay::{EndInfo, Header, Replay, SeatInfo, Writer};
use serde_json::json;

/// A bot that writes down every byte it reads, and answers as `answer` says.
fn recorder(answer: &str) -> String {
    format!(
        "import json, sys\nlog = open(sys.argv[1], 'wb', buffering=0)\nturn = 0\n\
         def read():\n    line = sys.stdin.buffer.readline()\n    log.write(line)\n    return line\n\
         def say(text):\n    sys.stdout.buffer.write((text + '\\n').encode()); sys.stdout.buffer.flush()\n{answer}"
    )
}

/// Plays a match against a recording bot in seat 2 and compares what it read with the exported input.
fn input_is_exported(game: &str, opponent: &str, extra: &[&str], answer: &str) {
    let folder = folder();
    // In games whose bots connect, this one reads lines.
    let lines = if matches!(game, "jungle-blitz" | "deerhunt") { "lines" } else { "cmd" };
    let bot = format!("{lines}:python3 bot.py read");
    fs::write(folder.path().join("bot.py"), recorder(answer)).expect("written");
    let mut arguments = vec!["play", game, opponent, &bot, "--seed", "5", "-q"];
    arguments.extend(["--no-timeouts", "--replay", "m.replay"]);
    arguments.extend(extra);
    let played = agon(folder.path(), &arguments);
    assert!(played.status.success(), "{game}: {}{}", out(&played), err(&played));
    let exported = agon(folder.path(), &["replay", "export", "m.replay", "--input", "--seat", "2"]);
    assert!(exported.status.success(), "{game}: {}", err(&exported));
    let read = fs::read(folder.path().join("read")).expect("the bot wrote it down");
    assert!(read.len() > 200, "{game}: {}", String::from_utf8_lossy(&read));
    let line = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte == b'\n').count();
    let same = read.iter().zip(&exported.stdout).take_while(|(a, b)| a == b).count();
    let around = |bytes: &[u8]| {
        let piece = &bytes[same.saturating_sub(100).min(bytes.len())..(same + 100).min(bytes.len())];
        String::from_utf8_lossy(piece).into_owned()
    };
    assert!(
        read == exported.stdout,
        "{game}: {} bytes were read, {} are exported; they differ at byte {same}, line {}:\nread     {}\nexported {}",
        read.len(),
        exported.stdout.len(),
        line(&read[..same]) + 1,
        around(&read),
        around(&exported.stdout)
    );
}

#[test]
fn the_exported_input_of_cultist_wars_is_what_the_bot_read() {
    let answer = "read(); size = read(); [read() for _ in range(int(size.split()[1]))]\n\
                  while True:\n    count = read()\n    if not count: break\n    [read() for _ in range(int(count))]\n    say('WAIT')\n";
    input_is_exported("cultist-wars", "builtin:greedy", &[], answer);
}

#[test]
fn the_exported_input_of_terminal_is_what_the_bot_read() {
    let answer = "while True:\n    line = read()\n    if not line: break\n    \
                  message = json.loads(line)\n    if message.get('turnInfo', [9])[0] == 0: say('[]'); say('[]')\n";
    input_is_exported("terminal", "builtin:rush", &["--set", "resources.startingHP=5"], answer);
}

#[test]
fn the_exported_input_of_deerhunt_is_what_the_bot_read() {
    let answer = "while True:\n    line = read()\n    if not line: break\n    say('[ ]')\n";
    input_is_exported("deerhunt", "builtin:rusher", &[], answer);
}

#[test]
fn the_exported_input_of_ostibot_has_the_state_of_the_bot() {
    // A growing state, a constant one, and an invalid answer.
    let answer = "while True:\n    line = read()\n    if not line: break\n    turn += 1\n    \
                  say('{' if turn % 7 == 6 else json.dumps({'actions': [], 'state': {'n': turn, 'w': 'ö'}} if turn % 3 else {'actions': []}))\n";
    input_is_exported("ostibot", "builtin:looter", &[], answer);
}

#[test]
fn the_exported_input_of_jungle_blitz_has_the_registered_name() {
    let answer = "say(json.dumps({'type': 'REGISTER', 'teamName': 'Wölfe'}))\n\
                  while True:\n    line = read()\n    if not line: break\n    \
                  message = json.loads(line)\n    turn += 1\n    \
                  if 'tick' in message: say(json.dumps({'type': 'COMMAND', 'tick': message['tick'], 'actions': \
                  [{'type': 'MOVE', 'unitId': 'nobody'}] if turn % 5 == 0 else []}))\n";
    input_is_exported("jungle-blitz", "builtin:collector", &[], answer);
}

/// Plays a match of a starter that writes down what comes through its socket; returns that with the exported input.
fn over_a_socket(game: &str, file: &str, old: &str, new: &str, opponent: &str) -> (Vec<u8>, Vec<u8>) {
    let folder = folder();
    out(&agon(folder.path(), &["new", game, "python", "bot"]));
    let (script, log) = (folder.path().join("bot").join(file), folder.path().join("read"));
    let code = fs::read_to_string(&script).expect("the starter");
    let changed = code.replacen(old, &new.replace("LOG", &format!("{:?}", log.display().to_string())), 1);
    assert!(code != changed, "{file} has no `{old}`");
    fs::write(&script, changed).expect("written");
    let played =
        ["play", game, opponent, "bot", "--seed", "5", "-q", "--no-timeouts", "--replay", "m.replay"];
    out(&agon(folder.path(), &played));
    let exported = agon(folder.path(), &["replay", "export", "m.replay", "--input", "--seat", "2"]);
    assert!(exported.status.success(), "{game}: {}", err(&exported));
    (fs::read(&log).expect("the bot wrote it down"), exported.stdout)
}

#[test]
fn the_exported_input_is_what_came_over_websocket() {
    let note = "open(LOG, 'a', encoding='utf-8').write(message + '\\n'); ";
    let answer = "socket.send(answer(message))";
    let (read, exported) = over_a_socket(
        "jungle-blitz",
        "application.py",
        answer,
        &format!("{note}{answer}"),
        "builtin:collector",
    );
    assert!(read.len() > 2000 && read == exported, "{} bytes read, {} exported", read.len(), exported.len());
}

#[test]
fn the_exported_input_is_what_came_over_tcp() {
    let tap = "import socket\nhear = socket.SocketIO.readinto\ndef tap(self, room):\n    count = hear(self, room)\n    \
               open(LOG, 'ab').write(bytes(room[:count]))\n    return count\nsocket.SocketIO.readinto = tap\n\
               from helper_classes import";
    let (read, exported) =
        over_a_socket("deerhunt", "grid_player.py", "from helper_classes import", tap, "builtin:rusher");
    // Each message is preceded by its length in ten characters.
    let (mut rest, mut lines) = (&read[..], Vec::new());
    while rest.len() >= 10 {
        let length: usize = String::from_utf8_lossy(&rest[..10]).trim().parse().expect("a length");
        lines.extend_from_slice(&rest[10..10 + length]);
        lines.push(b'\n');
        rest = &rest[10 + length..];
    }
    assert!(
        lines.len() > 2000 && lines == exported,
        "{} bytes read, {} exported",
        lines.len(),
        exported.len()
    );
}

/// A short match of two built-ins, as bytes.
fn sample(folder: &Path) -> Vec<u8> {
    let arguments = ["play", "cultist-wars", "builtin:greedy", "builtin:random", "--seed", "2", "-q"];
    good(agon(folder, &[&arguments[..], &["--replay", "good.replay"]].concat()));
    fs::read(folder.join("good.replay")).expect("a replay")
}

/// The replay with another header and end.
fn rewritten(bytes: &[u8], header: impl Fn(&mut Header), end: impl Fn(&mut EndInfo)) -> Vec<u8> {
    let mut replay = Replay::read(bytes).expect("a good replay");
    header(&mut replay.header);
    let mut writer = Writer::new(Vec::new(), &replay.header).expect("memory");
    for step in &replay.steps {
        writer.step(&step.answers, u64::from(step.check)).expect("memory");
    }
    let mut last = replay.end.expect("an end");
    end(&mut last);
    writer.finish(last).expect("memory")
}

#[test]
fn verify_names_what_was_altered_and_goes_on_over_what_it_cannot_read() {
    let folder = folder();
    let good = sample(folder.path());
    let file = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).expect("written");
    let reason = |end: &mut EndInfo| end.outcome.as_mut().expect("an outcome").reason = "magic".to_owned();
    file("reason.replay", &rewritten(&good, |_| {}, reason));
    file("trailing.replay", &[&good[..], b"and more"].concat());
    file("letter.replay", b"a letter");
    file("cut.replay", &good[..good.len() - 20]);
    let names = [
        "good.replay",
        "trailing.replay",
        "letter.replay",
        "missing.replay",
        "reason.replay",
        "cut.replay",
        ".",
    ];
    let verified = agon(folder.path(), &[&["replay", "verify"], &names[..]].concat());
    assert_eq!(verified.status.code(), Some(1), "{}", err(&verified));
    let text = out(&verified);
    for (name, finding) in [
        ("good.replay", "verified"),
        ("trailing.replay", "unreadable: this replay is damaged or was altered: something follows its end"),
        ("letter.replay", "unreadable: this is not a replay"),
        ("missing.replay", "unreadable: No such file"),
        ("reason.replay", "altered: breaks at step"),
        ("cut.replay", "cut off"),
        (".", "unreadable: this is a folder"),
    ] {
        assert!(text.lines().any(|line| line.starts_with(&format!("{name}: {finding}"))), "{name}: {text}");
    }
    assert!(text.contains("the outcome is not the recorded one"), "{text}");
    assert!(text.ends_with("7 files: 1 verified, 4 unreadable, 1 altered, 1 cut off\n"), "{text}");
    let findings = json(&agon(folder.path(), &[&["replay", "verify", "--json"], &names[..]].concat()));
    assert_eq!(findings.as_array().map(Vec::len), Some(7));
    assert_eq!(findings[2]["finding"], "unreadable");
    // For a single file, naming an unreadable one is wrong usage.
    assert_eq!(agon(folder.path(), &["replay", "verify", "letter.replay"]).status.code(), Some(2));
    assert_eq!(agon(folder.path(), &["replay", "verify", "good.replay"]).status.code(), Some(0));
}

#[test]
fn a_replay_with_fewer_scores_than_seats_is_damaged_and_nothing_panics() {
    let folder = folder();
    let good = sample(folder.path());
    let fewer = |end: &mut EndInfo| {
        let outcome = Outcome { scores: vec![1.0], ranks: vec![], reason: String::new() };
        end.outcome = Some(outcome);
    };
    fs::write(folder.path().join("few.replay"), rewritten(&good, |_| {}, fewer)).expect("written");
    for command in ["info", "verify", "show"] {
        let said = agon(folder.path(), &["replay", command, "few.replay"]);
        assert_eq!(said.status.code(), Some(2), "{command}: {}{}", out(&said), err(&said));
        assert!(err(&said).contains("damaged") && !err(&said).contains("panicked"), "{}", err(&said));
    }
}

#[test]
fn the_referee_takes_no_seed_for_another() {
    let folder = folder();
    let referee = |parameter: &str| {
        agon(
            folder.path(),
            &["referee", "cultist-wars", "-p1", "builtin:random", "-p2", "builtin:random", "-d", parameter],
        )
    };
    for (parameter, advice) in [
        ("5", "-d seed=5"),
        ("-5", "-d seed=-5"),
        ("sed=5", "as in -d seed=5"),
        ("seed=x", "64-bit integer"),
        ("x", "-d seed=5"),
    ] {
        let said = referee(parameter);
        assert_eq!(said.status.code(), Some(2), "{parameter}: {}", out(&said));
        assert!(err(&said).contains(advice), "{parameter}: {}", err(&said));
    }
    let said = referee("seed=5");
    assert!(said.status.success() && out(&said).ends_with("seed=5\n"), "{}{}", out(&said), err(&said));
}

/// A sequence that would clear the screen, one byte that begins another, and one that reverses the direction of writing.
const EVIL: &str = "\u{1b}[2Jevil\u{9b}1m\u{202e}\u{2067}\u{2028}\u{200b}\u{7}";

#[test]
fn nothing_in_a_file_steers_the_terminal() {
    let folder = folder();
    let good = sample(folder.path());
    let file = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).expect("written");
    let evil = EVIL.to_owned();
    let header = |header: &mut Header| {
        header.program.clone_from(&evil);
        header.clock = evil.clone().into();
        header.recipe.rules_name.push_str(EVIL);
        header.recipe.map_name.clone_from(&evil);
        header.seats = vec![SeatInfo { bot: evil.clone(), label: evil.clone(), hash: None }; 2];
    };
    let end = |end: &mut EndInfo| {
        end.outcome.as_mut().expect("an outcome").reason.clone_from(&evil);
        end.facts = json!({ "faults": [{ "seat": evil, "turn": evil, "kind": evil, "message": evil, "rule": evil }] });
    };
    file("evil.replay", &rewritten(&good, header, end));
    file("game.replay", &rewritten(&good, |header| header.game.clone_from(&evil), |_| {}));
    file(
        "rules.replay",
        &rewritten(
            &good,
            |header| header.recipe = Recipe { rules: evil.clone(), ..header.recipe.clone() },
            |_| {},
        ),
    );
    file("damaged.replay", &[&good[..], evil.as_bytes()].concat());
    let gauntlet = [
        "gauntlet",
        "cultist-wars",
        "builtin:random",
        "builtin:random",
        "-n",
        "2",
        "-q",
        "--journal",
        "j.jsonl",
    ];
    crate::common::good(agon(folder.path(), &gauntlet));
    let journal = fs::read_to_string(folder.path().join("j.jsonl")).expect("a journal");
    let coded = serde_json::to_string(&evil).expect("JSON");
    let coded = coded.trim_matches('"');
    file(
        "evil.jsonl",
        journal
            .replace("random", &format!("random{coded}"))
            .replace("\"program\":\"", &format!("\"program\":\"{coded}"))
            .as_bytes(),
    );
    file("broken.jsonl", journal.replacen("\"block\"", &format!("\"{coded}\""), 1).as_bytes());
    file("map.txt", format!("{EVIL}\n#..{EVIL}").as_bytes());
    file("map.json", format!("{{\"{coded}\": 1}}").as_bytes());
    file("rules.toml", format!("{} = 1\n", serde_json::to_string("evil\u{9b}1m").expect("JSON")).as_bytes());
    fs::create_dir(folder.path().join("bot")).expect("a folder");
    file("bot/agon.toml", format!("run = [\"true\"]\n\"{coded}\" = 1\n").as_bytes());
    let commands: &[&[&str]] = &[
        &["replay", "info", "evil.replay"],
        &["replay", "info", "evil.replay", "--json"],
        &["replay", "info", "game.replay"],
        &["replay", "info", "damaged.replay"],
        &["replay", "show", "evil.replay"],
        &["replay", "show", "rules.replay"],
        &["replay", "show", "game.replay"],
        &["replay", "verify", "evil.replay", "game.replay", "rules.replay"],
        &["replay", "verify", "rules.replay"],
        &["replay", "verify", "evil.replay", "rules.replay", "--json"],
        &["replay", "export", "evil.replay", "--format", "json"],
        &["replay", "redact", "evil.replay"],
        &["replay", "feed", "evil.replay", "builtin:random", "--seat", "1"],
        &[
            "replay",
            "fork",
            "evil.replay",
            "builtin:random",
            "--seat",
            "1",
            "--turn",
            "3",
            "--against",
            "builtin:random",
        ],
        &["replay", "import", "evil.jsonl"],
        &["rate", "evil.jsonl"],
        &["rate", "evil.jsonl", "--json"],
        &["rate", "broken.jsonl"],
        &["conform", "cultist-wars", "evil.jsonl"],
        &["maps", "check", "map.txt"],
        &["maps", "check", "map.json"],
        &["play", "jungle-blitz", "builtin:collector", "builtin:collector", "--map", "./map.txt"],
        &["play", "cultist-wars", "builtin:random", "builtin:random", "--rules", "rules.toml"],
        &["play", "cultist-wars", "bot", "builtin:random"],
        &["build", "bot"],
        &["check", "cultist-wars", "bot"],
        &[
            "play",
            "cultist-wars",
            "builtin:random",
            "builtin:greedy",
            "-d",
            "5",
            "--json",
            "--replay",
            "a\u{9b}1m\u{202e}b.replay",
        ],
        &["watch", "--token-file", "map.txt"],
        &["sprt", "cultist-wars", "builtin:random", "builtin:greedy", "--resume", "--journal", "evil.jsonl"],
    ];
    for command in commands {
        let said = agon(folder.path(), command);
        assert!(!out(&said).is_empty() || !err(&said).is_empty(), "{command:?} says something");
        for text in [out(&said), err(&said)] {
            assert!(!text.contains("panicked"), "{command:?}: {text}");
            let hidden = ['\u{200b}', '\u{2028}', '\u{2067}', '\u{202e}'];
            let steers = |c: char| (c.is_control() && c != '\n') || hidden.contains(&c);
            assert!(!text.contains(steers), "{command:?}: {text:?}");
        }
    }
}

#[test]
fn whoever_tells_a_fault_quotes_what_the_bot_wrote() {
    let folder = folder();
    let answer = "def plan():\n    raise ValueError('no plan \\x1b[2J')\n\
                  read(); size = read(); [read() for _ in range(int(size.split()[1]))]\n\
                  while True:\n    count = read()\n    if not count: break\n    [read() for _ in range(int(count))]\n    \
                  turn += 1\n    print('thinking', turn, file=sys.stderr)\n    sys.stderr.flush()\n    \
                  if turn == 3: plan()\n    say('WAIT')\n";
    fs::write(folder.path().join("bot.py"), recorder(answer)).expect("written");
    let bot = "cmd:python3 bot.py read";
    let play =
        ["play", "cultist-wars", bot, "builtin:idle", "--seed", "5", "--replay", "m.replay", "--no-timeouts"];
    // On a busy machine its answers must not be late.
    let referee =
        ["referee", "cultist-wars", "-p1", "python3 bot.py read", "-p2", "builtin:idle", "-d", "seed=5"];
    let fork = ["replay", "fork", "m.replay", bot, "--seat", "1", "--turn", "0", "--against", "builtin:idle"];
    let commands: &[&[&str]] = &[
        &play,
        &["replay", "info", "m.replay"],
        &["replay", "feed", "m.replay", bot, "--seat", "1", "--no-timeouts"],
        &[&fork[..], &["--no-timeouts"]].concat(),
        &[&referee[..], &["--no-timeouts"]].concat(),
        &[
            "gauntlet",
            "cultist-wars",
            bot,
            "builtin:idle",
            "-n",
            "2",
            "-q",
            "--seed",
            "5",
            "--no-timeouts",
            "--journal",
            "j.jsonl",
        ],
        &["check", "cultist-wars", bot, "--time-scale", "50"],
    ];
    for command in commands {
        let said = agon(folder.path(), command);
        let text = out(&said) + &err(&said);
        for part in ["| ValueError: no plan \u{fffd}[2J", "|     raise ValueError('no plan"] {
            assert!(text.contains(part), "{command:?}: {part}\n{text}");
        }
        assert!(!text.contains('\u{1b}'), "{command:?}: {text}");
    }
    let show =
        |words: &[&str]| agon(folder.path(), &[&["replay", "show", "m.replay", "--stderr"], words].concat());
    let all = out(&show(&["1"]));
    assert!(
        all.starts_with("turn 1\nthinking 1\n") && all.contains("Traceback (most recent call last):\n"),
        "{all}"
    );
    let third = replay_turn(&all);
    let one = out(&show(&["1", "--turn", &third]));
    assert!(one.starts_with("thinking 3\nTraceback") && all.ends_with(&one), "{one}");
    assert!(err(&show(&["2"])).contains("the bot in seat 2 wrote nothing to standard error"));
    for (words, advice) in [
        (&["3"][..], "a seat from 1 to 2"),
        (&["0"], "a seat from 1 to 2"),
        (&["1", "--turn", "99"], "this match has the turns"),
    ] {
        let said = show(words);
        assert_eq!(said.status.code(), Some(2), "{words:?}");
        assert!(err(&said).contains(advice), "{words:?}: {}", err(&said));
    }
    // The bot's own data is removed when the replay is redacted.
    good(agon(folder.path(), &["replay", "redact", "m.replay"]));
    let public = agon(folder.path(), &["replay", "info", "--json", "m.public.replay"]);
    assert!(public.status.success() && !out(&public).contains("no plan"), "{}", out(&public));
}

/// The last turn for which something is shown.
fn replay_turn(all: &str) -> String {
    let mut turns = all.lines().filter_map(|line| line.strip_prefix("turn "));
    turns.next_back().expect("a turn").to_owned()
}

#[test]
fn the_first_lines_of_a_trace_of_node_are_quoted() {
    if std::process::Command::new("node").arg("--version").output().is_err() {
        println!("SKIPPED: a trace of Node (node is not installed)");
        return;
    }
    let folder = folder();
    fs::write(
        folder.path().join("bot.js"),
        "function plan() {\n  throw new TypeError('no plan')\n}\nprocess.stdin.once('data', () => plan())\n",
    )
    .expect("written");
    let said = agon(
        folder.path(),
        &["play", "cultist-wars", "cmd:node bot.js", "builtin:idle", "--no-timeouts", "--no-replay", "-q"],
    );
    let text = out(&said);
    assert!(text.contains("| TypeError: no plan\n  |     at plan ("), "{text}");
    assert!(text.contains("bot.js:2\n  |   throw new TypeError('no plan')\n"), "{text}");
    assert!(text.contains("on stderr: `TypeError: no plan`"), "{text}");
}
