# SPDX-License-Identifier: Apache-2.0
"""Events of runs for those who follow them: in order, each once, for as long as they may (contract,
"Runs and streams"). It does not know how events are sent.
"""

from hwci.server.clock import Clock
from hwci.server.services.access import Access
from hwci.server.storage.ports import Storage


class Streams:
    """Who follows which organization."""

    def __init__(self, storage: Storage, clock: Clock, access: Access) -> None:
        self._storage = storage
        self._clock = clock
        self._access = access
