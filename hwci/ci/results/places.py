# SPDX-License-Identifier: Apache-2.0
"""Where results stand: in which file and suite, on which board and host (semantics, 1.6).

This module decides what names of files and suites say beside the place: that something is a try, or
when it was written. What follows from it is decided in `hwci.ci.results.tries` and
`hwci.ci.results.names`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from pathlib import PurePath

from hwci.contract.vocabulary import Outcome, Verdict

BOARDS = ("board", "boardname", "platform", "device", "target", "dut", "apppath")
"""Attributes and properties that name the board on which a test or a suite ran; the first of them
counts. pytest-embedded names the firmware, by its path.
"""
UNITS = (
    *("hwci.board", "boardid", "boardserial", "serial", "serialnumber", "dut"),
    "board",
)
"""The same of which board of its type it was: what tells it from the others of its box."""
LOGS = ("hwci.logurl", "logurl")
"""The same of the address of its log."""
VARIANTS = ("configuration", "config", "variant", "toolchain", "buildtype")
"""The same of how it was built."""
TRIES_MAX = 1_000
"""More tries of one test than a file says are not believed."""
_NO_HOST = re.compile(
    r"[0-9a-f]{12}|localhost.*|tbd|fv-az.*|runnervm.*|runner-.*|.*[0-9a-f]{8}-[0-9a-f-]{27}"
)
"""Hosts that are made for one job: containers and hosted machines."""
_TRY = re.compile(
    r"(?<![a-z])(?:re-?try|re-?tries|re-?runs?|attempts?|try|tries)(?![a-z])"
    r"(?:[\s_.#:-]*(\d+))?(?:[\s_-]*of[\s_-]*\d+)?",
    re.IGNORECASE,
)
"""Words by which a file or a suite says that it is a try."""
_AGAIN = re.compile(
    r"(?<![a-z])(?:again|second|third|2nd|3rd|lf|(?:last-?|only-?)?failed)(?![a-z])", re.IGNORECASE
)
"""Words by which a file that holds nothing but failed tests says that it tried them again."""
_PASSING = re.compile(
    r"@stress-\d+|20\d\d-?[01]\d-?[0-3]\d(?:[T_-]?[0-2]\d[:_-]?[0-5]\d(?:[:_-]?[0-5]\d)?)?"
)
"""Parts of names that differ in each run, and nextest's number of a repeat."""
_ATTACHED = re.compile(r"^[ \t]*\[\[ATTACHMENT\|([^\]|\n]{1,2000})\]\][ \t]*\r?$", re.MULTILINE)
"""A line by which a test attaches a file, as Jenkins has it."""
_SEAMS = " \t\n_.()[]-"
_SUFFIXES = re.compile(r"(?:\.(?:xml|json|gz))+$", re.IGNORECASE)


def _steady(name: str) -> tuple[str, bool]:
    """Return a name of a file or a suite without what differs in each run or says that it is a try;
    and whether something said that.
    """
    without = _TRY.sub("", name)
    plain = _PASSING.sub("", without)
    return (name if plain == name else plain.strip(_SEAMS)), without != name


@lru_cache(maxsize=4096)
def suite_name(name: str) -> tuple[str, bool]:
    """Return this of a suite. One that is called `Retry` is no try."""
    plain, is_try = _steady(name)
    return (plain, is_try) if plain else (name, False)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a result stands. `path`: the names of the elements around it, from the outermost.
    `number`: of the suite, in its file. `unit`: which board of its type it was, `log`: the
    address or the path of its log; these tell no results apart.
    """

    path: tuple[str, ...] = ()
    board: str = ""
    variant: str = ""
    host: str = ""
    number: int = 0
    unit: str = ""
    log: str = ""


NOWHERE = Place()


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try of one test."""

    test_id: str
    outcome: Outcome
    duration_s: float
    verdict: Verdict
    message: str = ""
    ended: bool = True
    """False if the file holds its begin alone: it still runs, or failed if the run is over."""
    tried_again: bool = False
    """It failed, and its file says that it was tried again."""
    place: Place = field(default=NOWHERE, compare=False)
    outside: bool = False
    """A failure outside any test, which has the name of its suite."""
    log_end: str = ""
    """The end of its log, where there is no message."""


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """The results of one file."""

    path: str
    kind: str
    """In which format it is written."""
    attempts: Sequence[Attempt]
    started_at: datetime | None = None
    written_at: datetime | None = None
    duration_s: float = 0.0
    idle: Sequence[tuple[str, Place]] = ()
    """Tests that it lists and that did not run."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A place without what differs in each run."""

    path: tuple[str, ...]
    board: str
    variant: str
    host: str

    @property
    def suite(self) -> str:
        """The name of the suite."""
        return self.path[-1] if self.path else ""


@lru_cache(maxsize=4096)
def spot_of(place: Place) -> Spot:
    """Return this of a place."""
    host = "" if _NO_HOST.fullmatch(place.host) else place.host
    return Spot(tuple(suite_name(name)[0] for name in place.path), place.board, place.variant, host)


def first_named(places: Mapping[str, str], names: Sequence[str]) -> str:
    """Return the board, or variant, that the first of its names has; of a path its last part."""
    return next((PurePath(places[name]).name for name in names if places.get(name)), "")


def log_of(places: Mapping[str, str]) -> str:
    """Return the address of a log that the first of its names has."""
    return next((places[name] for name in LOGS if places.get(name)), "")


def attached(output: str) -> str:
    """Return the path of the last file that an output attaches; "" if it attaches none."""
    paths: Sequence[str] = _ATTACHED.findall(output)
    return paths[-1].strip() if paths else ""


def says_again(path: str, other: str) -> bool:
    """Return whether the name of a file says that it came after another one: a word does, and the
    rest is the name of the other one, or nothing.
    """
    name, first = (_SUFFIXES.sub("", PurePath(file).name) for file in (path, other))
    rest = _AGAIN.sub("", name)
    return rest != name and _steady(rest)[0].strip(_SEAMS) in {"", _steady(first)[0]}


@lru_cache(maxsize=4096)
def base_of(path: str) -> tuple[tuple[str, ...], int]:
    """Return the parts of a path without what says that the file is a try, and the number of that
    try: 1 if it has none, 0 if nothing says that it is one.
    """
    *folders, name = PurePath(path).parts or ("",)
    parts = [*folders, _SUFFIXES.sub("", name)]
    words = (match for part in parts for match in _TRY.finditer(part))
    numbers = [int(match[1] or 1) for match in words]
    return tuple(filter(None, (_steady(part)[0] for part in parts))), max(numbers, default=0)
