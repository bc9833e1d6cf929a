# SPDX-License-Identifier: Apache-2.0
"""Reports just above the size from which another process reads them, and reports just below it."""

import asyncio
import json
import time
from itertools import count

import aiohttp

from hwci.server.http.bodies.body import APART_BYTES
from hwci.wire import limits
from tests.attack.bodies import HEADERS, PATH, TAKEN
from tests.attack.scene import Attack, Scene
from tests.support.running import report

AT_ONCE = 4
SECONDS = 4.0
BELOW, ABOVE = 230_000, 270_000
TIMES_SLOWER = 15
"""A report above the step may take so many times as long as one below it."""


FIRST_RUN = 1_000_000


def sized(size: int) -> bytes:
    """Return a report of about so many bytes, whose tests have long names."""
    row = {"outcome": "pass", "attempts": 1, "duration_s": 1.5}
    length = size // limits.TESTS_MAX - len(json.dumps({"id": ""} | row)) - 2
    tests = [{"id": f"{place:04}".ljust(length, "x")} | row for place in range(limits.TESTS_MAX)]
    return json.dumps(report(run_id=FIRST_RUN, tests=tests)).encode()


async def _rate(http: aiohttp.ClientSession, size: int, numbers: "count[int]") -> float:
    """Return how many reports of a size are taken in a second."""
    body, first = sized(size), str(FIRST_RUN).encode()
    sent, begun = 0, time.monotonic()

    async def send() -> None:
        nonlocal sent
        while time.monotonic() < begun + SECONDS:
            data = body.replace(first, str(next(numbers)).encode())
            async with http.post(PATH, data=data) as answer:
                assert answer.status == TAKEN, await answer.text()
            sent += 1

    await asyncio.gather(*(send() for _ in range(AT_ONCE)))
    return sent / (time.monotonic() - begun)


async def _attack(scene: Scene) -> str:
    assert len(sized(BELOW)) < APART_BYTES < len(sized(ABOVE))
    numbers = count(FIRST_RUN)
    async with scene.attacker.asking(scene.url, headers={**scene.attacker.key, **HEADERS}) as http:
        below = await _rate(http, BELOW, numbers)
        above = await _rate(http, ABOVE, numbers)
    figure = f"{above:.1f} reports a second of 270 kB, {below:.1f} of 230 kB"
    assert above * TIMES_SLOWER >= below, figure
    return figure


ATTACK = Attack(
    _attack,
    seconds=30.0,
    before="5.4 reports a second of 270 kB, 151 of 230 kB, at 1dfd5083",
)
