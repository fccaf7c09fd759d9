// A small raider: attack whoever stands beside, fetch diamonds, and drop them as soon as they are worth something.

const WORTH_DROPPING = 12;

/** The list of actions for a TICK message. */
export function decide(tick) {
  const units = tick.teams.flatMap((team) => team.units);
  const mine = units.filter((unit) => unit.teamId === tick.teamId);
  const enemies = units.filter((unit) => unit.teamId !== tick.teamId && unit.hasSpawned);
  const diamonds = new Map(tick.map.diamonds.map((diamond) => [diamond.id, diamond]));
  const free = tick.map.diamonds.filter((diamond) => !diamond.ownerId);
  const taken = new Set(units.filter((unit) => unit.hasSpawned).map((unit) => key(unit.position)));
  return mine.map((unit) => {
    if (!unit.hasSpawned) return spawn(unit, tick, free);
    if (unit.hasDiamond) return hold(unit, diamonds.get(unit.diamondId), tick, taken);
    const beside = enemies.find(
      (enemy) => distance(unit.position, enemy.position) === 1 && tileAt(tick, enemy.position) === "EMPTY",
    );
    if (beside && tileAt(tick, unit.position) === "EMPTY") return action(unit, "ATTACK", beside.position);
    const target = nearest(unit.position, free.length > 0 ? free : enemies.filter((enemy) => enemy.hasDiamond));
    if (!target) return action(unit, "NONE");
    if (free.includes(target)) free.splice(free.indexOf(target), 1);
    // A unit stands in the way of itself: walk beside an enemy, not onto it.
    const goal = target.summonLevel ? target.position : freeBeside(target.position, tick, taken);
    return goal ? action(unit, "MOVE", goal) : action(unit, "NONE");
  });
}

function hold(unit, diamond, tick, taken) {
  const last = tick.tick >= tick.totalTick - 1;
  const tile = freeBeside(unit.position, tick, taken);
  if (tile && (last || diamond.points >= WORTH_DROPPING)) return action(unit, "DROP", tile);
  return action(unit, diamond.summonLevel < 2 && !unit.isSummoning ? "SUMMON" : "NONE");
}

function spawn(unit, tick, diamonds) {
  const spawns = tick.map.tiles.flatMap((column, x) =>
    column.flatMap((tile, y) => (tile === "SPAWN" ? [{ position: { x, y } }] : [])),
  );
  const goal = diamonds[Number(unit.id) % Math.max(diamonds.length, 1)]?.position ?? { x: 0, y: 0 };
  return action(unit, "SPAWN", nearest(goal, spawns).position);
}

function freeBeside({ x, y }, tick, taken) {
  const around = [{ x, y: y - 1 }, { x, y: y + 1 }, { x: x - 1, y }, { x: x + 1, y }];
  return around.find((tile) => tileAt(tick, tile) === "EMPTY" && !taken.has(key(tile)));
}

const tileAt = (tick, { x, y }) => tick.map.tiles[x]?.[y];
const key = ({ x, y }) => `${x},${y}`;
const distance = (one, other) => Math.abs(one.x - other.x) + Math.abs(one.y - other.y);
const action = (unit, name, target = null) => ({ type: "UNIT", action: name, unitId: unit.id, target });

function nearest(from, things) {
  const steps = (thing) => distance(from, thing.position);
  return things.reduce((best, thing) => (!best || steps(thing) < steps(best) ? thing : best), undefined);
}
