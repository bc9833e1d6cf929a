# SPDX-License-Identifier: Apache-2.0
"""Path patterns that are slow to match, over two reports with half a million paths together: the
page is opened and plans are asked for, by callers who wait and by callers who hang up.
"""

import asyncio
import json
import random
from contextlib import suppress

import aiohttp

from tests.attack.scene import Attack, Scene
from tests.support.running import report

REPOSITORY, COMMITS, FILES = (
    {"repo_key": "slow/patterns", "suite": "s", "workflow": "s"},
    125,
    2_000,
)
PLANNERS = 4
LETTERS = random.Random(22)


def _patterns(count: int) -> list[str]:
    """Return patterns of the greatest length, all different."""
    return ["**" + "**".join(LETTERS.choices("ab", k=338)) + "**c" for _ in range(count)]


def _run(number: int, outcome: str) -> dict[str, object]:
    """Return a run whose changes list the most files allowed."""
    commits = [
        {
            "sha": f"{number}{at:039x}",
            "subject": "c",
            "files": [
                "".join(LETTERS.choices("ab", k=50)) + f"{number}/{at}/{file}"
                for file in range(FILES)
            ],
        }
        for at in range(COMMITS)
    ]
    return report(
        **REPOSITORY,
        run_id=number,
        sha=commits[-1]["sha"],
        started_at=f"2026-01-01T0{number}:00:00Z",
        ended_at=f"2026-01-01T0{number}:00:00Z",
        tests=[
            {"id": "t", "outcome": outcome, "attempts": 1, "duration_s": 1, "verdict": "device"}
        ],
        changes={"base_sha": f"{number - 1}{COMMITS - 1:039x}", "commits": commits},
    )


def _configuration(patterns: list[str]) -> dict[str, object]:
    product = {"repo_key": REPOSITORY["repo_key"], "suite": REPOSITORY["suite"]}
    return {
        **product,
        "firmware_paths": patterns,
        "harness_paths": patterns,
        "merge_trigger": False,
    }


async def _attack(scene: Scene) -> None:
    attacker = scene.attacker
    async with attacker.asking(scene.url, headers={**attacker.bearer}) as http:
        for number, outcome in ((1, "fail"), (2, "pass")):
            body = await asyncio.to_thread(lambda: json.dumps(_run(number, outcome)).encode())  # noqa: B023 - awaited at once
            await _send(http, scene, "POST", "run-report", body)
        body = json.dumps(_configuration(_patterns(10))).encode()
        await _send(http, scene, "PUT", "suite-config", body)
        async with asyncio.TaskGroup() as group:
            group.create_task(_read(http, attacker.path("ci-metrics?days=3650"), None))
            for number in range(PLANNERS):
                path = attacker.path("suite-configs/plan?days=3650")
                leaving = None if number % 2 else 0.5
                group.create_task(_read(http, path, _configuration(_patterns(200)), leaving))


async def _send(
    http: aiohttp.ClientSession, scene: Scene, method: str, name: str, body: bytes
) -> None:
    headers = {"Content-Type": "application/json", **scene.attacker.key}
    async with http.request(method, f"/api/ci/{name}", data=body, headers=headers) as answer:
        assert answer.status == 204, await answer.text()


async def _read(
    http: aiohttp.ClientSession, path: str, body: object, leaving: float | None = None
) -> None:
    """Send requests in a loop; `leaving`: seconds after which the caller hangs up."""
    method = "GET" if body is None else "POST"
    while True:
        with suppress(TimeoutError):
            async with asyncio.timeout(leaving):
                async with http.request(method, path, json=body) as answer:
                    assert answer.status in {200, 503}, await answer.text()


ATTACK = Attack(_attack, seconds=40.0)
