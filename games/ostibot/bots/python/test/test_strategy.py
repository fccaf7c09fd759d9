"""Feeds the strategy recorded questions and small situations. Run it with `python3 test/test_strategy.py`.

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

import game  # noqa: E402
from strategy import Strategy  # noqa: E402

RECORDED = (HERE / "input.txt").read_text()
QUESTIONS = [json.loads(line) for line in RECORDED.splitlines()]


def play(text):
    """The answers to a match's questions: lists of actions."""
    said = io.StringIO()
    with mock.patch("sys.stdin", io.StringIO(text)), contextlib.redirect_stdout(said):
        game.run(Strategy())
    return [json.loads(line)["actions"] for line in said.getvalue().splitlines()]


class Recorded(unittest.TestCase):
    def test_every_question_is_answered_for_adventurers_of_ours(self):
        answers = play(RECORDED)
        self.assertEqual(len(answers), len(QUESTIONS))
        for question, actions in zip(QUESTIONS, answers):
            if question["phase"] == "play":
                own = [one.id for one in game.View(question["input"]).mine]
                self.assertEqual([action["adventurerId"] for action in actions], own)


class Situations(unittest.TestCase):
    def first(self, rows, entities, turn=1, **adventurer):
        """The action of an adventurer of ours at (1, 1) of a small map."""
        raw = json.loads(json.dumps(next(one for one in QUESTIONS if one["phase"] == "play")["input"]))
        state = raw["gameState"]
        one = dict(state["adventurers"][0], position={"x": 1, "y": 1}, **adventurer)
        state.update(map=rows, width=len(rows[0]), height=len(rows), turn=turn)
        state.update(adventurers=[one], entities=[one, *entities])
        return Strategy().play(game.View(raw))[0]

    gold = {"id": "g", "type": "gold", "position": {"x": 3, "y": 1}, "amount": 3}
    portal = {"id": "p", "type": "portal", "position": {"x": 1, "y": 3}, "hp": 0, "maxHp": 9, "open": True}
    rows = ["#####", "#...#", "#.#.#", "#...#", "#####"]

    def test_gold_is_fetched(self):
        action = self.first(self.rows, [self.gold, self.portal])
        self.assertEqual(action["move"]["direction"], "RIGHT")

    def test_before_the_fire_it_leaves(self):
        action = self.first(self.rows, [self.gold, self.portal], turn=25)
        self.assertEqual(action["move"]["direction"], "DOWN")

    def test_who_is_hurt_drinks(self):
        potion = {"id": "i", "itemType": "health_potion", "name": "Health Potion", "slot": "consumable"}
        action = self.first(self.rows, [], hp=20, inventory=[potion])
        self.assertEqual(action["use"]["itemId"], "i")


if __name__ == "__main__":
    unittest.main()
