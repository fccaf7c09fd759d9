"""The program itself, as ``python -m agon_contest`` and as the command ``agon-contest`` that ``uvx`` looks for."""

import os
import sys

from . import AgonError, program


def main() -> None:
    """Becomes the program."""
    try:
        path = program()
    except AgonError as error:
        sys.exit(f"error: {error}")
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()
