"""A small collector: walk to the nearest diamonds, raise them, drop them before the end.

`agon rules jungle-blitz` shows the rules; what a tick holds is in game.py.
"""

from game import EMPTY, distance, neighbours

HIGHEST = 5


def decide(tick):
    """The actions of this tick, at most one for each unit."""
    free = [diamond for diamond in tick.diamonds if diamond.owner_id is None]
    actions = []
    for unit in tick.me.units:
        if not unit.has_spawned:
            actions.append(unit.act("SPAWN", spawn(unit, tick, free)))
        elif unit.diamond_id:
            actions.append(hold(unit, tick))
        elif free:
            target = min(free, key=lambda diamond: distance(unit.position, diamond.position))
            free.remove(target)
            actions.append(unit.act("MOVE", target.position))
    return actions


def hold(unit, tick):
    """With a diamond in hand: raise it as long as that pays, and drop it in the last tick."""
    level, ticks_left = tick.diamond(unit.diamond_id).level, tick.total - tick.number
    if ticks_left == 1 and not unit.is_summoning:
        taken = {other.position for other in tick.units}
        for tile in neighbours(unit.position):
            if tick.tile(tile) == EMPTY and tile not in taken:
                return unit.act("DROP", tile)
    elif not unit.is_summoning and level < HIGHEST and ticks_left > level + 3:
        return unit.act("SUMMON")
    return unit.act("NONE")


def spawn(unit, tick, diamonds):
    """A spawn tile near a diamond. Units take different ones, so that they do not stand in each other's way."""
    best = sorted(
        tick.spawns(),
        key=lambda tile: min((distance(tile, diamond.position) for diamond in diamonds), default=0),
    )
    return best[int(unit.id) % min(len(best), 4)]
