"""Plays Jungle Blitz over WebSocket. Needs the package `websockets`."""

import asyncio
import json
import os

import websockets

from brain import decide


async def main():
    address = os.environ.get("AGON_ADDRESS", "ws://127.0.0.1:8765")
    async with websockets.connect(address, max_size=None) as socket:
        token = os.environ.get("TOKEN")
        who = {"token": token} if token else {"teamName": "Python collector"}
        await socket.send(json.dumps({"type": "REGISTER", **who}))
        async for message in socket:
            tick = json.loads(message)
            command = {"type": "COMMAND", "tick": tick["tick"], "actions": decide(tick)}
            await socket.send(json.dumps(command))


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except websockets.exceptions.ConnectionClosed:
        pass  # The server closes the connection when the match is over.
