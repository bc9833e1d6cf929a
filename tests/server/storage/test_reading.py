# SPDX-License-Identifier: Apache-2.0
"""Short reads before long ones (ADR 0002), on every driver: a read that computes for long is begun
again among the long ones, and nobody else waits for it.
"""

import asyncio
import sys
import threading
from time import thread_time
from uuid import UUID

import pytest

from hwci.engine.history import OutOfTimeError
from hwci.server.errors import OverloadedError
from hwci.server.storage import reading
from hwci.server.storage.interpreter import interpreter
from hwci.server.storage.ports import Reader, Storage
from tests.server.storage.examples import ACME, OTHER

ADA, BOB = UUID(int=1), UUID(int=2)


def compute(reader: Reader, seconds: float) -> None:
    """Compute as the engine does, asking now and then whether to go on."""
    history, until = reader.history(ACME.id), thread_time() + seconds
    while thread_time() < until:
        history.check_time()


class Long:
    """A read that goes on until it is told to end, and notes how often it was begun."""

    def __init__(self) -> None:
        self.begun = 0
        self.among_long, self.end = threading.Event(), threading.Event()

    def __call__(self, reader: Reader) -> str:
        self.begun += 1
        if "long-reader" in threading.current_thread().name:
            self.among_long.set()
        history = reader.history(ACME.id)
        while not self.end.is_set():
            history.check_time()
        return "done"

    async def begin(self, storage: Storage, person: UUID) -> "asyncio.Future[str]":
        """Begin it as a person, and return when it is among the long ones."""
        reading = asyncio.ensure_future(storage.read(self, organization=ACME.id, person=person))
        assert await asyncio.to_thread(self.among_long.wait, 30)
        return reading


async def test_a_read_that_computes_for_long_is_begun_again_and_a_short_one_once(
    storage: Storage,
) -> None:
    long, short = 0, 0

    def work(reader: Reader) -> None:
        nonlocal long
        long += 1
        compute(reader, 2 * reading.SHORT_SECONDS)

    def glance(_: Reader) -> None:
        nonlocal short
        short += 1

    await storage.read(work, organization=ACME.id, person=ADA)
    await storage.read(glance, organization=ACME.id, person=ADA)

    assert (long, short) == (3, 1)


async def test_a_question_whose_read_was_long_is_soon_begun_among_the_long_ones(
    storage: Storage,
) -> None:
    lanes: list[bool] = []

    def ask(seconds: float) -> "asyncio.Future[None]":
        def work(reader: Reader) -> None:
            lanes.append("long-reader" in threading.current_thread().name)
            compute(reader, seconds)

        return asyncio.ensure_future(
            storage.read(work, organization=ACME.id, person=ADA, question="/failures")
        )

    long, short = 2 * reading.SHORT_SECONDS, reading.SHORT_SECONDS / 3
    for seconds in (long, long, 0, short, short):
        await ask(seconds)
        lanes.append(False)

    first = [False, False, True]
    known, has_the_answer, is_short_now, short_again = (
        [False, True],
        [False],
        [False, True],
        [False],
    )
    expected = (first, known, has_the_answer, is_short_now, short_again)
    assert lanes == [lane for begun in expected for lane in (*begun, False)]


async def test_short_reads_of_colleagues_and_others_pass_a_long_one(storage: Storage) -> None:
    long = Long()
    first = await long.begin(storage, ADA)

    await storage.read(lambda _: None, organization=ACME.id, person=BOB)
    await storage.read(lambda _: None, organization=OTHER.id, person=ADA)

    assert not first.done()
    long.end.set()
    assert await first == "done"


async def test_a_person_has_one_read_at_a_time(storage: Storage) -> None:
    long = Long()
    first = await long.begin(storage, ADA)
    second = asyncio.ensure_future(
        storage.read(lambda _: first.done(), organization=ACME.id, person=ADA)
    )
    await storage.read(lambda _: None, organization=ACME.id, person=BOB)
    assert not second.done()
    long.end.set()

    assert await first == "done"
    assert await second, "it was read before the first one had ended"


async def test_of_one_organization_one_long_read_is_done_at_a_time(storage: Storage) -> None:
    long, other = Long(), Long()
    first = await long.begin(storage, ADA)
    second = asyncio.ensure_future(storage.read(other, organization=ACME.id, person=BOB))
    async with asyncio.timeout(30):
        while not other.begun:  # noqa: ASYNC110 - a thread begins it
            await asyncio.sleep(0.01)
    assert not await asyncio.to_thread(other.among_long.wait, 3 * reading.SHORT_SECONDS)
    long.end.set()
    assert await first == "done"
    assert await asyncio.to_thread(other.among_long.wait, 30)
    other.end.set()

    assert await second == "done"


async def test_what_a_person_asks_for_beyond_their_turns_is_refused(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hwci.server.storage.turns.WAITING_OF_ONE_MAX", 2)
    long = Long()
    first = await long.begin(storage, ADA)
    more = [
        asyncio.ensure_future(storage.read(lambda _: None, organization=ACME.id, person=ADA))
        for _ in range(2)
    ]
    await asyncio.sleep(0)

    with pytest.raises(OverloadedError, match="Too many of your requests"):
        await storage.read(lambda _: None, organization=ACME.id, person=ADA)
    await storage.read(lambda _: None, organization=ACME.id, person=BOB)
    long.end.set()
    await asyncio.gather(first, *more)


async def test_a_long_read_whose_caller_leaves_gives_its_place_back(storage: Storage) -> None:
    long = Long()
    first = await long.begin(storage, ADA)
    first.cancel()

    again = Long()
    second = await again.begin(storage, ADA)
    again.end.set()

    assert await second == "done"


async def test_a_part_of_a_read_may_run_out_of_its_share_and_the_read_goes_on(
    storage: Storage,
) -> None:
    def work(reader: Reader) -> str:
        try:
            with reader.share(0.02):
                compute(reader, 60)
        except OutOfTimeError:
            return f"version {reader.version(ACME.id)}"
        return "it had all the time"

    assert await storage.read(work, organization=ACME.id, person=ADA) == "version 0"


async def test_the_share_of_a_part_does_not_outlast_the_read(storage: Storage) -> None:
    def work(reader: Reader) -> None:
        with reader.share(1.0):
            compute(reader, 60)

    with pytest.raises(OverloadedError, match="fewer days or one product"):
        await storage.read(work, organization=ACME.id, person=ADA, seconds=0.5)


def test_threads_give_way_sooner_only_while_several_compute() -> None:
    alone = sys.getswitchinterval()

    def nested(depth: int) -> list[float]:
        """Return the time of a turn on each floor, on the way in and out."""
        before = sys.getswitchinterval()
        within = interpreter.compute(lambda: nested(depth - 1)) if depth else []
        return [before, *within, sys.getswitchinterval()]

    turns = nested(3)

    assert [turn == alone for turn in turns] == [True, True, False, False, False, False, True, True]
    assert min(turns) < 0.001
