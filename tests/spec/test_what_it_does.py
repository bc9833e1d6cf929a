# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - rows stand as the specification has them
"""The questions that are answered, and the rules of CI Metrics (spec, "What the service does")."""

from hwci.server.app import SetCiMetrics
from tests.spec.quoting import shows
from tests.spec.service import (
    ANNOUNCE,
    REPORT,
    Service,
    announcement,
    changes,
    commit,
    failed,
    new_service,
    passed,
    report,
    sha,
)
from tests.support.running import RunningServer

MERGES = "1. Which merges ran on real hardware?"
BUGS = "2. Which failures were real firmware bugs?"
FLAKES = "3. Which tests are flaky?"
ENABLED = "1. CI Metrics is enabled per organization, on request to the service operator. It is off until enabled."
PRODUCTS = "2. A repository can hold several products. Each product has its own hardware test suite, identified by the `suite` value. Metrics are shown for one product or for all products together."
REPORTS = "3. The CI sends two kinds of reports: a merge announcement per merge, and a run report per hardware test run (per attempt, per box). Metrics are computed from these reports."
DESCRIPTION = "4. To separate real firmware bugs from bench or harness problems, the service also needs a file description (suite configuration) per product."


@shows(MERGES, BUGS, FLAKES, REPORTS)
def test_two_kinds_of_reports_answer_three_questions(service: Service) -> None:
    service.configure()
    empty = service.page()
    service.announce("a")
    service.announce("unseen")
    cause, fix = changes("base", commit("a", "src/a.c")), changes("a", commit("b", "src/a.c"))
    service.report("a", 1, failed("bug"), failed("flaky"), changes=cause)
    service.report("a", 2, passed("flaky"))
    service.report("b", 3, passed("bug"), passed("flaky"), changes=fix)

    assert [row["total"] for row in empty.values() if row and "total" in row] == [0, 0, 0, 0]
    page = service.page()
    assert page["tiles"]["mergesChecked"] == {"checked": 1, "announced": 2}
    assert [row["sha"] for row in page["uncheckedMerges"]["items"]] == [sha("unseen")]
    assert [row["testId"] for row in page["realBugs"]["items"]] == ["bug"]
    flaky = {row["testId"]: row["flakyFailures"] for row in page["flakiestTests"]["items"]}
    assert flaky == {"bug": 0, "flaky": 1}


@shows(ENABLED)
def test_ci_metrics_is_off_until_the_operator_enables_it(server: RunningServer) -> None:
    on, off = new_service(server), new_service(server, enabled=False)
    refusal = (403, "CI Metrics is not enabled for this organization")

    for endpoint, body in ((ANNOUNCE, announcement()), (REPORT, report())):
        assert off.send(endpoint, body).error == refusal
        assert on.send(endpoint, body).status == 204
    for path in ("ci-metrics", "products", "ci-failures"):
        assert off.ask("GET", path).error == refusal
        assert on.ask("GET", path).status == 200

    server.operate(SetCiMetrics(org_id=off.org_id, enabled=True))
    assert off.tiles()["infraRuns"]["total"] == 0
    assert off.send(REPORT, report()).status == 204


@shows(PRODUCTS)
def test_metrics_are_shown_for_one_product_or_for_all(service: Service) -> None:
    service.report("a", 1, suite="display", hello_ok=False)
    service.report("a", 2, suite="motor")
    service.report("a", 3, repo_key="acme/other", suite="motor")

    products = {(item["repoKey"], item["suite"]) for item in service.get("products")["items"]}
    assert products == {
        ("acme/firmware", "display"),
        ("acme/firmware", "motor"),
        ("acme/other", "motor"),
    }
    assert service.tiles()["infraRuns"] == {"infra": 1, "total": 3}
    one = service.page(repoKey="acme/firmware", suite="motor")
    assert one["product"] == {"repoKey": "acme/firmware", "suite": "motor"}
    assert one["tiles"]["infraRuns"] == {"infra": 0, "total": 1}


@shows(PRODUCTS)
def test_products_share_no_test(service: Service) -> None:
    service.report("a", 1, failed(), suite="display")
    service.report("b", 2, passed(), suite="motor")

    assert service.labels() == {("boot", sha("a")): "pending"}


@shows(DESCRIPTION)
def test_bugs_and_bench_problems_are_distinguished_by_the_files(service: Service) -> None:
    cause, fix = changes("base", commit("a", "src/a.c")), changes("a", commit("b", "ci/run.py"))
    service.report("a", 1, failed(), changes=cause)
    service.report("b", 2, passed(), changes=fix)
    assert service.tiles()["realFwBugs"]["ambiguous"] == 1

    service.configure(suite="another")
    assert service.tiles()["realFwBugs"]["ambiguous"] == 1
    service.configure()
    assert service.tiles()["realFwBugs"]["benchOrHarness"] == 1
    service.configure(firmware_paths=["**"], harness_paths=[])
    assert service.tiles()["realFwBugs"]["real"] == 1
