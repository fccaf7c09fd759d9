"""A first bot: workers mine, everybody hits what stands beside it, melees go and look for trouble.

It works under all three rule presets; the helper modules come with the program. `agon rules deerhunt` shows the rules.
"""

from helper_classes import *

DIRECTIONS = ("UP", "DOWN", "LEFT", "RIGHT")


class GridPlayer:
    """The program makes one of these for a match, and calls `tick` before each of its half-turns."""

    def __init__(self):
        self.home = None

    def tick(self, game_map, your_units, enemy_units, resources, turns_left):
        """Returns the moves of this half-turn, one for each unit that should act."""
        mine = list(your_units.units.values())
        if self.home is None:
            self.home = mine[0].position()
        self.game_map = game_map
        self.taken = {unit.position() for unit in mine + list(enemy_units.units.values())}
        self.claimed = {unit.position() for unit in mine if unit.attr.get("mining_status", 0) > 0}
        self.purse = resources
        self.health = {enemy.id: enemy.attr.get("hp", 1) for enemy in enemy_units.units.values()}

        moves = []
        for unit in mine:
            if not self.is_busy(unit):
                move = self.decide(unit, enemy_units)
                if move is not None:
                    moves.append(move)
        return moves

    def is_busy(self, unit):
        """Whether a unit cannot act now. Under the document's rules, a list that names such a unit is void."""
        timers = ("mining_status", "duplication_status", "stun_status")
        return any(unit.attr.get(timer, 0) > 0 for timer in timers)

    def decide(self, unit, enemy_units):
        """What one unit does."""
        # Under the document's rules, whose units have health, only melees can attack.
        if unit.type == "melee" or "hp" not in unit.attr:
            for enemy, direction in unit.can_attack(enemy_units):
                if self.health.get(enemy.id, 0) > 0:
                    self.health[enemy.id] -= 1
                    return unit.attack(direction)
        child = self.duplicate(unit)
        if child is not None:
            return child
        if unit.type == "worker":
            if unit.can_mine(self.game_map):
                return unit.mine()
            return self.walk(unit, self.nearest_resource(unit))
        nearest = unit.nearby_enemies_by_distance(enemy_units)
        if nearest:
            return self.walk(unit, enemy_units.get_unit(nearest[0][0]).position())
        # The map is mirrored: the enemy's home is below or above one's own.
        return self.walk(unit, (self.home[0], len(self.game_map.grid) - 1 - self.home[1]))

    def duplicate(self, unit):
        """Makes a melee as soon as it can be paid for."""
        is_2021 = "stun_status" in unit.attr
        cost = unit.attr.get("melee_cost", unit.attr.get("resource_cost"))
        able = unit.can_duplicate(self.purse, "melee") if is_2021 else unit.can_duplicate(self.purse)
        for direction in DIRECTIONS if able else ():
            place = coordinate_from_direction(unit.x, unit.y, direction)
            if self.is_free(place) and not self.game_map.is_resource(*place):
                self.purse -= cost
                self.taken.add(place)
                return unit.duplicate(direction, "melee") if is_2021 else unit.duplicate(direction)
        return None

    def nearest_resource(self, unit):
        """The nearest resource tile that no other worker of ours goes to."""
        tiles = [tile for tile in self.game_map.find_all_resources() if tile not in self.claimed]
        if not tiles:
            return None
        best = min(tiles, key=lambda tile: abs(tile[0] - unit.x) + abs(tile[1] - unit.y))
        self.claimed.add(best)
        return best

    def walk(self, unit, goal):
        """One step on a shortest way to a tile, if nobody stands there."""
        way = self.game_map.bfs(unit.position(), goal) if goal else None
        if way is None or not self.is_free(way[1]):
            return None
        self.taken.discard(unit.position())
        self.taken.add(way[1])
        return unit.move_towards(way[1])

    def is_free(self, place):
        """Whether a unit could stand on a tile."""
        return place not in self.taken and not self.game_map.is_wall(*place)
