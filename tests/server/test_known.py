# SPDX-License-Identifier: Apache-2.0
"""A name that nothing of the organization has is 404 with the nearest ones (contract)."""

from collections.abc import Iterator
from typing import Any

import pytest

from hwci.server.routes.table import ROUTES
from hwci.wire.endpoint import Endpoint
from hwci.wire.queries import BoxQuery
from tests.support.asking import ask, bearer, ci_key
from tests.support.benches import Benches
from tests.support.running import Hands, running_in_thread

TABLES = ("", "/trend", "/real-bugs", "/flakiest-tests", "/flakiest-tests/history")
READS = (*(f"ci-metrics{table}" for table in TABLES), "ci-failures", "runs")
MERGE: dict[str, Any] = {"sha": "a" * 40, "branch": "main", "merged_at": "2026-03-01T10:00:00Z"}


@pytest.fixture(scope="module")
def benches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Benches]:
    """A server where a report, a live run and a merge each name a repository of its own."""
    hands = Hands()
    with running_in_thread(tmp_path_factory.mktemp("known"), clock=hands) as server:
        benches = Benches(server, hands)
        assert benches.report(repo_key="acme/sensor", suite="boot", box_key="bench-7").status == 204
        benches.opened(benches.installed("bench-8"), repo_key="other/live", box_key="bench-8")
        body = {**MERGE, "repo_key": "other/gateway"}
        ask(server.url, "POST", "/api/ci/merge-announce", ci_key(server.ci_key), json_body=body)
        yield benches


@pytest.mark.parametrize("read", READS)
def test_an_unknown_repository_or_product_is_404(benches: Benches, read: str) -> None:
    start = "Nothing that was reported to this organization names the"

    assert benches.member("GET", f"{read}?repoKey=acme/sensr").error == (
        404,
        f"{start} repository 'acme/sensr'; did you mean acme/sensor?",
    )
    assert benches.member("GET", f"{read}?repoKey=acme/sensor&suite=bot").error == (
        404,
        f"{start} product 'bot' in acme/sensor; did you mean boot?",
    )


def test_a_suite_where_none_was_named_is_404_without_a_guess(benches: Benches) -> None:
    status, message = benches.member("GET", "ci-metrics?repoKey=other/gateway&suite=boot").error

    assert status == 404
    assert message == (
        "Nothing that was reported to this organization names the product 'boot' in other/gateway;"
        " only merges that were announced without a suite are known there; leave the suite out"
    )


@pytest.mark.parametrize("repository", ["acme/sensor", "other/live", "other/gateway"])
def test_what_was_reported_opened_or_announced_is_known(benches: Benches, repository: str) -> None:
    for read in READS:
        assert benches.member("GET", f"{read}?repoKey={repository}").status == 200


def test_an_unknown_box_is_404_and_one_that_only_reported_is_known(benches: Benches) -> None:
    status, message = benches.member("GET", "runs?boxKey=bench7").error

    assert status == 404
    assert message.endswith("names the box 'bench7'; did you mean bench-7 or bench-8?")
    for box in ("bench-7", "bench-8"):
        assert benches.listed(f"&boxKey={box}")


OF_A_BOX = [
    route for route in ROUTES if route.query is not None and issubclass(route.query, BoxQuery)
]
NEEDED = {"repoKey": "acme/sensor", "suite": "boot", "testId": "boot", "table": "realBugs"}


def test_each_query_with_a_box_is_a_query_of_a_box() -> None:
    with_box = [
        route
        for route in ROUTES
        if route.query is not None and "box_key" in route.query.model_fields
    ]

    assert with_box == OF_A_BOX
    assert len(OF_A_BOX) > 10


@pytest.mark.parametrize("route", OF_A_BOX, ids=[route.path for route in OF_A_BOX])
def test_each_query_of_a_box_is_404_with_the_nearest(benches: Benches, route: Endpoint) -> None:
    fields = route.query.model_fields if route.query else {}
    names = {field.alias or name for name, field in fields.items() if field.is_required()}
    needed = "".join(f"&{name}={value}" for name, value in NEEDED.items() if name in names)
    path = route.path.removeprefix("/api/orgs/{orgId}/")
    unknown = benches.member("GET", f"{path}?boxKey=bench7{needed}")
    known = benches.member("GET", f"{path}?boxKey=bench-7{needed}")

    status, message = unknown.error
    assert status == 404
    assert message.endswith("names the box 'bench7'; did you mean bench-7 or bench-8?")
    assert known.status == 200


def test_names_of_another_organization_are_neither_known_nor_told(benches: Benches) -> None:
    me = bearer(benches.token)
    made = ask(benches.server.url, "POST", "/api/orgs", me, json_body={"name": "Other"})
    path = f"/api/orgs/{made.json['id']}/runs?repoKey=acme/sensr&boxKey=bench7"
    reply = ask(benches.server.url, "GET", path, me)

    assert (reply.status, reply.json["items"]) == (200, [])


def test_a_key_that_is_bound_to_products_is_told_no_other_name(benches: Benches) -> None:
    product = {"repoKey": "acme/sensor", "suite": "bot"}
    body = {"name": "dashboard", "products": [product]}
    key = benches.member("POST", "reader-keys", body).json["apiKey"]

    def status_of(query: str) -> int:
        path = f"/api/orgs/{benches.server.org_id}/runs?{query}"
        return ask(benches.server.url, "GET", path, ci_key(key)).status

    assert status_of("repoKey=acme/sensor&suite=bot") == 200  # its maker named it
    assert status_of("repoKey=acme/sensor&suite=bot&boxKey=bench7") == 200
    assert status_of("repoKey=acme/sensor&suite=boot") == 403
