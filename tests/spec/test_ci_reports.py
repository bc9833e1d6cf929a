# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - rows stand as the specification has them
"""The three CI report endpoints and their rules (spec, "CI report endpoints")."""

import pytest

from tests.spec.quoting import shows
from tests.spec.service import (
    ANNOUNCE,
    CONFIGURE,
    REPORT,
    Json,
    Service,
    announcement,
    at,
    configuration,
    failed,
    item,
    passed,
    report,
    sha,
)
from tests.support.asking import ask, bearer

ROWS = {
    "| POST | `/api/ci/merge-announce` | merge announcement | 204, no body |": announcement(),
    "| POST | `/api/ci/run-report` | run report | 204, no body |": report("a", 1, passed()),
    "| PUT | `/api/ci/suite-config` | suite configuration | 204, no body |": configuration(),
}
RULE_1 = "1. A body that breaks the field rules gives 400."
RULE_2 = "2. A missing, wrong or revoked `X-API-Key` gives 401."
RULE_3 = "3. Repeating an announcement with the same identity changes nothing; repeating a run report with the same identity replaces the first; a suite configuration replaces the previous one for the product."
RULE_4 = "4. Send the merge announcement from a job that does not need the hardware, so merges are counted when the runner is offline. When a merge starts several products' suites, one announcement per product is sent."
RULE_5 = "5. A run report is sent at the end of each attempt, whether the run passed or failed; one report per box when a run uses several boxes."
STATUS_400 = "| 400 | Request body breaks the field rules (including CI report endpoints) |"
STATUS_401 = "| 401 | CI report endpoint called with no key, a wrong key or a revoked key |"


def endpoint_of(row: str) -> tuple[str, str]:
    method, path, *_ = row.strip("| ").split(" | ")
    return method, path.strip("`")


def test_the_rows_name_the_endpoints_of_the_other_tests() -> None:
    assert [endpoint_of(row) for row in ROWS] == [ANNOUNCE, REPORT, CONFIGURE]


@shows(*ROWS)
@pytest.mark.parametrize("row", ROWS)
def test_a_good_body_is_204_without_a_body_and_is_kept(service: Service, row: str) -> None:
    reply = service.send(endpoint_of(row), ROWS[row])

    assert (reply.status, reply.body) == (204, b"")
    kept = {
        ANNOUNCE: service.page()["uncheckedMerges"]["total"],
        REPORT: service.tiles()["infraRuns"]["total"],
        CONFIGURE: service.get("suite-configs")["total"],
    }
    assert {endpoint: count for endpoint, count in kept.items() if count} == {endpoint_of(row): 1}


@shows(*ROWS)
@pytest.mark.parametrize("row", ROWS)
def test_an_endpoint_takes_its_own_method_alone(service: Service, row: str) -> None:
    method, path = endpoint_of(row)
    for other in {"GET", "POST", "PUT", "PATCH", "DELETE"} - {method}:
        assert service.send((other, path), ROWS[row]).error[0] == 405


@shows(RULE_1, STATUS_400)
@pytest.mark.parametrize("row", ROWS)
def test_a_body_that_breaks_the_field_rules_is_400_and_nothing_is_kept(
    service: Service, row: str
) -> None:
    good = ROWS[row]
    for name in ("repo_key", "branch", "firmware_paths", "tests"):
        if name in good:
            reply = service.send(endpoint_of(row), {**good, name: 7})
            assert reply.issue_paths == [["body", name]]
            assert reply.json["error"] == "Bad Request"
    for body in ([], "text", 7, [good]):
        assert service.send(endpoint_of(row), body).issue_paths == [["body"]]
    assert service.get("products")["total"] == 0
    assert service.tiles()["mergesChecked"]["announced"] == 0


@shows(RULE_1)
def test_every_fault_of_a_body_is_named(service: Service) -> None:
    body = report("a", 1, passed(attempts=0), item("usb", "skip"), hello_ok="yes")

    assert service.send(REPORT, body).issue_paths == [
        ["body", "hello_ok"],
        ["body", "tests", 0, "attempts"],
        ["body", "tests", 1, "outcome"],
    ]


@shows(RULE_2, STATUS_401)
@pytest.mark.parametrize("row", ROWS)
def test_without_a_key_that_works_it_is_401(service: Service, row: str) -> None:
    method, path = endpoint_of(row)
    key = service.ask("POST", "ci-keys", {"name": "ended"}).json
    service.ask("DELETE", f"ci-keys/{key['id']}")
    flipped = service.key[:-1] + ("0" if service.key[-1] != "0" else "1")

    assert ask(service.url, method, path, json_body=ROWS[row]).error[0] == 401
    assert ask(service.url, method, path, bearer(service.token), json_body={}).error[0] == 401
    for wrong in (key["apiKey"], flipped, service.key[4:], service.key.upper(), "svc_", "x"):
        assert service.send((method, path), ROWS[row], wrong).error[0] == 401
    assert service.get("products")["total"] == 0
    assert service.send((method, path), ROWS[row]).status == 204


@shows(RULE_3)
def test_an_announcement_again_changes_nothing(service: Service) -> None:
    service.announce("merge", suite="a")
    before = service.page()
    service.announce("merge", suite="a", branch="other", merged_at=at(50))

    assert service.page() == before


@shows(RULE_3)
def test_a_report_again_replaces_the_first(service: Service) -> None:
    service.announce("a")
    service.report("a", 1, failed("boot"), failed("usb"), run_id=5)
    service.report("b", 2, failed("usb"), passed("adc", attempts=2), run_id=5)

    assert service.labels() == {("usb", sha("b")): "pending"}
    assert [row["testId"] for row in service.page()["flakiestTests"]["items"]] == ["usb", "adc"]
    assert service.tiles()["mergesChecked"]["checked"] == 0
    assert service.tiles()["infraRuns"]["total"] == 1


@shows(RULE_3)
def test_a_configuration_replaces_the_one_of_its_product(service: Service) -> None:
    service.configure(suite="a", trigger_paths=["x"])
    service.configure(suite="b")
    service.configure(suite="a", firmware_paths=["fw/**"], merge_trigger=False)

    kept: dict[str, Json] = {one["suite"]: one for one in service.get("suite-configs")["items"]}
    assert set(kept) == {"a", "b"}
    assert kept["a"]["firmwarePaths"] == ["fw/**"]
    assert (kept["a"]["triggerPaths"], kept["a"]["mergeTrigger"]) == (None, False)
    assert kept["b"]["firmwarePaths"] == ["src/**"]


@shows(RULE_4)
def test_a_merge_is_counted_without_any_run(service: Service) -> None:
    service.announce("merge", suite="a")
    service.announce("merge", suite="b")

    assert service.tiles()["mergesChecked"] == {"checked": 0, "announced": 2}
    assert service.tiles()["infraRuns"]["total"] == 0
    assert service.send(ANNOUNCE, announcement(suite=["a", "b"])).issue_paths == [["body", "suite"]]


@shows(RULE_5)
def test_each_attempt_and_each_box_has_a_report_passed_or_failed(service: Service) -> None:
    run = {"run_id": 3}
    service.report("a", 1, failed(), **run, conclusion="failure", box_key="left")
    service.report("a", 1, passed(), **run, conclusion="success", box_key="right")
    service.report("a", 2, passed(), **run, run_attempt=2, box_key="left")

    assert service.tiles()["infraRuns"]["total"] == 3
    (row,) = service.page()["flakiestTests"]["items"]
    assert (row["boxes"], row["runReports"], row["failedAttempts"]) == (2, 3, 1)
    assert service.labels() == {("boot", sha("a")): "flake"}
