# SPDX-License-Identifier: Apache-2.0
"""The room for what is kept from one question to the next, so that it is not computed again.

This module decides how much is kept and when it is forgotten: everything at once, when the room is
full, as all of it can be computed anew. It does not know what is kept.
"""

from typing import Protocol


class Keeper(Protocol):
    """Whoever keeps something in a room."""

    def forget(self) -> None:
        """Let go of all that is kept."""


class Room:
    """So many bytes, about, shared by all who keep something there."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._left = size
        self._keepers: dict[int, Keeper] = {}

    def take(self, keeper: Keeper, size: int) -> None:
        """Count what `keeper` is about to keep; all forget first when there is no room for it."""
        if size > self._left:
            keepers, self._keepers = self._keepers, {}
            self._left = self._size
            for one in keepers.values():
                one.forget()
        self._left -= size
        self._keepers[id(keeper)] = keeper


ROOM = Room(24 * 1024 * 1024)
