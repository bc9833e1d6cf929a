# SPDX-License-Identifier: Apache-2.0
"""A flood of small requests without a credential, from one address over many connections."""

import asyncio

from tests.attack.scene import Attack, Scene

ASKERS = 50


async def _flood(scene: Scene) -> None:
    async with scene.attacker.asking(scene.url) as http, asyncio.TaskGroup() as group:

        async def ask() -> None:
            while True:
                async with http.post("/api/ci/run-report", data=b"{}") as answer:
                    assert answer.status == 401, answer.status

        for _ in range(ASKERS):
            group.create_task(ask())


ATTACK = Attack(_flood, seconds=10.0)
