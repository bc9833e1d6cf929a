# SPDX-License-Identifier: Apache-2.0
"""Readers of a byte a second, who would keep their answers for ever."""

import asyncio
import select
import socket
import time
from contextlib import ExitStack, suppress

from tests.attack.aborted_downloads import ask_for, large_run, signed_by_owner, wheel_path
from tests.attack.scene import Attack, Scene

READERS, OF_THE_RUN = 60, 6
SECONDS = 20.0


async def _slowly(scene: Scene) -> str:
    wheel, run = await wheel_path(scene), await large_run(scene)
    begun = time.monotonic()
    with ExitStack() as lines:
        left = [await ask_for(scene, lines, wheel) for _ in range(READERS - OF_THE_RUN)]
        left += [
            await ask_for(scene, lines, run, signed_by_owner(scene)) for _ in range(OF_THE_RUN)
        ]
        while left and time.monotonic() < begun + SECONDS:
            await asyncio.sleep(1)
            for line in left:
                with suppress(OSError):
                    line.recv(1)
            left = [line for line in left if not _is_closed(line)]
    seconds = time.monotonic() - begun
    figure = f"of {READERS} readers {len(left)} have their connection after {seconds:.0f} s"
    assert not left, figure
    return figure


def _is_closed(line: socket.socket) -> bool:
    """Return whether the server has closed a connection, of which something may be left to read."""
    look = select.poll()
    look.register(line, select.POLLHUP | select.POLLERR)
    return bool(look.poll(0))


ATTACK = Attack(
    _slowly,
    seconds=60.0,
    before="all 60 after 16 s, at 1dfd5083",
)
