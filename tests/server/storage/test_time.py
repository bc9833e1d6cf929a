# SPDX-License-Identifier: Apache-2.0
"""What every driver promises of time: waiting and work together end, and one organization's long
reads hold up nobody else (contract, "Everywhere").
"""

import asyncio
import gc
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import UUID

import pytest

from hwci.server.errors import HwciServerError, OverloadedError
from hwci.server.storage import turns
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.sql.history.questions import SqlHistory
from hwci.server.storage.sqlite.store import SqliteStorage
from tests.server.exports import fill, pages
from tests.server.storage.examples import ACME, OTHER
from tests.server.storage.histories import ORG

HURRIED_SECONDS = 0.3


def endless(reader: Reader) -> None:
    """Work as the engine does: long, asking now and then whether to go on."""
    history = reader.history(ACME.id)
    while True:
        history.check_time()


async def test_a_read_whose_time_is_over_ends_and_says_what_to_do(storage: Storage) -> None:
    with pytest.raises(OverloadedError, match="fewer days or one product"):
        await storage.read(endless, organization=ACME.id, seconds=HURRIED_SECONDS)

    assert await storage.read(lambda r: r.version(ACME.id), organization=ACME.id) == 0


def histories() -> list[object]:
    """Return the histories that are in memory, with all that each has read."""
    return [each for each in gc.get_objects() if type(each) is SqlHistory]


@pytest.mark.parametrize("seconds", [60.0, 2.0])
async def test_what_a_read_has_loaded_goes_with_it(storage: Storage, seconds: float) -> None:
    await storage.write(partial(fill, seed=3, org_id=ORG))

    def work(reader: Reader) -> None:
        pages(reader, 3)
        if seconds < 60:
            endless(reader)

    gc.collect()
    gc.disable()
    try:
        with suppress(OverloadedError):
            await storage.read(work, organization=ORG, seconds=seconds)
        # Its thread lets go of the error a moment after it has handed it over.
        ends = monotonic() + 5
        while histories() and monotonic() < ends:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.01)
        left = histories()
    finally:
        gc.enable()
    assert left == []


async def test_a_statement_is_stopped_in_its_midst(tmp_path: Path) -> None:
    storage = open_storage(tmp_path / "hwci.db")
    assert isinstance(storage, SqliteStorage)
    counting = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    )
    lazily = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"

    def follow(reader: Any) -> None:
        for _ in reader._connection.execute(lazily):
            pass

    for work in (lambda r: r._connection.rows(counting), follow):
        with pytest.raises(OverloadedError):
            await storage.read(work, seconds=HURRIED_SECONDS)
    await storage.close()


async def test_a_read_ends_soon_when_its_caller_stops_waiting(storage: Storage) -> None:
    begun, ended = threading.Event(), threading.Event()

    def work(reader: Reader) -> None:
        begun.set()
        try:
            endless(reader)
        finally:
            ended.set()

    reading = asyncio.ensure_future(storage.read(work, organization=ACME.id))
    assert await asyncio.to_thread(begun.wait, 30)
    reading.cancel()

    assert await asyncio.to_thread(ended.wait, 5), "it would go on for ten seconds"


async def test_nothing_is_logged_of_a_read_whose_caller_has_left(
    storage: Storage, caplog: pytest.LogCaptureFixture
) -> None:
    begun = threading.Event()

    def work(reader: Reader) -> None:
        begun.set()
        endless(reader)

    reading = asyncio.ensure_future(storage.read(work, organization=ACME.id))
    assert await asyncio.to_thread(begun.wait, 30)
    reading.cancel()
    with suppress(asyncio.CancelledError):
        await reading
    del reading
    await storage.read(lambda r: r.version(ACME.id), organization=ACME.id)  # its turn is over
    await asyncio.sleep(0)
    gc.collect()

    assert caplog.messages == []


@contextmanager
def held() -> Iterator[threading.Event]:
    """Yield an event that work may wait for; it is set at the end."""
    go_on = threading.Event()
    try:
        yield go_on
    finally:
        go_on.set()


async def test_of_one_organization_one_read_is_done_at_a_time_and_others_go_ahead(
    tmp_path: Path,
) -> None:
    storage = open_storage(tmp_path / "hwci.db")
    at_once, most, lock = 0, 0, threading.Lock()
    with held() as go_on:

        def work(_: Reader) -> None:
            nonlocal at_once, most
            with lock:
                at_once += 1
                most = max(most, at_once)
            go_on.wait(30)
            with lock:
                at_once -= 1

        many = [asyncio.ensure_future(storage.read(work, organization=ACME.id)) for _ in range(10)]
        await asyncio.sleep(0)
        for other in range(3):
            await storage.read(lambda _: None, organization=UUID(int=100 + other))
        assert not any(one.done() for one in many)
        go_on.set()
        await asyncio.gather(*many)

    assert most == 1
    await storage.close()


async def test_a_turn_lasts_until_the_work_is_done_although_its_caller_left(
    storage: Storage,
) -> None:
    begun, order = threading.Event(), list[str]()
    with held() as go_on:

        def long(_: Reader) -> None:
            begun.set()
            go_on.wait(30)
            order.append("first")

        given_up = asyncio.ensure_future(storage.read(long, organization=ACME.id))
        assert await asyncio.to_thread(begun.wait, 30)
        given_up.cancel()
        second = asyncio.ensure_future(
            storage.read(lambda _: order.append("second"), organization=ACME.id)
        )
        await asyncio.sleep(0.05)
        go_on.set()
        await second

    assert order == ["first", "second"]


async def test_a_caller_that_stops_waiting_for_a_turn_leaves_no_place_behind(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turns, "WAITING_OF_ONE_MAX", 3)
    with held() as go_on:
        asked = [
            asyncio.ensure_future(storage.read(lambda _: go_on.wait(30), organization=ACME.id))
            for _ in range(4)
        ]
        await asyncio.sleep(0)
        with pytest.raises(OverloadedError, match="of this organization"):
            await storage.read(lambda _: None, organization=ACME.id)
        for one in asked[1:]:
            one.cancel()
        await asyncio.gather(*asked[1:], return_exceptions=True)
        more = asyncio.ensure_future(storage.read(lambda _: None, organization=ACME.id))
        go_on.set()
        await asyncio.gather(asked[0], more)


async def test_a_write_that_waited_too_long_never_begins(storage: Storage) -> None:
    begun: list[str] = []
    has_begun = threading.Event()

    def hold(_: Writer) -> None:
        has_begun.set()
        go_on.wait(30)

    with held() as go_on:
        first = asyncio.ensure_future(storage.write(hold))
        await asyncio.to_thread(has_begun.wait, 30)
        late = [
            storage.write(lambda _: begun.append("late"), seconds=0.2, organization=organization)
            for organization in (None, ACME.id, ACME.id, OTHER.id)
        ]
        found = await asyncio.gather(*late, return_exceptions=True)
        go_on.set()
        await first
    await storage.write(lambda _: begun.append("next"))

    assert [type(one) for one in found] == [OverloadedError] * 4
    assert begun == ["next"]


async def test_a_write_that_has_begun_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    storage = open_storage(tmp_path / "hwci.db")

    def too_long(writer: Writer) -> None:
        writer.add_organization(ACME)
        endless(writer)

    with pytest.raises(OverloadedError):
        await storage.write(too_long, seconds=0.2)
    assert await storage.read(lambda r: r.organization(ACME.id)) is None

    def slow(writer: Writer) -> None:
        writer.add_organization(ACME)
        threading.Event().wait(0.3)

    with suppress(OverloadedError):  # the answer says no more than what is kept
        await storage.write(slow, seconds=0.2)
        assert await storage.read(lambda r: r.organization(ACME.id)) == ACME
    await storage.close()


async def test_while_another_process_holds_the_file_all_who_wait_get_an_error_in_time(
    tmp_path: Path,
) -> None:
    path = tmp_path / "hwci.db"
    storage = open_storage(path)
    tool = sqlite3.connect(path, isolation_level=None)
    tool.execute("BEGIN IMMEDIATE")
    many = [replace(ACME, id=UUID(int=number)) for number in range(256)]

    async def write(number: int) -> float:
        start = monotonic()
        with pytest.raises(HwciServerError):
            await storage.write(lambda w: w.add_organization(many[number]), seconds=1.0)
        return monotonic() - start

    waited = await asyncio.gather(*map(write, range(256)))
    tool.execute("ROLLBACK")
    tool.close()

    assert max(waited) < 30, "one after the other they would wait for minutes"
    assert await storage.read(lambda r: r.organization_ids()) == []
    await storage.write(lambda w: w.add_organization(ACME))
    await storage.close()
