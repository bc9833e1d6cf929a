# SPDX-License-Identifier: Apache-2.0
"""The steps of a run report, from its job, its result files and git, or from a whole body, to the
server (spec, "Run report"). This module has their order; each step is decided in a module of its
own.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from math import inf
from pathlib import Path

from hwci.ci.job import Job, Sourced
from hwci.ci.project import Project
from hwci.ci.reporting import bodies, clock, summary
from hwci.ci.reporting.attempts import with_attempt
from hwci.ci.reporting.base import NOBODY
from hwci.ci.reporting.bodies import missing_error
from hwci.ci.reporting.context import (
    CommandContext,
    JobContext,
    JobFlags,
    job_context,
    note_unclear_hello,
)
from hwci.ci.reporting.report import draft, head_of, reports_of, written_reports
from hwci.ci.reporting.results import UNNAMED, Results, missing_of_run, placed, results_of, unblamed
from hwci.ci.reporting.under_test import UnderTest, given, remembered, under_test
from hwci.ci.results.model import BoxResults
from hwci.ci.results.platforms import Platforms
from hwci.ci.systems.api import get_json
from hwci.client._call import written
from hwci.client.delivery.sending import Delivered, Destination, deliver, keep_early
from hwci.client.delivery.unsent import DAMAGED_FIX, damaged
from hwci.client.explained import ErrorMessage, ExplainedError, not_empty
from hwci.client.store import BenchStore, PastRuns, bench_store
from hwci.contract.vocabulary import Outcome
from hwci.said import counted
from hwci.wire.limits import TESTS_MAX
from hwci.wire.reports import Changes, RunReport, TestItem

CANCELLED_DEADLINE_S = 5.0
"""A CI that cancels a job waits a few seconds; what is not sent by then stays pending."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What to report. `files`: result files, as `FILE` or `BOX=FILE`; `body`: a file that holds
    the whole report, in place of all else; `messages`: whether those of failed tests are reported,
    None: as hwci.toml has it; `before`: the result files that were there before the
    run, with the time of their last change, None if the command did not run it; `by_file` and
    `platforms`: how their tests are named while they run.

    Raises:
        ExplainedError: wrong usage: a flag is empty. A shell calls an empty check a success.
    """

    flags: JobFlags
    files: tuple[str, ...] = ()
    changes_file: str | None = None
    no_changes: bool = False
    hello_cmd: str | None = None
    body: str | None = None
    messages: bool | None = None
    before: Mapping[Path, int] | None = None
    by_file: bool = False
    platforms: Platforms | None = None

    def __post_init__(self) -> None:
        not_empty(self.changes_file, "--changes")
        not_empty(self.hello_cmd, "--hello-cmd")

    @property
    def asks_git(self) -> bool:
        """Whether git and the CI are asked what changed."""
        return not self.no_changes and self.changes_file is None

    def given(self) -> dict[str, object]:
        """Return what is given, by the names of the flags."""
        return {
            **self.flags.given(),
            "junit": list(self.files),
            "changes": self.changes_file,
            "no_changes": self.no_changes,
            "hello_cmd": self.hello_cmd,
        }


@dataclass(frozen=True, slots=True)
class Sending:
    """How reports go out. `to` None: a dry run, which sends nothing. `deadline_s` None: the
    default. `when_kept`: the block from when all is on the disk until it is sent; a SignalledError
    ends it.
    """

    to: Destination | None
    deadline_s: float | None
    summary: bool = True
    when_kept: Callable[[], AbstractContextManager[None]] = nullcontext

    def hurried(self) -> "Sending":
        """Return what is left of the deadline once the run was cancelled. A deadline of 0 means
        one try for each report, which may take longer.
        """
        return replace(self, deadline_s=min(self.deadline_s or inf, CANCELLED_DEADLINE_S))


@dataclass(frozen=True, slots=True)
class Done:
    """The result of a command. `bodies`: what a dry run prints. `messages`: what was not reported,
    and why: warnings, or errors to a strict caller. `error` fails the command in any case.
    """

    bodies: tuple[bytes, ...] = ()
    messages: tuple[ErrorMessage, ...] = ()
    error: ExplainedError | None = None


def report_run(request: RunRequest, sending: Sending, command: CommandContext) -> Done:
    """Report the run of this job. Git and the CI may take long to find what changed: meanwhile the
    report is on the disk without it, so that a killed process leaves the results.

    Raises:
        ExplainedError: wrong usage. Where only one box can have no report, the others are reported.
    """
    if request.body is not None:
        # Flags of fields may not stand beside a body that was written whole.
        reports = bodies.from_file(written_reports, request.body, beside=request.given())
        return _send(reports, sending, command)
    ran = request.before is not None
    context = job_context(request.flags, command, again=ran)
    note_unclear_hello(context)
    if missing := missing_of_run(context.job, request.files, ran=ran):
        error = missing_error("report", missing, shown=sending.to is None)
        if sending.to is not None:
            raise error
        return Done(bodies=_drafts(context, request, missing), error=error)
    results = results_of(context, request.files, request.before, messages=request.messages)
    command.show(results.notices)
    # A run that no CI counts is named by its start.
    job = _numbered(context.job, results.started_at(), command.clock())
    store = bench_store(command.environ) if sending.to is None else sending.to.store
    job, past = remembered(job, results.boxes, store, claim=sending.to is not None)
    at = job.value("started_at") or results.started_at() or command.clock()
    job, counted_here = with_attempt(
        job, store, at, lambda job: reports_of(job, results, given(job))[0]
    )
    context = replace(context, job=job)
    if counted_here is not None:
        command.notify(f"note: {counted_here}.")
    command.warn(*results.uncounted(job))
    early, _ = reports_of(job, results, given(job))
    replacing = _replaced(early, store)  # as long as this run is not among them
    if sending.to is not None and request.asks_git:
        keep_early(sending.to, early)
    tested = _under_test(context, request, past, base_noted=sending.to is None)
    reports, failed = reports_of(job, results, tested)
    warnings = command.warn(*_notices(context, request), *replacing)
    notes = (*results.faults, *results.notes, *tested.notes, *results.uncounted(job), *warnings)
    done = _send(reports, sending, command, job, (*notes, *context.left_out()))
    return replace(done, messages=(*done.messages, *results.incomplete(job)), error=failed)


def check_run(
    flags: JobFlags, files: Sequence[str], started_at: datetime, command: CommandContext
) -> tuple[Job, Sequence[str], Project | None]:
    """Check, before a run, that it can be reported with what is known now. Return its job, the
    boxes that it will be reported of, and the project, which names its tests.

    Raises:
        ExplainedError: wrong usage: a field is missing or breaks its rule.
    """
    # The run itself shows its end. One that no CI counts is named by its start, as in its report.
    flags = replace(flags, ended_at=started_at, conclusion="success")
    context = job_context(flags, command)
    job = _numbered(context.job, None, started_at)
    if missing := missing_of_run(job, files, ran=True):
        raise missing_error("report", missing)
    boxes = list(dict.fromkeys(box for box, _ in placed(job, files))) or [job.value("box_key")]
    store = bench_store(command.environ)
    job, _ = remembered(job, boxes, store, claim=True)
    if store is not None and store.damaged:
        command.warn(f"{damaged(store.damaged)}. {DAMAGED_FIX}")
    results = Results({box: BoxResults(started_at=started_at) for box in boxes})
    job, _ = with_attempt(
        job, store, started_at, lambda job: reports_of(job, results, given(job))[0]
    )
    _, error = reports_of(job, results, given(job))
    if error is not None:
        raise error
    return job, boxes, context.project


# What is reported


def _numbered(job: Job, started_at: datetime | None, here: datetime) -> Job:
    """Return the job with a run id. `started_at`: by its files; `here`: by this machine's clock.

    Raises:
        ExplainedError: no CI numbers the run, and no clock is set.
    """
    if job.is_numbered:
        return job
    return job.with_run_id(clock.of_run((job.value("started_at"), started_at), here))


def _under_test(
    context: JobContext, request: RunRequest, past: PastRuns, *, base_noted: bool = False
) -> UnderTest:
    """Return what changed and what a push covers: by flag or file, else by git and the CI. `past`:
    what the bench knew before it kept anything of this run.

    Raises:
        ExplainedError: the file of changes breaks the field rules.
    """
    path = request.changes_file
    if path is not None:
        changes = bodies.from_file(Changes.model_validate_json, path, beside={})
        return given(context.job, changes)
    if request.no_changes or context.repository is None:
        return given(context.job)
    tested = under_test(context.job, context.repository, past, get_json)
    context.command.show(f"note: {line}" for line in tested.notes)
    if base_noted:
        context.command.notify(f"note: {_base_note(tested)}.")
    return tested


def _base_note(tested: UnderTest) -> str:
    """Return the base of the changes, and its source, as a text."""
    base, source = tested.base.value, tested.base.source
    if base and tested.changes is not None and tested.changes.base_sha is None:
        return f"changes do not count from {base} ({source}): no base is sent"
    return f"changes count from {base or 'no commit'} ({source})"


def _drafts(context: JobContext, request: RunRequest, missing: Sequence[str]) -> tuple[bytes, ...]:
    """Return what a report holds so far: what is missing stays missing."""
    changes = given(context.job)
    if "sha" in context.job.fields:
        _, past = remembered(context.job, (), bench_store(context.command.environ))
        changes = _under_test(context, request, past)
    context.command.warn(*_notices(context, request))
    job, boxes, conclusion = context.job, dict[str, BoxResults](), None
    if "tests" not in missing:
        if "box_key" not in job.fields:
            unnamed = Sourced(UNNAMED, NOBODY)
            context = replace(context, job=replace(job, fields={**job.fields, "box_key": unnamed}))
        results = results_of(context, request.files, messages=request.messages)
        context.command.show(results.notices)
        boxes = dict(results.boxes)
        conclusion = results.conclusion() if boxes else None
        job = _numbered(job, results.started_at(), context.command.clock())
    head = head_of(job, changes, conclusion)
    drafts = [
        draft(head, None if box_key == UNNAMED else box_key, of_box)
        for box_key, of_box in boxes.items()
    ]
    return _bodies(drafts or [draft(head, job.value("box_key"), None)])


# What people should know of it


def _replaced(reports: Sequence[RunReport], store: BenchStore | None) -> tuple[str, ...]:
    """Return warnings of reports that replace those of other tests, or of the same tests at another
    time or commit: most likely another job's, or old results.
    """
    return tuple(
        f"The report of {report.box_key} replaces {other}: same run {report.run_id}, attempt "
        f"{report.run_attempt} and box. If the tests did not run again since, run them. If they are"
        " of two jobs, set HWCI_RUN_ID to a number of its"
        " own for each, the same in every attempt; in a matrix of GitHub, under `env:` of the job: "
        "`HWCI_RUN_ID: ${{ github.run_id }}${{ strategy.job-index }}`"
        for report in reports
        if store is not None and (other := store.replaced(report)) is not None
    )


def _notices(context: JobContext, request: RunRequest) -> tuple[str, ...]:
    unseen = context.unseen() is not None
    why = context.no_git() if request.asks_git or unseen else None
    hint = "" if unseen else "; --no-changes needs no git"
    no_git = () if why is None else (f"{why}{hint}",)
    return (*no_git, *context.notices())


# Sending


def _bodies(reports: Sequence[RunReport]) -> tuple[bytes, ...]:
    return tuple(written(report) for report in reports)


def _send(
    reports: Sequence[RunReport],
    sending: Sending,
    command: CommandContext,
    job: Job | None = None,
    notes: Sequence[str] = (),
) -> Done:
    """Send reports, and leave a summary where the CI of the job shows one. `job` None: a person
    wrote them whole, so the bench does not count from them.
    """
    if (to := sending.to) is None:
        command.warn(*clock.unlikely(reports, None, command.clock()))
        return Done(bodies=_bodies(reports))
    # A part that was written as such is sent as it is, alone.
    if (parts := sum(report.part_of is not None for report in reports)) > 1:
        most = f"{TESTS_MAX:,}"
        command.notify(f"More than {most} tests on a box: sending {parts} parts of at most {most}.")
    delivered, doubts = Delivered(), tuple[str, ...]()
    try:
        if reports:
            delivered = deliver(
                to,
                reports,
                sending.deadline_s,
                command.notify,
                sending.when_kept,
                remember=job is not None,
            )
        command.show(clock.warning(delivered.server_time, command.clock()))
        doubts = clock.unlikely(reports, delivered.server_time, command.clock())
        command.warn(*doubts)
        if delivered.sent:
            command.notify(f"Reported {_summary(reports)} to {to.url}.")
            if (note := unblamed(_reached_tests(reports))) is not None:
                command.notify(f"note: {note}")
    finally:
        if job is not None and sending.summary:
            shown = summary.Shown(reports, delivered.sent, (*notes, *doubts), waits=delivered.kept)
            summary.show(shown, job, command.ci_command)
    return Done(messages=() if delivered.message is None else (delivered.message,))


def _summary(reports: Sequence[RunReport]) -> str:
    """Return what was sent, in one line."""
    tests = [item for report in reports for item in report.tests]
    failed = sum(item.outcome is Outcome.FAIL for item in tests)
    boxes = list(dict.fromkeys(report.box_key for report in reports))
    where = boxes[0] if len(boxes) == 1 else f"{len(boxes)} boxes"
    many = f" in {len(reports)} reports" if len(reports) > 1 else ""
    return f"{counted(len(tests), 'test')} ({failed:,} failed) on {where}{many}{_reached(reports)}"


def _reached_tests(reports: Sequence[RunReport]) -> list[TestItem]:
    """Return the tests of the reports that reached the hardware."""
    return [test for report in reports if report.hello_ok for test in report.tests]


def _reached(reports: Sequence[RunReport]) -> str:
    """Return whether boxes were not reached or, without tests, may not have been."""
    if not all(report.hello_ok for report in reports):
        return "; hello failed"
    without = any(not report.tests for report in reports)
    return "; hello ok without tests (was a box not reached? Set --hello-cmd)" if without else ""
