"""The protocol of Ostibot: a line of JSON in, a line of JSON out. All decisions are in strategy.py.

Positions are (x, y) from the top left corner. `agon docs ostibot` describes every field.
Print to standard error only: standard output is how you talk to the game.
"""

import json
import sys

STEPS = {"UP": (0, -1), "DOWN": (0, 1), "LEFT": (-1, 0), "RIGHT": (1, 0)}


class Rules:
    """The numbers of this match: `rules["corruptionStartAt"]`, and `rules["items"]` for what the shop sells."""

    def __init__(self, raw):
        self.raw = raw

    def __getitem__(self, name):
        return self.raw[name]


class Entity:
    """A thing on the map: `type` is adventurer, portal, chest, vase, door, gold, item or corruption."""

    def __init__(self, raw):
        self.raw, self.id, self.type = raw, raw["id"], raw["type"]
        self.position = raw["position"]["x"], raw["position"]["y"]
        self.hp = raw.get("hp")  # of what can be broken
        self.open = raw.get("open")  # of portals


class Adventurer(Entity):
    def __init__(self, raw):
        super().__init__(raw)
        self.team = raw["teamId"]
        self.max_hp, self.gold = raw["maxHp"], raw["gold"]
        self.damage, self.armor, self.vision = raw["damage"], raw["armor"], raw["vision"]
        self.equipment = raw["equipment"]  # weapon, armor, accessory
        self.inventory = raw.get("inventory", [])  # known of your own only

    def move(self, direction):
        """Takes one step, or hits what stands there."""
        return {"adventurerId": self.id, "move": {"direction": direction}}

    def use(self, item):
        return {"adventurerId": self.id, "use": {"itemId": item["id"]}}

    def buy(self, item_type):
        """For the shop. Equipment is put on at once."""
        return {"buy": {"adventurerId": self.id, "itemType": item_type, "equip": True}}


class Shop:
    """A visit to the shop, before each round."""

    def __init__(self, raw):
        self.you, self.rules, self.round = raw["you"], Rules(raw["rules"]), raw["round"]
        self.gold = raw["teamsGold"][self.you]
        self.adventurers = [Adventurer(one) for one in raw["adventurers"]]


class View:
    """What your adventurers see in a turn."""

    def __init__(self, raw):
        self.you, self.rules = raw["you"], Rules(raw["rules"])
        state = raw["gameState"]
        self.round, self.turn = state["round"], state["turn"]
        self.width, self.height = state["width"], state["height"]
        self.map = state["map"]  # map[y][x]; `agon docs ostibot` has the legend
        self.gold = state["teamsGold"]
        self.entities = [Entity(one) for one in state["entities"]]
        self.adventurers = [Adventurer(one) for one in state["adventurers"]]
        self.mine = [one for one in self.adventurers if one.team == self.you]

    def ground(self, position):
        """The ground there; a wall outside the map."""
        x, y = position
        return self.map[y][x] if 0 <= x < self.width and 0 <= y < self.height else "#"


def run(strategy):
    """Plays a match. `strategy` must have play(view); it may have shop(shop). Both give a list of actions."""
    for line in sys.stdin:
        question = json.loads(line)
        if question["phase"] == "play":
            actions = strategy.play(View(question["input"]))
        else:
            actions = getattr(strategy, "shop", lambda _: [])(Shop(question["input"]))
        print(json.dumps({"actions": actions}), flush=True)
