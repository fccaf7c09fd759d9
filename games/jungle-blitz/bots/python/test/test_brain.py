"""Feeds the bot recorded ticks and small situations. Run it with `python3 test/test_brain.py`.

`test/input.txt` is what a bot in seat 1 really read: the first ticks of a match. Take one of your own:
agon replay export FILE.replay --input --seat 1 > test/input.txt
"""
import json
import pathlib
import socket
import subprocess
import sys
import threading
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from brain import decide  # noqa: E402
from game import Tick, distance  # noqa: E402
from websocket import WebSocket  # noqa: E402

RECORDED = (HERE / "input.txt").read_text().splitlines()


class Recorded(unittest.TestCase):
    def test_every_tick_gets_its_command(self):
        command = [sys.executable, "-u", str(HERE.parent / "application.py"), "--lines"]
        said = subprocess.run(command, input="\n".join(RECORDED), capture_output=True, text=True, check=True)
        register, *commands = map(json.loads, said.stdout.splitlines())
        self.assertEqual(register["type"], "REGISTER")
        ticks = [Tick(message) for message in RECORDED]
        self.assertEqual([command["tick"] for command in commands], [tick.number for tick in ticks])
        for tick, command in zip(ticks, commands):
            ids = [action["unitId"] for action in command["actions"]]
            self.assertEqual(ids, [unit.id for unit in tick.me.units], "one action for each unit of ours")

    def test_units_come_up_on_spawn_tiles(self):
        tick = Tick(RECORDED[0])
        for action in decide(tick):
            self.assertEqual(action["action"], "SPAWN")
            self.assertIn((action["target"]["x"], action["target"]["y"]), tick.spawns())


class Situations(unittest.TestCase):
    def second(self, change=lambda tick: None):
        """The action of the first unit in a changed copy of the second recorded tick."""
        raw = json.loads(RECORDED[1])
        change(raw)
        tick = Tick(json.dumps(raw))
        return tick, decide(tick)[0]

    def test_a_unit_walks_to_a_diamond(self):
        tick, action = self.second()
        self.assertEqual(action["action"], "MOVE")
        target = (action["target"]["x"], action["target"]["y"])
        self.assertIn(target, [diamond.position for diamond in tick.diamonds])

    def hold(self, raw, number):
        unit, diamond = raw["teams"][0]["units"][0], raw["map"]["diamonds"][0]
        unit.update(hasDiamond=True, diamondId=diamond["id"], position={"x": 1, "y": 1})
        diamond.update(ownerId=unit["id"], position=unit["position"])
        raw["tick"] = number
        raw["map"]["tiles"] = [["EMPTY"] * len(column) for column in raw["map"]["tiles"]]

    def test_a_diamond_is_raised(self):
        _, action = self.second(lambda raw: self.hold(raw, 100))
        self.assertEqual(action["action"], "SUMMON")

    def test_a_diamond_is_dropped_in_the_last_tick(self):
        tick, action = self.second(lambda raw: self.hold(raw, raw["totalTick"] - 1))
        self.assertEqual(action["action"], "DROP")
        self.assertEqual(distance((1, 1), (action["target"]["x"], action["target"]["y"])), 1)


class Socket(unittest.TestCase):
    def test_messages_of_every_size_pass(self):
        """A server that sends back what it gets; what a client sends is masked, what it receives is not."""
        server = socket.create_server(("127.0.0.1", 0))

        def serve():
            connection, _ = server.accept()
            stream = connection.makefile("rwb")
            while stream.readline().strip():
                pass
            stream.write(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n\x89\x02hi")
            stream.flush()
            for _ in range(4):  # the answer to the ping is first
                kind, size = stream.read(2)
                more = {126: 2, 127: 8}.get(size & 127, 0)
                length = stream.read(more)
                count = int.from_bytes(length, "big") if more else size & 127
                stream.read(4)
                content = stream.read(count)
                if kind == 0x81:
                    stream.write(bytes([kind, size & 127]) + length + content)
                    stream.flush()
            stream.write(b"\x88\x00")
            stream.close()
            connection.close()

        threading.Thread(target=serve, daemon=True).start()
        with server:
            client = WebSocket("ws://127.0.0.1:%d" % server.getsockname()[1])
            messages = ["short", "x" * 300, "ü" * 70_000]
            received = iter(client)
            for message in messages:
                client.send(message)
                self.assertEqual(next(received), message)
            self.assertEqual(list(received), [])
            client.close()


if __name__ == "__main__":
    unittest.main()
