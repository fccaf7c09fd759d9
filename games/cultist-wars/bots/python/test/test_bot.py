"""Feeds the bot a recorded match and small positions. Run it with `python3 test/test_bot.py`.

`test/input.txt` is what a bot in seat 1 really read: the first turns of a match. Take one of your own:
agon replay export FILE.replay --input --seat 1 > test/input.txt
"""
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from bot import Board, Unit, answer  # noqa: E402


def position(me, *units, walls=()):
    """A small board: `position(0, "0 1 10 3 3 0", "5 0 10 4 3 2")`, each unit as the referee writes it."""
    rows = ["".join("x" if (x, y) in walls else "." for x in range(13)) for y in range(7)]
    board = Board(iter([str(me), "13 7", *rows]))
    return answer(board, [Unit(unit) for unit in units])


class Recorded(unittest.TestCase):
    def test_every_turn_gets_one_legal_answer(self):
        recorded = (HERE / "input.txt").read_text()
        turns = split(recorded.splitlines())
        command = [sys.executable, "-u", str(HERE.parent / "bot.py")]
        said = subprocess.run(command, input=recorded, capture_output=True, text=True, check=True)
        answers = said.stdout.splitlines()
        self.assertEqual(len(answers), len(turns), said.stderr)
        for units, order in zip(turns, answers):
            self.assert_legal(order.split(" "), units)

    def assert_legal(self, words, units):
        if words == ["WAIT"]:
            return
        own = {id: kind for id, kind, _, _, _, owner in units if owner == 0}
        self.assertIn(int(words[0]), own, words)
        kind, order = own[int(words[0])], words[1]
        if order == "MOVE":
            self.assertTrue(0 <= int(words[2]) < 13 and 0 <= int(words[3]) < 7, words)
        else:
            self.assertEqual((order, kind), ("CONVERT", 1) if order == "CONVERT" else ("SHOOT", 0))
            target = next(unit for unit in units if unit[0] == int(words[2]))
            self.assertNotEqual(target[5], 0, "the target is not ours")


def split(lines):
    """The units of each turn, as lists of numbers."""
    turns, at = [], 2 + int(lines[1].split()[1])
    while at < len(lines):
        count = int(lines[at])
        turns.append([tuple(map(int, line.split())) for line in lines[at + 1 : at + 1 + count]])
        at += 1 + count
    return turns


class Positions(unittest.TestCase):
    def test_a_neighbour_is_converted(self):
        self.assertEqual(position(0, "0 1 10 3 3 0", "5 0 10 4 3 2"), "0 CONVERT 5")

    def test_an_enemy_in_range_is_shot(self):
        self.assertEqual(position(1, "1 1 10 12 3 1", "9 0 10 8 3 1", "0 1 10 5 3 0"), "9 SHOOT 0")

    def test_nobody_shoots_into_a_wall(self):
        units = ("1 1 10 12 3 1", "9 0 10 8 3 1", "0 1 10 5 3 0")
        self.assertEqual(position(1, *units, walls={(6, 3)}), "9 MOVE 5 3")

    def test_a_lone_leader_waits(self):
        self.assertEqual(position(0, "0 1 10 3 3 0", "1 1 10 12 3 1"), "WAIT")


if __name__ == "__main__":
    unittest.main()
