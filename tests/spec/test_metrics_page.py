# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: E501 - rows stand as the specification has them
"""The metrics page: products, tiles, tables and metric rules (spec, "Metrics page")."""

import pytest

from tests.spec.quoting import shows
from tests.spec.service import (
    AS_OF,
    REPO,
    SUITE,
    Service,
    at,
    changes,
    commit,
    failed,
    passed,
    sha,
)

TWICE = "1. In All products, a merge announced for two products counts twice."
UNASSIGNED = "2. A merge announced without `suite` appears as Unassigned in All products and is not counted in a single-product view."

CHECKED = "| Merges checked on hardware | Announced merges in the period that a run checked. A run checks a merge when it reached the hardware (`hello_ok` true), recorded at least one test, and tested the merge commit or a push (`covers_shas`) that included it. |"
BUGS = "| Real FW bugs caught | Resolved failures that were real firmware bugs; also shows the counts of bench or harness problems and of ambiguous failures |"
FLAKY = "| Flaky failures | Failures on a commit where the same test also passed on the same box |"
INFRA = "| Infra runs | Run reports with `hello_ok` false, out of all run reports in the period |"

UNCHECKED_TABLE = "| Merges not checked on hardware | Announced merges no run checked; in All products also the product |"
BUGS_TABLE = "| Real FW bugs caught | First failure of each real bug, the commit that broke the test (a range of commits if several qualify), the fixing commit, and the harness verdict |"
OTHERS_TABLE = "| Resolved by a bench or harness change | Other resolved failures with reason; collapsed until its title is clicked; rows carry Confirm, Dismiss, Reset and a Status column |"
FLAKIEST_TABLE = "| Flakiest tests | Per test: number of boxes, run reports, attempts, failed attempts, passes on a retry, flake rate |"

RATE = "1. Flake rate = failed attempts / all attempts, as a percentage. A test that passed on its third attempt adds two failed attempts."
DATES = "2. Date basis: merges use `merged_at`; resolved failures use the start time of the first failing run; flake rates and infra runs use each run's start time."
PUSHES = "3. Two merges landing in separate pushes seconds apart can leave the first unchecked when the bench tests only the second push."

DAY = 24


def test_the_period_is_7_30_or_90_days_and_30_by_default(service: Service) -> None:
    for days, from_ in ((7, "2026-03-23"), (30, "2026-02-28"), (90, "2025-12-30")):
        period = service.get("ci-metrics", asOf=AS_OF, days=days)["period"]
        assert period == {"days": days, "from": f"{from_}T00:00:00Z", "to": AS_OF}
    assert service.get("ci-metrics", asOf=AS_OF)["period"]["days"] == 30
    assert service.page()["product"] is None


@shows(TWICE)
def test_a_merge_announced_for_two_products_counts_twice(service: Service) -> None:
    service.announce("merge", suite="display")
    service.announce("merge", suite="motor")
    service.report("merge", 1, passed(), suite="display")

    assert service.tiles()["mergesChecked"] == {"checked": 1, "announced": 2}
    for suite, checked in (("display", 1), ("motor", 0)):
        tiles = service.tiles(repoKey=REPO, suite=suite)
        assert tiles["mergesChecked"] == {"checked": checked, "announced": 1}
    (row,) = service.page()["uncheckedMerges"]["items"]
    assert (row["sha"], row["suite"]) == (sha("merge"), "motor")


@shows(UNASSIGNED)
def test_a_merge_without_suite_is_unassigned_and_in_no_single_product(service: Service) -> None:
    service.announce("merge")
    service.announce("other", suite=SUITE)
    service.report("before", 1, passed())

    assert service.tiles()["mergesChecked"]["announced"] == 2
    rows = service.page()["uncheckedMerges"]["items"]
    assert {row["sha"]: row["suite"] for row in rows} == {sha("merge"): None, sha("other"): SUITE}
    one = service.page(repoKey=REPO, suite=SUITE)
    assert one["tiles"]["mergesChecked"]["announced"] == 1
    assert [row["sha"] for row in one["uncheckedMerges"]["items"]] == [sha("other")]


@shows(CHECKED)
@pytest.mark.parametrize(
    ("checked", "name", "fields"),
    [
        (1, "merge", {}),
        (1, "later", {"covers_shas": [sha("before"), sha("merge"), sha("later")]}),
        (1, "merge", {"tests": [failed()], "branch": "dev", "trigger": "manual"}),
        (0, "merge", {"hello_ok": False}),
        (0, "later", {"covers_shas": [sha("merge")], "hello_ok": False}),
        (0, "merge", {"tests": []}),
        (0, "later", {"covers_shas": [sha("before"), sha("later")]}),
        (0, "later", {"changes": changes("merge", commit("merge"), commit("later"))}),
        (0, "merge", {"repo_key": "acme/other"}),
        (0, "merge", {"sha": sha("merge")[:12]}),
    ],
)
def test_what_checks_a_merge(
    service: Service, checked: int, name: str, fields: dict[str, object]
) -> None:
    service.announce("merge")
    service.report(name, 1, **{"tests": [passed()], **fields})

    assert service.tiles()["mergesChecked"] == {"checked": checked, "announced": 1}
    assert service.page()["uncheckedMerges"]["total"] == 1 - checked


@shows(BUGS)
def test_the_bug_tile_counts_bugs_bench_problems_and_ambiguous_failures(service: Service) -> None:
    service.configure()
    cause, fix = changes("base", commit("a", "src/a.c")), changes("a", commit("b", "src/a.c"))
    bench = [failed(f"bench {number}", verdict="infra") for number in range(2)]
    unclear = [failed(f"unclear {number}", verdict="unknown") for number in range(3)]
    broken = [failed("bug"), *bench, *unclear]
    service.report("a", 1, *broken, failed("flaky"), failed("pending"), changes=cause)
    service.report("a", 2, passed("flaky"))
    service.report("b", 3, *(passed(test["id"]) for test in broken), changes=fix)

    tile = service.tiles()["realFwBugs"]
    assert tile == {"real": 1, "benchOrHarness": 2, "ambiguous": 3, "dismissed": 0}


@shows(FLAKY)
def test_the_flaky_tile_counts_each_failure_that_also_passed(service: Service) -> None:
    service.report("a", 1, failed(), failed("usb"))
    service.report("a", 2, failed())
    service.report("a", 3, passed())
    service.report("a", 4, passed("usb"), box_key="bench-2")
    service.report("b", 5, passed("usb", attempts=3))

    assert service.tiles()["flakyFailures"] == {"count": 2}


@shows(INFRA)
def test_the_infra_tile_counts_reports_out_of_all(service: Service) -> None:
    for hour in range(3):
        service.report("a", hour, passed())
    for box in ("left", "right"):
        service.report("a", 4, hello_ok=False, box_key=box)
    service.report("a", 24 * DAY, hello_ok=False)

    assert service.tiles()["infraRuns"] == {"infra": 3, "total": 6}
    assert service.tiles(days=7)["infraRuns"] == {"infra": 1, "total": 1}


@shows(UNCHECKED_TABLE)
def test_the_table_of_unchecked_merges_names_the_product(service: Service) -> None:
    service.announce("a", suite="display")
    service.announce("b", suite="motor", repo_key="acme/other")
    service.announce("c", suite="motor")
    service.report("c", 1, passed(), suite="motor")

    rows = service.get("ci-metrics/unchecked-merges", asOf=AS_OF)["items"]
    assert {(row["repoKey"], row["suite"], row["sha"]) for row in rows} == {
        (REPO, "display", sha("a")),
        ("acme/other", "motor", sha("b")),
    }


@shows(BUGS_TABLE)
def test_the_table_of_bugs_shows_failure_cause_fix_and_verdict(service: Service) -> None:
    service.configure()
    service.report("good", 1, passed())
    cause = changes("good", commit("a", "src/a.c"), commit("doc", "README"))
    service.report("a", 2, failed(), changes=cause, run_id=41)
    service.report("worse", 3, failed(), changes=changes("a", commit("worse", "src/b.c")))
    service.report("fix", 4, passed(), changes=changes("worse", commit("fix", "src/a.c")))

    (row,) = service.page()["realBugs"]["items"]
    first = row["firstFailure"]
    assert (first["sha"], first["startedAt"]) == (sha("a"), "2026-03-01T02:00:00Z")
    assert (first["workflow"], first["runId"], first["runAttempt"]) == (SUITE, 41, 1)
    assert row["brokenBy"] == {
        "from": sha("a"),
        "to": sha("a"),
        "commits": [{"sha": sha("a"), "subject": "Change a"}],
    }
    assert row["fix"] == {"sha": sha("fix"), "startedAt": "2026-03-01T04:00:00Z"}
    assert row["verdict"] == "device"


@shows(BUGS_TABLE)
def test_several_commits_that_may_have_broken_a_test_are_a_range(service: Service) -> None:
    service.configure()
    several = [commit("one", "src/a.c"), commit("doc", "README"), commit("two", "src/b.c")]
    service.report("two", 1, failed(), changes=changes("base", *several))
    service.report("fix", 2, passed(), changes=changes("two", commit("fix", "src/a.c")))

    (row,) = service.page()["realBugs"]["items"]
    assert (row["brokenBy"]["from"], row["brokenBy"]["to"]) == (sha("one"), sha("two"))
    commits = [found["sha"] for found in row["brokenBy"]["commits"]]
    assert commits == [sha("one"), sha("two")]


@shows(OTHERS_TABLE)
def test_the_other_table_has_reasons_status_and_rows_to_review(service: Service) -> None:
    service.report("a", 1, failed(verdict="infra"), failed("usb"))
    service.report("b", 2, passed(), passed("usb"))

    rows = {row["testId"]: row for row in service.page()["otherFailures"]["items"]}
    assert {test: (row["reasonText"], row["status"]) for test, row in rows.items()} == {
        "boot": ("Harness verdict: bench or infrastructure", "Automatic"),
        "usb": ("No firmware and harness paths are configured for this product", "Automatic"),
    }
    for action in ("confirm", "dismiss", "reset"):
        assert service.review(rows["boot"]["id"], action).status == 200


@shows(FLAKIEST_TABLE, RATE)
def test_a_flaky_test_has_its_counts_and_rate(service: Service) -> None:
    service.report("a", 1, failed(attempts=2), passed("calm"))
    service.report("a", 2, passed(attempts=3), passed("calm"), box_key="bench-2")
    service.report("b", 3, passed(), passed("calm"))
    service.report("b", 4, failed(attempts=9), hello_ok=False)

    (row,) = service.page()["flakiestTests"]["items"]
    assert row == {
        "repoKey": REPO,
        "suite": SUITE,
        "testId": "boot",
        "boxes": 2,
        "runReports": 3,
        "attempts": 6,
        "failedAttempts": 4,
        "retryPasses": 1,
        "flakyFailures": 0,
        "flakeRate": pytest.approx(100 * 4 / 6),
    }


@shows(RATE)
def test_a_pass_on_the_third_attempt_adds_two_failed_attempts(service: Service) -> None:
    service.report("a", 1, passed("third", attempts=3), failed("never", attempts=3))
    service.report("b", 2, passed("third"), failed("never"))

    rows = service.page()["flakiestTests"]["items"]
    assert [(row["testId"], row["failedAttempts"], row["flakeRate"]) for row in rows] == [
        ("never", 4, 100),
        ("third", 2, 50),
    ]


@shows(DATES)
def test_merges_are_dated_by_merged_at(service: Service) -> None:
    service.announce("old", merged_at=at(20 * DAY))
    service.announce("new", merged_at=at(25 * DAY))
    service.report("old", 25 * DAY, passed())

    assert service.tiles(days=7)["mergesChecked"] == {"checked": 0, "announced": 1}
    assert service.tiles(days=30)["mergesChecked"] == {"checked": 1, "announced": 2}


@shows(DATES)
def test_resolved_failures_are_dated_by_the_start_of_the_first_failing_run(
    service: Service,
) -> None:
    service.report("old", 20 * DAY, failed())
    service.report("still", 25 * DAY, failed())
    service.report("fix", 26 * DAY, passed(), failed("usb"))
    service.report("fixed", 27 * DAY, passed("usb"))

    assert [row["testId"] for row in service.page(days=7)["otherFailures"]["items"]] == ["usb"]
    assert service.tiles(days=30)["realFwBugs"]["ambiguous"] == 2


@shows(DATES)
def test_a_resolved_failure_counts_though_its_fix_is_after_the_period(service: Service) -> None:
    service.report("a", 1, failed())
    service.report("b", 300, passed())

    period = {"asOf": "2026-03-02T00:00:00Z", "days": 7}
    assert service.tiles(**period)["realFwBugs"]["ambiguous"] == 1


@shows(DATES)
def test_flake_rates_and_infra_runs_are_dated_by_each_runs_start(service: Service) -> None:
    service.report("a", 20 * DAY, failed(attempts=3), ended_at=at(25 * DAY))
    service.report("a", 25 * DAY, passed(attempts=2))
    service.report("a", 21 * DAY, hello_ok=False, ended_at=at(25 * DAY))

    week = service.page(days=7)
    (row,) = week["flakiestTests"]["items"]
    assert (row["attempts"], row["failedAttempts"], row["flakeRate"]) == (2, 1, 50)
    assert week["tiles"]["infraRuns"] == {"infra": 0, "total": 1}
    assert service.tiles(days=30)["infraRuns"] == {"infra": 1, "total": 3}


@shows(PUSHES)
def test_the_first_of_two_pushes_seconds_apart_can_stay_unchecked(service: Service) -> None:
    service.announce("first", merged_at="2026-03-01T12:00:00Z")
    service.announce("second", merged_at="2026-03-01T12:00:05Z")
    pushed = changes("base", commit("first", "src/a.c"), commit("second", "src/b.c"))
    service.report("second", 13, passed(), covers_shas=[sha("second")], changes=pushed)

    assert service.tiles()["mergesChecked"] == {"checked": 1, "announced": 2}
    assert [row["sha"] for row in service.page()["uncheckedMerges"]["items"]] == [sha("first")]

    service.report("second", 14, passed(), covers_shas=[sha("first"), sha("second")])
    assert service.tiles()["mergesChecked"] == {"checked": 2, "announced": 2}
