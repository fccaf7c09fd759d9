"""Plays a match with the GridPlayer of the current folder: client_runner.py HOST PORT."""

import os
import socket
import sys

from controller import Controller


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: client_runner.py HOST PORT")
    # The bot's folder goes first: a bot that brings its own helper modules keeps them.
    sys.path.insert(0, os.getcwd())
    from grid_player import GridPlayer

    player = GridPlayer()
    with socket.create_connection((sys.argv[1], int(sys.argv[2]))) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            Controller(player, connection).run()
        except (ConnectionResetError, BrokenPipeError):
            pass  # The match is over.


if __name__ == "__main__":
    main()
