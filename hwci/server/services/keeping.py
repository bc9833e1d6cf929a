# SPDX-License-Identifier: Apache-2.0
"""How long an organization keeps reports, messages and log addresses (contract, "Organizations").

This module decides which days count and from when; it does not know what goes with a report. A new
number of days counts for `limits.KEEP_GRACE` before anything is deleted by it, whether the
organization or the operator set it.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from hwci.server.clock import Evenness
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.records import Counting, KeepDays, Kept
from hwci.wire import limits

REPORTS_AT_ONCE = 20


def kept_days(own: KeepDays, most: KeepDays) -> KeepDays:
    """Return the days that count: those of the organization, within the operator's bounds."""
    return KeepDays(
        **{
            kind: min(
                (days for days in (getattr(own, kind), getattr(most, kind)) if days is not None),
                default=None,
            )
            for kind in Kept
        }
    )


class Keeping:
    """Deletes what organizations keep no longer. `most`: the operator's bounds."""

    def __init__(self, storage: Storage, evenness: Evenness, most: KeepDays) -> None:
        self._storage = storage
        self._evenness = evenness
        self._most = most

    async def sweep(self) -> None:
        """Delete what is too old, a part at a time, unless the clock may be wrong."""
        now = self._evenness.look()
        if now is None:
            return
        for org_id in await self._storage.read(self._with_days):
            for kind in Kept:
                await self._delete(org_id, kind, now)

    def _with_days(self, reader: Reader) -> Sequence[UUID]:
        """Return the organizations that keep something for some days, or did until now."""

        def has_days(org_id: UUID) -> bool:
            organization = reader.organization(org_id)
            own = KeepDays() if organization is None else organization.keep_days
            return kept_days(own, self._most) != KeepDays() or bool(reader.counting(org_id))

        return [org_id for org_id in reader.organization_ids() if has_days(org_id)]

    async def _delete(self, org_id: UUID, kind: Kept, now: datetime) -> None:
        """Delete one kind of an organization, whose days may change between two parts."""

        def work(writer: Writer) -> int:
            days = self._counted(writer, org_id, kind, now)
            if days is None:
                return 0
            return writer.drop_aged(org_id, kind, now - days, REPORTS_AT_ONCE)

        while await self._storage.write(work, organization=org_id):
            pass

    def _counted(self, writer: Writer, org_id: UUID, kind: Kept, now: datetime) -> timedelta | None:
        """Return the days of one kind once they have counted for the grace, which begins here."""
        organization = writer.organization(org_id)
        if organization is None or organization.erase_at is not None:
            return None
        days = getattr(kept_days(organization.keep_days, self._most), kind)
        counting = writer.counting(org_id).get(kind)
        if days != (counting and counting.days):
            counting = None if days is None else Counting(days, now)
            writer.set_counting(org_id, kind, counting)
        if counting is None or counting.since > now - limits.KEEP_GRACE:
            return None
        return timedelta(days=counting.days)
