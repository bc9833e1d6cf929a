# SPDX-License-Identifier: Apache-2.0
"""What a test of several servers on one database waits for."""

import asyncio
import time
from collections.abc import Callable, Sequence

from hwci.server.storage.ports import Storage

WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"


async def leader_of(stores: Sequence[Storage]) -> Storage:
    """Return the one that leads, once there is one."""
    await asyncio.to_thread(wait, lambda: any(store.leads() for store in stores))
    return next(store for store in stores if store.leads())


def wait(until: Callable[[], bool]) -> None:
    """Wait for what comes within a minute."""
    end = time.monotonic() + 60
    while not until():
        assert time.monotonic() < end
        time.sleep(0.01)
