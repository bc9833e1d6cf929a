# SPDX-License-Identifier: Apache-2.0
"""Run records, made of reports or of what a box sent (contract, "Runs and streams"), for every
driver.

This module decides which record a report belongs to, which report of a record its fields come from,
and when a live run is lost. Drivers search the database.
"""

from collections.abc import Sequence
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Any
from uuid import UUID

from hwci.contract.runs.runs import RerunOf, Run, RunDetail, RunItem, RunTest, TestCounts
from hwci.contract.vocabulary import SUCCESS_WORDS, Outcome, RunEnding, RunStatus
from hwci.engine.facts import Report, TestItem, run_record_id
from hwci.server.storage.records import LiveRun, RunEnd, RunHead

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def record_id_of(org_id: UUID, report: Report) -> UUID:
    """Return the id of the run record that a report, or a part of one, belongs to."""
    return run_record_id(
        org_id, report.repo_key, report.ci_run_id, report.run_attempt, report.box_key
    )


def reported(record_id: UUID, reports: Sequence[Report]) -> Run | None:
    """Return the record of all reports with this id: its fields come from the first part, its tests
    from all parts. None if the first part is not there.
    """
    parts = sorted(reports, key=_order)
    if not parts or not parts[0].is_first_part:
        return None
    first = parts[0]
    items = [*chain.from_iterable(part.tests for part in parts)]
    failed = [item.outcome for item in items].count(Outcome.FAIL)
    counts = TestCounts(
        total=len(items),
        passed=len(items) - failed,
        failed=failed,
        retried=len(items) - [item.attempts for item in items].count(1),
    )
    end = RunEnd(**_fields(RunEnd, first))
    return run_of(record_id, head_of(first), RunStatus.REPORTED, counts, end)


def reported_in_full(record_id: UUID, reports: Sequence[Report]) -> RunDetail | None:
    """Return the same with all that was reported, without the record of the run that it repeats."""
    run, parts = reported(record_id, reports), sorted(reports, key=_order)
    if run is None:
        return None
    first, tests = parts[0], chain.from_iterable(part.tests for part in parts)
    return RunDetail(
        **vars(run),
        items=tuple([RunItem(**_fields(TestItem, test)) for test in tests]),
        covers_shas=first.covers_shas,
        changes=first.changes,
        rerun_of=None
        if first.rerun_of is None
        else RerunOf(run_id=first.rerun_of, run_record_id=None),
    )


def live(run: LiveRun, tests: Sequence[RunTest], seen_since: datetime) -> RunDetail:
    """Return the record of a live run, with its tests as they are now."""
    counts = TestCounts(
        total=len(tests),
        passed=sum(test.outcome is Outcome.PASS for test in tests),
        failed=sum(test.outcome is Outcome.FAIL for test in tests),
        retried=sum(test.attempts is not None and test.attempts > 1 for test in tests),
    )
    return RunDetail(
        **vars(run_of(run.id, run.head, live_status(run, seen_since), counts)),
        items=tuple([RunItem(**vars(test), duration_s=None, verdict=None) for test in tests]),
        covers_shas=run.covers_shas,
        changes=run.changes,
    )


def run_of(
    record_id: UUID, head: RunHead, status: RunStatus, tests: TestCounts, end: RunEnd | None = None
) -> Run:
    """Return a record of its parts."""
    ended = dict.fromkeys(RunEnd.__dataclass_fields__) if end is None else _fields(RunEnd, end)
    return Run(
        id=record_id,
        status=status,
        tests=tests,
        ending=None if end is None else _ending(end, tests),
        **_fields(RunHead, head),
        **ended,
    )


def _ending(end: RunEnd, tests: TestCounts) -> RunEnding:
    """Return how a run ended. It passed if no test of it failed and the CI calls it a success."""
    if not end.hello_ok:
        return RunEnding.NEVER_REACHED
    good = not tests.failed and end.conclusion.lower() in SUCCESS_WORDS
    return RunEnding.PASSED if good else RunEnding.FAILED


def live_status(run: LiveRun, seen_since: datetime) -> RunStatus:
    """Return whether a live run is lost: once its loss has an event, until its box sends something
    of it again.
    """
    lost = run.lost or run.last_seen_at <= seen_since
    return RunStatus.LOST if lost else RunStatus.RUNNING


def head_of(report: Report) -> RunHead:
    """Return the head of a report's run, with the run id that CI gave it."""
    return RunHead(**_fields(RunHead, report) | {"run_id": report.ci_run_id})


def _fields(kind: "type[DataclassInstance]", value: object) -> dict[str, Any]:
    """Return what a value has of the fields of a class, which have the same names there."""
    return {name: getattr(value, name) for name in kind.__dataclass_fields__}


def _order(report: Report) -> tuple[int, int]:
    return (0 if report.part_of is None else report.part_of.part, report.run_id)
