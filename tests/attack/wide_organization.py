# SPDX-License-Identifier: Apache-2.0
"""The figures of the metrics page of an organization with 10,000 boxes and 100,000 tests."""

import asyncio
import json
import random
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from tests.attack.scene import Attack, Scene
from tests.support.running import report

BOXES, TESTS_OF_A_BOX, SENDERS = 10_000, 10, 16
FAILING = 0.5
ANSWER_SECONDS = 10.0
NOW = datetime.now(UTC).replace(microsecond=0)  # noqa: TID251 - reports of now


async def _attack(scene: Scene) -> str:
    attacker = scene.attacker
    headers = {"Content-Type": "application/json", **attacker.key}
    bodies = _bodies()
    async with attacker.asking(scene.url, headers=headers, raise_for_status=True) as http:

        async def send() -> None:
            for body in bodies:
                async with http.post("/api/ci/run-report", data=body):
                    pass

        await asyncio.gather(*(send() for _ in range(SENDERS)))
    async with attacker.asking(scene.url, headers=attacker.bearer) as http:
        begun = time.monotonic()
        async with http.get(attacker.path("ci-analysis/page?days=30")) as answer:
            found = await answer.json()
        seconds = time.monotonic() - begun
    assert answer.status == 200, f"its figures were answered {answer.status}: {found}"
    assert seconds <= ANSWER_SECONDS, f"its figures took {seconds:.1f} s"
    left_out = ", ".join(found.get("notComputed", [])) or "none"
    return f"answered in {seconds:.1f} s; not computed: {left_out}"


def _bodies() -> Iterator[bytes]:
    """Yield a run of each box, each with tests of its own."""
    drawn = random.Random(29)
    for number in range(BOXES):
        at = (NOW - timedelta(days=25) * (1 - number / BOXES)).isoformat()
        tests = [
            {
                "id": f"test_{number * TESTS_OF_A_BOX + index:06}",
                "outcome": "fail" if drawn.random() < FAILING else "pass",
                "attempts": 1 + drawn.randrange(2),
                "duration_s": 1,
            }
            for index in range(TESTS_OF_A_BOX)
        ]
        yield json.dumps(
            report(
                repo_key="wide/firmware",
                suite="hil",
                run_id=number + 1,
                sha=f"{number // 20:040x}",
                box_key=f"box-{number:05}",
                started_at=at,
                ended_at=at,
                tests=tests,
            )
        ).encode()


ATTACK = Attack(_attack, seconds=120.0, before="3.6 s at 1dfd5083")
