# SPDX-License-Identifier: Apache-2.0
"""The conclusion about a test: each kind of test, by a planted cause."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from hwci.analysis.flaky.suspect_words import of_fixed, of_found
from hwci.analysis.one_test import one_test
from hwci.analysis.one_test_words import About, concluded, look_first
from hwci.analysis.periods.days import calendar_days
from hwci.engine.facts import Facts
from hwci.engine.history import Scope
from hwci.engine.periods import Period
from tests.analysis.races import ONE, RACE, only, planted
from tests.simulation.fleet import EPOCH, Cause, Kind
from tests.support.outcomes import FullRecordedRuns

PERIOD = Period(EPOCH, EPOCH + timedelta(days=300))
BUG = Cause(Kind.BUG, ONE, rate=1.0)
ON_ONE = Cause(Kind.BOX_TEST, ONE, frozenset({"bench-2"}), rate=0.3)


def said(facts: Facts, *, statistics: bool = True) -> str:
    history = FullRecordedRuns(UUID(int=1), facts)
    [runs] = history.outcomes(Scope(), PERIOD)
    days = calendar_days(PERIOD, ZoneInfo("UTC"))
    found = one_test(history, runs, runs.tests[0], days, statistics=statistics)
    assert found.all is not None
    about = About(history, runs, runs.tests[0], {})
    return concluded(about, found, found.all, statistics=statistics)


@pytest.mark.parametrize(
    ("cause", "begins", "has"),
    [
        (RACE, "Flaky since ", "in the same run, it passed 29 of 53 times."),
        (replace(BUG, since=20), "Broken since ", "on all boxes alike, firmware only"),
        (BUG, "It never passed in this period. ", "failed in 180 of all 180 runs on 5 boxes;"),
        (ON_ONE, "Flaky since ", ". Look at bench-2 first. "),
        (
            ON_ONE,
            "Flaky since ",
            ", fails on bench-2 only (13 of 40 against 0 of 160 on the same commits), ",
        ),
        (replace(RACE, rate=0.0), "Steady: ", "passed at the first attempt in all of "),
    ],
)
def test_it_says_what_the_test_is_and_on_which_boxes(cause: Cause, begins: str, has: str) -> None:
    text = said(planted(cause).facts)

    assert text.startswith(begins)
    assert has in text


def test_since_when_is_what_flaky_tests_say() -> None:
    facts = planted(replace(BUG, since=20)).facts
    row = only(facts)
    assert row.found is not None
    assert row.found.broken

    text = said(facts).lower()
    assert text.startswith(of_found(row.found))
    assert f". {of_fixed(row.found.fixed)}. " in text


@pytest.mark.parametrize(("share", "is_named"), [(0.0999, False), (0.1, True)])
def test_a_commit_that_is_no_lead_is_not_named(share: float, is_named: bool) -> None:
    found = only(planted(RACE).facts).found
    assert found is not None
    best, *_ = found.since.suspects
    since = replace(found.since, suspects=[best._replace(share=share)], suspects_total=7, before=0)

    text = of_found(replace(found, since=since))

    assert text.startswith("flaky since one of 7 commits, ")
    assert ("likeliest" in text) is is_named


@pytest.mark.parametrize(
    ("before", "share", "alike", "box", "place"),
    [
        (0.1, 0.8, 0.5, None, "look at {sha} first"),
        (0.1, 0.8, 0.5, "bench-2", "look at {sha} first, on bench-2"),
        (0.1, 0.4, 0.5, "bench-2", "look at bench-2 first"),
        (0.1, 0.4, 0.95, None, None),
        (0.9, 0.0, 0.1, "bench-2", "look at bench-2 first"),
        (0.9, 0.0, 0.95, None, "look at the firmware and the test first: no bench stands out"),
        (0.9, 0.0, 0.5, None, None),
        (0.9, 0.0, None, None, None),
    ],
)
def test_where_to_look_first_is_the_commit_else_the_box_else_no_bench(
    before: float, share: float, alike: float | None, box: str | None, place: str | None
) -> None:
    found = only(planted(RACE).facts).found
    assert found is not None
    best, *_ = found.since.suspects
    since = replace(found.since, before=before, suspects=[best._replace(share=share)])
    found = replace(found, since=since, boxes=replace(found.boxes, alike=alike))

    expected = [] if place is None else [place.format(sha=best.commit.sha[:12])]

    assert list(look_first(found, box)) == expected
    partly = replace(found, boxes=replace(found.boxes, compared=found.boxes.boxes_total - 1))
    assert not any("no bench" in one for one in look_first(partly, box))
    assert not list(look_first(replace(found, fixed=replace(found.fixed, needed=0)), box))


def test_one_box_cannot_be_told_from_the_firmware() -> None:
    text = said(planted(RACE, boxes=1, runs=60).facts)

    assert text.endswith(" Only bench-1 ran it, so bench and firmware cannot be told apart.")
    assert "the only box" not in text


def test_too_few_runs_are_not_judged() -> None:
    few = planted(replace(RACE, since=0), runs=60).facts
    few = replace(few, reports=few.reports[:8])
    none = planted(runs=60).facts

    assert "Not enough data to say since when: 8 runs on main; 20 are needed." in said(few)
    assert said(replace(none, reports=none.reports[:8])).startswith(
        "Not enough data to call it steady: it passed in 8 runs on "
    )


def test_one_run_is_called_the_only_one() -> None:
    facts = planted(BUG).facts
    text = said(replace(facts, reports=facts.reports[:1]))

    assert " Its first attempt failed in its only run on " in text
    assert "1 run" not in text


def test_without_statistics_the_counts_are_left() -> None:
    text = said(planted(RACE).facts, statistics=False)

    assert "hwci[statistics]" in text
    assert " failed in 53 of all 200 runs on 5 boxes; " in text


def test_runs_that_were_all_lost_say_nothing() -> None:
    facts = planted(RACE).facts
    lost = tuple(replace(one, hello_ok=False) for one in facts.reports)

    assert said(replace(facts, reports=lost)).startswith("Not enough data: all runs were lost")
