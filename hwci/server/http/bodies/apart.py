# SPDX-License-Identifier: Apache-2.0
"""Parses a large body in its own process: the event loop is not blocked, and all memory is freed.

This module decides what such a process may use and how it answers. Each body starts a new one, as
`python -m` with the model's name; the body is its stdin, the pickled model or refusal its stdout.
`buffers.py` decides how many there are at once: one.
"""

import asyncio
import logging
import os
import pickle
import resource
import signal
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from typing import cast

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
NICENESS = 5
_GZIP, _PLAIN = "gzip", "plain"
_TOO_MUCH = {-signal.SIGXCPU, -signal.SIGABRT}
"""How the process ends when it uses more: the parser aborts when there is no memory."""


async def read_apart(
    pieces: list[bytearray], model: type[Model], limit: int, *, compressed: bool
) -> Model:
    """Return the model of a body; `pieces` is empty afterwards, and the process has ended.

    Raises:
        RefusedError: it does not fit the model, or is over the limit.
        OverloadedError: the system has no process for it, or has ended it.
    """
    reader = _start(model, limit, _GZIP if compressed else _PLAIN)
    reading = asyncio.ensure_future(asyncio.to_thread(_exchange, reader, pieces))
    try:
        await asyncio.wait([reading])
    except asyncio.CancelledError:
        reader.kill()
        await asyncio.wait([reading])
        raise
    read = reading.result()
    if read is None and reader.returncode in _TOO_MUCH:
        raise TooCostlyError
    if read is None:
        raise _unread("ended", reader.returncode)
    if isinstance(read, RefusedError):
        raise read
    return cast("Model", read)


def _start(model: type[Model], limit: int, coding: str) -> subprocess.Popen[bytes]:
    command = (sys.executable, "-m", __name__, model.__module__, model.__qualname__, str(limit))
    try:
        return subprocess.Popen(  # noqa: S603 - no word of it comes from outside
            (*command, coding),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as fault:
        raise _unread("could not be started", fault) from fault


def _exchange(reader: subprocess.Popen[bytes], pieces: list[bytearray]) -> object:
    """Return the answer of the process, once it has ended; None if it gave none."""
    with reader:
        assert reader.stdin is not None
        assert reader.stdout is not None
        with (
            suppress(BrokenPipeError),
            reader.stdin as body,
        ):  # it has ended; the cause is found below
            pieces.reverse()
            while pieces:
                body.write(pieces.pop())
        try:
            return pickle.load(reader.stdout)  # noqa: S301 - written by us
        except (EOFError, pickle.UnpicklingError):
            reader.kill()
            return None


def _unread(what: str, why: object) -> OverloadedError:
    LOG.error("A body was not read: its process %s (%s)", what, why)
    return OverloadedError("The server cannot read a large body now; try again in a few seconds")


def main(module: str, name: str, limit: str, coding: str) -> None:
    """Read the body from stdin and write its model, or the refusal, to stdout."""
    _limit_itself()
    model = getattr(import_module(module), name)
    answer: object
    try:
        data = sys.stdin.buffer.read()
        answer = read_model(inflate(data, int(limit)) if coding == _GZIP else data, model)
    except RefusedError as refusal:
        answer = refusal
    except MemoryError:
        answer = TooCostlyError()
    pickle.dump(answer, sys.stdout.buffer, pickle.HIGHEST_PROTOCOL)


def _limit_itself() -> None:
    """Limit the process. A systemd unit may forbid it, and has limits of its own then."""
    signal.signal(
        signal.SIGTERM, signal.SIG_IGN
    )  # it is meant for the server, which waits for this process
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        # The signal of the second limit is SIGKILL, which does not show the cause.
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5))
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_BYTES, ADDRESS_BYTES))
        os.nice(NICENESS)


if __name__ == "__main__":
    main(*sys.argv[1:])
