# SPDX-License-Identifier: Apache-2.0
"""The results of one box: entries of files become attempts, and attempts become test items (spec,
"Test item"; semantics, 1.6).

This module decides what the files of a box say together, but for results of one name, which
`hwci.ci.results.tries` decides about. In which format a file was written, it does not know.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby

from hwci.ci.results.places import NOWHERE, Attempt, Place, Source
from hwci.ci.results.times import APART_FILES_MAX, Stamp, agreeing
from hwci.ci.results.tries import Tests, resolved
from hwci.contract.vocabulary import Outcome, Verdict
from hwci.wire import limits
from hwci.wire.links import is_address
from hwci.wire.reports import TestItem

# What one file holds


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What a file holds about a test in one place."""

    test_id: str
    place: Place = NOWHERE
    duration_s: float
    run: bool
    """False if it was skipped, or only listed."""
    failed: bool
    unbuilt: bool = False
    """It failed before there was a firmware to run."""
    verdict: Verdict = Verdict.UNKNOWN
    message: str = ""
    """What the harness wrote of the failure."""
    log_end: str = ""
    """The end of its log, where the harness wrote nothing."""
    ended: bool = True
    earlier: tuple[Verdict, ...] = ()
    """Verdicts of the attempts before the last one, oldest first; all of them failed."""
    tried_again: bool = False
    """It failed, and the file says that a later entry is its next try."""
    missing: str = ""
    """Why it could not run: something that it needs was missing."""
    outside: bool = False
    """A failure outside any test, which has the name of its suite."""


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
    missing: Mapping[str, str] = field(default_factory=dict)
    """Why tests could not run, though they were to: they are not items."""
    path: str = ""
    kind: str = ""
    """In which format it is written."""
    idle: Sequence[tuple[str, Place]] = ()
    """Tests that did not run, and where they stand."""


def file_results(
    entries: Sequence[Entry],
    stamps: Sequence[Stamp],
    duration_s: float,
    *,
    kind: str,
    tried: Iterable[Entry] | None = None,
    faults: tuple[str, ...] = (),
) -> FileResults:
    """Return the results that entries describe. `tried`: the entries with the outcomes of the
    attempts, if these differ.
    """
    return FileResults(
        attempts=[
            attempt
            for entry in (entries if tried is None else tried)
            for attempt in _attempts_of(entry)
        ],
        skipped=sum(not entry.run and not entry.missing for entry in entries),
        unbuilt=sum(entry.unbuilt for entry in entries),
        missing={entry.test_id: entry.missing for entry in entries if entry.missing},
        idle=[(entry.test_id, entry.place) for entry in entries if not entry.run or entry.unbuilt],
        started_at=None,
        duration_s=duration_s,
        kind=kind,
        faults=faults,
        stamps=stamps,
    )


def _attempts_of(entry: Entry) -> Iterator[Attempt]:
    if not entry.run or entry.unbuilt:
        return
    for verdict, tries in groupby(entry.earlier):
        before = Attempt(
            entry.test_id, Outcome.FAIL, 0.0, verdict, tried_again=True, place=entry.place
        )
        yield from (before for _ in tries)  # a file may say thousands of each test
    yield Attempt(
        entry.test_id,
        Outcome.FAIL if entry.failed else Outcome.PASS,
        entry.duration_s,
        entry.verdict,
        entry.message,
        entry.ended,
        entry.tried_again,
        entry.place,
        entry.outside,
        entry.log_end,
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
    missing: Mapping[str, str] = field(default_factory=dict)
    """Why tests could not run that ran in no file."""
    notes: tuple[str, ...] = ()
    """What was decided about results of one name, as lines."""

    @property
    def took(self) -> timedelta:
        """What the tests took, one after the other."""
        return _taken(self.duration_s)

    @property
    def succeeded(self) -> bool:
        """Something ran and passed, and nothing failed, not even before it could run."""
        passed = all(item.outcome is Outcome.PASS for item in self.tests)
        return bool(self.tests) and passed and not self.unbuilt and not self.missing


def merged(
    files: Iterable[FileResults],
    *,
    without_secrets: Callable[[str], str] | None = None,
    by_file: bool = False,
    board: str = "",
    address_of: Callable[[str], str] = str,
) -> BoxResults:
    """Merge the files of one box. `without_secrets`: what is reported of a text of a failed test,
    which may hold some; None: nothing. `by_file`: how tests are named, see `resolved`. `board`: on
    which tests ran that name none. `address_of`: where a file is that a test attaches.
    """
    box_files = tuple(files)
    resolution = _resolved(box_files, by_file=by_file)
    tests = resolution.tries
    ran = {attempt.test_id for file in box_files for attempt in file.attempts}
    spans = {
        at: Stamp(file.started_at, took=_taken(file.duration_s))
        for at, file in enumerate(box_files)
        if file.started_at is not None
    }
    believed = agreeing(spans, pause=APART_FILES_MAX)
    ends = [
        min(spans[at].end, file.written_at)
        for at, file in enumerate(box_files)
        if at in believed and file.written_at is not None
    ]
    reckoned = [
        file.written_at - _taken(file.duration_s)
        for file in box_files
        if file.written_at is not None
    ]
    return BoxResults(
        tests=tuple(
            _item(
                test_id,
                attempts,
                attempts[-1].place.unit or board,
                address_of(attempts[-1].place.log),
                without_secrets,
            )
            for test_id, attempts in tests.items()
        ),
        skipped=sum(file.skipped for file in box_files),
        started_at=min((spans[at].at for at in believed), default=None),
        duration_s=sum(file.duration_s for file in box_files),
        unbuilt=sum(file.unbuilt for file in box_files),
        ran_until=max(ends, default=None),
        cut=tuple(test_id for test_id, attempts in tests.items() if _is_beyond(attempts)),
        reckoned_start=min(reckoned, default=None),
        odd_starts=tuple(span.at for at, span in spans.items() if at not in believed),
        missing={
            test_id: why
            for file in box_files
            for test_id, why in file.missing.items()
            if test_id not in ran
        },
        notes=tuple(resolution.notes),
    )


def named(
    files: Iterable[FileResults], *, by_file: bool = False
) -> Mapping[str, Sequence[Attempt]]:
    """Return the tries of each test that files of one box hold, by its name."""
    return _resolved(files, by_file=by_file).tries


def _resolved(files: Iterable[FileResults], *, by_file: bool) -> Tests:
    sources = [
        Source(
            file.path,
            file.kind,
            file.attempts,
            file.started_at,
            file.written_at,
            file.duration_s,
            file.idle,
        )
        for file in files
    ]
    return resolved(sources, by_file=by_file)


def _taken(seconds: float) -> timedelta:
    return timedelta(seconds=min(seconds, limits.DURATION_MAX))


def _seconds_of(attempts: Sequence[Attempt]) -> float:
    return sum(attempt.duration_s for attempt in attempts)


def _is_beyond(attempts: Sequence[Attempt]) -> bool:
    return len(attempts) > limits.ATTEMPTS_MAX or _seconds_of(attempts) > limits.DURATION_MAX


def _item(
    test_id: str,
    attempts: Sequence[Attempt],
    board: str,
    log: str,
    without_secrets: Callable[[str], str] | None,
) -> TestItem:
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
    if board:
        fields["board"] = _CONTROLS.sub("\ufffd", board)[: limits.NAME_MAX]
    if len(log) <= limits.URL_MAX and is_address(log):
        fields["log_url"] = log
    if without_secrets is not None and not passed:
        message = _last(plain(without_secrets(item.message)) for item in attempts)
        ends = (end_of(without_secrets(item.log_end)) for item in attempts)
        if written := message or _last(ends):
            fields["message"] = written
    return TestItem.model_validate(fields)


def _last(texts: Iterable[str]) -> str:
    """Return the last text that is not empty."""
    return next(filter(None, reversed([*texts])), "")


LOG_END_MAX = 2 * limits.MESSAGE_MAX
"""So much of the end of a log is kept: some of it may be colours."""
SHOWN_OF_MESSAGE = 500
"""So many characters of what a harness wrote are reported, which begins with what matters."""

_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def plain(message: str) -> str:
    """Return the beginning of a message, without colours and with U+FFFD in place of other control
    characters: a device may have written noise.
    """
    return _readable(message[: 4 * SHOWN_OF_MESSAGE])[:SHOWN_OF_MESSAGE].rstrip()


def end_of(log: str) -> str:
    """Return the last whole lines of a log that a message can hold, as readable as one."""
    text = _readable(log)
    if len(text) <= limits.MESSAGE_MAX:
        return text
    end = text[-limits.MESSAGE_MAX :]
    return end.partition("\n")[2].lstrip() or end


def _readable(text: str) -> str:
    return _CONTROLS.sub("\ufffd", _COLOURS.sub("", text).replace("\r\n", "\n").strip())
