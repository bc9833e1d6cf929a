# SPDX-License-Identifier: Apache-2.0

"""Run records and their events in memory."""

from hwci.server.storage.memory.state import State


class MemoryRuns:
    """Run records and their events of one state."""

    def __init__(self, state: State) -> None:
        self._state = state
