# SPDX-License-Identifier: Apache-2.0
"""Run records as lists, answers and streams show them (contract, "Runs and streams"). No figure is
computed here.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from hwci.server.clock import Clock
from hwci.server.errors import NotFoundError
from hwci.server.services.access import Member
from hwci.server.storage.ports import Reader, Storage
from hwci.server.storage.records import LiveTest, RunFilter, RunRecord, RunWhole
from hwci.wire import limits
from hwci.wire import runs as wire
from hwci.wire.base import ListPage


class Runs:
    """Reads run records."""

    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._storage = storage
        self._clock = clock

    async def listed(self, member: Member, query: wire.RunsQuery) -> ListPage[wire.RunAnswer]:
        """List run records."""
        since = heard_since(self._clock())
        wanted = RunFilter(
            repo_key=query.repo_key,
            suite=query.suite,
            branch=query.branch,
            box_key=query.box_key,
            sha_start=query.sha,
            status=query.status,
            hello_ok=query.hello_ok,
            test_id=query.test_id,
            retry_pass=query.retry_pass,
            failed_attempt=query.failed_attempt,
            start=query.start,
            end=query.end,
        )

        def work(reader: Reader) -> ListPage[wire.RunAnswer]:
            found = reader.runs(member.org_id, wanted, since, query.offset, query.limit)
            items = [run_answer(record) for record in found.items]
            return query.page_of(items, found.total)

        return await self._storage.read(work, organization=member.org_id)

    async def show(self, member: Member, run_record_id: UUID | None) -> wire.RunDetail:
        """Show one run record. Raises `NotFoundError`."""
        since = heard_since(self._clock())

        def work(reader: Reader) -> wire.RunDetail:
            found = (
                None if run_record_id is None else reader.run(member.org_id, run_record_id, since)
            )
            if found is None:
                raise NotFoundError("Run not found")
            return run_detail(found)

        return await self._storage.read(work, organization=member.org_id)


def heard_since(now: datetime) -> datetime:
    """Return the time since when a live run must have sent something, else it is lost."""
    return now - limits.RUN_LOST_AFTER


def run_answer(record: RunRecord) -> wire.RunAnswer:
    """Return a run record as the list shows it."""
    return wire.RunAnswer.model_validate(_fields(record))


def run_detail(whole: RunWhole) -> wire.RunDetail:
    """Return a run record with all that was reported of it."""
    return wire.RunDetail(
        **_fields(whole.record),
        items=_items(whole),
        covers_shas=whole.covers_shas,
        changes=None if whole.changes is None else wire.RunChanges.model_validate(whole.changes),
    )


def run_content(record: RunRecord) -> Mapping[str, object]:
    """Return the content of an event of a run."""
    return {"run": run_answer(record).model_dump(mode="json")}


def test_content(test: LiveTest) -> Mapping[str, object]:
    """Return the content of an event of a test."""
    return {"test": wire.RunTest.model_validate(test).model_dump(mode="json")}


def _fields(record: RunRecord) -> dict[str, object]:
    head, end, tests = record.head, record.end, record.tests
    return {
        "id": record.id,
        "repo_key": head.repo_key,
        "suite": head.suite,
        "workflow": head.workflow,
        "run_id": head.run_id,
        "run_attempt": head.run_attempt,
        "box_key": head.box_key,
        "trigger": head.trigger,
        "branch": head.branch,
        "sha": head.sha,
        "status": record.status,
        "started_at": head.started_at,
        "ended_at": None if end is None else end.ended_at,
        "conclusion": None if end is None else end.conclusion,
        "hello_ok": None if end is None else end.hello_ok,
        "tests": wire.TestCounts.model_validate(tests),
    }


def _items(whole: RunWhole) -> Sequence[wire.RunItem]:
    """Return the tests, reported or live; a record has only one of the two."""
    live = [
        wire.RunItem(
            id=test.id, outcome=test.outcome, attempts=test.attempts, duration_s=None, verdict=None
        )
        for test in whole.live
    ]
    return [wire.RunItem.model_validate(item) for item in whole.items] + live
