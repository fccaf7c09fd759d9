// A small strategy: turrets at the corners and in the middle, and demolishers and scouts when there are enough points.
// `agon rules terminal` shows the rules; what a turn offers is in terminal.js.

'use strict';

const terminal = require('./terminal.js');

const TURRETS = [[3, 12], [24, 12], [9, 10], [18, 10], [13, 11]];
const SUPPORTS = [[13, 3], [14, 3], [13, 4], [14, 4]];

class Strategy {
  start(config) {
    this.config = config;
    this.breached = { left: 0, right: 0 };
  }

  turn(turn) {
    // The side where the enemy comes through is built, and rebuilt, first.
    const turrets = this.breached.right > this.breached.left ? [...TURRETS].sort((a, b) => b[0] - a[0]) : TURRETS;
    for (const [x, y] of turrets) turn.build(this.config.turret, x, y);
    for (const [x, y] of SUPPORTS) turn.build(this.config.support, x, y);
    for (const [x, y] of [...turrets, ...SUPPORTS]) turn.upgrade(x, y);
    if (turn.mobilePoints >= 12) {
      const x = turn.number % 2 ? 13 : 14;
      turn.deploy(this.config.demolisher, x, 0, 2);
      turn.deploy(this.config.scout, x, 0, 1000);
    }
  }

  frame(frame) {
    for (const { at: [x], owner } of frame.events.breach) {
      if (owner === 2) this.breached[x < 14 ? 'left' : 'right']++;
    }
  }
}

module.exports = { Strategy };

if (require.main === module) terminal.run(new Strategy());
