"""Plays a match with the GridPlayer of the current folder: client_runner.py HOST PORT."""

import os
import socket
import sys
import traceback

from controller import Controller

# What bots of the other year use, and this year's units and moves do not have.
OTHER_YEAR = ("resource_cost", "duplicate() missing", "mine() takes")


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
        except (AttributeError, KeyError, TypeError) as error:
            if not any(word in str(error) for word in OTHER_YEAR):
                raise
            traceback.print_exc()
            sys.exit(f"{error}: this bot was written for other rules; try --rules neo2019")


if __name__ == "__main__":
    main()
