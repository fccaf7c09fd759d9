// Made from the types of games/deerhunt/src by its test; UPDATE_TYPES=1 makes it anew.

/** The whole state, as no single player sees it. */
export type Scene = { round: number,
  /** The number of rounds. */
  rounds: number,
  /** Whose half-turn it is; null at the end. */
  mover: Player | null,
  /** How far units see. */
  vision: number,
  /** Rows of `X` for walls, `R` for hubs, and blanks. */
  ground: Array<string>, players: [Owned, Owned],
  /** The living units. */
  units: Array<Unit>,
  /** The remaining stock of each hub; null when hubs never run dry. */
  stock: Array<number> | null,
};

/** What a player owns and sees. */
export type Owned = {
  /** Null when the seat does not know them. */
  resources: number | null,
  /** The enemies it sees. */
  sees: Array<number>,
};

/** A unit with its timers. */
export type Unit = { id: number, owner: Player, type: Kind, x: number, y: number, hp: number, max_hp: number,
  /** Countdowns until its mining is done; 0 when it does not mine. */
  mining: number,
  /** Countdowns until its child appears; 0 when it does not duplicate. */
  duplication: number,
  /** Where the child appears or appeared. */
  direction: Direction | null,
  /** What the child is or was. */
  child: Kind | null,
  /** Countdowns until it is free of a stun. */
  stun: number,
};

/** Something that happened. */
export type Event = { "event": "moved",
  /** The unit. */
  unit: number,
  /** Where it stood. */
  from: At,
  /** Where it stands. */
  to: At, } | { "event": "attacked",
  /** The attacker. */
  unit: number,
  /** The attacked unit. */
  target: number,
  /** The target's remaining health. */
  left: number, } | { "event": "died",
  /** The unit. */
  unit: number,
  /** Where it stood. */
  at: At, } | { "event": "duplication_began",
  /** The parent. */
  unit: number,
  /** The kind of the child. */
  child: Kind,
  /** The side of the parent. */
  direction: Direction, } | { "event": "born",
  /** The child. */
  unit: number,
  /** Its parent. */
  parent: number,
  /** Its owner. */
  owner: Player,
  /** Its kind. */
  kind: Kind,
  /** Where it stands. */
  at: At, } | { "event": "child_lost",
  /** The parent. */
  parent: number,
  /** The place. */
  at: At, } | { "event": "mining_began",
  /** The worker. */
  unit: number, } | { "event": "mined",
  /** The worker, alive or dead. */
  unit: number,
  /** The player who was paid. */
  owner: Player,
  /** How much. */
  amount: number, } | { "event": "hub_saturated",
  /** Its number. */
  hub: number, } | { "event": "stunned",
  /** The stunner. */
  unit: number,
  /** Its victim. */
  target: number, } | { "event": "list_void",
  /** The player. */
  player: Player,
};

/** A tile, by column and row from the top left. */
export type At = {
  /** Column, from 0. */
  x: number,
  /** Row, from 0. */
  y: number,
};

/** The kind of a unit. */
export type Kind = "worker" | "melee";

/** One of the two players. */
export type Player = "p1" | "p2";

/** One of the four directions. */
export type Direction = "UP" | "DOWN" | "LEFT" | "RIGHT";
