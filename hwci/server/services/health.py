# SPDX-License-Identifier: Apache-2.0
"""Whether the server can serve (contract, "Everywhere": `/readyz`)."""

from hwci.server.security.windows import Windows
from hwci.server.storage.ports import Storage


class Health:
    """Answers those who decide where requests go."""

    def __init__(self, storage: Storage, windows: Windows) -> None:
        self._storage = storage
        self._windows = windows

    async def ready(self) -> None:
        """Return when the server can serve. Raises `StorageError`, `LimiterError` when not."""
        await self._storage.ready()
        await self._windows.ready()
