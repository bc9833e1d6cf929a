# SPDX-License-Identifier: Apache-2.0
"""Live runs: opened and fed by a box, lost after silence, ended by their report (contract,
"Boxes"). This module decides which events they make, each in the same transaction; `streams.py`
sends them. When a run is lost is decided in `storage/run_records.py`. One that is fed again starts
again.
"""

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from uuid import UUID

from hwci.contract.runs.runs import OpenedRun, Run, RunTest
from hwci.contract.vocabulary import RunEventType, RunStatus
from hwci.engine.facts import Report, run_record_id
from hwci.server.errors import ConflictError, HwciServerError, NotFoundError
from hwci.server.services import Service
from hwci.server.services.access import live_box
from hwci.server.services.runs.records import run_content, seen_since, test_content
from hwci.server.storage import run_records
from hwci.server.storage.ports import Reader, Writer
from hwci.server.storage.records import Box, Happening, LiveRun, RunHead
from hwci.wire import limits
from hwci.wire import runs as wire

LOG = logging.getLogger("hwci.server")

_OPENED_TOO_LATE = "The run has been reported already; give a new attempt a run_attempt of its own"
_TOO_MANY_TESTS = (
    f"A live run may have {limits.LIVE_TESTS_MAX:,} tests, and this one would have more; send the"
    " rest with its report"
)
_FED_TOO_LATE = "The run has been reported already; it takes no more events"


class LiveRuns(Service):
    """Live runs of boxes."""

    async def open(self, box: Box, body: wire.RunHead) -> OpenedRun:
        """Open a live run; opening it again replaces its head. Raises `ConflictError`."""
        now = self._clock()
        run = _live_run(box, body, now)

        def work(writer: Writer) -> None:
            _touch_box(writer, box, now)
            if _reported(writer, run.org_id, run.id) is not None:
                raise ConflictError(_OPENED_TOO_LATE)
            known = writer.live_run(run.org_id, run.id)
            writer.put_live_run(run)
            if known is None or known.lost:
                _add_start(writer, run, now)

        await self._storage.write(work, organization=box.org_id)
        return OpenedRun(id=run.id)

    async def feed(self, box: Box, run_record_id: UUID | None, body: wire.RunEvents) -> None:
        """Record which tests of a live run began or ended.

        Raises:
            NotFoundError: the box has no such run.
            ConflictError: it was reported, or would have too many tests.
        """
        now = self._clock()
        tests = [RunTest(event.id, event.outcome, event.attempts) for event in body.events]

        def work(writer: Writer) -> None:
            _touch_box(writer, box, now)
            run = _run_of(writer, box, run_record_id)
            writer.hear_run(run.org_id, run.id, now)
            if run.lost:
                _add_start(writer, run, now)
            _keep_tests(writer, run, tests, now)

        await self._storage.write(work, organization=box.org_id)

    async def sweep(self) -> None:
        """Mark the runs that are lost."""
        now = self._clock()
        since = seen_since(now)
        lost: dict[UUID, list[UUID]] = defaultdict(list)
        for run in await self._storage.read(lambda reader: reader.lost_runs(since)):
            lost[run.org_id].append(run.id)

        def mark(writer: Writer, org_id: UUID) -> None:
            for run_id in lost[org_id]:
                if writer.mark_lost(org_id, run_id, since):  # it may be heard meanwhile
                    _add_event(writer, org_id, run_id, RunEventType.LOST, now, {})

        for org_id in lost:
            try:
                await self._storage.write(partial(mark, org_id=org_id), organization=org_id)
            except HwciServerError as error:  # such as a rebuild of it; others need not wait
                LOG.info("Lost runs of organization %s are not marked yet: %s", org_id, error)


def end_run(writer: Writer, org_id: UUID, report: Report, now: datetime) -> None:
    """End a live run whose report is kept; a part that came before the first does not end it."""
    run_id = run_records.record_id_of(org_id, report)
    # One that is not in parts is the whole record: nothing of it needs to be read again.
    run = run_records.reported(run_id, [report]) if report.part_of is None else None
    run = run or _reported(writer, org_id, run_id)
    if run is not None:
        writer.drop_live_run(org_id, run_id)
        _add_event(writer, org_id, run_id, RunEventType.REPORTED, now, run_content(run))


def _live_run(box: Box, body: wire.RunHead, now: datetime) -> LiveRun:
    suite = body.suite if body.suite is not None else body.workflow
    fields = body.model_dump(exclude={"suite", "covers_shas", "changes"})
    head = RunHead(**fields, suite=suite, box_key=box.name)
    return LiveRun(
        id=run_record_id(box.org_id, head.repo_key, head.run_id, head.run_attempt, box.name),
        org_id=box.org_id,
        box_id=box.id,
        head=head,
        covers_shas=tuple(body.covers_shas or ()),
        changes=None if body.changes is None else body.changes.fact(),
        last_seen_at=now,
    )


def _touch_box(writer: Writer, box: Box, now: datetime) -> None:
    """Record that the box is online, if its key still works. Raises `UnauthenticatedError`."""
    assert box.key_digest is not None, "it came with its key"
    live_box(writer, box.key_digest)
    writer.touch_box(box.org_id, box.id, now)


def _run_of(reader: Reader, box: Box, run_id: UUID | None) -> LiveRun:
    run = None if run_id is None else reader.live_run(box.org_id, run_id)
    if run is not None and run.box_id == box.id:
        return run
    record = None if run_id is None else _reported(reader, box.org_id, run_id)
    if record is not None and record.box_key == box.name:
        raise ConflictError(_FED_TOO_LATE)
    raise NotFoundError("Run not found")


def _keep_tests(writer: Writer, run: LiveRun, tests: Sequence[RunTest], now: datetime) -> None:
    writer.put_live_tests(run.org_id, run.id, tests)
    counts = writer.live_tests(run.org_id, run.id)
    if counts.total > limits.LIVE_TESTS_MAX:
        raise ConflictError(_TOO_MANY_TESTS)
    for test in tests:
        content = test_content(test, counts)
        _add_event(writer, run.org_id, run.id, RunEventType.TEST, now, content)


def _add_start(writer: Writer, run: LiveRun, now: datetime) -> None:
    record = writer.run_record(run.org_id, run.id, seen_since(now))
    assert record is not None, "it was kept in this transaction"
    _add_event(writer, run.org_id, run.id, RunEventType.STARTED, now, run_content(record))


def _add_event(
    writer: Writer,
    org_id: UUID,
    run_id: UUID,
    kind: RunEventType,
    at: datetime,
    body: Mapping[str, object],
) -> None:
    writer.add_event(org_id, Happening(at, kind, run_id, body))


def _reported(reader: Reader, org_id: UUID, run_id: UUID) -> Run | None:
    """Return a run record if it is reported, at whatever time."""
    record = reader.run_record(org_id, run_id, datetime.max.replace(tzinfo=UTC))
    return record if record is not None and record.status is RunStatus.REPORTED else None
