# SPDX-License-Identifier: Apache-2.0
"""Writes that wait together share a transaction, and each has its own end (ADR 0002)."""

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from uuid import UUID

import pytest

from hwci.contract.vocabulary import RunEventType
from hwci.server.errors import OverloadedError, UnauthenticatedError
from hwci.server.storage import together, turns
from hwci.server.storage.ports import Storage, Writer
from hwci.server.storage.records import Happening
from hwci.server.storage.together import Together, Work
from tests.server.storage.examples import ACME, NOON, OTHER

SECONDS = 9.0


def happens(number: int) -> Work:
    """Return a write of an event."""
    happening = Happening(NOON, RunEventType.TEST, UUID(int=number), {})
    return lambda writer: writer.add_event(ACME.id, happening)


async def happened(storage: Storage) -> list[int]:
    """Return the numbers of the events that were kept, in their order."""
    events = await storage.read(lambda reader: reader.events(ACME.id, 0, 1000))
    return [one.happening.run_id.int for one in events]


class Held:
    """A write of the organization that has begun, and those that are given meanwhile."""

    def __init__(self, storage: Storage) -> None:
        self.together = Together(storage)
        self.go_on = threading.Event()
        self.begun = threading.Event()
        self.first = self.write(self._first)

    def _first(self, writer: Writer) -> None:
        self.begun.set()
        assert self.go_on.wait(30)
        happens(0)(writer)

    def write(self, work: Work, organization: UUID = ACME.id) -> "asyncio.Future[None]":
        return asyncio.ensure_future(self.together.write(work, organization, SECONDS))

    async def end(self) -> None:
        """End the first, once all that were given wait."""
        await asyncio.sleep(0)
        self.go_on.set()


@asynccontextmanager
async def holding(storage: Storage) -> AsyncIterator[Held]:
    """Hold a first write of the organization."""
    await storage.write(lambda writer: writer.add_organization(ACME))
    await storage.write(lambda writer: writer.add_organization(OTHER))
    held = Held(storage)
    try:
        assert await asyncio.to_thread(held.begun.wait, 30)
        yield held
    finally:
        held.go_on.set()


async def ends(waiting: Awaitable[None]) -> BaseException | None:
    """Return how a write ended."""
    return (await asyncio.gather(waiting, return_exceptions=True))[0]


async def test_those_that_wait_are_kept_in_one_transaction_in_their_order(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(together, "_TAKING_SECONDS", SECONDS)  # however busy the machine is
    commits: list[UUID] = []
    storage.listen(commits.append)
    async with holding(storage) as held:
        others = [held.write(happens(number)) for number in range(1, 10)]
        await held.end()
        await asyncio.gather(held.first, *others)

    assert await happened(storage) == list(range(10))
    assert commits == [ACME.id]


async def test_one_that_fails_is_refused_and_the_others_are_kept(storage: Storage) -> None:
    def fails(writer: Writer) -> None:
        happens(100)(writer)
        raise UnauthenticatedError("revoked")

    async with holding(storage) as held:
        before, failing, after = (held.write(one) for one in (happens(1), fails, happens(2)))
        await held.end()
        ended = [await ends(one) for one in (held.first, before, failing, after)]

    assert [type(one) for one in ended] == [
        *(type(None), type(None)),
        *(UnauthenticatedError, type(None)),
    ]
    assert sorted(await happened(storage)) == [0, 1, 2]


async def test_who_leaves_before_its_turn_is_not_written(storage: Storage) -> None:
    async with holding(storage) as held:
        leaves, stays = held.write(happens(1)), held.write(happens(2))
        await asyncio.sleep(0)
        leaves.cancel()
        await held.end()
        await asyncio.gather(held.first, stays)

    assert await happened(storage) == [0, 2]


async def test_the_others_are_kept_when_the_one_that_began_leaves(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(together, "_TAKING_SECONDS", 0)
    async with holding(storage) as held:
        others = [held.write(happens(number)) for number in (1, 2)]
        await asyncio.sleep(0)
        held.first.cancel()
        await held.end()
        await asyncio.gather(*others)
        again = held.write(happens(3))
        await again

    assert (await happened(storage))[-3:] == [1, 2, 3]


async def test_one_that_leaves_as_it_is_to_begin_has_the_next_one_begin(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(together, "_TAKING_SECONDS", 0)
    decide = together._Waiting.decide
    async with holding(storage) as held:
        leaves, stays = held.write(happens(1)), held.write(happens(2))
        await asyncio.sleep(0)

        def decide_and_leave(one: together._Waiting, fate: together._Fate) -> None:
            decide(one, fate)
            leaves.cancel()

        monkeypatch.setattr(together._Waiting, "decide", decide_and_leave)
        await held.end()
        await asyncio.gather(held.first, stays)

    assert await happened(storage) == [0, 2]


async def test_a_transaction_takes_no_more_once_its_time_is_over(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(together, "_TAKING_SECONDS", 0)
    commits: list[UUID] = []
    storage.listen(commits.append)
    async with holding(storage) as held:
        others = [held.write(happens(number)) for number in (1, 2)]
        await held.end()
        await asyncio.gather(held.first, *others)

    assert await happened(storage) == [0, 1, 2]
    assert len(commits) == 3


async def test_as_many_wait_as_of_other_writes(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(together, "WAITING_OF_ONE_MAX", 2)
    async with holding(storage) as held:
        others = [held.write(happens(number)) for number in (1, 2)]
        await asyncio.sleep(0)
        with pytest.raises(OverloadedError, match=turns.FULL):
            await held.write(happens(3))
        await held.end()
        await asyncio.gather(held.first, *others)

    assert await happened(storage) == [0, 1, 2]


async def test_one_that_waits_too_long_is_refused_and_never_begins(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(together, "ANSWER_SECONDS", 0.1)
    async with holding(storage) as held:
        with pytest.raises(OverloadedError, match="nothing of this one was done"):
            await held.write(happens(1))
        await held.end()
        await held.first

    assert await happened(storage) == [0]


async def test_organizations_share_no_transaction(storage: Storage) -> None:
    commits: list[UUID] = []
    storage.listen(commits.append)
    happening = Happening(NOON, RunEventType.TEST, UUID(int=1), {})
    async with holding(storage) as held:
        other = held.write(lambda writer: writer.add_event(OTHER.id, happening), OTHER.id)
        await held.end()
        await asyncio.gather(held.first, other)

    assert sorted(commits) == [ACME.id, OTHER.id]
