# SPDX-License-Identifier: Apache-2.0
"""Uploads that announce much and send a byte now and then, others as much as there is room for."""

import asyncio
import gzip
import json
from contextlib import suppress

from tests.attack.bodies import HEADERS, PATH
from tests.attack.scene import Attack, Scene, victim_report

SLOW, WIDE = 40, 12
DRIP_SECONDS = 0.5
WIDE_BYTES = 30 * 1024 * 1024


async def _slow(scene: Scene) -> None:
    """Announce two megabytes, and send a byte now and then; again once it is refused."""
    while True:
        line = await _begin(scene, 2_000_000)
        with suppress(ConnectionError):
            while not line.is_closing():
                line.write(b" ")
                await line.drain()
                await asyncio.sleep(DRIP_SECONDS)


async def _wide(scene: Scene) -> None:
    """Send as much as fits and then only what keeps the pace."""
    while True:
        line = await _begin(scene, 2 * WIDE_BYTES)
        with suppress(ConnectionError):
            line.write(b" " * WIDE_BYTES)
            while not line.is_closing():
                await line.drain()
                line.write(b" " * 4_096)
                await asyncio.sleep(DRIP_SECONDS)


async def _begin(scene: Scene, announced: int) -> asyncio.StreamWriter:
    _, line = await asyncio.open_connection(
        "127.0.0.1", scene.port, local_addr=(scene.attacker.address, 0)
    )
    line.write(
        (
            f"POST {PATH} HTTP/1.1\r\nHost: x\r\nX-API-Key: {scene.attacker.ci_key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {announced}\r\n\r\n"
        ).encode()
    )
    return line


async def _victims(scene: Scene) -> None:
    """Send gzipped reports, and one that is large, while there is no room to spare."""
    victim = scene.victim
    async with victim.asking(scene.url, headers={**victim.key, **HEADERS}) as http:
        for number in range(10):
            plain = json.dumps({**victim_report(50_000 + number), "extra": "x" * number * 200_000})
            coded = {"Content-Encoding": "gzip"}
            for body, headers in ((plain.encode(), {}), (gzip.compress(plain.encode()), coded)):
                async with http.post(PATH, data=body, headers=headers) as answer:
                    assert answer.status == 204, (number, answer.status)


async def _uploads(scene: Scene) -> None:
    async with asyncio.TaskGroup() as group:
        attackers = [group.create_task(_slow(scene)) for _ in range(SLOW)]
        attackers += [group.create_task(_wide(scene)) for _ in range(WIDE)]
        await asyncio.sleep(5)
        await _victims(scene)
        await asyncio.sleep(15)
        for attacker in attackers:
            attacker.cancel()


ATTACK = Attack(_uploads, seconds=90.0)
