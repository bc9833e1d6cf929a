# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - rows stand as the specification has them
"""How later runs label a failure (spec, "Failure label")."""

from tests.spec.quoting import shows
from tests.spec.service import SUITE, Service, changes, commit, failed, passed, sha

FLAKE = "| Flake | The same test passed on the same commit and on the same box, in any run report, at any time |"
RESOLVED = "| Resolved | Not a flake, and the same test passed on a later commit on the same box |"
PENDING = "| Pending | No pass that decides the label exists yet |"
MAY_CHANGE = "1. A new report can change the label of an older failure."
ONE_FAILURE = "2. Consecutive failures of a test on several commits with no pass between count as one resolved failure."
INFRA = "3. A run report with `hello_ok` false counts in no metric except the Infra runs tile."


def label(service: Service, name: str = "a", test: str = "boot") -> str:
    return service.labels()[test, sha(name)]


@shows(FLAKE)
def test_a_pass_on_the_same_commit_and_box_makes_a_flake(service: Service) -> None:
    service.report("a", 2, failed())
    assert label(service) == "pending"

    service.report("a", 3, passed())
    assert label(service) == "flake"


@shows(FLAKE)
def test_a_flake_may_have_passed_before_it_failed(service: Service) -> None:
    service.report("a", 1, passed())
    service.report("a", 400, failed())

    assert label(service) == "flake"


@shows(FLAKE)
def test_a_flake_may_have_passed_in_another_run_and_attempt(service: Service) -> None:
    service.report("a", 1, failed(), run_id=7)
    service.report("b", 1, failed(), run_id=8)
    service.report("a", 2, passed(), run_id=7, run_attempt=2)
    service.report("b", 3, passed(), workflow="night", suite=SUITE, trigger="nightly")

    assert (label(service, "a"), label(service, "b")) == ("flake", "flake")


@shows(FLAKE)
def test_no_flake_without_the_same_test_commit_and_box(service: Service) -> None:
    service.report("a", 1, failed())
    service.report("a", 2, passed("usb"))
    service.report("a", 3, passed(), box_key="bench-2")
    service.report("a", 4, passed(), suite="display")
    service.report("a", 5, passed(), repo_key="acme/other")

    assert label(service) == "pending"


@shows(FLAKE, RESOLVED)
def test_a_flake_stays_one_when_a_later_commit_passes(service: Service) -> None:
    service.report("a", 1, failed())
    service.report("a", 2, passed())
    service.report("b", 3, passed())

    assert label(service) == "flake"


@shows(RESOLVED)
def test_a_pass_on_a_later_commit_and_the_same_box_resolves(service: Service) -> None:
    service.report("a", 1, failed())
    service.report("b", 2, passed())

    assert label(service) == "resolved"


@shows(RESOLVED)
def test_a_pass_on_an_earlier_commit_or_on_another_box_does_not_resolve(service: Service) -> None:
    service.report("before", 1, passed())
    service.report("a", 2, failed())
    service.report("b", 3, passed(), box_key="bench-2")
    service.report("b", 4, passed("usb"))

    assert label(service) == "pending"


@shows(RESOLVED)
def test_later_is_the_commits_order_and_not_the_runs(service: Service) -> None:
    service.report("c", 1, failed(), changes=changes("a", commit("b"), commit("c")))
    service.report("b", 2, passed())
    assert label(service, "c") == "pending"

    service.report("d", 3, passed(), changes=changes("c", commit("d")))
    assert label(service, "c") == "resolved"


@shows(PENDING)
def test_a_failure_with_nothing_after_it_is_pending(service: Service) -> None:
    service.report("a", 1, failed())
    service.report("b", 2, failed())

    assert service.labels() == {("boot", sha("a")): "pending", ("boot", sha("b")): "pending"}
    assert service.tiles()["realFwBugs"] == {
        "real": 0,
        "benchOrHarness": 0,
        "ambiguous": 0,
        "dismissed": 0,
    }


@shows(PENDING)
def test_each_box_is_evaluated_on_its_own(service: Service) -> None:
    for box in ("left", "right"):
        service.report("a", 1, failed(), box_key=box)
    service.report("b", 2, passed(), box_key="left")

    found = service.get("ci-failures", asOf="2026-03-02T00:00:00Z")["items"]
    assert {one["boxKey"]: one["label"] for one in found} == {
        "left": "resolved",
        "right": "pending",
    }


@shows(MAY_CHANGE)
def test_new_reports_change_the_label_of_an_older_failure(service: Service) -> None:
    seen = []
    service.report("a", 1, failed())
    seen.append(label(service))
    service.report("b", 2, passed())
    seen.append(label(service))
    service.report("a", 3, passed())
    seen.append(label(service))
    service.report("a", 3, hello_ok=False)
    seen.append(label(service))

    assert seen == ["pending", "resolved", "flake", "resolved"]


@shows(ONE_FAILURE)
def test_consecutive_failures_are_one_resolved_failure(service: Service) -> None:
    for hour, name in enumerate("abc", 1):
        service.report(name, hour, failed())
    service.report("d", 4, passed())

    (row,) = service.page()["otherFailures"]["items"]
    assert service.tiles()["realFwBugs"]["ambiguous"] == 1
    assert (row["failingCommits"], row["firstFailure"]["sha"]) == (3, sha("a"))
    assert (row["lastFailingSha"], row["fix"]["sha"]) == (sha("c"), sha("d"))


@shows(ONE_FAILURE)
def test_a_pass_between_makes_two(service: Service) -> None:
    for hour, (name, outcome) in enumerate(zip("abcd", (failed, passed) * 2, strict=True), 1):
        service.report(name, hour, outcome())

    rows = service.page()["otherFailures"]["items"]
    assert [row["firstFailure"]["sha"] for row in rows] == [sha("c"), sha("a")]
    assert [row["failingCommits"] for row in rows] == [1, 1]


@shows(ONE_FAILURE)
def test_failures_of_two_tests_are_two_and_no_pass_makes_none(service: Service) -> None:
    service.report("a", 1, failed(), failed("usb"), failed("adc"))
    service.report("b", 2, failed(), failed("usb"), failed("adc"))
    service.report("c", 3, passed(), passed("usb"))

    rows = service.page()["otherFailures"]["items"]
    assert sorted((row["testId"], row["failingCommits"]) for row in rows) == [
        ("boot", 2),
        ("usb", 2),
    ]


@shows(INFRA)
def test_a_report_that_missed_the_hardware_counts_as_infra_run_alone(service: Service) -> None:
    service.announce("a")
    lost = (failed("usb"), passed("boot", attempts=3))
    service.report("a", 1, *lost, hello_ok=False, covers_shas=[sha("a")])

    page = service.page()
    assert page["tiles"] == {
        "mergesChecked": {"checked": 0, "announced": 1},
        "realFwBugs": {"real": 0, "benchOrHarness": 0, "ambiguous": 0, "dismissed": 0},
        "flakyFailures": {"count": 0},
        "infraRuns": {"infra": 1, "total": 1},
    }
    assert page["flakiestTests"]["items"] == []
    assert service.labels() == {}


@shows(INFRA)
def test_a_pass_that_missed_the_hardware_decides_no_label(service: Service) -> None:
    service.report("b", 3, passed(), hello_ok=False)
    service.report("a", 1, failed())
    service.report("a", 2, passed(), hello_ok=False)
    service.report("a", 4, failed())

    assert label(service) == "pending"
