# SPDX-License-Identifier: Apache-2.0
"""Decides failures before a page asks, and keeps what pages had to decide (ADR 0004). What is kept
is told to webhooks in the same transaction.

This module decides when, for how long, and which first: what organizations got since, in turns, the
newest failures first. The class of a failure is a rule (`hwci/engine`).
"""

import asyncio
import logging
from collections import deque
from datetime import datetime
from functools import partial
from time import thread_time
from uuid import UUID

from hwci.engine.page.reading import deciding
from hwci.server.clock import Clock
from hwci.server.deadline import ANSWER_SECONDS
from hwci.server.errors import HwciServerError
from hwci.server.services import Service
from hwci.server.services.webhooks.events import tell_decided
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.server.storage.records import Decided

LOG = logging.getLogger("hwci.server")

TURN_SECONDS = 0.05
"""Of the processor, after which an organization's turn decides nothing more."""
_TURN_MOST = 50
"""Failures that it decides at most: to read more that it leaves would cost more than it decides."""
_REST_SECONDS = 0.15
"""Between two turns: pages have the processor."""
_WAIT_SECONDS = 10 * ANSWER_SECONDS
"""A turn waits longer than any page: it is done behind them."""


class Decisions(Service):
    """The decisions of all organizations."""

    def __init__(self, storage: Storage, clock: Clock) -> None:
        super().__init__(storage, clock)
        self._done: dict[UUID, bytes] = {}  # the state in which nothing was left to decide

    async def keep(self) -> None:
        """Keep what was decided since the last call."""
        await self._keep()

    async def make(self) -> None:
        """Decide what is undecided, of the organizations in which something changed since."""
        states = await self._storage.read(lambda reader: reader.states(), short=True)
        self._done = {org_id: self._done[org_id] for org_id in states.keys() & self._done.keys()}
        behind = deque(org for org, state in states.items() if self._done.get(org) != state)
        while behind:
            org_id = behind.popleft()
            if not await self._turn(org_id):
                behind.append(org_id)
            if not await self._keep():
                return  # it would be decided in vain
            await asyncio.sleep(_REST_SECONDS)

    async def _turn(self, org_id: UUID) -> bool:
        """Decide an organization's newest failures for a moment; return whether none is left."""

        def work(reader: Reader) -> tuple[bool, bytes | None]:
            undecided = reader.undecided(org_id, _TURN_MOST)
            until = thread_time() + TURN_SECONDS
            for _ in deciding(reader.history(org_id), undecided):
                if thread_time() > until:
                    break
            return not undecided, reader.state(org_id)

        is_done, state = await self._storage.read(work, seconds=_WAIT_SECONDS)
        if is_done and state is not None:
            self._done[org_id] = state
        return is_done

    async def _keep(self) -> bool:
        """Keep what was decided; return whether storage took all of it."""
        taken = True
        for decided in self._storage.take_decided():
            write = partial(_write, decided, self._clock())
            try:
                await self._storage.write(write, organization=decided.org_id)
            except HwciServerError as error:
                # It is decided again; other organizations need not wait for it.
                taken = False
                LOG.info("What was decided of %s is not kept: %s", decided.org_id, error)
        return taken


def _write(decided: Decided, now: datetime, writer: Writer) -> None:
    if writer.keep_decisions(decided):
        tell_decided(writer, decided, now)
