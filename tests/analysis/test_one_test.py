# SPDX-License-Identifier: Apache-2.0
"""One test over time, by small pictures."""

import random
from collections.abc import Sequence
from dataclasses import astuple, replace
from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest

from hwci.analysis.flaky.suspects import SeenProduct
from hwci.analysis.one_test import one_test
from hwci.contract.flaky.one_test import Given, OneTest, Took, TriesOnBox, Verdicts
from hwci.contract.periods.days import CalendarDay
from hwci.contract.shares import Share
from hwci.engine.calendar import calendar_days
from hwci.engine.facts import Facts, Product, Report
from hwci.engine.history import Scope
from hwci.engine.periods import Period
from hwci.engine.rules.flakiness import flakiest
from tests.engine.timeline import (
    ALL,
    ORG,
    REPO,
    START,
    SUITE,
    TEST,
    changes,
    commit,
    item,
    report,
)
from tests.support.outcomes import FullRecordedRuns
from tests.support.soak import rounds

PERIOD = Period(START, START + timedelta(minutes=90))
MINUTES = [
    CalendarDay(
        first_day=START.date(),
        last_day=START.date(),
        whole=True,
        start=start,
        end=start + timedelta(minutes=1, microseconds=-1),
    )
    for start in (START + timedelta(minutes=at) for at in range(90))
]
"""The pictures are of minutes, so their days are, too."""
PRODUCT = Product(REPO, SUITE)


def found(*reports: Report, days: Sequence[CalendarDay] = MINUTES) -> OneTest:
    history = FullRecordedRuns(ORG, Facts(reports=reports))
    period = Period(days[0].start, days[-1].end)
    runs = next(iter(history.outcomes(Scope(*PRODUCT), period)), None)
    seen = None if runs is None else SeenProduct(history, runs)
    return one_test(history, seen, (PRODUCT, TEST), days, "UTC")


def kinds(box: TriesOnBox) -> tuple[int, int, int, int]:
    return box.passed, box.retried, box.failed, box.lost


def test_each_run_did_one_thing_on_the_day_of_its_start() -> None:
    [box] = found(report("a:P", 1), report("a:P2", 2), report("a:F", 2.5), report("b:I2", 4)).boxes

    assert kinds(box) == (1, 1, 2, 0)
    assert [*map(astuple, box.days)] == [
        (1, 1, 0, 0, 0, 0),
        (2, 0, 1, 1, 0, 0),
        (4, 0, 0, 1, 0, 0),
    ]
    assert (box.attempts, box.failed_attempts) == (6, 4)
    assert box.verdicts == Verdicts(device=1, infra=1)
    assert (box.first.part, box.first.total) == (3, 4)
    low, high = box.first.low, box.first.high
    assert low is not None
    assert high is not None
    assert low < 0.75 < high


def test_days_begin_at_midnight_of_the_zone() -> None:
    zone = ZoneInfo("Pacific/Auckland")  # 13 hours ahead
    days = calendar_days(Period(START, START + timedelta(days=1)), zone)
    runs = [report("a:P", minutes) for minutes in (0, 11 * 60 - 0.01, 11 * 60, 24 * 60)]
    [box] = found(*runs, days=days).boxes

    assert [(day.first_day.day, day.whole) for day in days] == [(1, False), (2, False)]
    assert [*map(astuple, box.days)] == [(0, 2, 0, 0, 0, 0), (1, 2, 0, 0, 0, 0)]


def test_it_took_what_runs_took_that_passed_at_the_first_attempt() -> None:
    def took(at: float, seconds: float, outcome: str = "P", box: str = "box-1") -> Report:
        test = replace(item(outcome), duration_s=seconds)
        return report(f"a:{outcome}", at, box=box, tests=[test])

    runs = [took(at, float(at)) for at in range(1, 11)]
    other = [took(20, 300, "F"), took(21, 300, "P2"), took(22, 300, "F", "box-2")]
    boxes = found(*runs, *other).boxes

    assert [one.took for one in boxes] == [Took(runs=10, middle=5.5, nine_of_ten=9.0), None]


def test_a_run_that_never_reached_the_hardware_is_lost_where_its_workflow_ran_the_test() -> None:
    other = report("a:L", 3, workflow="other")
    elsewhere = report("a:L", 4, box="box-2")
    listed = report("a:L", 5, box="box-3", tests=[item("F")])
    boxes = found(report("a:P", 1), report("a:L", 2), other, elsewhere, listed).boxes

    assert {one.box_key: kinds(one) for one in boxes} == {
        "box-1": (1, 0, 0, 1),
        "box-3": (0, 0, 0, 1),
    }
    assert [one.days[-1].unnamed for one in boxes] == [1, 0]
    assert boxes[1].first == Share(part=0, total=0, low=None, high=None)


def test_what_failed_after_the_board_was_lost_is_lost_and_in_no_rate() -> None:
    for names, did in (
        (("first", "second", TEST, "third", "last"), (40, 0, 0, 1)),
        (("first", TEST, "second", "third", "last"), (40, 0, 1, 0)),
    ):
        good = [item("P", name) for name in names]
        lost = [item("P", "first"), *(item("F", name) for name in names[1:])]
        reports = [report("a:P", at, tests=good) for at in range(1, 41)]
        [box] = found(*reports, report("a:F", 50, tests=lost)).boxes

        assert kinds(box) == did, "the test at which the board was lost failed"
        assert (box.first.part, box.first.total) == (did[2], 40 + did[2])
        assert box.failed_attempts == 1, "as the table of the specification counts it"


def test_commits_are_marked_where_they_ran_the_test_first_by_the_last_of_them() -> None:
    sent = changes("z", commit("a"), commit("b"))
    first, again = report("a:P", 1, sent=changes("z", commit("a"))), report("a:P", 7)
    marks = found(first, report("b:P", 1.5, sent=sent), again, report("c:P", 8)).commits

    assert [*map(astuple, marks)] == [(1, 2, "b", "Change b"), (8, 1, "c", "")]


def test_a_commit_has_the_subject_of_the_first_list_with_it_whatever_later_ones_call_it() -> None:
    renamed = replace(commit("a"), subject="Another")
    later = [
        report(f"{sha}:P", 2 + at, sent=changes("z", renamed, commit(sha)))
        for at, sha in enumerate("bcdefgh")
    ]
    marks = found(report("a:P", 1, sent=changes("z", commit("a"))), *later).commits

    assert [mark.subject for mark in marks if mark.sha == "a"] == ["Change a"]


def test_a_retry_and_a_run_again_are_told_by_what_they_gave() -> None:
    shown = found(
        report("a:F2", 1),
        report("a:P3", 2),
        report("a:F", 3),
        report("a:L", 4),
        report("a:P", 5, box="box-2"),
        report("b:P", 6),
    )

    assert shown.retries == Given(tries=2, passed=1)
    assert shown.reruns == Given(tries=2, passed=1)


def test_a_test_without_a_run_has_nothing() -> None:
    none = Given(tries=0, passed=0)
    nothing = found(report("a:P", 1, tests=[item("P", "other")]))
    assert (nothing.all, nothing.boxes, nothing.boxes_total, nothing.commits) == (None, (), 0, ())
    assert (nothing.retries, nothing.reruns) == (none, none)


@pytest.mark.parametrize("seed", range(rounds(20, 300)))
def test_its_attempts_are_those_of_the_specifications_table(seed: int) -> None:
    draw = random.Random(seed)
    reports = [
        report(
            f"{draw.choice('abc')}:{draw.choice(('P', 'P2', 'F', 'F3', 'I', 'L', '-'))}",
            at,
            box=f"box-{draw.randint(1, 3)}",
        )
        for at in range(1, 40)
    ]
    history = FullRecordedRuns(ORG, Facts(reports=tuple(reports)))
    [row] = flakiest(history, history.test_runs(ALL, PERIOD))
    every = found(*reports).all

    assert every is not None
    assert (every.attempts, every.failed_attempts) == (row.attempts, row.failed_attempts)
    assert every.retried == row.retry_passes
