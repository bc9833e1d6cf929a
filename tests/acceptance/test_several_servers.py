# SPDX-License-Identifier: Apache-2.0
"""Random histories, sent through three servers of one database at once: whichever server is asked,
its page equals the reference, and what is stored equals what a rebuild makes.

What no review divides is sent at once, to any server, in any order but that of each identity. The
clocks of the servers differ by minutes.
"""

import asyncio
import random
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime, timedelta
from functools import partial
from itertools import groupby
from pathlib import Path

import aiohttp
import pytest

from hwci.server.app import serving
from hwci.server.clock import system_clock
from hwci.server.settings import Registration
from hwci.server.storage.location import Location
from hwci.server.storage.opening import check_storage, open_storage
from tests.acceptance.driving import Tenant
from tests.acceptance.tenants import compare, new_key, new_tenant, registered
from tests.reference.delivery import identity
from tests.reference.facts import Event
from tests.reference.generator import COVERING, generate
from tests.support.databases import new_location, only_where_wanted
from tests.support.running import settings_of
from tests.support.soak import rounds

pytestmark = only_where_wanted

MINUTES_AHEAD = (0, 5, -4)
"""The clock of each server."""
SEEDS = rounds(COVERING[:2], range(120))


def ahead(minutes: int) -> datetime:
    return system_clock() + timedelta(minutes=minutes)


@asynccontextmanager
async def servers_in(folder: Path) -> AsyncIterator[tuple[Location, list[Tenant]]]:
    """Run servers on a new database; return an organization as each of them is asked for it."""
    with new_location(folder) as location:
        settings = settings_of(
            location, registration=Registration.OPEN, rate_limit="off", auth_rate_limit="off"
        )
        async with AsyncExitStack() as stack:
            servers = [
                await stack.enter_async_context(serving(settings, clock=partial(ahead, minutes)))
                for minutes in MINUTES_AHEAD
            ]
            urls = [server.url for server in servers]
            headers = {"Authorization": f"Bearer {await registered(urls[0])}"}
            sessions = [
                await stack.enter_async_context(aiohttp.ClientSession(url, headers=headers))
                for url in urls
            ]
            storage = open_storage(location)
            first = await new_tenant(sessions[0], storage)
            await storage.close()
            # Requests with one key would take turns at its row.
            keys = [await new_key(http, first.org_id) for http in sessions]
            yield (
                location,
                [Tenant(http, first.org_id, key) for http, key in zip(sessions, keys, strict=True)],
            )


async def tell_at_once(
    tenants: Sequence[Tenant], events: Sequence[Event], draw: random.Random
) -> list[Event]:
    """Send a story. Gives it back with its reviews settled."""
    received: list[Event] = []
    for is_review, some in groupby(events, lambda event: event[0] == "review"):
        if is_review:
            for event in some:
                received += await draw.choice(tenants).tell([event])
            continue
        queues: dict[tuple[object, ...], list[Event]] = defaultdict(list)
        for event in some:
            received.append(event)
            queues[identity(event)].append(event)
        senders = list(queues.values())
        draw.shuffle(senders)
        await asyncio.gather(*(_send(tenants, queue, draw) for queue in senders))
    return received


async def _send(tenants: Sequence[Tenant], queue: Sequence[Event], draw: random.Random) -> None:
    for event in queue:
        await draw.choice(tenants).tell([event])


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_story_told_through_three_servers_at_once_equals_the_reference(
    seed: int, tmp_path: Path
) -> None:
    story, draw = generate(seed), random.Random(seed)
    async with servers_in(tmp_path) as (location, tenants):
        received = await tell_at_once(tenants, story.events, draw)
        await compare(draw.choice(tenants), received, story)
        found = await asyncio.to_thread(check_storage, location.written)
    assert (found.damage, found.stale) == ((), ())
