# SPDX-License-Identifier: Apache-2.0
"""How often a server waits for a PostgreSQL that is far away: a proxy between the two counts."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing
from dataclasses import dataclass, replace
from uuid import UUID

import pytest

from hwci.contract.vocabulary import Outcome, Role
from hwci.engine.facts import Report, TestItem
from hwci.engine.history import Scope
from hwci.engine.page.overview import read_page
from hwci.engine.periods import last_days
from hwci.server.clock import system_clock
from hwci.server.security.api_keys import key_digest, new_api_key
from hwci.server.security.signing import Signer
from hwci.server.security.tokens import AccessTokens, Claims
from hwci.server.services.access import MEMBERS, Access
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Storage, Writer
from hwci.server.storage.postgresql import hearing
from hwci.server.storage.postgresql.store import LOOK_UPS
from hwci.wire import limits
from tests.server.storage.examples import ACME, ADA, BOX, KEY, NOON, READER_KEY, REPORT, SESSION
from tests.server.storage.waiting import leader_of
from tests.support.databases import Server, connect, only_where_wanted
from tests.support.distance import Distance, distant

pytestmark = only_where_wanted

REPORT_TRIPS, PAGE_TRIPS = 21, 18
"""The most that a report of failing tests takes, and the metrics page."""
LOOK_SECONDS = 3600.0
CI_KEY, READ_KEY = new_api_key(), new_api_key(limits.READER_KEY_PREFIX)
BOX_KEY = new_api_key()
TOKENS = AccessTokens(Signer(b"k" * 32, system_clock))
TOKEN = TOKENS.issue(Claims(ADA.id, SESSION.id))

Asking = Callable[[Access], Awaitable[object]]


@dataclass(frozen=True)
class Far:
    """A store of one organization, and what is between it and its database."""

    store: Storage
    distance: Distance

    async def trips(self, asking: Awaitable[object]) -> int:
        """Return how many round trips something takes."""
        before = self.distance.round_trips
        await asking
        return self.distance.round_trips - before


@pytest.fixture
async def far(postgresql: Server, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Far]:
    monkeypatch.setattr(hearing, "_LOOK_SECONDS", LOOK_SECONDS)
    with postgresql.database() as near:
        async with distant(near, 0) as distance:
            store = await asyncio.to_thread(open_storage, distance.location)
            await leader_of([store])  # it asks for nothing more by itself
            await store.write(_begin)
            yield Far(store, distance)
            await store.close()


def _begin(writer: Writer) -> None:
    digests = key_digest(CI_KEY), key_digest(READ_KEY, limits.READER_KEY_PREFIX)
    assert all(digests)
    writer.add_organization(replace(ACME, ci_metrics_enabled=True))
    writer.add_user(ADA)
    writer.add_membership(ACME.id, ADA.id, Role.OWNER, NOON)
    writer.add_session(SESSION)
    for key, digest in zip((KEY, READER_KEY), digests, strict=True):
        writer.add_key(replace(key, digest=digest or b""))
    writer.add_box(replace(BOX, key_digest=key_digest(BOX_KEY)))


@pytest.mark.parametrize(
    "asking",
    [
        lambda access: access.person(TOKEN),
        lambda access: access.member(TOKEN, ACME.id, MEMBERS, metrics=True),
        lambda access: access.ci_key(CI_KEY),
        lambda access: access.reader_key(READ_KEY, ACME.id, metrics=True),
        lambda access: access.own_reader_key(READ_KEY),
        lambda access: access.box(BOX_KEY),
    ],
    ids=["person", "member", "CI key", "reader key", "own reader key", "box"],
)
async def test_a_caller_is_looked_up_in_one_round_trip(asking: Asking, far: Far) -> None:
    access = Access(far.store, system_clock, TOKENS)
    await asking(access)
    assert await far.trips(asking(access)) == 1


async def test_look_ups_take_as_many_connections_as_are_looked_up_at_once(far: Far) -> None:
    access = Access(far.store, system_clock, TOKENS)
    before = far.distance.connections
    for _ in range(3):
        await access.ci_key(CI_KEY)
    assert far.distance.connections == before + 1

    far.distance.seconds = 0.01
    await asyncio.gather(*(access.ci_key(CI_KEY) for _ in range(5 * LOOK_UPS)))
    assert far.distance.connections == before + LOOK_UPS


async def test_nobody_waits_for_the_end_of_a_read(far: Far) -> None:
    far.distance.ends_stay_open = True
    async with asyncio.timeout(60):
        assert await far.store.read(lambda r: r.user(ADA.id)) == ADA


async def test_the_end_of_a_read_is_in_the_database_before_the_next_one_begins(far: Far) -> None:
    for _ in range(100):
        assert await far.store.read(lambda r: (r.user(ADA.id), r.organization(ACME.id)))
    open_now = "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'"
    with closing(connect(far.distance.near)) as connection:
        for _ in range(1_000):
            if connection.rows(open_now) == [(0,)]:
                return
            await asyncio.sleep(0.01)
    raise AssertionError("a transaction stays open")


async def test_a_report_waits_as_often_for_many_failing_tests_as_for_few(far: Far) -> None:
    few = [await far.trips(_put(far.store, number, failing=2)) for number in range(1, 9)]
    many = [await far.trips(_put(far.store, number, failing=60)) for number in range(9, 17)]
    # The statements are prepared by then, and a message that comes in two pieces counts as two.
    assert min(few[-3:]) == min(many[-3:]) <= REPORT_TRIPS


async def test_the_metrics_page_takes_few_round_trips(far: Far) -> None:
    for number in range(1, 9):
        await _put(far.store, number, failing=20)
    page = far.store.read(
        lambda r: read_page(r.history(ACME.id), Scope(), last_days(30, _at(8).started_at), 10)
    )
    assert await far.trips(page) <= PAGE_TRIPS


async def test_what_was_written_is_seen_by_the_next_question_of_its_transaction(far: Far) -> None:
    def work(writer: Writer) -> None:
        writer.set_password(ADA.id, "another")
        writer.end_session(SESSION.id, NOON)
        user, session = writer.user(ADA.id), writer.session(SESSION.id)
        assert user is not None
        assert session is not None
        assert (user.password_hash, session.ended_at) == ("another", NOON)

    await far.store.write(work)


async def test_a_write_that_is_refused_at_its_end_leaves_nothing(far: Far) -> None:
    """The second row is a clash that the database notices when it is asked to commit."""
    other = UUID(int=99)

    def work(writer: Writer) -> None:
        writer.add_session(replace(SESSION, id=other))
        writer.add_session(replace(SESSION, id=other))

    with pytest.raises(Exception, match="refused a statement"):
        await far.store.write(work)
    assert await far.store.read(lambda r: r.session(other)) is None
    assert await far.store.read(lambda r: r.session(SESSION.id)) == SESSION


def _at(number: int, failing: int = 0) -> Report:
    tests = [
        TestItem(f"t{one}", Outcome.FAIL if (one + number) % 2 else Outcome.PASS, 1, 1.0)
        for one in range(2 * failing)
    ]
    return replace(
        REPORT,
        run_id=number,
        sha=f"{number:07x}",
        started_at=NOON.replace(day=number),
        ended_at=NOON.replace(day=number, minute=5),
        covers_shas=(),
        tests=tuple(tests),
    )


async def _put(store: Storage, number: int, failing: int) -> None:
    report = _at(number, failing)
    await store.write(lambda w: w.put_report(ACME.id, report, NOON), organization=ACME.id)
