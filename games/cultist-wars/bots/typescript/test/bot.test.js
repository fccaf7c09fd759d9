// Feeds the bot a recorded match and small positions. Run it with `tsc --target es2020 --module commonjs --outDir out bot.ts && node test/bot.test.js`.
//
// `test/input.txt` is what a bot in seat 1 really read: the first turns of a match. Take one of your own:
// agon replay export FILE.replay --input --seat 1 > test/input.txt
"use strict";

const assert = require("node:assert");
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const test = require("node:test");

const BOT = path.join(__dirname, "..", "out", "bot.js");

// The lines the bot answers to `input`.
const play = (input) => execFileSync(process.execPath, [BOT], { input, encoding: "utf8" }).trimEnd().split("\n");

// The answer on a small board, each unit written as the referee writes it.
function position(me, units, walls = []) {
  const wall = (x, y) => walls.some((tile) => tile[0] === x && tile[1] === y);
  const rows = Array.from({ length: 7 }, (_, y) => Array.from({ length: 13 }, (_, x) => (wall(x, y) ? "x" : ".")).join(""));
  return play([me, "13 7", ...rows, units.length, ...units, ""].join("\n"))[0];
}

// The units of each turn, as lists of numbers.
function turns(lines) {
  const found = [];
  for (let at = 2 + Number(lines[1].split(" ")[1]); at < lines.length; ) {
    const count = Number(lines[at]);
    found.push(lines.slice(at + 1, at + 1 + count).map((line) => line.split(" ").map(Number)));
    at += 1 + count;
  }
  return found;
}

test("every turn of a recorded match gets one legal answer", () => {
  const recorded = fs.readFileSync(path.join(__dirname, "input.txt"), "utf8");
  const asked = turns(recorded.trimEnd().split("\n"));
  const answers = play(recorded);
  assert.strictEqual(answers.length, asked.length);
  answers.forEach((answer, turn) => {
    if (answer === "WAIT") return;
    const [id, order, ...rest] = answer.split(" ");
    const unit = asked[turn].find((unit) => unit[0] === Number(id));
    assert.strictEqual(unit?.[5], 0, `${answer}: the unit is ours`);
    if (order === "MOVE") {
      assert.ok(rest[0] >= 0 && rest[0] < 13 && rest[1] >= 0 && rest[1] < 7, answer);
    } else {
      assert.strictEqual(order, unit[1] === 1 ? "CONVERT" : "SHOOT");
      const target = asked[turn].find((unit) => unit[0] === Number(rest[0]));
      assert.ok(target && target[5] !== 0, `${answer}: the target is not ours`);
    }
  });
});

test("a neighbour is converted", () => {
  assert.strictEqual(position(0, ["0 1 10 3 3 0", "5 0 10 4 3 2"]), "0 CONVERT 5");
});

test("an enemy in range is shot, but not through a wall", () => {
  const units = ["1 1 10 12 3 1", "9 0 10 8 3 1", "0 1 10 5 3 0"];
  assert.strictEqual(position(1, units), "9 SHOOT 0");
  assert.strictEqual(position(1, units, [[6, 3]]), "9 MOVE 5 3");
});

test("a lone leader waits", () => {
  assert.strictEqual(position(0, ["0 1 10 3 3 0", "1 1 10 12 3 1"]), "WAIT");
});
