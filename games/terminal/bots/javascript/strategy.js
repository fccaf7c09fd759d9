// A small strategy: turrets at the corners and in the middle, and demolishers and scouts when there are enough points.
// `agon rules terminal` shows the rules; what a turn offers is in terminal.js.

'use strict';

const terminal = require('./terminal.js');

const TURRETS = [[3, 12], [24, 12], [9, 10], [18, 10], [13, 11]];
const SUPPORTS = [[13, 3], [14, 3], [13, 4], [14, 4]];

class Strategy {
  start(config) {
    this.config = config;
  }

  turn(turn) {
    for (const [x, y] of TURRETS) turn.build(this.config.turret, x, y);
    for (const [x, y] of SUPPORTS) turn.build(this.config.support, x, y);
    for (const [x, y] of [...TURRETS, ...SUPPORTS]) turn.upgrade(x, y);
    if (turn.mobilePoints >= 12) {
      const x = turn.number % 2 ? 13 : 14;
      turn.deploy(this.config.demolisher, x, 0, 2);
      turn.deploy(this.config.scout, x, 0, 1000);
    }
  }
}

module.exports = { Strategy };

if (require.main === module) terminal.run(new Strategy());
