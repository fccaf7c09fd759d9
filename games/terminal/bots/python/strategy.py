"""A small strategy: turrets at the corners and in the middle, and scouts when there are enough of them.

`agon rules terminal` shows the rules; what a turn offers is in terminal.py.
"""

import terminal

TURRETS = [(3, 12), (24, 12), (9, 10), (18, 10), (13, 11)]
WALLS = [(0, 13), (27, 13), (3, 13), (24, 13), (9, 11), (18, 11)]


class Strategy:
    """Remembers where the enemy came through, and puts turrets there."""

    def start(self, config):
        self.config = config
        self.breached = []

    def turn(self, turn):
        for x, y in TURRETS:
            turn.build(self.config.turret, x, y)
        for x, y in self.breached[-4:]:
            # One row in front of the tile, where it is inside the arena.
            turn.build(self.config.turret, x, min(y + 1, 13))
        for x, y in WALLS:
            turn.build(self.config.wall, x, y)
        for x, y in TURRETS:
            turn.upgrade(x, y)
        if turn.mobile_points >= 10:
            turn.deploy(self.config.scout, *((13, 0) if turn.number % 2 else (14, 0)), count=1000)

    def frame(self, frame):
        self.breached += [breach.at for breach in frame.events["breach"] if breach.owner == 2]


if __name__ == "__main__":
    terminal.run(Strategy())
