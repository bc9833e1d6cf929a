# SPDX-License-Identifier: Apache-2.0
"""A database of an earlier version opens, shows the same, and stays in use (contract,
"Organizations").

`before/schema-4.db.gz` is the file of a server with the first four migrations, and `schema-4.json`
what it showed, and the secrets that it issued. `schema-8.*` are those of one with eight, on which a
box had a live run and a failure was reviewed; `api-8.json` has the routes, fields, types and
words of its API.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from hwci.server.app import serving
from hwci.server.routes.openapi import document
from hwci.server.settings import Settings
from hwci.wire.endpoints import every
from tests.server.earlier_versions import BEFORE, unpack
from tests.support.running import EMAIL, PASSWORD, Hands, report

SHOWN: dict[str, Any] = json.loads((BEFORE / "schema-4.json").read_text())
NOW = datetime(2026, 11, 22, 18, tzinfo=UTC)
"""Soon after the file was made: its invitation and sign-in have not expired."""
LIVE: dict[str, Any] = json.loads((BEFORE / "schema-8.json").read_text())
LIVE_NOW = datetime(2026, 11, 23, 6, 46, tzinfo=UTC)
"""Soon after that file was made: its live run is not lost."""
API: dict[str, Any] = json.loads((BEFORE / "api-8.json").read_text())


@asynccontextmanager
async def served(folder: Path, name: str, now: datetime) -> AsyncIterator[aiohttp.ClientSession]:
    """Serve a copy of a file."""
    database = folder / "hwci.db"
    unpack(name, database)
    if name == "schema-8":
        key = folder / "hwci.db.audit-key"
        key.write_text(LIVE["auditKey"])
        key.chmod(0o600)
    settings = Settings(database=str(database), port=0)
    async with (
        serving(settings, clock=Hands(now)) as server,
        aiohttp.ClientSession(server.url, raise_for_status=True) as http,
    ):
        yield http


@pytest.fixture
async def http(tmp_path: Path) -> AsyncIterator[aiohttp.ClientSession]:
    async with served(tmp_path, "schema-4", NOW) as http:
        yield http


@pytest.fixture
async def live(tmp_path: Path) -> AsyncIterator[aiohttp.ClientSession]:
    async with served(tmp_path, "schema-8", LIVE_NOW) as http:
        yield http


async def signed_in(
    http: aiohttp.ClientSession, email: str = EMAIL, password: str = PASSWORD
) -> dict[str, str]:
    body = {"email": email, "password": password}
    async with http.post("/api/auth/login", json=body) as answer:
        return {"Authorization": f"Bearer {(await answer.json())['accessToken']}"}


async def read(http: aiohttp.ClientSession, path: str) -> Any:
    headers = await signed_in(http)
    async with http.get(f"/api/orgs/{SHOWN['org']}/{path}", headers=headers) as answer:
        return await answer.json()


async def test_the_page_and_the_audit_log_show_what_they_showed(
    http: aiohttp.ClientSession,
) -> None:
    page = await read(http, "ci-metrics?days=90")
    audit = await read(http, "audit-log")

    assert page["tiles"] == SHOWN["tiles"]
    assert audit["total"] == SHOWN["audit"]


async def test_keys_and_a_sign_in_from_before_work(http: aiohttp.ClientSession) -> None:
    key = {"X-API-Key": SHOWN["ciKey"]}
    body = report(run_id=99, started_at="2026-11-22T17:00:00Z", ended_at="2026-11-22T17:05:00Z")
    async with http.post("/api/ci/run-report", json=body, headers=key) as answer:
        assert answer.status == 204
    async with http.post("/api/box/heartbeat", headers={"X-API-Key": SHOWN["boxKey"]}) as answer:
        assert answer.status == 204
    body = {"refreshToken": SHOWN["refresh"]}
    async with http.post("/api/auth/refresh", json=body) as answer:
        assert answer.status == 200

    page = await read(http, "ci-metrics?days=90")
    assert page["tiles"]["infraRuns"]["total"] == SHOWN["tiles"]["infraRuns"]["total"] + 1


async def test_an_invitation_from_before_is_taken(http: aiohttp.ClientSession) -> None:
    invite = SHOWN["invite"]
    body = {"email": invite["email"], "password": PASSWORD, "inviteToken": invite["inviteToken"]}
    async with http.post("/api/auth/register", json=body) as answer:
        assert answer.status == 201
        headers = {"Authorization": f"Bearer {(await answer.json())['accessToken']}"}
    async with http.get("/api/orgs", headers=headers) as answer:
        assert [org["id"] for org in (await answer.json())["items"]] == [SHOWN["org"]]


async def read_live(http: aiohttp.ClientSession, path: str) -> Any:
    headers = await signed_in(http, "ada@example.org", "a-long-password-1")
    async with http.get(f"/api/orgs/{LIVE['org']}/{path}", headers=headers) as answer:
        return await answer.json()


async def test_a_live_run_from_before_goes_on(live: aiohttp.ClientSession) -> None:
    box = {"X-API-Key": LIVE["boxKey"]}
    before = await read_live(live, f"runs/{LIVE['run']}")
    event = {"type": "test", "id": "t.boot", "outcome": "pass", "attempts": 1}
    path = f"/api/box/runs/{LIVE['run']}/events"
    async with live.post(path, json={"events": [event]}, headers=box) as answer:
        assert answer.status == 204
    after = await read_live(live, f"runs/{LIVE['run']}")

    assert before["status"] == after["status"] == "running"
    assert before["boxKey"] == "b1"
    outcomes = [{one["id"]: one["outcome"] for one in run["items"]} for run in (before, after)]
    assert outcomes == [{"t.boot": None, "t.i2c": "fail"}, {"t.boot": "pass", "t.i2c": "fail"}]


async def test_runs_and_a_review_from_before_are_shown_without_what_they_lack(
    live: aiohttp.ClientSession,
) -> None:
    runs = await read_live(live, "runs?status=reported")
    found = await read_live(live, f"ci-failures/{LIVE['failure']}")

    assert [run["runId"] for run in runs["items"]] == [2, 1]
    assert {(run["ciRun"], run["ciUrl"]) for run in runs["items"]} == {(None, None)}
    assert found["resolved"]["class"] == "real_fw_bug"
    review = found["resolved"]["review"]
    assert (review["action"], review["note"], review["issue"]) == ("confirm", None, None)


@pytest.fixture(scope="module")
def api() -> dict[str, Any]:
    """The document of the API as it is now."""
    return document(every())


def test_a_client_from_before_finds_its_routes_and_parameters(api: dict[str, Any]) -> None:
    for name, route in API["routes"].items():
        method, path = name.split()
        now = api["paths"][path][method.lower()]
        query = {one["name"] for one in now.get("parameters", ()) if one["in"] == "query"}
        assert query.issuperset(route["query"]), name
        assert route["status"] in now["responses"], name


RENAMED = {"ListPage_FlakyTestHistory_": "FlakyHistories"}
"""Schemas of the document under another name: no answer holds it."""


def test_a_client_from_before_finds_its_fields_and_need_send_no_others(api: dict[str, Any]) -> None:
    for name, schema in API["schemas"].items():
        now = api["components"]["schemas"][RENAMED.get(name, name)]
        assert now["properties"].keys() >= set(schema["fields"]), name
        assert set(now.get("required", ())) == set(schema["required"]), name


ONLY_IF_ASKED_FOR = {
    ("BoxAnswer", "id"),
    ("BoxAnswer", "createdAt"),
    ("ProductAnswer", "suite"),
    "BoxStatus",
}
"""Fields that a box known from reports alone lacks, and its status; a new parameter lists it."""


def kinds(schema: dict[str, Any]) -> set[str]:
    """Return the types of a value: names of JSON, of schemas, or the words that it may be."""
    if "$ref" in schema:
        return {schema["$ref"].rpartition("/")[2]}
    if "anyOf" in schema:
        return set().union(*map(kinds, schema["anyOf"]))
    if "const" in schema or "enum" in schema:
        return {json.dumps(word) for word in schema.get("enum") or [schema["const"]]}
    if schema["type"] == "array":
        return {f"[{kind}]" for kind in kinds(schema["items"])}
    return {schema["type"]}


def test_a_client_from_before_finds_the_types_and_words_that_it_knows(api: dict[str, Any]) -> None:
    """Answers use no new type or word, and bodies may use every one that they could."""
    for name, schema in API["schemas"].items():
        for field, known in schema["fields"].items():
            now = kinds(api["components"]["schemas"][RENAMED.get(name, name)]["properties"][field])
            goes_on = now >= set(known) if schema["strict"] else now <= set(known)
            assert goes_on or (name, field) in ONLY_IF_ASKED_FOR, (name, field)
    for name, words in API["words"].items():
        now = set(api["components"]["schemas"][name]["enum"])
        assert now == set(words) or name in ONLY_IF_ASKED_FOR, name


def test_a_body_has_new_fields_only_where_the_server_from_before_ignores_them(
    api: dict[str, Any],
) -> None:
    for name, schema in API["schemas"].items():
        if schema["strict"]:
            assert api["components"]["schemas"][name]["properties"].keys() == set(schema["fields"])
