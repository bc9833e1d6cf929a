# SPDX-License-Identifier: Apache-2.0
"""Each tile that counts merges, runs or failures leads to them: the lists, read for the period of
a page, hold exactly what the tile counts (contract, "Runs and streams" and "CI metrics").

Random histories are sent over HTTP in a random order, with replaced reports and reports in parts.
The page is read for every product, in periods that begin or end at the start of a run, or right
beside it. The reference (`tests/reference`) says which items a failure has.
"""

import random
from collections import Counter
from datetime import datetime
from pathlib import Path

from tests.acceptance.driving import Tenant
from tests.acceptance.tenants import new_tenant, periods, scopes, server_in
from tests.reference.facts import Json
from tests.reference.generator import Story, generate, natural_key
from tests.reference.lanes import Failure
from tests.reference.reviews import all_groups, replay
from tests.support.soak import rounds

SEEDS = rounds((1_008, 1_010), range(1_007, 1_012))


async def merges_of_the_tile(tenant: Tenant, view: Json, page: Json) -> Counter[str]:
    """Check that "Merges checked on hardware" leads to its merges, and these to their runs."""
    tile = page["tiles"]["mergesChecked"]
    checked = await tenant.rows("ci-metrics/checked-merges", **view)
    unchecked = await tenant.rows("ci-metrics/unchecked-merges", **view)
    assert len(checked) == tile["checked"], view
    assert len(checked) + len(unchecked) == tile["announced"], view
    names = [(one["repoKey"], one["suite"], one["sha"]) for one in (*checked, *unchecked)]
    assert len(set(names)) == len(names)
    for merge in checked[:5]:
        first = merge["firstRun"]
        run = await tenant.read(f"runs/{first['runRecordId']}")
        same = ("runId", "runAttempt", "boxKey")
        assert [run[name] for name in same] == [first[name] for name in same]
        assert merge["suite"] in {None, first["suite"]}
    unassigned = sum(one["suite"] is None for one in checked)
    return Counter(checked=len(checked), unassigned=unassigned)


async def runs_of_the_tile(tenant: Tenant, scope: Json, page: Json) -> Counter[str]:
    """Check that "Infra runs" leads to the runs that it counts; return how many."""
    tile, period = page["tiles"]["infraRuns"], page["period"]
    within = {**scope, "status": "reported", "from": period["from"], "to": period["to"]}
    lost = await tenant.rows("runs", helloOk="false", **within)
    reached = await tenant.read("runs", limit=1, helloOk="true", **within)
    every = await tenant.read("runs", limit=1, **within)
    assert {run["helloOk"] for run in lost} <= {False}
    assert {run["helloOk"] for run in reached["items"]} <= {True}
    assert (len(lost), len(lost) + reached["total"]) == (tile["infra"], tile["total"]), within
    assert every["total"] == tile["total"]
    return Counter(infra=len(lost), reached=reached["total"])


async def failures_of_the_tile(
    tenant: Tenant, view: Json, page: Json, flakes: dict[tuple[str, ...], Failure]
) -> Counter[str]:
    """Check that "Flaky failures" leads to the failures whose items it counts."""
    tile = page["tiles"]["flakyFailures"]["count"]
    first, last = (datetime.fromisoformat(page["period"][end]) for end in ("from", "to"))
    rows = await tenant.rows("ci-failures", label="flake", **view)
    counted = 0
    kinds: Counter[str] = Counter(items=tile)
    for row in rows:
        hits = [report.started for report, _ in flakes[natural_key(row)].hits]
        assert row["items"] == len(hits)
        inside = [at for at in hits if first <= at <= last]
        assert inside, row
        counted += len(inside)
        begins, ends = (datetime.fromisoformat(row[f"{one}StartedAt"]) for one in ("first", "last"))
        # This needs no reference: all items count unless the failure goes beyond the period.
        reaches_out = begins < first or ends > last
        assert reaches_out is (len(inside) < row["items"])
        kinds["more items than failures"] += len(inside) > 1
        kinds["reaches out"] += reaches_out
    assert counted == tile, view
    return kinds


async def look(tenant: Tenant, story: Story) -> Counter[str]:
    result = await tenant.tell(story.events)
    _, flaky = all_groups(replay(result))
    flakes: dict[tuple[str, ...], Failure] = {failure.key: failure for failure in flaky}
    seen: Counter[str] = Counter()
    for period in periods(result, flaky, random.Random(story.seed)):
        for scope in await scopes(tenant):
            page = await tenant.read("ci-metrics", limit=1, **period, **scope)
            seen += await merges_of_the_tile(tenant, {**period, **scope}, page)
            seen += await runs_of_the_tile(tenant, scope, page)
            seen += await failures_of_the_tile(tenant, {**period, **scope}, page, flakes)
    return seen


async def test_merges_infra_runs_and_flaky_failures_are_the_rows_of_their_lists(
    tmp_path: Path,
) -> None:
    seen: Counter[str] = Counter()
    async with server_in(tmp_path) as (http, storage):
        for seed in SEEDS:
            seen += await look(await new_tenant(http, storage), generate(seed))
    kinds = ["infra", "reached", "items", "more items than failures", "reaches out"]
    kinds += ["checked", "unassigned"]
    assert all(seen[kind] > 0 for kind in kinds), seen
