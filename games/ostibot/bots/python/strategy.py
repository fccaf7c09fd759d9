"""A looter: each adventurer goes to the nearest gold it has seen, and to a portal before the fire.

`agon rules ostibot` shows the rules; what a view holds is in game.py.
"""

from collections import deque

import game

BLOCKED = "#HS123456789"  # what it does not walk on: walls, health tiles, spikes, spawners
ENDS = ("chest", "vase", "portal")  # what is in the way; doors are on the way


class Strategy:
    """One object plays the whole match, so it can remember what it likes."""

    def __init__(self):
        self.round = None

    def shop(self, shop):
        """A potion for the first adventurer, when there is gold to spare."""
        rich = shop.adventurers and shop.gold >= 20
        return [shop.adventurers[0].buy("health_potion")] if rich else []

    def play(self, view):
        self.remember(view)
        taken = {one.position for one in view.mine}
        leaving = view.turn >= view.rules["corruptionStartAt"] - 6
        wanted = ("portal",) if leaving else ("gold", "item", "chest", "vase")
        actions = []
        for one in view.mine:
            potion = next((item for item in one.inventory if item["slot"] == "consumable"), None)
            if potion and one.hp <= 40:
                actions.append(one.use(potion))
                continue
            step = self.way(view, one, taken, lambda cell: self.seen.get(cell) in wanted)
            step = step or self.way(view, one, taken, lambda cell: cell not in self.looked)
            if step:
                direction, cell = step
                taken.discard(one.position)
                taken.add(cell)
                actions.append(one.move(direction))
        return actions

    def remember(self, view):
        """Adds what is seen now to what was seen earlier in this round."""
        if view.round != self.round:
            self.round, self.seen, self.looked = view.round, {}, set()
        for one in view.mine:
            # Only nearby cells are certain to be seen: forget what was there and is gone.
            x, y = one.position
            near = {(x + dx, y + dy) for dx in range(-2, 3) for dy in range(-2, 3)}
            self.looked |= near
            self.seen = {cell: kind for cell, kind in self.seen.items() if cell not in near}
        for entity in view.entities:
            if entity.type not in ("adventurer", "corruption"):
                self.seen[entity.position] = entity.type

    def way(self, view, one, taken, wanted):
        """The first step on a shortest way to a cell that is wanted, as (direction, cell)."""
        reached, queue = {one.position}, deque([(one.position, None)])
        while queue:
            cell, first = queue.popleft()
            if first and wanted(cell):
                return first
            if first and self.seen.get(cell) in ENDS:
                continue
            for direction, (dx, dy) in game.STEPS.items():
                there = cell[0] + dx, cell[1] + dy
                if there in reached or view.ground(there) in BLOCKED or (first is None and there in taken):
                    continue
                reached.add(there)
                queue.append((there, first or (direction, there)))
        return None


if __name__ == "__main__":
    game.run(Strategy())
