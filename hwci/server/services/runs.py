# SPDX-License-Identifier: Apache-2.0
"""Run records as members read them (contract, "Runs and streams")."""

from uuid import UUID

from hwci.server.clock import Clock
from hwci.server.services.access import Member
from hwci.server.storage.ports import Storage
from hwci.wire import runs as wire
from hwci.wire.base import ListPage


class Runs:
    """Reads run records."""

    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._storage = storage
        self._clock = clock

    async def listed(self, member: Member, query: wire.RunsQuery) -> ListPage[wire.RunAnswer]:
        """List run records."""
        raise NotImplementedError

    async def show(self, member: Member, run_record_id: UUID | None) -> wire.RunDetail:
        """Show one run record."""
        raise NotImplementedError
