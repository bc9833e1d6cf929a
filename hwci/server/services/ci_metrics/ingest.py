# SPDX-License-Identifier: Apache-2.0
"""What CI sends is kept in one transaction, or not at all (spec, "CI report endpoints", rule 3): a
204 promises that it is on the disk. The key is checked again in that transaction, as it may have
been revoked while a large body arrived.
"""

from collections.abc import Callable

from hwci.server.services import Service
from hwci.server.services.access import live_ci_key
from hwci.server.services.runs.live_runs import end_run
from hwci.server.storage.ports import Writer
from hwci.server.storage.records import CiKey
from hwci.wire import reports

WRITE_SECONDS = 30.0
"""Longer than a page may take: a report of 64 MiB on a slow disk, if refused, would come again."""


class Ingest(Service):
    """Keeps announcements, reports and configurations."""

    async def announce(self, key: CiKey, body: reports.MergeAnnouncement) -> None:
        """Keep an announcement; one with the same identity stays as it was."""
        fact = body.fact()
        await self._keep(key, lambda writer: writer.announce(key.org_id, fact))

    async def report(self, key: CiKey, body: reports.RunReport) -> None:
        """Keep a run report; one with the same identity is replaced. A live run ends with it."""
        fact, now = body.fact(), self._clock()

        def put(writer: Writer) -> None:
            writer.put_report(key.org_id, fact)
            end_run(writer, key.org_id, fact, now)

        await self._keep(key, put)

    async def configure(self, key: CiKey, body: reports.SuiteConfiguration) -> None:
        """Keep a suite configuration; the product's earlier one is replaced."""
        fact, now = body.fact(), self._clock()
        await self._keep(key, lambda writer: writer.put_config(key.org_id, fact, now))

    async def _keep(self, key: CiKey, put: Callable[[Writer], None]) -> None:
        now = self._clock()

        def work(writer: Writer) -> None:
            live_ci_key(writer, key.digest)
            writer.touch_key(key, now)
            put(writer)

        await self._storage.write(work, organization=key.org_id, seconds=WRITE_SECONDS)
