# SPDX-License-Identifier: Apache-2.0
"""Another process holds the file: reports are refused in time meanwhile, not one after the
other.
"""

import asyncio
import sqlite3
from time import monotonic

from tests.attack.scene import Attack, Scene, victim_report

REPORTERS = 60
PROMISED_SECONDS = 10.0


async def _hold(scene: Scene) -> None:
    tool = sqlite3.connect(scene.database, isolation_level=None)
    tool.execute("BEGIN IMMEDIATE")
    try:
        async with scene.victim.asking(scene.url, headers=scene.victim.key) as http:

            async def send(number: int) -> float:
                start = monotonic()
                body = victim_report(1_000 + number)
                async with http.post("/api/ci/run-report", json=body) as answer:
                    assert answer.status == 503, answer.status
                    assert int(answer.headers["Retry-After"]) > 0
                return monotonic() - start

            waited = await asyncio.gather(*map(send, range(REPORTERS)))
    finally:
        tool.execute("ROLLBACK")
        tool.close()
    assert max(waited) < PROMISED_SECONDS, max(waited)


ATTACK = Attack(_hold, seconds=60.0, probed=False)
