# SPDX-License-Identifier: Apache-2.0
"""The result files of a run (spec, "Run report"): which file is of which box, and which hold
nothing. What the others say is decided in `hwci.ci`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from hwci.cli.reporting import needs
from hwci.cli.terminal.errors import warn
from hwci.cli.terminal.options import now
from hwci.cli.terminal.render import note
from hwci.cli.terminal.tables import counted
from hwci.client.explained import ErrorMessage, wrong_usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from hwci.ci.job import Job
    from hwci.ci.project import Project
    from hwci.ci.results.model import BoxResults, FileResults

TO_TELL = "--hello-cmd COMMAND"
"""The way to tell that the hardware was not reached that each command knows."""


@dataclass(frozen=True, slots=True)
class Results:
    """What the result files of a run hold. `faults`: what of them could not be read. It may have
    failed, so that the run did not succeed as far as its files tell.
    """

    boxes: Mapping[str, BoxResults]
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What of them was read otherwise than it stands, which costs nothing."""

    def conclusion(self) -> str:
        """Say the result of a run whose CI does not say it."""
        failed = any(not results.succeeded for results in self.boxes.values())
        return "failure" if failed or self.faults else "success"

    def started_at(self) -> datetime | None:
        """Give the earliest start that the files tell."""
        starts = (results.started_at for results in self.boxes.values())
        return min((start for start in starts if start is not None), default=None)


def warn_of_faults(results: Results, job: Job, *, strict: bool) -> None:
    """Say what faults of the files mean for the report: each was named as it was read.

    Raises:
        ExplainedError: there are some, and the caller is strict.
    """
    if not results.faults:
        return
    fix = "Look at what wrote them, and whether it was cut short"
    what = "Not all results were reported"
    if not any(box.tests for box in results.boxes.values()):
        what = "The report of the run holds no test"
        if job.value("hello_ok") is None:
            fix = f"{fix}. If the hardware was not reached, {TO_TELL} tells it"
    why = "not every result file could be read whole; what could not is named above"
    warn(ErrorMessage(what, why, fix), strict=strict)


def uncounted(results: Results, job: Job) -> tuple[str, ...]:
    """Say that tests ran where the hardware is said not to have been reached."""
    tests = sum(len(box.tests) for box in results.boxes.values())
    if not tests or job.value("hello_ok") is not False:
        return ()
    what = "ran, but hello says that the hardware was not reached: the run is an infra run, and"
    fix = "they count nowhere. If it was reached, correct the check"
    return (f"{counted(tests, 'test')} {what} {fix}",)


def unsaid(job: Job, files: Sequence[str], *, ran: bool) -> list[str]:
    """Give the fields that a report needs and nobody tells, in the order of the spec; `tests`
    stands for all that result files tell. `ran`: the command ran the tests, and tells it itself.

    Raises:
        ExplainedError: wrong usage: a name of a result file is none.
    """
    known = set(job.fields)
    boxes = [_parted(text)[0] for text in files]
    if files or ran or "hello_ok" in known:
        known.update(needs.OF_RESULTS)
    if files and None not in boxes:
        known.add("box_key")
    missing = [name for name in needs.of_run() if name not in known]
    return [name for name in missing if "tests" not in missing or name not in needs.OF_RESULTS[:-1]]


def placed(job: Job, files: Sequence[str]) -> list[tuple[str, str]]:
    """Give the box of each file or pattern, as it is said with it, else the job's.

    Raises:
        ExplainedError: wrong usage: nobody tells which box a file is of, or --box is of none.
    """
    own = job.fields.get("box_key")
    default = None if own is None else str(own.value)
    said = [(box or default or _boxless(), path) for box, path in map(_parted, files)]
    if said and own is not None and own.source == "--box" and own.value not in dict(said):
        raise wrong_usage(
            "--box names a box that no file is of",
            f"each --junit names its own: {', '.join(dict(said))}",
            "Leave --box out, or write --junit FILE without a box for its files",
        )
    return said


def results_of(
    job: Job,
    files: Sequence[str],
    project: Project | None,
    before: Mapping[Path, int] | None = None,
) -> Results:
    """Read the result files of a run: `BOX=FILE`, or `FILE` of the job's box. A pattern stands for
    the files that match it; a run that ended before its tests, or while it wrote, left none that
    can be read, and is reported without tests.
    `before`: what was there before the run, which is not of it.

    Raises:
        ExplainedError: wrong usage: nobody tells which box a file, or the run, is of.
    """
    said = placed(job, files)
    reached = job.value("hello_ok")
    found = [(box, pattern, _files_of(pattern, before)) for box, pattern in said]
    there = [(box, path) for box, _, paths in found for path in paths]
    read = _read(there, project)
    absent = _absent(found, before, expected=reached is False)
    boxes = [box for box, _ in said] or [job.value("box_key") or _boxless()]
    return Results(_in_order(boxes, read.boxes), (*absent, *read.faults), read.notes)


def with_starts(results: Results, job: Job) -> Results:
    """Let boxes start whose files do not say when: when they were written, less what the tests
    took. Boxes that left no file start when the others did, else now: a report is made at the end
    of its run, and what reached no test ended where it began.
    """
    if job.value("started_at") is not None:
        return results
    latest = min(filter(None, (now(), job.value("ended_at"))))
    boxes = {
        box: _started(box, found, min(found.reckoned_start, latest - found.took))
        if found.started_at is None and found.reckoned_start is not None
        else found
        for box, found in results.boxes.items()
    }
    idle = [box for box, found in boxes.items() if found.started_at is None]
    if not idle:
        return replace(results, boxes=boxes)
    at = replace(results, boxes=boxes).started_at() or latest
    note(f"note: Nothing says when the run on {', '.join(idle)} started: {_better(at)}")
    started = {box: replace(boxes[box], started_at=at) for box in idle}
    return replace(results, boxes={**boxes, **started})


def _started(box: str, found: BoxResults, at: datetime) -> BoxResults:
    note(
        f"note: No file of {box} says when its tests ran. By when the files were written and what "
        f"the tests took, {_better(at)}"
    )
    return replace(found, started_at=at)


def _better(at: datetime) -> str:
    from hwci.wire.base import write_time

    told = "--started-at (HWCI_STARTED_AT) says it better."
    return f"{write_time(at)} is reported. {told}"


def times_of(files: Sequence[str]) -> dict[Path, int]:
    """Give the result files that are there now, with the time of their last change."""
    paths = [path for text in files for path in _matching(_parted(text)[1])]
    changed = {path: _changed_at(path) for path in paths}
    return {path: at for path, at in changed.items() if at is not None}


def _files_of(pattern: str, before: Mapping[Path, int] | None) -> list[Path]:
    """Give the files of a pattern that are of the run; `before`: what was there before it."""
    found = [path for path in _matching(pattern) if not _missing(path)]
    if before is None:
        return found
    return [path for path in found if _changed_at(path) != before.get(path)]


def _absent(
    found: Sequence[tuple[str, str, Sequence[Path]]],
    before: Mapping[Path, int] | None,
    *,
    expected: bool,
) -> tuple[str, ...]:
    """Name what is not there. A run that reached no hardware is `expected` to leave nothing, and a
    pattern may match nothing beside other files of its box; all else is a fault.
    """
    has_files = {box for box, _, paths in found if paths}
    faults = []
    for box, pattern, paths in found:
        if paths:
            continue
        magic = has_magic(pattern)
        what = "No file matches" if magic else "There is no such file"
        line = f"{pattern}: {what if before is None else 'The run wrote no such file'}."
        if expected or (magic and box in has_files):
            note(f"note: {line}")
        else:
            note(f"warning: {line}")
            faults.append(line)
    return tuple(faults)


def _missing(path: Path) -> bool:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:  # reading it tells why
        return False
    return False


def _changed_at(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None


def _parted(text: str) -> tuple[str | None, str]:
    """Part `BOX=FILE`; the box of a mere file is None.

    Raises:
        ExplainedError: wrong usage: it names no file.
    """
    name, equals, path = text.partition("=")
    if not text.strip() or (equals and not (name.strip() and path.strip())):
        raise wrong_usage(
            "--junit names no result file",
            f"{text!r} is neither FILE nor BOX=FILE",
            "Give it a file (is the variable behind it set?), or leave it out",
        )
    if equals and not _exists(text):
        return name, path
    return None, text


def _exists(name: str) -> bool:
    """Tell whether there is such a file; a name that can be none is none."""
    return os.path.exists(name)  # noqa: PTH110 - a Path raises where the name is too long


def _boxless() -> NoReturn:
    raise needs.lacking("report", ["box_key"])


def _matching(pattern: str) -> list[Path]:
    """Give the files of a pattern; what is a file, or is no pattern, is itself."""
    if _exists(pattern) or not has_magic(pattern):
        return [Path(pattern)]
    found = sorted(glob(pattern, recursive=True))  # noqa: PTH207 - it may begin at any folder
    return [Path(path) for path in found]


def _in_order(boxes: Sequence[str], read: Mapping[str, BoxResults]) -> dict[str, BoxResults]:
    """Give what the boxes ran, in the order in which they are said. One whose files hold nothing
    that can be read ran, too: what was to write them may have been killed at it.
    """
    from hwci.ci.results.model import BoxResults

    return {box: read.get(box) or BoxResults() for box in boxes}


def _read(placed: Sequence[tuple[str, Path]], project: Project | None) -> Results:
    """Read every file; what cannot be read is named, and the rest counts."""
    from hwci.ci.results.model import merged
    from hwci.ci.results.read import ResultsFileError, read_results
    from hwci.ci.results.verdicts import with_built_in

    rules = with_built_in(project.verdicts if project else (), "hwci.toml")
    by_box: dict[str, list[FileResults]] = {}
    faults: list[str] = []
    idle: list[tuple[str, Path, FileResults]] = []
    for box, path in placed:
        try:
            read = read_results(path, rules)
        except ResultsFileError as fault:
            faults.append(str(fault))
            continue
        by_box.setdefault(box, []).append(read)
        faults += read.faults
        idle += [] if read.attempts else [(box, path, read)]
    for line in faults:
        note(f"warning: {line}")
    boxes = {box: merged(files) for box, files in by_box.items()}
    for box, path, read in idle:
        _say_that_none_ran(path, read, alone=not boxes[box].tests)
    notes = tuple(line for files in by_box.values() for read in files for line in read.notes)
    for line in notes:
        note(f"note: {line}")
    return Results(boxes, tuple(faults), notes)


def _say_that_none_ran(path: Path, read: FileResults, *, alone: bool) -> None:
    """Say that a file holds no test that ran. `alone`: nor does any other of its box."""
    others = {"skipped": read.skipped, "not built": read.unbuilt}
    listed = ", ".join(f"{many} {what}" for what, many in others.items() if many)
    line = f"{path}: It holds no test that ran{f' ({listed})' if listed else ''}."
    if alone:
        line += " A run without any counts as failed, where nobody says its conclusion."
    note(f"{'warning' if alone else 'note'}: {line}")
