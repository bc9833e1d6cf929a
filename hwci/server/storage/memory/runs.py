# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: D102 - the port documents each method
"""Run records and live runs in memory."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from hwci.engine.facts import Report
from hwci.engine.history import Listing
from hwci.engine.rules.flakiness import has_failed_attempt, is_retry_pass
from hwci.server.storage import run_records
from hwci.server.storage.memory.lists import slice_of
from hwci.server.storage.memory.state import Sent, State
from hwci.server.storage.records import (
    LiveRun,
    LiveTest,
    RunFilter,
    RunHead,
    RunRecord,
    RunWhole,
)


class MemoryRuns:
    """Run records of one state."""

    def __init__(self, state: State) -> None:
        self._state = state

    def runs(
        self, org_id: UUID, wanted: RunFilter, seen_since: datetime, offset: int, limit: int
    ) -> Listing[RunRecord]:
        found = [
            whole.record
            for whole in self._all(org_id, seen_since)
            if _fits(whole.record, wanted) and _tells(whole, wanted)
        ]
        found.sort(key=lambda record: record.id)
        found.sort(key=lambda record: record.head.started_at, reverse=True)
        return slice_of(found, offset, limit)

    def run_record(
        self, org_id: UUID, run_record_id: UUID, seen_since: datetime
    ) -> RunRecord | None:
        whole = self.run(org_id, run_record_id, seen_since)
        return None if whole is None else whole.record

    def run(self, org_id: UUID, run_record_id: UUID, seen_since: datetime) -> RunWhole | None:
        found = {whole.record.id: whole for whole in self._all(org_id, seen_since)}
        return found.get(run_record_id)

    def live_run(self, org_id: UUID, run_record_id: UUID) -> LiveRun | None:
        return self._state.live_runs.get((org_id, run_record_id))

    def live_tests(self, org_id: UUID, run_record_id: UUID) -> int:
        return sum(key[:2] == (org_id, run_record_id) for key in self._state.live_tests)

    def lost_runs(self, seen_since: datetime) -> Sequence[LiveRun]:
        runs = self._state.live_runs.values()
        return [run for run in runs if not run.lost and run.last_seen_at <= seen_since]

    def put_live_run(self, run: LiveRun) -> None:
        self._state.live_runs[run.org_id, run.id] = run

    def put_live_tests(self, org_id: UUID, run_record_id: UUID, tests: Sequence[LiveTest]) -> None:
        for test in tests:
            self._state.live_tests[org_id, run_record_id, test.id] = test

    def hear_run(self, org_id: UUID, run_record_id: UUID, at: datetime) -> None:
        run = self.live_run(org_id, run_record_id)
        if run is not None:
            self.put_live_run(replace(run, last_seen_at=max(run.last_seen_at, at), lost=False))

    def mark_lost(self, org_id: UUID, run_record_id: UUID) -> None:
        run = self.live_run(org_id, run_record_id)
        if run is not None:
            self.put_live_run(replace(run, lost=True))

    def drop_live_run(self, org_id: UUID, run_record_id: UUID) -> None:
        self._state.live_runs.pop((org_id, run_record_id), None)
        for key in list(self._state.live_tests):
            if key[:2] == (org_id, run_record_id):
                del self._state.live_tests[key]

    def drop_lost_runs(self, before: datetime, most: int) -> int:
        runs = self._state.live_runs.values()
        lost = [run for run in runs if run.lost and run.last_seen_at <= before][:most]
        for run in lost:
            self.drop_live_run(run.org_id, run.id)
        return len(lost)

    def _all(self, org_id: UUID, seen_since: datetime) -> Iterator[RunWhole]:
        by_record: dict[UUID, list[Report]] = defaultdict(list)
        for report in self._state.sent.get(org_id, Sent()).reports.values():
            by_record[run_records.record_id_of(org_id, report)].append(report)
        for record_id, reports in by_record.items():
            whole = run_records.reported(record_id, reports)
            if whole is not None:
                yield whole
        for run in self._state.live_runs.values():
            if run.org_id == org_id:
                yield run_records.live(run, self._live_tests(run), seen_since)

    def _live_tests(self, run: LiveRun) -> list[LiveTest]:
        return [
            test
            for (org_id, run_id, _), test in self._state.live_tests.items()
            if (org_id, run_id) == (run.org_id, run.id)
        ]


def _fits(record: RunRecord, wanted: RunFilter) -> bool:
    head = record.head
    return all(
        want in {None, value}
        for want, value in (
            (wanted.repo_key, head.repo_key),
            (wanted.suite, head.suite),
            (wanted.branch, head.branch),
            (wanted.box_key, head.box_key),
            (wanted.status, record.status),
            (wanted.hello_ok, None if record.end is None else record.end.hello_ok),
        )
    ) and _begins(record.head, wanted)


def _tells(whole: RunWhole, wanted: RunFilter) -> bool:
    """Whether its report holds the test, with the result that the filter names."""
    if wanted.test_id is None:
        return True
    items = [item for item in whole.items if item.id == wanted.test_id]
    return (
        bool(items)
        and wanted.retry_pass in {None, any(map(is_retry_pass, items))}
        and wanted.failed_attempt in {None, any(map(has_failed_attempt, items))}
    )


def _begins(head: RunHead, wanted: RunFilter) -> bool:
    """Whether a run began in the period, on a commit whose hash begins as wanted, and has the
    number of the CI.
    """
    return (
        head.sha.startswith(wanted.sha_start or "")
        and wanted.ci_run in {None, head.run_id if head.ci_run is None else head.ci_run}
        and (wanted.start is None or wanted.start <= head.started_at)
        and (wanted.end is None or head.started_at <= wanted.end)
    )
