// An example bot for Ostibot: each adventurer goes to the nearest gold, and to a portal before the fire.
// What it has seen of the round is kept in `state`, because a view holds only what is seen now.

/** @typedef {{round: number, seen: Record<string, import("./ostibot").Entity>, looked: Record<string, true>}} Memory */

const STEPS = /** @type {const} */ ({ UP: [0, -1], DOWN: [0, 1], LEFT: [-1, 0], RIGHT: [1, 0] });
const DIRECTIONS = /** @type {import("./ostibot").Direction[]} */ (Object.keys(STEPS));

/** @param {{x: number, y: number}} cell */
const key = (cell) => `${cell.x},${cell.y}`;

/** @type {import("./ostibot").Script<Memory>} */
export const script = {
  shop(input) {
    // A potion for the first adventurer, when there is gold to spare.
    const [first] = input.adventurers;
    const rich = first && input.teamsGold[input.you] >= 20;
    const potion = () => ({ buy: { adventurerId: first.id, itemType: "health_potion" } });
    return { actions: rich ? [potion()] : [], state: { round: input.round, seen: {}, looked: {} } };
  },

  play(input) {
    const { gameState, rules, you } = input;
    const memory = remember(input.state, gameState, you);
    const own = gameState.adventurers.filter((one) => one.teamId === you);
    const taken = new Set(own.map((one) => key(one.position)));
    const leaving = gameState.turn >= rules.corruptionStartAt - 6;
    /** @type {import("./ostibot").PlayAction[]} */
    const actions = [];
    for (const one of own) {
      const potion = (one.inventory ?? []).find((item) => item.slot === "consumable");
      if (potion && one.hp <= 40) {
        actions.push({ adventurerId: one.id, use: { itemId: potion.id, reason: "hurt" } });
        continue;
      }
      const wanted = leaving ? ["portal"] : ["gold", "item", "chest", "vase"];
      const step =
        way(gameState, memory, one, taken, (cell) => wanted.includes(memory.seen[key(cell)]?.type)) ??
        way(gameState, memory, one, taken, (cell) => !memory.looked[key(cell)]);
      if (step) {
        taken.delete(key(one.position));
        taken.add(key(step.cell));
        actions.push({ adventurerId: one.id, move: { direction: step.direction } });
      }
    }
    return { actions, state: memory };
  },
};

/**
 * Adds what is seen to what was seen in this round.
 * @param {Memory | undefined} old
 * @param {import("./ostibot").GameState} gameState
 * @param {string} you
 * @returns {Memory}
 */
function remember(old, gameState, you) {
  const memory = old && old.round === gameState.round ? old : { round: gameState.round, seen: {}, looked: {} };
  // Only cells near an adventurer are certain to be seen: forget what was there and is gone.
  for (const one of gameState.adventurers.filter((one) => one.teamId === you)) {
    for (let y = one.position.y - 2; y <= one.position.y + 2; y++) {
      for (let x = one.position.x - 2; x <= one.position.x + 2; x++) {
        memory.looked[key({ x, y })] = true;
        delete memory.seen[key({ x, y })];
      }
    }
  }
  for (const entity of gameState.entities) {
    if (entity.type !== "adventurer" && entity.type !== "corruption") {
      memory.seen[key(entity.position)] = entity;
    }
  }
  return memory;
}

/**
 * The first step on a shortest way to a cell that is wanted.
 * @param {import("./ostibot").GameState} gameState
 * @param {Memory} memory
 * @param {import("./ostibot").Adventurer} one
 * @param {Set<string>} taken
 * @param {(cell: {x: number, y: number}) => boolean} wanted
 */
function way(gameState, memory, one, taken, wanted) {
  const reached = new Set([key(one.position)]);
  /** @type {{cell: {x: number, y: number}, first: {direction: import("./ostibot").Direction, cell: {x: number, y: number}} | null}[]} */
  const queue = [{ cell: one.position, first: null }];
  for (let next = 0; next < queue.length; next++) {
    const { cell, first } = queue[next];
    if (first && wanted(cell)) return first;
    // Chests, vases and portals are ends; doors are on the way.
    const thing = memory.seen[key(cell)]?.type;
    if (first && (thing === "chest" || thing === "vase" || thing === "portal")) continue;
    for (const direction of DIRECTIONS) {
      const there = { x: cell.x + STEPS[direction][0], y: cell.y + STEPS[direction][1] };
      const ground = gameState.map[there.y]?.[there.x] ?? "#";
      if (reached.has(key(there)) || "#HS123456789".includes(ground)) continue;
      if (!first && taken.has(key(there))) continue;
      reached.add(key(there));
      queue.push({ cell: there, first: first ?? { direction, cell: there } });
    }
  }
  return null;
}
