// A small raider: attack adjacent enemies, fetch diamonds, and drop them as soon as they are worth something.
// `agon rules jungle-blitz` shows the rules; what a tick holds is in game.js.

import { action, distance, key, neighbours, spawns, tileAt } from "./game.js";

/** @import { Action, Diamond, Position, Tick, Unit } from "./game.js" */

const WORTH_DROPPING = 12;

/**
 * The actions of this tick, at most one for each unit.
 * @param {Tick} tick
 * @returns {Action[]}
 */
export function decide(tick) {
  const units = tick.teams.flatMap((team) => team.units);
  const mine = units.filter((unit) => unit.teamId === tick.teamId);
  const enemies = units.filter((unit) => unit.teamId !== tick.teamId && unit.hasSpawned);
  const diamonds = new Map(tick.map.diamonds.map((diamond) => [diamond.id, diamond]));
  const free = tick.map.diamonds.filter((diamond) => !diamond.ownerId);
  const taken = new Set(units.filter((unit) => unit.hasSpawned).map((unit) => key(unit.position)));
  const freeBeside = (position) =>
    neighbours(position).find((tile) => tileAt(tick, tile) === "EMPTY" && !taken.has(key(tile)));

  return mine.map((unit) => {
    if (!unit.hasSpawned) return spawn(unit, tick, free);
    if (unit.hasDiamond) return hold(unit, diamonds.get(unit.diamondId), tick, freeBeside(unit.position));
    const isOpen = (other) => tileAt(tick, other.position) === "EMPTY";
    const beside = enemies.find((enemy) => distance(unit.position, enemy.position) === 1 && isOpen(enemy));
    if (beside && isOpen(unit)) return action(unit, "ATTACK", beside.position);

    const diamond = nearest(unit.position, free);
    if (diamond) {
      free.splice(free.indexOf(diamond), 1);
      return action(unit, "MOVE", diamond.position);
    }
    // A unit cannot walk onto another: go next to an enemy, not onto it.
    const enemy = nearest(unit.position, enemies.filter((enemy) => enemy.hasDiamond));
    const goal = enemy && freeBeside(enemy.position);
    return goal ? action(unit, "MOVE", goal) : action(unit, "NONE");
  });
}

/** @type {(unit: Unit, diamond: Diamond, tick: Tick, tile: Position | undefined) => Action} */
function hold(unit, diamond, tick, tile) {
  const last = tick.tick >= tick.totalTick - 1;
  if (tile && !unit.isSummoning && (last || diamond.points >= WORTH_DROPPING)) return action(unit, "DROP", tile);
  return action(unit, diamond.summonLevel < 2 && !unit.isSummoning ? "SUMMON" : "NONE");
}

/** @type {(unit: Unit, tick: Tick, diamonds: Diamond[]) => Action} */
function spawn(unit, tick, diamonds) {
  const goal = diamonds[Number(unit.id) % Math.max(diamonds.length, 1)]?.position ?? { x: 0, y: 0 };
  return action(unit, "SPAWN", nearest(goal, spawns(tick).map((position) => ({ position }))).position);
}

/**
 * The nearest of some things that have a position.
 * @template {{position?: Position | null}} T
 * @param {Position} from
 * @param {T[]} things
 * @returns {T | undefined}
 */
function nearest(from, things) {
  const steps = (thing) => distance(from, thing.position);
  return things.reduce((best, thing) => (!best || steps(thing) < steps(best) ? thing : best), undefined);
}
