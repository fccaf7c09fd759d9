"""Feeds the bot recorded states and small situations. Run it with `python3 test/test_grid_player.py`.

`test/input.txt` is what a bot in seat 1 really read: the first half-turns of a match. Take one of your own:
agon replay export FILE.replay --input --seat 1 > test/input.txt
"""
import json
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE / "client")]

from grid_player import GridPlayer  # noqa: E402
from helper_classes import Map, Units  # noqa: E402

RECORDED = [json.loads(line) for line in (HERE / "input.txt").read_text().splitlines()]


def tick(player, state):
    """The moves of a half-turn, as (unit, words)."""
    mine, theirs = Units(state["my_units"]), Units(state["their_units"])
    moves = player.tick(Map(state["map"]), mine, theirs, state["my_resources"], state["turns_left"])
    return [(int(unit), tuple(words)) for unit, words in (move.to_tuple() for move in moves)]


def position(rows, units, enemies=(), resources=0):
    """The moves on a small map of text; `units` are (id, type, x, y) of ours, `enemies` likewise."""

    def unit(id, type, x, y):
        timers = {"mining_status": 0, "duplication_status": 0, "resource_cost": 100}
        return {"id": id, "type": type, "x": x, "y": y, "hp": 1, **timers}

    state = {
        "map": [list(row) for row in rows],
        "my_units": [unit(*one) for one in units],
        "their_units": [unit(*one) for one in enemies],
        "my_resources": resources,
        "turns_left": 9,
    }
    return tick(GridPlayer(), state)


class Recorded(unittest.TestCase):
    def test_every_half_turn_gets_moves_of_our_units(self):
        player = GridPlayer()
        for state in RECORDED:
            own = {unit["id"] for unit in state["my_units"]}
            ids = [unit for unit, _ in tick(player, state)]
            self.assertTrue(ids, "somebody does something")
            self.assertEqual(len(set(ids)), len(ids), "each unit once")
            self.assertLessEqual(set(ids), own, "only units of ours")


class Situations(unittest.TestCase):
    def test_a_worker_walks_to_a_resource_and_mines_it(self):
        rows = ["XXXXX", "X  RX", "X   X", "XXXXX"]
        self.assertEqual(position(rows, [(1, "worker", 1, 1)]), [(1, ("RIGHT",))])
        self.assertEqual(position(rows, [(1, "worker", 3, 1)]), [(1, ("MINE",))])

    def test_a_melee_hits_what_stands_beside_it(self):
        rows = ["XXXXX", "X   X", "X   X", "XXXXX"]
        moves = position(rows, [(1, "melee", 1, 1)], [(2, "worker", 2, 1)])
        self.assertEqual(moves, [(1, ("ATTACK", "RIGHT"))])

    def test_a_melee_makes_another_as_soon_as_it_can_be_paid(self):
        rows = ["XXXXX", "X   X", "X   X", "XXXXX"]
        (_, words), = position(rows, [(1, "melee", 1, 1)], resources=100)
        self.assertEqual(words[0], "DUPLICATE")


if __name__ == "__main__":
    unittest.main()
