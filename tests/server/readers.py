# SPDX-License-Identifier: Apache-2.0
"""Bodies that look at who reads them. A process of its own does, so it imports little."""

import os
import threading

from pydantic import field_validator

from hwci.wire.base import CiBody


class Reader(CiBody):
    """A body that knows who read it. What else it holds is ignored, yet read."""

    thread: int
    process: int

    @field_validator("thread")
    @classmethod
    def _own_thread(cls, _: int) -> int:
        return threading.get_ident()

    @field_validator("process")
    @classmethod
    def _own_process(cls, _: int) -> int:
        return os.getpid()


class Greedy(CiBody):
    """A body that takes all memory there is, or ends who reads it, or both."""

    end: str

    @field_validator("end")
    @classmethod
    def _end(cls, how: str) -> str:
        if how == "memory":
            raise MemoryError
        os.kill(os.getpid(), int(how))
        return how
