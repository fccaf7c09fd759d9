// The world of a script, in whichever engine it runs. This function is called before the script is
// loaded, with `print(text)`, which writes to standard error, a text that seeds `Math.random`, and `clock()`, the
// milliseconds that the script has had so far, counted and not measured. It gives the functions by which the host
// finds the script, calls it, and gets a line with its answer.
//
// The script shares this world and may replace everything in it. What is needed after it was loaded is
// therefore kept here first, and nothing is looked up on a prototype.
(function (print, seed, clock) {
  "use strict";
  const { apply, construct, deleteProperty, defineProperty } = Reflect;
  const { stringify } = JSON;
  const { isArray } = Array;
  const { floor, imul } = Math;
  const { then } = Promise.prototype;
  const { charCodeAt, endsWith, indexOf, lastIndexOf, slice, toWellFormed, trim } = String.prototype;
  const NativePromise = Promise, NativeDate = Date, NativeError = Error, text = String;

  // An answer has to fit these; the referee refuses larger ones without a look.
  const MOST_ACTIONS = 1000, LARGEST_TEXT = 1 << 20, LONGEST_REASON = 400;

  const define = (object, name, value) =>
    defineProperty(object, name, { value, writable: true, enumerable: false, configurable: true });

  // Only the language itself is here: nothing that waits, shares memory, or shows how the machine is doing.
  for (const name of [
    "Atomics", "SharedArrayBuffer", "WebAssembly", "WeakRef", "FinalizationRegistry", "Intl",
    "navigator", "DOMException", "gc",
  ]) deleteProperty(globalThis, name);

  // sfc32, seeded by an FNV hash: the same numbers in every engine.
  let hash = 0x811c9dc5;
  for (let at = 0; at < seed.length; at++) hash = imul(hash ^ seed.charCodeAt(at), 0x01000193);
  let a = hash, b = imul(hash, 0x9e3779b9), c = 0x243f6a88, counter = 1;
  const bits = () => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  for (let round = 0; round < 20; round++) bits();
  define(Math, "random", function random() {
    return ((bits() >>> 5) * 67108864 + (bits() >>> 6)) / 9007199254740992;
  });

  // A match begins at the first moment of the year 2000, and time is what the script does.
  const START = 946684800000;
  const now = () => START + floor(clock());
  const FixedDate = function Date(...given) {
    if (new.target === undefined) return text(new NativeDate(now()));
    return construct(NativeDate, given.length === 0 ? [now()] : given, new.target);
  };
  FixedDate.prototype = NativeDate.prototype;
  define(FixedDate.prototype, "constructor", FixedDate);
  define(FixedDate, "now", { now() { return now(); } }.now);
  define(FixedDate, "parse", NativeDate.parse);
  define(FixedDate, "UTC", NativeDate.UTC);
  define(globalThis, "Date", FixedDate);
  const performance = { timeOrigin: START };
  define(performance, "now", { now() { return clock(); } }.now);
  define(globalThis, "performance", performance);

  // What depends on the language of the machine would differ from one to the next.
  define(String.prototype, "localeCompare", function localeCompare(that) {
    const own = text(this), other = text(that);
    return own < other ? -1 : own > other ? 1 : 0;
  });
  const dates = NativeDate.prototype, strings = String.prototype;
  for (const name of ["toString", "toTimeString"]) {
    const native = dates[name];
    // Some engines add the name of the zone.
    define(dates, name, { [name]() {
      const shown = apply(native, this, []), zone = apply(indexOf, shown, [" ("]);
      return zone < 0 ? shown : apply(slice, shown, [0, zone]);
    } }[name]);
  }
  define(dates, "toLocaleDateString", dates.toDateString);
  define(dates, "toLocaleTimeString", dates.toTimeString);
  define(strings, "toLocaleUpperCase", strings.toUpperCase);
  define(strings, "toLocaleLowerCase", strings.toLowerCase);
  for (const kind of [Number, BigInt, NativeDate]) {
    define(kind.prototype, "toLocaleString", kind.prototype.toString);
  }

  define(globalThis, "queueMicrotask", function queueMicrotask(task) {
    apply(then, new NativePromise((done) => done()), [() => task()]);
  });

  /** The stack of an error as V8 writes it: Firefox and Safari write `play@bot.js:3:5` for `    at play (bot.js:3:5)`. */
  const stackOf = (error) => {
    const stack = text(error.stack);
    if (apply(indexOf, stack, ["    at "]) >= 0) return stack;
    let whole = "";
    for (let start = 0; start < stack.length;) {
      const found = apply(indexOf, stack, ["\n", start]), end = found < 0 ? stack.length : found;
      const sign = apply(indexOf, stack, ["@", start]);
      const isPlace = sign >= 0 && sign < end;
      const name = isPlace && apply(slice, stack, [start, sign]), at = isPlace && apply(slice, stack, [sign + 1, end]);
      if (isPlace) whole += `${whole && "\n"}    at ${name ? `${name} (${at})` : at}`;
      start = end + 1;
    }
    return whole || stack;
  };
  /** A stack without us: its lines before the first one that is the host's or the engine's own. */
  const ours = ["at apply (native)", "at Reflect.apply", "(host:"];
  const own = (stack) => {
    let end = stack.length;
    for (let mark = 0; mark < ours.length; mark++) {
      const at = apply(indexOf, stack, [ours[mark]]);
      if (at >= 0 && at < end) end = at;
    }
    return end === stack.length ? stack : apply(slice, stack, [0, apply(lastIndexOf, stack, ["\n", end])]);
  };
  /** What `console.log` shows of a value. */
  const show = (value) => {
    if (typeof value === "string") return value;
    if (value instanceof NativeError) {
      const line = `${value.name}: ${value.message}`, stack = own(stackOf(value));
      return apply(indexOf, stack, [line]) === 0 ? stack : `${line}\n${stack}`;
    }
    if (typeof value === "function") return `[function ${value.name}]`;
    if (typeof value === "object" && value !== null) return stringify(value) ?? "[object]";
    return text(value);
  };
  let indent = "";
  const say = (line) => print(apply(toWellFormed, indent + line, []));
  const line = (values) => {
    let line = "";
    for (let at = 0; at < values.length; at++) {
      let shown = "[cannot be shown]";
      try {
        shown = text(show(values[at]));
      } catch {}
      line += at > 0 ? ` ${shown}` : shown;
    }
    return line;
  };
  const log = (...values) => say(line(values));
  // Everything that prints; what only colours or clears does nothing.
  const console = {}, counts = { __proto__: null }, timers = { __proto__: null };
  const passed = (label) => `${label}: ${floor(1000 * (clock() - (timers[label] ?? clock()))) / 1000} ms`;
  const methods = {
    log,
    assert(holds, ...values) { if (!holds) say(`Assertion failed: ${line(values)}`); },
    clear() {},
    count(label = "default") { say(`${label}: ${counts[text(label)] = (counts[text(label)] ?? 0) + 1}`); },
    countReset(label = "default") { deleteProperty(counts, text(label)); },
    group(...values) {
      if (values.length > 0) say(line(values));
      if (indent.length < 40) indent += "  ";
    },
    groupEnd() { indent = apply(slice, indent, [2]); },
    table(rows) {
      if (typeof rows !== "object" || rows === null) return log(rows);
      for (const key in rows) log(`${key}:`, rows[key]);
    },
    time(label = "default") { timers[text(label)] = clock(); },
    timeEnd(label = "default") {
      say(passed(text(label)));
      deleteProperty(timers, text(label));
    },
    timeLog(label = "default", ...values) { say(`${passed(text(label))} ${line(values)}`); },
    trace(...values) {
      const stack = stackOf(new NativeError());
      const start = apply(indexOf, stack, ["\n", apply(indexOf, stack, ["(host:"])]);
      say(`Trace: ${line(values)}\n${own(apply(slice, stack, [start + 1]))}`);
    },
  };
  for (const [name, like] of [
    ["info", "log"], ["warn", "log"], ["error", "log"], ["debug", "log"], ["dir", "log"], ["dirxml", "log"],
    ["groupCollapsed", "group"],
  ]) methods[name] = methods[like];
  for (const name in methods) define(console, name, methods[name]);
  define(globalThis, "console", console);

  /** The first place in a stack, which is where it was thrown. */
  const place = (stack) => {
    const start = apply(indexOf, stack, ["    at "]);
    if (start < 0) return "";
    const end = apply(indexOf, stack, ["\n", start]);
    if (apply(indexOf, stack, ["(node:"]) >= 0) return "";
    return ` (${apply(trim, apply(slice, stack, end < 0 ? [start] : [start, end]), [])})`;
  };

  // What scripts of browsers and of Node expect to find, and what there is instead.
  const ANSWERS = "a script runs only while it is called: `await` and queueMicrotask work within a call; return what must be "
    + "remembered as `state`";
  const ALONE = "a script has no network and no files: write what it needs into it";
  const NO_NODE = "a script is not run by Node, not even with `--js node`: console.log prints and performance.now() is "
    + "the clock; a bot that needs Node can be a program, see `agon docs scripts`";
  const NO_BROWSER = "a script is not run by a browser: `input` is all it sees; return what must be remembered as `state`";
  const MISSING = {
    __proto__: null,
    setTimeout: ANSWERS, setInterval: ANSWERS, setImmediate: ANSWERS, requestAnimationFrame: ANSWERS,
    clearTimeout: ANSWERS, clearInterval: ANSWERS,
    fetch: ALONE, XMLHttpRequest: ALONE, WebSocket: ALONE,
    // Short, because the line that quotes it is cut off.
    require: "Node's modules do not exist here; bundle yours: npx esbuild bot.js --bundle --format=esm --outfile=one.js",
    process: NO_NODE, Buffer: NO_NODE, __dirname: NO_NODE, __filename: NO_NODE,
    window: NO_BROWSER, document: NO_BROWSER, localStorage: NO_BROWSER, self: NO_BROWSER,
    Worker: "a script has one thread", SharedArrayBuffer: "a script has one thread", Atomics: "a script has one thread",
    structuredClone: "use JSON.parse(JSON.stringify(value))",
  };
  /** What there is instead of the name that an error misses. */
  const instead = (message) => {
    const end = " is not defined";
    if (!apply(endsWith, message, [end])) return "";
    const why = MISSING[apply(slice, message, [0, message.length - end.length])];
    return why === undefined ? "" : `; ${why}`;
  };

  /** One line that says what was thrown, and where. */
  const describe = (thrown) => {
    let line = "something that cannot be shown";
    try {
      const error = thrown instanceof NativeError;
      if (thrown === null) line = "null, as the engine does when it is out of memory";
      else if (!error) line = text(show(thrown));
      else {
        const message = text(thrown.message);
        line = `${thrown.name}: ${message}${place(stackOf(thrown))}${instead(message)}`;
      }
    } catch {}
    return apply(slice, apply(toWellFormed, line, []), [0, LONGEST_REASON]);
  };

  const failed = (why) => `{"failed":${stringify(`${phase} ${why}`)}}`;

  const kindOf = (value) => {
    if (value === undefined || value === null) return text(value);
    if (isArray(value)) return "an array";
    return typeof value === "object" ? "an object" : `a ${typeof value}`;
  };

  /** The bytes of a text that `stringify` made. */
  const size = (json) => {
    let bytes = json.length;
    if (bytes * 3 <= LARGEST_TEXT) return bytes;
    for (let at = 0; at < json.length; at++) {
      const unit = apply(charCodeAt, json, [at]);
      // Each half of a pair counts for two of its four bytes.
      if (unit >= 0x80) bytes += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2;
    }
    return bytes;
  };

  const answer = (returned) => {
    if (typeof returned !== "object" || returned === null || isArray(returned)) {
      return failed(`returned ${kindOf(returned)}; return an object like { actions: [] }`);
    }
    const { actions, state, error } = returned;
    if (actions !== undefined) {
      if (!isArray(actions)) return failed(`returned \`actions\` that is ${kindOf(actions)}; it must be an array`);
      if (actions.length > MOST_ACTIONS) {
        return failed(`returned ${actions.length} actions; at most ${MOST_ACTIONS} are looked at`);
      }
    }
    let line = "{", comma = "";
    const add = (name, value) => {
      const json = stringify(value);
      if (json === undefined) return undefined;
      const bytes = size(json);
      if (bytes > LARGEST_TEXT) return failed(`returned \`${name}\` of ${bytes} bytes of JSON; at most ${LARGEST_TEXT} are kept`);
      line += `${comma}"${name}":${json}`;
      comma = ",";
      return undefined;
    };
    return add("actions", actions) ?? add("state", state) ?? add("error", error) ?? `${line}}`;
  };

  const isScript = (found) => {
    if (found === null || (typeof found !== "object" && typeof found !== "function")) return false;
    return typeof found.play === "function" || typeof found.shop === "function";
  };

  let script, phase = "", outcome = "pending", value;

  return {
    /** What a file in CommonJS exports to. */
    commonJs() {
      const module = { exports: {} };
      define(globalThis, "module", module);
      define(globalThis, "exports", module.exports);
      return module;
    },

    /** Looks for the script in what the file exported and in its variable `script`; a sentence when there is none. */
    find(exported, variable) {
      const candidates = [exported?.script, exported?.default?.script, exported?.default, exported, variable];
      for (let at = 0; at < 5 && script === undefined; at++) {
        if (isScript(candidates[at])) script = candidates[at];
      }
      if (script !== undefined) return undefined;
      return "it exports no `script` with a function `play` or `shop`; "
        + "write: export const script = { play(input) { return { actions: [] }; } };";
    },

    /** Calls `script.shop` or `script.play`. When all jobs are done, `finish` tells what came of it. */
    call(name, input) {
      phase = name;
      outcome = "returned";
      try {
        const called = script[name];
        if (called === undefined || called === null) {
          value = {};
          return;
        }
        value = apply(called, script, [input]);
        const native = value instanceof NativePromise;
        if (!native && typeof value?.then !== "function") return;
        outcome = "pending";
        apply(then, native ? value : new NativePromise((resolve) => resolve(value)), [
          (result) => { outcome = "returned"; value = result; },
          (reason) => { outcome = "threw"; value = reason; },
        ]);
      } catch (thrown) {
        outcome = "threw";
        value = thrown;
      }
    },

    /** The line that answers the question. */
    finish() {
      if (outcome === "pending") return failed("returned a promise that never settles: it waits, and nothing is left to run");
      try {
        if (outcome === "returned") return answer(value);
      } catch (thrown) {
        value = thrown;
      }
      log(value);
      return failed(`threw ${describe(value)}`);
    },

    describe,
  };
})
