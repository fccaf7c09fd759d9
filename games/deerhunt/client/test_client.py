"""Tests of the client modules: python3 -m unittest discover games/deerhunt/client"""

import importlib
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = pathlib.Path(__file__).parent
GRID = [list("XXXXXX"), list("X  R X"), list("X XX X"), list("X   rX"), list("XXXXXX")]
WORKER = {"mining_time": 5, "mining_status": 0, "x": 3, "y": 1, "id": 4, "type": "worker"}
MELEE = {"duplication_status": 0, "resource_cost": 100, "x": 1, "y": 1, "id": 7, "type": "melee"}


def modules(year):
    """The modules of a year, loaded afresh."""
    for name in ("move", "helper_classes", "controller"):
        sys.modules.pop(name, None)
    sys.path.insert(0, str(HERE / year))
    try:
        return importlib.import_module("move"), importlib.import_module("helper_classes")
    finally:
        sys.path.pop(0)


class Both(unittest.TestCase):
    """What is the same in both years."""

    years = ("2019", "2021")

    def test_moves(self):
        for year in self.years:
            move, helper = modules(year)
            unit = helper.Unit(MELEE)
            self.assertEqual(move.Move("3", "UP", "UP").to_tuple(), ("3", ("UP", "UP")))
            self.assertEqual(move.Move(unit, "ATTACK", "UP").to_tuple(), (7, ("ATTACK", "UP")))
            self.assertEqual(unit.move("LEFT").to_tuple(), (7, ("LEFT",)))
            self.assertIs(helper.Move, move.Move)

    def test_directions(self):
        for year in self.years:
            _, helper = modules(year)
            unit = helper.Unit(MELEE)
            self.assertEqual(unit.position(), (1, 1))
            self.assertEqual(unit.direction_to((3, 3)), "DOWN")
            self.assertEqual(unit.direction_to((3, 0)), "UP")
            self.assertEqual(unit.direction_to((0, 1)), "LEFT")
            self.assertIsNone(unit.direction_to((1, 1)))
            self.assertEqual(unit.move_towards((5, 1)).to_tuple(), (7, ("RIGHT",)))
            self.assertEqual(helper.coordinate_from_direction(1, 1, "UP"), (1, 0))
            self.assertIsNone(helper.coordinate_from_direction(1, 1, "FORWARD"))

    def test_map(self):
        for year in self.years:
            _, helper = modules(year)
            ground = helper.Map(GRID)
            self.assertEqual(ground.find_all_resources(), [(3, 1), (4, 3)])
            self.assertEqual(ground.closest_resources(helper.Unit(MELEE)), (3, 1))
            self.assertIsNone(helper.Map([["X"]]).closest_resources(helper.Unit(MELEE)))
            self.assertTrue(ground.is_wall(2, 2))
            self.assertEqual(ground.get_tile(3, 1), "R")
            self.assertEqual(ground.bfs((1, 1), (1, 3)), [(1, 1), (1, 2), (1, 3)])
            self.assertEqual(len(ground.bfs((1, 1), (4, 3))), 6)
            self.assertIsNone(ground.bfs((1, 1), (1, 1)))
            self.assertIsNone(ground.bfs((0, 1), (1, 1)))
            self.assertIsNone(ground.bfs((1, 1), (2, 2)))

    def test_units(self):
        for year in self.years:
            _, helper = modules(year)
            units = helper.Units([WORKER, MELEE])
            self.assertEqual(units.get_all_unit_ids(), ["4", "7"])
            self.assertEqual(units.get_unit("4").type, "worker")
            self.assertEqual([unit.id for unit in units.get_all_unit_of_type("melee")], [7])
            near = helper.Unit(dict(MELEE, x=2, y=1, id=9))
            self.assertEqual(near.nearby_enemies_by_distance(units), [("4", 1), ("7", 1)])
            self.assertEqual([(unit.id, way) for unit, way in near.can_attack(units)], [(4, "RIGHT"), (7, "LEFT")])

    def test_the_files_that_do_not_differ(self):
        for name in ("move.py", "controller.py", "client_runner.py"):
            self.assertEqual((HERE / "2019" / name).read_text(), (HERE / "2021" / name).read_text())


class Of2019(unittest.TestCase):
    """The units of 2019 and of the document."""

    def test_actions(self):
        _, helper = modules("2019")
        worker, melee = helper.Unit(WORKER), helper.Unit(MELEE)
        ground = helper.Map(GRID)
        self.assertTrue(worker.can_mine(ground))
        self.assertFalse(helper.Unit(dict(WORKER, mining_status=2)).can_mine(ground))
        self.assertFalse(melee.can_mine(ground))
        self.assertTrue(melee.can_duplicate(100))
        self.assertFalse(melee.can_duplicate(99))
        self.assertFalse(worker.can_duplicate(100))
        self.assertEqual(worker.mine().to_tuple(), (4, ("MINE",)))
        self.assertEqual(worker.mine("UP").to_tuple(), (4, ("MINE", "UP")))
        self.assertEqual(melee.duplicate("UP").to_tuple(), (7, ("DUPLICATE", "UP")))


class Of2021(unittest.TestCase):
    """The units of 2021."""

    def test_actions(self):
        _, helper = modules("2021")
        more = {"duplication_status": 0, "melee_cost": 100, "worker_cost": 50, "stun_status": 0}
        worker, melee = helper.Unit(dict(WORKER, **more)), helper.Unit(MELEE)
        self.assertTrue(worker.can_duplicate(50, "worker"))
        self.assertIsNone(worker.can_duplicate(50, "melee"))
        self.assertFalse(melee.can_duplicate(500, "melee"))
        self.assertEqual(worker.duplicate("UP", "melee").to_tuple(), (4, ("DUPLICATE_M", "UP")))
        self.assertEqual(worker.duplicate("UP", "worker").to_tuple(), (4, ("DUPLICATE_W", "UP")))
        enemies = helper.Units([dict(WORKER, x=1, y=3, id=1), dict(WORKER, x=2, y=2, id=2), dict(WORKER, x=4, y=1)])
        found = [(unit.id, words) for unit, words in melee.can_stun(enemies)]
        self.assertEqual(found, [(1, ["DOWN", "DOWN"]), (2, ["DOWN", "RIGHT"])])
        self.assertEqual(melee.stun(["UP", "UP"]).to_tuple(), (7, ("STUN", ["UP", "UP"])))


PLAYER = """
from helper_classes import *

class GridPlayer:
    def tick(self, game_map, your_units, enemy_units, resources, turns_left):
        print("thinking", turns_left)
        if turns_left == 1:
            raise RuntimeError("enough")
        return [your_units.get_unit("4").mine(), "rubbish", Move(7, "UP")]
"""


class Conversation(unittest.TestCase):
    """A match over a socket."""

    def play(self, player, turns, own_modules=()):
        with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as server:
            (pathlib.Path(folder) / "grid_player.py").write_text(player)
            for name, text in own_modules:
                (pathlib.Path(folder) / name).write_text(text)
            port = str(server.getsockname()[1])
            command = [sys.executable, str(HERE / "2019" / "client_runner.py"), "127.0.0.1", port]
            bot = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            killer = threading.Timer(20, bot.kill)
            killer.start()
            server.settimeout(10)
            try:
                connection = server.accept()[0]
                replies = [self.exchange(connection, left) for left in turns]
                connection.close()
            finally:
                out, err = bot.communicate()
                killer.cancel()
            return replies, out, err, bot.returncode

    def exchange(self, connection, left):
        state = {"map": GRID, "my_units": [WORKER, MELEE], "their_units": [], "my_resources": 0, "turns_left": left}
        body = json.dumps(state).encode()
        connection.sendall(str(len(body)).rjust(10).encode() + body)
        incoming = connection.makefile("rb")
        header = incoming.read(10)
        return json.loads(incoming.read(int(header))) if header else None

    def test_a_match(self):
        replies, out, err, code = self.play(PLAYER, [100, 99])
        self.assertEqual(replies, [[[4, ["MINE"]], [7, ["UP"]]]] * 2)
        self.assertIn("thinking 99", out)
        self.assertIn("rubbish", err)
        self.assertEqual(code, 0)

    def test_what_a_bot_raises_ends_it(self):
        replies, _, err, code = self.play(PLAYER, [2, 1])
        self.assertEqual(replies[1], None)
        self.assertIn("RuntimeError: enough", err)
        self.assertNotEqual(code, 0)

    def test_a_bot_keeps_its_own_modules(self):
        own = (HERE / "2019" / "helper_classes.py").read_text().replace('"MINE"', '"MY OWN"')
        replies, _, _, _ = self.play(PLAYER, [2], [("helper_classes.py", own)])
        self.assertEqual(replies[0][0], [4, ["MY OWN"]])


if __name__ == "__main__":
    unittest.main()
