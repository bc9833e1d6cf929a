# SPDX-License-Identifier: Apache-2.0
"""Readings are remembered: exact after every write, shared by readers, and bounded."""

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from uuid import UUID

import pytest

from hwci.engine.facts import Facts, Report, Review
from hwci.engine.full_history import FullHistory
from hwci.engine.history import (
    Decision,
    Episode,
    History,
    Merge,
    OutOfTimeError,
    RunStarts,
    Scope,
)
from hwci.engine.page.reading import Reading, read_period
from hwci.engine.periods import Period
from hwci.engine.vocabulary import Outcome, ReviewAction, Role
from hwci.server.security.tokens import Claims
from hwci.server.services.access import Member
from hwci.server.services.ci_metrics import readings
from hwci.server.services.ci_metrics.metrics import Metrics
from hwci.server.services.ci_metrics.readings import ReadingKey, Readings
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.records import Membership
from hwci.wire.queries import (
    FailuresQuery,
    FlakyQuery,
    MergesQuery,
    MetricsQuery,
    OthersQuery,
    PeriodQuery,
    ResolvedQuery,
)
from tests.server.storage.examples import ACME, ADA, NOON, OTHER, REPORT
from tests.server.storage.histories import EVER, HistoryDraw
from tests.support.soak import rounds

MEMBER = Member(ADA, Membership(ACME, Role.MEMBER, NOON), Claims(ADA.id, UUID(int=1)))
Decided = list[tuple[Episode, Decision]]
HOUR = timedelta(hours=1)
INSTANT = timedelta(microseconds=1)
QUERY: Mapping[str, object] = {"days": 3650, "as_of": "2026-03-10T00:00:00Z"}


async def shown(metrics: Metrics) -> list[object]:
    """Return all that rests on readings, of all and of one product, in two periods."""
    some = {"repo_key": "fw", "suite": "hil"}
    answers: list[object] = []
    for asked in (QUERY, {**QUERY, **some}, {"days": 1, "as_of": "2026-03-01T18:00:00Z"}):
        table = {**asked, "limit": 3, "page": 2, "search": "a", "sort": "-suite"}
        answers += [
            await metrics.page(MEMBER, MetricsQuery.model_validate({**asked, "limit": 3})),
            await metrics.trend(MEMBER, PeriodQuery.model_validate(asked)),
            await metrics.unchecked_merges(MEMBER, MergesQuery.model_validate(table)),
            await metrics.checked_merges(MEMBER, MergesQuery.model_validate({**asked, "limit": 3})),
            await metrics.real_bugs(MEMBER, ResolvedQuery.model_validate(table)),
            await metrics.other_failures(MEMBER, OthersQuery.model_validate(table)),
            await metrics.flakiest_tests(MEMBER, FlakyQuery.model_validate(table)),
            await metrics.flaky_history(MEMBER, FlakyQuery.model_validate(table)),
            await metrics.failures(MEMBER, FailuresQuery.model_validate({**asked, "limit": 100})),
        ]
    return answers


def some_write(draw: HistoryDraw) -> Callable[[Writer], None]:
    """Draw any write that a history can see."""

    def review(writer: Writer) -> None:
        failures = sorted(writer.history(ACME.id).failures(Scope(), EVER), key=lambda one: one.id)
        for failure in draw.random.sample(failures, min(1, len(failures))):
            action = draw.random.choice(list(ReviewAction))
            word = Review(failure.key, action, str(ADA.id), "Ada", NOON, number=0)
            writer.put_review(ACME.id, failure.id, word)

    def reset(writer: Writer) -> None:
        writer.drop_reviews(ACME.id, list(writer.history(ACME.id).reviews())[:1])

    report, announcement, config = draw.next_report(), draw.announcement(), draw.config()
    return draw.random.choice(
        [
            *[lambda w: w.put_report(ACME.id, report, NOON)] * 5,
            lambda w: w.announce(ACME.id, announcement, NOON),
            lambda w: w.put_config(ACME.id, config, NOON),
            review,
            reset,
            lambda w: w.rebuild(ACME.id),
        ]
    )


@pytest.mark.parametrize("seed", range(rounds(4, 40)))
async def test_after_any_write_what_is_remembered_equals_what_is_read_again(
    seed: int, tmp_path: Path
) -> None:
    storage = open_storage(tmp_path / "hwci.db")
    remembering = Metrics(storage, lambda: NOON)
    draw = HistoryDraw(seed)
    await storage.write(partial(put, REPORT))  # a product that nothing names cannot be asked for
    for _ in range(25):
        await storage.write(some_write(draw))
        expected = await shown(Metrics(storage, lambda: NOON))
        assert await shown(remembering) == expected
        assert await shown(remembering) == expected
    await storage.close()


async def filled(storage: Storage) -> None:
    draw = HistoryDraw(7)
    for _ in range(20):
        await storage.write(partial(put, draw.next_report()))


def put(report: Report, writer: Writer) -> None:
    writer.put_report(ACME.id, report, NOON)


async def test_all_pages_of_a_period_cost_one_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[Scope] = []

    def counted(history: History, scope: Scope, period: Period, decided: Decided) -> Reading:
        reads.append(scope)
        return read_period(history, scope, period, decided)

    monkeypatch.setattr(readings, "read_period", counted)
    storage = open_storage("memory:")
    metrics = Metrics(storage, lambda: NOON)
    await filled(storage)

    before = await shown(metrics)
    assert len(reads) == 3
    assert await shown(metrics) == before
    assert len(reads) == 3
    await storage.write(partial(put, replace(REPORT, run_id=99)))
    assert await shown(metrics) != before
    assert len(reads) == 6
    await storage.close()


async def test_a_page_opened_later_costs_a_reading_only_when_the_period_holds_something_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reads: list[Period] = []

    def counted(history: History, scope: Scope, period: Period, decided: Decided) -> Reading:
        reads.append(period)
        return read_period(history, scope, period, decided)

    monkeypatch.setattr(readings, "read_period", counted)
    storage = open_storage("memory:")
    now = [NOON + timedelta(hours=1)]
    metrics = Metrics(storage, lambda: now[0])
    one, other = (replace(REPORT, run_id=n, started_at=NOON + n * HOUR) for n in (1, 2))
    await storage.write(partial(put, one))
    await storage.write(partial(put, other))

    async def total_at(when: datetime) -> int:
        now[0] = when
        trend = await metrics.trend(MEMBER, PeriodQuery(days=1))
        assert trend.period.end == when
        return sum(slot.runs for slot in trend.slots)

    assert await total_at(NOON + 1 * HOUR) == 1  # at its start a run belongs to the period
    assert await total_at(NOON + 2 * HOUR - INSTANT) == 1
    assert len(reads) == 1
    assert await total_at(NOON + 2 * HOUR) == 2  # the second has entered
    assert await total_at(NOON + 25 * HOUR) == 2
    assert len(reads) == 2
    assert await total_at(NOON + 25 * HOUR + INSTANT) == 1  # the first has left
    assert len(reads) == 3
    assert await total_at(NOON + 26 * HOUR + INSTANT) == 0
    await storage.close()


class Told(FullHistory):
    """A history that tells when it is read, and may wait or fail."""

    def __init__(self, on_read: Callable[[], None] = lambda: None, reports: int = 1) -> None:
        (failing,) = (one for one in REPORT.tests if one.outcome is Outcome.FAIL)
        runs = tuple(
            replace(REPORT, run_id=n, sha=f"{n:07x}", tests=(replace(failing, id=str(n)),))
            for n in range(reports)
        )
        super().__init__(ACME.id, Facts(reports=runs))
        self._on_read = on_read

    def merges(self, scope: Scope, period: Period) -> Sequence[Merge]:
        self._on_read()
        return super().merges(scope, period)


def asked(number: int, org: int = 1, version: int = 1) -> ReadingKey:
    return ReadingKey(UUID(int=org), version, Scope(f"r{number}"), EVER)


async def test_of_readers_at_once_one_reads_and_the_others_hold_no_thread_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[UUID] = []
    reading, go_on = threading.Event(), threading.Event()

    def wait(history: History, scope: Scope, period: Period, decided: Decided) -> Reading:
        reads.append(ACME.id)
        reading.set()
        go_on.wait(30)
        return read_period(history, scope, period, decided)

    monkeypatch.setattr(readings, "read_period", wait)
    storage = open_storage(tmp_path / "hwci.db")
    metrics = Metrics(storage, lambda: NOON)
    query = ResolvedQuery.model_validate(QUERY)
    waiting = [asyncio.ensure_future(metrics.real_bugs(MEMBER, query)) for _ in range(8)]
    try:
        assert await asyncio.to_thread(reading.wait, 30)
        assert await storage.read(lambda r: r.version(OTHER.id), organization=OTHER.id) == 0
        assert not any(one.done() for one in waiting)
    finally:
        go_on.set()
    found = await asyncio.gather(*waiting)

    assert len(reads) == 1
    assert all(one == found[0] for one in found)
    await storage.close()


class Dated(FullHistory):
    """A history that tells when it is asked for dates, and may wait."""

    def __init__(self, on_dates: Callable[[], None]) -> None:
        super().__init__(ACME.id, Facts(reports=(REPORT,) * 40))
        self._on_dates = on_dates

    def run_starts(self, scope: Scope, period: Period) -> RunStarts:
        self._on_dates()
        return super().run_starts(scope, period)


def test_dates_are_read_once_and_only_for_who_asks_for_them() -> None:
    read: list[str] = []
    memory, history = Readings(), Dated(lambda: read.append("dates"))
    memory.of(asked(1), history)
    assert read == []
    before = size(memory)

    first = memory.dates_of(asked(1), history)

    assert memory.dates_of(asked(1), history) is first
    assert read == ["dates"]
    assert size(memory) == before + first.size


def test_a_reading_that_failed_is_read_again() -> None:
    def fail() -> None:
        raise LookupError

    memory = Readings()
    with pytest.raises(LookupError):
        memory.of(asked(1), Told(fail))

    assert memory.of(asked(1), Told()) is memory.of(asked(1), Told(fail))


def kept(memory: Readings, among: Sequence[ReadingKey]) -> list[ReadingKey]:
    """Return what is kept among these, without asking for anything."""
    return [one for one in among if one in memory._places]


def size(memory: Readings) -> int:
    return sum(place.size for place in memory._places.values())


def test_no_more_readings_are_kept_than_allowed_and_the_one_asked_last_stays() -> None:
    memory = Readings(entries_max=3)
    many = [asked(number) for number in range(5)]
    for one in many[:3]:
        memory.of(one, Told())
    memory.of(many[0], Told())
    for one in many[3:]:
        memory.of(one, Told())

    assert kept(memory, many) == [many[0], many[3], many[4]]


def test_no_more_rows_are_kept_than_allowed_but_for_one_large_reading() -> None:
    everything = [ReadingKey(UUID(int=org), 1, Scope(), EVER) for org in range(1, 9)]
    large = Readings().of(everything[0], Told(reports=40))
    assert large.size >= 40
    memory = Readings(size_max=large.size * 2)
    for number, one in enumerate(everything, start=1):
        memory.of(one, Told(reports=40))
        assert size(memory) <= large.size * 2
        assert kept(memory, everything) == everything[:number][-2:]

    memory.of(asked(1), Told())
    memory.of(ReadingKey(UUID(int=20), 1, Scope(), EVER), Told(reports=400))
    assert len(memory._places) == 1


def test_dates_count_towards_what_is_kept() -> None:
    everything = [ReadingKey(UUID(int=org), 1, Scope(), EVER) for org in (1, 2)]
    history = Told(reports=200)
    fresh = Readings()
    dates = fresh.dates_of(everything[0], history)
    assert dates.size > 0
    memory = Readings(size_max=2 * size(fresh) - 1)

    memory.dates_of(everything[0], history)
    memory.of(everything[1], history)
    assert kept(memory, everything) == everything
    memory.dates_of(everything[1], history)

    assert kept(memory, everything) == everything[1:]


def test_readings_of_a_state_that_is_gone_are_let_go() -> None:
    memory = Readings()
    old, beside = [asked(1), asked(2)], asked(1, org=2)
    for one in [*old, beside]:
        memory.of(one, Told())
    new = asked(1, version=2)
    memory.of(new, Told())

    assert kept(memory, [*old, beside, new]) == [beside, new]


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


def test_a_page_that_runs_out_of_time_leaves_what_it_decided_to_the_next() -> None:
    left = [2]

    def check_time() -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OutOfTimeError

    memory, history = Readings(), FullHistory(ACME.id, fixed("one", "two", "three"), check_time)
    with pytest.raises(OutOfTimeError):
        memory.of(ReadingKey(ACME.id, 1, Scope(), EVER), history)
    [found] = memory.take_decided()
    assert len(found.decisions) == 2


async def test_what_a_page_decided_is_kept_and_counted_by_the_next() -> None:
    storage = open_storage("memory:")
    metrics = Metrics(storage, lambda: NOON)
    query = MetricsQuery.model_validate({**QUERY, "limit": 2})  # of rows that began at once
    for report in fixed("one", "two", "three", "four", "five", "six").reports:
        await storage.write(partial(put, report))

    def settled(reader: Reader) -> int:
        found = reader.history(ACME.id).resolved(Scope(), EVER, 1).settled
        return sum(one.total for one in found.values())

    before = await metrics.page(MEMBER, query)
    assert before.tiles.real_fw_bugs.ambiguous == 6
    assert await storage.read(settled) == 0
    await metrics.keep_decisions()
    assert await storage.read(settled) == 6
    assert await metrics.page(MEMBER, query) == before
    await storage.close()


def test_what_pages_of_one_moment_decided_is_kept_together_and_only_of_the_latest_version() -> None:
    def history(test: str) -> FullHistory:
        return FullHistory(ACME.id, fixed(test))

    def key(number: int, version: int = 1) -> ReadingKey:
        period = Period(EVER.start, EVER.end - number * HOUR)
        return ReadingKey(UUID(int=1), version, Scope(), period)

    memory = Readings()
    memory.of(key(1), history("one"))
    memory.of(key(2), history("two"))
    [found] = memory.take_decided()
    assert [one.key.lane.test_id for one, _ in found.decisions] == ["one", "two"]
    assert memory.take_decided() == []

    memory.of(key(3), history("three"))
    memory.of(key(4, version=2), history("four"))
    [found] = memory.take_decided()
    assert [one.key.lane.test_id for one, _ in found.decisions] == ["four"]
