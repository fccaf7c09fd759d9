"""The same bot over the library `websockets` (pip install websockets), as the contest's own kit uses it."""

import asyncio

import websockets

from application import ADDRESS, answer, register


async def play():
    async with websockets.connect(ADDRESS) as socket:
        await socket.send(register())
        async for message in socket:
            await socket.send(answer(message))


asyncio.run(play())
