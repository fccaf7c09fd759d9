"""The conversation with the referee: read a state, ask the player, send its moves."""

import json
import sys

LENGTH_DIGITS = 10


class Controller:
    """Lets a player answer the messages of a connection until it is closed."""

    def __init__(self, player, connection):
        self.player = player
        self.connection = connection
        self.incoming = connection.makefile("rb")

    def run(self):
        """Answers every message. Returns when the referee closes the connection."""
        while True:
            message = self.receive()
            if message is None:
                return
            self.send([move.to_tuple() for move in self.ask(json.loads(message))])

    def ask(self, state):
        """The moves of the player in a state. What is no move is left out, with a message."""
        # The player's own copies of these modules come first, if it brings some.
        from helper_classes import Map, Units
        from move import Move

        enemies = Units(state["their_units"])
        enemies.resources = state.get("their_resources")
        answer = self.player.tick(
            Map(state["map"]),
            Units(state["my_units"]),
            enemies,
            state["my_resources"],
            state["turns_left"],
        )
        moves = []
        for item in answer:
            if isinstance(item, Move):
                moves.append(item)
            else:
                print(f"tick returned {item!r}, which is no Move: left out", file=sys.stderr)
        return moves

    def receive(self):
        """The next message; None when there are no more."""
        header = self.incoming.read(LENGTH_DIGITS)
        if len(header) < LENGTH_DIGITS:
            return None
        length = int(header)
        body = self.incoming.read(length)
        return body if len(body) == length else None

    def send(self, moves):
        """Sends a list of moves, length and body at once."""
        body = json.dumps(moves).encode()
        self.connection.sendall(str(len(body)).rjust(LENGTH_DIGITS).encode() + body)
