# SPDX-License-Identifier: Apache-2.0
"""Run records, made of reports or of what a box sent (contract, "Runs and streams"), for every
driver.

This module decides which record a report belongs to, which report of a record its fields come from,
and when a live run is lost. Drivers search the database.
"""

from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from itertools import chain
from typing import Any
from uuid import UUID

from hwci.contract.runs import TestCounts
from hwci.contract.vocabulary import Outcome, RunStatus
from hwci.engine.facts import Report, run_record_id
from hwci.server.storage.records import (
    LiveRun,
    LiveTest,
    RunEnd,
    RunHead,
    RunRecord,
    RunWhole,
)


def record_id_of(org_id: UUID, report: Report) -> UUID:
    """Return the id of the run record that a report, or a part of one, belongs to."""
    return run_record_id(
        org_id, report.repo_key, report.ci_run_id, report.run_attempt, report.box_key
    )


def reported(record_id: UUID, reports: Sequence[Report]) -> RunWhole | None:
    """Return the record of all reports with this id: its fields come from the first part, its tests
    from all parts. None if the first part is not there.
    """
    parts = sorted(reports, key=_order)
    if not parts or not parts[0].is_first_part:
        return None
    first = parts[0]
    items = tuple(chain.from_iterable(part.tests for part in parts))
    failed = [item.outcome for item in items].count(Outcome.FAIL)
    counts = TestCounts(
        total=len(items),
        passed=len(items) - failed,
        failed=failed,
        retried=len(items) - [item.attempts for item in items].count(1),
    )
    end = RunEnd(**_fields(RunEnd, first))
    record = RunRecord(record_id, head_of(first), RunStatus.REPORTED, counts, end)
    return RunWhole(record, first.covers_shas, first.changes, items, rerun_of=first.rerun_of)


def live(run: LiveRun, tests: Sequence[LiveTest], seen_since: datetime) -> RunWhole:
    """Return the record of a live run, with its tests as they are now."""
    counts = TestCounts(
        total=len(tests),
        passed=sum(test.outcome is Outcome.PASS for test in tests),
        failed=sum(test.outcome is Outcome.FAIL for test in tests),
        retried=sum(test.attempts is not None and test.attempts > 1 for test in tests),
    )
    record = RunRecord(run.id, run.head, live_status(run, seen_since), counts)
    return RunWhole(record, run.covers_shas, run.changes, live=tuple(tests))


def live_status(run: LiveRun, seen_since: datetime) -> RunStatus:
    """Return whether a live run is lost: once its loss has an event, until its box sends something
    of it again.
    """
    lost = run.lost or run.last_seen_at <= seen_since
    return RunStatus.LOST if lost else RunStatus.RUNNING


def head_of(report: Report) -> RunHead:
    """Return the head of a report's run, with the run id that CI gave it."""
    return RunHead(**_fields(RunHead, report) | {"run_id": report.ci_run_id})


def _fields(kind: type[RunHead] | type[RunEnd], report: Report) -> dict[str, Any]:
    """Return what a report has of a part of its run, whose fields have the names of a report's."""
    return {field.name: getattr(report, field.name) for field in fields(kind)}


def _order(report: Report) -> tuple[int, int]:
    return (0 if report.part_of is None else report.part_of.part, report.run_id)
