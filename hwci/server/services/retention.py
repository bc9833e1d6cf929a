# SPDX-License-Identifier: Apache-2.0
"""Deletes old data, by the times of `hwci.wire.limits`, a part at a time, so that other writers
need not wait for all of it.
"""

from collections.abc import Callable
from datetime import datetime
from uuid import UUID, uuid4

from hwci.server.clock import Evenness
from hwci.server.storage.ports import Storage, Writer
from hwci.server.storage.records import NOBODY, AuditEntry
from hwci.wire import limits

ROWS_AT_ONCE = 5_000
RUNS_AT_ONCE = 10
"""A run may have `limits.LIVE_TESTS_MAX` tests."""

Drop = Callable[[datetime, int], int]


class Retention:
    """Deletes data that has no use any more."""

    def __init__(self, storage: Storage, evenness: Evenness) -> None:
        self._storage = storage
        self._evenness = evenness

    async def sweep(self) -> None:
        """Delete everything that is too old, unless the clock may be wrong."""
        now = self._evenness.look()
        if now is None:
            return
        await self._delete(lambda w: w.drop_events, now - limits.EVENTS_KEPT, ROWS_AT_ONCE)
        await self._delete(lambda w: w.drop_lost_runs, now - limits.LOST_RUNS_KEPT, RUNS_AT_ONCE)
        await self._delete(lambda w: w.drop_invites, now - limits.INVITES_KEPT, ROWS_AT_ONCE)
        before = now - limits.DELIVERIES_KEPT
        await self._delete(lambda w: w.drop_deliveries, before, ROWS_AT_ONCE)
        await self._delete(lambda w: w.drop_refresh_tokens, now, ROWS_AT_ONCE)
        await self._delete(lambda w: w.drop_job_keys, now, ROWS_AT_ONCE)
        for org_id in await self._storage.read(lambda r: r.organizations_to_erase(now)):
            await self._erase(org_id, now)

    async def _erase(self, org_id: UUID, now: datetime) -> None:
        """Delete all of a deleted organization, unless that was undone meanwhile."""

        def work(writer: Writer) -> bool:
            if org_id not in writer.organizations_to_erase(now):
                return True
            is_gone = writer.drop_organization(org_id, ROWS_AT_ONCE)
            if is_gone:
                entry = AuditEntry(uuid4(), now, NOBODY, "organization.erased", str(org_id), {})
                writer.add_audit(org_id, entry)
            return is_gone

        while not await self._storage.write(work, organization=org_id):
            pass

    async def _delete(self, drop: Callable[[Writer], Drop], before: datetime, most: int) -> None:
        def work(writer: Writer) -> int:
            return drop(writer)(before, most)

        while await self._storage.write(work, person=NOBODY) == most:
            pass
