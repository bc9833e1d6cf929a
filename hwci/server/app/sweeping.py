# SPDX-License-Identifier: Apache-2.0
"""What a server does of itself while it runs: it looks which live runs are lost, forgets what is
old, and sums up guesses at passwords, again and again.

This module decides how often, and that nothing which goes wrong once ends it.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable

from aiohttp import web

from hwci.server.errors import HwciServerError, NotReadyError
from hwci.server.services.live_runs import LiveRuns
from hwci.server.services.retention import Retention

LOG = logging.getLogger("hwci.server")

SWEEP_SECONDS = 5.0
FORGET_SECONDS = 60.0
GUESSES_SECONDS = 600.0

Sweep = Callable[[], Awaitable[None]]


def sweeping(
    live_runs: LiveRuns, retention: Retention, tell_of_guesses: Sweep
) -> Callable[[web.Application], AsyncIterator[None]]:
    """Make what an application does beside its requests, from its start to its end."""
    sweeps = (
        (live_runs.sweep, SWEEP_SECONDS, "looking for lost runs"),
        (retention.sweep, FORGET_SECONDS, "forgetting what is old"),
        (tell_of_guesses, GUESSES_SECONDS, "summing up guesses"),
    )

    async def beside(_: web.Application) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(_repeat(*sweep)) for sweep in sweeps]
        yield
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    return beside


async def _repeat(sweep: Sweep, seconds: float, what: str) -> None:
    while True:
        await asyncio.sleep(seconds)
        # However a sweep ends, its end is looked at, and the next one follows.
        (fault,) = await asyncio.gather(sweep(), return_exceptions=True)
        if isinstance(fault, NotReadyError):
            continue  # it was said where it was found
        if isinstance(fault, HwciServerError):
            LOG.warning("%s failed; trying again: %s", what, fault)
        elif fault is not None:
            LOG.error("%s failed of a fault of ours; trying again", what, exc_info=fault)
