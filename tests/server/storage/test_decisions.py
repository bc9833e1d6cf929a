# SPDX-License-Identifier: Apache-2.0
"""What arrives is decided before a page asks, whatever comes in between."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from hwci.contract.vocabulary import Role
from hwci.engine.full_history import FullHistory
from hwci.engine.page.overview import read_page
from hwci.server.clock import system_clock
from hwci.server.security.tokens import Claims
from hwci.server.services.access import Member
from hwci.server.services.analysis.trends import Trends
from hwci.server.services.ci_metrics import decisions
from hwci.server.services.ci_metrics.decisions import Decisions
from hwci.server.services.ci_metrics.tags import Tags
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.records import Membership
from hwci.server.storage.sql.history import decisions as kept_decisions
from hwci.server.storage.sql.transaction import Transaction
from hwci.wire.queries import PeriodQuery
from tests.engine.timeline import ALL, CONFIG, EVER, changes, commit, item, minute, report
from tests.server.storage.examples import ACME, ADA, NOON

TESTS = ("boots", "blinks", "sleeps", "wakes")
_AT_ONCE = 20  # reports of one write, which has a time limit
MEMBER = Member(ADA, Membership(ACME, Role.MEMBER, NOON), Claims(ADA.id, UUID(int=1)))


@pytest.fixture(autouse=True)
def _tireless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions, "_REST_SECONDS", 0)


async def send(storage: Storage, reports: int) -> None:
    """Send reports of a branch on which the tests fail at every other commit."""

    def work(start: int, writer: Writer) -> None:
        for number in range(start, min(start + _AT_ONCE, reports)):
            sha, sent = f"{number:07x}", None
            if number:
                sent = changes(f"{number - 1:07x}", commit(sha, "fw" if number % 3 else "hs"))
            tests = [item("FP"[number % 2], test) for test in TESTS]
            writer.put_report(
                ACME.id, report(f"{sha}:-", number * 60, sent=sent, tests=tests), NOON
            )

    for start in range(0, reports, _AT_ONCE):
        await storage.write(partial(work, start))


async def configure(storage: Storage) -> None:
    await storage.write(lambda writer: writer.put_config(ACME.id, CONFIG, NOON))


async def undecided(storage: Storage) -> list[datetime]:
    """Return when the failures began that nobody decided."""
    found = await storage.read(lambda reader: reader.undecided(ACME.id, 10_000))
    return [episode.started_at for episode in found]


async def page_has_nothing_to_decide(storage: Storage) -> None:
    def work(reader: Reader) -> None:
        history = reader.history(ACME.id)
        page = read_page(history, ALL, EVER)
        assert not history.decided
        assert page == read_page(FullHistory(ACME.id, reader.facts(ACME.id)), ALL, EVER)
        assert page.tiles.real_fw_bugs.real

    await storage.read(work)


async def test_after_many_reports_the_first_page_decides_nothing(storage: Storage) -> None:
    await configure(storage)
    await send(storage, 200)
    assert len(await undecided(storage)) == 100 * len(TESTS)

    await Decisions(storage, system_clock).make()

    await page_has_nothing_to_decide(storage)


async def test_what_was_decided_before_a_kill_is_kept_the_newest_first(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await configure(storage)
    await send(storage, 20)
    before = await undecided(storage)
    assert before == sorted(before, reverse=True)
    take, turns = storage.take_decided, iter("123")

    class KilledError(Exception):
        """The process ends."""

    def take_or_die() -> Any:
        noted = take()
        if next(turns) == "3":
            raise KilledError
        return noted

    monkeypatch.setattr(decisions, "TURN_SECONDS", -1)  # one failure a turn
    with monkeypatch.context() as killing:
        killing.setattr(storage, "take_decided", take_or_die)
        with pytest.raises(KilledError):
            await Decisions(storage, system_clock).make()
    assert await undecided(storage) == before[2:]

    await Decisions(storage, system_clock).make()

    await page_has_nothing_to_decide(storage)


@pytest.mark.parametrize(
    "meanwhile", [configure, partial(send, reports=22)], ids=["configuration", "reports"]
)
async def test_what_comes_while_it_is_decided_makes_it_be_decided_again(
    storage: Storage, monkeypatch: pytest.MonkeyPatch, meanwhile: Callable[[Storage], Any]
) -> None:
    if meanwhile is not configure:
        await configure(storage)
    await send(storage, 20)
    write, asked = storage.write, iter([True])

    async def after_others(work: Any, **how: Any) -> Any:
        if next(asked, False):
            await meanwhile(storage)
        return await write(work, **how)

    monkeypatch.setattr(storage, "write", after_others)
    await Decisions(storage, system_clock).make()

    await page_has_nothing_to_decide(storage)


async def test_only_what_changed_since_is_looked_at(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await configure(storage)
    await send(storage, 20)
    making, looked = Decisions(storage, system_clock), []
    look = Transaction.undecided

    def counted(self: Transaction, org_id: UUID, most: int) -> Any:
        looked.append(org_id)
        return look(self, org_id, most)

    await making.make()
    monkeypatch.setattr(Transaction, "undecided", counted)
    await making.make()
    assert looked == []

    await send(storage, 22)
    await making.make()
    assert set(looked) == {ACME.id}
    await page_has_nothing_to_decide(storage)


async def test_a_decision_that_is_not_kept_for_its_length_is_not_made_again_to_be_kept(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_decisions, "_WALK_MOST", 0)
    await configure(storage)
    await send(storage, 20)

    await Decisions(storage, system_clock).make()

    assert await undecided(storage) == []
    rows = await storage.read(
        lambda reader: [one.decision for one in reader.history(ACME.id).episodes(ALL, EVER)]
    )
    assert None in rows


async def test_what_an_answer_beside_the_rules_decided_is_kept(storage: Storage) -> None:
    await configure(storage)
    await send(storage, 20)
    half = minute(10 * 60)
    query = PeriodQuery.model_validate({"start": half, "as_of": half + timedelta(hours=9)})
    await Trends(storage, lambda: NOON).against_before(MEMBER, query, Tags())
    await Decisions(storage, system_clock).keep()

    left = await undecided(storage)
    assert len(left) < 10 * len(TESTS)
    assert max(left, default=half) < half
