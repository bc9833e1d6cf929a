# SPDX-License-Identifier: Apache-2.0
"""Histories whose answers take seconds, and readers who ask for them all the time."""

import asyncio
import json
import random
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count

import aiohttp

from tests.attack.scene import Scene, Tenant, tenant
from tests.support.running import new_organization, report

RUNS, TESTS, FAILING = 10, 1_000, 0.3
FILES, PATTERNS = 1_000, 100
NOW = datetime.now(UTC).replace(microsecond=0)  # noqa: TID251 - reports of now
PRODUCT = {"repo_key": "slow/firmware", "suite": "hil"}
PATHS = (
    *("ci-metrics?days=3650", "ci-analysis/flaky-tests?days=3650", "ci-analysis/gaps?days=3650"),
    *("ci-analysis/boxes?days=3650", "ci-analysis/times-to-fix?days=3650", "ci-failures?days=3650"),
)
OF_MEMBERS, PLAN = "ci-analysis/page?days=3650", "suite-configs/plan?days=3650"


async def attackers(scene: Scene, count: int) -> list[Tenant]:
    """Return the attacker and more organizations like it, each with a history of its own."""
    more = [f"attacker{number}@example.org" for number in range(1, count)]
    ids = [await asyncio.to_thread(new_organization, scene.database, one) for one in more]
    address = scene.attacker.address
    made = [await tenant(scene.url, *one, address) for one in zip(more, ids, strict=True)]
    tenants = [scene.attacker, *made]
    bodies = await asyncio.to_thread(_bodies)
    await asyncio.gather(*(_fill(scene, one, bodies) for one in tenants))
    return tenants


def _bodies() -> Sequence[tuple[str, str, bytes]]:
    sent = [("POST", "run-report", _run(number)) for number in range(1, RUNS + 1)]
    sent.append(("PUT", "suite-config", _configuration(random.Random(0))))
    return [(method, name, json.dumps(body).encode()) for method, name, body in sent]


async def _fill(scene: Scene, one: Tenant, bodies: Sequence[tuple[str, str, bytes]]) -> None:
    headers = {"Content-Type": "application/json", **one.key}
    async with one.asking(scene.url, headers=headers, raise_for_status=True) as http:
        for method, name, body in bodies:
            async with http.request(method, f"/api/ci/{name}", data=body):
                pass


def _run(number: int) -> dict[str, object]:
    """Return a run with many failures, each of which may come from many paths."""
    drawn = random.Random(number)
    at = (NOW - timedelta(hours=RUNS - number)).isoformat()
    tests = [
        {
            "id": f"test_{index:04}",
            "outcome": "fail" if drawn.random() < FAILING else "pass",
            "attempts": 1,
            "duration_s": 1,
        }
        for index in range(TESTS)
    ]
    files = ["".join(drawn.choices("ab", k=50)) + str(file) for file in range(FILES)]
    commit = {"sha": f"{number:040x}", "subject": "c", "files": files}
    return report(
        **PRODUCT,
        run_id=number,
        sha=f"{number:040x}",
        started_at=at,
        ended_at=at,
        tests=tests,
        changes={"base_sha": f"{number - 1:040x}", "commits": [commit]},
    )


def _configuration(drawn: random.Random) -> dict[str, object]:
    """Return a configuration with patterns that are slow to match, all different."""
    paths = ["**" + "**".join(drawn.choices("ab", k=300)) + "**c" for _ in range(PATTERNS)]
    return {**PRODUCT, "firmware_paths": paths, "harness_paths": paths, "merge_trigger": False}


async def read_all(
    scene: Scene, one: Tenant, headers: Mapping[str, str], wait_seconds: float = 0
) -> None:
    """Ask for each answer that takes long, over and over, all at a time, after a while."""
    await asyncio.sleep(wait_seconds)
    async with one.asking(scene.url, headers=headers) as http, asyncio.TaskGroup() as group:
        for path in PATHS:
            group.create_task(_read(http, one.path(path)))
        if headers == one.bearer:
            group.create_task(_read(http, one.path(OF_MEMBERS)))
            group.create_task(_plan(http, one.path(PLAN)))


async def _read(http: aiohttp.ClientSession, path: str) -> None:
    while True:
        async with http.get(path) as answer:
            assert answer.status in {200, 503}, await answer.text()


async def _plan(http: aiohttp.ClientSession, path: str) -> None:
    """Ask what a configuration would change, another one each time: nothing of it is known."""
    for number in count(1):
        body = await asyncio.to_thread(_configuration, random.Random(number))
        async with http.post(path, json=body) as answer:
            assert answer.status in {200, 503}, await answer.text()
