# SPDX-License-Identifier: Apache-2.0
"""One CI key sends new reports as fast as it can, each with messages of 400 kB."""

import time

from tests.attack.scene import Attack, Scene
from tests.support.running import report

MIB = 1024**2
HOUR_MIB = 8
TESTS, MESSAGE = 800, "x" * 500


async def _fill(scene: Scene) -> str:
    sent, taken, refused, begun = 0, 0, 0, time.monotonic()
    tests = [
        {"id": f"t{index}", "outcome": "fail", "attempts": 1, "duration_s": 1.0, "message": MESSAGE}
        for index in range(TESTS)
    ]
    async with scene.attacker.asking(scene.url, headers=scene.attacker.key) as http:
        while not refused or time.monotonic() - begun < SECONDS - 2:
            body = report(run_id=sent, tests=tests)
            async with http.post("/api/ci/run-report", json=body) as answer:
                assert answer.status in {204, 429}, answer.status
                taken += answer.status == 204
                refused += answer.status == 429
            sent += 1
    size = len(MESSAGE) * TESTS * taken / MIB
    assert size < HOUR_MIB + 1, f"{size:.1f} MiB were taken"
    return f"{size:.0f} MiB taken of a quota of {HOUR_MIB}, {refused} reports refused"


SECONDS = 20.0
ATTACK = Attack(
    _fill,
    seconds=SECONDS,
    before="all of it, 16 MB a second",
    environment={"HWCI_QUOTA_HOUR": f"{HOUR_MIB}MiB"},
)
