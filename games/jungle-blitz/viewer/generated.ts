// Made from the types of games/jungle-blitz/src by its test; UPDATE_TYPES=1 makes it anew.

/** A state. */
export type Scene = { tick: number,
  /** The number of ticks in the match. */
  totalTick: number,
  /** The rows of the map. */
  map: Array<string>,
  /** The teams in the order in which they play this tick. */
  playOrder: Array<number>, teams: Array<Team>, units: Array<Unit>, diamonds: Array<Diamond>,
};

/** A team. */
export type Team = { score: number,
  /** The pending points of its diamonds. */
  pending: number, deaths: number,
  /** Whether its connection is gone for good. */
  gone: boolean,
};

/** A unit. */
export type Unit = { id: number, team: number,
  /** Null while it is not on the board. */
  at: [number, number] | null,
  /** The tiles of its stored path. */
  path: Array<[number, number]>,
  /** The diamond it holds. */
  diamond: number | null,
  /** Ticks until its diamond reaches the next level. */
  summoning: number, vinedBy: number | null, killedBy: number | null, diedAt: [number, number] | null,
};

/** A diamond. */
export type Diamond = { at: [number, number] | null, level: number, points: number,
  /** The unit that holds it. */
  owner: number | null,
};

/** Something that happened in a tick. Units by their id on the wire (from 1), diamonds by their index, seats from 1. */
export type Event = { "event": "spawned", unit: number, at: Point | null, } | { "event": "moved", unit: number, to: Point | null, } | { "event": "pickedUp", unit: number, diamond: number, points: number, } | { "event": "summonBegun", unit: number, level: number, points: number, } | { "event": "summonDone", unit: number, level: number, } | { "event": "handedOver", unit: number, to: number, diamond: number, } | { "event": "dropped", unit: number, diamond: number, at: Point | null, points: number, level: number, } | { "event": "killed", unit: number, victim: number, at: Point | null, diamond: number | null, } | { "event": "vined", unit: number, victim: number, from: Point | null, to: Point | null, lost: number | null, } | { "event": "timedOut", seat: number, } | { "event": "gone", seat: number,
};

/** A position as written by people and on the wire: `x` counts columns from the left, `y` rows from the top (JB-MAP-1). */
export type Point = {
  /** The column, from 0. */
  x: number,
  /** The row, from 0. */
  y: number,
};
