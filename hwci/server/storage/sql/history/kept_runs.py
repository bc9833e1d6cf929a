# SPDX-License-Identifier: Apache-2.0
"""Reports that were read as runs, kept for later transactions of this process.

What a run did follows from the digest of its report, which covers all that was sent (`digests.py`),
and from the numbers of its tests. A run is taken from here only where both are equal, so it is
right whatever became of rows and their ids: a report replaced or sent again, a transaction rolled
back, a backup put back, another database. Nothing has to be taken out because something changed.
This module decides how much is kept, and knows no database.
"""

from collections.abc import Iterable, Iterator, Mapping
from threading import Lock
from typing import NamedTuple

from hwci.analysis.outcomes import RunOutcomes
from hwci.engine.test_sets import mask_of
from hwci.server.storage.sql import codec

_BYTES = 8 * 1024 * 1024
_RUN, _RESULT, _TEST, _BOARD = 550, 45, 24, 200  # bytes of memory that each takes, about


class ListedTests:
    """The tests of reports in order and as a set. `packed`: as the database has them."""

    def __init__(self, packed: bytes) -> None:
        self.packed = packed
        self.order = codec.unpack_numbers(packed)
        self.tests = mask_of(self.order)


class ReadReport(NamedTuple):
    """A report as a run, or as the part of one with this number."""

    part: int | None
    tests: ListedTests
    run: RunOutcomes


Reports = Mapping[bytes, ReadReport]
"""Reports by their digests, in their order."""


class KeptRuns:
    """Reports and their lists, for all threads. `most`: bytes."""

    def __init__(self, most: int = _BYTES) -> None:
        self._most, self._lock = most, Lock()
        self._reports: Reports = {}
        self._lists: Mapping[bytes, ListedTests] = {}

    def listed(self, packed: bytes) -> ListedTests:
        """Return the list of these tests: the one that is kept, if there is one."""
        return self._lists.get(packed) or ListedTests(packed)

    def report(self, digest: bytes, tests: ListedTests) -> ReadReport | None:
        """Return the report with this digest and this list, if it is kept."""
        report = self._reports.get(digest)
        return report if report is not None and report.tests is tests else None

    def keep(self, reports: Reports) -> None:
        """Keep the reports of an answer. Those of answers long ago go first, and of one answer the
        oldest: most periods end now.
        """
        with self._lock:
            before = {key: report for key, report in self._reports.items() if key not in reports}
            latest = [*self._latest([*before.items(), *reports.items()])]
            self._reports = dict(reversed(latest))
            self._lists = {report.tests.packed: report.tests for _, report in latest}

    def _latest(
        self, reports: Iterable[tuple[bytes, ReadReport]]
    ) -> Iterator[tuple[bytes, ReadReport]]:
        """Yield the last of these reports first, as many as there is room for."""
        size, lists = 0, set[ListedTests]()
        for digest, report in reversed([*reports]):
            size += _RUN + _RESULT * len(report.run.notable) + _BOARD * len(report.run.boards)
            if report.tests not in lists:
                lists.add(report.tests)
                size += _TEST * len(report.tests.order)
            if size > self._most:
                return
            yield digest, report
