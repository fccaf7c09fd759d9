// Feeds the script recorded questions and small situations. Run it with `node test/bot.test.js`.
//
// `test/input.txt` is what a bot in seat 1 is really asked: the first turns of a match. Take one of your own:
// agon replay export FILE.replay --input --seat 1 > test/input.txt

import assert from "node:assert";
import { readFileSync } from "node:fs";
import test from "node:test";

import { script } from "../bot.js";

const LINES = readFileSync(new URL("input.txt", import.meta.url), "utf8").trimEnd().split("\n");
const QUESTIONS = LINES.map((line) => JSON.parse(line));

/** The action of an adventurer of ours at (1, 1) of a small map. */
function first(entities, turn = 1, more = {}) {
  const rows = ["#####", "#...#", "#.#.#", "#...#", "#####"];
  const { input } = structuredClone(QUESTIONS.find(({ phase }) => phase === "play"));
  const one = { ...input.gameState.adventurers[0], position: { x: 1, y: 1 }, ...more };
  const all = { adventurers: [one], entities: [one, ...entities] };
  Object.assign(input.gameState, { map: rows, width: 5, height: 5, turn, ...all });
  return script.play(input).actions[0];
}

const gold = { id: "g", type: "gold", position: { x: 3, y: 1 }, amount: 3 };
const portal = { id: "p", type: "portal", position: { x: 1, y: 3 }, hp: 0, maxHp: 9, open: true };

test("every question is answered for adventurers of ours", () => {
  let state;
  for (const { phase, input } of QUESTIONS) {
    const answer = script[phase]({ ...input, state });
    state = JSON.parse(JSON.stringify(answer.state)); // as it comes back in a match
    if (phase === "play") {
      const own = input.gameState.adventurers.filter((one) => one.teamId === input.you).map((one) => one.id);
      assert.deepStrictEqual(answer.actions.map((action) => action.adventurerId), own);
    }
  }
});

test("gold is fetched, and left before the fire", () => {
  assert.strictEqual(first([gold, portal]).move.direction, "RIGHT");
  assert.strictEqual(first([gold, portal], 25).move.direction, "DOWN");
});

test("who is hurt drinks", () => {
  const potion = { id: "i", itemType: "health_potion", name: "Health Potion", slot: "consumable" };
  assert.strictEqual(first([], 1, { hp: 20, inventory: [potion] }).use.itemId, "i");
});
