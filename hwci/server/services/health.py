# SPDX-License-Identifier: Apache-2.0
"""Whether the server can serve (contract, "Everywhere": `/readyz`)."""

from hwci.server.errors import StoppingError
from hwci.server.security.windows import Windows
from hwci.server.storage.ports import Storage
from hwci.wire.base import HealthAnswer


class Health:
    """Answers those who decide where requests go."""

    def __init__(self, storage: Storage, windows: Windows) -> None:
        self._storage = storage
        self._windows = windows
        self._leaving = False

    def leave(self) -> None:
        """Be ready no more: requests should go elsewhere from now on."""
        self._leaving = True

    async def alive(self) -> HealthAnswer:
        """Return that the process answers."""
        return HealthAnswer()

    async def ready(self) -> HealthAnswer:
        """Return that the server can serve.

        Raises:
            StoppingError: it stops.
            StorageError: its database cannot be used.
            LimiterError: its limits cannot be counted.
        """
        if self._leaving:
            raise StoppingError("The server stops; ask another one, or again in a few seconds")
        await self._storage.ready()
        await self._windows.ready()
        return HealthAnswer()
