# SPDX-License-Identifier: Apache-2.0
"""The largest legal report, plain and compressed: how long the server answers nobody else."""

import asyncio
import gzip
import sys
import time
from http.client import HTTPConnection
from urllib.parse import urlsplit

from tests.attack.bodies import HEADERS, PATH, largest
from tests.attack.scene import Attack, Scene

SECONDS = 4.0
STALL_SECONDS = 0.05
PAUSE_SECONDS = 0.002


def longest_answer(url: str, seconds: float) -> float:
    """Return the longest time that `/healthz` took, requested again and again for some seconds."""
    address = urlsplit(url)
    connection = HTTPConnection(str(address.hostname), address.port)
    longest, end = 0.0, time.monotonic() + seconds
    while (begun := time.monotonic()) < end:
        connection.request("GET", "/healthz")
        connection.getresponse().read()
        longest = max(longest, time.monotonic() - begun)
        time.sleep(PAUSE_SECONDS)
    return longest


async def _attack(scene: Scene) -> None:
    report = await asyncio.to_thread(largest, 1)
    small = await asyncio.to_thread(gzip.compress, report, 1)
    headers = {**scene.attacker.key, **HEADERS}
    async with scene.attacker.asking(scene.url, headers=headers) as http:
        for body, coding in ((report, {}), (small, {"Content-Encoding": "gzip"})):
            # A process of its own asks: sending 31 MiB holds up everything else in this one.
            asking = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", __name__, scene.url, str(SECONDS)),
                stdout=asyncio.subprocess.PIPE,
            )
            async with http.post(PATH, data=body, headers=coding) as answer:
                assert answer.status == 204, await answer.text()
            longest = float((await asking.communicate())[0])
            assert longest <= STALL_SECONDS, f"/healthz took {longest * 1e3:.0f} ms"


ATTACK = Attack(_attack, seconds=60.0)

if __name__ == "__main__":
    print(longest_answer(sys.argv[1], float(sys.argv[2])))
