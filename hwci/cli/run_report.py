# SPDX-License-Identifier: Apache-2.0
"""Reporting a run, from what its job, its result files and git say, or from a body that is whole
(spec, "Run report"). Each part is decided in a module of its own; here stands their order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import typer

from hwci.cli import bodies
from hwci.cli.failing import ExitCode, wrong_usage
from hwci.cli.hello import hello_ok
from hwci.cli.job import JobFlags, here, lacking
from hwci.cli.options import now
from hwci.cli.render import note
from hwci.cli.run_changes import Told, changes_of, remember_run
from hwci.cli.run_results import Results, results_of
from hwci.cli.run_sending import Sending, send

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from hwci.ci.job import Job
    from hwci.ci.reported import Reported
    from hwci.wire.reports import RunReport

REQUIRED = ("repo_key", "workflow", "run_id", "run_attempt", "trigger", "branch", "sha")
"""What the spec requires and result files do not hold."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a report is made of, beside the fields of its job."""

    files: tuple[str, ...] = ()
    """Result files, as `FILE` or `BOX=FILE`."""

    changes_file: str | None = None
    no_changes: bool = False
    hello_cmd: str | None = None
    before: Mapping[Path, int] | None = None
    """Result files that were there before the run, with the time of their last change."""

    def told(self) -> dict[str, object]:
        """Give what is said, by the names of the flags."""
        return {
            "junit": list(self.files),
            "changes": self.changes_file,
            "no_changes": self.no_changes,
            "hello_cmd": self.hello_cmd,
        }


def report_job(flags: JobFlags, asked: Asked, sending: Sending) -> None:
    """Report the run of this job.

    Raises:
        CommandError: wrong usage; or it was not taken, and the caller is strict.
        typer.Exit: a result file holds no results; the others are reported.
    """
    from hwci.ci.reported import Reported
    from hwci.ci.state import state_folder

    if asked.hello_cmd is not None and flags.hello_ok is None:
        flags = replace(flags, hello_ok=hello_ok(asked.hello_cmd))
    place = here(flags)
    results = results_of(place.job, asked.files, place.project, asked.before)
    job = _whole(place.job, results)
    if asked.before is not None:
        job = _without_results(job, results)
    told = changes_of(replace(place, job=job), asked.changes_file, no_changes=asked.no_changes)
    reports = _reports(job, results, told)
    known = Reported(state_folder(job.environ))
    replaced = _replaced(known, reports)
    if send(reports, sending, job, (*results.faults, *told.notes, *replaced)):
        known.keep(reports)
        remember_run(job, told, hello_ok=any(report.hello_ok for report in reports))
    if results.faults:
        raise typer.Exit(ExitCode.FAILED)


def report_body(path: str, beside: Mapping[str, object], sending: Sending) -> None:
    """Report a body that was written whole; flags of fields may not stand beside it.

    Raises:
        CommandError: it breaks the rules; or it was not taken, and the caller is strict.
    """
    from hwci.ci.report import written_reports

    send(bodies.from_file(written_reports, path, beside=beside), sending)


def _whole(job: Job, results: Results) -> Job:
    """Name a run that no CI counts by its start, and see that all is there.

    Raises:
        CommandError: wrong usage: the job lacks a field.
    """
    dated = job.dated(job.value("started_at") or results.started_at() or now())
    fault = lacking(dated, REQUIRED)
    if fault is not None:
        raise fault
    return dated


def _without_results(job: Job, results: Results) -> Job:
    """Say of a run that left no results that its boxes were not reached, where no check says it."""
    from hwci.ci import told

    if job.value("hello_ok") is not None or any(box.tests for box in results.boxes.values()):
        return job
    return replace(job, fields={**job.fields, "hello_ok": told.Told(False, "no results")})


def _replaced(known: Reported, reports: Sequence[RunReport]) -> tuple[str, ...]:
    """Say which reports replace those of other tests: most likely those of another job."""
    lines = tuple(
        f"The report of {report.box_key} replaces one of other tests: same run "
        f"{report.run_id}, attempt {report.run_attempt} and box. If they are of two jobs, give "
        "each a --run-id of its own"
        for report in reports
        if known.replaces_others(report)
    )
    for line in lines:
        note(f"warning: {line}.")
    return lines


def _reports(job: Job, results: Results, told: Told) -> list[RunReport]:
    """Make one report per box, in parts where it is large.

    Raises:
        CommandError: wrong usage: a field breaks its rule, or nothing says when the run started.
    """
    from pydantic import ValidationError

    from hwci.ci.report import ReportHead, StartUnknownError, run_reports
    from hwci.wire.errors import issues_of

    optional = ("suite", "started_at", "ended_at", "hello_ok")
    said: dict[str, Any] = {name: job.value(name) for name in (*REQUIRED, *optional)}
    said["conclusion"] = job.value("conclusion") or results.conclusion()
    head = ReportHead(**said, covers_shas=told.covers_shas, changes=told.changes)
    try:
        return run_reports(head, results.boxes)
    except StartUnknownError as fault:
        raise wrong_usage("The report lacks its start", str(fault), "Add --started-at") from fault
    except ValidationError as fault:
        raise bodies.bad_flags(issues_of(fault, "flags")) from fault
