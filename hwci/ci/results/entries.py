# SPDX-License-Identifier: Apache-2.0
"""What a result file says of a test, and how that becomes attempts (semantics, 1.6).

This module decides which entries of one file are tries of one test: those of one name, unless
groups that are run apart share it (Twister groups by board). Which file wrote them how, it does
not know.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from hwci.ci.results.model import Attempt, stable_id
from hwci.engine.vocabulary import Outcome, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What stands in a file about one test, once."""

    group: str
    test_id: str
    duration_s: float
    run: bool
    """False: skipped, or listed only."""
    failed: bool
    unbuilt: bool = False
    """It failed before there was a firmware to run."""
    verdict: Verdict = Verdict.UNKNOWN
    earlier: tuple[Verdict, ...] = ()
    """Verdicts of the attempts before the one that decided, oldest first; all of them failed."""


AnyEntry = TypeVar("AnyEntry", bound=Entry)


def attempts_of(entries: Iterable[Entry]) -> list[Attempt]:
    """Give the attempts that entries tell of, in their order."""
    return [attempt for entry in entries for attempt in _attempts(entry)]


def _attempts(entry: Entry) -> Iterator[Attempt]:
    if not entry.run or entry.unbuilt:
        return
    for verdict in entry.earlier:
        yield Attempt(entry.test_id, Outcome.FAIL, 0.0, verdict)
    outcome = Outcome.FAIL if entry.failed else Outcome.PASS
    yield Attempt(entry.test_id, outcome, entry.duration_s, entry.verdict)


def told_apart(entries: Sequence[AnyEntry]) -> Sequence[AnyEntry]:
    """Name tests by their groups where groups share a test: one board does not retry another's."""
    groups: dict[str, str] = {}
    if all(groups.setdefault(entry.test_id, entry.group) == entry.group for entry in entries):
        return entries
    return [replace(entry, test_id=stable_id(entry.group, entry.test_id)) for entry in entries]
