# SPDX-License-Identifier: Apache-2.0
"""How boxes changed against the period before: by hand, and on random runs by counting items."""

import random
from dataclasses import replace
from datetime import timedelta

import pytest

from hwci.analysis.benches.by_parts import SureShare, sure_shares
from hwci.analysis.periods.box_trends import BoxTrend, ShareTrend, box_trends
from hwci.analysis.periods.trends import change_between, period_before, share_change
from hwci.engine.facts import Facts, Part, Report
from hwci.engine.history import Scope
from hwci.engine.page.reading import Tally
from hwci.engine.periods import last_days
from hwci.engine.vocabulary import Outcome, Verdict
from tests.engine.timeline import ALL, ORG, REPO, SUITE, item, minute, report
from tests.support.outcomes import FullRecordedRuns
from tests.support.soak import rounds

DAY = 24 * 60
DAYS = 7
PERIOD = last_days(DAYS, minute(0))
OLDEST = report("0:P", -3 * DAYS * DAY)
"""Of before the period before, so that that is known whole."""


def then(number: int, day: int = 0) -> float:
    """Return a minute of the period before."""
    return (day - 2 * DAYS) * DAY + 60 + number


def now(number: int, day: int = 0) -> float:
    return (day - DAYS) * DAY + 60 + number


def run(at: float, results: str, box: str = "box-1", suite: str = SUITE) -> Report:
    """A run with these results, with blanks between; "L": it never reached the hardware."""
    token = "L" if results == "L" else "P"
    tests = [] if token == "L" else [item(one, f"t{n}") for n, one in enumerate(results.split())]
    return report(f"a:{token}", at, box=box, tests=tests or None, suite=suite)


def found(*reports: Report, scope: Scope = ALL) -> list[BoxTrend]:
    return box_trends(FullRecordedRuns(ORG, Facts(reports=reports)), scope, PERIOD)


def counts(trend: ShareTrend) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
    """Return the counts of a share, of now and of before."""
    return trend.now[:2], None if trend.before is None else trend.before[:2]


PAST = (
    OLDEST,
    *(run(then(0, day), "P P F I P", "box-2") for day in range(4)),
    run(then(9), "L", "box-2"),
    *(run(now(0, day), "P P P P P", "box-2") for day in range(3)),
    run(now(7), "P3 P P P P", "box-2"),
    *(run(now(n), "L") for n in range(20, 25)),
)


def test_each_share_of_a_box_stands_beside_that_of_before_with_both_counts() -> None:
    of_all, first, second = found(*PAST)

    assert [one.box_key for one in (of_all, first, second)] == [None, "box-1", "box-2"]
    assert counts(second.reached) == ((4, 4), (4, 5))
    assert counts(second.blamed) == ((0, 20), (4, 20))
    assert counts(second.flaky) == ((2, 22), (8, 20))
    assert second.reached.change == share_change(Tally(4, 4), Tally(4, 5))
    assert second.reached.says.startswith("+20.0 points (95 % sure: ")
    assert second.reached.says.endswith("): 100.0 % (4 of 4), before 80.0 % (4 of 5)")
    assert second.flaky.says.startswith("-30.9 points (95 % sure: -")
    assert second.flaky.says.endswith("): 9.1 % (2 of 22), before 40.0 % (8 of 20)")
    assert counts(of_all.reached) == ((4, 9), (4, 5))


def test_a_change_of_results_is_as_sure_as_both_shares_by_their_parts_are() -> None:
    # The runs of box 2 are on the first days of three and of four, of which each has seven parts.
    *_, second = found(*PAST)
    late = {0: Tally(2, 12), 3: Tally(0, 5), 6: Tally(0, 5)}
    early = dict.fromkeys((0, 2, 4, 6), Tally(2, 5))

    both = sure_shares(late, early)
    assert [second.flaky.now, second.flaky.before] == both
    [now_within, then_within] = [one.within for one in both]
    assert now_within is not None
    assert then_within is not None
    assert second.flaky.change == change_between(2 / 22, now_within, 8 / 20, then_within)


def test_without_enough_runs_in_both_there_is_no_change() -> None:
    _, first, _ = found(*PAST)
    assert (first.reached.change, first.flaky.change) == (None, None)
    assert first.reached.says == "0.0 % (0 of 5), before: not enough data"
    assert first.flaky.says == "none, before: not enough data"

    few = [one for one in PAST if one.started_at != minute(now(7))]
    *_, second = found(*few)
    assert counts(second.reached)[0] == (3, 3)
    assert (second.reached.change, second.blamed.change, second.flaky.change) == (None, None, None)
    assert (second.reached.now.within, second.flaky.now.within) == (None, None)


def test_without_enough_results_to_see_how_they_scatter_their_share_has_no_change() -> None:
    at_once = [
        report("a:P", of(0), run_id=number, tests=[item("P", "t0"), item("F", "t1")])
        for of in (then, now)
        for number in range(9)
    ]
    [row] = found(OLDEST, *at_once)
    assert row.reached.change is not None
    assert row.flaky.says == "50.0 % (9 of 18), before: not enough data"


def test_where_the_days_before_were_not_all_recorded_nothing_is_compared() -> None:
    *_, second = found(*PAST[1:])
    assert second.flaky.before is None
    assert second.flaky.says.startswith("9.1 % (2 of 22; 95 % sure: ")
    assert second.flaky.says.endswith(" %)")


def test_a_box_that_ran_only_before_has_no_row_and_another_product_is_left_out() -> None:
    gone = [run(then(n), "P", "box-9") for n in range(30, 35)]
    other = [run(now(n), "P", suite="other") for n in range(40, 44)]
    rows = found(*PAST, *gone, *other, scope=Scope(REPO, SUITE))

    assert rows == found(*PAST, *gone)
    assert [one.box_key for one in rows] == [None, "box-1", "box-2"]
    assert [one.product.suite for one in found(*PAST, *other)] == [SUITE] * 3 + ["other"]


def test_of_ten_thousand_boxes_each_has_a_row() -> None:
    rows = found(OLDEST, *(run(now(n % 60), "P F", f"box-{n}") for n in range(10_000)))
    assert len(rows) == 10_001
    assert rows[0].flaky.now[:2] == (10_000, 20_000)


def test_an_instant_of_the_border_counts_once() -> None:
    at = (PERIOD.start - minute(0)) / timedelta(minutes=1)
    [one] = found(OLDEST, run(at, "P"))
    assert counts(one.reached) == ((1, 1), (0, 0))


def test_a_run_in_parts_counts_once_and_reached_if_each_part_did() -> None:
    at = now(0)
    for outcomes in ("LP", "PL"):
        parts = [
            replace(report(f"a:{one}", at, run_id=7 + part), part_of=Part(7, part + 1, 2))
            for part, one in enumerate(outcomes)
        ]
        assert found(OLDEST, *parts)[0].reached.now[:2] == (0, 1)


def test_a_change_of_less_than_is_written_has_no_sign_of_its_own() -> None:
    shares = [SureShare(part, 5000, (0.0, 0.001)) for part in (1, 2)]
    trend = ShareTrend(*shares)
    assert trend.says.startswith("0.0 points (95 % sure: ")


@pytest.mark.parametrize("seed", range(rounds(10, 200)))
def test_the_shares_are_what_the_items_of_either_period_add_up_to(seed: int) -> None:
    rng = random.Random(seed)
    reports = [
        run(
            -rng.uniform(0, 2 * DAYS * DAY - 1),
            "L" if rng.random() < 0.2 else " ".join(rng.choices(("P", "P3", "F", "I", "U"), k=5)),
            f"box-{rng.randrange(4)}",
        )
        for _ in range(60)
    ]
    before = period_before(PERIOD)
    assert before is not None
    of_all, *rows = found(OLDEST, *reports)
    assert of_all.box_key is None
    for row in rows:
        for period, which in ((PERIOD, "now"), (before, "before")):
            ran = [
                one
                for one in reports
                if one.box_key == row.box_key and period.start <= one.started_at <= period.end
            ]
            reached = [one for one in ran if one.hello_ok]
            items = [one for of in reached for one in of.tests]
            fails = [one for one in items if one.outcome is Outcome.FAIL]
            assert getattr(row.reached, which)[:2] == (len(reached), len(ran))
            blamed = sum(one.verdict is Verdict.INFRA for one in fails)
            assert getattr(row.blamed, which)[:2] == (blamed, len(items))
            attempts = sum(one.attempts for one in items)
            passes = len(items) - len(fails)
            assert getattr(row.flaky, which)[:2] == (attempts - passes, attempts)
