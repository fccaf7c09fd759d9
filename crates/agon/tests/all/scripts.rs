//! Scripts as bots of Ostibot: good ones, late ones, hostile ones. Real processes throughout.
//!
//! Longer than 500 lines: the hostile scripts stand beside their expected outcomes.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::Receiver;
use std::thread::JoinHandle;
use std::time::Duration;

use agon_bot::Script;
use serde_json::Value;
use tempfile::TempDir;

use crate::common::{folder, is_installed, json};

const AGON: &str = env!("CARGO_BIN_EXE_agon");

fn write(folder: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("a file is written");
    path
}

/// The example bots of the game.
fn example(name: &str) -> String {
    let bots = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games/ostibot/bots");
    bots.join(name).canonicalize().expect("the example is there").display().to_string()
}

/// The process of one script, questioned here as by the referee.
struct Host {
    process: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    said: JoinHandle<String>,
}

impl Host {
    fn start(file: &Path, limit: Option<u64>) -> Self {
        let limit = limit.map(Duration::from_millis);
        let script = Script { file: file.to_owned(), seed: 1, seat: 1, limit, restarts: 0, owes: false };
        let mut command = Command::new(AGON);
        command.arg(agon_bot::script::SUBCOMMAND).args(script.arguments());
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = piped.spawn().expect("agon starts");
        let input = process.stdin.take().expect("a pipe");
        let output = BufReader::new(process.stdout.take().expect("a pipe"));
        // Its standard error is drained all the time, or the script would block on it.
        let mut errors = process.stderr.take().expect("a pipe");
        let said = std::thread::spawn(move || {
            let mut said = String::new();
            errors.read_to_string(&mut said).expect("text");
            said
        });
        let (send, lines) = std::sync::mpsc::channel();
        std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
        Self { process, input, lines, said }
    }

    fn send(&mut self, phase: &str) {
        writeln!(self.input, "{{\"phase\":\"{phase}\",\"input\":{{}}}}").expect("it reads");
    }

    fn hear(&self) -> String {
        self.lines.recv_timeout(Duration::from_secs(60)).expect("it answers")
    }

    fn ask(&mut self, phase: &str) -> String {
        self.send(phase);
        self.hear()
    }

    /// Asks for something that takes too long. If this machine keeps the script waiting, its answer comes only together with
    /// the next one, and there is none here.
    fn ask_too_much(&mut self, phase: &str) -> Option<String> {
        self.send(phase);
        loop {
            match self.lines.recv_timeout(Duration::from_millis(5)) {
                Ok(line) => return Some(line),
                Err(_) if self.owes() => return None,
                Err(_) => {}
            }
        }
    }

    fn owes(&self) -> bool {
        let line = std::fs::read(format!("/proc/{}/cmdline", self.process.id())).unwrap_or_default();
        line.split(|&byte| byte == 0).any(|word| word == b"owes")
    }

    /// Ends it, and returns its exit code and standard error.
    fn end(self) -> (Option<i32>, String) {
        let Self { mut process, input, said, .. } = self;
        drop(input);
        let said = said.join().expect("it was read");
        (process.wait().expect("it ends").code(), said)
    }
}

/// Ways to run for ever. None of them can be interrupted by the engine in all places.
const ENDLESS: [(&str, &str); 7] = [
    ("a loop", "for (;;);"),
    ("a loop that catches everything", "for (;;) { try { for (;;); } catch {} finally { continue; } }"),
    ("a loop inside the engine", "[].indexOf.call({ length: 2 ** 53 - 1 }, 1);"),
    ("a catastrophic regular expression", "/^(a|a)*$/.test('a'.repeat(64) + 'b');"),
    ("jobs that make jobs", "const more = () => Promise.resolve().then(more); more();"),
    (
        "a generator without an end",
        "const it = { *[Symbol.iterator]() { for (;;) yield 1; } }; Math.max(...it);",
    ),
    ("getters on the way out", "return { get actions() { for (;;); } };"),
];

#[test]
fn a_script_that_takes_for_ever_is_answered_for_and_starts_afresh() {
    let folder = folder();
    for (name, body) in ENDLESS {
        let file = write(
            &folder,
            "bot.js",
            &format!(
                "let calls = 0;
                 export const script = {{
                     shop() {{ return {{ state: [++calls, Math.random()] }}; }},
                     play() {{ console.log('before'); {body} }},
                 }};"
            ),
        );
        let mut host = Host::start(&file, Some(100));
        let first = host.ask("shop");
        assert!(first.starts_with("{\"state\":[1,"), "{name}: {first}");
        assert!(host.ask("shop").starts_with("{\"state\":[2,"), "{name}");
        for _ in 0..2 {
            let mut late = host.ask_too_much("play");
            host.send("shop");
            let late = late.take().unwrap_or_else(|| host.hear());
            let starts =
                "{\"failed\":\"the script was still running after 90 ms and was stopped; it starts afresh";
            assert!(late.starts_with(starts), "{name}: {late}");
            let fresh = host.hear();
            assert!(fresh.starts_with("{\"state\":[1,"), "{name}: after it, {fresh}");
            assert_ne!(fresh, first, "{name}: other random numbers than those that led there");
        }
        let (code, said) = host.end();
        assert_eq!(code, Some(0), "{name}");
        assert_eq!(said.lines().filter(|line| *line == "before").count(), 2, "{name}: {said}");
    }
}

#[test]
fn a_script_that_holds_all_its_memory_starts_afresh() {
    let folder = folder();
    let file = write(
        &folder,
        "bot.js",
        "const held = [];
         export const script = {
             shop() { return { state: held.length }; },
             play() { for (;;) held.push(new Array(10000).fill(1)); },
         };",
    );
    let mut host = Host::start(&file, None);
    for _ in 0..2 {
        assert!(host.ask("play").starts_with("{\"failed\":\"play threw "), "its memory is full");
        assert_eq!(host.ask("shop"), "{\"state\":0}");
    }
    assert_eq!(host.end().0, Some(0));
}

#[test]
fn what_is_printed_is_kept_within_a_bound() {
    let folder = folder();
    let file = write(
        &folder,
        "bot.js",
        "export const script = {
             shop() { console.log('short'); return {}; },
             play() { for (let i = 0; i < 5000; i++) console.log('x'.repeat(99)); return {}; },
         };",
    );
    let mut host = Host::start(&file, None);
    assert_eq!([host.ask("shop"), host.ask("play"), host.ask("shop")], ["{}", "{}", "{}"]);
    let (_, said) = host.end();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!((lines[0], lines.last()), ("short", Some(&"short")));
    assert_eq!(lines[lines.len() - 2], "[more than 64 KiB printed in one call; the rest is dropped]");
    assert_eq!(lines.len(), 3 + (64 << 10) / 100, "whole lines, as many as fit");
}

#[test]
fn a_file_that_cannot_be_loaded_ends_with_one_sentence() {
    let folder = folder();
    for (source, why) in [
        ("export const script = {\n play( {\n};", "bot.js: SyntaxError: "),
        (
            "for (;;);",
            "bot.js: still loading after 90 ms; is there an endless loop outside of its functions?",
        ),
        (
            "export default 5;",
            "bot.js: it exports no `script` with a function `play` or `shop`; write: export const",
        ),
    ] {
        let file = write(&folder, "bot.js", source);
        let (code, said) = Host::start(&file, Some(100)).end_loading();
        assert_eq!(code, Some(1), "{source}");
        assert!(said.starts_with(why) && said.lines().count() == 1, "{source}\nsays {said}");
    }
    let (code, said) = Host::start(&folder.path().join("gone.js"), None).end_loading();
    assert_eq!(code, Some(1));
    assert!(said.starts_with("gone.js: No such file"), "{said}");
}

impl Host {
    /// Waits until it ends by itself.
    fn end_loading(mut self) -> (Option<i32>, String) {
        let code = self.process.wait().expect("it ends").code();
        let (_, said) = self.end();
        (code, said)
    }
}

/// Plays a match of Ostibot; returns the result and the exit code.
fn play(folder: &TempDir, bots: &[&str], options: &[&str]) -> (Value, Option<i32>) {
    let played = Command::new(AGON)
        .args(["play", "ostibot"])
        .args(bots)
        .args(["--json", "--seed", "3"])
        .args(options)
        .current_dir(folder.path())
        .output()
        .expect("agon starts");
    let result = json(&played);
    (result, played.status.code())
}

/// What a script does wrong, and the expected message.
const HOSTILE: [(&str, &str); 17] = [
    ("for (;;);", "still running"),
    ("for (;;) { try { for (;;); } catch {} }", "still running"),
    ("/^(a|a)*$/.test('a'.repeat(64) + 'b')", "still running"),
    ("const all = []; for (;;) all.push('x'.repeat(2 ** 20) + all.length);", "memory"),
    ("const deep = () => deep() + 1; deep();", "Maximum call stack size exceeded"),
    ("for (;;) console.log('flood');", "still running"),
    ("return { actions: [], state: 'x'.repeat(2 ** 22) };", "`state` of 4194306 bytes"),
    ("return { actions: [{ move: { reason: 'x'.repeat(2 ** 22) } }] };", "`actions` of 4194"),
    ("Object.prototype.toJSON = () => 7; return { actions: [] };", "`actions` to be an array"),
    ("JSON.stringify = () => 'no'; JSON.parse = null; return 'no';", "returned a string"),
    ("return { get actions() { throw new Error('thrown'); } };", "play threw Error: thrown"),
    ("return new Promise(() => {});", "a promise that never settles"),
    ("return { actions: { length: 5 } };", "`actions` that is an object; it must be an array"),
    ("return { actions: new Array(1e6).fill({ adventurerId: 'a1' }) };", "returned 1000000 actions"),
    ("const loop = []; loop.push(loop); return { actions: loop };", "circular"),
    ("throw null;", "play threw null"),
    ("return { actions: [{ adventurerId: 'a4', move: { direction: 'UP' } }] };", "OB-ACT"),
];

#[test]
fn a_hostile_script_gets_its_fault_and_the_match_goes_on() {
    let folder = folder();
    for (body, why) in HOSTILE {
        write(&folder, "bad.js", &format!("export const script = {{ play(input) {{ {body} }} }};"));
        // A script that ends by itself gets all the time it needs on a busy machine.
        let limit = if why == "still running" { "300ms" } else { "60s" };
        let options = ["--time-limit", limit, "--no-replay", "--set", "nbRounds=1", "--set", "maxTurns=3"];
        let (result, code) = play(&folder, &["bad.js", "builtin:idle"], &options);
        assert_eq!(code, Some(0), "{body}: {result}");
        assert_eq!(result["seats"][0]["time"]["answers"], 4, "{body}: the shop and three turns\n{result}");
        assert!(result["outcome"]["reason"].is_string(), "{body}: {result}");
        // An order that the rules do not allow is not a fault, but is reported like one.
        let list = |name: &str| result["seats"][0][name].as_array().cloned().unwrap_or_default();
        let faults = [list("faults"), list("rejections")].concat();
        assert!(faults.len() >= 3, "{body}: {faults:#?}");
        for fault in &faults {
            let said = format!(
                "{} {}",
                fault["message"].as_str().unwrap_or(""),
                fault["rule"].as_str().unwrap_or("")
            );
            // If this machine kept the script waiting, the referee may be the one that gave up.
            let late =
                why == "still running" && (said.contains("no complete answer") || said.contains("given up"));
            assert!(said.contains(why) || late, "{body}: {said}");
        }
    }
}

#[test]
fn a_match_of_javascript_and_python_is_played_by_one_command() {
    if !is_installed("python3") {
        return;
    }
    let folder = folder();
    let bots = [&*example("javascript"), &*example("python")];
    let (result, code) = play(&folder, &bots, &["--fail-on-fault", "--replay", "match.replay"]);
    assert_eq!(code, Some(0), "{result}");
    for seat in 0..2 {
        assert_eq!(result["seats"][seat]["faults"], serde_json::json!([]), "seat {}", seat + 1);
        assert!(result["seats"][seat]["score"].as_f64() > Some(0.0), "seat {} has gold", seat + 1);
    }
    let verified =
        Command::new(AGON).args(["replay", "verify", "match.replay"]).current_dir(folder.path()).output();
    assert!(verified.expect("agon starts").status.success());
}

/// An answer larger than a pipe takes at once, a search ended by the clock, and a name that does not exist.
#[test]
fn large_answers_and_searches_by_the_clock_work_in_both_engines() {
    let folder = folder();
    write(
        &folder,
        "bot.js",
        "export const script = { play(input) {
             let rounds = 0;
             for (const end = performance.now() + 20; performance.now() < end; ) rounds++;
             if (rounds < 10) throw new Error(`only ${rounds} rounds`);
             if (input.state && input.state.length !== 900000) throw new Error('another state');
             return { actions: [], state: 'x'.repeat(900000) };
         } };",
    );
    write(&folder, "waits.js", "export const script = { play() { setTimeout(() => {}, 1); } };");
    for js in ["embedded", "node"] {
        if js == "node" && !is_installed("node") {
            continue;
        }
        let (result, code) = play(&folder, &["bot.js", "waits.js"], &["--js", js, "--set", "maxTurns=6"]);
        assert_eq!(code, Some(0), "{js}: {result}");
        assert_eq!(result["seats"][0]["faults"], serde_json::json!([]), "{js}");
        let fault = result["seats"][1]["faults"][0].to_string();
        assert!(fault.contains("setTimeout is not defined"), "{js}: {fault}");
        assert!(fault.contains("`await` and queueMicrotask work within a call"), "{js}: {fault}");
    }
}

/// Bots that use features in which engines differ unless care is taken.
const CORPUS: [(&str, &str); 4] = [
    (
        "gambler.mjs",
        "export const script = { async play({ gameState, you }) {
             const own = gameState.adventurers.filter((one) => one.teamId === you);
             await null;
             const pick = () => ['UP', 'DOWN', 'LEFT', 'RIGHT'][Math.floor(Math.random() * 4)];
             return { actions: own.map((one) => ({ adventurerId: one.id, move: { direction: pick() } })),
                 state: { at: performance.timeOrigin, day: new Date().toString(), drawn: Math.random() } };
         } };",
    ),
    (
        "sorter.cjs",
        "exports.script = { play(input) {
             const ids = input.gameState.entities.map((entity) => entity.id);
             ids.sort((a, b) => a.localeCompare(b)).sort(() => 0);
             const table = Object.fromEntries(ids.map((id, at) => [id, [at, 1 / (at + 1), (at * 1e7).toLocaleString(), new Date(at * 1e9).toLocaleTimeString(), id.toLocaleUpperCase()]]));
             const { adventurers } = input.gameState;
             const one = adventurers.find((one) => one.teamId === input.you);
             return { actions: one ? [{ adventurerId: one.id, move: { direction: ids.length % 2 ? 'UP' : 'LEFT' } }] : [],
                 state: { table, before: Object.keys(input.state?.table ?? {}).length } };
         } };",
    ),
    (
        "global.js",
        "let calls = 0;
         const script = {
             shop(input) { return { actions: [{ buy: { adventurerId: input.adventurers[0].id, itemType: 'rusty_sword', equip: true } }] }; },
             play(input) { if (++calls % 3 === 0) throw new Error('third'); queueMicrotask(() => calls++);
                 return { actions: [{ adventurerId: 'a1', move: { direction: ['UP', 'RIGHT'][calls % 2] } }], error: calls }; },
         };",
    ),
    ("thenable.js", "module.exports = { play: (input) => ({ then(done) { done({ state: typeof input.rules.items, actions: [] }); } }) };"),
];

#[test]
fn node_gives_the_same_match_for_the_same_seed() {
    if !is_installed("node") {
        return;
    }
    let folder = folder();
    let mut bots = vec![example("javascript")];
    for (name, source) in CORPUS {
        write(&folder, name, source);
        bots.push(name.to_owned());
    }
    for bot in &bots {
        let [embedded, node] = ["embedded", "node"].map(|js| {
            let replay = format!("{js}.replay");
            let options = ["--js", js, "--replay", &replay, "--set", "maxTurns=40"];
            let (result, code) = play(&folder, &[bot, "builtin:looter"], &options);
            assert_eq!(code, Some(0), "{bot}: {result}");
            let mut exported = json(
                &Command::new(AGON)
                    .args(["replay", "export", &replay, "--format", "json"])
                    .current_dir(folder.path())
                    .output()
                    .expect("agon starts"),
            );
            let mut steps = exported["steps"].as_array_mut().map(std::mem::take).expect("steps");
            for answer in steps.iter_mut().filter_map(|step| step["answers"].as_array_mut()).flatten() {
                // These may differ: the time taken, and how an engine reports where something was thrown.
                let answer = answer.as_object_mut().expect("an object");
                answer.retain(|key, _| !["wall_us", "cpu_us"].contains(&key.as_str()));
                let why = answer["missing"].as_str().and_then(|why| why.split_once(" (at "));
                if let Some((why, _)) = why {
                    answer.insert("missing".to_owned(), why.into());
                    answer.remove("raw");
                    let stderr = answer["stderr"].as_str().unwrap_or("");
                    assert!(stderr.lines().skip(1).all(|line| line.contains("global.js:")), "{stderr}");
                    answer.remove("stderr");
                }
            }
            let kinds = |seat: &Value| -> Vec<Value> {
                seat["faults"].as_array().into_iter().flatten().map(|fault| fault["kind"].clone()).collect()
            };
            (steps, result["outcome"].clone(), kinds(&result["seats"][0]))
        });
        assert!(embedded.0.len() > 40, "{bot}: a match was played");
        for (ours, theirs) in embedded.0.iter().zip(&node.0) {
            assert_eq!(ours["answers"], theirs["answers"], "{bot}: {}", ours["moment"]);
            assert_eq!(ours, theirs, "{bot}");
        }
        assert_eq!((embedded.0.len(), embedded.1, embedded.2), (node.0.len(), node.1, node.2), "{bot}");
    }
}

#[test]
fn node_answers_for_late_scripts_too() {
    if !is_installed("node") {
        return;
    }
    let folder = folder();
    write(
        &folder,
        "bad.js",
        "let n = 0; export const script = { shop: () => ({ state: ++n }), play() { for (;;); } };",
    );
    let options = ["--time-limit", "1s", "--no-replay", "--set", "nbRounds=1", "--set", "maxTurns=2"];
    let (result, code) = play(&folder, &["node:bad.js", "builtin:idle"], &options);
    assert_eq!(code, Some(0), "{result}");
    let faults = result["seats"][0]["faults"].as_array().expect("a list");
    assert!(faults.len() >= 2, "{faults:#?}");
    for fault in faults {
        let said = fault["message"].as_str().unwrap_or("");
        assert!(
            ["still running", "no complete answer", "given up"].iter().any(|part| said.contains(part)),
            "{said}"
        );
    }
}

#[test]
fn a_series_says_that_its_limit_is_a_second() {
    let folder = folder();
    write(&folder, "bot.js", "export const script = { play: () => ({ actions: [] }) };");
    let run = |options: &[&str]| {
        let played = Command::new(AGON)
            .args([
                "gauntlet",
                "ostibot",
                "bot.js",
                "builtin:idle",
                "-n",
                "2",
                "--set",
                "maxTurns=2",
                "-j",
                "1",
            ])
            .args(options)
            .current_dir(folder.path())
            .env("NO_COLOR", "1")
            .output()
            .expect("agon starts");
        assert!(played.status.success(), "{}", String::from_utf8_lossy(&played.stderr));
        String::from_utf8_lossy(&played.stderr).into_owned()
    };
    assert!(run(&[]).contains("an answer may take 1s, as usual in a series; --time-limit changes that"));
    assert!(!run(&["--time-limit", "2s"]).contains("as usual in a series"));
    assert!(!run(&["--no-timeouts"]).contains("as usual in a series"));
}

/// The example is checked against the declarations if a TypeScript compiler is available.
#[test]
fn the_declarations_fit_the_example() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/node_modules/.bin/tsc");
    let tsc = std::env::var_os("AGON_TSC").map(PathBuf::from);
    let tsc = tsc.or_else(|| own.is_file().then_some(own)).unwrap_or_else(|| "tsc".into());
    if !is_installed(&tsc.display().to_string()) {
        println!("SKIPPED: TypeScript declarations of Ostibot (set AGON_TSC, or run `npm ci` in web/)");
        return;
    }
    let folder = folder();
    for file in ["ostibot.d.ts", "bot.js"] {
        std::fs::copy(Path::new(&example("javascript")).join(file), folder.path().join(file))
            .expect("a copy");
    }
    let check = |files: &[&str]| {
        let options = ["--noEmit", "--allowJs", "--checkJs", "--strict", "--target", "es2022"];
        let checked = Command::new(&tsc)
            .args(options)
            .args(["--module", "es2022", "--moduleResolution", "bundler"])
            .args(files)
            .current_dir(folder.path())
            .output()
            .expect("tsc starts");
        (checked.status.success(), String::from_utf8_lossy(&checked.stdout).into_owned())
    };
    let (fits, said) = check(&["bot.js"]);
    assert!(fits, "{said}");
    // And they are more precise than `any`.
    let wrong = [
        ("field.js", "input.gamestate"),
        ("type.js", "({ actions: [{ adventurerId: 1 }] })"),
        ("item.js", "input.rules.items.sword"),
    ];
    for (file, wrong) in wrong {
        let text = format!(
            "/** @type {{import('./ostibot').Script}} */\nexport const script = {{ play(input) {{ return {wrong}; }} }};"
        );
        write(&folder, file, &text);
    }
    let (fits, said) = check(&wrong.map(|(file, _)| file));
    assert!(!fits);
    for (file, wrong) in wrong {
        assert!(said.contains(&format!("{file}(2,")), "{wrong} is accepted: {said}");
    }
}
