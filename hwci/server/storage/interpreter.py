# SPDX-License-Identifier: Apache-2.0
"""The interpreter, which the threads of this process share: how soon they give way to each other.

SQLite gives the interpreter away for each row that it reads. A thread that computes meanwhile
takes it, and keeps it for 5 ms: of a page of a thousand rows, that makes seconds. So while several
threads compute they give way sooner; alone, a thread is not disturbed.
"""

import sys
from collections.abc import Callable
from threading import Lock
from typing import TypeVar

Result = TypeVar("Result")

_TURN_SECONDS = 0.0001
_SEVERAL = 2


class _Interpreter:
    """How many threads compute. There is one interpreter in a process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._threads = 0
        self._turn_seconds = sys.getswitchinterval()

    def compute(self, job: Callable[[], Result]) -> Result:
        """Run a job, and count this thread meanwhile."""
        with self._lock:
            self._threads += 1
            if self._threads == _SEVERAL:
                self._turn_seconds = sys.getswitchinterval()
                sys.setswitchinterval(_TURN_SECONDS)
        try:
            return job()
        finally:
            with self._lock:
                self._threads -= 1
                if self._threads == _SEVERAL - 1:
                    sys.setswitchinterval(self._turn_seconds)


interpreter = _Interpreter()
