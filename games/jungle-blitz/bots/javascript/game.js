// The messages of Jungle Blitz, for your editor, and small helpers. `agon docs jungle-blitz` describes every field.

/** @typedef {{x: number, y: number}} Position */
/**
 * @typedef {object} Unit
 * @property {string} id
 * @property {string} teamId
 * @property {boolean} hasSpawned whether it is alive
 * @property {Position | null} [position] none before it has spawned
 * @property {Position[]} path the tiles it will still walk
 * @property {boolean} hasDiamond
 * @property {string} [diamondId]
 * @property {boolean} isSummoning
 * @property {{positionBefore?: Position | null, wasVinedBy?: string, wasAttackedBy?: string}} lastState
 */
/** @typedef {{id: string, name: string, score: number, isDead: boolean, errors: string[], units: Unit[]}} Team */
/**
 * @typedef {object} Diamond
 * @property {string} id
 * @property {Position} position
 * @property {number} summonLevel from 1 to 5
 * @property {number} points what it is worth when it is dropped
 * @property {string | null} [ownerId] the unit that holds it
 */
/**
 * @typedef {object} Tick
 * @property {number} tick from 0
 * @property {number} totalTick
 * @property {string} teamId your own
 * @property {Team[]} teams
 * @property {{tiles: ("EMPTY" | "WALL" | "SPAWN")[][], diamonds: Diamond[]}} map tiles[x][y]
 * @property {Record<string, string[]>} teamPlayOrderings who plays first, for this tick and the next four
 */
/** @typedef {"SPAWN" | "MOVE" | "SUMMON" | "DROP" | "ATTACK" | "VINE" | "NONE"} Name */
/** @typedef {{type: "UNIT", action: Name, unitId: string, target: Position | null}} Action */

/** @type {(unit: Unit, name: Name, target?: Position | null) => Action} */
export const action = (unit, name, target = null) => ({ type: "UNIT", action: name, unitId: unit.id, target });

/** @type {(one: Position, other: Position) => number} */
export const distance = (one, other) => Math.abs(one.x - other.x) + Math.abs(one.y - other.y);

/** @type {(position: Position) => string} */
export const key = ({ x, y }) => `${x},${y}`;

/** @type {(position: Position) => Position[]} */
export const neighbours = ({ x, y }) => [{ x, y: y - 1 }, { x, y: y + 1 }, { x: x - 1, y }, { x: x + 1, y }];

/** @type {(tick: Tick, position: Position) => string} */
export const tileAt = (tick, { x, y }) => tick.map.tiles[x]?.[y] ?? "WALL";

/** All spawn tiles. @type {(tick: Tick) => Position[]} */
export const spawns = (tick) =>
  tick.map.tiles.flatMap((column, x) => column.flatMap((tile, y) => (tile === "SPAWN" ? [{ x, y }] : [])));
