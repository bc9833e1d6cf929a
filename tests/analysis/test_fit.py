# SPDX-License-Identifier: Apache-2.0
"""Whether a box may take a job: each check at its bound, and what is too little to tell."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from hwci.analysis.benches.fit import Bounds, fitness
from hwci.contract.boxes.benches import BoxHealth, Comparison, Counts, Note, OneBox
from hwci.contract.boxes.fit import FitCheck
from hwci.contract.shares import Share
from hwci.contract.vocabulary import NotCompared
from hwci.engine.periods import last_days

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
BOUNDS = Bounds(timedelta(hours=24), 5, timedelta(minutes=15), may_be_worse=False)
ALIKE = Comparison(
    odds_ratio=1, low=1, high=1, times_as_often=1, chance=1, false_discovery=1, named=False
)
GOOD = BoxHealth(
    says="no sign that it is worse than bench-2",
    counts=Counts(failed=0, results=0, others_failed=0, others_results=0),
    commits=9,
    comparison=ALIKE,
    missing=None,
    never_reached=Share(part=0, total=20, low=0, high=0.1),
    lost_board=Share(part=1, total=20, low=0, high=0.2),
    lost_runs=(),
    board_seconds=1,
    last_run_at=NOW,
    last_clean_run_at=NOW,
    answer="",
    evidence="",
    box_key="bench-1",
    note=None,
    before=None,
    idle=False,
    last_seen_at=NOW - timedelta(minutes=15),
)


def one_box(box: BoxHealth | None = GOOD, clean: timedelta | None = timedelta(hours=24)) -> OneBox:
    """Return the answer about a box. `clean`: how long ago its last clean run began."""
    return OneBox(
        period=last_days(7, NOW),
        box_key="bench-1",
        box=box,
        shares=None,
        others=None,
        board_seconds=1,
        last_clean_run_at=None if clean is None else NOW - clean,
        tests=(),
        alone=(),
        alone_total=0,
        zone="UTC",
        days=(),
        by_day=(),
    )


def met(answer: OneBox, check: FitCheck, bounds: Bounds = BOUNDS) -> bool | None:
    """Return whether one check is met; the others are, or the box is not fit by this one alone."""
    whole = fitness(answer, bounds, strict=False)
    by_check = {row.check: row.met for row in whole.checks}
    assert whole.fit is (False not in by_check.values())
    assert fitness(answer, bounds, strict=True).fit is ({*by_check.values()} == {True})
    return by_check[check]


def test_a_box_is_fit_at_the_bound_of_each_check() -> None:
    assert fitness(one_box(), BOUNDS, strict=True).fit


@pytest.mark.parametrize(
    ("answer", "check", "says"),
    [
        (
            one_box(clean=timedelta(hours=24, minutes=1)),
            FitCheck.CLEAN,
            "Its last clean run began 24 h 1 min ago: more than 24 h",
        ),
        (one_box(clean=None), FitCheck.CLEAN, "No run of the last 7 days was clean"),
        (
            one_box(replace(GOOD, lost_board=Share(part=1, total=19, low=0, high=0.2))),
            FitCheck.LOSSES,
            "It lost its board in 1 of 19 runs, 5.3 %: more than 5 %",
        ),
        (
            one_box(replace(GOOD, lost_board=Share(part=1, total=1, low=None, high=None))),
            FitCheck.LOSSES,
            "It lost its board in 1 of 1 run, 100.0 %: more than 5 %",
        ),
        (
            one_box(replace(GOOD, comparison=replace(ALIKE, named=True), says="fails often")),
            FitCheck.WORSE,
            "Against the others: fails often",
        ),
        (
            one_box(replace(GOOD, last_seen_at=NOW - timedelta(minutes=16))),
            FitCheck.SILENT,
            "Its last heartbeat came 16 min ago: more than 15 min",
        ),
    ],
)
def test_a_box_beyond_a_bound_is_not_fit(answer: OneBox, check: FitCheck, says: str) -> None:
    assert met(answer, check) is False
    assert [row.says for row in fitness(answer, BOUNDS, strict=False).checks if not row.met] == [
        says
    ]


@pytest.mark.parametrize(
    ("box", "check"),
    [
        (replace(GOOD, lost_board=None), FitCheck.LOSSES),
        (
            replace(GOOD, lost_board=Share(part=0, total=3, low=None, high=None)),
            FitCheck.LOSSES,
        ),
        (replace(GOOD, comparison=None, missing=NotCompared.ONE_BOX), FitCheck.WORSE),
        (replace(GOOD, comparison=None, missing=NotCompared.FEW_COMMITS), FitCheck.WORSE),
        (replace(GOOD, comparison=None, missing=NotCompared.NOTHING_IN_COMMON), FitCheck.WORSE),
        (replace(GOOD, last_seen_at=None), FitCheck.SILENT),
        (None, FitCheck.CLEAN),
    ],
)
def test_too_little_to_tell_is_neither_met_nor_not(box: BoxHealth | None, check: FitCheck) -> None:
    assert met(one_box(box), check) is None


def test_a_box_that_passed_and_failed_as_the_others_is_not_worse() -> None:
    alike = replace(GOOD, comparison=None, missing=NotCompared.NO_FAILURE)

    assert met(one_box(alike), FitCheck.WORSE) is True


@pytest.mark.parametrize(
    "box",
    [
        replace(GOOD, comparison=replace(ALIKE, named=True)),
        replace(GOOD, comparison=None, missing=NotCompared.ONE_BOX),
    ],
)
def test_a_box_that_may_be_worse_is_fit_and_needs_no_other(box: BoxHealth) -> None:
    assert met(one_box(box), FitCheck.WORSE, BOUNDS._replace(may_be_worse=True)) is True


def test_a_box_that_was_mended_and_did_not_run_since_has_to_run_first() -> None:
    broken = replace(
        GOOD,
        idle=True,
        note=Note(at=NOW, text="new cable"),
        comparison=replace(ALIKE, named=True),
        lost_board=Share(part=9, total=9, low=0.5, high=1),
    )
    answer = fitness(one_box(broken, clean=None), BOUNDS, strict=False)

    assert [row.met for row in answer.checks] == [None, None, None, True]
    assert answer.checks[0].says == "It ran nothing since the note of 4 May"
