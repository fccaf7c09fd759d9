// Feeds the bot recorded ticks and small situations. Run it with `node test/brain.test.js`.
//
// `test/input.txt` is what a bot in seat 1 really read: the first ticks of a match. Take one of your own:
// agon replay export FILE.replay --input --seat 1 > test/input.txt

import assert from "node:assert";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import test from "node:test";
import { fileURLToPath } from "node:url";

import { decide } from "../brain.js";
import { spawns } from "../game.js";

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const RECORDED = readFileSync(here("input.txt"), "utf8").trimEnd().split("\n");

/** The second recorded tick; the first unit holds the first diamond, at (1, 1) of an open map. */
function holding(number, points) {
  const tick = JSON.parse(RECORDED[1]);
  const [unit, diamond] = [tick.teams[0].units[0], tick.map.diamonds[0]];
  Object.assign(unit, { hasDiamond: true, diamondId: diamond.id, position: { x: 1, y: 1 } });
  Object.assign(diamond, { ownerId: unit.id, position: unit.position, points });
  tick.map.tiles = tick.map.tiles.map((column) => column.map(() => "EMPTY"));
  return { ...tick, tick: number };
}

test("every tick gets its command", () => {
  const input = `${RECORDED.join("\n")}\n`;
  const said = execFileSync(process.execPath, [here("../bot.js"), "--lines"], { input, encoding: "utf8" });
  const [register, ...commands] = said.trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.strictEqual(register.type, "REGISTER");
  const ticks = RECORDED.map((line) => JSON.parse(line));
  assert.deepStrictEqual(commands.map(({ tick }) => tick), ticks.map(({ tick }) => tick));
  commands.forEach(({ actions }, number) => {
    const { teams, teamId } = ticks[number];
    const own = teams.find((team) => team.id === teamId).units.map((unit) => unit.id);
    assert.deepStrictEqual(actions.map((action) => action.unitId), own, "one action for each unit of ours");
  });
});

test("units come up on spawn tiles", () => {
  const tick = JSON.parse(RECORDED[0]);
  for (const { action, target } of decide(tick)) {
    assert.strictEqual(action, "SPAWN");
    assert.ok(spawns(tick).some(({ x, y }) => x === target.x && y === target.y));
  }
});

test("a unit walks to a diamond", () => {
  const tick = JSON.parse(RECORDED[1]);
  const [{ action, target }] = decide(tick);
  assert.strictEqual(action, "MOVE");
  assert.ok(tick.map.diamonds.some(({ position }) => position.x === target.x && position.y === target.y));
});

test("a diamond is dropped as soon as it is worth it, or when the match ends", () => {
  assert.strictEqual(decide(holding(100, 12))[0].action, "DROP");
  assert.strictEqual(decide(holding(299, 1))[0].action, "DROP");
  assert.notStrictEqual(decide(holding(100, 1))[0].action, "DROP");
});
