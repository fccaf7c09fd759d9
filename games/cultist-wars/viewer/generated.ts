// Made from the types of games/cultist-wars/src by its test; UPDATE_TYPES=1 makes it anew.

/** A state. */
export type Scene = {
  /** Turns played. */
  turn: number,
  /** Whose turn it is; null at the end. */
  mover: number | null, width: number, height: number,
  /** The board as the protocol draws it. */
  rows: Array<string>,
  /** All units that ever took part. */
  units: Array<Unit>,
  /** The number of living neutral units. */
  neutrals: number,
  /** The state of the neutrals' generator, which decides their next moves. */
  generator: number,
};

/** A unit. */
export type Unit = { id: number, kind: Kind,
  /** Its owner; null for a neutral. */
  player: number | null,
  /** 0 for the dead. */
  hp: number,
  /** Where it is; null for the dead. */
  tile: Tile | null,
};

export type Kind = "leader" | "cultist";

/** A tile of the board, or [`Tile::NOWHERE`]. */
export type Tile = [number, number];

/** Something that happened. */
export type Event = { "event": "moved",
  /** The unit. */
  unit: number,
  /** Where it was. */
  from: Tile,
  /** Where it is. */
  to: Tile, } | { "event": "shot",
  /** The shooter. */
  unit: number,
  /** The unit it aimed at. */
  target: number,
  /** The tiles between the two, nearest the shooter first. */
  line: Line,
  /** The unit that was hit; `None` when an obstacle was hit. */
  hit: number | null,
  /** Where the shot ended. */
  at: Tile,
  /** Health points lost. */
  damage: number, } | { "event": "converted",
  /** The leader. */
  unit: number,
  /** The cultist. */
  target: number,
  /** Its new owner. */
  player: number, } | { "event": "died",
  /** The unit. */
  unit: number, } | { "event": "neutral_moved",
  /** The unit. */
  unit: number,
  /** Where it was. */
  from: Tile,
  /** Where it is. */
  to: Tile, } | { "event": "waited",
  /** The mover. */
  player: number, } | { "event": "invalid",
  /** The mover. */
  player: number,
  /** Why. */
  why: string,
};

/** Tiles in order. */
export type Line = Array<Tile>;
