# SPDX-License-Identifier: Apache-2.0
"""What every driver promises of a version: a new number for every state of a history."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from hwci.engine.facts import failure_id
from hwci.server.storage.ports import Reader, Storage, Writer
from tests.server.storage.examples import (
    ACME,
    ADA,
    ANNOUNCEMENT,
    CONFIG,
    ENTRY,
    FAILURE,
    KEY,
    NOON,
    OTHER,
    REPORT,
    REVIEW,
)

FAILURE_ID = failure_id(ACME.id, FAILURE)
WRITES: dict[str, Callable[[Writer], None]] = {
    "an announcement": lambda w: w.announce(ACME.id, ANNOUNCEMENT, NOON),
    "a report": lambda w: w.put_report(ACME.id, REPORT, NOON),
    "a replaced report": lambda w: w.put_report(ACME.id, replace(REPORT, tests=()), NOON),
    "a configuration": lambda w: w.put_config(ACME.id, CONFIG, NOON),
    "a review": lambda w: w.put_review(ACME.id, FAILURE_ID, REVIEW),
    "a dropped review": lambda w: w.drop_reviews(ACME.id, [FAILURE_ID]),
    "a rebuild": lambda w: w.rebuild(ACME.id),
}


def put_run(run_id: int, writer: Writer) -> None:
    writer.put_report(ACME.id, replace(REPORT, run_id=run_id), NOON)


async def version(storage: Storage) -> int:
    return await storage.read(lambda reader: reader.version(ACME.id))


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
async def test_a_write_that_may_change_an_answer_gives_a_greater_number(
    storage: Storage, write: Callable[[Writer], None]
) -> None:
    await storage.write(partial(put_run, 8))
    before = await version(storage)

    await storage.write(write)
    once = await version(storage)
    await storage.write(partial(put_run, 9))

    assert before < once < await version(storage)


async def test_several_writes_of_one_transaction_give_a_new_number(storage: Storage) -> None:
    def work(writer: Writer) -> None:
        for write in WRITES.values():
            write(writer)

    before = await version(storage)
    await storage.write(work)

    assert await version(storage) > before


async def test_a_write_that_was_rolled_back_leaves_the_number(storage: Storage) -> None:
    def work(writer: Writer) -> None:
        for write in WRITES.values():
            write(writer)
        raise LookupError

    await storage.write(WRITES["a report"])
    before = await version(storage)
    with pytest.raises(LookupError):
        await storage.write(work)

    assert await version(storage) == before


async def test_what_changes_nothing_of_the_history_leaves_the_number(storage: Storage) -> None:
    def beside(writer: Writer) -> None:
        writer.add_organization(ACME)
        writer.add_user(ADA)
        writer.add_key(KEY)
        writer.touch_key(KEY, NOON + timedelta(hours=1))
        writer.set_ci_metrics(ACME.id, enabled=True)
        writer.add_audit(ACME.id, ENTRY)
        writer.add_organization(OTHER)
        writer.put_report(OTHER.id, REPORT, NOON)

    before = await version(storage)
    await storage.write(beside)

    assert await version(storage) == before


async def test_a_reader_sees_the_number_of_its_own_snapshot(storage: Storage) -> None:
    def look(reader: Reader) -> tuple[int, int]:
        return reader.version(ACME.id), len(reader.facts(ACME.id).reports)

    seen = [await storage.read(look)]
    for run_id in range(3):
        await storage.write(partial(put_run, run_id))
        seen.append(await storage.read(look))

    numbers = [number for number, _ in seen]
    assert [reports for _, reports in seen] == [0, 1, 2, 3]
    assert numbers == sorted(set(numbers))
