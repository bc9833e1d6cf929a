# SPDX-License-Identifier: Apache-2.0
"""Many reads at once while the database is 5 ms away: they must not wait for each other."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from time import monotonic

from hwci.server.storage.location import Location
from tests.attack.scene import Attack, Scene
from tests.support.databases import postgresql_server, query
from tests.support.distance import distant

AWAY_SECONDS = 0.005
READERS, READ_SECONDS = 16, 6.0
LEAST_SHARE = 0.5
"""A distant database may take this share of the reads that a near one gives, as the processor is
what bounds both.
"""
LOOK_SECONDS = 0.05
_SPAWN = get_context("spawn")


class Away:
    """A database behind a proxy, which is a process: it is as quick as a network while others are
    busy.
    """

    def __init__(self) -> None:
        self._seconds: Synchronized[float] = _SPAWN.Value("d", 0.0)
        self._near: Location | None = None

    @contextmanager
    def database(self, folder: Path) -> Iterator[Location]:
        """Give a server a distant database."""
        ours, theirs = _SPAWN.Pipe()
        with postgresql_server().database(key_file=folder / "hwci.key") as near:
            self._near = near
            proxy = _SPAWN.Process(target=_hand_on, args=(near, self._seconds, theirs))
            proxy.start()
            try:
                yield replace(near, written=ours.recv())
            finally:
                proxy.terminate()
                proxy.join()

    async def read(self, scene: Scene) -> str:
        """Read at once, over the distance and then without one."""
        assert self._near is not None
        # As any database that is a few minutes old; the scene has just filled it.
        await asyncio.to_thread(query, self._near, "ANALYZE")
        self._seconds.value = AWAY_SECONDS
        await asyncio.sleep(2 * LOOK_SECONDS)
        far = await _reads(scene)
        self._seconds.value = 0
        await asyncio.sleep(2 * LOOK_SECONDS)
        near = await _reads(scene)
        figure = f"{far:.0f} reads a second at 5 ms one way, {near:.0f} at none"
        assert far >= LEAST_SHARE * near, figure
        return figure


def _hand_on(near: Location, seconds: "Synchronized[float]", tell: Connection) -> None:
    """Be the proxy, as far away as `seconds` says now."""

    async def hand_on() -> None:
        async with distant(near, seconds.value) as distance:
            tell.send(distance.location.written)
            while True:
                await asyncio.sleep(LOOK_SECONDS)
                distance.seconds = seconds.value

    with suppress(KeyboardInterrupt):
        asyncio.run(hand_on())


async def _reads(scene: Scene) -> float:
    """Return how many requests are answered in a second."""
    begun, answered = monotonic(), 0
    async with scene.attacker.asking(scene.url, headers=scene.attacker.bearer) as http:

        async def read() -> None:
            nonlocal answered
            while monotonic() < begun + READ_SECONDS:
                async with http.get("/api/auth/me") as answer:
                    assert answer.status == 200, answer.status
                answered += 1

        await asyncio.gather(*(read() for _ in range(READERS)))
    return answered / (monotonic() - begun)


AWAY = Away()
ATTACK = Attack(
    AWAY.read,
    seconds=30.0,
    database=AWAY.database,
    before="21 reads a second at 5 ms one way, 520 at none, at 1dfd5083",
)
