# SPDX-License-Identifier: Apache-2.0
"""What a report would say where something is missing (contract, "Command line"): a dry run shows
what is known, names what is not with the way to tell it, and invents nothing in its place.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hwci.cli.reporting import delivery, needs
from hwci.cli.reporting.run_changes import Commits
from hwci.cli.reporting.run_results import Results, results_of, with_starts
from hwci.cli.terminal.options import now

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hwci.ci.job import Job
    from hwci.ci.reporting.report import ReportHead
    from hwci.cli.reporting.job import Here
    from hwci.client.explained import ExplainedError
    from hwci.wire.reports import RunReport

OF_COMMITS = ("covers_shas", "changes")
UNNAMED = "a box that nobody names"


def show_draft(
    place: Here, files: Sequence[str], missing: Sequence[str], told: Commits
) -> ExplainedError:
    """Print what would be sent, and give the error of what is missing."""
    from hwci.client import calls

    drafts = [calls.report_run(one) for one in _drafts(place, files, missing, told)]
    delivery.print_exactly(delivery.Parcel(UNNAMED, call) for call in drafts)
    return needs.lacking("report", missing, shown=True)


def _drafts(
    place: Here, files: Sequence[str], missing: Sequence[str], told: Commits
) -> Iterator[RunReport]:
    from hwci.ci.reporting.report import draft

    job, boxes = place.job, {}
    conclusion = None
    if "tests" not in missing:
        results = _results(place, files)
        boxes = dict(results.boxes)
        conclusion = results.conclusion() if boxes else None
        job = job.dated(job.value("started_at") or results.started_at() or now())
    head = head_of(job, told, conclusion)
    if not boxes:
        yield draft(head, job.value("box_key"), None)
    for box_key, found in boxes.items():
        yield draft(head, None if box_key == UNNAMED else box_key, found)


def _results(place: Here, files: Sequence[str]) -> Results:
    from hwci.ci.sourced import Sourced as Said

    job = place.job
    if "box_key" not in job.fields:
        job = replace(job, fields={**job.fields, "box_key": Said(UNNAMED, "nobody")})
    return with_starts(results_of(job, files, place.project), job)


def head_of(job: Job, told: Commits, conclusion: str | None) -> ReportHead:
    """Give what is the same for each box of a run. `conclusion`: that of the tests."""
    from hwci.ci.reporting.report import ReportHead

    of_job = [name for name in ReportHead.__dataclass_fields__ if name not in OF_COMMITS]
    said: dict[str, Any] = {name: job.value(name) for name in of_job}
    said["conclusion"] = said["conclusion"] or conclusion
    return ReportHead(**said, covers_shas=told.covers_shas, changes=told.changes)
