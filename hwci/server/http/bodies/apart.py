# SPDX-License-Identifier: Apache-2.0
"""Reads large bodies in a process beside the server: the event loop is not blocked, what a body
takes is bounded by the system, and it is given back.

This module decides what the process may use, how long it stays, and how both talk: `python -m` of
this module gets an order and the body on stdin, and answers with the pickled model or refusal on
stdout. It does not know who sent a body; `buffers.py` decides whose is next, one at a time.
"""

import asyncio
import logging
import os
import pickle
import resource
import signal
import subprocess
import sys
import time
from contextlib import suppress
from importlib import import_module
from math import ceil, inf
from pathlib import Path
from typing import BinaryIO, cast

from hwci.server.errors import OverloadedError, RefusedError
from hwci.server.http.bodies.reading import Model, inflate, read_model
from hwci.server.http.refusals import TooCostlyError

LOG = logging.getLogger("hwci.server")

CPU_SECONDS = 30
"""Processor time for parsing one large body."""
ADDRESS_BYTES = 768 * 1024 * 1024
"""Memory for parsing one large body. One of 64 MiB with as many values as allowed takes less than
half, interpreter included.
"""
KEPT_BYTES = 64 * 1024 * 1024
"""A process that holds more than this after a body is replaced: it was not given back."""
IDLE_SECONDS = 20.0
"""The process ends when no large body came for this time."""
NICENESS = 5
_TOO_MUCH = {-signal.SIGXCPU, -signal.SIGABRT}
"""How the process ends when it uses more: the parser aborts when there is no memory."""


class BodyProcess:
    """The process of a server that reads large bodies. It is started when a body needs it, and ends
    with the server: then its stdin does.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._idle: asyncio.TimerHandle | None = None

    async def read(
        self, pieces: list[bytearray], model: type[Model], limit: int, *, compressed: bool
    ) -> Model:
        """Return the model of a body; `pieces` is empty afterwards. One body at a time.

        Raises:
            RefusedError: it does not fit the model, or is over the limit.
            OverloadedError: the system has no process for it, or has ended it.
        """
        process, order = self._ready(), (model.__module__, model.__qualname__, limit, compressed)
        reading = asyncio.ensure_future(asyncio.to_thread(_exchange, process, order, pieces))
        try:
            await asyncio.wait([reading])
        except asyncio.CancelledError:
            process.kill()
            await asyncio.wait([reading])
            _end(process)  # it may have answered before
            raise
        finally:
            if process.returncode is not None:
                self._process = None
            self._idle = asyncio.get_running_loop().call_later(IDLE_SECONDS, self.close)
        answer = reading.result()
        if answer is None and process.returncode in _TOO_MUCH:
            raise TooCostlyError
        if answer is None:
            raise _unread("ended", process.returncode)
        if isinstance(answer, RefusedError):
            raise answer
        return cast("Model", answer)

    def _ready(self) -> subprocess.Popen[bytes]:
        """Return the process, a new one where there is none or the system has ended it."""
        if self._idle is not None:
            self._idle.cancel()
        if self._process is not None and self._process.poll() is not None:
            self.close()
        if self._process is None:
            self._process = _start()
        return self._process

    def close(self) -> None:
        """End the process, which reads nothing now."""
        if self._idle is not None:
            self._idle.cancel()
        if self._process is not None:
            _end(self._process)
            self._process = None


def _start() -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(  # noqa: S603 - no word of it comes from outside
            (sys.executable, "-m", __name__),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as fault:
        raise _unread("could not be started", fault) from fault


def _exchange(
    process: subprocess.Popen[bytes], order: tuple[object, ...], pieces: list[bytearray]
) -> object:
    """Return the answer of the process, None if it gave none. It has ended unless it stays."""
    assert process.stdin is not None
    assert process.stdout is not None
    answer, stays = None, False
    with suppress(BrokenPipeError, EOFError, pickle.UnpicklingError):  # the cause is found below
        pickle.dump((*order, sum(map(len, pieces))), process.stdin)
        pieces.reverse()
        while pieces:
            process.stdin.write(pieces.pop())
        process.stdin.flush()
        answer = pickle.load(process.stdout)  # noqa: S301 - written by us
        stays = pickle.load(process.stdout)  # noqa: S301 - written by us
    if not stays:
        _end(process)
    return answer


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(BrokenPipeError), process:
        process.kill()


def _unread(what: str, why: object) -> OverloadedError:
    LOG.error("A body was not read: its process %s (%s)", what, why)
    return OverloadedError("The server cannot read a large body now; try again in a few seconds")


def main() -> None:
    """Read bodies from stdin and write the model of each, or its refusal, to stdout."""
    _limit_itself()
    orders, answers = sys.stdin.buffer, sys.stdout.buffer
    stays = True
    with suppress(EOFError, BrokenPipeError):  # the server has ended, or needs it no longer
        while stays:
            pickle.dump(_answer(orders), answers, pickle.HIGHEST_PROTOCOL)
            answers.flush()
            stays = _resident_bytes() <= KEPT_BYTES
            pickle.dump(stays, answers)
            answers.flush()


def _answer(orders: BinaryIO) -> object:
    """Return the model of the next body, or its refusal."""
    module, name, limit, compressed, size = pickle.load(orders)  # noqa: S301 - written by us
    _limit_time()
    try:
        data = orders.read(size)
        plain = inflate(data, limit) if compressed else data
        return read_model(plain, getattr(import_module(module), name))
    except RefusedError as refusal:
        return refusal
    except MemoryError:
        return TooCostlyError()


def _limit_itself() -> None:
    """Limit the process. A systemd unit may forbid it, and has limits of its own then."""
    # It is meant for the server, which waits for this process.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_BYTES, ADDRESS_BYTES))
        os.nice(NICENESS)


def _limit_time() -> None:
    """Limit the time of the next body. The system counts that of all bodies."""
    with suppress(OSError, ValueError):
        # The signal of the second limit is SIGKILL, which does not show the cause.
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (ceil(time.process_time()) + CPU_SECONDS, most))


def _resident_bytes() -> float:
    """Return how much memory the process holds; where nothing says so, more than it may keep."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return inf


if __name__ == "__main__":
    main()
