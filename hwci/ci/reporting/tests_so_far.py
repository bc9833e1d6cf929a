# SPDX-License-Identifier: Apache-2.0
"""The tests of a run as its result files show them while they are written. This module decides
which files are read again, and what is news. A file that cannot be read yet, or in part, is no
fault: it is about to change. How a file is read is decided in `hwci.ci.results`.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from hwci.ci.reporting.results import files_of
from hwci.ci.results.model import FileResults, merged, named
from hwci.ci.results.platforms import Platforms, with_names
from hwci.ci.results.read import ResultsFileError, read_results
from hwci.wire import limits
from hwci.wire.runs import RunEvents, TestEvent

BYTES_MAX = 16 * 1024 * 1024
"""A larger file is read at the end of the run only: its bench is busy with its tests."""


class TestsSoFar:
    """What is known of the tests of one box. `before`: the files that were there before the run,
    with the time of their last change; they are not of it. `by_file` and `platforms`: how tests are
    named.
    """

    __test__ = False  # pytest: not a test class

    def __init__(
        self,
        patterns: Sequence[str],
        before: Mapping[Path, int],
        *,
        by_file: bool = False,
        platforms: Platforms | None = None,
    ) -> None:
        self._patterns = patterns
        self._before = before
        self._by_file = by_file
        self._platforms = platforms
        self._seen: dict[Path, tuple[int, int]] = {}
        self._files: dict[Path, FileResults] = {}
        self._taken: dict[str, TestEvent] = {}

    def news(self) -> Generator[RunEvents]:
        """Yield the tests that began or ended, in batches. A batch was taken once the next is asked
        for; one that was not comes again.
        """
        self._read()
        tests = islice(self._events(), limits.LIVE_TESTS_MAX)
        news = [test for test in tests if self._taken.get(test.id) != test]
        for at in range(0, len(news), limits.RUN_EVENTS_MAX):
            batch = news[at : at + limits.RUN_EVENTS_MAX]
            yield RunEvents(events=batch)
            self._taken.update({test.id: test for test in batch})

    def _read(self) -> None:
        """Read the files that changed."""
        for pattern in self._patterns:
            for path in files_of(pattern, self._before):
                with suppress(OSError, ResultsFileError):
                    self._read_one(path)

    def _read_one(self, path: Path) -> None:
        status = path.stat()
        state = (status.st_mtime_ns, status.st_size)
        if state != self._seen.get(path) and status.st_size <= BYTES_MAX:
            self._seen[path] = state
            self._files[path] = with_names(read_results(path, ()), self._platforms)

    def _events(self) -> Iterator[TestEvent]:
        files = list(self._files.values())
        running = dict.fromkeys(
            name
            for name, tries in named(files, by_file=self._by_file).items()
            if not all(attempt.ended for attempt in tries)
        )
        ended = merged(files, by_file=self._by_file)
        for item in ended.tests:
            if item.id not in running:
                yield TestEvent(
                    type="test", id=item.id, outcome=item.outcome, attempts=item.attempts
                )
        for test_id in running:
            yield TestEvent(type="test", id=test_id)
