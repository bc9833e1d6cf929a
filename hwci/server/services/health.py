# SPDX-License-Identifier: Apache-2.0
"""Whether the server can serve (contract, "Everywhere": `/readyz`). A limiter will be asked too."""

from hwci.server.storage.ports import Storage


class Health:
    """Answers those who decide where requests go."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def ready(self) -> None:
        """Return when the server can serve. Raises `StorageError` when not."""
        await self._storage.ready()
