"""Plays Jungle Blitz over WebSocket. What it decides is in brain.py.

`python3 application.py --lines` speaks the same messages over standard input and output, one a line: with a pipe
instead of a socket there is less between you and a debugger.
"""

import json
import os
import sys

from brain import decide
from game import Tick
from websocket import WebSocket

ADDRESS = os.environ.get("AGON_ADDRESS", "ws://127.0.0.1:8765")


def register():
    """The first message. A server that knows its teams gives each a token."""
    token = os.environ.get("TOKEN")
    who = {"token": token} if token else {"teamName": "Python collector"}
    return json.dumps({"type": "REGISTER", **who})


def answer(message):
    """The answer to a TICK message."""
    tick = Tick(message)
    return json.dumps({"type": "COMMAND", "tick": tick.number, "actions": decide(tick)})


def over_websocket():
    socket = WebSocket(ADDRESS)
    socket.send(register())
    for message in socket:
        socket.send(answer(message))


def over_lines():
    print(register(), flush=True)
    for message in sys.stdin:
        print(answer(message), flush=True)


if __name__ == "__main__":
    over_lines() if "--lines" in sys.argv else over_websocket()
