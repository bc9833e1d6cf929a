# SPDX-License-Identifier: Apache-2.0
"""A person makes organization after organization, eight at a time, and asks who they are."""

import asyncio
import time
from collections import Counter

from tests.attack.scene import Attack, Scene

TRIES, AT_ONCE = 800, 8
MADE_MOST, ANSWER_BYTES = 100, 40_000


async def _make(scene: Scene) -> str:
    statuses: Counter[int] = Counter()
    async with scene.attacker.asking(scene.url, headers=scene.attacker.bearer) as http:

        async def make(number: int) -> None:
            body = {"name": f"{number:03} {'x' * 200}"}
            async with http.post("/api/orgs", json=body) as answer:
                statuses[answer.status] += 1

        for start in range(0, TRIES, AT_ONCE):
            await asyncio.gather(*(make(start + number) for number in range(AT_ONCE)))
        begun = time.monotonic()
        async with http.get("/api/auth/me") as answer:
            size = len(await answer.read())
        seconds = time.monotonic() - begun
    figure = (
        f"{statuses[201]} organizations of {TRIES} tries; who-am-I is {size:,} bytes and takes"
        f" {seconds * 1e3:.0f} ms"
    )
    assert statuses[201] < MADE_MOST, figure
    assert size < ANSWER_BYTES, figure
    assert statuses[201] + statuses[409] == TRIES, f"{statuses}"
    return figure


ATTACK = Attack(_make, seconds=60.0, before="800 organizations, 240,247 bytes at 1dfd5083")
