// Runs a script under Node: `node -e THIS -- FILE SEED SEAT LIMIT_MS HOST`, where HOST is the text of host.js.
//
// The script lives in a worker, which reads the questions and writes the answers. This thread only watches
// that they come in time: a worker that is late is ended, whatever it does, and a new one takes its place.
"use strict";
const { Worker } = require("node:worker_threads");
const { writeSync } = require("node:fs");
const { basename } = require("node:path");

const [file, seed, seat, limit, host] = process.argv.slice(1);
const budget = limit > 0 ? limit - Math.min(limit / 10, 50) : Infinity;

// The call under way, 0 for none; and of its start the wall and the CPU time, in milliseconds.
const shared = new SharedArrayBuffer(24);
const call = new Int32Array(shared, 0, 1);
const began = new Float64Array(shared, 8, 2);
const LOADING = 1;

// A pipe takes 64 KiB, and where it does not wait until the other end has read them it says so: then we wait.
const write = (descriptor, text) => {
  for (let bytes = Buffer.from(text); bytes.length > 0; ) {
    try {
      bytes = bytes.subarray(writeSync(descriptor, bytes));
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
};
const refuse = (why) => {
  write(2, `${basename(file)}: ${why}\n`);
  process.exit(1);
};

function start(restarts, owed) {
  const worker = new Worker(`const { writeSync } = require("node:fs");\nconst write = ${write};\n(${life})(require, write)`, {
    eval: true,
    workerData: { file, seed: `${seed}/${seat}/${restarts}`, host, shared, owed },
    resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 },
  });
  let ended = false;
  const replace = (why) => {
    ended = true;
    const line = `${JSON.stringify({ failed: `the script ${why}; it starts afresh with its last state` })}\n`;
    // Where the machine kept us waiting, the referee may be just about to give up too. Two verdicts would
    // be one too many: it is left to the referee, and the line follows when that is over.
    const late = performance.timeOrigin + performance.now() - began[0] > (budget + Number(limit)) / 2;
    if (!late) write(1, line);
    worker.terminate();
    start(restarts + 1, late ? line : "");
  };
  // Only one of the two threads answers a call: the one that takes it back to 0.
  const watch = () => {
    if (ended) return;
    const now = Atomics.load(call, 0);
    const wall = performance.timeOrigin + performance.now() - began[0];
    const { user, system } = process.cpuUsage();
    const used = (user + system) / 1e3 - began[1];
    if (now === 0) setTimeout(watch, budget);
    else if (wall < budget) setTimeout(watch, budget - wall + 1);
    // A script cannot wait: what it did not use, this machine did not give it.
    else if (used + 5 < budget) setTimeout(watch, budget - used + 1);
    else if (Atomics.compareExchange(call, 0, now, 0) !== now) setTimeout(watch, budget);
    else if (now === LOADING) refuse(`still loading after ${Math.round(budget)} ms; is there an endless loop outside of its functions?`);
    else replace(`was still running after ${Math.round(budget)} ms and was stopped`);
  };
  if (budget < Infinity) setTimeout(watch, budget);
  worker.on("error", (error) => {
    if (ended) return;
    const now = Atomics.exchange(call, 0, 0);
    // Its memory ran out.
    if (now > LOADING) replace(`failed: ${error.message}`);
    else refuse(error.message);
  });
  worker.on("exit", (code) => ended || process.exit(code));
}

/** The whole life of a worker; only its text goes there. */
async function life(require, write) {
  const { workerData } = require("node:worker_threads");
  const { readFileSync, readSync } = require("node:fs");
  const { basename, extname } = require("node:path");
  const vm = require("node:vm");
  const { file, seed, host, shared } = workerData;
  let { owed } = workerData;
  const call = new Int32Array(shared, 0, 1);
  const began = new Float64Array(shared, 8, 2);
  const MOST_PRINTED = 64 << 10;
  const filename = basename(file);
  let calls = 0, printed = 0;

  const begin = () => {
    const { user, system } = process.cpuUsage();
    began[0] = performance.timeOrigin + performance.now();
    began[1] = (user + system) / 1e3;
    printed = 0;
    Atomics.store(call, 0, ++calls);
  };
  // After a call that took too long this thread has nothing more to say.
  const claim = () => {
    if (Atomics.compareExchange(call, 0, calls, 0) !== calls) for (;;) Atomics.wait(call, 0, 0);
  };
  const print = (text) => {
    if (printed > MOST_PRINTED) return;
    printed += Buffer.byteLength(text) + 1;
    write(2, printed > MOST_PRINTED ? "[more than 64 KiB printed in one call; the rest is dropped]\n" : `${text}\n`);
  };
  /** Lets run what is ready to. */
  const drain = () => new Promise((done) => setImmediate(done));

  begin();
  const context = vm.createContext(Object.create(null));
  // Nothing counts what a script does here, so each look at the clock is a tenth of a millisecond.
  let looks = 0;
  const world = vm.runInContext(host, context, { filename: "host" })(print, seed, () => looks++ / 10);
  const parse = vm.runInContext("JSON.parse", context);
  const alone = (what) => () => {
    throw new Error(`it imports ${what}, but a script is one file; bundle it`);
  };
  const load = async () => {
    const source = readFileSync(file, "utf8");
    const importModuleDynamically = alone("another file");
    let module, mistake;
    try {
      if (extname(file) !== ".mjs") {
        const script = new vm.Script(source, { filename, importModuleDynamically });
        const module = world.commonJs();
        script.runInContext(context);
        await drain();
        return [module.exports, vm.runInContext("typeof script === 'undefined' ? undefined : script", context)];
      }
    } catch (error) {
      if (!(error instanceof SyntaxError) || extname(file) === ".cjs") throw error;
      mistake = error;
    }
    try {
      module = new vm.SourceTextModule(source, { context, identifier: filename, importModuleDynamically });
    } catch (error) {
      throw mistake && !/^\s*(import|export)\b/m.test(source) ? mistake : error;
    }
    await module.link((wanted) => alone(`\`${wanted}\``)());
    let settled = false;
    const done = module.evaluate().finally(() => (settled = true));
    done.catch(() => {});
    await drain();
    if (!settled) throw new Error("it waits for a promise that never settles");
    await done;
    return [module.namespace];
  };
  let wrong;
  try {
    wrong = world.find(...(await load()));
  } catch (error) {
    // The stack of a syntax error begins with its place, where it is known.
    const place = error instanceof SyntaxError ? String(error.stack).split("\n")[0] : "";
    const at = place.startsWith(`${filename}:`) ? ` (at ${place})` : "";
    wrong = error instanceof Error ? `${error.name}: ${error.message}${at}` : world.describe(error);
  }
  claim();
  if (wrong) {
    write(2, `${filename}: ${wrong}\n`);
    process.exit(1);
  }

  const chunk = Buffer.alloc(64 << 10);
  for (let held = Buffer.alloc(0); ; ) {
    let end;
    while ((end = held.indexOf(10)) < 0) {
      const length = readSync(0, chunk);
      if (length === 0) process.exit(0);
      held = Buffer.concat([held, chunk.subarray(0, length)]);
    }
    begin();
    const { phase, input } = parse(held.toString("utf8", 0, end));
    held = held.subarray(end + 1);
    world.call(phase, input);
    await drain();
    const answer = world.finish();
    claim();
    write(1, `${owed}${answer}\n`);
    owed = "";
  }
}

start(0, "");
