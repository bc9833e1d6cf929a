# SPDX-License-Identifier: Apache-2.0
"""The default branch apart from all others, over HTTP (contract, "CI metrics"): flaky tests, what
fails now, and boxes, by the runs of some branches.
"""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from tests.support.asking import Reply, ask, ci_key
from tests.support.benches import Benches
from tests.support.running import Hands, running_in_thread

OWN = {"repo_key": "acme/firmware", "suite": "hil"}
STRANGE = ["it's", "100%", "a&branch=main", "%00", "Ünïcode 🐞", "../..", "<b>", "a b", "x" * 200]
ROUTES = ["flaky-tests", "flaky-tests/history", "incidents", "boxes", "box"]
BOX = "boxKey=bench-1"


def result(outcome: str) -> list[dict[str, Any]]:
    return [{"id": "boot", "outcome": outcome, "attempts": 1, "duration_s": 1.0}]


@pytest.fixture(scope="module")
def benches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Benches]:
    """Runs that pass on `main`, to which there is a merge; on `topic` a flake and a failure on a
    box of its own, and a failure on each branch with a strange name.
    """
    hands = Hands()
    with running_in_thread(tmp_path_factory.mktemp("branches"), clock=hands) as server:
        benches = Benches(server, hands)
        runs = [("main", "a", "pass", "bench-1"), ("main", "b", "pass", "bench-1")]
        runs += [("topic", "c", "fail", "bench-1"), ("topic", "c", "pass", "bench-1")]
        runs += [("topic", "d", "fail", "bench-2")]
        runs += [(name, "e", "fail", "bench-1") for name in STRANGE]
        for number, (branch, letter, outcome, box) in enumerate(runs):
            of = {"branch": branch, "sha": letter * 40, "box_key": box, "run_id": number}
            benches.report(**OWN, **of, tests=result(outcome))
        body = {**OWN, "sha": "a" * 40, "branch": "main"}
        body["merged_at"] = benches.times()["started_at"]
        sent = ask(
            server.url, "POST", "/api/ci/merge-announce", ci_key(server.ci_key), json_body=body
        )
        assert sent.status == 204, sent.body
        yield benches


def reply(benches: Benches, path: str, query: str = "") -> Reply:
    own = f"{BOX}&{query}" if path == "box" else query
    return benches.member("GET", f"ci-analysis/{path}?{own}")


def answer(benches: Benches, path: str, query: str = "") -> Any:
    got = reply(benches, path, query)
    assert got.status == 200, got.body
    return got.json


def attempts(benches: Benches, query: str = "") -> list[tuple[int, int, int]]:
    return [
        (row["runReports"], row["failedAttempts"], row["flakyFailures"])
        for row in answer(benches, "flaky-tests", query)["items"]
    ]


def test_a_test_that_is_flaky_on_a_pull_request_alone_is_not_flaky_on_the_default_branch(
    benches: Benches,
) -> None:
    every = len(STRANGE)

    assert attempts(benches) == [(5 + every, 2 + every, 1)]
    assert attempts(benches, "branch=default") == []
    assert attempts(benches, "branch=others") == [(3 + every, 2 + every, 1)]
    assert attempts(benches, "branch=topic") == attempts(benches, "branch=to*") == [(3, 2, 1)]
    history = answer(benches, "flaky-tests/history", "branch=topic")["items"]
    assert [[box["attempts"] for box in row["boxes"]] for row in history] == [[2, 1]]
    assert answer(benches, "flaky-tests/history", "branch=default")["items"] == []
    (row,) = answer(benches, "flaky-tests", "branch=topic")["items"]
    assert [of["flakeRate"]["total"] for of in row["onBoxes"]] == [2, 1]


def test_incidents_of_the_default_branch_and_of_the_others_are_all(benches: Benches) -> None:
    def listed(query: str = "") -> list[tuple[str, bool]]:
        rows = answer(benches, "incidents", f"limit=100&{query}")["items"]
        return sorted((row["id"], row["onMainBranch"]) for row in rows)

    assert len(listed()) == 1 + len(STRANGE)
    assert listed("branch=default") == [row for row in listed() if row[1]]
    assert listed("branch=others") == [row for row in listed() if not row[1]]


def test_boxes_are_those_that_ran_these_branches(benches: Benches) -> None:
    def boxes(query: str = "") -> dict[str, int]:
        rows = answer(benches, "boxes", query)["boxes"]
        return {row["boxKey"]: row["neverReached"]["total"] for row in rows}

    every = len(STRANGE)
    assert boxes() == {"bench-1": 4 + every, "bench-2": 1}
    assert boxes("branch=default") == {"bench-1": 2}
    assert boxes("branch=others") == {"bench-1": 2 + every, "bench-2": 1}
    assert answer(benches, "box", "branch=default")["shares"]["reached"]["total"] == 2
    assert answer(benches, "box", "branch=gone")["box"] is None


@pytest.mark.parametrize("name", STRANGE)
def test_a_branch_is_found_by_its_name_whatever_signs_that_has(benches: Benches, name: str) -> None:
    query = urlencode({"branch": name})

    assert attempts(benches, query) == [(1, 1, 0)]
    assert [row["branch"] for row in answer(benches, "incidents", query)["items"]] == [name]
    assert [row["boxKey"] for row in answer(benches, "boxes", query)["boxes"]] == ["bench-1"]


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize("choice", ["a**b", "", "x" * 1_025, "\0"])
def test_what_can_be_no_branch_is_refused(benches: Benches, path: str, choice: str) -> None:
    refused = reply(benches, path, f"branch={quote(choice)}")

    assert refused.status == 400
    assert refused.json["issues"][0]["path"] == ["query", "branch"]


@pytest.mark.parametrize("path", ["ci-metrics", "ci-metrics/flakiest-tests"])
def test_the_specifications_page_stays_over_all_branches(benches: Benches, path: str) -> None:
    assert benches.member("GET", f"{path}?branch=default").status == 400


@pytest.mark.parametrize("path", ROUTES)
def test_an_answer_has_the_tag_of_its_branches_alone(benches: Benches, path: str) -> None:
    tags = {reply(benches, path, query).headers["etag"] for query in ("", "branch=default")}

    assert len(tags) == 2


def test_a_key_of_one_product_sees_the_runs_of_its_own_alone(benches: Benches) -> None:
    benches.report(
        repo_key="acme/firmware", suite="secret", branch="topic", run_id=99, sha="f" * 40,
        box_key="secret-box", tests=result("fail"),
    )  # fmt: skip
    product = {"repoKey": OWN["repo_key"], "suite": OWN["suite"]}
    made = benches.member("POST", "reader-keys", {"name": "wall", "products": [product]})
    own = f"{urlencode({'repoKey': OWN['repo_key'], 'suite': 'hil'})}&branch=others"
    for path in ("flaky-tests", "incidents", "boxes"):
        address = f"/api/orgs/{benches.server.org_id}/ci-analysis/{path}"
        key = ci_key(made.json["apiKey"])
        assert ask(benches.server.url, "GET", f"{address}?branch=others", key).status == 403
        seen = ask(benches.server.url, "GET", f"{address}?{own}", key)
        assert seen.status == 200
        assert b"secret" not in seen.body
        assert b"boot" in seen.body or b"bench-2" in seen.body
