# SPDX-License-Identifier: Apache-2.0
"""Reporting a run, from what its job, its result files and git say, or from a body that is whole
(spec, "Run report"). Each part is decided in a module of its own; here stands their order.
"""

from __future__ import annotations

from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hwci.bench.child import BY_SIGNAL, signals_taken
from hwci.bench.hello import reached, run_hello
from hwci.cli.reporting import bodies, hello, needs
from hwci.cli.reporting.job import Here, JobFlags, here
from hwci.cli.reporting.run_changes import Commits, changes_of
from hwci.cli.reporting.run_draft import head_of, show_draft
from hwci.cli.reporting.run_memory import Memory
from hwci.cli.reporting.run_results import (
    Results,
    results_of,
    times_of,
    uncounted,
    unsaid,
    warn_of_faults,
    with_starts,
)
from hwci.cli.reporting.run_sending import Sending, keep_as_known, send, taken
from hwci.cli.terminal.options import now, said
from hwci.cli.terminal.render import note
from hwci.client.explained import ExitCode, ExplainedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from hwci.ci.job import Job
    from hwci.ci.reported import Reported
    from hwci.ci.sourced import Sourced
    from hwci.wire.reports import RunReport


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

    def __post_init__(self) -> None:
        """See that what is said says something: a shell calls an empty check a success.

        Raises:
            ExplainedError: wrong usage: it does not.
        """
        said(self.changes_file, "--changes")
        said(self.hello_cmd, "--hello-cmd")

    @property
    def asks_others(self) -> bool:
        """Return whether git and the CI are asked what changed."""
        return not self.no_changes and self.changes_file is None

    def told(self) -> dict[str, object]:
        """Give what is said, by the names of the flags."""
        return {
            "junit": list(self.files),
            "changes": self.changes_file,
            "no_changes": self.no_changes,
            "hello_cmd": self.hello_cmd,
        }


def report_job(flags: JobFlags, asked: Asked, sending: Sending) -> None:
    """Report the run of this job. Git and the CI may take long to say what changed: meanwhile the
    report is on the disk without it, so that whoever is killed then leaves the results.

    Raises:
        ExplainedError: wrong usage; or the caller is strict, and it was not taken, or a result file
            holds no results: the others are reported.
    """
    from hwci.cli.reporting.run_marks import marked, settle

    place = here(flags)
    hello.doubt(place.job)
    _see_that_it_is_whole(place, asked, dry_run=sending.dry_run)
    results = results_of(place.job, asked.files, place.project, asked.before)
    results = with_starts(results, place.job)
    # A run that no CI counts is named by its start.
    job = place.job.dated(place.job.value("started_at") or results.started_at() or now())
    settle(job.environ)
    place = replace(place, job=job)
    _warned(*uncounted(results, job))
    with ExitStack() as kept:
        if not sending.dry_run and asked.asks_others:
            reports, _ = _reports(job, results, changes_of(place, None, no_changes=True))
            kept.enter_context(marked(reports, job.environ))
            keep_as_known(reports, sending)
        _report_whole(place, asked, results, sending)


def _report_whole(place: Here, asked: Asked, results: Results, sending: Sending) -> None:
    """Ask what changed, then report.

    Raises:
        ExplainedError: as `report_job`.
    """
    from hwci.ci.reported import Reported
    from hwci.ci.state import State, state_folder
    from hwci.cli.reporting.run_marks import marked

    job = place.job
    told = changes_of(place, asked.changes_file, no_changes=asked.no_changes)
    if sending.dry_run and (base := told.base()) is not None:
        note(f"note: {base}.")
    reports, fault = _reports(job, results, told)
    folder = state_folder(job.environ)
    known = Reported(folder)
    doubts = (*_doubted(place), *_replaced(known, reports))
    warnings = (*uncounted(results, job), *_warned(*_no_git(place, asked), *doubts))
    memory = Memory(known, State(folder), reports)
    remembering = replace(sending, when_kept=memory.begun_by(sending.when_kept))
    with nullcontext() if sending.dry_run else marked(reports, job.environ):
        delivered = send(
            reports, remembering, job, (*results.faults, *results.notes, *told.notes, *warnings)
        )
        memory.end_with(taken(reports, delivered))
    strict = sending.strict and fault is None
    delivered.say(strict=strict)
    warn_of_faults(results, job, strict=strict)
    if fault is not None:
        raise fault


def report_checked(flags: JobFlags, asked: Asked, command: str, sending: Sending) -> int:
    """Ask the connectivity check, then report the run. A signal that comes meanwhile waits until
    the report is on the disk. Give the exit code.

    Raises:
        ExplainedError: as `report_job`.
    """
    with signals_taken() as signals:
        ended = run_hello(command, signals, note)
        if not ended.cancelled:
            flags = replace(flags, hello_ok=reached(ended))
        else:
            note("The hello command was cut short: reporting the run without it.")
            # Without a file of any test there is no sign that the hardware was reached.
            flags = replace(flags, hello_ok=None if times_of(asked.files) else False)
        if not sending.dry_run:
            report_job(flags, asked, sending.after(ended, signals))
    if sending.dry_run and not ended.cancelled:
        report_job(flags, asked, sending)
    if signals.meanwhile is not None:
        return BY_SIGNAL + signals.meanwhile
    return ended.code if ended.cancelled else ExitCode.OK


def report_body(path: str, beside: Mapping[str, object], sending: Sending) -> None:
    """Report a body that was written whole; flags of fields may not stand beside it.

    Raises:
        ExplainedError: it breaks the rules; or it was not taken, and the caller is strict.
    """
    from hwci.ci.reporting.report import written_reports

    reports = bodies.from_file(written_reports, path, beside=beside)
    send(reports, sending).say(strict=sending.strict)


def _see_that_it_is_whole(place: Here, asked: Asked, *, dry_run: bool) -> None:
    """See that all is told; in a dry run, show what is known of a report that could not be sent.

    Raises:
        ExplainedError: wrong usage: the job lacks a field.
    """
    missing = unsaid(place.job, asked.files, ran=asked.before is not None)
    if not missing:
        return
    if not dry_run:
        raise needs.lacking("report", missing)
    told = Commits()
    if "sha" in place.job.fields:
        told = changes_of(place, asked.changes_file, no_changes=asked.no_changes)
    _warned(*_no_git(place, asked), *_doubted(place))
    raise show_draft(place, asked.files, missing, told)


def see_that_it_fits(job: Job, boxes: Iterable[str], started_at: datetime) -> None:
    """See, before a run, that its report will break no rule with what its job tells: it is made
    once without tests.

    Raises:
        ExplainedError: wrong usage: a field breaks its rule.
    """
    from hwci.ci.results.model import BoxResults

    results = Results({box: BoxResults(started_at=started_at) for box in boxes})
    told = Commits(covers_shas=job.value("covers_shas"))
    _, fault = _reports(job, results, told)
    if fault is not None:
        raise fault


def _replaced(known: Reported, reports: Sequence[RunReport]) -> tuple[str, ...]:
    """Say which reports replace those of other tests or products: most likely another job's."""
    return tuple(
        f"The report of {report.box_key} replaces {other}: same run {report.run_id}, attempt "
        f"{report.run_attempt} and box. If they are of two jobs, give each a --run-id of its own"
        for report in reports
        for other in [known.replaced(report)]
        if other is not None
    )


def _no_git(place: Here, asked: Asked) -> tuple[str, ...]:
    """Say why git cannot be asked, where nobody else says what changed."""
    why = place.no_git()
    said = asked.no_changes or asked.changes_file is not None
    return () if why is None or said else (f"{why}; --no-changes needs no git",)


def _doubted(place: Here) -> tuple[str, ...]:
    doubts = (place.doubt(), place.changed())
    return (*place.without(), *(f"{doubt.what}. {doubt.fix}" for doubt in doubts if doubt))


def _warned(*lines: str) -> tuple[str, ...]:
    for line in lines:
        note(f"warning: {line}.")
    return lines


def _reports(
    job: Job, results: Results, told: Commits
) -> tuple[list[RunReport], ExplainedError | None]:
    """Make one report per box, in parts where it is large; and the fault of a box that can have
    none, which holds back no other.

    Raises:
        ExplainedError: wrong usage: a field breaks its rule, for all boxes.
    """
    from pydantic import ValidationError

    from hwci.ci.reporting.report import run_reports
    from hwci.wire.errors import issues_of

    head = head_of(job, told, results.conclusion())
    reports: list[RunReport] = []
    failed: ExplainedError | None = None
    for box_key, found in results.boxes.items():
        try:
            reports += run_reports(head, {box_key: found})
        except ValidationError as fault:
            told_by = _tellers(job, box_key)
            failed = failed or bodies.bad_fields(issues_of(fault, "fields"), told_by)
    if failed is not None and not reports:
        raise failed
    return reports, failed


def _tellers(job: Job, box_key: str) -> dict[str, Sourced[Any]]:
    """Give who tells each field; the box of a result file is not told by the job."""
    fields = job.fields.items()
    return {name: one for name, one in fields if name != "box_key" or one.value == box_key}
