"""The messages of Jungle Blitz as named types. Positions are (x, y); `agon docs jungle-blitz` describes every field."""

import json

EMPTY, WALL, SPAWN = "EMPTY", "WALL", "SPAWN"


class Tick:
    """The content of a TICK message: the whole map is visible."""

    def __init__(self, message):
        raw = json.loads(message)
        self.number = raw["tick"]
        self.total = raw["totalTick"]
        self.tiles = raw["map"]["tiles"]  # tiles[x][y]
        self.diamonds = [Diamond(diamond) for diamond in raw["map"]["diamonds"]]
        self.teams = [Team(team) for team in raw["teams"]]
        self.me = next(team for team in self.teams if team.id == raw["teamId"])
        self.units = [unit for team in self.teams for unit in team.units]

    def tile(self, position):
        """The tile there; a wall outside the map."""
        x, y = position
        inside = 0 <= x < len(self.tiles) and 0 <= y < len(self.tiles[0])
        return self.tiles[x][y] if inside else WALL

    def spawns(self):
        """All spawn tiles."""
        columns = enumerate(self.tiles)
        return [(x, y) for x, column in columns for y, tile in enumerate(column) if tile == SPAWN]

    def diamond(self, id):
        """The diamond with this id."""
        return next(diamond for diamond in self.diamonds if diamond.id == id)


class Team:
    def __init__(self, raw):
        self.id, self.name, self.score = raw["id"], raw["name"], raw["score"]
        self.errors = raw["errors"]  # what was wrong with its last command
        self.units = [Unit(unit) for unit in raw["units"]]


class Unit:
    def __init__(self, raw):
        self.id, self.team_id = raw["id"], raw["teamId"]
        self.has_spawned = raw["hasSpawned"]
        self.position = at(raw.get("position"))  # None before it has spawned
        self.path = [at(position) for position in raw["path"]]
        self.diamond_id = raw.get("diamondId")
        self.is_summoning = raw["isSummoning"]

    def act(self, action, target=None):
        """An entry of a command."""
        target = target and {"x": target[0], "y": target[1]}
        return {"type": "UNIT", "action": action, "unitId": self.id, "target": target}


class Diamond:
    def __init__(self, raw):
        self.id, self.position = raw["id"], at(raw["position"])
        self.level, self.points = raw["summonLevel"], raw["points"]
        self.owner_id = raw.get("ownerId")  # the unit that holds it


def at(raw):
    return raw and (raw["x"], raw["y"])


def distance(one, other):
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def neighbours(position):
    x, y = position
    return [(x, y - 1), (x, y + 1), (x - 1, y), (x + 1, y)]
