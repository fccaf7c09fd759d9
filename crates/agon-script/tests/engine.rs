//! What scripts may be, what they find, and what happens to what they return.

use std::path::Path;
use std::sync::{Arc, Mutex};

use agon_script::Engine;

struct Bot {
    engine: Engine,
    printed: Arc<Mutex<String>>,
}

fn load_as(file: &str, source: &str, seed: &str) -> Result<Bot, String> {
    let printed = Arc::new(Mutex::new(String::new()));
    let own = Arc::clone(&printed);
    let print = move |text: &str| own.lock().expect("one thread").push_str(&format!("{text}\n"));
    Engine::load(Path::new(file), source, seed, print).map(|engine| Bot { engine, printed })
}

fn load(source: &str) -> Bot {
    load_as("bot.js", source, "1/1/0").expect("a script")
}

fn refused(file: &str, source: &str) -> String {
    load_as(file, source, "1/1/0").err().expect("no script")
}

impl Bot {
    fn ask(&mut self, phase: &str, input: &str) -> String {
        self.engine.answer(format!("{{\"phase\":\"{phase}\",\"input\":{input}}}").as_bytes()).line
    }

    fn play(&mut self) -> String {
        self.ask("play", "{}")
    }

    fn printed(&self) -> String {
        std::mem::take(&mut self.printed.lock().expect("one thread"))
    }
}

/// The answer of a script whose `play` is `body`.
fn answer(body: &str) -> String {
    load(&format!("export const script = {{ play(input) {{ {body} }} }};")).play()
}

fn failed(why: &str) -> String {
    format!("{{\"failed\":\"{why}\"}}")
}

#[test]
fn a_script_may_be_written_in_every_usual_form() {
    let play = "play() { return { state: 5 }; }";
    for (file, source) in [
        ("bot.js", format!("export const script = {{ {play} }};")),
        ("bot.mjs", format!("const script = {{ {play} }}; export {{ script }}")),
        ("bot.js", format!("export default {{ {play} }};")),
        ("bot.js", format!("export default {{ script: {{ {play} }} }};")),
        ("bot.js", format!("export function {play}")),
        ("bot.js", format!("class Bot {{ {play} }}\nexport const script = new Bot();")),
        ("bot.js", format!("const five = await Promise.resolve(5); export const script = {{ {play} }};")),
        ("bot.js", format!("exports.script = {{ {play} }};")),
        ("bot.cjs", format!("module.exports = {{ {play} }};")),
        ("bot.js", format!("module.exports = {{ script: {{ {play} }} }};")),
        ("bot.js", format!("var script = {{ {play} }};")),
        ("bot.js", format!("const script = {{ {play} }};")),
        ("bot.js", format!("globalThis.script = {{ {play} }};")),
        ("bot.js", format!("// export const is not what this is\nscript = {{ {play} }};")),
        ("bot.js", "export const script = { play: async () => ({ state: await 5 }) };".to_owned()),
        (
            "bot.js",
            "export const script = { play: () => ({ then(done) { done({ state: 5 }); } }) };".to_owned(),
        ),
    ] {
        let mut bot = load_as(file, &source, "1/1/0").unwrap_or_else(|why| panic!("{source}: {why}"));
        assert_eq!(bot.play(), "{\"state\":5}", "{source}");
        assert_eq!(bot.ask("shop", "{}"), "{}", "there is no shop: {source}");
    }
}

#[test]
fn a_file_that_is_no_script_is_refused_with_the_place_of_its_mistake() {
    let refusals = [
        ("bot.js", "", "it exports no `script` with a function `play` or `shop`"),
        ("bot.js", "export const script = { play: 5 };", "it exports no `script`"),
        ("bot.js", "export const script = {\n  play( { }\n};", "SyntaxError"),
        ("bot.js", "export const script = {\n  play( { }\n};", "(at bot.js:"),
        ("bot.js", "var script = {\n  play( { }\n};", "SyntaxError"),
        ("bot.js", "\nundefined.x;", "TypeError: cannot read property 'x' of undefined (at <eval> (bot.js:2"),
        ("bot.js", "import fs from 'fs'; export const script = { play() {} };", "a script is one file"),
        ("bot.cjs", "export const script = {};", "SyntaxError"),
        (
            "bot.js",
            "await new Promise(() => {}); export const script = { play() {} };",
            "a promise that never settles",
        ),
        ("bot.js", "throw 'no';", "no"),
        ("bot.js", "const fs = require('fs');", "ReferenceError: require is not defined"),
        ("bot.js", "const fs = require('fs');", "--outfile=one.js"),
        ("bot.js", "const all = []; for (;;) all.push(new Array(1000).fill(0));", "out of memory"),
    ];
    for (file, source, part) in refusals {
        let why = refused(file, source);
        assert!(why.contains(part) && !why.contains('\n'), "{source}\ngives `{why}`, not `{part}`");
    }
}

#[test]
fn what_is_returned_becomes_the_answer() {
    assert_eq!(
        answer("return { actions: [{ adventurerId: 'a1', move: { direction: 'UP', reason: '„so“' } }] };"),
        r#"{"actions":[{"adventurerId":"a1","move":{"direction":"UP","reason":"„so“"}}]}"#
    );
    assert_eq!(answer("return { state: null, error: new Map(), more: 1 };"), r#"{"state":null,"error":{}}"#);
    assert_eq!(
        answer("return { state: () => 1, actions: undefined };"),
        "{}",
        "what JSON has not is not there"
    );
    assert_eq!(
        answer("return { state: 'a\\n\\ud800' };"),
        r#"{"state":"a\n\ud800"}"#,
        "one line, whatever is in it"
    );
}

#[test]
fn what_cannot_be_an_answer_is_a_failure_that_says_why() {
    let object = "return an object like { actions: [] }";
    assert_eq!(answer(""), failed(&format!("play returned undefined; {object}")));
    assert_eq!(answer("return [];"), failed(&format!("play returned an array; {object}")));
    assert_eq!(answer("return 'UP';"), failed(&format!("play returned a string; {object}")));
    assert_eq!(
        answer("return { actions: 'UP' };"),
        failed("play returned `actions` that is a string; it must be an array")
    );
    assert_eq!(
        answer("return { actions: new Array(1e6).fill({}) };"),
        failed("play returned 1000000 actions; at most 1000 are looked at")
    );
    assert_eq!(
        answer("return { state: 'ä'.repeat(600000) };"),
        failed("play returned `state` of 1200002 bytes of JSON; at most 1048576 are kept")
    );
    assert!(
        answer("return { actions: [{ move: { direction: 'UP', reason: 'x'.repeat(2 ** 21) } }] };")
            .starts_with("{\"failed\":\"play returned `actions` of 2097")
    );
    assert_eq!(
        answer("return new Promise(() => {});"),
        failed("play returned a promise that never settles: it waits, and nothing is left to run")
    );
    assert_eq!(
        answer("\n\n null.x"),
        failed("play threw TypeError: cannot read property 'x' of null (at play (bot.js:3:2))")
    );
    assert_eq!(answer("throw { code: 5 };"), failed("play threw {\\\"code\\\":5}"));
    assert!(
        answer("return Promise.reject(new RangeError('no'));")
            .starts_with("{\"failed\":\"play threw RangeError: no")
    );
    assert!(
        answer("const loop = {}; loop.loop = loop; return { state: loop };").contains("circular reference")
    );
    assert!(answer("return { actions: [5n] };").contains("TypeError"));
    assert!(
        answer("return { get actions() { throw new Error('got'); } };").contains("play threw Error: got")
    );
    assert!(answer("const deep = () => deep() + 1; deep();").contains("Maximum call stack size exceeded"));
}

#[test]
fn a_state_of_just_the_size_is_kept() {
    for (unit, bytes) in [("x", 1), ("ä", 2), ("€", 3), ("😀", 4)] {
        let fits = ((1 << 20) - 2) / bytes;
        let kept = |count| answer(&format!("return {{ state: '{unit}'.repeat({count}) }};"));
        assert!(kept(fits).starts_with("{\"state\""), "{unit}");
        assert!(kept(fits + 1).starts_with("{\"failed\""), "{unit}");
    }
}

#[test]
fn a_script_that_spoils_its_world_spoils_only_its_own() {
    let mut bot = load(
        "JSON.stringify = JSON.parse = () => { throw new Error('spoiled'); };
         globalThis.JSON = Array.isArray = Reflect.apply = Object = Promise.prototype.then = undefined;
         Array.prototype.push = String.prototype.slice = String.prototype.indexOf = () => { throw 1; };
         export const script = { async play(input) { return { actions: [], state: input.list }; } };",
    );
    assert_eq!(bot.ask("play", r#"{"list":[1,{"a":2}]}"#), r#"{"actions":[],"state":[1,{"a":2}]}"#);
    let mut bot = load(
        "for (const name of ['you', 'list', 'play', 'actions', 'value']) {
             Object.prototype.__defineSetter__(name, () => { throw new Error('set'); });
         }
         Object.prototype.then = 5;
         Object.freeze(Object.prototype);
         export const script = { play(input) { return { state: input.you }; } };",
    );
    assert_eq!(bot.ask("play", r#"{"you":"1"}"#), r#"{"state":"1"}"#);
    // Its effect on JSON serialisation is in its answer, which is up to the game.
    let mut bot =
        load("Object.prototype.toJSON = () => 'x'; var script = { play() { return { actions: [] }; } };");
    assert_eq!(bot.play(), r#"{"actions":"x"}"#);
    let mut bot = load(
        "Error.prototype.toString = Symbol;
         var script = { play() { throw new Proxy({}, { get() { throw 1; } }); } };",
    );
    assert_eq!(bot.play(), failed("play threw something that cannot be shown"));
}

#[test]
fn each_call_has_an_input_of_its_own() {
    let mut bot = load(
        "export const script = { play(input) { const { n } = input.rules; input.rules.n = 9; input.more = 1;
             return { state: [n, Object.keys(input)] }; } };",
    );
    for _ in 0..3 {
        assert_eq!(bot.ask("play", r#"{"rules":{"n":1}}"#), r#"{"state":[1,["rules","more"]]}"#);
    }
}

#[test]
fn what_is_put_off_is_done_before_the_next_call() {
    let mut bot = load(
        "let done = 0;
         export const script = { play() {
             const now = done;
             queueMicrotask(async () => { await 1; done += 1; throw 1; });
             return { state: now };
         } };",
    );
    assert_eq!([bot.play(), bot.play(), bot.play()], ["{\"state\":0}", "{\"state\":1}", "{\"state\":2}"]);
}

#[test]
fn chance_is_seeded_and_time_begins_with_the_year_2000() {
    let source = "export const script = { play() {
        const drawn = Array.from({ length: 1000 }, Math.random);
        return { state: { drawn: drawn.slice(0, 3), mean: Math.round(10 * drawn.reduce((a, b) => a + b) / 1000),
            inside: drawn.every((x) => x >= 0 && x < 1) } }; } };";
    let drawn = |seed: &str| load_as("bot.js", source, seed).expect("a script").play();
    assert_eq!(drawn("7/1/0"), drawn("7/1/0"));
    assert!(drawn("7/1/0").ends_with("\"mean\":5,\"inside\":true}}"), "{}", drawn("7/1/0"));
    let all = ["7/1/0", "7/2/0", "8/1/0", "7/1/1", "-7/1/0"].map(drawn);
    assert!(all.iter().enumerate().all(|(index, one)| !all[..index].contains(one)), "{all:?}");
    let now = "2000-01-01T00:00:00.000Z";
    assert_eq!(
        answer(
            "return { state: [new Date(), Date.now(), new Date(0), Date.UTC(2001), new Date(2000, 1).getTime() > 0,
                new Date() instanceof Date, new (new Date().constructor)(), typeof Date()] };"
        ),
        format!(
            r#"{{"state":["{now}",946684800000,"1970-01-01T00:00:00.000Z",978307200000,true,true,"{now}","string"]}}"#
        )
    );
}

/// The clock counts what the script does: a search bounded by it ends, at the same place on every machine.
#[test]
fn time_is_what_the_script_does() {
    let took = |work: &str| {
        answer(&format!(
            "const start = performance.now(); {work} return {{ state: performance.now() - start }};"
        ))
    };
    assert_eq!(took("for (let i = 0; i < 1e6; i++);"), "{\"state\":200}", "5,000 rounds of a loop are 1 ms");
    assert_eq!(
        took("const f = () => 1; for (let i = 0; i < 1e6; i++) f();"),
        "{\"state\":300}",
        "a call counts as half a round"
    );
    assert_eq!(took(""), "{\"state\":0}");
    let search = "let rounds = 0;
        for (const end = Date.now() + 50; Date.now() < end; rounds++) for (let i = 0; i < 1000; i++);
        return { state: [rounds, new Date().getTime() - performance.timeOrigin === Date.now() - 946684800000] };";
    let found = answer(search);
    assert!(found.starts_with("{\"state\":[249"), "a quarter of a million rounds in 50 ms: {found}");
    assert!(found.ends_with(",true]}"), "{found}");
    assert_eq!(answer(search), found);
    // It continues from call to call.
    let mut bot = load(
        "var script = { play() { for (let i = 0; i < 5e4; i++); return { state: Date.now() % 1000 }; } };",
    );
    assert_eq!([bot.play(), bot.play()], ["{\"state\":10}", "{\"state\":20}"]);
}

#[test]
fn what_other_worlds_have_is_missed_with_what_there_is_instead() {
    for (body, instead) in [
        ("setTimeout(() => {}, 10);", "setTimeout is not defined (at play (bot.js:1:"),
        ("setTimeout(() => {}, 10);", "`await` and queueMicrotask work within a call"),
        ("setInterval(() => {}, 10);", "runs only while it is called"),
        ("fetch('http://localhost');", "no network and no files"),
        ("require('fs');", "bundle yours: npx esbuild"),
        ("process.stdout.write('x');", "console.log prints"),
        ("return structuredClone({});", "JSON.parse(JSON.stringify(value))"),
        ("window.x = 1;", "is not run by a browser"),
    ] {
        let line = answer(body);
        assert!(line.starts_with("{\"failed\":") && line.contains(instead), "{body} gives {line}");
    }
    assert!(!answer("nothingOfTheKind();").contains(';'), "of other names nothing is known");
    assert_eq!(answer("return { state: typeof setTimeout };"), r#"{"state":"undefined"}"#);
}

#[test]
fn nothing_but_the_language_can_be_reached() {
    let names = "['require', 'process', 'fetch', 'setTimeout', 'setInterval', 'std', 'os', 'Worker',
        'print', 'Atomics', 'SharedArrayBuffer', 'WebAssembly', 'WeakRef', 'FinalizationRegistry', 'load', 'Intl',
        'gc', 'navigator']";
    assert_eq!(
        answer(&format!("return {{ state: {names}.filter((name) => name in globalThis) }};")),
        r#"{"state":[]}"#
    );
    assert!(answer("return import('fs');").contains("could not load module"));
    assert!(answer("return import('./other.js');").contains("could not load module"));
    // Evaluating strings as code is part of the language.
    assert_eq!(
        answer("return { state: [eval('1 + 1'), new Function('return this')() === globalThis] };"),
        r#"{"state":[2,true]}"#
    );
}

#[test]
fn the_console_shows_every_kind_of_value() {
    let mut bot = load(
        "export const script = { play() {
             console.log('a', 1, -0, null, undefined, true, [1, 'b'], { c: 1 }, Symbol('d'), 5n, () => 1, class E {});
             console.error(new Error('f'));
             console.warn(); console.log({ toJSON() { throw 1; } }, 'g\\ud800');
             return {}; } };",
    );
    assert_eq!(bot.play(), "{}");
    assert_eq!(
        bot.printed(),
        "a 1 0 null undefined true [1,\"b\"] {\"c\":1} Symbol(d) 5 [function ] [function E]\n\
         Error: f\n    at play (bot.js:3:32)\n\n[cannot be shown] g\u{fffd}\n"
    );
    let mut bot = load("export const script = { play() { throw new Error('h'); } };");
    bot.play();
    let printed = bot.printed();
    assert!(
        printed.starts_with("Error: h\n    at play (bot.js:1:"),
        "thrown things show their stack: {printed}"
    );
}

#[test]
fn the_whole_console_works() {
    let mut bot = load(
        "export const script = { play() {
             console.assert(true, 'a'); console.assert(1 > 2, 'b', { c: 1 });
             console.count(); console.count(); console.count('d'); console.countReset(); console.count();
             console.group('e'); console.info('f'); console.groupCollapsed(); console.debug('g');
             console.groupEnd(); console.groupEnd(); console.groupEnd(); console.dir([1]);
             console.table([{ h: 1 }, 2]); console.table('i'); console.clear();
             console.time('j'); for (let i = 0; i < 5e4; i++); console.timeLog('j', 'k'); console.timeEnd('j');
             console.timeEnd('never'); console.trace('l');
             return {}; } };",
    );
    assert_eq!(bot.play(), "{}");
    let printed = bot.printed();
    let (lines, trace) = printed.split_once("Trace: l\n").expect("a trace");
    assert_eq!(
        lines,
        "Assertion failed: b {\"c\":1}\ndefault: 1\ndefault: 2\nd: 1\ndefault: 1\ne\n  f\n    g\n[1]\n\
         0: {\"h\":1}\n1: 2\ni\nj: 10 ms k\nj: 10 ms\nnever: 0 ms\n"
    );
    assert!(trace.starts_with("    at play (bot.js:8:") && trace.lines().count() == 1, "{trace}");
}

#[test]
fn memory_has_a_bound_and_a_script_that_holds_it_is_exhausted() {
    let mut bot = load(
        "const held = [];
         export const script = {
             shop() { for (;;) held.push(new Array(10000).fill(1)); },
             play() { const own = []; for (;;) own.push('x'.repeat(2 ** 20) + own.length); },
         };",
    );
    let question = |phase: &str| format!("{{\"phase\":\"{phase}\",\"input\":{{}}}}").into_bytes();
    let passing = bot.engine.answer(&question("play"));
    assert!(passing.line.contains("out of memory"), "{}", passing.line);
    assert!(!passing.exhausted, "what the call used is free again");
    let holding = bot.engine.answer(&question("shop"));
    assert!(holding.line.starts_with("{\"failed\""), "{}", holding.line);
    assert!(holding.exhausted);
    assert!(answer("return { state: '('.repeat(2 ** 28) };").contains("out of memory"));
}
