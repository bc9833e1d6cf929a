# SPDX-License-Identifier: Apache-2.0
"""What every driver promises of a transaction: all or nothing, alone, on one snapshot."""

import asyncio
import threading
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from hwci.engine.facts import failure_id
from hwci.server.errors import OverloadedError, StorageError
from hwci.server.storage import threads
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.records import Organization
from tests.server.storage.examples import (
    ACME,
    ADA,
    ANNOUNCEMENT,
    BOB,
    CONFIG,
    ENTRY,
    FAIL,
    FAILURE,
    NOON,
    OTHER,
    PASS,
    REPORT,
    REVIEW,
)

LATER = NOON + timedelta(hours=1)


def found(writer: Writer) -> None:
    """Make both organizations and both people."""
    for organization in (ACME, OTHER):
        writer.add_organization(organization)
    for user in (ADA, BOB):
        writer.add_user(user)


async def test_a_write_that_raises_leaves_no_trace(storage: Storage) -> None:
    await storage.write(found)
    await storage.write(lambda w: w.put_report(ACME.id, REPORT, NOON))
    before = await storage.read(lambda r: r.facts(ACME.id))

    def fail(writer: Writer) -> None:
        new_test = replace(FAIL, id="new test")
        writer.put_report(ACME.id, replace(REPORT, tests=(new_test,), changes=None), NOON)
        writer.put_report(ACME.id, replace(REPORT, run_id=8, suite="new"), NOON)
        writer.announce(ACME.id, ANNOUNCEMENT, NOON)
        writer.put_config(ACME.id, CONFIG, NOON)
        writer.put_review(ACME.id, failure_id(ACME.id, FAILURE), REVIEW)
        writer.add_audit(ACME.id, ENTRY)
        writer.set_ci_metrics(ACME.id, enabled=True)
        assert writer.facts(ACME.id) != before
        raise LookupError

    with pytest.raises(LookupError):
        await storage.write(fail)
    assert await storage.read(lambda r: r.facts(ACME.id)) == before
    assert (await storage.read(lambda r: r.audit_log(ACME.id, 0, 1))).total == 0
    assert await storage.read(lambda r: r.organization(ACME.id)) == ACME
    # What the broken transaction had numbered must not be remembered.
    passed = (replace(PASS, id="other"), replace(PASS, id=FAIL.id))
    other_tests = replace(REPORT, run_id=9, sha="ddddddd", started_at=LATER, tests=passed)
    await storage.write(lambda w: w.put_report(ACME.id, other_tests, NOON))
    facts = await storage.read(lambda r: r.facts(ACME.id))
    assert facts.reports == (REPORT, other_tests)
    failure = await storage.read(lambda r: r.history(ACME.id).failure(failure_id(ACME.id, FAILURE)))
    assert failure is not None
    assert failure.next_pass == "ddddddd"


async def test_tests_that_only_a_write_that_raised_had_are_new_again(storage: Storage) -> None:
    """What a connection has read of test lists ends with a transaction that is not kept."""
    await storage.write(found)
    first, second = (
        replace(REPORT, run_id=number, tests=(replace(PASS, id=f"new {number}"),), changes=None)
        for number in (1, 2)
    )

    def fail(writer: Writer) -> None:
        writer.put_report(ACME.id, first, NOON)
        raise LookupError

    with pytest.raises(LookupError):
        await storage.write(fail, organization=ACME.id)
    await storage.write(lambda w: w.put_report(ACME.id, second, NOON))
    await storage.write(lambda w: w.put_report(ACME.id, first, NOON))

    facts = await storage.read(lambda r: r.facts(ACME.id))
    assert set(facts.reports) == {first, second}


async def test_writers_at_once_each_see_what_the_others_did(storage: Storage) -> None:
    def claim(writer: Writer) -> bool:
        taken = writer.user_by_email(ADA.email_key) is not None
        if not taken:
            writer.add_user(ADA)
        return not taken

    winners = await asyncio.gather(*(storage.write(claim) for _ in range(20)))
    assert winners.count(True) == 1


async def test_a_reader_keeps_one_snapshot_while_others_write(storage: Storage) -> None:
    await storage.write(found)
    started, go_on = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def read_twice(reader: Reader) -> tuple[Organization | None, Organization | None]:
        before = reader.organization(third.id)
        loop.call_soon_threadsafe(started.set)
        asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result()
        return before, reader.organization(third.id)

    third = replace(ACME, id=UUID(int=3))
    reading = asyncio.ensure_future(storage.read(read_twice))
    await started.wait()
    await storage.write(lambda w: w.add_organization(third))
    go_on.set()
    assert await reading == (None, None)
    assert await storage.read(lambda r: r.organization(third.id)) == third


async def test_a_caller_that_looks_up_waits_neither_for_long_reads_nor_for_the_writer(
    storage: Storage,
) -> None:
    await storage.write(found)
    go_on = threading.Event()
    held = [asyncio.ensure_future(storage.read(lambda _: go_on.wait(30))) for _ in range(2)]
    held.append(asyncio.ensure_future(storage.write(lambda _: go_on.wait(30))))
    try:
        assert await storage.read(lambda r: r.user(ADA.id), short=True) == ADA
        assert await storage.look_up(lambda r: r.user(ADA.id)) == ADA
        await storage.ready()
        assert not any(one.done() for one in held)
    finally:
        go_on.set()
        await asyncio.gather(*held)


async def test_nothing_is_looked_up_in_the_event_loop_which_would_wait_for_the_disk(
    storage: Storage,
) -> None:
    assert await storage.look_up(lambda _: threading.get_ident()) != threading.get_ident()


async def test_a_caller_that_gives_up_does_not_break_the_next_one(storage: Storage) -> None:
    writes = [asyncio.ensure_future(storage.write(found))]
    await asyncio.sleep(0)
    writes[0].cancel()
    await asyncio.gather(*writes, return_exceptions=True)
    third = replace(ACME, id=UUID(int=3))
    await storage.write(lambda w: w.add_organization(third))
    assert await storage.read(lambda r: r.organization(third.id)) == third


async def test_a_line_that_is_too_long_is_refused_at_once(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "WAITING_MAX", 3)
    go_on = threading.Event()
    for ask in (storage.write, storage.read):
        held = [asyncio.ensure_future(ask(lambda _: go_on.wait(30))) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(OverloadedError, match="try again"):
            await ask(lambda _: None)
        await storage.read(lambda _: None, short=True)
        go_on.set()
        await asyncio.gather(*held)
        await ask(lambda _: None)
        go_on.clear()


async def test_work_whose_caller_gave_up_counts_until_it_is_done(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "WAITING_MAX", 1)
    begun, go_on, done = threading.Event(), threading.Event(), threading.Event()

    def work(_: Writer) -> None:
        begun.set()
        go_on.wait(30)
        done.set()

    given_up = asyncio.ensure_future(storage.write(work))
    await asyncio.to_thread(begun.wait, 30)
    given_up.cancel()
    await asyncio.gather(given_up, return_exceptions=True)
    with pytest.raises(OverloadedError):
        await storage.write(lambda _: None)
    go_on.set()
    await asyncio.to_thread(done.wait, 30)
    async with asyncio.timeout(30):
        while await refused(storage):  # noqa: ASYNC110 - no event says that there is room
            await asyncio.sleep(0.01)


async def refused(storage: Storage) -> bool:
    try:
        await storage.write(lambda _: None)
    except OverloadedError:
        return True
    return False


async def test_a_closed_store_says_so(storage: Storage) -> None:
    await storage.ready()
    await storage.close()
    with pytest.raises(StorageError, match="closed"):
        await storage.read(lambda r: r.organization(ACME.id))
