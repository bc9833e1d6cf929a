# SPDX-License-Identifier: Apache-2.0
"""The background work of a server: it keeps when keys were used here, what organizations sent and
what pages decided, and logs a summary of password guesses. Of the servers of one database the one
that leads also decides failures, marks lost live runs, sends to webhooks and deletes old data. A
changed file of signing keys is read again. This module decides how often each runs, and that no
error ends it.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager

from aiohttp import web

from hwci.server.errors import HwciServerError, NotReadyError
from hwci.server.security.secret_key import KeyFile
from hwci.server.services.ci_metrics.decisions import Decisions
from hwci.server.services.keeping import Keeping
from hwci.server.services.noticing import Noticing
from hwci.server.services.retention import Retention
from hwci.server.services.runs.live_runs import LiveRuns
from hwci.server.services.webhooks.sending import Sending
from hwci.server.services.webhooks.watching import Watching

LOG = logging.getLogger("hwci.server")

SWEEP_SECONDS = 5.0
FORGET_SECONDS = 60.0
KEEP_SECONDS = 600.0
DECISIONS_SECONDS = 1.0
GUESSES_SECONDS = 600.0
KEYS_SECONDS = 1.0
WATCH_SECONDS = 60.0
INCIDENTS_SECONDS = 60.0
BOXES_SECONDS = 600.0
SEND_SECONDS = 1.0

Sweep = Callable[[], Awaitable[None]]


def sweeping(
    leads: Callable[[], bool],
    live_runs: LiveRuns,
    deleting: tuple[Retention, Keeping],
    records: Sequence[Sweep],
    log_guesses: Sweep,
    decisions: Decisions,
) -> Callable[[web.Application], AsyncIterator[None]]:
    """Return the background work of an application, from its start to its end. `records`: what
    keeps things that were counted in memory, also when the server stops.
    """
    retention, keeping = deleting
    sweeps = (
        (_led(leads, live_runs.sweep), SWEEP_SECONDS, "looking for lost runs"),
        *((record, SWEEP_SECONDS, "keeping what was counted") for record in records),
        (_led(leads, retention.sweep), FORGET_SECONDS, "deleting old data"),
        (_led(leads, keeping.sweep), KEEP_SECONDS, "deleting what is kept no longer"),
        (decisions.keep, DECISIONS_SECONDS, "keeping what pages decided"),
        (_led(leads, decisions.make), DECISIONS_SECONDS, "deciding failures"),
        (log_guesses, GUESSES_SECONDS, "logging password guesses"),
    )

    async def beside(_: web.Application) -> AsyncIterator[None]:
        async with _repeated(sweeps):
            yield
        await asyncio.gather(*(record() for record in records), return_exceptions=True)

    return beside


def reading(keys: KeyFile) -> Callable[[web.Application], AsyncIterator[None]]:
    """Return the background work of an application that notices other signing keys."""

    async def look() -> None:
        await asyncio.to_thread(keys.look)

    async def beside(_: web.Application) -> AsyncIterator[None]:
        async with _repeated([(look, KEYS_SECONDS, "reading the changed signing keys")]):
            yield

    return beside


def sending(
    leads: Callable[[], bool], watching: Watching, noticing: Noticing, sending: Sending
) -> Callable[[web.Application], AsyncIterator[None]]:
    """Return the background work of an application that looks for what webhooks are told, and sends
    it.
    """
    sweeps = (
        (_led(leads, watching.sweep), WATCH_SECONDS, "looking for what webhooks are told"),
        (_led(leads, noticing.incidents), INCIDENTS_SECONDS, "looking for incidents"),
        (_led(leads, noticing.boxes), BOXES_SECONDS, "looking for boxes that are worse"),
        (_led(leads, sending.sweep), SEND_SECONDS, "sending to webhooks"),
    )

    async def beside(_: web.Application) -> AsyncIterator[None]:
        async with _repeated(sweeps):
            yield
        await sending.close()

    return beside


def _led(leads: Callable[[], bool], sweep: Sweep) -> Sweep:
    async def if_leading() -> None:
        if leads():
            await sweep()

    return if_leading


@asynccontextmanager
async def _repeated(sweeps: Iterable[tuple[Sweep, float, str]]) -> AsyncIterator[None]:
    """Do each again and again, after so many seconds, while the block runs."""
    tasks = [asyncio.create_task(_repeat(*sweep)) for sweep in sweeps]
    yield
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _repeat(sweep: Sweep, seconds: float, what: str) -> None:
    while True:
        await asyncio.sleep(seconds)
        # Whatever a sweep raises is logged, and the next one follows.
        (fault,) = await asyncio.gather(sweep(), return_exceptions=True)
        if isinstance(fault, NotReadyError):
            continue  # logged where it was found
        if isinstance(fault, HwciServerError):
            LOG.warning("%s failed; trying again: %s", what, fault)
        elif fault is not None:
            LOG.error("%s failed because of a bug; trying again", what, exc_info=fault)
