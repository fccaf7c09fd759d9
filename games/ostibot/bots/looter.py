"""An example bot for Ostibot in Python: a line of JSON in, a line of JSON out.

Each adventurer goes to the nearest gold it has seen, and to a portal before the fire. A process lives
as long as the match, so it could remember by itself; `state` shows how a bot is given back what it
returned.
"""

import json
import sys
from collections import deque

STEPS = {"UP": (0, -1), "DOWN": (0, 1), "LEFT": (-1, 0), "RIGHT": (1, 0)}


def key(x, y):
    return f"{x},{y}"


def shop(request):
    return {"actions": [], "state": {"round": request["round"], "seen": {}, "looked": {}}}


def play(request):
    game, you = request["gameState"], request["you"]
    memory = remember(request.get("state"), game, you)
    own = [one for one in game["adventurers"] if one["teamId"] == you]
    taken = {key(**one["position"]) for one in own}
    leaving = game["turn"] >= request["rules"]["corruptionStartAt"] - 6
    wanted = ["portal"] if leaving else ["gold", "item", "chest", "vase"]
    actions = []
    for one in own:
        step = way(game, memory, one, taken, lambda cell: memory["seen"].get(cell) in wanted)
        step = step or way(game, memory, one, taken, lambda cell: cell not in memory["looked"])
        if step:
            direction, cell = step
            taken.discard(key(**one["position"]))
            taken.add(cell)
            actions.append({"adventurerId": one["id"], "move": {"direction": direction}})
    return {"actions": actions, "state": memory}


def remember(old, game, you):
    """Adds what is seen to what was seen in this round."""
    memory = old if old and old["round"] == game["round"] else {"round": game["round"], "seen": {}, "looked": {}}
    for one in game["adventurers"]:
        if one["teamId"] == you:
            at = one["position"]
            for y in range(at["y"] - 2, at["y"] + 3):
                for x in range(at["x"] - 2, at["x"] + 3):
                    memory["looked"][key(x, y)] = True
                    memory["seen"].pop(key(x, y), None)
    for entity in game["entities"]:
        if entity["type"] not in ("adventurer", "corruption"):
            memory["seen"][key(**entity["position"])] = entity["type"]
    return memory


def way(game, memory, one, taken, wanted):
    """The first step on a shortest way to a cell that is wanted."""
    start = (one["position"]["x"], one["position"]["y"])
    reached, queue = {start}, deque([(start, None)])
    while queue:
        (x, y), first = queue.popleft()
        if first and wanted(key(x, y)):
            return first
        if first and memory["seen"].get(key(x, y)) in ("chest", "vase", "portal"):
            continue
        for direction, (dx, dy) in STEPS.items():
            there = (x + dx, y + dy)
            inside = 0 <= there[0] < game["width"] and 0 <= there[1] < game["height"]
            if not inside or there in reached or game["map"][there[1]][there[0]] in "#HS123456789":
                continue
            if first is None and key(*there) in taken:
                continue
            reached.add(there)
            queue.append((there, first or (direction, key(*there))))
    return None


for line in sys.stdin:
    question = json.loads(line)
    answer = {"shop": shop, "play": play}[question["phase"]](question["input"])
    print(json.dumps(answer, separators=(",", ":")), flush=True)
