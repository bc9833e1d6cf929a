# SPDX-License-Identifier: Apache-2.0
"""Each row of "Flakiest tests" leads to its runs: the list of runs, asked for the test, the product
and the period of a page, holds exactly what the row counts (contract, "Runs and streams").

Random histories as in `test_tiles_lead_to_rows.py`. What the items of these runs say is read from
the runs themselves, so every number of the row is counted a second time, from what people see.
Tests of a run whose parts contradict each other are left out: the table counts what each part says.
"""

import random
from collections import Counter, defaultdict
from pathlib import Path

from tests.acceptance.driving import Tenant
from tests.acceptance.tenants import new_tenant, periods, scopes, server_in
from tests.reference.facts import Event, Json, Report
from tests.reference.generator import Story, generate
from tests.reference.reviews import all_groups, replay
from tests.support.soak import rounds

SEEDS = rounds((1_010, 1_053), (1_010, 1_013, 1_031, 1_053))

Runs = dict[str, Json]
TestKey = tuple[str, str, str]


def parts_by_run(sent: list[Event]) -> list[list[Report]]:
    """Return the reports of each run that came in parts."""
    runs: dict[tuple[object, ...], list[Report]] = defaultdict(list)
    for report in replay(sent).reports.values():
        runs[report.repo, report.shown_run_id, report.attempt, report.box].append(report)
    return [parts for parts in runs.values() if any(part.part_of for part in parts)]


def agree(parts: list[Report]) -> bool:
    """Whether parts are one report cut in pieces, the first one among them."""
    heads = {(part.suite, part.started, part.hello_ok) for part in parts}
    tests = [item.test for part in parts for item in part.items]
    firsts = [part for part in parts if not part.is_later_part]
    return len(heads) == len(firsts) == 1 and len(set(tests)) == len(tests)


def named_in(parts: list[Report]) -> set[TestKey]:
    return {(part.repo, part.suite, item.test) for part in parts for item in part.items}


async def runs_by_id(tenant: Tenant, **query: object) -> Runs:
    rows = await tenant.rows("runs", **query)
    assert len({row["id"] for row in rows}) == len(rows)
    return {row["id"]: row for row in rows}


class Items:
    """The item of each test in each run, read once."""

    def __init__(self, tenant: Tenant) -> None:
        self._tenant = tenant
        self._runs: dict[str, list[Json]] = {}

    async def of(self, run_id: str, test_id: str) -> Json:
        if run_id not in self._runs:
            self._runs[run_id] = (await self._tenant.read(f"runs/{run_id}"))["items"]
        (item,) = [item for item in self._runs[run_id] if item["id"] == test_id]
        return item


def result_of(item: Json) -> Json:
    """Return of an item what a list of runs shows of it."""
    return {name: item[name] for name in ("outcome", "attempts", "verdict")}


async def runs_of_the_row(tenant: Tenant, items: Items, row: Json, period: Json) -> Counter[str]:
    """See that the runs of a row are those that it counts."""
    asked = {
        **{name: row[name] for name in ("repoKey", "suite", "testId")},
        "helloOk": "true",
        "from": period["from"],
        "to": period["to"],
    }
    runs = await runs_by_id(tenant, **asked)
    retried = await runs_by_id(tenant, retryPass="true", **asked)
    failed = await runs_by_id(tenant, failedAttempt="true", **asked)
    result = {run_id: await items.of(run_id, row["testId"]) for run_id in runs}
    failing = {
        run_id: item["attempts"] - (item["outcome"] == "pass") for run_id, item in result.items()
    }

    assert len(runs) == row["runReports"], (row, period)
    assert len(retried) == row["retryPasses"], (row, period)
    assert all(run["result"] == result_of(result[run_id]) for run_id, run in runs.items())
    assert sum(item["attempts"] for item in result.values()) == row["attempts"]
    assert sum(failing.values()) == row["failedAttempts"]
    assert len({run["boxKey"] for run in runs.values()}) == row["boxes"]

    assert failed.keys() == {run_id for run_id, count in failing.items() if count}
    assert retried.keys() == {run for run in failed if result[run]["outcome"] == "pass"}
    for name, some in (("retryPass", retried), ("failedAttempt", failed)):
        others = await runs_by_id(tenant, **{name: "false"}, **asked)
        assert others.keys() == runs.keys() - some.keys()
    kinds = {"runs": runs, "retried": retried, "failed": failed.keys() - retried.keys()}
    kinds["at the first attempt"] = runs.keys() - failed.keys()
    return Counter({kind: len(some) for kind, some in kinds.items()})


async def look(tenant: Tenant, story: Story) -> Counter[str]:
    result = await tenant.tell(story.events)
    _, flakes = all_groups(replay(result))
    in_parts = parts_by_run(result)
    torn = set[TestKey]().union(*(named_in(parts) for parts in in_parts if not agree(parts)))
    whole = (
        set[TestKey]().union(
            *(named_in([part for part in parts if part.is_later_part]) for parts in in_parts)
        )
        - torn
    )
    items, seen = Items(tenant), Counter[str]()
    for view in list(periods(result, flakes, random.Random(story.seed)))[:7]:
        for scope in await scopes(tenant):
            page = await tenant.read("ci-metrics", limit=100, **view, **scope)
            for row in page["flakiestTests"]["items"]:
                test = (row["repoKey"], row["suite"], row["testId"])
                seen["in a later part"] += test in whole
                if test not in torn:
                    seen += await runs_of_the_row(tenant, items, row, page["period"])
    return seen


async def test_reports_attempts_and_retries_of_a_flaky_test_are_those_of_its_runs(
    tmp_path: Path,
) -> None:
    seen = Counter[str]()
    async with server_in(tmp_path) as (http, storage):
        for seed in SEEDS:
            seen += await look(await new_tenant(http, storage), generate(seed))
    kinds = ("runs", "retried", "failed", "at the first attempt", "in a later part")
    assert all(seen[kind] > 0 for kind in kinds), seen
