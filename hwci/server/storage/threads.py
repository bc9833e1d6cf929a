# SPDX-License-Identifier: Apache-2.0
"""Threads that run transactions, and the line before them.

This module decides how long the line may be: a request that would wait behind hundreds is better
refused at once, and its memory given back. It does not know what a transaction does.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from hwci.server.errors import OverloadedError, StorageError

Result = TypeVar("Result")

WAITING_MAX = 256


class Threads:
    """So many threads of one kind, for one `database`."""

    def __init__(self, name: str, database: str, count: int = 1) -> None:
        self._database = database
        self._threads = ThreadPoolExecutor(count, thread_name_prefix=name)
        self._waiting = 0

    async def run(self, job: Callable[[], Result]) -> Result:
        """Run a job in a thread. A caller that stops waiting does not stop a job that has begun.

        Raises:
            OverloadedError: too many wait already.
            StorageError: the threads have ended.
        """
        if self._waiting >= WAITING_MAX:
            raise OverloadedError("Too many requests wait for the database; try again in seconds")
        self._waiting += 1
        try:
            return await self._hand_over(job)
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """Finish what waits, and end."""
        self._threads.shutdown()

    def _hand_over(self, job: Callable[[], Result]) -> asyncio.Future[Result]:
        try:
            return asyncio.get_running_loop().run_in_executor(self._threads, job)
        except RuntimeError as error:  # the only fault of handing a job over: no thread any more
            raise StorageError(
                f"The database {self._database} is closed; start the server"
            ) from error
