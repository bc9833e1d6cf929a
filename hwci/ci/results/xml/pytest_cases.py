# SPDX-License-Identifier: Apache-2.0
"""The cases that pytest's JUnit XML holds of one test.

This module decides which of them are tries: pytest writes the failure of a try that it tried again
into no case, so such a case looks like a pass. What else an XML may hold, it does not know.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from hwci.ci.results.model import Entry

SUITE = "pytest"
FILE = "pytest tests"
"""The file's name, where pytest writes one: its suite may be called anything."""
TEARDOWN = "failed on teardown with"
"""How pytest begins the message of an error of a test's teardown."""
PARTS = re.compile(r"contains \d+ failed subtest")
"""The message of a test of which parts failed, beside theirs. A try has theirs alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseEntry(Entry):
    """A `<testcase>` that was read whole. `failures`: its elements that say so."""

    nth: int
    """Which try it is, as its file says; 0 if it does not."""
    failures: int
    called: bool
    """The test itself failed, not only its setup or teardown."""
    teardown: bool
    """Nothing but its teardown failed."""
    parts: bool
    """Parts of it failed, and it was not tried again."""


def tried(entries: Sequence[CaseEntry], counted: int | None) -> Iterator[CaseEntry]:
    """Yield the cases of a suite of pytest with the outcomes of the tries. `counted`: how many
    tests the suite counts.

    pytest counts no try that it tried again. So where a suite has more cases than it counts,
    earlier cases of a test are tries that failed (pytest-rerunfailures from 16.6.1, flaky). Where
    it has as many, each case is a run of its own (pytest-stress, `--keep-duplicates`). With both,
    each test ran as often as the one with the fewest cases, and the cases beyond that are tries.
    """
    tests: dict[str, list[CaseEntry]] = {}
    for entry in entries:
        own = tests.setdefault(entry.test_id, [])
        if own and own[-1].called and entry.teardown:
            # pytest writes a case for a test that failed, and one for its teardown, each with its
            # own time.
            took = own[-1].duration_s + entry.duration_s
            own[-1] = replace(own[-1], duration_s=took)
            continue
        own.append(entry)
    uncounted = 0 if counted is None else _counted(entries) - counted
    # Of a try that only broke its teardown, some versions count that the test passed before.
    sure = [len(own) for own in tests.values() if not own[-1].teardown]
    loops = next(
        (
            count
            for count in (1, min(sure, default=1))
            if uncounted >= sum(sure) - count * len(sure)
        ),
        0,
    )
    for own in tests.values():
        tries = len(own) - loops if loops and uncounted > 0 else 0
        for at, entry in enumerate(own[:-1]):
            # A failure that is written was not tried again, unless it is one of a part.
            is_try = own[-1].parts and not entry.parts if entry.called else at < tries
            yield replace(entry, failed=True, tried_again=True) if is_try else entry
        yield own[-1]


def _counted(entries: Sequence[CaseEntry]) -> int:
    """Return how many tests pytest counts in cases each of which is a run of its own."""
    total, called = 0, set[str]()
    for entry in entries:
        if entry.teardown:  # the test was counted before: as failed, else as passed
            total += 0 if entry.test_id in called else 2
        else:
            total += max(entry.failures, 1)
        (called.add if entry.called else called.discard)(entry.test_id)
    return total
