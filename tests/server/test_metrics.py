# SPDX-License-Identifier: Apache-2.0
"""The metrics page, its tables, failures and their review over HTTP (contract, "CI metrics").

The figures are the engine's and shown there; here it is seen that they arrive, whole and in shape.
"""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from hwci.contract.failures.failures import Failure, FailureEvidence, ResolvedFailure
from hwci.contract.page.metrics import MetricsPage
from hwci.contract.shape import ListPage
from hwci.server.app import SetCiMetrics
from hwci.wire.codec import adapter, plain
from tests.server.small_history import AS_OF, CONFIG, RUNS, START, failure_id, get, run
from tests.support.asking import Reply, ask, bearer, ci_key
from tests.support.running import MEMBER_EMAIL, NAME, RunningServer, report, running_in_thread


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that was told of a real bug (boot), a flake (usb) and a pending failure (adc)."""
    with running_in_thread(tmp_path_factory.mktemp("told")) as server:
        key = ci_key(server.ci_key)
        merge = {"repo_key": "acme/firmware", "branch": "main", "merged_at": START.isoformat()}
        ask(server.url, "PUT", "/api/ci/suite-config", key, json_body=CONFIG)
        for letter in "bf":
            body = {**merge, "sha": letter * 40}
            ask(server.url, "POST", "/api/ci/merge-announce", key, json_body=body)
        for body in RUNS:
            assert ask(server.url, "POST", "/api/ci/run-report", key, json_body=body).status == 204
        yield server


def review(server: RunningServer, failure_id: str, action: str, token: str | None = None) -> Reply:
    path = f"/api/orgs/{server.org_id}/ci-failures/{failure_id}/{action}"
    return ask(server.url, "POST", path, bearer(token or server.admin_token))


def test_the_page_has_four_tiles_and_four_tables(told: RunningServer) -> None:
    page = get(told, "ci-metrics")

    assert page["period"] == {
        "days": 30,
        "from": "2026-01-02T00:00:00Z",
        "to": "2026-02-01T00:00:00Z",
    }
    assert page["product"] is None
    assert page["tiles"] == {
        "mergesChecked": {"checked": 1, "announced": 2},
        "realFwBugs": {"real": 1, "benchOrHarness": 0, "ambiguous": 0, "dismissed": 0},
        "flakyFailures": {"count": 1},
        "infraRuns": {"infra": 0, "total": 3},
    }
    assert [row["sha"][0] for row in page["uncheckedMerges"]["items"]] == ["f"]
    assert [row["testId"] for row in page["realBugs"]["items"]] == ["boot"]
    assert page["otherFailures"] == {"items": [], "total": 0, "page": 1, "limit": 20}
    assert [row["testId"] for row in page["flakiestTests"]["items"]] == ["adc", "boot", "usb"]
    assert page == plain(adapter(MetricsPage).validate_python(page))


def test_a_real_bug_says_who_broke_it_and_who_fixed_it(told: RunningServer) -> None:
    (row,) = get(told, "ci-metrics/real-bugs")["items"]

    assert row["brokenBy"] == {
        "from": "b" * 40,
        "to": "b" * 40,
        "commits": [{"sha": "b" * 40, "subject": "Change b"}],
    }
    assert row["fix"] == {"sha": "c" * 40, "startedAt": "2026-01-10T03:00:00Z"}
    assert (row["class"], row["reason"], row["verdict"]) == ("real_fw_bug", None, "device")
    assert (row["status"], row["review"]) == ("Automatic", None)


def test_each_table_is_the_pages_table_by_pages(told: RunningServer) -> None:
    page = get(told, "ci-metrics")
    tables = {
        "unchecked-merges": "uncheckedMerges",
        "real-bugs": "realBugs",
        "other-failures": "otherFailures",
        "flakiest-tests": "flakiestTests",
    }
    for path, name in tables.items():
        assert get(told, f"ci-metrics/{path}") == page[name]
    second = get(told, "ci-metrics/flakiest-tests", f"{AS_OF}&limit=1&page=2")
    assert second == {
        "items": page["flakiestTests"]["items"][1:2],
        "total": 3,
        "page": 2,
        "limit": 1,
    }


def test_the_page_can_be_of_one_product_and_one_period(told: RunningServer) -> None:
    one = get(told, "ci-metrics", f"{AS_OF}&repoKey=acme/firmware&suite=hardware")
    repository = get(told, "ci-metrics", f"{AS_OF}&repoKey=acme/firmware")
    before = get(told, "ci-metrics", "asOf=2026-01-10T01:00:00%2B00:00&days=1")

    assert one["product"] == {"repoKey": "acme/firmware", "suite": "hardware"}
    assert one["tiles"]["mergesChecked"]["announced"] == 0
    assert repository["tiles"]["mergesChecked"]["announced"] == 2
    assert before["tiles"]["infraRuns"]["total"] == 1
    assert get(told, "ci-metrics", "asOf=0001-01-01T00:00:00Z&days=3650")["realBugs"]["total"] == 0


@pytest.mark.parametrize(
    ("query", "where"),
    [
        ("suite=x", ["query", "suite"]),
        ("asOf=2026-01-01", ["query", "asOf"]),
        ("repoKey=", ["query", "repoKey"]),
        ("repoKey=%00", ["query", "repoKey"]),
        ("label=broken", ["query", "label"]),
    ],
)
def test_a_filter_that_breaks_the_rules_is_400(
    told: RunningServer, query: str, where: list[str]
) -> None:
    path = f"/api/orgs/{told.org_id}/ci-failures?{query}"

    assert ask(told.url, "GET", path, bearer(told.token)).issue_paths == [where]


def test_products_and_configurations_are_listed(told: RunningServer) -> None:
    products = get(told, "products", "")["items"]
    configs = get(told, "suite-configs", "")["items"]

    assert products == [
        {
            "repoKey": "acme/firmware",
            "suite": "hardware",
            "configured": True,
            "mergeTrigger": False,
            "lastReportAt": "2026-01-10T03:00:00Z",
            "links": None,
        }
    ]
    assert configs[0]["triggerPaths"] is None
    assert configs[0]["harnessPaths"] == ["ci/**"]


def plan(server: RunningServer, body: dict[str, Any], query: str = AS_OF) -> Reply:
    path = f"/api/orgs/{server.org_id}/suite-configs/plan?{query}"
    return ask(server.url, "POST", path, bearer(server.token), json_body=body)


def test_a_plan_says_which_failures_a_configuration_would_class_otherwise(
    told: RunningServer,
) -> None:
    body = {**CONFIG, "firmware_paths": ["lib/**"]}
    before = get(told, "ci-metrics")
    found = plan(told, body).json

    assert found["period"] == {**before["period"], "days": 90, "from": "2025-11-03T00:00:00Z"}
    assert found["product"] == {"repoKey": "acme/firmware", "suite": "hardware"}
    assert found["before"] == before["tiles"]["realFwBugs"]
    assert found["after"] == {"real": 0, "benchOrHarness": 1, "ambiguous": 0, "dismissed": 0}
    assert {**found["changes"], "items": None} == {
        "items": None,
        "total": 1,
        "page": 1,
        "limit": 20,
    }
    (row,) = found["changes"]["items"]
    assert row == {
        "id": failure_id(told, "boot"),
        "repoKey": "acme/firmware",
        "suite": "hardware",
        "testId": "boot",
        "boxKey": "bench-1",
        "branch": "main",
        "sha": "b" * 40,
        "startedAt": "2026-01-10T01:00:00Z",
        "before": {"class": "real_fw_bug", "reason": None, "reasonText": None},
        "after": {
            "class": "bench_or_harness",
            "reason": "changes_not_firmware",
            "reasonText": "Commit under test did not touch firmware",
        },
        "review": None,
    }
    assert plan(told, body, f"{AS_OF}&page=2&limit=1").json["changes"]["items"] == []


def test_a_plan_keeps_nothing(told: RunningServer) -> None:
    before = get(told, "ci-metrics"), get(told, "suite-configs", "")
    assert plan(told, {**CONFIG, "suite": "new", "firmware_paths": []}).status == 200

    assert (get(told, "ci-metrics"), get(told, "suite-configs", "")) == before


def test_a_plan_comes_true_once_it_is_sent(told: RunningServer) -> None:
    body = {**CONFIG, "firmware_paths": ["lib/**"]}
    found = plan(told, body).json
    (row,) = found["changes"]["items"]
    key = ci_key(told.ci_key)
    try:
        ask(told.url, "PUT", "/api/ci/suite-config", key, json_body=body)
        assert get(told, "ci-metrics")["tiles"]["realFwBugs"] == found["after"]
        (now,) = get(told, "ci-metrics/other-failures")["items"]
        assert (now["id"], now["automatic"]) == (row["id"], row["after"])
    finally:
        ask(told.url, "PUT", "/api/ci/suite-config", key, json_body=CONFIG)
    assert get(told, "ci-metrics")["tiles"]["realFwBugs"] == found["before"]


def test_a_plan_of_a_broken_configuration_names_its_faults(told: RunningServer) -> None:
    reply = plan(told, {**CONFIG, "firmware_paths": ["a", "b?"]})

    assert reply.error[0] == 400
    assert [issue["path"] for issue in reply.json["issues"]] == [["body", "firmware_paths", 1]]


def test_the_product_that_reported_last_is_listed_first_and_a_silent_one_last(
    tmp_path: Path,
) -> None:
    with running_in_thread(tmp_path) as server:
        for number, (suite, hour) in enumerate({"a": 1, "z": 3, "m": 2}.items()):
            started = (START + timedelta(hours=hour)).isoformat()
            body = report(run_id=number, suite=suite, started_at=started)
            sent = ask(
                server.url, "POST", "/api/ci/run-report", ci_key(server.ci_key), json_body=body
            )
            assert sent.status == 204
        silent = {**CONFIG, "suite": "0-silent"}
        ask(server.url, "PUT", "/api/ci/suite-config", ci_key(server.ci_key), json_body=silent)

        listed = get(server, "products", "")["items"]

    assert [item["suite"] for item in listed] == ["z", "m", "a", "0-silent"]


def test_failures_are_listed_with_their_labels(told: RunningServer) -> None:
    everything = get(told, "ci-failures")
    labels = {(item["testId"], item["sha"][0]): item["label"] for item in everything["items"]}

    assert labels == {
        ("boot", "b"): "resolved",
        ("usb", "b"): "flake",
        ("adc", "b"): "pending",
        ("adc", "c"): "pending",
    }
    for label in ("resolved", "flake", "pending"):
        some = get(told, "ci-failures", f"{AS_OF}&label={label}")
        assert {item["label"] for item in some["items"]} == {label}
    assert adapter(ListPage[Failure]).validate_python(everything).total == 4


def test_a_failure_shows_what_its_answer_rests_on(told: RunningServer) -> None:
    found = get(told, f"ci-failures/{failure_id(told, 'boot')}", "")

    assert [(step["sha"][0], step["this"], step["passed"]) for step in found["timeline"]] == [
        ("b", True, False),
        ("c", False, True),
    ]
    assert found["underTest"][0]["files"] == [{"path": "src/boot.c", "kind": "firmware"}]
    assert found["beforeFix"][0]["sha"] == "c" * 40
    assert found["resolved"]["class"] == "real_fw_bug"
    assert adapter(FailureEvidence).validate_python(found).checks
    assert get(told, f"ci-failures/{failure_id(told, 'usb')}", "")["resolved"] is None


def test_every_run_of_the_evidence_leads_to_its_record_in_parts_or_whole(tmp_path: Path) -> None:
    failed = run("b", 9, {"boot": "fail"}, "src/boot.c")
    failed["ci_run"] = 71
    second = {**failed, "run_id": 3, "part_of": {"run_id": 9, "part": 2, "parts": 2}}
    first = {**failed, "tests": RUNS[1]["tests"], "part_of": {**second["part_of"], "part": 1}}
    fixed = run("c", 10, {"boot": "pass"}, "src/boot.c")
    with running_in_thread(tmp_path) as server:
        key = ci_key(server.ci_key)
        ask(server.url, "PUT", "/api/ci/suite-config", key, json_body=CONFIG)
        for body in (first, second, fixed):
            assert ask(server.url, "POST", "/api/ci/run-report", key, json_body=body).status == 204
        found = get(server, f"ci-failures/{failure_id(server, 'boot')}", "")
        shown = [one for commit in found["timeline"] for one in commit["runs"]]
        checked = [check["run"] for check in found["checks"] if check["run"]]
        records = {
            (one["runId"], get(server, f"runs/{one['runRecordId']}", "")["runId"])
            for one in (*shown, *checked)
        }

    assert records == {(9, 9), (10, 10)}
    assert {one["runId"] for one in shown} == {one["runId"] for one in checked} == {9, 10}
    numbers = {(one["runId"], one["ciRun"]) for one in (*shown, *checked)}
    assert numbers == {(9, 71), (10, None)}
    assert found["resolved"]["firstFailure"]["ciRun"] == 71


def test_a_failure_of_another_organization_is_404(told: RunningServer) -> None:
    registration = {
        "email": "thief@example.org",
        "password": "correct horse battery",
        "organization": "Thieves",
    }
    thief = ask(told.url, "POST", "/api/auth/register", json_body=registration).json
    org_id = thief["organization"]["id"]
    path = f"/api/orgs/{org_id}/ci-failures/{failure_id(told, 'boot')}"

    assert ask(told.url, "GET", path, bearer(thief["accessToken"])).status == 403
    told.operate(SetCiMetrics(org_id=UUID(org_id), enabled=True))
    for method, action in [("GET", ""), ("POST", "/confirm"), ("POST", "/reset")]:
        reply = ask(told.url, method, path + action, bearer(thief["accessToken"]))
        assert reply.error == (404, "Failure not found")


def test_a_review_replaces_the_automatic_label_until_it_is_reset(told: RunningServer) -> None:
    boot = failure_id(told, "boot")

    dismissed = review(told, boot, "dismiss").json
    assert (dismissed["class"], dismissed["reason"]) == ("dismissed", "dismissed")
    assert dismissed["reasonText"] == "Dismissed by an admin"
    assert dismissed["automatic"]["class"] == "real_fw_bug"
    assert dismissed["review"]["action"] == "dismiss"
    assert dismissed["status"] == "admin@example.org"
    assert get(told, "ci-metrics/other-failures")["items"] == [dismissed]

    confirmed = review(told, boot, "confirm", told.token).json
    assert (confirmed["class"], confirmed["status"]) == ("real_fw_bug", NAME)
    assert get(told, "ci-metrics/real-bugs")["items"] == [confirmed]

    reset = review(told, boot, "reset").json
    assert (reset["status"], reset["review"], reset["label"]) == ("Automatic", None, "resolved")
    assert adapter(ResolvedFailure).validate_python(reset).id


def test_what_a_review_cannot_be_is_409_and_says_what_the_failure_is(told: RunningServer) -> None:
    boot = failure_id(told, "boot")
    refused = {
        "already counted as a real firmware bug": review(told, boot, "confirm"),
        "no review to reset": review(told, boot, "reset"),
        "is a flake": review(told, failure_id(told, "usb"), "confirm"),
        "is pending": review(told, failure_id(told, "adc"), "dismiss"),
    }

    for words, reply in refused.items():
        assert reply.error[0] == 409
        assert words in reply.error[1]


def test_every_review_and_nothing_else_stands_in_the_audit_log(told: RunningServer) -> None:
    path = f"/api/orgs/{told.org_id}/audit-log"
    before = ask(told.url, "GET", path, bearer(told.admin_token)).json["total"]
    boot = failure_id(told, "boot")
    review(told, boot, "dismiss")
    review(told, boot, "dismiss")
    review(told, boot, "reset", told.token)

    log = ask(told.url, "GET", path, bearer(told.admin_token)).json

    assert log["total"] == before + 2
    assert [entry["action"] for entry in log["items"][:2]] == ["reset", "dismiss"]
    assert [entry["actor"]["name"] for entry in log["items"][:2]] == [NAME, "admin@example.org"]
    assert log["items"][1]["target"] == boot
    assert log["items"][1]["details"] == {
        "repoKey": "acme/firmware",
        "suite": "hardware",
        "testId": "boot",
        "boxKey": "bench-1",
        "branch": "main",
        "sha": "b" * 40,
        "classBefore": "real_fw_bug",
        "classAfter": "dismissed",
    }


def test_a_member_reads_and_does_not_review(told: RunningServer) -> None:
    reply = review(told, failure_id(told, "boot"), "dismiss", told.member_token)

    assert reply.error[0] == 403
    assert MEMBER_EMAIL not in str(get(told, "ci-metrics"))


def test_a_page_of_the_same_instant_changes_at_once_after_every_write(tmp_path: Path) -> None:
    def totals(server: RunningServer) -> tuple[int, ...]:
        page = get(server, "ci-metrics", f"{AS_OF}&limit=1")
        table = get(server, "ci-metrics/real-bugs", f"{AS_OF}&limit=1")
        pending = get(server, "ci-failures", f"{AS_OF}&label=pending")["total"]
        bugs = page["tiles"]["realFwBugs"]
        assert table == page["realBugs"]
        return (page["tiles"]["infraRuns"]["total"], pending, bugs["real"], bugs["ambiguous"])

    def tell(server: RunningServer, method: str, path: str, body: dict[str, Any]) -> None:
        key = ci_key(server.ci_key)
        assert ask(server.url, method, f"/api/ci/{path}", key, json_body=body).status == 204

    with running_in_thread(tmp_path) as server:
        assert totals(server) == (0, 0, 0, 0)
        tell(server, "POST", "run-report", RUNS[0])
        assert totals(server) == (1, 3, 0, 0)
        tell(server, "POST", "run-report", RUNS[2])
        assert totals(server) == (2, 2, 0, 2)
        tell(server, "POST", "run-report", RUNS[1])  # it began before the run just told of
        assert totals(server) == (3, 2, 0, 1)
        tell(server, "PUT", "suite-config", CONFIG)
        assert totals(server) == (3, 2, 1, 0)
        assert review(server, failure_id(server, "boot"), "dismiss").status == 200
        assert totals(server) == (3, 2, 0, 0)
