# SPDX-License-Identifier: Apache-2.0
"""Random histories, sent over HTTP: the page equals an independent brute-force reference.

The reference (`tests/reference`) was written from the specification and shares no code with the
engine or a store. Each story goes to a server, which must agree with it for every view, and the
narrow load of its store must give what a full load gives.
"""

from pathlib import Path
from uuid import UUID

import pytest

from hwci.engine.full_history import FullHistory
from hwci.engine.history import Scope
from hwci.engine.page.overview import read_page
from hwci.engine.page.reading import read_failures
from hwci.engine.page.tables import FailureSelection, labelled_failures
from hwci.engine.page.tables import failures as list_failures
from hwci.engine.periods import last_days
from hwci.server.storage.ports import Reader, Storage
from hwci.wire.base import parse_time
from tests.acceptance.tenants import compare, new_tenant, server_in
from tests.reference.generator import COVERING, Story, generate
from tests.support.soak import rounds

SEEDS = rounds(COVERING, range(240))
STORIES_PER_SERVER = 12
EVERYTHING = 1_000_000


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
            for offset in (0, 1):
                few = FailureSelection(offset=offset, limit=3)
                of_few = list_failures(narrow, scope, period, few)
                assert of_few == labelled_failures(others, few), (story.seed, view)

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
