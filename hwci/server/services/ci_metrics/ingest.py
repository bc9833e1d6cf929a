# SPDX-License-Identifier: Apache-2.0
"""Keeps what CI sends in one transaction, or not at all (spec, "CI report endpoints", rule 3): a
204 promises that it is on the disk. The transaction checks the key again, because it may have
been revoked while a large body arrived.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import assert_never
from uuid import UUID

from hwci.server.clock import Clock
from hwci.server.services import Service
from hwci.server.services.access import live_ci_key
from hwci.server.services.runs.live_runs import end_run
from hwci.server.storage.ports import Storage, Writer
from hwci.server.storage.records import CiKey
from hwci.server.storage.together import Together
from hwci.wire.reports import MergeAnnouncement, RunReport, SuiteConfiguration

WRITE_SECONDS = 30.0
"""The longest time to write what CI sent. Pages have less. If a slow disk made a report of 64 MiB
fail, CI would only send it again.
"""

HISTORY_SECONDS = 3_600.0
"""No request waits for a history. A small machine takes a minute to write that of the demo."""

Sent = MergeAnnouncement | RunReport | SuiteConfiguration
Put = Callable[[Writer], None]


class Ingest(Service):
    """Keeps announcements, reports and configurations."""

    def __init__(self, storage: Storage, clock: Clock) -> None:
        super().__init__(storage, clock)
        self._together = Together(storage)

    async def announce(self, key: CiKey, body: MergeAnnouncement) -> None:
        """Keep an announcement; one with the same identity stays as it was."""
        await self._keep(key, _put(key.org_id, body, self._clock()))

    async def report(self, key: CiKey, body: RunReport) -> None:
        """Keep a run report; one with the same identity is replaced. A live run ends with it."""
        await self._keep(key, _put(key.org_id, body, self._clock()))

    async def configure(self, key: CiKey, body: SuiteConfiguration) -> None:
        """Keep a suite configuration; the product's earlier one is replaced."""
        await self._keep(key, _put(key.org_id, body, self._clock()))

    async def keep_history(self, org_id: UUID, bodies: Iterable[Sent]) -> None:
        """Keep many bodies, in their order, in one transaction."""
        now = self._clock()
        puts = [_put(org_id, body, now) for body in bodies]

        def work(writer: Writer) -> None:
            for put in puts:
                put(writer)

        await self._storage.write(work, organization=org_id, seconds=HISTORY_SECONDS)

    async def _keep(self, key: CiKey, put: Put) -> None:
        def work(writer: Writer) -> None:
            live_ci_key(writer, key.digest, self._clock())
            put(writer)

        await self._together.write(work, key.org_id, WRITE_SECONDS)


def _put(org_id: UUID, body: Sent, now: datetime) -> Put:
    """Return the function that keeps a body within a transaction."""
    match body:
        case MergeAnnouncement():
            announcement = body.fact()
            return lambda writer: writer.announce(org_id, announcement, now)
        case RunReport():
            report = body.fact()

            def put(writer: Writer) -> None:
                writer.put_report(org_id, report, now)
                end_run(writer, org_id, report, now)

            return put
        case SuiteConfiguration():
            config = body.fact()
            return lambda writer: writer.put_config(org_id, config, now)
        case _:
            assert_never(body)
