# SPDX-License-Identifier: Apache-2.0
"""Organizations that send a random story to a server: who they are, in which scopes and periods
they are read, and how their pages are compared with the reference's.
"""

import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import aiohttp

from hwci.server.app import serving
from hwci.server.settings import Registration
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Storage, Writer
from tests.acceptance.driving import Tenant, of_reference
from tests.reference import brute
from tests.reference.facts import Event, Json
from tests.reference.generator import LATEST, Story
from tests.reference.lanes import Failure
from tests.reference.reviews import replay
from tests.support.databases import new_location
from tests.support.running import settings_of


@asynccontextmanager
async def server_in(folder: Path) -> AsyncIterator[tuple[aiohttp.ClientSession, Storage]]:
    """Run a server on a new store; return a session signed in by header, and the store itself."""
    with new_location(folder) as location:
        storage = open_storage(location)
        settings = settings_of(
            location, registration=Registration.OPEN, rate_limit="off", auth_rate_limit="off"
        )
        try:
            async with serving(settings, storage=storage) as server:
                headers = {"Authorization": f"Bearer {await registered(server.url)}"}
                async with aiohttp.ClientSession(server.url, headers=headers) as http:
                    yield http, storage
        finally:
            await storage.close()


async def registered(url: str) -> str:
    """Return an access token of a new person."""
    person = {"email": "ada@example.org", "password": "a long enough password"}
    async with (
        aiohttp.ClientSession(url, raise_for_status=True) as http,
        http.post("/api/auth/register", json=person) as answer,
    ):
        return str((await answer.json())["accessToken"])


async def new_tenant(http: aiohttp.ClientSession, store: Storage) -> Tenant:
    """Make an organization in which CI Metrics is on."""
    async with http.post("/api/orgs", json={"name": "A story"}) as answer:
        org_id = UUID((await answer.json())["id"])
    key = await new_key(http, org_id)

    def enable(tx: Writer) -> None:
        tx.set_ci_metrics(org_id, enabled=True)

    await store.write(enable)
    return Tenant(http, org_id, key)


async def new_key(http: aiohttp.ClientSession, org_id: UUID) -> str:
    """Return a new key of CI."""
    async with http.post(f"/api/orgs/{org_id}/ci-keys", json={"name": "ci"}) as answer:
        return str((await answer.json())["apiKey"])


def ordered(rows: list[Json], when: str) -> list[Json]:
    """Rows of equal start are ordered by an id that only the server knows."""
    starts = [row["firstFailure"][when] if "firstFailure" in row else row[when] for row in rows]
    assert starts == sorted(starts, reverse=True)
    return sorted(rows, key=lambda row: str(row["id"]))


def comparable(page: Json) -> Json:
    """Leave out what only one side orders, and a product of all suites of a repository."""
    page = dict(page)
    for table in ("realBugs", "otherFailures"):
        page[table] = ordered(page[table], "startedAt")
    if page["product"] is not None and page["product"]["suite"] is None:
        page["product"] = None
    return page


async def compare(tenant: Tenant, sent: list[Any], story: Story) -> None:
    """Ask an organization everything, and compare it with the reference."""
    everything: Json = {"days": 3650, "as_of": story.latest}
    await tenant.failures(everything)  # learns which id is which failure
    for view in story.views:
        expected = {
            name: [of_reference(row) for row in value] if isinstance(value, list) else value
            for name, value in of_reference(brute.page(sent, **view)).items()
        }
        page = await tenant.page(view)
        assert comparable(page) == comparable(expected), (story.seed, view)

        checked = [of_reference(row) for row in brute.checked_merges(sent, **view)]
        assert await tenant.checked_merges(view) == checked, (story.seed, view)
        assert page["tiles"]["mergesChecked"]["checked"] == len(checked)

        assert await tenant.broken_tests(view) == brute.broken_tests(sent, **view), story.seed

        failures = [of_reference(row) for row in brute.failures(sent, **view)]
        found = await tenant.failures(view)
        assert ordered(found, "firstStartedAt") == ordered(failures, "firstStartedAt"), (
            story.seed,
            view,
        )
    for label in ("flake", "resolved", "pending"):
        found = await tenant.failures(everything, label)
        failures = [of_reference(row) for row in brute.failures(sent, **everything, label=label)]
        assert ordered(found, "firstStartedAt") == ordered(failures, "firstStartedAt"), story.seed


EVER: Json = {"days": 3650, "asOf": LATEST}
TICK = timedelta(microseconds=1)


def periods(sent: list[Event], flakes: list[Failure], rng: random.Random) -> Iterator[Json]:
    """Return all time, and days that begin or end at a run (of a flake, too) or right beside it."""
    yield EVER
    starts = {report.started for report in replay(sent).reports.values()}
    flaky = {report.started for failure in flakes for report, _ in failure.hits}
    for start in [rng.choice(sorted(some)) for some in (starts, flaky) if some]:
        for beside in (-TICK, timedelta(0), TICK):
            yield {"days": 2, "asOf": (start + beside).isoformat()}
            yield {"days": 2, "asOf": (start + beside + timedelta(days=2)).isoformat()}


async def scopes(tenant: Tenant) -> list[Json]:
    """Return the scopes: everything, each repository and each product."""
    products = await tenant.rows("products")
    repositories = {one["repoKey"] for one in products}
    return [
        {},
        *({"repoKey": repository} for repository in sorted(repositories)),
        *({"repoKey": one["repoKey"], "suite": one["suite"]} for one in products),
    ]
