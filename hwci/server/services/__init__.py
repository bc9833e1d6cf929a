# SPDX-License-Identifier: Apache-2.0
"""Use cases. They know neither the web framework nor SQL."""

from hwci.server.clock import Clock
from hwci.server.storage.ports import Storage


class Service:
    """Use cases over one storage, at the time of a clock."""

    def __init__(self, storage: Storage, clock: Clock) -> None:
        self._storage = storage
        self._clock = clock
