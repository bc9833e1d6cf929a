# SPDX-License-Identifier: Apache-2.0
"""Who hears of new events, whatever the driver.

This module decides that hearing harms no writer: a listener is called by its own event loop, which
reports what it raises. It does not know how a driver learns of a commit.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from uuid import UUID

Heard = Callable[[UUID], None]


class Listeners:
    """Those who listen to one store."""

    def __init__(self) -> None:
        self._listening: dict[object, tuple[asyncio.AbstractEventLoop, Heard]] = {}

    def listen(self, heard: Heard) -> Callable[[], None]:
        """Have `heard` called in the present event loop; gives what ends it."""
        key = object()
        self._listening[key] = (asyncio.get_running_loop(), heard)

        def end() -> None:
            self._listening.pop(key, None)

        return end

    def tell(self, org_ids: Iterable[UUID]) -> None:
        """Tell that events of these organizations are committed, from any thread."""
        told = list(org_ids)
        for key, (loop, _) in list(self._listening.items()):
            with suppress(RuntimeError):  # the loop has ended: nobody hears there any more
                loop.call_soon_threadsafe(self._hear, key, told)

    def _hear(self, key: object, org_ids: Iterable[UUID]) -> None:
        for org_id in org_ids:
            if key in self._listening:
                self._listening[key][1](org_id)
