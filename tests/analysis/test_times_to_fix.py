# SPDX-License-Identifier: Apache-2.0
"""Times to detect and to fix: between which instants, by small pictures; what is counted once, by
the incidents of random histories; medians, by scipy.
"""

import random
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from statistics import median_low
from typing import Any

import pytest

from hwci.analysis.failures.incidents import incidents
from hwci.analysis.periods.spread import FEWEST, spread
from hwci.analysis.periods.times_to_fix import times_to_fix
from hwci.contract.periods.times_to_fix import IncidentTimes, TimesToFix
from hwci.contract.runs.merges import Merge
from hwci.contract.vocabulary import Label
from hwci.engine.periods import Period, last_days
from tests.analysis.stories import BROKEN, run, story
from tests.analysis.stories import runs as together_again
from tests.engine.timeline import (
    ALL,
    BOX,
    EVER,
    MAIN,
    ORG,
    REPO,
    SUITE,
    Past,
    changes,
    commit,
    minute,
    report,
    seen,
)
from tests.support.outcomes import FullRecordedRuns
from tests.support.soak import rounds

DAY = 24 * 60
BRANCHES = [str(number) for number in range(FEWEST)]
TESTS = [f"test{number}" for number in range(FEWEST)]


def found(past: Past, period: Period = EVER) -> dict[tuple[str | None, str | None], TimesToFix]:
    rows = times_to_fix(FullRecordedRuns(ORG, past.facts), ALL, period)
    return {(row.suite, row.box_key): row for row in rows}


def merged(sha: str, at: float, branch: str = MAIN, suite: str | None = None) -> Merge:
    return Merge(REPO, suite, sha, branch, minute(at))


def broken_often(merges: dict[str, float]) -> Past:
    """As many tests as are enough break, one after the other, each by a commit of its own, fail a
    minute after its run of the hour began, and pass an hour later.
    """
    runs = [run("s", 0, dict.fromkeys(TESTS, "P"))]
    for number, name in enumerate(TESTS):
        at, bad, good = 120.0 * number + 60, f"b{number}", f"c{number}"
        before = f"c{number - 1}" if number else "s"
        passing = dict.fromkeys(TESTS, "P")
        runs.append(run(bad, at, passing | {name: "F"}, base=before))
        runs.append(run(good, at + 60, passing, base=bad))
    return Past(runs).announced(*(merged(sha, at) for sha, at in merges.items()))


def test_the_time_to_detect_is_from_the_merge_to_the_start_of_the_first_failing_run() -> None:
    past = broken_often({f"b{number}": 120.0 * number + 50 - number for number in range(FEWEST)})
    row = found(past)[SUITE, None]

    assert (row.incidents, row.failing, row.to_detect.known) == (FEWEST, 0, FEWEST)
    # 10, 11, 12, 13, 14 and 15 minutes
    assert row.to_detect.quarter_s == 11 * 60
    assert row.to_detect.median_s == 12 * 60
    assert row.to_detect.three_quarters_s == 14 * 60


def test_the_time_to_fix_is_from_the_first_failing_run_to_the_first_that_passed() -> None:
    row = found(broken_often({}))[SUITE, BOX]

    assert (row.to_fix.known, row.to_fix.median_s) == (FEWEST, 60 * 60)
    assert (row.to_detect.known, row.to_detect.median_s) == (0, None)


@pytest.mark.parametrize(
    ("merges", "minutes"),
    [
        pytest.param({"b": 3.0, "c": 5.0}, 7, id="of the first suspect"),
        pytest.param({"c": 5.0}, 5, id="the merge that brought it"),
        pytest.param({"a": 1.0}, None, id="one that is not in the list"),
        pytest.param({"b": 12.0}, None, id="one after the failure"),
        pytest.param({"b": -366 * DAY}, None, id="one of too long ago"),
        pytest.param({}, None, id="none"),
    ],
)
def test_a_range_begins_with_the_merge_that_brought_its_first_suspect(
    merges: dict[str, float], minutes: int | None
) -> None:
    listed = changes("a", commit("doc"), commit("b", "fw"), commit("c", "fw"))
    past = Past()
    for branch in BRANCHES:
        failed = report("c:F", 10, branch=branch, sent=listed, run_id=int(branch))
        past = past.and_also(report("a:P", 2, branch=branch, run_id=int(branch)), failed)
        past = past.announced(
            *past.announcements, *(merged(*one, branch) for one in merges.items())
        )
    row = found(past, Period(minute(0), minute(DAY)))[SUITE, None]

    assert (row.incidents, row.failing) == (FEWEST, FEWEST)
    assert row.to_detect.median_s == (None if minutes is None else minutes * 60)


def test_a_merge_of_another_branch_is_another_one() -> None:
    past = broken_often({f"b{number}": 120.0 * number + 50 for number in range(FEWEST)})
    elsewhere = [replace(one, branch="topic") for one in past.announcements]

    assert found(replace(past, announcements=elsewhere))[SUITE, None].to_detect.known == 0


def test_tests_that_fail_together_again_and_again_are_counted_once() -> None:
    past = Past(together_again(i2c={5, 15, 25, 35}, spi={5, 15, 25, 35}, adc={20}))
    row = found(past)[SUITE, BOX]

    assert (row.incidents, row.failing, row.to_fix.known) == (2, 0, 2)


def beside(past: Past, days: int, until: float) -> dict[str | None, TimesToFix]:
    """Return the times of all boxes and of each, in the last days up to a minute."""
    period = last_days(days, minute(until))
    rows = times_to_fix(FullRecordedRuns(ORG, past.facts), ALL, period)
    return {row.box_key: row for row in rows if row.suite is not None}


def test_each_row_stands_beside_that_of_the_period_before() -> None:
    """In the first two days box-1 takes ten minutes to fix, in the next two twenty, and box-2 too,
    which has no failure before.
    """
    past = Past([report("z:P", -1)])
    for number, branch in enumerate(BRANCHES):
        about: dict[str, Any] = {"branch": branch, "run_id": number}
        for day, minutes, boxes in ((0, 10, ["box-1"]), (2, 20, ["box-1", "box-2"])):
            bad, good, at = f"b{day}", f"c{day}", day * DAY + 60.0
            for box in boxes:
                failed = report(f"{bad}:F", at, box=box, **about)
                past = past.and_also(failed, report(f"{good}:P", at + minutes, box=box, **about))
    rows = beside(past, 2, 4 * DAY)

    assert {box: (row.incidents, before_of(row).incidents) for box, row in rows.items()} == {
        None: (FEWEST, FEWEST),
        "box-1": (FEWEST, FEWEST),
        "box-2": (FEWEST, 0),
    }
    assert rows["box-1"].to_fix.median_s == 20 * 60
    assert before_of(rows["box-1"]).to_fix.half == "10 min"
    assert before_of(rows["box-2"]).to_fix.half == "not enough data"


def before_of(row: TimesToFix) -> IncidentTimes:
    assert row.before is not None
    return row.before


def seconds(time: timedelta | None) -> float | None:
    return None if time is None else time.total_seconds()


def test_a_period_before_that_was_not_all_recorded_is_not_compared_with() -> None:
    past = seen(f"{BOX} | a:F b:P")

    assert [one.before for one in beside(past, 2, DAY).values()] == [None, None]


def test_what_failed_before_and_still_does_has_lasted_until_now() -> None:
    """Six of the period before are fixed after a day; six more began to fail in its last hour."""
    past = Past([report("z:P", -1), report("e:F", 3 * DAY, box="box-3")])
    for number, branch in enumerate(BRANCHES):
        about: dict[str, Any] = {"branch": branch, "run_id": number}
        fixed = report("b:F", 60, **about), report("c:P", 60 + DAY, **about)
        past = past.and_also(*fixed, report("d:F", 2 * DAY - 60, box="box-2", **about))
    row = before_of(beside(past, 2, 4 * DAY)[None])

    assert (row.incidents, row.failing) == (2 * FEWEST, FEWEST)
    assert (row.to_fix.median_s, row.to_fix.three_quarters_s) == (DAY * 60, None)


def test_what_one_cause_breaks_on_two_boxes_is_counted_once_and_fixed_with_the_last() -> None:
    past = Past([*BROKEN, run("e", 9, {"adc": "P"})])
    rows = found(past)

    assert rows[None, None].incidents == rows[SUITE, None].incidents == 2
    assert (rows[SUITE, "box-1"].incidents, rows[SUITE, "box-2"].incidents) == (2, 1)
    assert list(rows) == [
        (None, None),
        (SUITE, None),
        (SUITE, "box-1"),
        (SUITE, "box-2"),
    ]


def test_an_incident_is_fixed_with_the_last_of_its_boxes() -> None:
    past = Past()
    for branch in BRANCHES:
        for box, fixed in (("box-1", 20), ("box-2", 30)):
            about: dict[str, Any] = {"branch": branch, "box": box, "run_id": int(branch)}
            runs = [("a:P", 2), ("b:F", 10), ("c:P", fixed)]
            past = past.and_also(*(report(run, at, **about) for run, at in runs))
    rows = found(past)

    assert rows[SUITE, None].to_fix.median_s == 20 * 60
    assert rows[SUITE, "box-1"].to_fix.median_s == 10 * 60


def test_what_still_fails_counts_as_taking_longer() -> None:
    """Seven are fixed after 1, 2, ... 7 hours; of nine more nothing is known but that they last."""
    hours = [timedelta(hours=number) for number in range(1, 8)]
    lasting = [timedelta(hours=20)] * 9

    assert spread(hours).median_s == 4 * 3600
    found = spread(hours, lasting)
    assert (found.quarter_s, found.median_s) == (4 * 3600, None)
    assert spread(hours, lasting[:7]).median_s == 7 * 3600


def test_too_few_times_have_no_median() -> None:
    few = [timedelta(hours=1)] * (FEWEST - 1)

    assert (spread(few).median_s, spread(few).known, spread(few).missing) == (None, 5, "few")
    assert spread([*few, timedelta()]).median_s is not None
    # That the true median is outside of all of them has this chance.
    assert 2 * 0.5**FEWEST < 0.05 < 2 * 0.5 ** (FEWEST - 1)


def test_without_lasting_ones_the_median_is_the_median() -> None:
    for seed in range(rounds(100, 5_000)):
        draw = random.Random(seed)
        times = [timedelta(hours=draw.randint(0, 9)) for _ in range(draw.randint(FEWEST, 30))]
        assert spread(times).median_s == seconds(median_low(times))


def share_that_lasts_longer(ended: list[int], lasting: list[int], than: int) -> Fraction:
    """Return the share by what Efron calls redistribution to the right: each time has the same
    weight, and one that has not ended gives its own to those that last longer.
    """
    times = sorted([*((at, False) for at in ended), *((at, True) for at in lasting)])
    weights = [Fraction(1, len(times))] * len(times)
    for place, (_, lasts) in enumerate(times):
        rest = len(times) - place - 1
        if lasts and rest:
            for later in range(place + 1, len(times)):
                weights[later] += weights[place] / rest
            weights[place] = Fraction(0)
    return Fraction(1) - sum(
        (w for (at, lasts), w in zip(times, weights, strict=True) if at <= than and not lasts),
        Fraction(0),
    )


def test_what_lasts_counts_as_far_as_it_was_seen_and_no_further() -> None:
    reached = Counter[bool]()
    for seed in range(rounds(50, 2_000)):
        draw = random.Random(seed)
        ended = [draw.randint(0, 20) for _ in range(draw.randint(FEWEST, 12))]
        lasting = [draw.randint(0, 20) for _ in range(draw.randint(0, 24))]
        told = spread(
            [timedelta(seconds=t) for t in ended], [timedelta(seconds=t) for t in lasting]
        )
        left = {at: share_that_lasts_longer(ended, lasting, at) for at in sorted(ended)}
        for share, time in ((3, told.quarter_s), (2, told.median_s), (1, told.three_quarters_s)):
            expected = next((at for at in left if left[at] <= Fraction(share, 4)), None)
            assert time == expected, seed
            reached[time is None] += 1
    assert min(reached[True], reached[False]) > 10


@pytest.mark.parametrize(
    ("hours", "lasting", "said"),
    [
        ([1] * 5, 0, "not enough data (5 known, 6 needed)"),
        ([0.5, 1, 2, 3, 50, 100], 0, "2 h (half took 1 h to 2.1 days)"),
        ([0.5, 1, 2, 3, 50, 100], 4, "2.1 days (a quarter: up to 2 h)"),
        ([0.01, 1, 2, 3, 50, 100], 9, "more than half have not ended (a quarter: up to 3 h)"),
        ([1] * 6, 30, "more than three quarters have not ended"),
        ([0.01, 0.02, 0.26, 0.51, 1.1, 2.25], 0, "16 min (half took 1 min to 1 h 6 min)"),
    ],
)
def test_a_spread_is_said_in_words(hours: list[float], lasting: int, said: str) -> None:
    last = [timedelta(days=99)] * lasting
    assert spread([timedelta(hours=one) for one in hours], last).says == said


def test_what_is_counted_once_is_one_incident_on_random_histories() -> None:
    sizes = Counter[int]()
    for seed in range(rounds(200, 10_000)):
        past = story(random.Random(seed))
        told = incidents(FullRecordedRuns(ORG, past.facts), ALL, EVER)
        rows = found(past)
        counted = Counter[tuple[str | None, str | None]]()
        failing = Counter[tuple[str | None, str | None]]()
        for one in told:
            suite = one.product.suite
            pending = {
                failed.key.lane.box_key for failed in one.failed if failed.label is Label.PENDING
            }
            for of in ((None, None), (suite, None)):
                counted[of] += 1
                failing[of] += bool(pending)
            for box in one.boxes:
                counted[suite, box] += 1
                failing[suite, box] += box in pending

        expected = {of: (number, failing[of]) for of, number in counted.items()}
        assert {of: (row.incidents, row.failing) for of, row in rows.items()} == expected, seed
        assert all(row.to_fix.known == row.incidents - row.failing for row in rows.values())
        sizes[len(told)] += 1
    assert len(sizes) > 3


def test_what_fails_together_is_one_incident_on_random_histories_too() -> None:
    joined = 0
    for seed in range(rounds(8, 500)):
        draw = random.Random(seed)
        both = {draw.randrange(1, 39) for _ in range(5)}
        other = {draw.randrange(1, 39) for _ in range(3)}
        past = Past(together_again(i2c=both, spi=draw.choice([both, both | other]), adc=other))
        told = incidents(FullRecordedRuns(ORG, past.facts), ALL, EVER)
        row = found(past)[SUITE, BOX]
        failing = sum(one.label is Label.PENDING for one in told)

        assert (row.incidents, row.failing) == (len(told), failing), seed
        joined += any(one.times > 1 for one in told)
    assert joined


def test_a_failure_that_a_review_alone_calls_resolved_is_left_out() -> None:
    past = seen(f"{BOX} | a:P b:F b:P").reviewed("b", "confirm")

    assert found(past) == {}


def test_a_period_from_year_1_is_read() -> None:
    long_ago = Period(datetime.min.replace(tzinfo=UTC), minute(DAY))

    assert found(broken_often({}), long_ago)[SUITE, None].incidents == FEWEST
