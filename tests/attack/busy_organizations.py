# SPDX-License-Identifier: Apache-2.0
"""Eight organizations that ask for all that takes long, all the time, beside a ninth."""

import asyncio
import time
from contextlib import suppress

from tests.attack.heavy import attackers, read_all
from tests.attack.probe import PAGE_SECONDS, PAUSE_SECONDS, percentile
from tests.attack.scene import Attack, Scene

ORGANIZATIONS, SECONDS, APART_SECONDS = 8, 14.0, 0.3


async def _attack(scene: Scene) -> str:
    tenants = await attackers(scene, ORGANIZATIONS)
    runs = list[float]()
    with suppress(TimeoutError):
        async with asyncio.timeout(SECONDS), asyncio.TaskGroup() as group:
            for number, one in enumerate(tenants):
                group.create_task(read_all(scene, one, one.bearer, number * APART_SECONDS))
            group.create_task(_list_runs(scene, runs))
    late = percentile(runs, 99)
    assert late <= PAGE_SECONDS, f"a list of runs took {late:.2f} s at the 99th percentile"
    return f"the ninth's list of runs took {late:.2f} s at the 99th percentile of {len(runs)}"


async def _list_runs(scene: Scene, times: list[float]) -> None:
    """List runs as the victim while the others ask."""
    victim = scene.victim
    async with victim.asking(scene.url, headers=victim.bearer) as http:
        while True:
            begun = time.monotonic()
            try:
                async with http.get(victim.path("runs")) as answer:
                    assert answer.status == 200, await answer.text()
            finally:
                times.append(time.monotonic() - begun)
            await asyncio.sleep(PAUSE_SECONDS)


ATTACK = Attack(_attack, seconds=60.0, before="5.55 s, and a page 9.08 s and a 503, at 1dfd5083")
