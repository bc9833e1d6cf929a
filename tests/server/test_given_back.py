# SPDX-License-Identifier: Apache-2.0
"""Memory that a server does not need any more is the system's again."""

import asyncio
import subprocess
import sys
from pathlib import Path

from hwci.server.app.process import give_back_memory

_MIB = 1024 * 1024
_BLOCK = 5_000


def test_what_is_free_between_blocks_in_use_is_given_back() -> None:
    found = subprocess.run([sys.executable, __file__], check=True, capture_output=True, text=True)
    held, left = map(int, found.stdout.split())

    assert held > 80 * _MIB
    assert left < held / 2


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


async def _give_back_once() -> None:
    giving_back = asyncio.create_task(give_back_memory())
    await asyncio.sleep(0)  # it has begun; the end of the loop waits for its thread
    giving_back.cancel()


if __name__ == "__main__":
    blocks = [bytes([1]) * _BLOCK for _ in range(100 * _MIB // _BLOCK)]
    kept = blocks[::50]
    held = _resident()
    del blocks
    asyncio.run(_give_back_once())
    sys.stdout.write(f"{held} {_resident()}\n")
