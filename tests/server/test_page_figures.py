# SPDX-License-Identifier: Apache-2.0
"""The figures of the metrics page as one answer are those that each part has by its own route
(contract, "Answers beside the rules"; ADR 0013).
"""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import pytest

from hwci.server.app import serving
from hwci.wire.limits import INCIDENTS_FIRST
from tests.server.exports import fill_server
from tests.support.asking import ask, bearer
from tests.support.running import Hands, RunningServer, in_thread, running_in_thread, settings_of

AS_OF = "2026-03-20T00:00:00Z"
PENDING: dict[str, Any] = {"label": "pending", "limit": 100}
BANDS = ["broken", "flaky", "bench"]
ROWS = {"limit": 1}  # fewer than there are
ZONE = "Asia/Kolkata"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    hands = Hands()
    with running_in_thread(tmp_path_factory.mktemp("history"), clock=hands) as made:
        pass
    asyncio.run(fill_server(made))
    settings = settings_of(made.location, rate_limit="off", auth_rate_limit="off")
    with in_thread(serving(settings, clock=hands)) as found:
        yield replace(made, url=found.url)


@pytest.mark.parametrize("days", [18, 60, 3650])
@pytest.mark.parametrize("product", [0, 1, None])
def test_each_figure_is_that_of_its_own_route(
    server: RunningServer, days: int, product: int | None
) -> None:
    def read(path: str, query: dict[str, Any]) -> Any:
        address = f"/api/orgs/{server.org_id}/{path}?{urlencode(query)}"
        reply = ask(server.url, "GET", address, bearer(server.token))
        assert reply.status == 200, reply
        return reply.json

    products = read("products", {"limit": 100})
    asked = {"days": days, "asOf": AS_OF}
    if product is not None:
        asked |= {name: products["items"][product][name] for name in ("repoKey", "suite")}

    ever = {"days": 3650, "limit": 100}
    merges = [read(f"ci-metrics/{table}", ever) for table in ("unchecked-merges", "checked-merges")]
    assert all(one["total"] <= 100 for one in merges)
    every = [merge for one in merges for merge in one["items"]]
    unassigned = sorted({one["repoKey"] for one in every if one["suite"] is None})
    assert unassigned
    table = "ci-metrics/flakiest-tests"
    flaked = read(table, {**asked, "flaked": "true", **ROWS})
    if not flaked["total"]:
        flaked = read(table, {**asked, "broken": "false", **ROWS})
    pending = read("ci-analysis/incidents", {**asked, **PENDING})
    merged = [row for row in pending["items"] if row["onMergeBranch"]]
    merged.sort(key=lambda row: BANDS.index(row["band"]))
    of_bands = [[row for row in pending["items"] if row["band"] == band] for band in BANDS]
    assert read("ci-analysis/page", {**asked, "zone": ZONE, **ROWS}) == {
        "days": read("ci-analysis/days", {**asked, "zone": ZONE}),
        "trends": read("ci-analysis/trends", asked),
        "realBugCauses": read("ci-analysis/causes", {**asked, "table": "realBugs", **ROWS}),
        "causesToReview": read("ci-analysis/causes", {**asked, "toReview": "true"})["total"],
        "lostBoards": read("ci-analysis/lost-boards", asked),
        "incidents": {**pending, "items": merged[:INCIDENTS_FIRST], "limit": INCIDENTS_FIRST},
        "bands": [
            {
                "band": band,
                "incidents": sum(row["onMergeBranch"] for row in rows),
                "elsewhere": sum(not row["onMergeBranch"] for row in rows),
                "firstTest": next((row["tests"][0] for row in rows if row["onMergeBranch"]), None),
            }
            for band, rows in zip(BANDS, of_bands, strict=True)
        ],
        "incidentsElsewhere": len(pending["items"]) - len(merged),
        "pendingFailures": read("ci-failures", {**asked, **PENDING})["total"],
        "uncheckedMerges": read("ci-analysis/unchecked-merges", {**asked, **ROWS}),
        "flakyTests": flaked,
        "products": products,
        "unassignedRepositories": unassigned,
        "notComputed": [],
    }
