# SPDX-License-Identifier: Apache-2.0
"""A disk whose every read takes 100 ms: whoever needs nothing of it must not wait."""

import asyncio
import shutil
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from time import monotonic

import aiohttp

from hwci.server.storage.location import Location
from tests.attack.scene import Attack, Scene, victim_report

SECONDS, PAUSE_SECONDS = 10.0, 0.05
READERS = 4
MOST_SECONDS = 0.5
"""However long the disk takes, whoever does not need it is answered within this time."""
SOURCE = Path(__file__).with_suffix(".c")
LIBRARY, SWITCH = "slow_disk.so", "disk_is_slow"


@contextmanager
def _slow_file(folder: Path) -> Iterator[Location]:
    """Build what makes reads of the disk slow, and give a server a file."""
    assert shutil.which("gcc"), "a slow disk is made with a C compiler; install gcc"
    library = ("-o", folder / LIBRARY, SOURCE, "-ldl")
    subprocess.run(("gcc", "-shared", "-fPIC", "-O1", *library), check=True)
    yield Location(str(folder / "hwci.db"))


async def _wait(scene: Scene) -> str:
    """Ask for pages and report while the disk is slow, and whether the server is alive."""
    switch = scene.database.with_name(SWITCH)
    attacker, waited = scene.attacker, list[float]()
    async with attacker.asking(scene.url) as http:

        async def read() -> int:
            path = attacker.path("ci-metrics?days=30")
            async with http.get(path, headers=attacker.bearer) as answer:
                return answer.status

        async def report() -> int:
            body = victim_report(next(numbers))
            async with http.post("/api/ci/run-report", json=body, headers=attacker.key) as answer:
                return answer.status

        numbers = count()
        assert (await report(), await read()) == (204, 200)
        switch.touch()
        users = [asyncio.create_task(_again(ask)) for ask in (report, *READERS * [read])]
        begun = monotonic()
        while monotonic() < begun + SECONDS:
            waited.append(await _alive(http))
            await asyncio.sleep(PAUSE_SECONDS)
        switch.unlink()
        for user in users:
            user.cancel()
        await asyncio.gather(*users, return_exceptions=True)
        assert (await report(), await read()) == (204, 200)
    figure = f"the server says that it is alive within {max(waited) * 1e3:.0f} ms"
    assert max(waited) <= MOST_SECONDS, figure
    return figure


async def _again(ask: Callable[[], Awaitable[int]]) -> None:
    while True:
        await ask()


async def _alive(http: aiohttp.ClientSession) -> float:
    """Return how long the answer takes that needs no database."""
    begun = monotonic()
    async with http.get("/healthz") as answer:
        assert answer.status == 200, answer.status
    return monotonic() - begun


ATTACK = Attack(
    _wait,
    seconds=60.0,
    before="the server says that it is alive within 1970 ms, at 1dfd5083",
    environment={"LD_PRELOAD": f"{{folder}}/{LIBRARY}", "SLOW_DISK": f"{{folder}}/{SWITCH}"},
    database=_slow_file,
    probed=False,
)
