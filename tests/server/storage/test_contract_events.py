# SPDX-License-Identifier: Apache-2.0
"""What every driver promises of events and of those who listen to them."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

import pytest

from hwci.server.errors import ConflictError
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Storage, Writer
from hwci.server.storage.records import Event
from tests.server.storage.examples import ACME, NOON, OTHER
from tests.server.storage.happenings import NEXT_RUN, RUN, append, happening, numbers

DAY, TICK = timedelta(days=1), timedelta(microseconds=1)


class TestEvents:
    async def test_an_event_comes_back_as_it_was_appended(self, storage: Storage) -> None:
        await storage.write(lambda w: w.add_event(ACME.id, happening()))
        assert list(await storage.read(lambda r: r.events(ACME.id, 0, 9))) == [
            Event(1, happening())
        ]

    async def test_each_organization_counts_from_one_without_a_gap(self, storage: Storage) -> None:
        await storage.write(append(2))
        await storage.write(append(1, OTHER.id))
        await storage.write(append(1))
        assert await numbers(storage) == [1, 2, 3]
        assert await numbers(storage, OTHER.id) == [1]

    async def test_a_transaction_that_raises_uses_no_number_up(self, storage: Storage) -> None:
        def refused(writer: Writer) -> None:
            append(2)(writer)
            raise ConflictError

        await storage.write(append(1))
        with pytest.raises(ConflictError):
            await storage.write(refused)
        await storage.write(append(1))
        assert await numbers(storage) == [1, 2]

    async def test_events_are_given_after_a_number_in_order_and_no_more_than_asked(
        self, storage: Storage
    ) -> None:
        await storage.write(append(5))
        found = await storage.read(lambda r: r.events(ACME.id, 2, 2))
        assert [one.number for one in found] == [3, 4]
        assert await numbers(storage, after=5) == []

    async def test_events_of_one_run_are_given_without_those_of_others(
        self, storage: Storage
    ) -> None:
        def work(writer: Writer) -> None:
            for run in (RUN, NEXT_RUN, RUN):
                writer.add_event(ACME.id, happening(run))

        await storage.write(work)
        found = await storage.read(lambda r: r.events(ACME.id, 0, 9, RUN))
        assert [one.number for one in found] == [1, 3]

    async def test_the_extent_is_the_oldest_kept_and_the_newest(self, storage: Storage) -> None:
        assert await storage.read(lambda r: r.event_extent(ACME.id)) == (1, 0)
        await storage.write(append(3))
        assert await storage.read(lambda r: r.event_extent(ACME.id)) == (1, 3)
        assert await storage.read(lambda r: r.event_extent(OTHER.id)) == (1, 0)


def append_at(*times: datetime) -> Callable[[Writer], None]:
    def work(writer: Writer) -> None:
        for at in times:
            writer.add_event(ACME.id, happening(at=at))

    return work


class TestForgetting:
    @pytest.fixture(autouse=True)
    async def organizations(self, storage: Storage) -> None:
        await storage.write(lambda w: w.add_organization(ACME))
        await storage.write(lambda w: w.add_organization(OTHER))

    async def test_older_events_go_and_one_of_that_very_moment_stays(
        self, storage: Storage
    ) -> None:
        await storage.write(append_at(NOON - DAY, NOON - TICK, NOON, NOON + TICK))
        await storage.write(lambda w: w.drop_events(NOON, 9))
        assert await storage.read(lambda r: r.event_extent(ACME.id)) == (3, 4)

    async def test_the_newest_stays_however_old_so_that_numbers_go_on(
        self, storage: Storage
    ) -> None:
        await storage.write(append(2))
        await storage.write(append(1, OTHER.id))
        await storage.write(lambda w: w.drop_events(NOON + DAY, 9))
        assert await numbers(storage) == [2]
        await storage.write(append(1))
        await storage.write(append(1, OTHER.id))
        assert await numbers(storage) == [2, 3]
        assert await numbers(storage, OTHER.id) == [1, 2]

    async def test_what_stays_has_no_gap_when_a_clock_went_back(self, storage: Storage) -> None:
        await storage.write(append_at(NOON - DAY, NOON + DAY, NOON - DAY, NOON + DAY))
        await storage.write(lambda w: w.drop_events(NOON, 9))
        assert await numbers(storage) == [2, 3, 4]

    async def test_no_more_go_at_once_than_asked_and_the_rest_next_time(
        self, storage: Storage
    ) -> None:
        await storage.write(append(1))  # of an organization that is idle since
        await storage.write(append(3, OTHER.id))
        await storage.write(append(4))
        drop = partial(storage.write, lambda w: w.drop_events(NOON + DAY, 4))
        assert [await drop() for _ in range(3)] == [4, 2, 0]
        assert (await numbers(storage), await numbers(storage, OTHER.id)) == ([5], [3])

    async def test_an_organization_whose_clock_went_back_does_not_hold_up_the_others(
        self, storage: Storage
    ) -> None:
        await storage.write(append_at(NOON + DAY, *[NOON - DAY] * 3))
        await storage.write(append(2, OTHER.id))
        assert await storage.write(lambda w: w.drop_events(NOON + TICK, 1)) == 1
        assert await numbers(storage, OTHER.id) == [2]


class TestListening:
    async def test_a_commit_that_appended_events_notifies_once_with_its_organization(
        self, storage: Storage
    ) -> None:
        notified: list[UUID] = []
        storage.listen(notified.append)
        await storage.write(append(3))
        assert notified == [ACME.id]
        await storage.write(append(1, OTHER.id))
        assert notified == [ACME.id, OTHER.id]

    async def test_a_listener_that_hears_finds_the_event(self, storage: Storage) -> None:
        found: list[asyncio.Task[list[int]]] = []
        storage.listen(lambda org_id: found.append(asyncio.create_task(numbers(storage, org_id))))
        await storage.write(append(1))
        assert await found[0] == [1]

    async def test_a_commit_without_events_and_one_that_drops_them_notify_no_listener(
        self, storage: Storage
    ) -> None:
        await storage.write(append(2))
        notified: list[UUID] = []
        storage.listen(notified.append)
        await storage.write(lambda w: w.add_organization(ACME))
        await storage.write(lambda w: w.drop_events(NOON + DAY, 9))
        assert notified == []

    async def test_a_transaction_that_raises_notifies_no_listener(self, storage: Storage) -> None:
        def refused(writer: Writer) -> None:
            append(1)(writer)
            raise ConflictError

        notified: list[UUID] = []
        storage.listen(notified.append)
        with pytest.raises(ConflictError):
            await storage.write(refused)
        await storage.write(append(1, OTHER.id))
        assert notified == [OTHER.id]

    async def test_a_listener_that_ended_hears_no_more(self, storage: Storage) -> None:
        notified: list[UUID] = []
        faults: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context))
        storage.listen(lambda _: end())  # called first, when the other is about to be
        end = storage.listen(notified.append)
        await storage.write(append(1))
        end()
        await storage.write(append(1, OTHER.id))
        assert (notified, faults) == ([], [])

    async def test_a_listener_that_raises_harms_neither_the_writer_nor_the_next(
        self, storage: Storage
    ) -> None:
        faults: list[object] = []
        asyncio.get_running_loop().set_exception_handler(
            lambda _, context: faults.append(context["exception"])
        )
        notified: list[UUID] = []
        storage.listen(notified.remove)
        storage.listen(notified.append)
        await storage.write(append(1))
        assert await numbers(storage) == [1]
        assert notified == [ACME.id]
        assert isinstance(faults[0], ValueError)

    async def test_a_write_whose_caller_went_away_notifies_all_the_same(
        self, storage: Storage
    ) -> None:
        notified = asyncio.Event()
        storage.listen(lambda _: notified.set())
        writing = asyncio.ensure_future(storage.write(append(1)))
        await asyncio.sleep(0)
        writing.cancel()
        await asyncio.wait_for(notified.wait(), 60)
        assert await numbers(storage) == [1]


def test_a_listener_whose_loop_has_ended_harms_no_writer() -> None:
    storage = open_storage("memory:")

    async def listen() -> None:
        storage.listen(lambda _: None)

    async def write() -> list[int]:
        await storage.write(append(1))
        found = await numbers(storage)
        await storage.close()
        return found

    asyncio.run(listen())
    assert asyncio.run(write()) == [1]
