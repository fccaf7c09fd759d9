// Made from the types of games/terminal/src by its test; UPDATE_TYPES=1 makes it anew.

/** The board in the form of a frame, and further facts about the players. */
export type Scene = { turn: number,
  /** Frames played. */
  frames: number, players: Array<Player>, units: [Lists, Lists],
};

/** Facts about a player. */
export type Player = { hp: Real, sp: Real, mp: Real,
  /** Milliseconds of the last answer. */
  ms: number,
  /** Milliseconds of all answers. */
  total_ms: number, points: Real, crashed: boolean, timed_out: boolean,
};

/** The units of a player, in the lists of a state line. */
export type Lists = {
  /** By [`Kind::index`], each by ascending id. */
  units: Standing[][],
  /** Structures marked for removal; `health` holds the remaining restores. */
  removals: Array<Standing>,
  /** Upgraded structures; `health` is 0. */
  upgrades: Array<Standing>,
};

/** A unit on the board. */
export type Standing = {
  /** Where. */
  at: Tile,
  /** Health, shields included. */
  health: Real,
  /** Its number. */
  id: number,
};

/** The numbers of a player in a state line. */
export type Stats = {
  /** Health. */
  hp: Real,
  /** Structure points. */
  sp: Real,
  /** Mobile points. */
  mp: Real,
  /** Milliseconds of the last answer. */
  ms: number,
};

/** Everything that happened in a frame, each list in order. */
export type Events = {
  /** Orders carried out; only in the first frame of a turn. */
  spawn: Array<Spawn>,
  /** Steps. */
  moves: Array<Step>,
  /** Breaches. */
  breach: Array<Breach>,
  /** Shields given. */
  shield: Array<Shield>,
  /** Self-destructions. */
  self_destruct: Array<SelfDestruct>,
  /** Attacks. */
  attack: Array<Attack>,
  /** Health lost. */
  damage: Array<Damage>,
  /** Units that left. */
  death: Array<Death>,
};

/** An order that was carried out. */
export type Spawn = {
  /** Where. */
  at: Tile,
  /** What. */
  what: Spawned,
  /** The number of the unit. */
  id: number,
  /** The player who gave the order. */
  player: number,
};

/** What was spawned. */
export type Spawned = { "unit": Kind } | "removal" | "upgrade";

/** A step of a mobile unit. */
export type Step = {
  /** Where it was. */
  from: Tile,
  /** Where it is. */
  to: Tile,
  /** Which. */
  unit: Who,
};

/** A mobile unit reached its edge. */
export type Breach = {
  /** Where. */
  at: Tile,
  /** Health the enemy loses. */
  damage: Real,
  /** Which. */
  unit: Who,
};

/** A support shielded a unit. */
export type Shield = {
  /** Where the support stands. */
  from: Tile,
  /** Where the unit is. */
  to: Tile,
  /** The amount of the shield. */
  amount: Real,
  /** The support. */
  giver: Who,
  /** The number of the unit. */
  target: number,
};

/** A unit destroyed itself and did damage. */
export type SelfDestruct = {
  /** Where. */
  at: Tile,
  /** The tile of each unit it hit, ascending; a tile is repeated for each unit on it. */
  tiles: Array<Tile>,
  /** The health each lost. */
  damage: Real,
  /** Which. */
  unit: Who,
};

/** A unit attacked another. */
export type Attack = {
  /** Where the attacker is. */
  from: Tile,
  /** Where its target is. */
  to: Tile,
  /** The health the target loses. */
  damage: Real,
  /** The attacker. */
  attacker: Who,
  /** The number of the target. */
  target: number,
};

/** A unit lost health. */
export type Damage = {
  /** Where. */
  at: Tile,
  /** The whole damage, even if less health was left. */
  amount: Real,
  /** Which. */
  unit: Who,
};

/** A unit left the board. */
export type Death = {
  /** Where. */
  at: Tile,
  /** Which. */
  unit: Who,
  /** Whether its own player removed it. */
  removed: boolean,
};

/** A unit in an event. */
export type Who = {
  /** Its number. */
  id: number,
  /** Its kind. */
  kind: Kind,
  /** Its owner. */
  player: number,
};

/** The six kinds of units, in the order of the configuration. */
export type Kind = string;

/** A 32-bit float of the original, compared and stored by its bits. */
export type Real = number;

/** A tile of the arena.  Stored as a place in a padded grid 32 wide with spare rows below and above, so that the four neighbours of any tile are plain offsets inside a table of [`GRID`] entries. */
export type Tile = [number, number];
