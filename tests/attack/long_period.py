# SPDX-License-Identifier: Apache-2.0
"""A reader key that asks for the longest period all the time, and a colleague's page."""

import asyncio
import time
from collections import Counter
from contextlib import suppress

from tests.attack.heavy import attackers, read_all
from tests.attack.probe import PAGE_SECONDS, PAUSE_SECONDS, percentile
from tests.attack.scene import Attack, Scene, victim_report

SECONDS = 12.0


async def _attack(scene: Scene) -> str:
    (attacker,) = await attackers(scene, 1)
    times, statuses = list[float](), Counter[int]()
    async with attacker.asking(scene.url, headers=attacker.bearer) as http:
        async with http.post(attacker.path("reader-keys"), json={"name": "wall"}) as answer:
            assert answer.status == 201, await answer.text()
            key = {"X-API-Key": (await answer.json())["apiKey"]}
        run = {**victim_report(0), "suite": "quick"}
        async with http.post("/api/ci/run-report", json=run, headers=attacker.key) as answer:
            assert answer.status == 204, await answer.text()
        product = {"repoKey": str(run["repo_key"]), "suite": str(run["suite"])}

        async def look() -> None:
            while True:
                begun = time.monotonic()
                try:
                    async with http.get(attacker.path("ci-metrics"), params=product) as answer:
                        await answer.read()
                        statuses[answer.status] += 1
                finally:
                    times.append(time.monotonic() - begun)
                await asyncio.sleep(PAUSE_SECONDS)

        with suppress(TimeoutError):
            async with asyncio.timeout(SECONDS), asyncio.TaskGroup() as group:
                group.create_task(read_all(scene, attacker, key))
                group.create_task(look())
    late = percentile(times, 99)
    assert set(statuses) == {200}, f"a colleague was answered {dict(statuses)}"
    assert late <= PAGE_SECONDS, f"a colleague's page took {late:.2f} s at the 99th percentile"
    return f"a colleague's page {late:.2f} s at the 99th percentile of {len(times)}"


ATTACK = Attack(_attack, seconds=40.0, before="8.81 s at 1dfd5083")
