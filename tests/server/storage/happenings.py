# SPDX-License-Identifier: Apache-2.0
"""Events of a run, added to a store and read from it."""

from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from hwci.contract.vocabulary import RunEventType
from hwci.server.storage.ports import Storage, Writer
from hwci.server.storage.records import Happening
from tests.server.storage.examples import ACME, NOON

RUN, NEXT_RUN = UUID(int=51), UUID(int=52)


def happening(
    run: UUID = RUN, at: datetime = NOON, kind: RunEventType = RunEventType.STARTED
) -> Happening:
    """Return an event that is to be written."""
    return Happening(at, kind, run, {"test": {"id": "größer", "attempts": None}})


def append(count: int, org_id: UUID = ACME.id) -> Callable[[Writer], None]:
    """Return what adds so many events."""

    def work(writer: Writer) -> None:
        for _ in range(count):
            writer.add_event(org_id, happening())

    return work


async def numbers(storage: Storage, org_id: UUID = ACME.id, after: int = 0) -> list[int]:
    """Return the numbers of the events after one."""
    return [one.number for one in await storage.read(lambda r: r.events(org_id, after, 100))]
