# SPDX-License-Identifier: Apache-2.0
"""The results of one box: entries of files become attempts, and attempts become test items (spec,
"Test item"; semantics, 1.6).

This module decides what a test is called and which repeats of a test are its attempts. In which
format a file was written, it does not know.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TypeVar

from hwci.ci.results.times import APART_FILES_MAX, Stamp, agreeing
from hwci.engine.vocabulary import Outcome, Verdict
from hwci.wire import limits
from hwci.wire.reports import TestItem

HASH_DIGITS = 16


def stable_id(classname: str, name: str) -> str:
    """Return the id of a test: `classname.name`, unless the name already begins with the classname.
    A longer one than a report may hold ends with a hash.
    """
    if not classname or name == classname or name.startswith(f"{classname}."):
        full = name
    else:
        full = f"{classname}.{name}" if name else classname
    if len(full) <= limits.TEST_ID_MAX:
        return full
    digest = hashlib.sha256(full.encode()).hexdigest()[:HASH_DIGITS]
    return f"{full[: limits.TEST_ID_MAX - HASH_DIGITS - 1]}~{digest}"


# What one file holds


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What a file holds about a test in one place."""

    group: str
    test_id: str
    duration_s: float
    run: bool
    """False if it was skipped, or only listed."""
    failed: bool
    unbuilt: bool = False
    """It failed before there was a firmware to run."""
    verdict: Verdict = Verdict.UNKNOWN
    message: str = ""
    """What the harness wrote of the failure."""
    ended: bool = True
    earlier: tuple[Verdict, ...] = ()
    """Verdicts of the attempts before the last one, oldest first; all of them failed."""


AnyEntry = TypeVar("AnyEntry", bound=Entry)


def distinct_by_group(entries: Sequence[AnyEntry]) -> Sequence[AnyEntry]:
    """Name tests by their groups too where groups share a test id: Twister groups by board, and one
    board does not retry another's test.
    """
    groups: dict[str, str] = {}
    if all(groups.setdefault(entry.test_id, entry.group) == entry.group for entry in entries):
        return entries
    return [replace(entry, test_id=stable_id(entry.group, entry.test_id)) for entry in entries]


@dataclass(frozen=True, slots=True)
class FileResults:
    """What one file holds, in its order. `started_at`: None if the file has no time."""

    attempts: Sequence[Attempt]
    skipped: int
    started_at: datetime | None
    duration_s: float
    unbuilt: int = 0
    """Tests whose firmware was not built: they ran on no hardware, and are not items."""
    written_at: datetime | None = None
    """When the file was last changed: at the end of its tests."""
    faults: tuple[str, ...] = ()
    """Parts that could not be read, beside all that is given here; each a line."""
    notes: tuple[str, ...] = ()
    """Parts that were read otherwise than they stand, without loss; each a line."""
    stamps: Sequence[Stamp] = ()
    """The times that the file holds, from which `started_at` is decided."""


def file_results(
    entries: Sequence[Entry],
    stamps: Sequence[Stamp],
    duration_s: float,
    *,
    tried: Iterable[Entry] | None = None,
    faults: tuple[str, ...],
) -> FileResults:
    """Return the results that entries describe. `tried`: the entries with the outcomes of the
    attempts, if these differ.
    """
    return FileResults(
        attempts=[one for entry in (entries if tried is None else tried) for one in _tries(entry)],
        skipped=sum(not entry.run for entry in entries),
        unbuilt=sum(entry.unbuilt for entry in entries),
        started_at=None,
        duration_s=duration_s,
        faults=faults,
        stamps=stamps,
    )


def _tries(entry: Entry) -> Iterator[Attempt]:
    if not entry.run or entry.unbuilt:
        return
    for verdict in entry.earlier:
        yield Attempt(entry.test_id, Outcome.FAIL, 0.0, verdict)
    outcome = Outcome.FAIL if entry.failed else Outcome.PASS
    yield Attempt(
        entry.test_id, outcome, entry.duration_s, entry.verdict, entry.message, entry.ended
    )


# What the files of a box hold together


@dataclass(frozen=True, slots=True)
class BoxResults:
    """The results of one box, one item per test, in order of first mention."""

    tests: Sequence[TestItem] = ()
    skipped: int = 0
    started_at: datetime | None = None
    duration_s: float = 0.0
    unbuilt: int = 0
    ran_until: datetime | None = None
    """When the last of the files ended, by its start and what its tests took, but no later than it
    was written, as a start without an offset may be hours off. None if no file has a start.
    """
    cut: tuple[str, ...] = ()
    """Tests that had more attempts, or took longer, than a report can say."""
    reckoned_start: datetime | None = None
    """The earliest start by when each file was written, less what its tests took: the same for the
    same files, whenever they are read.
    """
    odd_starts: tuple[datetime, ...] = ()
    """Starts of files that are not believed beside those of the others."""

    @property
    def took(self) -> timedelta:
        """What the tests took, one after the other."""
        return _taken(self.duration_s)

    @property
    def succeeded(self) -> bool:
        """Something ran and passed, and nothing failed, not even before it could run."""
        passed = all(item.outcome is Outcome.PASS for item in self.tests)
        return bool(self.tests) and passed and not self.unbuilt


def merged(files: Iterable[FileResults], *, messages: bool = False) -> BoxResults:
    """Merge the files of one box. A test that stands in several was tried as often, but a pass that
    repeats a pass is not another attempt: two files may describe one run. `messages`: failed tests
    keep what their harness wrote, which may hold a secret.
    """
    kept = tuple(files)
    tests: dict[str, list[Attempt]] = {}
    for file in kept:
        for attempt in file.attempts:
            tests.setdefault(attempt.test_id, []).append(attempt)
    spans = {
        at: Stamp(file.started_at, took=_taken(file.duration_s))
        for at, file in enumerate(kept)
        if file.started_at is not None
    }
    believed = agreeing(spans, pause=APART_FILES_MAX)
    ends = [
        min(spans[at].end, file.written_at)
        for at, file in enumerate(kept)
        if at in believed and file.written_at is not None
    ]
    reckoned = [
        file.written_at - _taken(file.duration_s) for file in kept if file.written_at is not None
    ]
    return BoxResults(
        tests=tuple(
            _item(test_id, attempts, messages=messages) for test_id, attempts in tests.items()
        ),
        skipped=sum(file.skipped for file in kept),
        started_at=min((spans[at].at for at in believed), default=None),
        duration_s=sum(file.duration_s for file in kept),
        unbuilt=sum(file.unbuilt for file in kept),
        ran_until=max(ends, default=None),
        cut=tuple(test_id for test_id, attempts in tests.items() if _is_beyond(attempts)),
        reckoned_start=min(reckoned, default=None),
        odd_starts=tuple(span.at for at, span in spans.items() if at not in believed),
    )


def _taken(seconds: float) -> timedelta:
    return timedelta(seconds=min(seconds, limits.DURATION_MAX))


def _seconds_of(attempts: Sequence[Attempt]) -> float:
    return sum(attempt.duration_s for attempt in attempts)


def _is_beyond(attempts: Sequence[Attempt]) -> bool:
    return len(attempts) > limits.ATTEMPTS_MAX or _seconds_of(attempts) > limits.DURATION_MAX


def _item(test_id: str, attempts: Sequence[Attempt], *, messages: bool) -> TestItem:
    """`pass` if some attempt passed; `fail` if every attempt failed (spec, "Test item")."""
    failures = sum(attempt.outcome is Outcome.FAIL for attempt in attempts)
    passed = failures < len(attempts)
    blamed = [item.verdict for item in attempts if item.verdict is not Verdict.UNKNOWN]
    fields: dict[str, object] = {
        "id": test_id,
        "outcome": Outcome.PASS if passed else Outcome.FAIL,
        # A pass needs no second one: of the attempts of a pass, all but one count as failed.
        "attempts": min(failures + passed, limits.ATTEMPTS_MAX),
        "duration_s": min(_seconds_of(attempts), limits.DURATION_MAX),
    }
    if blamed and not passed:
        fields["verdict"] = blamed[-1]
    said = [item.message for item in attempts if item.message] if messages and not passed else []
    if said and (message := plain(said[-1])):
        fields["message"] = message
    return TestItem.model_validate(fields)


_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def plain(message: str) -> str:
    """Return the beginning of a message, without colours and with U+FFFD in place of other control
    characters: a device may have written noise.
    """
    kept = _COLOURS.sub("", message[: 4 * limits.MESSAGE_MAX]).replace("\r\n", "\n").strip()
    return _CONTROLS.sub("\ufffd", kept)[: limits.MESSAGE_MAX].rstrip()
