# SPDX-License-Identifier: Apache-2.0
"""A reader key that is bound to a product finds nothing of others by box, branch or commit: not
their rows, and not the names of their boxes, branches and tests in rows of its own.
"""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from hwci.server.routes.table import ROUTES
from hwci.wire.endpoint import Endpoint, Who
from hwci.wire.queries import CommitQuery
from tests.support.asking import ask, ci_key
from tests.support.benches import Benches
from tests.support.running import Hands, running_in_thread

OWN = {"repo_key": "acme/firmware", "suite": "hil"}
THEIRS = {**OWN, "suite": "secret-suite"}
A, B, C = "a" * 40, "b" * 40, "c" * 40
SECRETS = ("secret-suite", "secret-box", "secret-branch", "secret-test")
FILTERS = ("boxKey=secret-box", "branch=secret-branch", f"sha={C}")
OF_ROWS = [
    route
    for route in ROUTES
    if route.who is Who.READER
    and route.query is not None
    and (issubclass(route.query, CommitQuery) or route.path.endswith("/runs"))
]
"""The lists that are narrowed by box, branch and commit."""


def result(name: str, outcome: str) -> dict[str, Any]:
    return {"id": name, "outcome": outcome, "attempts": 1, "duration_s": 1.0}


@pytest.fixture(scope="module")
def benches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Benches]:
    """Two products of a repository, on boxes and branches of their own. The other one alone ran on
    a merge of ours, and failed on the commits of both.
    """
    hands = Hands()
    with running_in_thread(tmp_path_factory.mktemp("bound"), clock=hands) as server:
        benches = Benches(server, hands)
        for number, (sha, outcome) in enumerate(((A, "fail"), (B, "pass"))):
            tests = [result("boot", outcome)]
            benches.report(**OWN, run_id=number, sha=sha, box_key="bench-1", tests=tests)
        there = {"box_key": "secret-box", "branch": "secret-branch"}
        for number, sha in enumerate((A, C), 10):
            tests = [result("secret-test", "fail")]
            benches.report(**THEIRS, **there, run_id=number, sha=sha, tests=tests)
        for sha, of in ((A, OWN), (C, OWN), (C, THEIRS)):
            branch = "main" if of is OWN else "secret-branch"
            at = benches.times()["started_at"]
            body = {**of, "sha": sha, "branch": branch, "merged_at": at}
            path = "/api/ci/merge-announce"
            sent = ask(server.url, "POST", path, ci_key(server.ci_key), json_body=body)
            assert sent.status == 204, sent.body
        yield benches


@pytest.fixture(scope="module")
def key(benches: Benches) -> str:
    product = {"repoKey": OWN["repo_key"], "suite": OWN["suite"]}
    made = benches.member("POST", "reader-keys", {"name": "wall", "products": [product]})
    return str(made.json["apiKey"])


def rows(benches: Benches, key: str | None, route: Endpoint, query: str) -> list[Any]:
    """Return the rows of a list of our product; without a key, what a member sees of all."""
    path = route.path.removeprefix("/api/orgs/{orgId}/")
    of_own = f"repoKey={quote(OWN['repo_key'], safe='')}&suite=hil"
    table = "&table=realBugs" if "table" in (route.query or CommitQuery).model_fields else ""
    if key is None:
        reply = benches.member("GET", f"{path}?{query}{table}")
    else:
        address = f"/api/orgs/{benches.server.org_id}/{path}?{of_own}&{query}{table}"
        reply = ask(benches.server.url, "GET", address, ci_key(key))
    assert reply.status == 200, reply.body
    page = reply.json["runs"] if path.endswith("merge-plan") else reply.json
    return list(page["items"])


def name(route: Endpoint) -> str:
    return route.path.rpartition("{orgId}/")[2]


@pytest.mark.parametrize("asked", FILTERS)
@pytest.mark.parametrize("route", OF_ROWS, ids=name)
def test_a_bound_key_finds_nothing_by_what_is_of_others(
    benches: Benches, key: str, route: Endpoint, asked: str
) -> None:
    by_box = "box_key" in (route.query or CommitQuery).model_fields
    if asked.startswith("boxKey") and not by_box:
        asked = "branch=secret-branch"  # its rows have no box
    found = rows(benches, key, route, asked)

    assert [word for word in SECRETS if word in json.dumps(found)] == []
    if not asked.startswith("sha"):  # of that commit is a merge of ours
        assert found == []


@pytest.mark.parametrize("asked", FILTERS)
def test_a_member_finds_by_the_same_what_is_of_them(benches: Benches, asked: str) -> None:
    by_name = {name(route): route for route in OF_ROWS}

    for of in ("runs", "ci-failures", "ci-analysis/incidents", "ci-analysis/merges"):
        assert rows(benches, None, by_name[of], asked), of
    assert len(OF_ROWS) >= 10


@pytest.mark.parametrize("route", OF_ROWS, ids=name)
def test_rows_of_ones_own_name_nothing_of_others(
    benches: Benches, key: str, route: Endpoint
) -> None:
    found = json.dumps([*rows(benches, key, route, ""), *rows(benches, key, route, f"sha={A}")])

    assert [word for word in SECRETS if word in found] == []
