// Feeds the bot recorded states and small situations. Run it with `node test/strategy.test.js`.
//
// `test/input.txt` is what a bot in seat 1 really read: the first half-turns of a match. Take one of your own:
// agon replay export FILE.replay --input --seat 1 > test/input.txt
"use strict";

const assert = require("node:assert");
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const test = require("node:test");

const { decide } = require("../strategy.js");

const RECORDED = fs.readFileSync(path.join(__dirname, "input.txt"), "utf8");

/** The moves on a small map of text; `units` are [id, type, x, y] of ours, `enemies` likewise. */
function position(rows, units, enemies = []) {
  const unit = ([id, type, x, y]) => ({ id, type, x, y, hp: 1, mining_status: 0, duplication_status: 0 });
  const map = rows.map((row) => [...row]);
  return decide({ map, my_units: units.map(unit), their_units: enemies.map(unit), my_resources: 0, turns_left: 9 });
}

test("every half-turn of a recorded match gets its list of moves", () => {
  const bot = path.join(__dirname, "..", "bot.js");
  const said = execFileSync(process.execPath, [bot], { input: RECORDED, encoding: "utf8" });
  const states = RECORDED.trimEnd().split("\n").map((line) => JSON.parse(line));
  const answers = said.trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.strictEqual(answers.length, states.length);
  answers.forEach((moves, turn) => {
    const own = states[turn].my_units.map((unit) => unit.id);
    const ids = moves.map(([id]) => id);
    assert.ok(ids.every((id) => own.includes(id)), "only units of ours");
    assert.strictEqual(new Set(ids).size, ids.length, "each unit once");
    assert.ok(ids.length > 0, "somebody does something");
  });
});

test("a worker walks to a resource, and mines it", () => {
  const rows = ["XXXXX", "X  RX", "XXXXX"];
  assert.deepStrictEqual(position(rows, [[1, "worker", 1, 1]]), [[1, ["RIGHT"]]]);
  assert.deepStrictEqual(position(rows, [[1, "worker", 3, 1]]), [[1, ["MINE"]]]);
});

test("a melee hits what stands beside it", () => {
  const rows = ["XXXXX", "X   X", "XXXXX"];
  assert.deepStrictEqual(position(rows, [[1, "melee", 1, 1]], [[2, "worker", 2, 1]]), [[1, ["ATTACK", "RIGHT"]]]);
});
