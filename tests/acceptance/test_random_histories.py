# SPDX-License-Identifier: Apache-2.0
"""Random histories, sent over HTTP: the page equals an independent brute-force reference.

The reference (`tests/reference`) was written from the specification and shares no code with the
engine or a store. Each story goes to a server, which must agree with it for every view, and the
narrow load of its store must give what a full load gives.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import aiohttp
import pytest

from hwci.engine.full_history import FullHistory
from hwci.engine.history import Scope
from hwci.engine.page.overview import read_page
from hwci.engine.page.reading import read_failures
from hwci.engine.page.tables import FailureSelection, labelled_failures
from hwci.engine.periods import last_days
from hwci.server.app import serving
from hwci.server.settings import Registration
from hwci.server.storage.opening import open_storage
from hwci.server.storage.ports import Reader, Storage, Writer
from hwci.wire.base import parse_time
from tests.acceptance.driving import Tenant, of_reference
from tests.reference import brute
from tests.reference.facts import Json
from tests.reference.generator import COVERING, Story, generate
from tests.support.databases import new_location
from tests.support.running import settings_of
from tests.support.soak import rounds

SEEDS = rounds(COVERING, range(240))
STORIES_PER_SERVER = 12
EVERYTHING = 1_000_000


@asynccontextmanager
async def server_in(folder: Path) -> AsyncIterator[tuple[aiohttp.ClientSession, Storage]]:
    """Run a server on a new store; give a session signed in by header, and the store itself."""
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
    async with http.post("/api/orgs", json={"name": "A story"}) as answer:
        org_id = UUID((await answer.json())["id"])
    key = await new_key(http, org_id)

    def enable(tx: Writer) -> None:
        tx.set_ci_metrics(org_id, enabled=True)

    await store.write(enable)
    return Tenant(http, org_id, key)


async def new_key(http: aiohttp.ClientSession, org_id: UUID) -> str:
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


async def narrow_equals_full(store: Storage, org_id: UUID, story: Story) -> None:
    def look(tx: Reader) -> None:
        narrow, full = tx.history(org_id), FullHistory(org_id, tx.facts(org_id))
        for view in story.views:
            scope = Scope(view.get("repo_key"), view.get("suite"))
            period = last_days(view["days"], parse_time(view["as_of"]))
            page, expected = (read_page(one, scope, period) for one in (narrow, full))
            assert page == expected, (story.seed, view)
            some, others = (read_failures(one, scope, period) for one in (narrow, full))
            every = FailureSelection(limit=EVERYTHING)
            failures = labelled_failures(some, every)
            assert failures == labelled_failures(others, every), (story.seed, view)

    await store.read(look)


@pytest.mark.parametrize("first", range(0, len(SEEDS), STORIES_PER_SERVER))
async def test_the_page_over_http_equals_the_reference(first: int, tmp_path: Path) -> None:
    async with server_in(tmp_path) as (http, storage):
        for seed in SEEDS[first : first + STORIES_PER_SERVER]:
            story = generate(seed)
            tenant = await new_tenant(http, storage)
            result = await tenant.tell(story.events)
            await compare(tenant, result, story)
            await narrow_equals_full(storage, tenant.org_id, story)
