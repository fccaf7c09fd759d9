"""What bots of 2021 work with: units, the map, directions."""

from collections import deque

from move import Move

STEPS = {"UP": (0, -1), "DOWN": (0, 1), "LEFT": (-1, 0), "RIGHT": (1, 0)}


def coordinate_from_direction(x, y, direction):
    """The tile next to (x, y) in a direction; None for anything that is no direction."""
    if direction not in STEPS:
        return None
    across, along = STEPS[direction]
    return x + across, y + along


class Unit:
    """A unit. `attr` holds everything the referee says of it."""

    def __init__(self, attr):
        self.attr = attr
        self.type = attr["type"]
        self.x = attr["x"]
        self.y = attr["y"]
        self.id = int(attr["id"])

    def position(self):
        """Its column and row."""
        return self.x, self.y

    def direction_to(self, pos):
        """The direction of a tile, rows before columns; None for its own tile."""
        x, y = pos
        if y != self.y:
            return "DOWN" if y > self.y else "UP"
        if x != self.x:
            return "RIGHT" if x > self.x else "LEFT"
        return None

    def move(self, *directions):
        """Walks."""
        return Move(self, *directions)

    def move_towards(self, pos):
        """Takes one step towards a tile, around nothing."""
        direction = self.direction_to(pos)
        return self.move(*([direction] if direction else []))

    def nearby_enemies_by_distance(self, enemy_units):
        """The enemies as (id as text, distance), nearest first."""
        distances = [
            (key, abs(enemy.x - self.x) + abs(enemy.y - self.y)) for key, enemy in enemy_units.units.items()
        ]
        return sorted(distances, key=lambda entry: entry[1])

    def attack(self, *directions):
        """Attacks in a direction."""
        return Move(self, "ATTACK", *directions)

    def can_attack(self, enemy_units):
        """The enemies beside it, as (unit, direction)."""
        found = []
        for enemy in enemy_units.units.values():
            direction = self.direction_to(enemy.position())
            if coordinate_from_direction(self.x, self.y, direction) == enemy.position():
                found.append((enemy, direction))
        return found

    def can_duplicate(self, resources, unit_type):
        """Whether it is an idle worker; None when the resources do not suffice for that type."""
        if self.type != "worker" or unit_type not in ("melee", "worker"):
            return False
        if self.attr[unit_type + "_cost"] > resources:
            return None
        return self.attr["duplication_status"] <= 0 and self.attr["mining_status"] <= 0

    def duplicate(self, direction, unit_type):
        """Makes a "melee" or a "worker" in a direction."""
        return Move(self, "DUPLICATE_M" if unit_type == "melee" else "DUPLICATE_W", direction)

    def can_mine(self, game_map):
        """Whether it is an idle worker on a resource tile."""
        return (
            self.type == "worker"
            and self.attr["mining_status"] <= 0
            and self.attr["duplication_status"] <= 0
            and bool(game_map.is_resource(self.x, self.y))
        )

    def mine(self):
        """Mines."""
        return Move(self, "MINE")

    def can_stun(self, enemy_units):
        """The enemies within two steps, as (unit, list of directions). Costs are not looked at."""
        found = []
        for enemy in enemy_units.units.values():
            x, y = enemy.position()
            down, right = y - self.y, x - self.x
            if 1 <= abs(down) + abs(right) <= 2:
                words = ["DOWN" if down > 0 else "UP"] * abs(down) + ["RIGHT" if right > 0 else "LEFT"] * abs(right)
                found.append((enemy, words))
        return found

    def stun(self, *directions):
        """Stuns along one or two directions, given one by one or as a list."""
        return Move(self, "STUN", *directions)


class Map:
    """The ground: rows of "X" (wall), "R" (resource) and " ". It shows no units."""

    def __init__(self, grid):
        self.grid = grid

    def get_tile(self, x, y):
        """What is on a tile."""
        return self.grid[y][x]

    def is_wall(self, x, y):
        """Whether a tile is a wall."""
        return self.grid[y][x].lower() == "x"

    def is_resource(self, x, y):
        """Whether a tile is a resource tile."""
        return self.grid[y][x].lower() == "r"

    def find_all_resources(self):
        """The resource tiles as (x, y), row by row."""
        return [(x, y) for y, row in enumerate(self.grid) for x in range(len(row)) if self.is_resource(x, y)]

    def closest_resources(self, unit):
        """The resource tile nearest to a unit as the crow flies; None where there is none."""
        return min(
            self.find_all_resources(),
            key=lambda tile: abs(tile[0] - unit.x) + abs(tile[1] - unit.y),
            default=None,
        )

    def bfs(self, start, dest):
        """A shortest way from start to dest as tiles, both included; units are not in the way.

        None where there is no way, where both are the same, and for a start in a wall or on the border.
        """
        start, dest = tuple(start), tuple(dest)
        height, width = len(self.grid), len(self.grid[0])
        inside = 0 < start[0] < width - 1 and 0 < start[1] < height - 1
        if start == dest or not inside or self.is_wall(*start):
            return None
        came_from = {start: None}
        queue = deque([start])
        while queue:
            tile = queue.popleft()
            if tile == dest:
                way = []
                while tile is not None:
                    way.append(tile)
                    tile = came_from[tile]
                return way[::-1]
            x, y = tile
            for after in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
                if after not in came_from and self._is_walkable(*after):
                    came_from[after] = tile
                    queue.append(after)
        return None

    def _is_walkable(self, x, y):
        return 0 <= y < len(self.grid) and 0 <= x < len(self.grid[y]) and not self.is_wall(x, y)


class Units:
    """Units by their id as text, in the order in which the referee names them."""

    def __init__(self, units):
        self.units = {str(attr["id"]): Unit(attr) for attr in units}
        self.resources = None

    def get_unit(self, unit_id):
        """The unit with an id."""
        return self.units[str(unit_id)]

    def get_all_unit_ids(self):
        """All ids, as text."""
        return list(self.units)

    def get_all_unit_of_type(self, unit_type):
        """The units of a type: "melee" or "worker"."""
        return [unit for unit in self.units.values() if unit.type == unit_type]
