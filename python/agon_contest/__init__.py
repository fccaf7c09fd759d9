"""Bot-programming contests on your own machine: matches, replays, and tests of which bot is better.

Everything is computed by the program ``agon``, which this package brings; each function here starts it once, without a shell,
and reads what it prints as JSON. Bots are named as on its command line: a file, a folder, ``builtin:NAME``, ``cmd:COMMAND``.
"""

from __future__ import annotations

import html
import json
import os
import shutil
import subprocess
import tempfile
import threading
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

__all__ = [
    "AgonError",
    "AgonTimeout",
    "Comparison",
    "Match",
    "Page",
    "Seat",
    "Verification",
    "play",
    "program",
    "show",
    "sprt",
    "verify",
]

#: A file, a folder, or a bot as the command line names it.
Place = Union[str, "os.PathLike[str]"]
#: An object of JSON, as ``agon docs json`` describes them.
Json = Dict[str, Any]

#: How much of what the program says of a problem is kept, in bytes.
_MESSAGE = 64 << 10
#: Verdicts of ``agon sprt`` that are an answer and not a failure (``agon docs series``).
_VERDICTS = (0, 10, 11, 12, 13, 14, 15)
#: The largest page that goes into a notebook, in characters: it is stored there with every output.
_EMBEDDED = 8 << 20


class AgonError(Exception):
    """What the program said when it refused or failed."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        #: Its exit code: 1 a check failed, 2 wrong usage, 3 agon or the machine failed; negative: the signal that ended it.
        self.code = code


class AgonTimeout(AgonError):
    """The program did not finish within ``timeout`` seconds, and was stopped with its bots."""


@dataclass(frozen=True)
class Seat:
    """The result of one seat of a match."""

    #: From 1.
    seat: int
    #: The bot's label.
    bot: str
    #: None when the match does not count.
    score: Optional[float]
    #: From 1; None when the match does not count.
    rank: Optional[int]
    #: What the bot did that a program must not do, in agon's words.
    faults: Tuple[str, ...]
    #: How many of its orders the rules did not allow.
    rejected: int


@dataclass(frozen=True)
class Match:
    """A match that was played."""

    game: str
    seed: int
    rules: str
    map: str
    seats: Tuple[Seat, ...]
    #: How many steps were played.
    turns: int
    #: Why it ended, in the game's words.
    reason: str
    #: The seat that won, from 1; None for a draw.
    winner: Optional[int]
    #: None if no replay was written.
    replay: Optional[Path]
    #: Why the match does not count; None if it does.
    void: Optional[str]
    #: All that the program printed.
    json: Json = field(repr=False, compare=False)

    @property
    def scores(self) -> Tuple[Optional[float], ...]:
        """By seat."""
        return tuple(seat.score for seat in self.seats)

    @property
    def ranks(self) -> Tuple[Optional[int], ...]:
        """By seat."""
        return tuple(seat.rank for seat in self.seats)

    def drawing(self, turn: Optional[int] = None, *, timeout: float = 60) -> str:
        """The board as text, before a turn or at the end."""
        at = () if turn is None else (f"--turn={turn}",)
        return _agon("replay", "show", *at, "--", _replay(self), timeout=timeout).rstrip("\n")

    def verify(self, *, timeout: float = 300) -> Verification:
        """Computes the match again from its replay."""
        return verify(self, timeout=timeout)

    def show(self, *, height: int = 640, timeout: float = 60) -> Page:
        """The match as a page to step through."""
        return show(self, height=height, timeout=timeout)


@dataclass(frozen=True)
class Verification:
    """What computing a match again found. It is true if the replay is what the rules make of the bots' answers."""

    replay: Path
    #: ``verified``, ``cut off``, ``differs from the original``, ``altered`` or ``unreadable``.
    finding: str
    #: What was found where, for people.
    text: str
    #: How many steps were read.
    steps: int

    def __bool__(self) -> bool:
        return self.finding == "verified"


@dataclass(frozen=True)
class Comparison:
    """What a sequential test found. It is true if the new bot is better."""

    #: ``better``, ``not_better``, ``worse``, ``undecided``, ``repeated``, ``equal`` or ``never_answered``.
    decision: str
    games: int
    wins: int
    draws: int
    losses: int
    #: The difference, corrected for stopping when it looked clearest; None if every game was won or lost, or none was played.
    elo: Optional[float]
    #: Its 95 % interval; an end that is open is None.
    interval: Tuple[Optional[float], Optional[float]]
    #: The record of the matches; None if none was played.
    journal: Optional[Path]
    #: The last event that the program printed.
    json: Json = field(repr=False, compare=False)

    def __bool__(self) -> bool:
        return self.decision == "better"


@dataclass(frozen=True)
class Page:
    """A match as one page that needs no network and no other file. Jupyter shows it below the cell."""

    html: str = field(repr=False)
    #: Of the frame in a notebook, in pixels.
    height: int = 640

    def save(self, path: Place) -> Path:
        """Writes the page into a file, for any browser."""
        Path(path).write_text(self.html, encoding="utf-8")
        return Path(path)

    def _repr_html_(self) -> str:
        if len(self.html) > _EMBEDDED:
            size = len(self.html) / 1e6
            return f"<p>The page of this match has {size:.0f} MB, too much for a notebook: <code>.save(path)</code> writes it into a file."
        # A frame of an origin of its own: names in a replay are foreign text, and nothing in it may reach the notebook.
        return (
            f'<iframe sandbox="allow-scripts allow-downloads" style="width:100%;height:{self.height}px;border:0" '
            f'srcdoc="{html.escape(self.html)}"></iframe>'
        )


def play(
    game: str,
    bots: Sequence[Place],
    *,
    seed: Optional[int] = None,
    rules: Optional[Place] = None,
    map: Optional[Place] = None,
    replay: Optional[Place] = None,
    options: Sequence[str] = (),
    timeout: Optional[float] = None,
) -> Match:
    """Plays one match, with the bots in the order of their seats.

    Without ``replay`` the file goes to ``agon-replays``; ``options`` are further ones of ``agon play``, such as
    ``["--time-scale", "4"]``.
    """
    chosen = _options(seed=seed, rules=rules, map=map, replay=replay)
    printed = _agon("play", "--json", *chosen, *options, "--", game, *_words(bots), timeout=timeout)
    told: Json = json.loads(printed)
    seats = tuple(
        Seat(
            seat=seat["seat"],
            bot=seat["bot"],
            score=seat["score"],
            rank=seat["rank"],
            faults=tuple(fault["message"] for fault in seat["faults"]),
            rejected=seat["rejected"],
        )
        for seat in told["seats"]
    )
    file = told.get("replay")
    return Match(
        game=told["game"],
        seed=int(told["seed"]),
        rules=told["rules"],
        map=told["map"],
        seats=seats,
        turns=told["turns"],
        reason=told["outcome"]["reason"],
        winner=told["outcome"]["winner"],
        replay=None if file is None else Path(file),
        void=told.get("void"),
        json=told,
    )


def verify(replay: Union[Place, Match], *, timeout: float = 300) -> Verification:
    """Computes a match again from its replay, and compares. Raises AgonError for a file that is damaged or no replay."""
    printed = _agon("replay", "verify", "--json", "--", _replay(replay), timeout=timeout, good=(0, 1))
    told: Json = json.loads(printed)[0]
    return Verification(Path(told["file"]), told["finding"], told["text"], told["steps"])


def sprt(
    game: str,
    new: Place,
    old: Place,
    *,
    elo0: float = 0,
    elo1: float = 20,
    games: Optional[int] = None,
    seed: Optional[int] = None,
    jobs: Optional[int] = None,
    options: Sequence[str] = (),
    each: Optional[Callable[[Json], None]] = None,
    timeout: Optional[float] = None,
) -> Comparison:
    """Plays until it is clear whether ``new`` is better than ``old``, or until ``games`` are over.

    ``each`` is called with every event: the start, the state about once a second, the result.
    """
    last: Json = {}
    journal: Optional[str] = None

    def take(line: str) -> None:
        nonlocal last, journal
        told: Json = json.loads(line)
        if "error" in told:
            # No event: the program ends with it, and AgonError says the same.
            return
        last = told
        journal = last.get("journal", journal)
        if each is not None:
            each(last)

    chosen = _options(elo0=elo0, elo1=elo1, games=games, seed=seed, jobs=jobs)
    bots = _words((new, old))
    _agon("sprt", "--json", *chosen, *options, "--", game, *bots, timeout=timeout, good=_VERDICTS, each=take)
    pairings = last.get("pairings")
    counts = pairings[0]["games"] if pairings else {}
    test = last.get("test") or {}
    estimate, corrected = test.get("estimate") or {}, test.get("corrected")
    if corrected is None:
        elo, low, high = estimate.get("elo"), estimate.get("elo_low"), estimate.get("elo_high")
    else:
        elo, low, high = corrected["elo"], corrected["low"], corrected["high"]
    return Comparison(
        decision=last["decision"],
        games=last.get("games", 0),
        wins=counts.get("wins", 0),
        draws=counts.get("draws", 0),
        losses=counts.get("losses", 0),
        elo=elo,
        interval=(low, high),
        journal=None if journal is None else Path(journal),
        json=last,
    )


def show(replay: Union[Place, Match], *, height: int = 640, timeout: float = 60) -> Page:
    """The match as a page to step through: the last value of a cell in Jupyter, or ``show(match).save("match.html")``."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "page.html")
        _agon("replay", "export", "--format=html", f"--output={page}", "--", _replay(replay), timeout=timeout)
        return Page(page.read_text(encoding="utf-8"), height)


def program() -> str:
    """The path of the program: the one that ``AGON`` names, else the one installed with this package."""
    named = os.environ.get("AGON")
    if named:
        found = shutil.which(named)
    else:
        # Where pip, uv and others put it depends on how they were called, but all of them list what they installed.
        try:
            files = metadata.files("agon-contest") or []
        except metadata.PackageNotFoundError:
            files = []
        listed = [str(file.locate()) for file in files if file.name == "agon"]
        # `pip install --target` moves it without saying so.
        listed.append(str(Path(__file__).parent.parent / "bin" / "agon"))
        found = next((path for path in listed if os.access(path, os.X_OK)), None)
    if found is None:
        if named:
            raise AgonError(f"AGON names {named}, which is no program: set it to the path of agon, or unset it", 3)
        raise AgonError("agon is not where this package put it: install the package again", 3)
    return os.path.abspath(found)


def _words(bots: Sequence[Place]) -> Tuple[str, ...]:
    return tuple(os.fspath(bot) for bot in bots)


def _options(**values: object) -> Tuple[str, ...]:
    """Those that were given, each as one word, so that no value is taken for an option."""
    words = {name: os.fspath(value) if isinstance(value, os.PathLike) else value for name, value in values.items()}
    return tuple(f"--{name}={word}" for name, word in words.items() if word is not None)


def _replay(of: Union[Place, Match]) -> str:
    if not isinstance(of, Match):
        return os.fspath(of)
    if of.replay is None:
        raise AgonError("this match has no replay: it was played with --no-replay", 2)
    return os.fspath(of.replay)


def _agon(
    *arguments: str,
    timeout: Optional[float],
    good: Tuple[int, ...] = (0,),
    each: Optional[Callable[[str], None]] = None,
) -> str:
    """Runs the program and returns what it prints; with ``each``, that is given every line as it comes, and nothing is kept."""
    kept: List[str] = []
    late = threading.Event()
    with tempfile.TemporaryFile() as messages, subprocess.Popen(
        [program(), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=messages,
        encoding="utf-8",
    ) as process:

        def stop() -> None:
            late.set()
            _end(process)

        timer = None if timeout is None else threading.Timer(timeout, stop)
        if timer is not None:
            timer.daemon = True
            timer.start()
        try:
            assert process.stdout is not None
            for line in process.stdout:
                (each or kept.append)(line)
            code = process.wait()
        finally:
            if timer is not None:
                timer.cancel()
            _end(process)
        if code in good:
            return "".join(kept)
        if late.is_set():
            raise AgonTimeout(f"agon {arguments[0]} did not finish within {timeout} s", code)
        messages.seek(0)
        said = messages.read(_MESSAGE).decode("utf-8", "replace").strip()
        raise AgonError(said[len("error: ") :] if said.startswith("error: ") else said or f"agon ended with {code}", code)


def _end(process: subprocess.Popen[str]) -> None:
    """Ends the program, which ends its bots."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
