// Feeds the strategy recorded lines and small situations. Run it with `node test/strategy.test.js`.
//
// `test/input.txt` is what a bot in seat 1 really read: the first turns of a match. Take one of your own:
// agon replay export FILE.replay --input --seat 1 > test/input.txt

'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');

const { Strategy } = require('../strategy.js');
const { inside, talk } = require('../terminal.js');

const LINES = fs.readFileSync(path.join(__dirname, 'input.txt'), 'utf8').trimEnd().split('\n');
const UNITS = JSON.parse(LINES[0]).unitInformation;
const STATES = LINES.slice(1).map((line) => JSON.parse(line));

/** The answers to the lines of a match, as [builds, deploys] for each turn. */
function play(lines) {
  const answers = [];
  const hear = talk(new Strategy(), (answer) => answers.push(answer.trimEnd().split('\n').map((line) => JSON.parse(line))));
  lines.forEach(hear);
  return answers;
}

const cost = (name) => {
  const place = UNITS.findIndex((unit) => unit.shorthand === name);
  return (place >= 3 ? UNITS[place].cost2 : UNITS[place].cost1) ?? 0;
};

test('every turn gets an answer that can be carried out', () => {
  const turns = STATES.filter((state) => state.turnInfo[0] === 0);
  const answers = play(LINES);
  assert.strictEqual(answers.length, turns.length);
  answers.forEach(([builds, deploys], number) => {
    const { p1Stats, p1Units, p2Units } = turns[number];
    const standing = [...p1Units.slice(0, 3), ...p2Units.slice(0, 3)].flat();
    const taken = new Set(standing.map(([x, y]) => `${x},${y}`));
    let [, structurePoints, mobilePoints] = p1Stats;
    for (const [name, x, y] of builds.filter(([name]) => name !== UNITS[7].shorthand)) {
      assert.ok(inside(x, y) && y <= 13, 'in our own half');
      assert.ok(!taken.has(`${x},${y}`));
      taken.add(`${x},${y}`);
      structurePoints -= cost(name);
    }
    for (const [name, x, y] of deploys) {
      assert.ok(x + y === 13 || x - y === 14, 'on our own edge');
      assert.ok(!taken.has(`${x},${y}`));
      mobilePoints -= cost(name);
    }
    assert.ok(structurePoints >= 0 && mobilePoints >= 0);
  });
});

test('mobile units wait until there are enough', () => {
  const deploys = (points) => play([LINES[0], JSON.stringify({ ...STATES[0], p1Stats: [30, 0, points, 0] })])[0][1];
  assert.strictEqual(deploys(11).length, 0);
  assert.ok(deploys(12).length > 2);
});

test('where the enemy comes through is built first', () => {
  const breach = [[20, 6], 1, 3, '9', 2];
  const frame = { ...STATES[0], turnInfo: [1, 0, 5, 0], events: { breach: [breach] } };
  const [first] = play([LINES[0], JSON.stringify(frame), JSON.stringify(STATES[0])])[0][0];
  assert.deepStrictEqual(first, [UNITS[2].shorthand, 24, 12]);
});
