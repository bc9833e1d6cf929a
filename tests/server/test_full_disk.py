# SPDX-License-Identifier: Apache-2.0
"""A full disk costs reports, which get an error, and nothing else."""

import asyncio
from pathlib import Path
from typing import Any

from hwci.server.app import serving
from hwci.server.settings import Settings
from hwci.server.storage.opening import open_storage
from hwci.server.storage.sqlite.store import SqliteStorage
from tests.support.asking import Reply, ask, bearer, ci_key
from tests.support.running import report, running

TESTS = [
    {"id": f"test-{number}", "outcome": "fail", "attempts": 1, "duration_s": 1.0}
    for number in range(100)
]


def limit_pages(storage: SqliteStorage, more: int) -> None:
    found = storage._writer.row("PRAGMA page_count")
    assert found is not None
    storage._writer.execute(f"PRAGMA max_page_count = {found[0] + more}")


async def test_a_full_disk_is_a_503_and_room_is_used_without_a_restart(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        pass
    storage = open_storage(server.database)
    assert isinstance(storage, SqliteStorage)
    settings = Settings(
        database=str(server.database),
        secret_key_file=Path(f"{server.database}.key"),
        port=0,
        rate_limit="off",
    )
    async with serving(settings, storage=storage) as served:

        async def post(number: int) -> Reply:
            body: Any = report(run_id=number, tests=TESTS)
            key = ci_key(server.ci_key)
            return await asyncio.to_thread(
                lambda: ask(served.url, "POST", "/api/ci/run-report", key, json_body=body)
            )

        async def get(path: str) -> Reply:
            whole = f"/api/orgs/{server.org_id}{path}"
            return await asyncio.to_thread(ask, served.url, "GET", whole, bearer(server.token))

        limit_pages(storage, 50)
        replies = [await post(number) for number in range(1, 101)]
        taken = [number for number, reply in enumerate(replies, 1) if reply.status == 204]
        refused = [reply for reply in replies if reply.status != 204]
        assert taken
        assert {reply.status for reply in refused} == {503}
        assert all(int(reply.headers["retry-after"]) >= 1 for reply in refused)
        assert all("try again" in reply.error[1] for reply in refused)
        assert (await get("/ci-metrics")).status == 200

        limit_pages(storage, 1_000_000)
        assert (await post(200)).status == 204
        facts = await storage.read(lambda reader: reader.facts(server.org_id))
    await storage.close()

    assert {kept.run_id for kept in facts.reports} == {*taken, 200}
    assert {len(kept.tests) for kept in facts.reports} == {len(TESTS)}
