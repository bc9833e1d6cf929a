# SPDX-License-Identifier: Apache-2.0
"""The result files of a run (spec, "Run report"): the box of each file, files without tests, and
the start of a run that no file has. How a file is read is decided in `hwci.ci.results`.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from glob import glob, has_magic
from pathlib import Path
from urllib.parse import quote

from hwci.ci.job import Job
from hwci.ci.project import Project, names_by_file
from hwci.ci.reporting.bodies import OF_RESULTS, OF_RUN, missing_error
from hwci.ci.reporting.context import JobContext
from hwci.ci.results.model import BoxResults, FileResults, merged
from hwci.ci.results.platforms import by_box as parts_of
from hwci.ci.results.read import ResultsFileError, read_results
from hwci.ci.results.times import APART_FILES_MAX, APART_MAX, Stamp, agreeing
from hwci.ci.results.verdicts import with_built_in
from hwci.client.explained import ErrorMessage, wrong_usage
from hwci.contract.vocabulary import Outcome, Verdict
from hwci.said import counted
from hwci.wire import limits
from hwci.wire.base import write_time
from hwci.wire.links import is_address
from hwci.wire.reports import TestItem

_PLACE = "LG_PLACE"
"""labgrid's variable of the place that a job acquired, which is a board."""
_ARTIFACTS = "HWCI_ARTIFACTS"
"""The variable of the address of an artifact of the job, with `{path}` in place of its path."""
_SECRET = re.compile(r"token|secret|passw|credential|private|(?:^|_)key(?:_|$)", re.IGNORECASE)
"""Names of variables whose values no message shows."""
SECRET_MIN = 8
"""Shorter values are words that a message may need."""
_NAME = re.compile(r"[\w.:/-]{1,255}")
"""A place by its name: `+` is the one of a token, and a pattern is no name."""
_OLDER = "Older than the run, which did not write it"
UNNAMED = "an unnamed box"
"""Stands for a box where none is known."""
HELLO_FLAG = "--hello-cmd COMMAND"
"""The flag of every command that reports a run for hardware that was not reached."""


@dataclass(frozen=True, slots=True)
class Results:
    """What the result files of a run hold. `faults`: what could not be read; it may have failed,
    so such a run does not count as a success by its files. `notes`: what was read otherwise than it
    stands, without loss. `notices`: these and all else that people should know, as lines.
    """

    boxes: Mapping[str, BoxResults]
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    whole: Mapping[str, str] = field(default_factory=dict)
    """The box of the files of each box that was read: one may be several by their platforms."""
    unread: tuple[str, ...] = ()
    """Faults of files of which nothing could be read."""

    def conclusion(self) -> str:
        """Return the result of a run whose CI does not report it."""
        failed = any(not results.succeeded for results in self.boxes.values())
        return "failure" if failed or self.faults else "success"

    def started_at(self) -> datetime | None:
        """Return the earliest start in the files."""
        starts = (results.started_at for results in self.boxes.values())
        return min((start for start in starts if start is not None), default=None)

    def incomplete(self, job: Job) -> tuple[ErrorMessage, ...]:
        """Return what faults of the files mean for the report."""
        if not self.faults:
            return ()
        fix = "Look at what wrote them, and whether it was cut short"
        what = "Not all results were reported"
        if not any(box.tests for box in self.boxes.values()):
            what = "The report of the run holds no test"
            if job.value("hello_ok") is None:
                fix = f"{fix}. If the hardware was not reached, report that: {HELLO_FLAG}"
        why = "a result file is missing, not whole, or at odds with itself; each is named above"
        return (ErrorMessage(what, why, fix),)

    def uncounted(self, job: Job) -> tuple[str, ...]:
        """Return the warning that tests ran where the hardware was not reached."""
        tests = sum(len(box.tests) for box in self.boxes.values())
        if not tests or job.value("hello_ok") is not False:
            return ()
        what = "ran, but hello says that the hardware was not reached: the run is an infra run, and"
        fix = "they count nowhere. If it was reached, correct the check"
        return (f"{counted(tests, 'test')} {what} {fix}",)


def unblamed(tests: Iterable[TestItem]) -> str | None:
    """Return what it means that no failed test has a verdict; None if one has, or none failed."""
    failed = [test for test in tests if test.outcome is Outcome.FAIL]
    if not failed or any(test.verdict is not Verdict.UNKNOWN for test in failed):
        return None
    return (
        f"No verdict: {counted(len(failed), 'failed test')} blamed neither the device nor the "
        "bench. Once it passes on a later commit, such a failure is ambiguous until a person "
        "reviews it. To set verdicts by the "
        "message of a failure, add [[verdict]] rules to hwci.toml."
    )


def missing_of_run(job: Job, files: Sequence[str], *, ran: bool) -> list[str]:
    """Return the missing fields of a report, in the order of the spec; `tests` stands for all that
    result files set. `ran`: the command ran the tests, and knows it itself.
    """
    known = set(job.fields)
    boxes = [_box_and_path(text)[0] for text in files]
    if files or ran or "hello_ok" in known:
        known.update(OF_RESULTS)
    if files and None not in boxes:
        known.add("box_key")
    missing = [name for name in OF_RUN if name not in known]
    return [name for name in missing if "tests" not in missing or name not in OF_RESULTS[:-1]]


def placed(job: Job, files: Sequence[str]) -> list[tuple[str, str]]:
    """Return the box of each file or pattern: its own, else the job's."""
    own = job.fields.get("box_key")
    pairs = [(box or job.value("box_key"), path) for box, path in map(_box_and_path, files)]
    if not all(box for box, _ in pairs):
        raise missing_error("report", ["box_key"])
    if pairs and own is not None and own.source == "--box" and own.value not in dict(pairs):
        raise wrong_usage(
            "--box names a box that no file is of",
            f"each --junit names its own: {', '.join(dict(pairs))}",
            "Leave --box out, or write --junit FILE without a box for its files",
        )
    return pairs


def results_of(
    context: JobContext,
    files: Sequence[str],
    before: Mapping[Path, int] | None = None,
    *,
    messages: bool | None = None,
) -> Results:
    """Read the result files of a run: `BOX=FILE`, or `FILE` of the job's box. A pattern stands for
    the files that match it; a run that ended before its tests, or while it wrote, left none that
    can be read, and is reported without tests. Each box has a start: see `_with_starts`.
    `before`: what was there before the run, which is not of it. `messages`: whether those of failed
    tests are reported; None: as the project file has it.
    """
    job, project = context.job, context.project
    if messages is None:
        messages = project is not None and project.messages
    pairs = placed(job, files)
    boxes = list(dict.fromkeys(box for box, _ in pairs)) or [job.value("box_key")]
    if boxes == [None]:
        raise missing_error("report", ["box_key"])
    matches = [(box, pattern, files_of(pattern, before)) for box, pattern in pairs]
    there = list(
        {(box, path.resolve()): (box, path) for box, _, paths in matches for path in paths}.values()
    )
    place = job.environ.get(_PLACE, "")
    board = place if _NAME.fullmatch(place) else ""
    files_of_box = partial(
        merged,
        without_secrets=partial(_struck_out, _secrets(job.environ)) if messages else None,
        by_file=names_by_file(project),
        board=board,
        address_of=partial(_address_of, job.environ.get(_ARTIFACTS, ""), Path.cwd()),
    )
    read = _read(there, project, files_of_box)
    expected = job.value("hello_ok") is False
    absent, notices = _absent(matches, ran=before is not None, expected=expected)
    # A box whose files hold nothing that can be read ran, too: what writes them may be killed.
    by_box: dict[str, BoxResults] = {}
    for box in boxes:
        parts = {key: read.boxes[key] for key, whole in read.whole.items() if whole == box}
        by_box |= parts or {box: BoxResults()}
    whole = Results(
        by_box,
        (*absent, *read.faults),
        read.notes,
        (*read.notices, *notices),
        unread=(*absent, *read.unread),
    )
    return _with_starts(whole, job, context.command.clock())


def _with_starts(results: Results, job: Job, now: datetime) -> Results:
    """Return the results with a start for each box whose files hold none: when they were
    written, less what the tests took. Boxes that left no file start when the others did, else now:
    a report is made at the end of its run, and what reached no test ended where it began.
    """
    if job.value("started_at") is not None:
        return results
    latest = min(filter(None, (now, job.value("ended_at"))))
    boxes, notices = dict(results.boxes), list(results.notices)
    for box, start in _odd_boxes(results, now).items():
        what = f"The time of the files of {box}, {write_time(start)}, is not believed"
        notices.append(f"note: {what}")
        boxes[box] = replace(boxes[box], started_at=None)
    for box, of_box in boxes.items():
        if of_box.started_at is None and of_box.reckoned_start is not None:
            at = min(of_box.reckoned_start, latest - of_box.took)
            notices.append(
                f"note: No file of {box} holds the time of its tests. By when the files were "
                f"written and what the tests took, {_better(at)}"
            )
            boxes[box] = replace(of_box, started_at=at)
    if idle := [box for box, of_box in boxes.items() if of_box.started_at is None]:
        at = replace(results, boxes=boxes).started_at() or latest
        names = ", ".join(idle)
        notices.append(f"note: The start of the run on {names} is not known: {_better(at)}")
        boxes |= {box: replace(boxes[box], started_at=at) for box in idle}
    return replace(results, boxes=boxes, notices=tuple(notices))


def _odd_boxes(results: Results, now: datetime) -> dict[str, datetime]:
    """Return the starts of boxes that no clock shows that is right: they are of a later time than
    it is, or far from those of the other boxes.
    """
    starts = {
        box: of_box.started_at
        for box, of_box in results.boxes.items()
        if of_box.started_at is not None
    }
    past = {box: Stamp(start) for box, start in starts.items() if start <= now + APART_MAX}
    believed = agreeing(past, pause=APART_FILES_MAX)
    return {box: start for box, start in starts.items() if box not in believed}


def _better(at: datetime) -> str:
    return f"{write_time(at)} is reported. To correct it, set --started-at (HWCI_STARTED_AT)."


def times_of(files: Sequence[str]) -> dict[Path, int]:
    """Return the result files that are there now, with the time of their last change."""
    paths = [path for text in files for path in _matching(_box_and_path(text)[1])]
    changed = {path: _changed_at(path) for path in paths}
    return {path: at for path, at in changed.items() if at is not None}


def files_of(pattern: str, before: Mapping[Path, int] | None) -> list[Path]:
    """Return the files of a pattern that are of the run; `before`: what was there before it."""
    paths = [path for path in _matching(pattern) if not _is_missing(path)]
    if before is None:
        return paths
    return [path for path in paths if _changed_at(path) != before.get(path)]


def _absent(
    matches: Sequence[tuple[str, str, Sequence[Path]]], *, ran: bool, expected: bool
) -> tuple[list[str], list[str]]:
    """Return what is not there: the faults, and all as notices. A run that reached no hardware is
    `expected` to leave nothing, and a pattern may match nothing beside other files of its box; all
    else is a fault.
    """
    has_files = {box for box, _, paths in matches if paths}
    faults, notices = list[str](), list[str]()
    for box, pattern, paths in matches:
        if paths:
            continue
        magic = has_magic(pattern)
        what = "No file matches" if magic else "There is no such file"
        if ran:
            what = _OLDER if files_of(pattern, None) else "The run wrote no such file"
        line = f"{pattern}: {what}."
        if expected or (magic and box in has_files):
            notices.append(f"note: {line}")
        else:
            notices.append(f"warning: {line}")
            faults.append(line)
    return faults, notices


def _is_missing(path: Path) -> bool:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:  # reading it shows why
        return False
    return False


def _changed_at(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None


def _box_and_path(text: str) -> tuple[str | None, str]:
    """Return the parts of `BOX=FILE`; the box of a file alone is None."""
    name, equals, path = text.partition("=")
    if not text.strip() or (equals and not (name.strip() and path.strip())):
        raise wrong_usage(
            "--junit or FILE names no result file",
            f"{text!r} is neither FILE nor BOX=FILE",
            "Name a file (is the variable behind it set?), or leave it out",
        )
    if equals and not _is_path(text, name, path):
        return name, path
    return None, text


def _is_path(text: str, name: str, path: str) -> bool:
    """Return whether `BOX=FILE` is a path as it stands: it matches files, or the folder whose name
    has the sign is there, and its file may come.
    """
    folder, slash, _ = path.partition("/")
    folders = f"{name}={folder}" if slash else text
    if _exists(text) or _exists(folders):
        return True
    return has_magic(folders) and bool(glob(folders, recursive=True))  # noqa: PTH207


def _exists(name: str) -> bool:
    return os.path.exists(name)  # noqa: PTH110 - a Path raises where the name is too long


def _matching(pattern: str) -> list[Path]:
    """Return the files of a pattern; what is a file, or is not a pattern, is itself."""
    if _exists(pattern) or not has_magic(pattern):
        return [Path(pattern)]
    paths = sorted(glob(pattern, recursive=True))  # noqa: PTH207 - it may begin at any folder
    return [Path(path) for path in paths]


def _secrets(environ: Mapping[str, str]) -> Sequence[str]:
    """Return the lines of secret variables, the longest first: one may hold another."""
    lines = {
        line
        for name, value in environ.items()
        if _SECRET.search(name)
        for line in value.splitlines()
        if len(line) >= SECRET_MIN
    }
    return sorted(lines, key=len, reverse=True)


def _struck_out(secrets: Sequence[str], text: str) -> str:
    """Return a text without secrets."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return text


def _address_of(artifacts: str, folder: Path, log: str) -> str:
    """Return the address of a log: its own, or that of an artifact below the folder of the job."""
    if not log or not artifacts or is_address(log):
        return log
    path = os.path.relpath(log, folder) if Path(log).is_absolute() else os.path.normpath(log)
    if path.startswith(os.pardir):
        return ""
    return artifacts.replace("{path}", quote(Path(path).as_posix()))


def _read(
    there: Sequence[tuple[str, Path]],
    project: Project | None,
    merge: Callable[[Iterable[FileResults]], BoxResults],
) -> Results:
    """Read every file; what cannot be read is named, and the rest counts. `merge`: makes the
    results of a box of its files.
    """
    by_box: dict[str, list[FileResults]] = {}
    unread, faults = list[str](), list[str]()
    idle: list[tuple[str, Path, FileResults]] = []
    notes_of: dict[str, list[Path]] = {}
    split: dict[str, str] = {}
    with with_built_in(project.verdicts if project else ()) as rules:
        for box, path in there:
            try:
                read = read_results(path, rules.all)
            except ResultsFileError as fault:
                unread.append(str(fault))
                continue
            for key, part in parts_of(box, read, project.platforms if project else None).items():
                by_box.setdefault(key, []).append(part)
                split[key] = box
            for note in read.notes:
                notes_of.setdefault(note.removeprefix(str(path)), []).append(path)
            faults += read.faults
            idle += [] if read.attempts else [(box, path, read)]
    cut = [] if project is None else rules.notices(project.path)
    boxes = {box: merge(files) for box, files in by_box.items()}
    notes = [*_each_once(notes_of), *(line for of_box in boxes.values() for line in of_box.notes)]
    notices = [*cut, *(f"warning: {line}" for line in (*unread, *faults))]
    notices += [f"warning: {line}" for of_box in boxes.values() for line in _not_run(of_box)]
    notices += [_none_ran(path, read, alone=_is_alone(boxes.get(box))) for box, path, read in idle]
    if skipped := sum(file.skipped for files in by_box.values() for file in files if file.attempts):
        many = counted(skipped, "skipped test")
        notices.append(f"note: Left out: {many}. Only tests that ran count.")
    notices += [f"note: {_cut(test_id)}" for of_box in boxes.values() for test_id in of_box.cut]
    notices += [f"note: {_odd(box, of_box)}" for box, of_box in boxes.items() if of_box.odd_starts]
    notices += [f"note: {line}" for line in notes]
    return Results(boxes, (*unread, *faults), tuple(notes), tuple(notices), split, tuple(unread))


def _is_alone(box: BoxResults | None) -> bool:
    """Return whether no other file of a box holds a test."""
    return box is not None and not box.tests


def _not_run(results: BoxResults) -> Iterator[str]:
    """Yield why a run whose tests passed is no success: others were to run, and could not."""
    why = "the run is no success without them, unless its conclusion is set"
    if results.missing:
        name, reason = next(iter(results.missing.items()))
        many = counted(len(results.missing), "test")
        yield (
            f"{many} could not run, or not to the end (first: {name[:_SHOWN]}:"
            f" {reason[:_SHOWN]!r}): {why}."
        )
    if results.unbuilt and results.tests:
        yield f"{counted(results.unbuilt, 'test')} had no firmware that was built: {why}."


_SHOWN = 100


def _cut(test_id: str) -> str:
    return (
        f"{test_id} had more than {limits.ATTEMPTS_MAX:,} attempts or took more than"
        f" {limits.DURATION_MAX:,} s in all; its report says the most that it can."
    )


def _each_once(notes_of: Mapping[str, Sequence[Path]]) -> list[str]:
    """Return each note, behind the first of the files that it is of."""
    return [
        f"{paths[0]}{f' and {len(paths) - 1:,} more' if paths[1:] else ''}{note}"
        for note, paths in notes_of.items()
    ]


def _odd(box: str, results: BoxResults) -> str:
    """Return the notice of files whose start is not believed."""
    many, first = counted(len(results.odd_starts), "file"), write_time(min(results.odd_starts))
    return f"The times of {many} of {box}, such as {first}, are not believed beside those of others"


def _none_ran(path: Path, read: FileResults, *, alone: bool) -> str:
    """Return the notice of a file without a test that ran. `alone`: nor has any of its box."""
    others = {
        "skipped": read.skipped,
        "not built": read.unbuilt,
        "not run, as something was missing": len(read.missing),
    }
    listed = ", ".join(f"{many} {what}" for what, many in others.items() if many)
    line = f"{path}: It holds no test that ran{f' ({listed})' if listed else ''}."
    if alone:
        line += " A run without any counts as failed, unless its conclusion is set."
    return f"{'warning' if alone else 'note'}: {line}"
