# SPDX-License-Identifier: Apache-2.0
"""Live runs: opened and fed by a box, lost in silence, ended by their report (contract, "Boxes").

This module decides which events these things make; `streams.py` hands them out.
"""

from uuid import UUID

from hwci.server.clock import Clock
from hwci.server.storage.ports import Storage
from hwci.server.storage.records import Box
from hwci.wire import runs as wire


class LiveRuns:
    """What boxes say of runs."""

    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._storage = storage
        self._clock = clock

    async def open(self, box: Box, body: wire.RunHead) -> wire.OpenedRun:
        """Open a live run."""
        raise NotImplementedError

    async def feed(self, box: Box, run_record_id: UUID | None, body: wire.RunEvents) -> None:
        """Keep what tests of a live run do."""
        raise NotImplementedError
