"""Plays a match with the GridPlayer of the current folder: client_runner.py HOST PORT."""

import os
import socket
import sys
import traceback

from controller import Controller

# What bots of one year use, and units and moves of the other do not have.
OF_YEARS = {
    "bc2021": ("stun", "duplicate() takes", "melee_cost", "worker_cost", "duplication_unit"),
    "neo2019": ("resource_cost", "duplicate() missing", "mine() takes"),
}


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
            from helper_classes import Unit

            other = "neo2019" if hasattr(Unit, "can_stun") else "bc2021"
            if not any(word in str(error) for word in OF_YEARS[other]):
                raise
            traceback.print_exc()
            sys.exit(f"{error}: this bot was written for other rules; try --rules {other}")


if __name__ == "__main__":
    main()
