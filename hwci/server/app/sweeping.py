# SPDX-License-Identifier: Apache-2.0
"""What a server does of itself while it runs: it looks which live runs are lost, again and again.

This module decides how often, and that a database that fails once does not end it.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

from aiohttp import web

from hwci.server.errors import HwciServerError
from hwci.server.services.live_runs import LiveRuns

LOG = logging.getLogger("hwci.server")

SWEEP_SECONDS = 5.0


def sweeping(live_runs: LiveRuns) -> Callable[[web.Application], AsyncIterator[None]]:
    """Make what an application does beside its requests, from its start to its end."""

    async def beside(_: web.Application) -> AsyncIterator[None]:
        task = asyncio.create_task(_sweep(live_runs))
        yield
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    return beside


async def _sweep(live_runs: LiveRuns) -> None:
    while True:
        await asyncio.sleep(SWEEP_SECONDS)
        try:
            await live_runs.sweep()
        except HwciServerError as error:
            LOG.warning("lost runs could not be looked for; trying again: %s", error)
