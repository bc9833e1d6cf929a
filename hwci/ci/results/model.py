# SPDX-License-Identifier: Apache-2.0
"""Results of one box: attempts become test items (spec, "Test item"; semantics, 1.6).

This module decides what a test is called and how repeats of a test become its attempts. Which
files the attempts came from, and in what dialect, it does not know.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from hwci.ci.results.times import LONGEST_S
from hwci.engine.vocabulary import Outcome, Verdict
from hwci.wire import limits
from hwci.wire.reports import TestItem

HASH_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try of one test."""

    test_id: str
    outcome: Outcome
    duration_s: float
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class FileResults:
    """What one file holds, in its order. `started_at` None: it does not say."""

    attempts: Sequence[Attempt]
    skipped: int
    started_at: datetime | None
    duration_s: float
    unbuilt: int = 0
    """Tests whose firmware was not built: they ran on no hardware, and are no items."""
    written_at: datetime | None = None
    """When the file was changed last: at the end of its tests."""
    faults: tuple[str, ...] = ()
    """What of it could not be read, beside all that is given here; each a line."""
    notes: tuple[str, ...] = ()
    """What of it was read otherwise than it stands, and is whole all the same; each a line."""


@dataclass(frozen=True, slots=True)
class BoxResults:
    """What the files of one box hold together, one item per test, in order of first mention."""

    tests: Sequence[TestItem] = ()
    skipped: int = 0
    started_at: datetime | None = None
    duration_s: float = 0.0
    unbuilt: int = 0
    ran_until: datetime | None = None
    """When the last of the files ended, by its start and what its tests took: no later than it was
    written, as a start without an offset may be hours off. None: none says when it started.
    """
    reckoned_start: datetime | None = None
    """The earliest start by when each file was written, less what its tests took: the same for the
    same files, whenever they are read.
    """

    @property
    def took(self) -> timedelta:
        """What the tests took, one after the other."""
        return _taken(self.duration_s)

    @property
    def passed(self) -> int:
        """Tests of which some attempt passed."""
        return sum(item.outcome is Outcome.PASS for item in self.tests)

    @property
    def failed(self) -> int:
        """Tests of which every attempt failed."""
        return len(self.tests) - self.passed

    @property
    def succeeded(self) -> bool:
        """Something ran and passed, and nothing failed, not even before it could run."""
        return bool(self.tests) and not (self.failed or self.unbuilt)

    @property
    def retried(self) -> int:
        """Tests with more than one attempt."""
        return sum(item.attempts > 1 for item in self.tests)


def merged(files: Iterable[FileResults]) -> BoxResults:
    """Merge the files of one box: a test that stands in them several times was tried as often, but
    for passes that repeat a pass, as where two files tell of one run.
    """
    kept = tuple(files)
    tests: dict[str, list[Attempt]] = {}
    for file in kept:
        for attempt in file.attempts:
            tests.setdefault(attempt.test_id, []).append(attempt)
    starts = [file.started_at for file in kept if file.started_at is not None]
    ends = [
        min(file.started_at + _taken(file.duration_s), file.written_at)
        for file in kept
        if file.started_at is not None and file.written_at is not None
    ]
    reckoned = [
        file.written_at - _taken(file.duration_s) for file in kept if file.written_at is not None
    ]
    return BoxResults(
        tests=tuple(_item(test_id, attempts) for test_id, attempts in tests.items()),
        skipped=sum(file.skipped for file in kept),
        started_at=min(starts, default=None),
        duration_s=sum(file.duration_s for file in kept),
        unbuilt=sum(file.unbuilt for file in kept),
        ran_until=max(ends, default=None),
        reckoned_start=min(reckoned, default=None),
    )


def _taken(seconds: float) -> timedelta:
    return timedelta(seconds=min(seconds, LONGEST_S))


def _item(test_id: str, attempts: Sequence[Attempt]) -> TestItem:
    """`pass` if some attempt passed; `fail` if every attempt failed (spec, "Test item")."""
    failures = sum(attempt.outcome is Outcome.FAIL for attempt in attempts)
    passed = failures < len(attempts)
    blamed = [item.verdict for item in attempts if item.verdict is not Verdict.UNKNOWN]
    fields: dict[str, object] = {
        "id": test_id,
        "outcome": Outcome.PASS if passed else Outcome.FAIL,
        # A pass needs no second one: of the attempts of a pass, all but one count as failed.
        "attempts": failures + passed,
        "duration_s": sum(attempt.duration_s for attempt in attempts),
    }
    if blamed and not passed:
        fields["verdict"] = blamed[-1]
    return TestItem.model_validate(fields)


def stable_id(classname: str, name: str) -> str:
    """Name a test: `classname.name`, unless the name already begins with the classname."""
    if not classname or name == classname or name.startswith(f"{classname}."):
        full = name
    else:
        full = f"{classname}.{name}" if name else classname
    if len(full) <= limits.TEST_ID_MAX:
        return full
    digest = hashlib.sha256(full.encode()).hexdigest()[:HASH_DIGITS]
    return f"{full[: limits.TEST_ID_MAX - HASH_DIGITS - 1]}~{digest}"
