# SPDX-License-Identifier: Apache-2.0
"""The result files of a run (spec, "Run report"): which file is of which box, and which hold
nothing. What the others say is decided in `hwci.ci`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from hwci.cli.failing import wrong_usage
from hwci.cli.render import note

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from hwci.ci.job import Job
    from hwci.ci.project import Project
    from hwci.ci.results import BoxResults, FileResults


@dataclass(frozen=True, slots=True)
class Results:
    """What the result files of a run hold. `faults`: of files that hold nothing."""

    boxes: Mapping[str, BoxResults]
    faults: tuple[str, ...] = ()

    def conclusion(self) -> str:
        """Say the result of a run whose CI does not say it."""
        failed = any(not results.succeeded for results in self.boxes.values())
        return "failure" if failed or self.faults else "success"

    def started_at(self) -> datetime | None:
        """Give the earliest start that the files tell."""
        starts = (results.started_at for results in self.boxes.values())
        return min((start for start in starts if start is not None), default=None)


def results_of(
    job: Job,
    files: Sequence[str],
    project: Project | None,
    before: Mapping[Path, int] | None = None,
) -> Results:
    """Read the result files of a run: `BOX=FILE`, or `FILE` of the job's box. A pattern stands for
    the files that match it; a run that ended before its tests left none. `before`: what was there
    before the run, which is not of it.

    Raises:
        CommandError: wrong usage: nothing says which box a file, or the run, is of; or there is
            nothing to report.
    """
    said = [_placed(text, job.value("box_key")) for text in files]
    found = [(box, path) for box, pattern in said for path in _matching(pattern)]
    if before is not None:
        new = [(box, path) for box, path in found if _is_new(path, before)]
        if said and not new:
            note("note: The run wrote no result file.")
        boxes = [box for box, _ in said] or [job.value("box_key") or _missing_box("this run")]
        return _with_empty(_read(new, project), boxes)
    if found:
        read = _read(found, project)
        empty = [box for box, _ in said if box not in dict(found)]
        return read if job.value("hello_ok") is None else _with_empty(read, empty)
    if job.value("hello_ok") is None:
        raise wrong_usage(
            "There is nothing to report",
            "no result file is there" if files else "neither --junit nor --body is given",
            "Give result files, or --hello failed for a run that never reached the hardware",
        )
    boxes = [box for box, _ in said] or [job.value("box_key") or _missing_box("this run")]
    return _with_empty(Results({}), boxes)


def times_of(files: Sequence[str]) -> dict[Path, int]:
    """Give the result files that are there now, with the time of their last change."""
    patterns = [_placed(text, "any")[1] for text in files]
    paths = [path for pattern in patterns for path in _matching(pattern, quiet=True)]
    return {path: path.stat().st_mtime_ns for path in paths if path.exists()}


def _is_new(path: Path, before: Mapping[Path, int]) -> bool:
    return path.exists() and path.stat().st_mtime_ns != before.get(path)


def _placed(text: str, own: str | None) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if equals and not Path(text).exists():
        return name, path
    return own or _missing_box(text), text


def _missing_box(what: str) -> NoReturn:
    raise wrong_usage(
        "The report lacks its box",
        f"nothing says which box {what} is of",
        "Add --box (or HWCI_BOX), or write --junit BOX=FILE",
    )


def _matching(pattern: str, *, quiet: bool = False) -> list[Path]:
    """Give the files of a pattern; what is a file, or is no pattern, is itself."""
    if Path(pattern).exists() or not has_magic(pattern):
        return [Path(pattern)]
    found = sorted(glob(pattern, recursive=True))  # noqa: PTH207 - it may begin at any folder
    if not found and not quiet:
        note(f"note: No file matches {pattern}.")
    return [Path(path) for path in found]


def _with_empty(results: Results, boxes: Sequence[str]) -> Results:
    from hwci.ci.results import BoxResults

    return replace(results, boxes={**{box: BoxResults() for box in boxes}, **results.boxes})


def _read(placed: Sequence[tuple[str, Path]], project: Project | None) -> Results:
    """Read every file; one that holds no results is named, and the others count."""
    from hwci.ci.results import merged
    from hwci.ci.results_file import ResultsFileError, read_results
    from hwci.ci.verdicts import with_built_in

    rules = with_built_in(project.verdicts if project else (), "hwci.toml")
    by_box: dict[str, list[FileResults]] = {}
    faults = []
    for box, path in placed:
        try:
            by_box.setdefault(box, []).append(read_results(path, rules))
        except ResultsFileError as fault:
            faults.append(str(fault))
            note(f"error: {fault}")
    # A box of broken files only says nothing: an empty report would say that nothing ran.
    boxes = {box: merged(files) for box, files in by_box.items() if files}
    return Results(boxes, tuple(faults))
