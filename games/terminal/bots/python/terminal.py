"""The protocol of Terminal: reads the lines of the game, writes the two lines of an answer.

All decisions are in strategy.py. You always play from below: your half is rows 0 to 13.
Print to standard error only: standard output is how you talk to the game.
"""

import json
import sys
from types import SimpleNamespace

# What the game writes for each event. `unit` is a name as in Config, `owner` 1 is you; `at` and `to` are (x, y).
EVENTS = {
    "spawn": "at unit id owner",  # also upgrades and removals: then unit is their name
    "move": "at to _ unit id owner",
    "breach": "at amount unit id owner",
    "damage": "at amount unit id owner",
    "shield": "at to amount unit id target owner",
    "attack": "at to amount unit id target owner",
    "selfDestruct": "at tiles amount unit id owner",
    "death": "at unit id owner removed",
}


def inside(x, y):
    """Whether (x, y) lies in the diamond."""
    return 13 - y <= x <= 14 + y if 0 <= y < 14 else y - 14 <= x <= 41 - y and 14 <= y < 28


class Config:
    """The configuration: what units are called and what they cost."""

    def __init__(self, raw):
        self.raw = raw
        self.units = raw["unitInformation"]
        names = [unit["shorthand"] for unit in self.units]
        self.wall, self.support, self.turret = names[:3]
        self.scout, self.demolisher, self.interceptor = names[3:6]
        self.remove, self.upgrade = names[6:8]
        self.index = {name: place for place, name in enumerate(names)}

    def cost(self, name):
        """What a unit costs: structure points for structures, mobile points for mobile units."""
        unit = self.units[self.index[name]]
        return unit.get("cost2" if self.index[name] >= 3 else "cost1", 0)

    def upgrade_cost(self, name):
        """What the upgrade of a structure costs, or None."""
        unit = self.units[self.index[name]]
        return unit["upgrade"].get("cost1", unit.get("cost1", 0)) if "upgrade" in unit else None


class Turn:
    """A deploy phase: what you see, and the orders you give."""

    def __init__(self, config, state):
        self.config = config
        self.number = state["turnInfo"][1]
        self.health, self.structure_points, self.mobile_points = state["p1Stats"][:3]
        self.enemy_health, self.enemy_structure_points, self.enemy_mobile_points = state["p2Stats"][:3]
        self.structures = {}  # (x, y) -> (owner, name, health)
        self.upgraded = set()  # of (x, y)
        self.leaving = set()  # marked for removal
        for owner, lists in ((1, state["p1Units"]), (2, state["p2Units"])):
            for kind in range(3):
                for x, y, health, _ in lists[kind]:
                    self.structures[x, y] = (owner, config.units[kind]["shorthand"], health)
            self.leaving.update((x, y) for x, y, _, _ in lists[6])
            self.upgraded.update((x, y) for x, y, _, _ in lists[7])
        self.build_stack, self.deploy_stack = [], []

    def build(self, name, x, y):
        """Builds a structure in your half. Returns whether that is possible."""
        cost = self.config.cost(name)
        if not inside(x, y) or y > 13 or (x, y) in self.structures or cost > self.structure_points:
            return False
        self.structure_points -= cost
        self.structures[x, y] = (1, name, 0)
        self.build_stack.append([name, x, y])
        return True

    def upgrade(self, x, y):
        """Upgrades a structure of yours. Returns whether that is possible."""
        owner, name, _ = self.structures.get((x, y), (0, None, 0))
        cost = self.config.upgrade_cost(name) if owner == 1 else None
        if cost is None or (x, y) in self.upgraded or cost > self.structure_points:
            return False
        self.structure_points -= cost
        self.upgraded.add((x, y))
        self.build_stack.append([self.config.upgrade, x, y])
        return True

    def remove(self, x, y):
        """Marks a structure of yours for removal."""
        self.build_stack.append([self.config.remove, x, y])

    def deploy(self, name, x, y, count=1):
        """Deploys up to `count` mobile units on one of your edges. Returns how many were deployed."""
        done, cost = 0, self.config.cost(name)
        on_edge = x + y == 13 or x - y == 14
        while on_edge and done < count and cost <= self.mobile_points and (x, y) not in self.structures:
            self.mobile_points -= cost
            self.deploy_stack.append([name, x, y])
            done += 1
        return done


class Frame:
    """A moment of the action phase: what moves, and what happened."""

    def __init__(self, config, state):
        self.turn, self.number = state["turnInfo"][1:3]
        self.health, self.enemy_health = state["p1Stats"][0], state["p2Stats"][0]
        self.mobiles = []  # each with at, unit, health, id and owner
        for owner, lists in ((1, state["p1Units"]), (2, state["p2Units"])):
            for kind in range(3, 6):
                name = config.units[kind]["shorthand"]
                for x, y, health, id in lists[kind]:
                    self.mobiles.append(SimpleNamespace(at=(x, y), unit=name, health=health, id=id, owner=owner))
        self.events = {
            name: [event(config, fields.split(), entry) for entry in state["events"].get(name, [])]
            for name, fields in EVENTS.items()
        }


def event(config, fields, entry):
    """An event with named fields."""
    named = SimpleNamespace(**dict(zip(fields, entry)))
    named.at, named.unit = tuple(named.at), config.units[named.unit]["shorthand"]
    if "to" in fields:
        named.to = tuple(named.to)
    return named


def run(strategy):
    """Plays a match. `strategy` must have turn(turn); it may have start(config), frame(frame), and end(stats).

    `stats` says how the match ended: `stats["winner"]` is 1 if that is you.
    """
    config = None
    for line in sys.stdin:
        if not line.strip():
            continue
        message = json.loads(line)
        if "unitInformation" in message:
            config = Config(message)
            getattr(strategy, "start", lambda _: None)(config)
            continue
        phase = message.get("turnInfo", [None])[0]
        if phase == 0:
            turn = Turn(config, message)
            strategy.turn(turn)
            print(json.dumps(turn.build_stack))
            print(json.dumps(turn.deploy_stack), flush=True)
        elif phase == 1:
            getattr(strategy, "frame", lambda _: None)(Frame(config, message))
        elif phase == 2:
            getattr(strategy, "end", lambda _: None)(message["endStats"])
            break
