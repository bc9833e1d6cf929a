# SPDX-License-Identifier: Apache-2.0
"""A database of an earlier version opens, tells the same, and goes on (contract, "Organizations").

`before/schema-4.db.gz` is the file of a server with the first four migrations, and `schema-4.json`
what it told, and the secrets that it gave out.
"""

import gzip
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from hwci.server.app import serving
from hwci.server.settings import Settings
from tests.support.running import EMAIL, PASSWORD, Hands, report

BEFORE = Path(__file__).parent / "before"
TOLD: dict[str, Any] = json.loads((BEFORE / "schema-4.json").read_text())
NOW = datetime(2026, 11, 22, 18, tzinfo=UTC)
"""Soon after the file was made: its invitation and sign-in have not ended."""


@pytest.fixture
async def http(tmp_path: Path) -> AsyncIterator[aiohttp.ClientSession]:
    """Serve a copy of the file."""
    database = tmp_path / "hwci.db"
    database.write_bytes(gzip.decompress((BEFORE / "schema-4.db.gz").read_bytes()))
    settings = Settings(database=str(database), port=0)
    async with (
        serving(settings, clock=Hands(NOW)) as server,
        aiohttp.ClientSession(server.url, raise_for_status=True) as http,
    ):
        yield http


async def signed_in(http: aiohttp.ClientSession) -> dict[str, str]:
    body = {"email": EMAIL, "password": PASSWORD}
    async with http.post("/api/auth/login", json=body) as answer:
        return {"Authorization": f"Bearer {(await answer.json())['accessToken']}"}


async def read(http: aiohttp.ClientSession, path: str) -> Any:
    headers = await signed_in(http)
    async with http.get(f"/api/orgs/{TOLD['org']}/{path}", headers=headers) as answer:
        return await answer.json()


async def test_the_page_and_the_audit_log_show_what_they_showed(
    http: aiohttp.ClientSession,
) -> None:
    page = await read(http, "ci-metrics?days=90")
    audit = await read(http, "audit-log")

    assert page["tiles"] == TOLD["tiles"]
    assert audit["total"] == TOLD["audit"]


async def test_keys_and_a_sign_in_from_before_work(http: aiohttp.ClientSession) -> None:
    key = {"X-API-Key": TOLD["ciKey"]}
    body = report(run_id=99, started_at="2026-11-22T17:00:00Z", ended_at="2026-11-22T17:05:00Z")
    async with http.post("/api/ci/run-report", json=body, headers=key) as answer:
        assert answer.status == 204
    async with http.post("/api/box/heartbeat", headers={"X-API-Key": TOLD["boxKey"]}) as answer:
        assert answer.status == 204
    body = {"refreshToken": TOLD["refresh"]}
    async with http.post("/api/auth/refresh", json=body) as answer:
        assert answer.status == 200

    page = await read(http, "ci-metrics?days=90")
    assert page["tiles"]["infraRuns"]["total"] == TOLD["tiles"]["infraRuns"]["total"] + 1


async def test_an_invitation_from_before_is_taken(http: aiohttp.ClientSession) -> None:
    invite = TOLD["invite"]
    body = {"email": invite["email"], "password": PASSWORD, "inviteToken": invite["inviteToken"]}
    async with http.post("/api/auth/register", json=body) as answer:
        assert answer.status == 201
        headers = {"Authorization": f"Bearer {(await answer.json())['accessToken']}"}
    async with http.get("/api/orgs", headers=headers) as answer:
        assert [org["id"] for org in (await answer.json())["items"]] == [TOLD["org"]]
