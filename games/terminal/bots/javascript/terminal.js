// The protocol of Terminal: reads the lines of the game, writes the two lines of an answer.
//
// All decisions are in strategy.js. You always play from below: your half is rows 0 to 13.
// Print with console.error only: standard output is how you talk to the game.

'use strict';

const readline = require('node:readline');

// What the game writes for each event. `unit` is a name as in Config, `owner` 1 is you; `at` and `to` are [x, y].
const EVENTS = {
  spawn: ['at', 'unit', 'id', 'owner'], // also upgrades and removals: then unit is their name
  move: ['at', 'to', '_', 'unit', 'id', 'owner'],
  breach: ['at', 'amount', 'unit', 'id', 'owner'],
  damage: ['at', 'amount', 'unit', 'id', 'owner'],
  shield: ['at', 'to', 'amount', 'unit', 'id', 'target', 'owner'],
  attack: ['at', 'to', 'amount', 'unit', 'id', 'target', 'owner'],
  selfDestruct: ['at', 'tiles', 'amount', 'unit', 'id', 'owner'],
  death: ['at', 'unit', 'id', 'owner', 'removed'],
};

/** Whether (x, y) lies in the diamond. */
function inside(x, y) {
  if (y < 0 || y > 27) return false;
  return y < 14 ? 13 - y <= x && x <= 14 + y : y - 14 <= x && x <= 41 - y;
}

/** The configuration: what units are called and what they cost. */
class Config {
  constructor(raw) {
    this.raw = raw;
    this.units = raw.unitInformation;
    const names = this.units.map((unit) => unit.shorthand);
    [this.wall, this.support, this.turret, this.scout, this.demolisher, this.interceptor, this.remove, this.upgrade] =
      names;
    this.index = new Map(names.map((name, place) => [name, place]));
  }

  /** What a unit costs: structure points for structures, mobile points for mobile units. */
  cost(name) {
    const place = this.index.get(name);
    return (place >= 3 ? this.units[place].cost2 : this.units[place].cost1) ?? 0;
  }

  /** What the upgrade of a structure costs, or undefined. */
  upgradeCost(name) {
    const unit = this.units[this.index.get(name)];
    return unit.upgrade && (unit.upgrade.cost1 ?? unit.cost1 ?? 0);
  }
}

/** A deploy phase: what you see, and the orders you give. */
class Turn {
  constructor(config, state) {
    this.config = config;
    this.number = state.turnInfo[1];
    [this.health, this.structurePoints, this.mobilePoints] = state.p1Stats;
    [this.enemyHealth, this.enemyStructurePoints, this.enemyMobilePoints] = state.p2Stats;
    this.structures = new Map(); // 'x,y' -> { owner, name, health }
    this.upgraded = new Set(); // of 'x,y'
    this.leaving = new Set(); // marked for removal
    for (const [owner, lists] of [[1, state.p1Units], [2, state.p2Units]]) {
      for (let kind = 0; kind < 3; kind++) {
        for (const [x, y, health] of lists[kind]) {
          this.structures.set(`${x},${y}`, { owner, name: config.units[kind].shorthand, health });
        }
      }
      for (const [x, y] of lists[6]) this.leaving.add(`${x},${y}`);
      for (const [x, y] of lists[7]) this.upgraded.add(`${x},${y}`);
    }
    this.buildStack = [];
    this.deployStack = [];
  }

  /** Builds a structure in your half, if possible; returns whether it was. */
  build(name, x, y) {
    const cost = this.config.cost(name);
    if (!inside(x, y) || y > 13 || this.structures.has(`${x},${y}`) || cost > this.structurePoints) return false;
    this.structurePoints -= cost;
    this.structures.set(`${x},${y}`, { owner: 1, name, health: 0 });
    this.buildStack.push([name, x, y]);
    return true;
  }

  /** Upgrades a structure of yours, if possible; returns whether it was. */
  upgrade(x, y) {
    const at = `${x},${y}`;
    const structure = this.structures.get(at);
    const cost = structure?.owner === 1 ? this.config.upgradeCost(structure.name) : undefined;
    if (cost === undefined || this.upgraded.has(at) || cost > this.structurePoints) return false;
    this.structurePoints -= cost;
    this.upgraded.add(at);
    this.buildStack.push([this.config.upgrade, x, y]);
    return true;
  }

  /** Marks a structure of yours for removal. */
  remove(x, y) {
    this.buildStack.push([this.config.remove, x, y]);
  }

  /** Deploys up to `count` mobile units on one of your edges and returns how many were deployed. */
  deploy(name, x, y, count = 1) {
    const cost = this.config.cost(name);
    if ((x + y !== 13 && x - y !== 14) || this.structures.has(`${x},${y}`)) return 0;
    let done = 0;
    while (done < count && cost <= this.mobilePoints) {
      this.mobilePoints -= cost;
      this.deployStack.push([name, x, y]);
      done++;
    }
    return done;
  }
}

/** A moment of the action phase: what moves, and what happened. */
class Frame {
  constructor(config, state) {
    [, this.turn, this.number] = state.turnInfo;
    [this.health, this.enemyHealth] = [state.p1Stats[0], state.p2Stats[0]];
    this.mobiles = []; // each { at, unit, health, id, owner }
    for (const [owner, lists] of [[1, state.p1Units], [2, state.p2Units]]) {
      for (let kind = 3; kind < 6; kind++) {
        const unit = config.units[kind].shorthand;
        for (const [x, y, health, id] of lists[kind]) this.mobiles.push({ at: [x, y], unit, health, id, owner });
      }
    }
    this.events = {};
    for (const [name, fields] of Object.entries(EVENTS)) {
      this.events[name] = (state.events[name] ?? []).map((entry) => {
        const event = Object.fromEntries(fields.map((field, place) => [field, entry[place]]));
        return { ...event, unit: config.units[event.unit].shorthand };
      });
    }
  }
}

/**
 * What answers the lines of a match. `strategy` must have turn(turn); it may have start(config), frame(frame), and
 * end(stats): `stats.winner` is 1 if that is you. `say` takes what goes to the game.
 */
function talk(strategy, say) {
  let config;
  return (line) => {
    if (!line.trim()) return;
    const message = JSON.parse(line);
    if (message.unitInformation) {
      config = new Config(message);
      strategy.start?.(config);
      return;
    }
    const phase = message.turnInfo?.[0];
    if (phase === 0) {
      const turn = new Turn(config, message);
      strategy.turn(turn);
      say(`${JSON.stringify(turn.buildStack)}\n${JSON.stringify(turn.deployStack)}\n`);
    } else if (phase === 1) {
      strategy.frame?.(new Frame(config, message));
    } else if (phase === 2) {
      strategy.end?.(message.endStats);
    }
  };
}

/** Plays a match over standard input and output; it ends with the input. */
function run(strategy) {
  const hear = talk(strategy, (answer) => process.stdout.write(answer));
  readline.createInterface({ input: process.stdin }).on('line', hear);
}

module.exports = { inside, run, talk };
