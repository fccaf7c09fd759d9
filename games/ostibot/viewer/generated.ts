// Made from the types of games/ostibot/src by its test; UPDATE_TYPES=1 makes it anew.

/** The whole state. */
export type Scene = {
  /** The current moment of the match, in words. */
  moment: string, round: number, turn: number, phase: Phase,
  /** The teams in the order of this round. */
  orderOfPlay: Array<number>,
  /** The teams that must answer now. */
  asked: Array<number>, width: number, height: number,
  /** The rows of the map. */
  map: Array<string>,
  /** Whether no spawner burns. */
  spawnersStand: boolean,
  /** The gold of each team. */
  teamsGold: Array<number>, adventurers: Array<Adventurer>, objects: Array<Thing>,
  /** Gold on the ground. */
  gold: Array<Pile>,
  /** Items on the ground. */
  items: Array<Lying>, fire: Array<Cell>,
  /** What each team sees, for each row of the map a bit set in hexadecimal, the lowest bit for column 0. */
  sight: Array<string>,
};

export type Phase = "shop" | "play" | "over";

/** An adventurer on the map or escaped. */
export type Adventurer = { id: AdventurerId, team: number,
  /** Null for those who escaped. */
  position: Cell | null, escaped: boolean, hp: number, maxHp: number, gold: number, damage: number, armor: number, vision: number, worn: Array<Item>, inventory: Array<Item>,
};

/** The name of an adventurer, `a1`; numbers rise through the match and are never reused. */
export type AdventurerId = string;

export type Item = { id: ItemId, itemType: Kind,
  /** Its name for people. */
  name: string,
};

/** The name of an item, `i1`; numbers rise through the match and are never reused. */
export type ItemId = string;

/** An object that can be hit. */
export type Thing = { id: string, type: 'portal' | 'chest' | 'vase' | 'door', position: Cell, hp: number, maxHp: number,
};

export type Pile = { position: Cell, amount: number,
};

export type Lying = { position: Cell, item: Item,
};

/** A cell of the board, counted row by row in rows of [`SIDE`], whatever the size of the map. */
export type Cell = { x: number, y: number
};

/** A kind of item. Its price and its bonus are rules. */
export type Kind = "rusty_sword" | "steel_blade" | "enchanted_axe" | "leather_vest" | "chainmail" | "plate_armor" | "scouts_binocular" | "speed_boots" | "big_boots" | "health_potion" | "greater_health_potion";

/** What happened. Serialised as `{"event":"moved",...}`. */
export type Event = { "event": "roundBegan", round: number, } | { "event": "spawned", who: AdventurerId, team: string, at: Cell, returns: boolean, } | { "event": "bought", who: AdventurerId, item: ItemId, kind: Kind, cost: number, } | { "event": "sold", who: AdventurerId, item: ItemId, kind: Kind, refund: number, } | { "event": "putOn", who: AdventurerId, item: ItemId, } | { "event": "tookOff", who: AdventurerId, item: ItemId, } | { "event": "handed", from: AdventurerId, to: AdventurerId, item: ItemId, } | { "event": "moved", who: AdventurerId, to: Cell, } | { "event": "gaveGold", from: AdventurerId, to: AdventurerId, amount: number, } | { "event": "tookGold", who: AdventurerId, amount: number, } | { "event": "tookItem", who: AdventurerId, item: ItemId, } | { "event": "fought", who: AdventurerId, target: AdventurerId, damage: number, } | { "event": "struck", who: AdventurerId, target: string, damage: number, } | { "event": "hurt", who: AdventurerId, by: Harm, damage: number, hp: number, } | { "event": "healed", who: AdventurerId, paid: number, hp: number, } | { "event": "usedUp", who: AdventurerId, item: ItemId, } | { "event": "broke", what: string, gold: number, } | { "event": "opened", portal: string, } | { "event": "died", who: AdventurerId, at: Cell, gold: number, } | { "event": "escaped", who: AdventurerId, portal: string, gold: number, } | { "event": "fireBegan" } | { "event": "fireSpread", cells: number, } | { "event": "scorched", what: string, damage: number, } | { "event": "roundEnded", round: number, lost: number, leftBehind: number, } | { "event": "finalSale", team: string, item: ItemId, kind: Kind, refund: number, } | { "event": "said", who: AdventurerId, reason: string, } | { "event": "complained", team: string, error: string,
};

/** What hurts adventurers. */
export type Harm = "block" | "spikes" | "enemy" | "fire";
