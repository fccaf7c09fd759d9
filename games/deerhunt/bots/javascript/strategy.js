// Workers mine, everybody hits adjacent enemies, melees hold the centre.
// `agon rules deerhunt` shows the rules; what a state holds is in bot.js.
"use strict";

const STEPS = { UP: [0, -1], DOWN: [0, 1], LEFT: [-1, 0], RIGHT: [1, 0] };

const key = (x, y) => x + "," + y;
const busy = (unit) =>
  ["mining_status", "duplication_status", "stun_status"].some((timer) => (unit[timer] ?? 0) > 0);

/** The first step of a shortest way to one of the goals, around walls and units; null where there is none. */
function stepTowards(unit, isGoal, isFree) {
  const seen = new Set([key(unit.x, unit.y)]);
  let open = [[unit.x, unit.y, null]];
  while (open.length > 0) {
    const next = [];
    for (const [x, y, first] of open) {
      for (const [word, [dx, dy]] of Object.entries(STEPS)) {
        const [toX, toY] = [x + dx, y + dy];
        if (seen.has(key(toX, toY)) || !isFree(toX, toY)) continue;
        if (isGoal(toX, toY)) return first ?? word;
        seen.add(key(toX, toY));
        next.push([toX, toY, first ?? word]);
      }
    }
    open = next;
  }
  return null;
}

/**
 * The moves of this half-turn, at most one for each unit.
 * @param {import("./bot.js").State} state
 * @returns {import("./bot.js").Move[]}
 */
function decide(state) {
  const { map, my_units: mine, their_units: theirs } = state;
  const taken = new Set([...mine, ...theirs].map((unit) => key(unit.x, unit.y)));
  const health = new Map(theirs.map((unit) => [key(unit.x, unit.y), unit.hp ?? 1]));
  const tile = (x, y) => map[y]?.[x] ?? "X";
  const isFree = (x, y) => tile(x, y) !== "X" && !taken.has(key(x, y));
  const isResource = (x, y) => tile(x, y) === "R";
  const [middleX, middleY] = [map[0].length >> 1, map.length >> 1];
  const isCentre = (x, y) => Math.abs(x - middleX) + Math.abs(y - middleY) <= 2;

  const moves = [];
  for (const unit of mine.filter((unit) => !busy(unit))) {
    // Under the document's rules, whose units have health, only melees can attack.
    const fights = unit.type === "melee" || unit.hp === undefined;
    const target = Object.entries(STEPS).find(([, [dx, dy]]) => health.get(key(unit.x + dx, unit.y + dy)) > 0);
    if (fights && target) {
      const [word, [dx, dy]] = target;
      const place = key(unit.x + dx, unit.y + dy);
      health.set(place, health.get(place) - 1);
      moves.push([unit.id, ["ATTACK", word]]);
    } else if (unit.type === "worker" && isResource(unit.x, unit.y)) {
      moves.push([unit.id, ["MINE"]]);
    } else {
      const word = stepTowards(unit, unit.type === "worker" ? isResource : isCentre, isFree);
      if (word === null || (unit.type === "melee" && isCentre(unit.x, unit.y))) continue;
      const [dx, dy] = STEPS[word];
      taken.delete(key(unit.x, unit.y));
      taken.add(key(unit.x + dx, unit.y + dy));
      moves.push([unit.id, [word]]);
    }
  }
  return moves;
}

module.exports = { decide };
