// A greedy Cultist Wars bot for Node: convert, else shoot, else walk. `agon rules cultist-wars` shows the rules.
//
// Above the line: reading the input, which you need not touch. Below it: what the bot does.
// Answers go to standard output, one line per turn. Anything for yourself goes to console.error.
"use strict";

const NEUTRAL = 2;
const RANGE = 6;

// Pauses at each `yield` until the next line of input is there.
function* play() {
  const me = Number(yield);
  const [width, height] = (yield).split(" ").map(Number);
  const board = { me, width, height, walls: [] };
  for (let y = 0; y < height; y++) {
    [...(yield)].forEach((tile, x) => { if (tile === "x") board.walls.push({ x, y }); });
  }
  for (;;) {
    const units = [];
    for (let count = Number(yield); count > 0; count--) {
      const [id, kind, hp, x, y, owner] = (yield).split(" ").map(Number);
      units.push({ id, leads: kind === 1, hp, x, y, owner });
    }
    console.log(answer(board, units));
  }
}

// ------------------------------------------------------------------ your strategy

const distance = (a, b) => Math.abs(a.x - b.x) + Math.abs(a.y - b.y);

// The tiles a shot from a to b passes; the line is drawn from the upper end (CW-SHOOT-4).
function between(a, b) {
  if (a.y > b.y) [a, b] = [b, a];
  const dx = Math.abs(b.x - a.x), dy = b.y - a.y, step = a.x < b.x ? 1 : -1;
  const tiles = [];
  for (let { x, y } = a, err = dx - dy; ; ) {
    const twice = 2 * err;
    if (twice > -dy) { err -= dy; x += step; }
    if (twice < dx) { err += dx; y += 1; }
    if (x === b.x && y === b.y) return tiles;
    tiles.push({ x, y });
  }
}

// The order of this turn. Exactly one line: `WAIT`, `ID MOVE X Y`, `ID SHOOT TARGET` or `ID CONVERT TARGET`.
function answer({ me, walls }, units) {
  const leader = units.find((unit) => unit.leads && unit.owner === me);
  const shooters = units.filter((unit) => !unit.leads && unit.owner === me);
  const enemies = units.filter((unit) => unit.owner !== me && unit.owner !== NEUTRAL);
  const wanted = units.filter((unit) => !unit.leads && unit.owner !== me);

  // 1. A cultist beside our leader becomes ours, an enemy's rather than a neutral one.
  if (leader) {
    const beside = wanted.filter((unit) => distance(leader, unit) === 1);
    const best = beside.find((unit) => unit.owner !== NEUTRAL) ?? beside[0];
    if (best) return `${leader.id} CONVERT ${best.id}`;
  }

  // 2. The shot that leaves its victim with the least health, if nothing is in the way.
  const blocked = (tile) => [...walls, ...units].some((other) => distance(tile, other) === 0);
  let best = null;
  for (const unit of shooters) {
    for (const enemy of enemies) {
      const steps = distance(unit, enemy);
      const left = enemy.hp - 7 + steps;
      if (steps > RANGE || (best && best.left <= left) || between(unit, enemy).some(blocked)) continue;
      best = { left, order: `${unit.id} SHOOT ${enemy.id}` };
    }
  }
  if (best) return best.order;

  // 3. Our leader goes to the nearest neutral; the referee finds the way.
  const nearest = (from, others) =>
    others.reduce((a, b) => (a && distance(from, a) <= distance(from, b) ? a : b), null);
  const prey = leader && nearest(leader, wanted.filter((unit) => unit.owner === NEUTRAL));
  if (prey) return `${leader.id} CONVERT ${prey.id}`;

  // 4. The cultist nearest to an enemy goes there.
  const pairs = shooters.map((unit) => ({ unit, enemy: nearest(unit, enemies) })).filter((pair) => pair.enemy);
  pairs.sort((a, b) => distance(a.unit, a.enemy) - distance(b.unit, b.enemy));
  if (pairs.length) return `${pairs[0].unit.id} MOVE ${pairs[0].enemy.x} ${pairs[0].enemy.y}`;
  console.error("nothing to do");
  return "WAIT";
}

const game = play();
game.next();
require("readline").createInterface({ input: process.stdin }).on("line", (line) => game.next(line));
