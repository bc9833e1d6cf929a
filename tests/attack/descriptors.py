# SPDX-License-Identifier: Apache-2.0
"""Connections held open from one address, at a server that may have few descriptors."""

import asyncio
from contextlib import suppress

from tests.attack.scene import Attack, Scene

FILES = 128
HOLDERS = 300
LOG_BYTES = 100_000


async def _hold(scene: Scene) -> None:
    local = (scene.attacker.address, 0)

    async def hold() -> None:
        while True:
            with suppress(OSError):
                reader, writer = await asyncio.open_connection(
                    "127.0.0.1", scene.port, local_addr=local
                )
                await reader.read()  # until the server closes
                writer.close()
            await asyncio.sleep(0.5)

    holders = [asyncio.create_task(hold()) for _ in range(HOLDERS)]
    try:
        await asyncio.sleep(20)
    finally:
        for holder in holders:
            holder.cancel()
        await asyncio.gather(*holders, return_exceptions=True)
    logged = sum(map(len, scene.log))
    assert logged < LOG_BYTES, f"the server wrote {logged} bytes of log"


ATTACK = Attack(_hold, prefix=("prlimit", f"--nofile={FILES}:{FILES}"))
