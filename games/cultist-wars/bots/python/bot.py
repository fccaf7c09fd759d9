"""A greedy Cultist Wars bot: convert, else shoot, else walk. `agon rules cultist-wars` shows the rules.

Above the line: reading the input, which you need not touch. Below it: what the bot does.
Answers go to standard output, one line a turn. Anything for yourself goes to standard error.
"""
import sys

NEUTRAL = 2
RANGE = 6


class Unit:
    """One line of the list of units."""

    def __init__(self, line):
        self.id, kind, self.hp, self.x, self.y, self.owner = map(int, line.split())
        self.leads = kind == 1


class Board:
    """What stays the same for the whole match."""

    def __init__(self, lines):
        self.me = int(next(lines))
        self.width, self.height = map(int, next(lines).split())
        rows = [next(lines) for _ in range(self.height)]
        self.walls = {(x, y) for y, row in enumerate(rows) for x, tile in enumerate(row) if tile == "x"}


def main():
    lines = iter(sys.stdin.readline, "")
    board = Board(lines)
    for count in lines:  # until the match is over
        units = [Unit(next(lines)) for _ in range(int(count))]
        print(answer(board, units), flush=True)


# ------------------------------------------------------------------ your strategy


def distance(a, b):
    return abs(a.x - b.x) + abs(a.y - b.y)


def between(a, b):
    """The tiles a shot from a to b passes; the line is drawn from the upper end (CW-SHOOT-4)."""
    if a.y > b.y:
        a, b = b, a
    x, y, dx, dy = a.x, a.y, abs(b.x - a.x), b.y - a.y
    step, err, tiles = (1 if a.x < b.x else -1), dx - dy, []
    while True:
        twice = 2 * err
        if twice > -dy:
            err, x = err - dy, x + step
        if twice < dx:
            err, y = err + dx, y + 1
        if (x, y) == (b.x, b.y):
            return tiles
        tiles.append((x, y))


def answer(board, units):
    """The order of this turn. Exactly one line: `WAIT`, `ID MOVE X Y`, `ID SHOOT TARGET` or `ID CONVERT TARGET`."""
    me = board.me
    leader = next((unit for unit in units if unit.leads and unit.owner == me), None)
    shooters = [unit for unit in units if not unit.leads and unit.owner == me]
    enemies = [unit for unit in units if unit.owner not in (me, NEUTRAL)]
    wanted = [unit for unit in units if unit.owner != me and not unit.leads]

    # 1. A cultist beside our leader becomes ours.
    if leader:
        for unit in sorted(wanted, key=lambda unit: unit.owner == NEUTRAL):
            if distance(leader, unit) == 1:
                return f"{leader.id} CONVERT {unit.id}"

    # 2. The shot that leaves its victim with the least health, if nothing is in the way.
    blocked = board.walls | {(unit.x, unit.y) for unit in units}
    shots = [
        (enemy.hp - 7 + distance(unit, enemy), unit.id, enemy.id)
        for unit in shooters
        for enemy in enemies
        if distance(unit, enemy) <= RANGE and not blocked.intersection(between(unit, enemy))
    ]
    if shots:
        _left, shooter, victim = min(shots)
        return f"{shooter} SHOOT {victim}"

    # 3. Our leader goes to the nearest neutral; the referee finds the way.
    neutrals = [unit for unit in wanted if unit.owner == NEUTRAL]
    if leader and neutrals:
        nearest = min(neutrals, key=lambda unit: distance(leader, unit))
        return f"{leader.id} CONVERT {nearest.id}"

    # 4. The cultist nearest to an enemy goes there.
    pairs = [(distance(unit, enemy), unit.id, enemy.x, enemy.y) for unit in shooters for enemy in enemies]
    if pairs:
        _steps, unit, x, y = min(pairs)
        return f"{unit} MOVE {x} {y}"
    print("nothing to do", file=sys.stderr)
    return "WAIT"


if __name__ == "__main__":
    main()
