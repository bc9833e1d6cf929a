# SPDX-License-Identifier: Apache-2.0

"""Boxes in memory."""

from hwci.server.storage.memory.state import State


class MemoryBoxes:
    """Boxes of one state."""

    def __init__(self, state: State) -> None:
        self._state = state
