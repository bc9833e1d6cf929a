# SPDX-License-Identifier: Apache-2.0
"""Whether the server can serve (contract, "Everywhere": `/readyz`)."""

from hwci.server.errors import StoppingError
from hwci.server.security.rate_limiter import RateLimiter
from hwci.server.storage.ports import Storage
from hwci.wire.base import HealthAnswer


class Health:
    """Health checks for load balancers and supervisors."""

    def __init__(self, storage: Storage, limiter: RateLimiter) -> None:
        self._storage = storage
        self._limiter = limiter
        self._leaving = False

    def leave(self) -> None:
        """Report not ready from now on: requests should go elsewhere."""
        self._leaving = True

    async def alive(self) -> HealthAnswer:
        """Return that the process answers."""
        return HealthAnswer()

    async def ready(self) -> HealthAnswer:
        """Return if the server can serve.

        Raises:
            StoppingError: it is stopping.
            StorageError: its database cannot be used.
            LimiterError: its rate limits cannot be counted.
        """
        if self._leaving:
            raise StoppingError(
                "The server is stopping; ask another one, or again in a few seconds"
            )
        await self._storage.ready()
        await self._limiter.ready()
        return HealthAnswer()
