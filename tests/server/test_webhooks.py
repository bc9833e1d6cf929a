# SPDX-License-Identifier: Apache-2.0
"""Webhooks (contract, "Webhooks"): each event arrives at least once, signed, in its order, and none
is invented, whatever the receiver does.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from hwci.server.app import sweeping
from hwci.server.services.webhooks import sending
from tests.support.receiver import receiving
from tests.support.running import RunningServer, report, running

LOOPBACK = (ip_network("127.0.0.0/8"),)
CONFIGURATION = {
    "repo_key": "acme/firmware",
    "suite": "hardware",
    "firmware_paths": ["src/**"],
    "harness_paths": ["hil/**"],
    "merge_trigger": True,
}
SHORT = timedelta(seconds=0.05)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look and try again after moments, as often as ever."""
    monkeypatch.setattr(sweeping, "SEND_SECONDS", 0.02)
    monkeypatch.setattr(sweeping, "WATCH_SECONDS", 0.05)
    monkeypatch.setattr(sweeping, "DECISIONS_SECONDS", 0.02)
    monkeypatch.setattr(sending, "PAUSES", (SHORT,) * len(sending.PAUSES))


class Scene:
    """A server, and who asks it as its owner."""

    def __init__(self, server: RunningServer, http: aiohttp.ClientSession) -> None:
        self.server = server
        self._http = http

    async def ask(self, method: str, path: str, body: Any = None, status: int = 200) -> Any:
        headers = {"Authorization": f"Bearer {self.server.token}"}
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
        async with asyncio.timeout(30):
            while True:
                items = await self.deliveries(webhook)
                if len(items) >= count and all(item["status"] != "waiting" for item in items):
                    return items
                await asyncio.sleep(0.05)

    async def break_and_fix(self, number: int, test: str = "uart.echo") -> None:
        """Report a real bug: firmware breaks a test, and firmware fixes it."""
        now = datetime.now(UTC)  # noqa: TID251 - reports of now
        shas = [f"{3 * number + step:040x}" for step in range(3)]
        steps = zip((1, 2, 3), [None, *shas], shas, ("pass", "fail", "pass"), strict=False)
        for step, base, sha, outcome in steps:
            changes = {
                "base_sha": base or "f" * 40,
                "commits": [{"sha": sha, "subject": "work", "files": ["src/a.c"]}],
            }
            started = now + timedelta(seconds=3 * number + step)
            item = {"id": test, "outcome": outcome, "attempts": 1, "duration_s": 1}
            body = report(
                run_id=3 * number + step,
                sha=sha,
                tests=[{**item, "verdict": "device"} if outcome == "fail" else item],
                changes=changes,
                started_at=started.isoformat(),
                ended_at=started.isoformat(),
            )
            await self.send("run-report", body)


@asynccontextmanager
async def scene(folder: Path, **options: Any) -> AsyncIterator[Scene]:
    options = {"webhook_networks": LOOPBACK, "base_url": "https://hwci.example.org", **options}
    async with running(folder, **options) as server, aiohttp.ClientSession() as http:
        made = Scene(server, http)
        await made.send("suite-config", CONFIGURATION)
        yield made


async def test_a_failure_that_is_decided_to_be_a_real_bug_is_told_once_and_signed(
    tmp_path: Path,
) -> None:
    async with receiving() as receiver, scene(tmp_path) as here:
        webhook = await here.webhook(f"{receiver.url}/hook", events=["failure.real_bug"])

        await here.break_and_fix(1)

        (came,) = await receiver.comes(1)
        came.check(webhook["secret"])
        assert came.path == "/hook"
        assert came.body["type"] == "failure.real_bug"
        data = came.body["data"]
        assert (data["testId"], data["boxKey"], data["by"]) == ("uart.echo", "bench-1", "rules")
        assert data["firstFailingSha"] == f"{4:040x}"
        assert data["fixSha"] == f"{5:040x}"
        page = f"https://hwci.example.org/orgs/{here.server.org_id}/failures/{data['failureId']}"
        assert data["url"] == page
        (delivery,) = await here.settled(webhook, 1)
        assert (delivery["status"], delivery["attempts"], delivery["error"]) == (
            *("delivered", 1),
            None,
        )
        assert delivery["id"] == came.id
