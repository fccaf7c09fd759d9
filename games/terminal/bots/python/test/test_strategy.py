"""Feeds the strategy recorded lines and small situations. Run it with `python3 test/test_strategy.py`.

`test/input.txt` is what a bot in seat 1 really read: the first turns of a match. Take one of your own:
agon replay export FILE.replay --input --seat 1 > test/input.txt
"""
import contextlib
import io
import json
import pathlib
import sys
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import terminal  # noqa: E402
from strategy import Strategy  # noqa: E402

RECORDED = (HERE / "input.txt").read_text()
CONFIG = RECORDED.splitlines()[0]
STATES = [json.loads(line) for line in RECORDED.splitlines()[1:]]


def play(text):
    """The answers to the lines of a match, as (builds, deploys) for each turn."""
    said = io.StringIO()
    with mock.patch("sys.stdin", io.StringIO(text)), contextlib.redirect_stdout(said):
        terminal.run(Strategy())
    lines = [json.loads(line) for line in said.getvalue().splitlines()]
    assert len(lines) % 2 == 0, "two lines a turn"
    return list(zip(lines[::2], lines[1::2]))


class Recorded(unittest.TestCase):
    def test_every_turn_gets_an_answer_that_can_be_carried_out(self):
        config = terminal.Config(json.loads(CONFIG))
        turns = [state for state in STATES if state["turnInfo"][0] == 0]
        answers = play(RECORDED)
        self.assertEqual(len(answers), len(turns))
        for state, (builds, deploys) in zip(turns, answers):
            _, structure_points, mobile_points = state["p1Stats"][:3]
            taken = {(x, y) for x, y, *_ in sum(state["p1Units"][:3] + state["p2Units"][:3], [])}
            for name, x, y in builds:
                if name == config.upgrade:
                    continue
                self.assertTrue(terminal.inside(x, y) and y <= 13, "in our own half")
                self.assertNotIn((x, y), taken)
                taken.add((x, y))
                structure_points -= config.cost(name)
            for name, x, y in deploys:
                self.assertTrue(x + y == 13 or x - y == 14, "on our own edge")
                self.assertNotIn((x, y), taken)
                mobile_points -= config.cost(name)
            self.assertGreaterEqual(structure_points, 0)
            self.assertGreaterEqual(mobile_points, 0)


class Situations(unittest.TestCase):
    def test_where_the_enemy_came_through_a_turret_is_built(self):
        frame = dict(STATES[0], turnInfo=[1, 0, 5], events={"breach": [[[6, 7], 1, 3, "9", 2]]})
        rich = dict(STATES[0], p1Stats=[30, 200, 0, 0])
        (builds, _), = play("\n".join([CONFIG, json.dumps(frame), json.dumps(rich)]))
        config = terminal.Config(json.loads(CONFIG))
        self.assertIn([config.turret, 6, 8], builds)

    def test_scouts_wait_until_there_are_enough(self):
        poor, rich = (dict(STATES[0], p1Stats=[30, 0, points, 0]) for points in (9, 10))
        (_, none), = play("\n".join([CONFIG, json.dumps(poor)]))
        (_, all_of_them), = play("\n".join([CONFIG, json.dumps(rich)]))
        self.assertEqual((len(none), len(all_of_them)), (0, 10))


if __name__ == "__main__":
    unittest.main()
