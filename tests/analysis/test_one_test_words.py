# SPDX-License-Identifier: Apache-2.0
"""The conclusion about a test and on what it rests: each kind of test, by a planted cause. Which
answer is given is tested in `test_suspected.py`.
"""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from hwci.analysis.failures.incidents import failing_incidents
from hwci.analysis.flaky.suspect_words import of_found, since_when
from hwci.analysis.flaky.suspects import SeenProduct, pending_by_test
from hwci.analysis.one_test import one_test
from hwci.analysis.one_test_words import About, Concluded, concluded
from hwci.contract.vocabulary import Claim
from hwci.engine.calendar import calendar_days
from hwci.engine.facts import Facts
from hwci.engine.history import Scope
from hwci.engine.periods import Period
from hwci.engine.rules.flakiness import has_failed_attempt
from tests.analysis.races import ONE, RACE, only, planted
from tests.simulation.fleet import EPOCH, Cause, Kind
from tests.support.outcomes import FullRecordedRuns

PERIOD = Period(EPOCH, EPOCH + timedelta(days=300))
BUG = Cause(Kind.BUG, ONE, rate=1.0)
ON_ONE = Cause(Kind.BOX_TEST, ONE, frozenset({"bench-2"}), rate=0.3)


def told(facts: Facts) -> Concluded:
    history = FullRecordedRuns(UUID(int=1), facts)
    [runs] = history.outcomes(Scope(), PERIOD)
    days = calendar_days(PERIOD, ZoneInfo("UTC"))
    seen = SeenProduct(history, runs)
    found = one_test(history, seen, (runs.product, runs.tests[0]), days, "UTC")
    assert found.all is not None
    key = runs.product, runs.tests[0]
    pending = pending_by_test(history, [key], PERIOD).get(key, [])
    failing = failing_incidents(history, Scope(), PERIOD, runs.tests[0])
    about = About(seen, runs.tests[0], pending, failing)
    return concluded(about, found, found.all)


def said(facts: Facts) -> str:
    found = told(facts)
    return f"{found.answer} {found.says}"


@pytest.mark.parametrize(
    ("cause", "begins", "has"),
    [
        (RACE, "Fails now on bench-4 and ", "; a retry passed in 29 of 53 runs."),
        (
            replace(BUG, since=20),
            "Fails now on 5 boxes: on 27 commits of main since ",
            (
                ". Its runs say that it has failed since one of 3 commits, likeliest 8c497c680000"
                " (33 %). Its"
            ),
        ),
        (BUG, "Fails now on 5 boxes: ", "failed in 180 of all 180 runs on 5 boxes;"),
        (
            ON_ONE,
            "Flaky on bench-2 only, since one of 24 commits: suspect the bench, or firmware ",
            (
                " To tell bench from firmware, swap the board of bench-2 with that of another"
                " bench: if the failures stay on bench-2, it is the bench; if they move, it is the"
                " board or the firmware."
            ),
        ),
        (replace(RACE, rate=0.0), "Steady: ", "passed at the first attempt in all of "),
    ],
)
def test_it_says_what_the_test_is_and_on_which_boxes(cause: Cause, begins: str, has: str) -> None:
    text = said(planted(cause).facts)

    assert text.startswith(begins)
    assert has in text


def test_runs_of_other_boxes_do_not_count_towards_a_fix_of_the_one_that_fails() -> None:
    facts = planted(ON_ONE, verdicts=0.0).facts
    own = [one for one in facts.reports if one.box_key == "bench-2"]
    failed = [has_failed_attempt(one.tests[0]) for one in own]
    clean = failed[::-1].index(True)

    assert f" Its last {clean} runs passed at the first attempt, " in said(facts)


def test_since_when_is_what_flaky_tests_say() -> None:
    facts = planted(replace(BUG, since=20)).facts
    row = only(facts)
    assert row.found is not None
    assert row.found.broken

    text = said(facts)
    assert of_found(row.found, Claim.BROKEN).startswith(f"broken {since_when(row.found.since)}")
    assert f" it has failed {since_when(row.found.since)}. " in text
    assert " must pass so " not in text


def test_what_began_before_the_period_says_so_and_what_began_with_the_first_run_does_not() -> None:
    always = planted(replace(RACE, since=0), seed=3).facts
    first, *_ = sorted(one.started_at for one in always.reports)
    long_ago = replace(always.reports[0], run_id=1, started_at=first - timedelta(days=900))
    early = replace(always, reports=(long_ago, *always.reports))

    assert told(early).began_before
    assert " since before 1 Jan: " in told(early).answer
    assert not told(always).began_before
    assert " as far back as runs go (1 Jan): " in told(always).answer


@pytest.mark.parametrize(("before", "likely"), [(0.89, "likely "), (0.9, "")])
@pytest.mark.parametrize(
    ("is_first", "began"), [(True, "as far back as runs go (1 Jan)"), (False, "since before 1 Jan")]
)
def test_the_day_on_which_the_runs_begin_is_not_told_as_a_start_that_is_sure(
    before: float, likely: str, is_first: bool, began: str
) -> None:
    found = only(planted(RACE).facts).found
    assert found is not None

    assert since_when(replace(found.since, before=before, is_first=is_first)) == f"{likely}{began}"


@pytest.mark.parametrize(("share", "is_named"), [(0.1999, False), (0.2, True)])
def test_a_commit_that_is_no_lead_is_not_named(share: float, is_named: bool) -> None:
    found = only(planted(RACE).facts).found
    assert found is not None
    best, *_ = found.since.suspects
    since = replace(
        found.since, suspects=(replace(best, chance=share),), suspects_total=7, before=0
    )

    text = of_found(replace(found, since=since), Claim.FLAKY)

    assert text.startswith("flaky since one of 7 commits, ")
    assert ("likeliest" in text) is is_named


def test_one_box_cannot_be_told_from_the_firmware() -> None:
    text = said(planted(replace(BUG, since=20), boxes=1, runs=60).facts)

    assert text.endswith(" Only bench-1 ran it, so no other tells bench from firmware.")
    assert "no other tells" not in said(planted(RACE, boxes=1, runs=60).facts)
    assert "the only box" not in text


def test_it_says_so_too_of_a_box_whose_name_is_like_these_words() -> None:
    facts = planted(replace(BUG, since=20), boxes=1, runs=60).facts
    named = [replace(one, box_key="the only bench") for one in facts.reports]

    assert "so no other tells bench from firmware" in said(replace(facts, reports=tuple(named)))


def test_too_few_runs_are_not_judged() -> None:
    few = planted(replace(RACE, since=0), runs=60).facts
    few = replace(few, reports=few.reports[:8])
    none = planted(runs=60).facts

    assert "Not enough data to say whether it is flaky: 8 runs on main; 20 are needed." in said(few)
    assert said(replace(none, reports=none.reports[:8])).startswith(
        "Not enough data to call it steady: it passed in 8 runs on "
    )


def test_one_run_is_called_the_only_one() -> None:
    facts = planted(BUG).facts
    text = said(replace(facts, reports=facts.reports[:1]))

    assert " Its first attempt failed in its only run on " in text
    assert "all 1 run" not in text


def test_runs_that_were_all_lost_say_nothing() -> None:
    facts = planted(RACE).facts
    lost = tuple(replace(one, hello_ok=False) for one in facts.reports)

    assert said(replace(facts, reports=lost)).startswith("Not enough data: all runs were lost")
