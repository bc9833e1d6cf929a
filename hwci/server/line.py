# SPDX-License-Identifier: Apache-2.0
"""A queue of jobs before threads. A job counts until it is done, not until its caller stops
waiting: a job that has begun goes on without the caller.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from hwci.server.errors import OverloadedError

Result = TypeVar("Result")


class LineClosedError(RuntimeError):
    """The line takes no more work."""


class Line:
    """Threads, and the queue of jobs for them."""

    def __init__(self, name: str, count: int = 1) -> None:
        self._threads = ThreadPoolExecutor(count, thread_name_prefix=name)
        self._lock = threading.Lock()
        self._undone = 0

    async def run(self, job: Callable[[], Result], most: int, refusal: str) -> Result:
        """Run a job in a thread. A caller that stops waiting does not stop a job that has begun.

        Raises as `hand_over`.
        """
        return await asyncio.wrap_future(self.hand_over(job, most, refusal))

    def hand_over(self, job: Callable[[], Result], most: int, refusal: str) -> Future[Result]:
        """Queue a job; it can be cancelled until it starts.

        Raises:
            OverloadedError: `most` jobs are not done yet; its message is `refusal`.
            LineClosedError: the line is closed.
        """
        if self._undone >= most:
            raise OverloadedError(refusal)
        try:
            handed = self._threads.submit(job)
        except RuntimeError as error:  # its only cause here: the threads have ended
            raise LineClosedError from error
        with self._lock:
            self._undone += 1
        handed.add_done_callback(self._note_done)
        return handed

    def close(self) -> None:
        """Finish the queue, and end."""
        self._threads.shutdown()

    def _note_done(self, _: Future[Result]) -> None:
        with self._lock:  # it is called by the thread that did the work
            self._undone -= 1
