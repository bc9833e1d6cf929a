# SPDX-License-Identifier: Apache-2.0
"""Several reviews at once (contract, "Answers beside the rules"): all or none, and none of what
somebody else reviewed meanwhile.
"""

from typing import Any

import pytest

from hwci.wire import limits
from tests.server.tenants import OURS, Tenant, found, tell
from tests.support.asking import Reply, ask, bearer, ci_key
from tests.support.running import RunningServer, report

TABLES = "ci-metrics/real-bugs", "ci-metrics/other-failures"


@pytest.fixture(scope="module")
def tenant(server: RunningServer) -> Tenant:
    return found(server, OURS)


@pytest.fixture
def rows(server: RunningServer, tenant: Tenant) -> dict[str, Any]:
    """Two failures that nobody reviewed: a real firmware bug and one of the harness."""
    path = f"{tenant.path}/ci-failures"
    told = {
        name: tell(server.url, "GET", f"{path}/{tenant.ids[name]}", bearer(tenant.owner))
        for name in ("real", "harness")
    }
    assert [one["resolved"]["review"] for one in told.values()] == [None, None]
    return {name: one["resolved"] for name, one in told.items()}


def together(server: RunningServer, tenant: Tenant, *reviews: dict[str, Any]) -> Reply:
    body = {"reviews": [{"seenReviewAt": None, **one} for one in reviews]}
    return ask(
        server.url, "POST", f"{tenant.path}/ci-reviews", bearer(tenant.owner), json_body=body
    )


def undo(server: RunningServer, tenant: Tenant, *items: Any) -> None:
    reviews = [
        {"failureId": one["id"], "action": "reset", "seenReviewAt": one["review"]["at"]}
        for one in items
    ]
    assert together(server, tenant, *reviews).status == 200


def audit(server: RunningServer, tenant: Tenant) -> list[tuple[str, str]]:
    path = f"{tenant.path}/audit-log?limit=100"
    items = tell(server.url, "GET", path, bearer(tenant.owner))["items"]
    return [(one["action"], one["target"]) for one in items]


def test_each_review_has_its_words_its_entry_and_can_be_taken_back(
    server: RunningServer, tenant: Tenant, rows: dict[str, Any]
) -> None:
    real, harness = rows["real"]["id"], rows["harness"]["id"]
    before = audit(server, tenant)

    answer = together(
        server,
        tenant,
        {"failureId": harness, "action": "confirm", "note": "a race"},
        {"failureId": harness, "action": "dismiss"},
        {"failureId": real, "action": "dismiss", "note": "loose cable"},
    )

    assert answer.status == 200
    items = answer.json["items"]
    assert [(one["id"], one["class"], one["review"]["note"]) for one in items] == [
        (harness, "dismissed", None),
        (real, "dismissed", "loose cable"),
    ]
    new = audit(server, tenant)[: len(audit(server, tenant)) - len(before)]
    assert sorted(new) == sorted([("confirm", harness), ("dismiss", harness), ("dismiss", real)])
    undo(server, tenant, *items)


def test_where_one_is_refused_none_is_made(
    server: RunningServer, tenant: Tenant, rows: dict[str, Any]
) -> None:
    before = audit(server, tenant)
    real, harness = rows["real"], rows["harness"]

    answer = together(
        server,
        tenant,
        {"failureId": harness["id"], "action": "confirm"},
        {"failureId": real["id"], "action": "confirm"},
    )

    assert answer.status == 409
    said = "This failure is already counted as a real firmware bug."
    assert f"{real['testId']} on {real['boxKey']}: {said}" in answer.json["message"]
    assert audit(server, tenant) == before
    path = f"{tenant.path}/ci-failures/{harness['id']}"
    assert tell(server.url, "GET", path, bearer(tenant.owner))["resolved"] == harness


def test_what_somebody_reviewed_meanwhile_is_not_changed(
    server: RunningServer, tenant: Tenant, rows: dict[str, Any]
) -> None:
    confirm = {"failureId": rows["harness"]["id"], "action": "confirm"}
    (first,) = together(server, tenant, confirm).json["items"]
    dismiss = {**confirm, "action": "dismiss"}  # of a real bug it is allowed

    answer = together(server, tenant, dismiss)

    assert answer.status == 409
    assert "reviewed it meanwhile. Nothing was changed" in answer.json["message"]
    seen = {**dismiss, "seenReviewAt": first["review"]["at"]}
    answer = together(server, tenant, seen)
    assert answer.status == 200
    undo(server, tenant, *answer.json["items"])
    gone = together(server, tenant, {**confirm, "seenReviewAt": first["review"]["at"]})
    assert gone.status == 409
    assert "A review was reset meanwhile" in gone.json["message"]


@pytest.mark.parametrize(
    "change", [{"action": "close"}, {"note": ""}, {"failureId": "x"}, {"seenReviewAt": "now"}]
)
def test_a_faulty_review_is_named(
    server: RunningServer, tenant: Tenant, rows: dict[str, Any], change: dict[str, Any]
) -> None:
    confirm = {"failureId": rows["harness"]["id"], "action": "confirm"}

    answer = together(server, tenant, confirm, {**confirm, **change})

    assert answer.status == 400
    (name,) = change
    assert answer.json["issues"][0]["path"] == ["body", "reviews", 1, name]


def test_the_causes_have_the_failures_of_the_tables_each_once(
    server: RunningServer, tenant: Tenant
) -> None:
    def read(path: str) -> Any:
        return tell(server.url, "GET", f"{tenant.path}/{path}", bearer(tenant.member))

    def failures(query: str) -> list[Any]:
        causes = read(f"ci-analysis/causes?days=3650&limit=100&{query}")["items"]
        assert all(one["failuresTotal"] == len(one["failures"]) for one in causes)
        return sorted((row for one in causes for row in one["failures"]), key=str)

    tables = [read(f"{table}?days=3650&limit=100")["items"] for table in TABLES]
    assert failures("table=realBugs") == sorted(tables[0], key=str)
    assert failures("table=otherFailures") == sorted(tables[1], key=str)
    every = sorted([row for table in tables for row in table], key=str)
    assert failures("") == every
    assert failures("class=dismissed") == [row for row in every if row["class"] == "dismissed"]
    assert failures("toReview=true") == [row for row in every if row["review"] is None]
    assert failures("reviewed=true") == [row for row in every if row["review"] is not None]
    assert {row["review"] is None for row in every} == {True, False}


def test_a_cause_tells_its_message_and_the_commits_that_it_names(server: RunningServer) -> None:
    org = found(server, "told")
    for number, (outcome, files) in enumerate(
        (("pass", []), ("fail", ["src/a.c", "src/b.c", "hil/x.py"]), ("pass", ["src/a.c"]))
    ):
        message = {"message": "no ACK\nat 0x1f"} if outcome == "fail" else {}
        test = {"id": "uart", "outcome": outcome, "attempts": 1, "duration_s": 1, **message}
        sha, base = f"{number + 10:040x}", f"{number + 9:040x}"
        commit = {"sha": sha, "subject": f"Change {number}", "files": files}
        body = report(
            run_id=number + 10,
            sha=sha,
            box_key="bench-9",
            tests=[test],
            changes={"base_sha": base, "commits": [commit]},
        )
        tell(server.url, "POST", "/api/ci/run-report", ci_key(org.ci_key), body=body)

    path = f"{org.path}/ci-analysis/causes?days=3650&search=uart"
    (cause,) = tell(server.url, "GET", path, bearer(org.member))["items"]

    failed = [one["id"] for one in cause["failures"]]
    assert cause["messages"] == [{"line": "no ACK", "failures": 1, "failureIds": failed}]
    assert cause["messagesTotal"] == 1
    assert cause["commits"] == [
        {
            "sha": f"{11:040x}",
            "subject": "Change 1",
            "files": [
                {"kind": "firmware", "total": 2, "first": "src/a.c"},
                {"kind": "harness", "total": 1, "first": "hil/x.py"},
            ],
            "filesTruncated": False,
        },
        {
            "sha": f"{12:040x}",
            "subject": "Change 2",
            "files": [{"kind": "firmware", "total": 1, "first": "src/a.c"}],
            "filesTruncated": False,
        },
    ]


def test_what_was_reviewed_last_is_listed_first(
    server: RunningServer, tenant: Tenant, rows: dict[str, Any]
) -> None:
    path = f"{tenant.path}/ci-analysis/causes?days=3650&reviewed=true"
    confirm = {"failureId": rows["harness"]["id"], "action": "confirm"}

    (now,) = together(server, tenant, confirm).json["items"]

    listed = tell(server.url, "GET", path, bearer(tenant.member))["items"]
    assert [[row["testId"] for row in one["failures"]] for one in listed] == [["spi"], ["adc"]]
    undo(server, tenant, now)


def test_a_message_names_the_failures_that_its_cause_lists_and_counts_all(
    server: RunningServer,
) -> None:
    org = found(server, "listed")
    number = limits.INCIDENT_MAX + 1
    for place, outcome in enumerate(("pass", "fail", "pass"), 20):
        message = {"message": "no clock"} if outcome == "fail" else {}
        one = {"outcome": outcome, "attempts": 1, "duration_s": 1, **message}
        tests = [{"id": f"spi_{at}", **one} for at in range(number)]
        body = report(run_id=place, sha=f"{place:040x}", box_key="bench-8", tests=tests)
        tell(server.url, "POST", "/api/ci/run-report", ci_key(org.ci_key), body=body)

    path = f"{org.path}/ci-analysis/causes?days=3650&search=spi_"
    (cause,) = tell(server.url, "GET", path, bearer(org.member))["items"]

    (told,) = cause["messages"]
    assert (cause["failuresTotal"], told["failures"]) == (number, number)
    assert sorted(told["failureIds"]) == sorted(one["id"] for one in cause["failures"])
    assert len(told["failureIds"]) == limits.INCIDENT_MAX
