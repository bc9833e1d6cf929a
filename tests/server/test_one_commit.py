# SPDX-License-Identifier: Apache-2.0
"""One commit from reports to its answer, who sees which, and what is said of one that never ran."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from tests.support.asking import Reply, ask, ci_key
from tests.support.benches import Benches
from tests.support.running import Hands, running_in_thread

OWN: dict[str, Any] = {"repo_key": "acme/firmware", "suite": "hil"}
THEIRS: dict[str, Any] = {"repo_key": "acme/firmware", "suite": "secret"}
MAIN = [f"{number:02}" + "a" * 38 for number in range(30)]
PULL, COVERED, TWIN = "4f1c" + "d" * 36, "c" * 40, "4f1c" + "e" * 36
PLACE = "ci-analysis/commit?repoKey=acme/firmware"


def result(name: str, outcome: str) -> dict[str, Any]:
    return {"id": name, "outcome": outcome, "attempts": 2 if outcome == "fail" else 1} | {
        "duration_s": 1.0
    }


@pytest.fixture(scope="module")
def benches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Benches]:
    """Thirty commits of main that passed, and a pull request that fails, on two products."""
    hands = Hands()
    with running_in_thread(tmp_path_factory.mktemp("commit"), clock=hands) as server:
        benches = Benches(server, hands)
        for number, sha in enumerate(MAIN):
            fields = {"run_id": number, "sha": sha, "branch": "main", "covers_shas": [COVERED]}
            tests = [result("boot", "pass")]
            assert benches.report(**OWN, **fields, tests=tests).status == 204
            hands.move(minutes=1)
        changes = {
            "base_sha": MAIN[-1],
            "commits": [{"sha": PULL, "subject": "Faster", "files": []}],
        }
        pull = {"branch": "topic", "sha": PULL, "changes": changes}
        for number, box in enumerate(("bench-1", "bench-2"), 100):
            tests = [result("boot", "fail")]
            assert benches.report(**OWN, **pull, run_id=number, box_key=box, tests=tests)
        for number in range(200, 210):
            tests = [result("secret-test", "fail")]
            there = {"branch": "secret-branch", "sha": PULL, "box_key": "secret-box"}
            assert benches.report(**THEIRS, **there, run_id=number, tests=tests)
        benches.report(**OWN, branch="topic", sha=TWIN, run_id=300)
        for number in range(40):
            body = {**THEIRS, "branch": "secret-branch", "sha": f"{number:040x}"}
            body["merged_at"] = benches.times()["started_at"]
            ask(server.url, "POST", "/api/ci/merge-announce", ci_key(server.ci_key), json_body=body)
        yield benches


def test_a_commit_is_answered_by_its_first_digits(benches: Benches) -> None:
    found = benches.member("GET", f"{PLACE}&suite=hil&sha=4f1cDDD").json

    assert (found["sha"], found["subject"], found["checked"]) == (PULL, "Faster", True)
    assert found["baseBranch"] == "main"
    assert [(run["boxKey"], run["failed"]) for run in found["runs"]] == [
        ("bench-1", 1),
        ("bench-2", 1),
    ]
    [failure] = found["failures"]
    assert (failure["testId"], failure["whose"]) == ("boot", "this_change")
    assert found["counts"] == [{"whose": "this_change", "failures": 1}]
    shown = benches.member("GET", f"ci-failures/{failure['failureId']}")
    assert shown.status == 200


def test_a_commit_that_no_run_has_is_404_and_says_where_it_is(benches: Benches) -> None:
    def error(query: str) -> tuple[int, str]:
        return benches.member("GET", f"{PLACE}&{query}").error

    status, unknown = error("sha=bbbbbbb")
    assert status == 404
    assert unknown.endswith(" is of a commit bbbbbbb of acme/firmware")
    assert error(f"sha={COVERED}")[1].endswith(
        f"of acme/firmware; it was tested with {MAIN[0][:12]}: ask for that one"
    )
    assert error("sha=4f1c") == (404, f"2 commits begin with 4f1c: {PULL}, {TWIN}")
    before = f"sha={PULL}&asOf=2001-01-01T00:00:00Z"
    assert "; its last run began on " in error(before)[1]


def test_a_key_of_one_product_sees_that_alone(benches: Benches) -> None:
    product = {"repoKey": OWN["repo_key"], "suite": OWN["suite"]}
    made = benches.member("POST", "reader-keys", {"name": "wall", "products": [product]})

    def seen(query: str) -> Reply:
        path = f"/api/orgs/{benches.server.org_id}/ci-analysis/commit?sha={PULL}&{query}"
        return ask(benches.server.url, "GET", path, ci_key(str(made.json["apiKey"])))

    repository = f"repoKey={quote(OWN['repo_key'], safe='')}"
    assert seen(repository).status == 403
    assert seen(f"{repository}&suite=secret").status == 403
    own = seen(f"{repository}&suite=hil")
    assert own.status == 200
    assert "secret" not in str(own.json)
