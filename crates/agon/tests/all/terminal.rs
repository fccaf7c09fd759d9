//! Terminal as its authors know it: folders with run.sh, odd programs, and replay files of the original.
//!
//! Longer than 500 lines: the original's kits and files share one set of helpers.

use std::process::Output;

use agon_testkit::golden;
use serde_json::Value;
use tempfile::TempDir;

use crate::common::{agon, err, good, json, out};

/// The beginning of the bots below: the states of a match, one by one; `say` answers.
const KIT: &str = "
import json, os, sys, time

def states(phase):
    for line in sys.stdin:
        if '\"turnInfo\":[%d' % phase in line:
            yield json.loads(line)

def say(build=[], deploy=[]):
    print(json.dumps(build))
    print(json.dumps(deploy), flush=True)
";

/// A folder as the original wants it, with `strategy` after the kit. Its run.sh has no exec bit.
fn bot(place: &TempDir, name: &str, strategy: &str) {
    let folder = place.path().join(name);
    std::fs::create_dir(&folder).expect("a new folder");
    let write = |file: &str, text: &str| std::fs::write(folder.join(file), text).expect("a file is written");
    write("algo.json", "{\"language\": \"python\"}");
    write("run.sh", "#!/bin/sh\nexec python3 -u \"$(dirname \"$0\")/strategy.py\"\n");
    write("strategy.py", &format!("{KIT}{strategy}"));
}

/// Plays a match and returns the result object.
fn play(place: &TempDir, bots: [&str; 2], more: &[&str]) -> Value {
    let mut arguments = vec!["play", "terminal", bots[0], bots[1], "--seed", "1", "--json"];
    arguments.extend_from_slice(more);
    if !more.contains(&"--replay") {
        arguments.push("--no-replay");
    }
    let played = agon(place.path(), &arguments);
    json(&played)
}

/// The kinds of the faults of a seat, with their messages.
fn faults(result: &Value, seat: usize) -> Vec<(&str, &str)> {
    let list = result["seats"][seat - 1]["faults"].as_array().expect("a list of faults");
    list.iter()
        .map(|fault| (fault["kind"].as_str().unwrap_or(""), fault["message"].as_str().unwrap_or("")))
        .collect()
}

fn place() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

#[test]
fn a_folder_of_the_original_runs_as_it_is_and_reads_the_end() {
    let place = place();
    let strategy = "
for state in states(0):
    if state['turnInfo'][1] == 2: break
    say([['DF', 13, 13]], [['PI', 13, 0]])
say([['XX', 1, 1]], [])
for state in states(2):
    with open('end.json', 'w') as file: json.dump(state, file)
    break
";
    bot(&place, "one", strategy);
    bot(&place, "two", strategy);
    let arguments = ["play", "terminal", "one", "two", "--set", "maxTurns=3", "--json", "--no-replay"];
    let played = agon(place.path(), &arguments);
    assert!(err(&played).contains("run.sh has no exec bit; it is started with /bin/sh"), "{}", err(&played));
    let result = json(&played);
    assert_eq!(result["turns"], 3, "{result}");
    assert_eq!(result["seats"][0]["rejections"][0]["rule"], "TM-BUILD-2", "{result}");
    for (own, other, winner) in [("one", "two", 1), ("two", "one", 2)] {
        let text = std::fs::read_to_string(place.path().join(own).join("end.json")).expect("it saw the end");
        let end: Value = serde_json::from_str(&text).expect("a line of JSON");
        let stats = &end["endStats"];
        assert_eq!((&stats["player1"]["name"], &stats["player2"]["name"]), (&own.into(), &other.into()));
        assert_eq!(stats["turns"], 3);
        let own_is_winner = stats["winner"] == 1;
        assert_eq!(own_is_winner, result["outcome"]["winner"] == winner, "{stats}\n{result}");
    }
}

#[test]
fn a_stray_print_is_skipped_and_told_and_strict_makes_it_a_crash() {
    let place = place();
    bot(&place, "chatty", "for state in states(0): print('thinking hard'); say([['FF', 13, 13]])");
    let result = play(&place, ["chatty", "builtin:idle"], &["--set", "maxTurns=2"]);
    let (kind, message) = faults(&result, 1)[0];
    assert_eq!(kind, "stray");
    assert!(message.contains("\"thinking hard\" is not an answer; print debug text to stderr"), "{message}");
    assert_eq!((&result["turns"], &result["seats"][0]["score"]), (&2.into(), &30.0.into()), "{result}");
    let result = play(&place, ["chatty", "builtin:idle"], &["--strict"]);
    let (kind, message) = faults(&result, 1)[0];
    assert_eq!(kind, "malformed");
    assert!(message.contains("in strict mode that is a crash"), "{message}");
    assert_eq!((&result["turns"], &result["outcome"]["winner"]), (&1.into(), &2.into()), "{result}");
    assert_eq!(result["rules"], "document, strict=true");
}

#[test]
fn a_bot_that_is_stopped_for_time_is_ended_and_asked_no_more() {
    let place = place();
    bot(
        &place,
        "slow",
        "for state in states(0):
    say() if state['turnInfo'][1] == 0 else time.sleep(60)
",
    );
    bot(&place, "short", "for state in states(0): print('[]', flush=True)");
    let limits = ["--set", "waitTimeBotSoft=500", "--set", "waitTimeBotMax=2000"];
    let result = play(&place, ["slow", "short"], &limits);
    let [(kind, why)] = faults(&result, 2)[..] else { panic!("{result}") };
    assert_eq!(
        (kind, why),
        ("timeout", "no complete answer within 2000 ms: 1 line came, and an answer has more")
    );
    let result = play(&place, ["slow", "builtin:idle"], &limits);
    let [("timeout", _)] = faults(&result, 1)[..] else { panic!("{result}") };
    // Turn 1 costs health for that time, and turn 2 the match, without another wait.
    assert_eq!(
        (&result["turns"], &result["seats"][0]["time"]["answers"]),
        (&3.into(), &2.into()),
        "{result}"
    );
}

#[test]
fn pauses_are_made_where_they_are_asked_for() {
    let place = place();
    // After the end it needs longer than a bot is usually given.
    bot(
        &place,
        "slow",
        "for state in states(0): say()
time.sleep(1.5)
open('done', 'w').close()
",
    );
    let began = std::time::Instant::now();
    play(&place, ["slow", "builtin:idle"], &["--set", "maxTurns=1", "--set", "waitTimeStartGame=700"]);
    assert!(began.elapsed() >= std::time::Duration::from_millis(700), "{:?}", began.elapsed());
    let done = place.path().join("slow/done");
    assert!(!done.exists());
    play(&place, ["slow", "builtin:idle"], &["--set", "maxTurns=1", "--set", "waitTimeEndGame=20000"]);
    assert!(done.exists());
}

#[test]
fn garbage_is_skipped_up_to_a_bound() {
    let place = place();
    bot(&place, "garbage", "for state in states(0): print('{\"build\": [[[\\n\\0\\n' * 70, flush=True)");
    let result = play(&place, ["builtin:idle", "garbage"], &[]);
    let found = faults(&result, 2);
    assert!(found.iter().any(|(kind, _)| *kind == "stray"), "{result}");
    let (kind, message) = found.last().expect("a fault");
    assert_eq!(*kind, "malformed");
    assert!(message.contains("more than 100 lines of a turn are not answers"), "{message}");
    assert_eq!((&result["turns"], &result["outcome"]["winner"]), (&1.into(), &1.into()), "{result}");
}

#[test]
fn a_crash_costs_the_match_at_its_turn() {
    let place = place();
    let strategy = "
for state in states(0):
    if state['turnInfo'][1] == 4:
        print('no such tile', file=sys.stderr)
        os._exit(3)
    say()
";
    bot(&place, "crashing", strategy);
    let result = play(&place, ["crashing", "builtin:rush"], &["--replay", "m.replay"]);
    let (kind, message) = faults(&result, 1)[0];
    assert_eq!(kind, "crash");
    assert!(message.contains("exit code 3") && message.contains("`no such tile`"), "{message}");
    assert_eq!((&result["turns"], &result["outcome"]["winner"]), (&5.into(), &2.into()), "{result}");
    // In the original's file, too, it is a crash in the last turn.
    let exported = agon(place.path(), &["replay", "export", "m.replay", "--format", "terminal"]);
    let last = out(&exported).lines().last().map(str::to_owned).expect("an end line");
    let end: Value = serde_json::from_str(&last).expect("a line of JSON");
    assert_eq!((&end["turnInfo"][1], &end["endStats"]["player1"]["crashed"]), (&4.into(), &true.into()));
}

#[test]
fn a_bot_that_reaches_the_maximum_is_stopped_for_time() {
    let place = place();
    bot(&place, "sleepy", "for state in states(0):\n    if state['turnInfo'][1]: time.sleep(600)\n    say()");
    let limits = ["--set", "waitTimeBotSoft=500", "--set", "waitTimeBotMax=2600", "--replay", "m.replay"];
    // If this machine itself was late, the match is void and proves nothing.
    let mut tries = (0..5).map(|_| play(&place, ["sleepy", "builtin:idle"], &limits));
    let Some(result) = tries.find(|result| result["void"].is_null()) else {
        eprintln!("SKIPPED: this machine is too busy to time a bot");
        return;
    };
    let (kind, message) = faults(&result, 1)[0];
    assert_eq!(kind, "timeout");
    assert!(message.starts_with("no complete answer within 2600 ms"), "{message}");
    // Two whole seconds beyond the soft limit in turn 1, and a crash in turn 2.
    assert_eq!((&result["turns"], &result["outcome"]["winner"]), (&3.into(), &2.into()), "{result}");
    let exported = agon(place.path(), &["replay", "export", "m.replay", "--format", "terminal"]);
    let text = out(&exported);
    let frame = text.lines().find(|line| line.contains("\"turnInfo\":[1,1,0,")).expect("a frame of turn 1");
    assert!(frame.contains("\"p1Stats\":[28.0,"), "{frame}");
    assert!(
        text.contains("\"timeout_death\":true,\"time_damage_taken\":2"),
        "{}",
        text.lines().last().unwrap_or("")
    );
}

/// Rules under which scouts crawl, so that a turn has thousands of frames.
const CRAWL: &str = "PI.speed=0.01";

#[test]
fn who_never_reads_is_put_out_after_a_bounded_queue() {
    let place = place();
    let deaf = place.path().join("deaf.sh");
    std::fs::write(&deaf, "while :; do echo '[]'; done\n").expect("a file is written");
    bot(&place, "walker", "for state in states(0): say([], [['PI', 13, 0]])");
    let result = play(&place, ["deaf.sh", "walker"], &["--set", CRAWL]);
    let (kind, message) = faults(&result, 1)[0];
    assert_eq!(kind, "deaf");
    assert!(message.contains("more than 8 MiB of unread input"), "{message}");
    assert_eq!(result["outcome"]["winner"], 2, "{result}");
    assert!(faults(&result, 2).is_empty(), "{result}");
    assert!(result["turns"].as_u64().is_some_and(|turns| turns > 2), "it takes several turns: {result}");
}

#[test]
fn the_clock_starts_when_the_deploy_line_is_wholly_in_the_pipe() {
    let place = place();
    // The frames of turn 0 are more than any pipe holds, so the question of turn 1 is completely in it only after the bot
    // has read for a while. It pauses before that and after it: each pause is shorter than the limit, both together are
    // longer.
    let strategy = "
for state in states(0):
    if state['turnInfo'][1] == 1: time.sleep(3)
    walls = [['FF', x, y] for y in (12, 13) for x in range(14 - y, 14)]
    say(walls, [['PI', 14, 0]] * 5)
    if state['turnInfo'][1] == 0: time.sleep(3)
";
    bot(&place, "late-reader", strategy);
    let rules = ["--set", CRAWL, "--set", "maxTurns=2", "--set", "startingCores=200"];
    let limits = ["--set", "waitTimeBotSoft=5000", "--set", "waitTimeBotMax=5000", "--replay", "m.replay"];
    let mut tries =
        (0..5).map(|_| play(&place, ["late-reader", "builtin:idle"], &[&rules[..], &limits].concat()));
    let Some(result) = tries.find(|result| result["void"].is_null()) else {
        eprintln!("SKIPPED: this machine is too busy to time a bot");
        return;
    };
    let exported = agon(place.path(), &["replay", "export", "m.replay", "--format", "terminal"]);
    let text = out(&exported);
    let frames = text.lines().filter(|line| line.contains("\"turnInfo\":[1,0,")).map(str::len).sum::<usize>();
    assert!((2 << 20..8 << 20).contains(&frames), "{frames} bytes of frames");
    assert!(faults(&result, 1).iter().all(|(kind, _)| *kind != "timeout"), "{result}");
    assert_eq!(result["turns"], 2, "{result}");
}

/// Plays a match between two built-ins into `m.replay`.
fn recorded_match(place: &TempDir) {
    play(
        place,
        ["builtin:fortress", "builtin:rush"],
        &["--set", "maxTurns=12", "--set", "startingHP=500", "--replay", "m.replay"],
    );
}

#[test]
fn a_match_goes_to_the_originals_format_and_back() {
    let place = place();
    recorded_match(&place);
    let run = |arguments: &[&str]| {
        let output = agon(place.path(), arguments);
        assert!(output.status.success(), "{arguments:?}: {}{}", out(&output), err(&output));
        out(&output)
    };
    run(&["replay", "export", "m.replay", "--format", "terminal", "-o", "theirs.replay"]);
    assert!(run(&["conform", "terminal", "theirs.replay"]).contains("1 records, 0 differences"));
    assert!(run(&["replay", "verify", "theirs.replay"]).contains("verified: 12 steps"));
    let imported = run(&["replay", "import", "theirs.replay"]);
    assert!(imported.contains("Terminal · 12 turns") && imported.contains("0 of "), "{imported}");
    let back = "agon-replays/theirs.replay";
    assert!(run(&["replay", "verify", back]).contains("verified: 12 steps"));
    let board = |file: &str| run(&["replay", "show", file, "--turn", "7"]);
    assert_eq!(board(back), board("m.replay"));
    assert_eq!(board("theirs.replay"), board("m.replay"), "every command takes the original's file");
    assert!(run(&["replay", "info", back]).contains("from a record of the original"));
    run(&["replay", "export", back, "--format", "terminal", "-o", "again.replay"]);
    let read = |file: &str| std::fs::read_to_string(place.path().join(file)).expect("a file");
    let without_end = |text: &str| text.lines().rev().skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(without_end(&read("again.replay")), without_end(&read("theirs.replay")));
    // The record does not contain the bots.
    let mut fork = vec!["replay", "fork", back, "builtin:idle", "--seat", "1", "--turn", "11", "--json"];
    let refused = agon(place.path(), &fork);
    assert_eq!(refused.status.code(), Some(2), "{}", err(&refused));
    assert!(err(&refused).contains("from a record without its bot (rush)"), "{}", err(&refused));
    assert!(err(&refused).contains("--against BOT"), "{}", err(&refused));
    fork.extend(["--against", "builtin:rush"]);
    run(&fork);
    // A second import writes a second file; a record that our engine contradicts is detected.
    assert!(run(&["replay", "import", "theirs.replay"]).contains("agon-replays/theirs-2.replay"));
    let altered = read("theirs.replay").replacen("\"p1Stats\":[500.0,", "\"p1Stats\":[499.0,", 3);
    std::fs::write(place.path().join("altered.replay"), altered).expect("a file is written");
    let verified = agon(place.path(), &["replay", "verify", "altered.replay"]);
    assert_eq!(verified.status.code(), Some(1));
    assert!(
        out(&verified).contains("differs from the original: line 0 [0, 0, -1, 0], "),
        "{}",
        out(&verified)
    );
}

#[test]
fn what_cannot_be_imported_or_exported_says_why() {
    let place = place();
    recorded_match(&place);
    let refused = |arguments: &[&str]| {
        let output = agon(place.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", err(&output));
        err(&output)
    };
    assert!(refused(&["replay", "import", "m.replay"]).contains("this is already an agon replay"));
    std::fs::write(place.path().join("note.txt"), "hello\n").expect("a file is written");
    assert!(refused(&["replay", "import", "note.txt"]).contains("not a recorded match"));
    assert!(refused(&["replay", "show", "note.txt"]).contains("not a replay of agon"));
    assert!(refused(&["replay", "import", "none.replay"]).contains("no such file"));
    let theirs = out(&agon(place.path(), &["replay", "export", "m.replay", "--format", "terminal"]));
    std::fs::write(place.path().join("damaged.replay"), theirs.replacen("\"p2Stats\":[", "", 1))
        .expect("a file is written");
    assert!(
        refused(&["replay", "import", "damaged.replay"])
            .contains("Terminal: this recorded match is damaged: state line")
    );
    std::fs::write(place.path().join("cut.replay"), &theirs[..theirs.len() / 2]).expect("a file is written");
    good(agon(place.path(), &["replay", "import", "cut.replay", "-o", "ours.replay"]));
    let shown = out(&agon(place.path(), &["replay", "show", "ours.replay", "--turn", "2"]));
    assert!(!shown.is_empty(), "what was there can be seen");
    let bad = theirs.replacen("\"startHealth\":60", "\"startHealth\":-60", 1);
    assert_ne!(bad, theirs);
    std::fs::write(place.path().join("bad.replay"), bad).expect("a file is written");
    assert!(refused(&["replay", "import", "bad.replay"]).contains("startHealth"));
    std::fs::write(place.path().join("theirs.replay"), &theirs).expect("a file is written");
    let own = ["replay", "import", "theirs.replay", "-o", "theirs.replay"];
    assert!(refused(&own).contains("this is the record itself"));
    assert!(
        refused(&["replay", "export", "m.replay", "--format", "deerhunt"]).contains("a replay of Terminal")
    );
    assert!(
        refused(&["replay", "export", "m.replay", "--format", "xml"])
            .contains("write json, html, spec, or the name")
    );
    agon(
        place.path(),
        &["play", "cultist-wars", "builtin:idle", "builtin:idle", "--replay", "c.replay", "-q"],
    );
    assert!(
        refused(&["replay", "export", "c.replay", "--format", "cultist-wars"])
            .contains("cannot write replays in the original format")
    );
}

#[test]
fn the_originals_records_come_through_unharmed() {
    let Some(folder) = golden::folder("terminal") else { return };
    let place = place();
    for (number, file) in golden::files(&folder).expect("a folder").into_iter().enumerate().step_by(12) {
        let (file, theirs) = (file.display().to_string(), format!("{number}.replay"));
        let said =
            json(&good(agon(place.path(), &["replay", "import", &file, "-o", "ours.replay", "--json"])));
        assert_eq!(said["notes"], Value::Array(Vec::new()), "{file}");
        good(agon(place.path(), &["replay", "verify", "ours.replay"]));
        let arguments = ["replay", "export", "ours.replay", "--format", "terminal", "-o", &theirs];
        good(agon(place.path(), &arguments));
        assert!(agon(place.path(), &["conform", "terminal", &theirs]).status.success(), "{file}");
    }
}

#[test]
fn a_bot_is_fed_a_recorded_match() {
    let place = place();
    recorded_match(&place);
    let fed = |arguments: &[&str]| {
        let mut all = vec!["replay", "feed", "m.replay"];
        all.extend_from_slice(arguments);
        agon(place.path(), &all)
    };
    // The same bot gives the same answers.
    let same = good(fed(&["builtin:fortress"]));
    assert!(out(&same).contains("12 answers: 12 same as recorded, 0 different, no fault"), "{}", out(&same));
    // Another bot is shown beside it, and the match goes on as recorded: the bot sees turn 11.
    let strategy = "
for state in states(0):
    print('seen', state['turnInfo'][1], file=sys.stderr)
    say([['DF', 3, 12]])
";
    bot(&place, "other", strategy);
    let other = fed(&["other", "--seat", "2"]);
    let text = out(&other);
    assert!(other.status.success() && text.contains("seat 2, played by rush in the recording"), "{text}");
    assert!(text.contains("only now   [\"DF\",3,12]") && text.contains("turn 11"), "{text}");
    let fed_once = json(&fed(&["other", "--seat", "2", "--turn", "11", "--json"]));
    assert_eq!(fed_once["turns"].as_array().map(Vec::len), Some(1));
    assert_eq!(fed_once["turns"][0]["now"], "[[\"DF\", 3, 12]]\n[]");
    assert_eq!(fed_once["turns"][0]["stderr"], "seen 11\n");
    // Recorded orders that were refused are not this bot's faults; its own crash is.
    bot(&place, "short", "for state in states(0):\n    if state['turnInfo'][1] == 3: sys.exit(4)\n    say()");
    let crashed = fed(&["short"]);
    assert_eq!(crashed.status.code(), Some(1));
    let text = out(&crashed);
    assert!(text.contains("exit code 4") && text.contains("the last 8 turns were not fed"), "{text}");
    // The same through `agon check`.
    let checked = |arguments: &[&str]| {
        let file = ["check", "terminal", "other", "--against", "m.replay"];
        agon(place.path(), &[&file[..], arguments].concat())
    };
    let answers = |output: &Output| -> Vec<String> {
        // The time of an answer is at the end of its line.
        out(output).lines().map(|line| line.split("  ").take(3).collect()).collect()
    };
    assert_eq!(answers(&checked(&["--seat", "2"])), answers(&other));
    let once = out(&checked(&["--turn", "11"]));
    assert!(once.contains("seat 1, played by fortress") && once.contains("seen 11"), "{once}");
    let of_another = agon(place.path(), &["check", "ostibot", "other", "--against", "m.replay"]);
    assert_eq!(of_another.status.code(), Some(2));
    assert!(
        err(&of_another).contains("m.replay: this is a match of Terminal, not of Ostibot"),
        "{}",
        err(&of_another)
    );
    assert_eq!(checked(&["--seed", "1"]).status.code(), Some(2), "a recorded match has its setup");
    // The original's file is fed unconverted.
    agon(place.path(), &["replay", "export", "m.replay", "--format", "terminal", "-o", "theirs.replay"]);
    let theirs = agon(place.path(), &["replay", "feed", "theirs.replay", "builtin:fortress"]);
    assert!(out(&theirs).contains("12 answers"), "{}", out(&theirs));
    for (arguments, why) in [
        (&["other", "--seat", "3"][..], "a seat from 1 to 2"),
        (&["other", "--turn", "12"], "the turns 0 to 11"),
        (&["nothing"], "no such file"),
    ] {
        let refused = fed(arguments);
        assert_eq!(refused.status.code(), Some(2));
        assert!(err(&refused).contains(why), "{}", err(&refused));
    }
}

#[test]
fn a_match_is_drawn_frame_by_frame() {
    let place = place();
    recorded_match(&place);
    let show = |arguments: &[&str]| {
        let mut all = vec!["replay", "show", "m.replay"];
        all.extend_from_slice(arguments);
        agon(place.path(), &all)
    };
    let first = out(&show(&["--turn", "4", "--frame", "0"]));
    assert!(first.starts_with("turn 4 frame 0\n"), "{first}");
    let third = out(&show(&["--turn", "4", "--frame", "3"]));
    assert!(
        third.starts_with("turn 4 frame 3\n") && third.lines().skip(3).ne(first.lines().skip(3)),
        "{third}"
    );
    let all = out(&show(&["--turn", "4", "--frame", "all"]));
    let frames = all.matches("turn 4 frame").count();
    assert!(frames > 10 && all.contains(&first), "{frames} frames");
    let turned = out(&show(&["--turn", "4", "--frame", "0", "--view", "2"]));
    assert_ne!(turned, first);
    for (arguments, why) in [
        (&["--turn", "4", "--frame", "9999"][..], "turn 4 has the frames 0 to"),
        (&["--turn", "12", "--frame", "0"], "the last turn with frames is 11"),
        (&["--turn", "4", "--frame", "x"], "or all"),
    ] {
        let refused = show(arguments);
        assert_eq!(refused.status.code(), Some(2));
        assert!(err(&refused).contains(why), "{}", err(&refused));
    }
    // With this seed the scouts set out in turn 1.
    let arguments = ["play", "terminal", "builtin:rush", "builtin:idle", "--set", "maxTurns=2", "--watch"];
    let more = ["--seed", "4", "--delay", "0", "--no-replay"];
    let watched = out(&agon(place.path(), &[&arguments[..], &more].concat()));
    assert!(watched.contains("turn 1 frame 1\n"), "{watched}");
    assert!(
        watched.starts_with("turn 0  rush  idle\nturn 0 frame 0\n"),
        "the title names the turn: {watched}"
    );
    assert!(watched.contains("after turn 1  rush  idle\nturn 2\n"), "{watched}");
    // Games without frames say so.
    agon(
        place.path(),
        &["play", "cultist-wars", "builtin:idle", "builtin:idle", "--replay", "c.replay", "-q"],
    );
    let none = agon(place.path(), &["replay", "show", "c.replay", "--turn", "1", "--frame", "0"]);
    assert!(err(&none).contains("a turn of Cultist Wars has no frames"), "{}", err(&none));
}

#[test]
fn a_cut_record_is_compared_as_far_as_it_goes_and_an_empty_one_is_none() {
    let place = place();
    recorded_match(&place);
    good(agon(place.path(), &["replay", "export", "m.replay", "--format", "terminal", "-o", "whole.txt"]));
    let whole = std::fs::read(place.path().join("whole.txt")).expect("an export");
    std::fs::create_dir(place.path().join("records")).expect("a new folder");
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(place.path().join("records").join(name), bytes).expect("a record is written");
    };
    write("whole.replay", &whole);
    write("cut.replay", &whole[..whole.len() / 2]);
    write("empty.replay", b"");
    let output = agon(place.path(), &["conform", "terminal", "records"]);
    let text = out(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("cut.replay: it ends in turn "), "{text}");
    assert!(text.contains("before the end of the match; compared up to its last whole line"), "{text}");
    assert!(text.contains("1 files are not a record of Terminal"), "{text}");
    assert!(text.contains("2 records (1 of them cut), 0 differences"), "{text}");
    let found = json(&agon(place.path(), &["conform", "terminal", "records", "--json"]));
    assert_eq!((&found["records"], &found["foreign"], &found["good"]), (&2.into(), &1.into(), &true.into()));
    assert_eq!(found["cut"].as_array().map(Vec::len), Some(1), "{found}");
}

#[test]
fn a_replay_of_older_rules_is_shown_with_their_version_and_not_verified() {
    let place = place();
    let old = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/replay/good-terminal-rules-1");
    for (command, code) in [("show", 0), ("verify", 2)] {
        let output = agon(place.path(), &["replay", command, old]);
        assert_eq!(output.status.code(), Some(code), "{command}: {}", out(&output));
        let said = err(&output);
        let versions = ["recorded under version 1 of the rules of Terminal", "this program has version 2"];
        assert!(versions.iter().all(|told| said.contains(told)), "{command}: {said}");
        assert_eq!(said.contains("Open it with that agon"), command == "verify", "{said}");
    }
}
