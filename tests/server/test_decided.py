# SPDX-License-Identifier: Apache-2.0
"""What a page decides is kept for the next one; an organization reads one thing at a time."""

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from hwci.contract.vocabulary import FailureClass, Outcome, Role
from hwci.engine.facts import Facts, Report
from hwci.engine.history import OutOfTimeError, Scope
from hwci.engine.page.reading import ResolvedTables, deciding, read_resolved
from hwci.server.clock import system_clock
from hwci.server.errors import OverloadedError
from hwci.server.security.tokens import Claims
from hwci.server.services.access import Member
from hwci.server.services.ci_metrics import metrics as metrics_service
from hwci.server.services.ci_metrics.decisions import Decisions
from hwci.server.services.ci_metrics.metrics import Metrics
from hwci.server.services.ci_metrics.tags import Tags
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Reader, Writer
from hwci.server.storage.records import Membership
from hwci.wire.queries import MetricsQuery, ResolvedQuery
from tests.server.storage.examples import ACME, ADA, CONFIG, NOON, OTHER, REPORT
from tests.server.storage.histories import EVER

MEMBER = Member(ADA, Membership(ACME, Role.MEMBER, NOON), Claims(ADA.id, UUID(int=1)))
HOUR = timedelta(hours=1)
ALL = Scope(), EVER
QUERY: Mapping[str, object] = {"days": 3650, "as_of": "2026-03-10T00:00:00Z"}


def put(report: Report, writer: Writer) -> None:
    writer.put_report(ACME.id, report, NOON)


async def test_one_of_simultaneous_readers_reads_and_the_others_hold_no_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[Scope] = []
    reading, go_on = threading.Event(), threading.Event()

    def wait(*asked: Any) -> ResolvedTables:
        reads.append(asked[1])
        reading.set()
        go_on.wait(30)
        return read_resolved(*asked)

    monkeypatch.setattr(metrics_service, "read_resolved", wait)
    storage = open_storage(tmp_path / "hwci.db")
    metrics = Metrics(storage, lambda: NOON)
    query = ResolvedQuery.model_validate(QUERY)
    waiting = [asyncio.ensure_future(metrics.real_bugs(MEMBER, query, Tags())) for _ in range(8)]
    try:
        assert await asyncio.to_thread(reading.wait, 30)
        assert await storage.read(lambda r: r.version(OTHER.id), organization=OTHER.id) == 0
        assert not any(one.done() for one in waiting)
        assert len(reads) == 1
    finally:
        go_on.set()
    found = await asyncio.gather(*waiting)

    assert all(one == found[0] for one in found)
    await storage.close()


def fixed(*tests: str) -> Facts:
    """Return a history in which each of these tests failed, and then passed."""
    failing = tuple(replace(REPORT.tests[0], id=test, outcome=Outcome.FAIL) for test in tests)
    passing = tuple(replace(one, outcome=Outcome.PASS) for one in failing)
    later = REPORT.started_at + HOUR
    return Facts(
        reports=(
            replace(REPORT, run_id=1, sha="a" * 40, tests=failing),
            replace(REPORT, run_id=2, sha="b" * 40, started_at=later, tests=passing),
        )
    )


async def test_a_page_that_runs_out_of_time_leaves_what_it_decided_to_the_next() -> None:
    storage = open_storage("memory:")
    for report in fixed("one", "two", "three").reports:
        await storage.write(partial(put, report))

    def work(reader: Reader) -> None:
        for _ in islice(deciding(history := reader.history(ACME.id), history.episodes(*ALL)), 2):
            pass
        raise OutOfTimeError

    with pytest.raises(OverloadedError):
        await storage.read(work)
    [noted] = storage.take_decided()
    assert len(noted) == 2
    await storage.close()


async def test_what_a_page_decided_is_kept_and_counted_by_the_next() -> None:
    storage = open_storage("memory:")
    metrics = Metrics(storage, lambda: NOON)
    query = MetricsQuery.model_validate({**QUERY, "limit": 2})  # of rows that began at once
    for report in fixed("one", "two", "three", "four", "five", "six").reports:
        await storage.write(partial(put, report))

    def settled(reader: Reader) -> int:
        found = reader.history(ACME.id).resolved(Scope(), EVER, [list(FailureClass)]).settled
        return sum(one.total for one in found.values())

    before = await metrics.page(MEMBER, query, Tags())
    assert before is not None
    assert before.tiles.real_fw_bugs.ambiguous == 6
    assert await storage.read(settled) == 0
    await Decisions(storage, system_clock).keep()
    assert await storage.read(settled) == 6
    assert await metrics.page(MEMBER, query, Tags()) == before
    await storage.close()


async def test_what_was_decided_at_once_is_kept_together_and_only_of_the_latest_version() -> None:
    storage = open_storage("memory:")
    for report in fixed("one", "two", "three").reports:
        await storage.write(partial(put, report))

    def decide(test_id: str, reader: Reader) -> None:
        history = reader.history(ACME.id)
        episodes = history.episodes(*ALL)
        for _ in deciding(history, [one for one in episodes if one.key.lane.test_id == test_id]):
            pass

    def tests_noted() -> list[str]:
        [noted] = storage.take_decided()
        return [episode.key.lane.test_id for episode, _ in noted.values()]

    await storage.read(partial(decide, "one"))
    await storage.read(partial(decide, "two"))
    assert tests_noted() == ["one", "two"]
    assert storage.take_decided() == []

    await storage.read(partial(decide, "three"))
    await storage.write(lambda writer: writer.put_config(ACME.id, CONFIG, NOON))
    await storage.read(partial(decide, "one"))
    assert tests_noted() == ["one"]
    await storage.close()
