# SPDX-License-Identifier: Apache-2.0
"""Bodies that look at who reads them. A process of its own does, so it imports little."""

import os
import signal
import threading
import time
from pathlib import Path

from pydantic import field_validator, model_validator

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


class Endless(CiBody):
    """A body that is never read to its end. It leaves the number of who reads it in a file."""

    file: str

    @field_validator("file")
    @classmethod
    def _begun(cls, file: str) -> str:
        Path(file).write_text(f"{os.getpid()}\n")
        signal.pause()
        return file


class Hoarder(CiBody):
    """A body of which the process that reads it keeps so many bytes."""

    hoard: int
    process: int

    @field_validator("hoard")
    @classmethod
    def _kept(cls, size: int) -> int:
        _HOARD.append(b"x" * size)
        return size

    @field_validator("process")
    @classmethod
    def _own_process(cls, _: int) -> int:
        return os.getpid()


_HOARD: list[bytes] = []


class Slow(CiBody):
    """A body that takes a second."""

    @model_validator(mode="after")
    def _wait(self) -> "Slow":
        time.sleep(1)
        return self
