# SPDX-License-Identifier: Apache-2.0
"""Tiles and tables (spec, "Metrics page"; semantics, 9 and 10)."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from hwci.contract.runs.merges import Merge
from hwci.contract.vocabulary import Label
from hwci.engine.facts import Lane, Part, Product, Report, SuiteConfig
from hwci.engine.full_history import FullHistory
from hwci.engine.history import Scope
from hwci.engine.page.overview import read_page
from hwci.engine.page.tables import (
    FailureSelection,
    FlakySelection,
    OtherSelection,
    Selection,
    checked_merges,
    checks_of,
    flakiest_tests,
    labelled_failures,
    other_failures,
    real_bugs,
    unchecked_merges,
)
from hwci.engine.periods import Period, last_days
from hwci.engine.rules.flakiness import has_flaked, never_passed
from hwci.engine.rules.merges import commits_checked
from tests.engine.timeline import (
    ALL,
    BOX,
    EVER,
    MAIN,
    ORG,
    REPO,
    START,
    SUITE,
    Past,
    changes,
    flaky_test,
    id_of,
    item,
    minute,
    report,
    seen,
)

APP, BOARD = Scope(REPO, SUITE), Scope(REPO)


def merge(
    sha: str, at: float = 0, suite: str | None = SUITE, repo: str = REPO, branch: str = MAIN
) -> Merge:
    return Merge(repo, suite, sha, branch, minute(at))


def checked(past: Past, scope: Scope = ALL, period: Period = EVER) -> tuple[int, int]:
    tile = past.page(scope, period).tiles.merges_checked
    return tile.checked, tile.announced


def infra(past: Past, scope: Scope = ALL, period: Period = EVER) -> tuple[int, int]:
    tile = past.page(scope, period).tiles.infra_runs
    return tile.infra, tile.total


# | Merges checked on hardware | ... when it reached the hardware (`hello_ok` true), recorded at
# least one test, and tested the merge commit or a push (`covers_shas`) that included it. |
@pytest.mark.parametrize(
    ("run", "is_checked"),
    [
        (report("m:P", 1), True),
        (report("m:F", 1), True),
        (report("m:P", -1), True),
        (report("m:P", 1, branch="topic", workflow="night", box="box-9"), True),
        (report("n:P", 1, covers=["m", "n"]), True),
        (report("n:P", 1, sent=changes("l", "m", "n")), False),
        (report("m:L", 1, tests=[item("P")]), False),
        (report("m:-", 1), False),
        (report("m:P", 1, suite="boot"), False),
        (report("m:P", 1, repo="elsewhere"), False),
    ],
)
def test_a_merge_is_checked_by_a_run_that_tested_it(run: Report, is_checked: bool) -> None:
    past = Past([run]).announced(merge("m"))

    assert checked(past) == (is_checked, 1)
    assert (
        unchecked_merges(past.read().unchecked_merges, Selection(limit=9)).total == 1 - is_checked
    )
    rows = checked_merges(past.history, past.read().checked_merges, Selection(limit=9))
    assert [(one.first_run.run_id, one.first_run.sha) for one in rows.items] == [
        (run.run_id, run.sha)
    ] * is_checked
    assert rows.total == is_checked


def test_the_earliest_run_that_checked_a_merge_is_named() -> None:
    part = replace(report("n:P", 3, run_id=9, covers=["m"]), part_of=Part(4, 2, 2))
    runs = [
        report("m:P", 5),
        report("m:P", 3, run_id=10),
        part,
        report("m:P", 2, suite="boot"),
        report("m:-", 1),
        report("m:L", 1, tests=[item("P")], box="box-2"),
        report("m:P", 1, repo="elsewhere"),
    ]
    past = Past(runs).announced(merge("m"), merge("m", suite=None))
    unassigned, of_product = checks_of(past.history, past.read().checked_merges)

    assert (unassigned.merge.suite, unassigned.runs[0].sighting.suite) == (None, "boot")
    assert of_product.merge.suite == SUITE
    run = of_product.runs[0]
    assert (run.ci_run_id, run.run_id, run.box_key, run.sha) == (4, 9, BOX, "n")


def test_no_one_report_must_do_all_but_two_halves_do_not_make_a_check() -> None:
    halves = Past([report("m:L", 1, tests=[item("P")]), report("m:-", 2)]).announced(merge("m"))

    assert checked(halves) == (0, 1)


def test_a_report_checks_its_own_commit_and_those_of_its_push() -> None:
    assert commits_checked(report("n:F", 1, covers=["m", "l"])) == {"l", "m", "n"}
    assert commits_checked(report("n:L", 1, covers=["m"], tests=[item("P")])) == set()
    assert commits_checked(report("n:-", 1, covers=["m"])) == set()


# "When omitted, a run of any product can check the merge."
def test_a_merge_without_suite_is_checked_by_a_run_of_any_product() -> None:
    past = Past([report("m:P", 1, suite="boot")]).announced(merge("m", suite=None))

    assert checked(past) == (1, 1)


# "In All products, a merge announced for two products counts twice."
def test_a_merge_announced_for_two_products_counts_twice_in_all_products() -> None:
    past = Past([report("m:P", 1)]).announced(merge("m"), merge("m", suite="boot"))

    assert checked(past) == (1, 2)
    assert checked(past, APP) == (1, 1)
    assert checked(past, Scope(REPO, "boot")) == (0, 1)


# "A merge announced without `suite` appears as Unassigned in All products and is not counted in a
# single-product view."
def test_an_unassigned_merge_counts_in_all_products_and_in_its_repository_alone() -> None:
    past = Past().announced(merge("m", suite=None))

    assert past.page().unchecked_merges.items[0].suite is None
    assert checked(past, BOARD) == (0, 1)
    assert checked(past, APP) == (0, 0)
    assert checked(past, Scope("elsewhere")) == (0, 0)


# "Two merges landing in separate pushes seconds apart can leave the first unchecked when the bench
# tests only the second push."
def test_the_first_of_two_pushes_seconds_apart_can_stay_unchecked() -> None:
    past = Past([report("d:P", 1, covers=["d"], sent=changes("b", "c", "d"))])
    past = past.announced(merge("c", 0), merge("d", 0.1))

    assert checked(past) == (1, 2)
    assert [one.sha for one in past.page().unchecked_merges.items] == ["c"]


def test_unchecked_merges_are_listed_newest_first_then_by_repository_suite_and_sha() -> None:
    merges = [
        merge("e", 2),
        merge("d", 1, repo="z"),
        merge("c", 1),
        merge("b", 1),
        merge("x", 1, suite=None),
        merge("f", 3),
    ]
    listed = unchecked_merges(
        Past().announced(*merges).read().unchecked_merges, Selection(offset=1, limit=4)
    )

    assert [one.sha for one in listed.items] == ["e", "x", "b", "c"]
    assert listed.total == 6
    assert (
        unchecked_merges(
            Past().announced(*merges).read().unchecked_merges, Selection(offset=9, limit=4)
        ).items
        == []
    )


def test_checked_merges_stand_in_the_same_order() -> None:
    runs = [report(f"{sha}:P", 0, repo=repo) for sha in "bcdx" for repo in (REPO, "z")]
    runs = [replace(run, run_id=at) for at, run in enumerate(runs)]
    merges = [merge("d", 1, repo="z"), merge("c", 1), merge("b", 1), merge("e", 2)]
    past = Past(runs).announced(*merges, merge("x", 1, suite=None), merge("c", 3, repo="z"))

    listed = checked_merges(past.history, past.read().checked_merges, Selection(offset=1, limit=3))
    assert [one.sha for one in listed.items] == ["x", "b", "c"]
    assert listed.total == 5
    only = checked_merges(past.history, past.read().checked_merges, Selection("z C", limit=9))
    assert [one.sha for one in only.items] == ["c"]


# | Infra runs | Run reports with `hello_ok` false, out of all run reports in the period |
def test_infra_runs_counts_reports_not_runs() -> None:
    past = Past(
        [
            report("a:P", 1, run_id=1),
            report("a:L", 1, run_id=1, box="box-2"),
            report("a:L", 2, run_id=1, attempt=2, box="box-3"),
        ]
    )

    assert infra(past) == (2, 3)
    assert infra(past, period=Period(minute(2), minute(2))) == (1, 1)
    assert infra(past, Scope(REPO, "boot")) == (0, 0)


def test_parts_after_the_first_are_not_counted_as_runs() -> None:
    parts = [replace(report("a:P", n, run_id=n), part_of=Part(1, n, 3)) for n in (1, 2, 3)]

    assert infra(Past(parts)) == (0, 1)


def test_a_failure_in_a_part_names_the_run_as_ci_knows_it() -> None:
    part = replace(report("b:F", 1, run_id=777), part_of=Part(12, 2, 2))

    assert Past([part]).row("b").first_failure.run_id == 12
    assert Past([part]).group("b").first.first.run_id == 777


# | Real FW bugs caught | Resolved failures that were real firmware bugs; also shows the counts of
# bench or harness problems and of ambiguous failures |
def test_resolved_failures_are_counted_by_class() -> None:
    picture = "box-1 | a:P b:F c:P d:I e:P f:U g:P h:F i:P j:F"
    past = seen(picture, changed={"b": "fw", "c": "fw", "h": "fw", "i": "fw", "j": "fw"})
    past = past.reviewed("h", "dismiss")
    tiles = past.page().tiles

    assert tiles.real_fw_bugs.real == 1
    assert tiles.real_fw_bugs.bench_or_harness == 1
    assert tiles.real_fw_bugs.ambiguous == 1
    assert tiles.real_fw_bugs.dismissed == 1
    assert [one.first_failure.sha for one in past.page().real_bugs.items] == ["b"]
    assert [one.first_failure.sha for one in past.page().other_failures.items] == ["h", "f", "d"]


# "Resolved failures use the start time of the first failing run."
def test_a_resolved_failure_is_dated_by_the_first_failing_run_of_its_first_failure() -> None:
    past = seen("box-1 | a:P b:F c:F d:P")

    def total(first: float, last: float) -> int:
        return past.page(period=Period(minute(first), minute(last))).other_failures.total

    assert total(1, 1) == 1
    assert total(0, 1) == 1
    assert total(1.00001, 9) == 0


def test_labels_and_checks_use_everything_known_outside_the_period_too() -> None:
    past = seen("box-1 | a:P b:F c:P", changed={"b": "fw", "c": "fw"})

    assert past.page(period=Period(minute(1), minute(1))).tiles.real_fw_bugs.real == 1


# | Flaky failures | Failures on a commit where the same test also passed on the same box |
def test_flaky_failures_counts_items_by_their_runs_start() -> None:
    past = seen("box-1 | b:F c:F d:P").and_also(
        report("b:F", 3, branch=MAIN), report("b:P", 4), report("b:F", 5)
    )

    assert past.page().tiles.flaky_failures.count == 3
    assert past.page(period=Period(minute(3), minute(5))).tiles.flaky_failures.count == 2
    assert past.reviewed("b", "confirm").page().tiles.flaky_failures.count == 0


# | Flakiest tests | Per test: number of boxes, run reports, attempts, failed attempts, passes on a
# retry, flake rate |; "A test that passed on its third attempt adds two failed attempts."
def test_flakiest_tests_figures() -> None:
    past = seen(
        """
        box-1 | a:P3 b:P  c:F2
        box-2 | a:P  b:F2 b:P2
        """
    )

    (row,) = past.page().flakiest_tests.items

    assert row == flaky_test(REPO, SUITE, "boots", 2, 6, 11, 7, 2, 1, 100 * 7 / 11)


def test_flakiest_tests_are_of_the_period_and_reached_the_hardware() -> None:
    past = seen("box-1 | a:P3 b:P c:F d:P").and_also(report("b:L", 1, tests=[item("F")]))

    (row,) = past.page(period=Period(minute(1), minute(2))).flakiest_tests.items

    assert (row.run_reports, row.attempts, row.failed_attempts) == (2, 2, 1)


def test_a_test_without_a_failed_attempt_is_not_listed() -> None:
    assert seen("box-1 | a:P b:P").page().flakiest_tests.total == 0


def test_flakiest_tests_stand_by_rate_then_failed_attempts_then_name() -> None:
    def run(test_id: str, *outcomes: str, suite: str = SUITE, repo: str = REPO) -> Past:
        return Past(
            [
                report("a:-", n, suite=suite, repo=repo, tests=[item(one, test_id)])
                for n, one in enumerate(outcomes)
            ]
        )

    rows = [
        run("half", "F", "P"),
        run("half-twice", "F", "P", "F", "P"),
        run("third", "F", "P", "P"),
        run("half", "F", "P", suite="boot"),
        run("early", "F", "P"),
        run("half", "F", "P", repo="arm"),
    ]
    past = Past([one for row in rows for one in row.reports])
    listed = flakiest_tests(past.read().flakiest_tests, FlakySelection(limit=9)).items

    assert [(one.repo_key, one.suite, one.test_id) for one in listed] == [
        (REPO, SUITE, "half-twice"),
        ("arm", SUITE, "half"),
        (REPO, SUITE, "early"),
        (REPO, SUITE, "half"),
        (REPO, "boot", "half"),
        (REPO, SUITE, "third"),
    ]
    second = flakiest_tests(past.read(BOARD).flakiest_tests, FlakySelection(offset=1, limit=1))
    assert ([one.test_id for one in second.items], second.total) == (["early"], 5)
    for most in range(1, 8):  # names decide on which side of a page's end equal rows stand
        shown = past.page(rows=most).flakiest_tests
        assert ([*shown.items], shown.total) == ([*listed[:most]], 6)


@pytest.mark.parametrize(
    ("runs", "broken"),
    [
        ("box-1 | a:F b:F", True),
        ("box-1 | a:F3", True),
        ("box-1 | a:F b:P", False),
        ("box-1 | a:F b:F\nbox-2 | b:P", False),
        ("box-1 | a:P2", False),
    ],
)
def test_a_test_is_broken_when_it_never_passed_in_the_period(runs: str, broken: bool) -> None:
    past = seen(runs)
    (row,) = past.page().flakiest_tests.items
    (test,) = past.history.test_runs(ALL, EVER)

    assert row.broken is never_passed(test) is broken


def test_a_test_that_passed_before_the_period_only_is_broken_in_it() -> None:
    past = seen("box-1 | a:P a:F")
    (row,) = past.page(ALL, Period(minute(0.5), EVER.end)).flakiest_tests.items

    assert (row.flaky_failures, row.broken) == (1, True)


def test_broken_tests_and_those_without_a_flake_are_left_out_or_alone_when_asked() -> None:
    past = Past(
        [
            report("a:-", 1, tests=[item("F", "broken"), item("F", "flake"), item("F", "fixed")]),
            report("a:-", 2, tests=[item("P", "flake"), item("P2", "retried")]),
            report("b:-", 3, tests=[item("P", "fixed")]),
        ]
    )

    def listed(broken: bool | None = None, flaked: bool | None = None) -> list[str]:
        wanted = FlakySelection(limit=20, broken=broken, flaked=flaked)
        found = flakiest_tests(past.read().flakiest_tests, wanted)
        assert found.total == len(found.items)
        return sorted(row.test_id for row in found.items)

    assert listed() == ["broken", "fixed", "flake", "retried"]
    assert listed(broken=True) == ["broken"]
    assert listed(broken=False) == ["fixed", "flake", "retried"]
    assert listed(flaked=True) == ["flake", "retried"]
    assert listed(flaked=False) == ["broken", "fixed"]
    assert listed(flaked=False, broken=False) == ["fixed"]
    for test in past.history.test_runs(ALL, EVER):
        [(_, name)] = past.history.test_keys([test.test])
        assert has_flaked(test) is (name in listed(flaked=True))


def test_products_never_share_a_test() -> None:
    past = Past([report("a:F", 1), report("b:P", 2, suite="boot")])

    assert past.labels() == "a:pending"
    assert past.page(Scope(REPO, "boot")).flakiest_tests.total == 0


def test_resolved_failures_are_listed_newest_first_then_by_id() -> None:
    boxes = [report("b:I", 1, box=f"box-{n}") for n in range(5)]
    past = seen("box-1 | a:I b:P c:I d:P").and_also(*boxes, report("d:P", 9, box="box-4"))
    past = past.and_also(*(report("d:P", 9, box=f"box-{n}") for n in range(4)))
    rows = other_failures(past.history, past.read().other_failures, OtherSelection(limit=99)).items

    assert [one.first_failure.sha for one in rows] == ["c", "b", "b", "b", "b", "a"]
    same_start = [str(one.id) for one in rows if one.first_failure.sha == "b"]
    assert same_start == sorted(same_start)


def test_tables_are_given_in_slices_with_their_total() -> None:
    past = seen("box-1 | a:I b:P c:I d:P e:I f:P g:I")

    second = other_failures(
        past.history, past.read().other_failures, OtherSelection(offset=1, limit=1)
    )
    assert ([one.first_failure.sha for one in second.items], second.total) == (["c"], 3)
    assert real_bugs(past.history, past.read().real_bugs, Selection(limit=20)).total == 0
    assert len(past.page(rows=2).other_failures.items) == 2
    assert past.page(rows=2).other_failures.total == 3


def test_ci_failures_are_those_with_an_item_in_the_period_newest_first() -> None:
    past = seen("box-1 | a:P b:F c:F d:P e:F f:F g:F").and_also(report("f:P", 9))

    def shown(label: Label | None, first: float = 0) -> list[tuple[str, str]]:
        period = Period(minute(first), minute(99))
        rows = labelled_failures(
            past.labelled(ALL, period), FailureSelection(label=label, limit=99)
        ).items
        return [(one.failure.key.sha, one.label.value) for one in rows]

    assert shown(None, 2) == [
        ("g", "pending"),
        ("f", "flake"),
        ("e", "resolved"),
        ("c", "resolved"),
    ]
    assert shown(Label.RESOLVED) == [("e", "resolved"), ("c", "resolved"), ("b", "resolved")]
    assert shown(Label.FLAKE) == [("f", "flake")]
    groups = {
        one.failure.key.sha: one.group_id
        for one in labelled_failures(past.labelled(), FailureSelection(limit=99)).items
    }
    assert groups["c"] == id_of("b")
    assert groups["f"] is None
    assert labelled_failures(past.labelled(), FailureSelection(offset=4, limit=9)).total == 5


def test_the_last_n_days_hold_both_ends_and_no_microsecond_more() -> None:
    as_of = datetime(2026, 3, 29, 12, tzinfo=UTC)

    assert last_days(7, as_of) == Period(as_of - timedelta(hours=7 * 24), as_of)
    assert last_days(3650, datetime(1, 2, 3, tzinfo=UTC)).start == datetime.min.replace(tzinfo=UTC)
    tick = timedelta(microseconds=1)
    period = last_days(1, START)
    ends = [period.start - tick, period.start, period.end, period.end + tick]
    merges = [Merge(REPO, SUITE, str(n), MAIN, at) for n, at in enumerate(ends)]
    assert checked(Past().announced(*merges), period=period) == (0, 2)


def test_products_known_by_report_announcement_or_configuration() -> None:
    config = SuiteConfig("zephyr", "net", ("src/**",), (), merge_trigger=False)
    past = (
        Past([report("a:L", 3), report("a:P", 2)])
        .configured(config)
        .announced(merge("m", suite="boot"), merge("m", suite=None))
    )
    states = past.history.products()

    assert [one.product for one in states] == [
        Product(REPO, SUITE),
        Product(REPO, "boot"),
        Product("zephyr", "net"),
    ]
    assert [one.last_report_at for one in states] == [minute(3), None, None]
    assert [one.config for one in states] == [None, None, config]


def test_a_repository_that_a_merge_without_a_suite_alone_names_is_known() -> None:
    other = Merge("zephyr", None, "m", MAIN, START)
    past = Past([report("a:L", 3)]).announced(merge("m", suite="boot"))
    assert past.history.unassigned_repositories() == []
    assert past.announced(other).history.unassigned_repositories() == ["zephyr"]


def test_only_the_rows_that_are_shown_are_described() -> None:
    described: list[str] = []

    class Counting(FullHistory):
        def pass_started_at(self, lane: Lane, sha: str) -> datetime | None:
            described.append(sha)
            return super().pass_started_at(lane, sha)

    past = seen("box-1 | a:I b:P c:I d:P e:I f:P")
    page = read_page(Counting(ORG, past.facts), ALL, EVER, rows=1)

    assert page.other_failures.total == 3
    assert described == ["f"]
