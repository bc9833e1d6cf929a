# SPDX-License-Identifier: Apache-2.0
"""Threads that run transactions, and the line before them.

This module decides how long the line may be: a request that would wait behind hundreds is better
refused at once, and its memory given back. It does not know what a transaction does.
"""

from collections.abc import Callable
from typing import TypeVar

from hwci.server.errors import StorageError
from hwci.server.line import Line, LineClosedError

Result = TypeVar("Result")

WAITING_MAX = 256
_FULL = "Too many requests wait for the database; try again in seconds"


class Threads:
    """So many threads of one kind, for one `database`."""

    def __init__(self, name: str, database: str, count: int = 1) -> None:
        self._database = database
        self._line = Line(name, count)

    async def run(self, job: Callable[[], Result]) -> Result:
        """Run a job in a thread. A caller that stops waiting does not stop a job that has begun.

        Raises:
            OverloadedError: too many wait already.
            StorageError: the threads have ended.
        """
        try:
            return await self._line.run(job, WAITING_MAX, _FULL)
        except LineClosedError as error:
            raise StorageError(
                f"The database {self._database} is closed", "start the server"
            ) from error

    def close(self) -> None:
        """Finish what waits, and end."""
        self._line.close()
