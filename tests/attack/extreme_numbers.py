# SPDX-License-Identifier: Apache-2.0
"""The largest number of attempts, in several reports, and then every page of the organization."""

from typing import Any

import aiohttp

from hwci.server.routes.table import ROUTES
from hwci.wire import limits
from tests.attack.bodies import PATH, TAKEN
from tests.attack.scene import Attack, Scene
from tests.support.running import report

LARGEST = (limits.INTEGER_MAX, getattr(limits, "ATTEMPTS_MAX", limits.INTEGER_MAX))
REPORTS = 4
NEEDED = {
    "box": "?boxKey=bench-1",
    "test": "?repoKey=acme/firmware&suite=hardware&testId=i2c",
    "bisection": "?repoKey=acme/firmware&suite=hardware&testId=i2c",
}
REFUSED, FAULT = 400, 500


def _failing(attempts: int, number: int) -> dict[str, object]:
    test = {"id": "i2c", "outcome": "fail", "attempts": attempts, "duration_s": 1.0}
    return report(run_id=number, suite="hardware", tests=[test])


async def _attack(scene: Scene) -> str:
    attacker = scene.attacker
    async with attacker.asking(scene.url, headers=attacker.key) as http:
        for attempts in LARGEST:
            for number in range(REPORTS):
                async with http.post(PATH, json=_failing(attempts, number)) as answer:
                    assert answer.status in {TAKEN, REFUSED}, await answer.text()
    async with attacker.asking(scene.url, headers=attacker.bearer) as http:
        answers = {
            path: await _status(http, path) for path in await _paths(http, attacker.path(""))
        }
    faults = [path for path, status in answers.items() if status >= FAULT]
    figure = f"{len(faults)} of {len(answers)} routes cannot answer"
    assert not faults, f"{figure}: {', '.join(faults)}"
    return figure


async def _paths(http: aiohttp.ClientSession, org: str) -> list[str]:
    """Return the path of each route of the organization that is read and ends."""
    ids = {"{runId}": await _first(http, f"{org}runs")}
    ids["{failureId}"] = await _first(http, f"{org}ci-failures")
    paths = []
    for route in ROUTES:
        if route.method == "GET" and route.path.startswith("/api/orgs/{orgId}/"):
            path = org + route.path.removeprefix("/api/orgs/{orgId}/")
            for name, value in ids.items():
                path = path.replace(name, value)
            if not path.endswith(("/stream", "/ws")):
                paths.append(path + NEEDED.get(path.rsplit("/", 1)[-1], ""))
    return paths


async def _first(http: aiohttp.ClientSession, path: str) -> str:
    async with http.get(path) as answer:
        rows: dict[str, Any] = await answer.json()
    return str(rows["items"][0]["id"])


async def _status(http: aiohttp.ClientSession, path: str) -> int:
    async with http.get(path) as answer:
        await answer.read()
        return answer.status


ATTACK = Attack(_attack, seconds=30.0, before="10 of 41 routes cannot answer, at 1dfd5083")
