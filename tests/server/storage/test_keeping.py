# SPDX-License-Identifier: Apache-2.0
"""What an organization keeps for some days goes afterwards: reports, or messages and log addresses
alone, a day after the days were set, in turns, also when a server was killed in one. On each
database.
"""

import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from hwci.engine.facts import Facts, TestItem, failure_id
from hwci.server.clock import Evenness
from hwci.server.services import keeping
from hwci.server.services.keeping import Keeping, kept_days
from hwci.server.storage.location import Location
from hwci.server.storage.ports import Storage, Writer
from hwci.server.storage.records import Counting, KeepDays, Kept
from hwci.server.storage.sqlite.store import SqliteStorage
from hwci.wire import limits
from tests.server.exports import fill
from tests.server.storage.conftest import NewDatabase
from tests.server.storage.everything import opened
from tests.server.storage.examples import (
    ACME,
    ANNOUNCEMENT,
    CONFIG,
    FAILURE,
    NOON,
    OTHER,
    PASS,
    REPORT,
    REVIEW,
)
from tests.server.storage.sweeps import At, kill_within
from tests.support.databases import query
from tests.support.soak import rounds

DAY = timedelta(days=1)
FAILED = failure_id(ACME.id, FAILURE)
MESSAGE, LOG = "CRC 0x1f", "flash.log"
EVER = KeepDays()
NOT_YET = NOON - timedelta(days=36_500)  # a bench whose clock has no battery


def both(work: Callable[[Writer, Any], object]) -> Callable[[Writer], None]:
    """Return work that does the same for two organizations."""

    def for_each(writer: Writer) -> None:
        for organization in (ACME, OTHER):
            work(writer, organization.id)

    return for_each


def send(writer: Writer, org_id: Any) -> None:
    """Send a report whose failure was reviewed, twice, a merge, and rules, twice."""
    writer.put_report(org_id, replace(REPORT, conclusion="another"), NOON)
    writer.put_report(org_id, REPORT, NOON)
    writer.put_review(org_id, failure_id(org_id, FAILURE), REVIEW)
    writer.announce(org_id, ANNOUNCEMENT, NOON)
    writer.announce(org_id, replace(ANNOUNCEMENT, branch="other"), NOON)
    writer.put_config(org_id, CONFIG, NOON)
    writer.put_config(org_id, replace(CONFIG, merge_trigger=False), NOON)


async def organizations(storage: Storage, days: KeepDays = EVER) -> None:
    """Make two organizations with the same reports. `days`: those of the first."""
    await storage.write(lambda w: w.add_organization(ACME))
    await storage.write(lambda w: w.add_organization(OTHER))
    await storage.write(both(send))
    await storage.write(lambda w: w.set_keep_days(ACME.id, days))


async def sweep(storage: Storage, days: float, most: KeepDays = EVER) -> None:
    """Sweep so many days after all arrived."""
    await Keeping(storage, At(NOON + days * DAY), most).sweep()


async def drop(storage: Storage, kind: Kept, before: datetime, most: int = 9) -> int:
    return await storage.write(lambda w: w.drop_aged(ACME.id, kind, before, most))


async def facts_of(storage: Storage, organization: Any = ACME) -> Facts:
    return await storage.read(lambda r: r.facts(organization.id))


async def check_whole(storage: Storage) -> None:
    """See that what is kept has its digests, and that what is derived is what a rebuild makes."""
    await facts_of(storage)  # raises an error if a report is not as its digest says
    if isinstance(storage, SqliteStorage):
        checked = await storage.check()
        assert not checked.damage
        assert not checked.stale


def everything(where: Location, org_id: bytes) -> str:
    """Return all that is kept of what was sent to an organization, as text."""
    rows = [
        row
        for table in ("report", "item", "replaced")
        for row in query(where, f"SELECT * FROM {table} WHERE org_id = ?", (org_id,))
    ]
    return "\n".join(text_of(value) for row in rows for value in row)


def less(test: TestItem, kind: Kept) -> TestItem:
    """Return an item without its message, or without its log address."""
    return replace(test, message=None) if kind is Kept.MESSAGES else replace(test, log_url=None)


def text_of(value: Any) -> str:
    """Return a value of a row as text, inflated."""
    if not isinstance(value, bytes | memoryview):
        return str(value)
    with suppress(zlib.error):
        value = zlib.decompress(value)
    return bytes(value).decode("latin-1")


@pytest.mark.parametrize(
    ("kind", "gone", "stays"),
    [(Kept.MESSAGES, MESSAGE, LOG), (Kept.LOGS, LOG, MESSAGE)],
)
async def test_a_text_goes_from_every_row_and_its_report_stays(
    new_database: NewDatabase, kind: Kept, gone: str, stays: str
) -> None:
    where = new_database()
    async with opened(where) as storage:
        await organizations(storage)
        before = await facts_of(storage)
        shown = await storage.read(lambda r: r.history(ACME.id).failure(FAILED))
        state = await storage.read(lambda r: r.state(ACME.id))
        assert await drop(storage, kind, NOON) == 0  # it began at noon
        assert await storage.read(lambda r: r.state(ACME.id)) == state
        assert await drop(storage, kind, NOON + DAY) > 0
        assert await drop(storage, kind, NOON + DAY) == 0
        assert await storage.read(lambda r: r.state(ACME.id)) != state
        after = await facts_of(storage)
        assert await storage.read(lambda r: r.history(ACME.id).failure(FAILED)) == shown
        await check_whole(storage)
        assert await facts_of(storage, OTHER) == before

    tests = tuple(less(test, kind) for test in REPORT.tests)
    assert after == replace(before, reports=(replace(REPORT, tests=tests),))
    left = everything(where, ACME.id.bytes)
    assert gone not in left
    assert stays in left
    assert gone in everything(where, OTHER.id.bytes)


async def test_a_report_goes_with_its_failure_its_review_and_merges(storage: Storage) -> None:
    await organizations(storage)
    before = await facts_of(storage)
    assert await drop(storage, Kept.REPORTS, NOON + DAY) > 0
    assert await drop(storage, Kept.REPORTS, NOON + DAY) == 0

    after = await facts_of(storage)
    assert (after.reports, after.announcements, after.reviews) == ((), (), {})
    assert after.configs == before.configs
    assert await storage.read(lambda r: r.history(ACME.id).failure(FAILED)) is None
    replaced = await storage.read(lambda r: r.replaced(ACME.id, NOON + DAY))
    assert {kind.value for kind in replaced} == {"configuration"}
    organization = await storage.read(lambda r: r.organization(ACME.id))
    assert organization == replace(ACME, kept_since=NOON + DAY)
    await check_whole(storage)
    assert await facts_of(storage, OTHER) == before
    assert await storage.read(lambda r: r.organization(OTHER.id)) == OTHER


async def test_a_review_stays_while_a_report_has_its_failure(storage: Storage) -> None:
    again = replace(REPORT, run_id=8, started_at=NOON + 2 * DAY)
    await organizations(storage)
    await storage.write(lambda w: w.put_report(ACME.id, again, NOON))
    await drop(storage, Kept.REPORTS, NOON + DAY)

    after = await facts_of(storage)
    assert after.reports == (again,)
    assert {*after.reviews} == {FAILURE}
    await check_whole(storage)


@pytest.mark.parametrize("kind", Kept)
async def test_what_arrived_later_stays_whatever_the_clock_of_its_bench(
    storage: Storage, kind: Kept
) -> None:
    early = replace(REPORT, started_at=NOT_YET, ended_at=NOT_YET)
    merge = replace(ANNOUNCEMENT, merged_at=NOT_YET)
    await storage.write(lambda w: w.add_organization(ACME))
    await storage.write(lambda w: w.put_report(ACME.id, early, NOON))
    await storage.write(lambda w: w.announce(ACME.id, merge, NOON))
    assert await drop(storage, kind, NOON) == 0
    assert (await facts_of(storage)).reports == (early,)
    assert await drop(storage, kind, NOON + DAY) > 0


async def test_what_is_sent_again_is_kept_again(storage: Storage) -> None:
    await organizations(storage)
    await drop(storage, Kept.MESSAGES, NOON + DAY)
    await storage.write(lambda w: w.put_report(ACME.id, REPORT, NOON + 2 * DAY))
    assert (await facts_of(storage)).reports == (REPORT,)
    assert await drop(storage, Kept.MESSAGES, NOON + 2 * DAY) == 1  # what gave way
    assert (await facts_of(storage)).reports == (REPORT,)
    assert await drop(storage, Kept.MESSAGES, NOON + 3 * DAY) == 1
    await check_whole(storage)


@pytest.mark.parametrize(
    ("own", "most", "counts"),
    [
        (EVER, EVER, EVER),
        (KeepDays(400), EVER, KeepDays(400)),
        (EVER, KeepDays(365, 7, 9), KeepDays(365, 7, 9)),
        (KeepDays(400, 5, 10), KeepDays(365, 7, None), KeepDays(365, 5, 10)),
    ],
)
def test_the_lower_of_both_numbers_counts(own: KeepDays, most: KeepDays, counts: KeepDays) -> None:
    assert kept_days(own, most) == counts


@pytest.mark.parametrize(
    ("own", "most"), [(KeepDays(messages=30), EVER), (EVER, KeepDays(messages=30))]
)
async def test_nothing_goes_until_the_days_have_counted_for_a_day(
    storage: Storage, own: KeepDays, most: KeepDays
) -> None:
    await organizations(storage, own)
    assert limits.KEEP_GRACE == DAY
    for days, has in ((100, True), (100.99, True), (101, False)):
        await sweep(storage, days, most)
        (report,) = (await facts_of(storage)).reports
        assert (report == REPORT) is has, days
    await check_whole(storage)
    left = REPORT if own.messages else report  # the operator's number is for all
    assert (await facts_of(storage, OTHER)).reports == (left,)


async def test_it_stays_for_its_days(storage: Storage) -> None:
    await organizations(storage, KeepDays(90, 30, 60))
    for days in (1, 29.9):  # counted since the first
        await sweep(storage, days)
        assert (await facts_of(storage)).reports == (REPORT,)
    lost = []
    for days in (30.1, 59.9, 60.1, 89.9, 90.1):
        await sweep(storage, days)
        tests = [test for report in (await facts_of(storage)).reports for test in report.tests]
        lost.append([test.message is test.log_url is None or test.message for test in tests[1:]])
    assert lost == [[None], [None], [True], [True], []]


async def test_other_days_begin_to_count_anew(storage: Storage) -> None:
    await organizations(storage, KeepDays(messages=300))
    await sweep(storage, 100)
    await storage.write(lambda w: w.set_keep_days(ACME.id, KeepDays(messages=30)))
    await sweep(storage, 102)
    await storage.write(lambda w: w.set_keep_days(ACME.id, EVER))
    await sweep(storage, 102.5)
    assert await storage.read(lambda r: r.counting(ACME.id)) == {}
    await storage.write(lambda w: w.set_keep_days(ACME.id, KeepDays(messages=30)))
    await sweep(storage, 103.5)
    assert (await facts_of(storage)).reports == (REPORT,)
    counting = Counting(30, NOON + 103.5 * DAY)
    assert await storage.read(lambda r: r.counting(ACME.id)) == {Kept.MESSAGES: counting}
    await sweep(storage, 104.5)
    assert (await facts_of(storage)).reports != (REPORT,)


async def test_days_that_change_within_a_sweep_count_for_its_next_turn(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "REPORTS_AT_ONCE", 1)
    await organizations(storage, KeepDays(90))
    later = replace(REPORT, run_id=8, tests=(PASS,))
    await storage.write(lambda w: w.put_report(ACME.id, later, NOON))
    await sweep(storage, 1)
    plain, turns = storage.write, 0

    async def write(work: Any, **how: Any) -> Any:
        nonlocal turns
        turns += 1
        done = await plain(work, **how)
        if turns == 1:
            await plain(lambda w: w.set_keep_days(ACME.id, EVER))
        return done

    monkeypatch.setattr(storage, "write", write)
    await sweep(storage, 100)
    monkeypatch.undo()
    assert len((await facts_of(storage)).reports) == 1


async def test_a_deleted_organization_stays_whole_and_a_clock_that_may_be_wrong_deletes_nothing(
    storage: Storage,
) -> None:
    await organizations(storage, KeepDays(90, 1, 1))
    await sweep(storage, 1)
    await Keeping(storage, Evenness(lambda: NOON + 100 * DAY), EVER).sweep()
    await storage.write(lambda w: w.set_erase_at(ACME.id, NOON + 999 * DAY))
    await sweep(storage, 200)
    assert (await facts_of(storage)).reports == (REPORT,)
    await storage.write(lambda w: w.set_erase_at(ACME.id, None))
    await sweep(storage, 200)
    assert (await facts_of(storage)).reports == ()


@pytest.mark.parametrize("kind", Kept)
@pytest.mark.parametrize("steps", [1, 4, 9, *range(10, 10 + rounds(0, 12))])
async def test_a_sweep_that_was_killed_goes_on(
    new_database: NewDatabase, kind: Kept, steps: int
) -> None:
    where, most = new_database(), timedelta(hours=5)
    async with opened(where) as storage:
        await storage.write(lambda w: w.add_organization(ACME))
        await storage.write(lambda w: fill(w, 3))
    turn = f"w.drop_aged(UUID(int=1), Kept('{kind}'), datetime.fromisoformat('{NOON + most}'), 3)"
    await kill_within(where, steps, turn)

    async with opened(where) as storage:
        before = await facts_of(storage)
        await check_whole(storage)
        while await drop(storage, kind, NOON + most, 3):
            pass
        after = await facts_of(storage)
        await check_whole(storage)
    old = [report for report in after.reports if report.started_at < NOON + most]
    if kind is Kept.REPORTS:
        assert old == []
        assert after.reports
    else:
        assert len(old) == sum(one.started_at < NOON + most for one in before.reports) > 0
        field = {Kept.MESSAGES: "message", Kept.LOGS: "log_url"}[kind]
        assert {getattr(test, field) for report in old for test in report.tests} == {None}
