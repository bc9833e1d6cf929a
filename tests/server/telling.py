# SPDX-License-Identifier: Apache-2.0
"""A server whose webhooks lead to a receiver, and real bugs that its CI reports."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import aiohttp

from tests.support.running import RunningServer, report, running, sign_in

LOOPBACK = (ip_network("127.0.0.0/8"),)
CONFIGURATION = {
    "repo_key": "acme/firmware",
    "suite": "hardware",
    "firmware_paths": ["src/**"],
    "harness_paths": ["hil/**"],
    "merge_trigger": True,
}


class Scene:
    """A server, and who asks it as its owner."""

    def __init__(self, server: RunningServer, http: aiohttp.ClientSession) -> None:
        self.server = server
        self._token = server.token
        self._http = http

    async def sign_in(self) -> None:
        """Sign in again, as time or a new key has ended the first sign-in."""
        self._token = await sign_in(self.server.url, self.server.email)

    async def ask(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        headers = {"Authorization": f"Bearer {self._token}"}
        url = f"{self.server.org_url}/{path}"
        async with self._http.request(method, url, json=body, headers=headers) as answer:
            assert answer.status == status, await answer.text()
            return None if status == 204 else await answer.json()

    async def send(self, path: str, body: Any) -> None:
        headers = {"X-API-Key": self.server.ci_key}
        url = f"{self.server.url}/api/ci/{path}"
        method = "PUT" if path == "suite-config" else "POST"
        async with self._http.request(method, url, json=body, headers=headers) as answer:
            assert answer.status == 204, await answer.text()

    async def webhook(self, url: str, **fields: Any) -> Any:
        return await self.ask("POST", "webhooks", {"address": url, **fields}, 201)

    async def deliveries(self, webhook: Any) -> Any:
        path = f"webhooks/{webhook['id']}/deliveries"
        return (await self.ask("GET", path))["items"]

    async def settled(self, webhook: Any, count: int) -> Any:
        """Return the deliveries as soon as so many are there and none waits."""
        items: list[Any] = []

        async def are_settled() -> bool:
            items[:] = await self.deliveries(webhook)
            waiting = any(item["status"] == "waiting" for item in items)
            return len(items) >= count and not waiting

        await self.until(are_settled)
        return items

    async def until(self, happens: Callable[[], Awaitable[bool]]) -> None:
        """Return as soon as something is so."""
        async with asyncio.timeout(30):
            while not await happens():  # noqa: ASYNC110 - of a server, which tells nobody
                await asyncio.sleep(0.05)

    async def break_and_fix(
        self, number: int, test: str = "uart.echo", ago: timedelta = timedelta()
    ) -> None:
        """Report a real bug: firmware breaks a test, and firmware fixes it."""
        for body in bug(number, [test], ago):
            await self.send("run-report", body)


def bug(number: int, tests: Sequence[str], ago: timedelta = timedelta()) -> Iterator[Any]:
    """Yield the reports of a real bug in each of these tests: they pass, fail, and pass again."""
    now = datetime.now(UTC) - ago  # noqa: TID251 - reports of now
    shas = [f"{3 * number + step:040x}" for step in range(3)]
    steps = zip((1, 2, 3), ["f" * 40, *shas], shas, ("pass", "fail", "pass"), strict=False)
    for step, base, sha, outcome in steps:
        commit = {"sha": sha, "subject": "work", "files": ["src/a.c"]}
        started = (now + timedelta(milliseconds=step)).isoformat()
        verdict = {"verdict": "device"} if outcome == "fail" else {}
        yield report(
            run_id=3 * number + step,
            sha=sha,
            tests=[
                {"id": test, "outcome": outcome, "attempts": 1, "duration_s": 1, **verdict}
                for test in tests
            ],
            changes={"base_sha": base, "commits": [commit]},
            started_at=started,
            ended_at=started,
        )


@asynccontextmanager
async def scene(folder: Path, **options: Any) -> AsyncIterator[Scene]:
    options = {"webhook_networks": LOOPBACK, "base_url": "https://hwci.example.org", **options}
    async with running(folder, **options) as server, aiohttp.ClientSession() as http:
        made = Scene(server, http)
        await made.send("suite-config", CONFIGURATION)
        yield made
