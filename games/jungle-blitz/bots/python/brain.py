"""A small collector: walk to the nearest diamonds, raise them, drop them before the end."""


def decide(tick):
    """The list of actions for a TICK message."""
    teams = {team["id"]: team for team in tick["teams"]}
    me = teams[tick["teamId"]]
    units = [unit for team in tick["teams"] for unit in team["units"]]
    taken_tiles = {at(unit) for unit in units if unit["hasSpawned"]}
    free_diamonds = [diamond for diamond in tick["map"]["diamonds"] if diamond.get("ownerId") is None]
    diamonds = {diamond["id"]: diamond for diamond in tick["map"]["diamonds"]}
    last = tick["tick"] >= tick["totalTick"] - 1
    actions = []
    for unit in me["units"]:
        if not unit["hasSpawned"]:
            actions.append(spawn(unit, tick, free_diamonds))
        elif unit["hasDiamond"]:
            diamond = diamonds[unit["diamondId"]]
            actions.append(hold(unit, diamond, tick, taken_tiles, last))
        elif free_diamonds:
            target = min(free_diamonds, key=lambda diamond: distance(at(unit), at(diamond)))
            free_diamonds.remove(target)
            actions.append(action(unit, "MOVE", at(target)))
    return actions


def hold(unit, diamond, tick, taken_tiles, last):
    """With a diamond in hand: raise it as long as that pays, and drop it in the last tick."""
    level = diamond["summonLevel"]
    time_left = tick["totalTick"] - tick["tick"]
    if last:
        for tile in neighbours(at(unit), tick["map"]["tiles"]):
            if tile not in taken_tiles:
                return action(unit, "DROP", tile)
    elif not unit["isSummoning"] and level < 5 and time_left > level + 3:
        return action(unit, "SUMMON")
    return action(unit, "NONE")


def spawn(unit, tick, diamonds):
    """Come up on the spawn tile with a diamond nearest to it."""
    tiles = tick["map"]["tiles"]
    spawns = [(x, y) for x, column in enumerate(tiles) for y, tile in enumerate(column) if tile == "SPAWN"]
    # Units differ in their tile, so that they do not get into each other's way.
    spawns.sort(key=lambda tile: min((distance(tile, at(diamond)) for diamond in diamonds), default=0))
    return action(unit, "SPAWN", spawns[int(unit["id"]) % min(len(spawns), 4)])


def neighbours(tile, tiles):
    """The EMPTY tiles beside a tile."""
    x, y = tile
    around = [(x, y - 1), (x, y + 1), (x - 1, y), (x + 1, y)]
    inside = [(x, y) for x, y in around if 0 <= x < len(tiles) and 0 <= y < len(tiles[0])]
    return [(x, y) for x, y in inside if tiles[x][y] == "EMPTY"]


def action(unit, name, target=None):
    target = None if target is None else {"x": target[0], "y": target[1]}
    return {"type": "UNIT", "action": name, "unitId": unit["id"], "target": target}


def at(thing):
    return thing["position"]["x"], thing["position"]["y"]


def distance(one, other):
    return abs(one[0] - other[0]) + abs(one[1] - other[1])
