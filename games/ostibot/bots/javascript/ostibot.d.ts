// What a script for Ostibot exports, is called with, and returns. In a script:
//
//   /** @type {import("./ostibot").Script} */
//   export const script = { play(input) { return { actions: [] }; } };

/** What a bot exports as `script`. `State` is what it wants to remember: any JSON value. */
export interface Script<State = any> {
  /** Called at the start of each round. Without it nothing is bought. */
  shop?(input: ShopInput<State>): ShopAnswer<State> | Promise<ShopAnswer<State>>;
  /** Called every turn in which the team has an adventurer on the map. */
  play?(input: PlayInput<State>): PlayAnswer<State> | Promise<PlayAnswer<State>>;
}

export interface ShopInput<State = any> {
  /** The team's id. */
  you: TeamId;
  rules: Rules;
  /** All teams in the order of play of this round. */
  teams: Team[];
  /** The team's own adventurers. */
  adventurers: OwnAdventurer[];
  /** From 1. */
  round: number;
  teamsGold: Record<TeamId, number>;
  /** What was returned last; absent before that. */
  state?: State;
}

export interface PlayInput<State = any> {
  you: TeamId;
  rules: Rules;
  teams: Team[];
  gameState: GameState;
  state?: State;
}

interface Answer<Action, State> {
  actions?: Action[];
  /** Comes back with the next input; at most 1 MiB of JSON. Without it the old one stays. */
  state?: State;
  /** A note for the replay. */
  error?: string;
}
export type ShopAnswer<State = any> = Answer<ShopAction, State>;
export type PlayAnswer<State = any> = Answer<PlayAction, State>;

export type ShopAction =
  | { buy: { adventurerId: string; itemType: ItemType | (string & {}); equip?: boolean } }
  | { sell: { adventurerId: string; itemId: string } }
  | { equip: { adventurerId: string; itemId: string } }
  | { unequip: { adventurerId: string; itemId: string } }
  | { transfer: { from: string; to: string; itemId: string } };

/** One of `move` and `use`. Only the first action of an adventurer counts. */
export type PlayAction =
  | { adventurerId: string; move: { direction: Direction; reason?: string }; use?: undefined }
  | { adventurerId: string; use: { itemId: string; reason?: string }; move?: undefined };

/** The digit of the team's spawners: `"1"`. */
export type TeamId = string;
export type Direction = "UP" | "DOWN" | "LEFT" | "RIGHT";
export type Slot = "weapon" | "armor" | "accessory";
export type ItemType =
  | "rusty_sword" | "steel_blade" | "enchanted_axe"
  | "leather_vest" | "chainmail" | "plate_armor"
  | "scouts_binocular" | "speed_boots" | "big_boots"
  | "health_potion" | "greater_health_potion";

export interface Team {
  id: TeamId;
  name: string;
}

/** The origin is the top left corner: UP is y - 1. */
export interface Position {
  x: number;
  y: number;
}

export interface Item {
  id: string;
  itemType: ItemType;
  name: string;
  slot: Slot | "consumable";
}

export interface Adventurer {
  id: string;
  type: "adventurer";
  teamId: TeamId;
  position: Position;
  hp: number;
  maxHp: number;
  /** Carried gold; the team has it once the adventurer has left through a portal. */
  gold: number;
  /** With its weapon. */
  damage: number;
  /** Damage of other adventurers that is kept off. */
  armor: number;
  /** In cells. */
  vision: number;
  equipment: Record<Slot, Item | null>;
  /** Of adventurers of the own team only. */
  inventory?: Item[];
}
export interface OwnAdventurer extends Adventurer {
  inventory: Item[];
}

interface Thing {
  id: string;
  position: Position;
  hp: number;
  maxHp: number;
}
export interface Portal extends Thing {
  type: "portal";
  /** Whether it can be left through. */
  open: boolean;
}
export interface Chest extends Thing {
  type: "chest";
}
export interface Vase extends Thing {
  type: "vase";
}
export interface Door extends Thing {
  type: "door";
}
export interface Gold {
  id: string;
  type: "gold";
  position: Position;
  amount: number;
}
export interface GroundItem {
  id: string;
  type: "item";
  position: Position;
  item: Item;
}
export interface Corruption {
  id: string;
  type: "corruption";
  position: Position;
}
export type Entity = Adventurer | Portal | Chest | Vase | Door | Gold | GroundItem | Corruption;

export interface GameState {
  round: number;
  /** From 1. */
  turn: number;
  width: number;
  height: number;
  /** The ground, row by row: `#` wall, `.` floor, digits spawners, `H` health tile, `S` spikes, `~` ice,
   * `^v<>` treadmills, `?` not seen. */
  map: string[];
  teamsGold: Record<TeamId, number>;
  /** All that is seen, sorted by row, column and id. */
  entities: Entity[];
  /** The adventurers among the entities, own and others. */
  adventurers: Adventurer[];
}

export interface Rules {
  nbRounds: number;
  startingGold: number;
  timeout: number;
  adventurersPerRound: number;
  adventurerHp: number;
  adventurerDamage: number;
  blockDamage: number;
  visionLength: number;
  spawnerVision: number;
  corruptionStartAt: number;
  corruptionSpreadSpeed: number;
  corruptionDamage: number;
  spikeDamage: number;
  portalHp: number;
  chestHp: number;
  chestGold: number;
  vaseHp: number;
  vaseGold: number;
  doorHp: number;
  goldPile: number;
  healCost: number;
  sellRatio: number;
  maxTurns: number;
  slideBumps: boolean;
  visionMetric: "radius" | "manhattan" | "chebyshev";
  revealTerrain: boolean;
  items: Record<ItemType, { name: string; slot: Slot | "consumable"; cost: number; bonus: number; refund: number }>;
}
