"""Plays Jungle Blitz over standard input and output: the same messages, one a line, and no library."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python"))
from brain import decide  # noqa: E402

print(json.dumps({"type": "REGISTER", "teamName": "Lines collector"}), flush=True)
for line in sys.stdin:
    tick = json.loads(line)
    command = {"type": "COMMAND", "tick": tick["tick"], "actions": decide(tick)}
    print(json.dumps(command), flush=True)
