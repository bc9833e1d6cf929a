# SPDX-License-Identifier: Apache-2.0
"""Listeners for new events, for every driver.

A listener cannot harm a writer: its own event loop calls it, and reports what it raises. It does
not know how a driver learns of a commit.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from uuid import UUID

Listener = Callable[[UUID], None]


class Listeners:
    """The listeners of one store."""

    def __init__(self) -> None:
        self._listening: dict[object, tuple[asyncio.AbstractEventLoop, Listener]] = {}

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` in the present event loop; return the function that stops it."""
        key = object()
        self._listening[key] = (asyncio.get_running_loop(), listener)

        def end() -> None:
            self._listening.pop(key, None)

        return end

    def notify(self, org_ids: Iterable[UUID]) -> None:
        """Notify listeners, from any thread, that events of these organizations are committed."""
        changed = list(org_ids)
        for key, (loop, _) in list(self._listening.items()):
            with suppress(RuntimeError):  # the loop has ended, and its listeners with it
                loop.call_soon_threadsafe(self._hear, key, changed)

    def _hear(self, key: object, org_ids: Iterable[UUID]) -> None:
        for org_id in org_ids:
            if key in self._listening:
                self._listening[key][1](org_id)
