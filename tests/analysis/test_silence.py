# SPDX-License-Identifier: Apache-2.0
"""How long a box was silent, by small pictures (semantics, 12)."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hwci.analysis.benches.report import Note, benches
from hwci.analysis.benches.silence import Gap, Silence
from hwci.engine.facts import Facts, Report
from hwci.engine.periods import Period
from tests.engine.timeline import ALL, ORG, SUITE, minute, report
from tests.support.outcomes import FullRecordedRuns

DAY = 24 * 60
LENGTH = 1  # minutes of a run
BACK = f"{minute(18 * DAY):%-d %b}"


def runs(days: Iterable[float], box: str = "bench-1", suite: str = SUITE) -> list[Report]:
    """A run at each of these days."""
    return [report("a:P", day * DAY, box=box, suite=suite) for day in days]


def weekdays(weeks: int, *without: int) -> list[int]:
    """Return the days of so many weeks but their sixth and seventh, and but these."""
    return [day for day in range(7 * weeks) if day % 7 < 5 and day not in without]


def silence(reports: Iterable[Report], days: float = 42, *notes: tuple[str, Note]) -> Silence:
    """Return the silence of bench-1 over so many days."""
    history = FullRecordedRuns(ORG, Facts(reports=tuple(reports)))
    found = benches(history, ALL, Period(minute(0), minute(days * DAY)), 100, dict(notes))
    return next(one.silence for one in found.boxes if one.box_key == "bench-1")


def days(number: float) -> timedelta:
    return timedelta(days=number) - timedelta(minutes=LENGTH)


def test_a_weekend_is_usual_where_every_week_has_one() -> None:
    found = silence(runs(weekdays(6)))
    assert (found.weeks, found.usual, found.longer) == (6, days(3), [])
    assert found.now == days(3)  # the last weekend, which has not ended
    assert (
        found.says
        == "no gap that is longer than usual; in a usual week its longest gap is 3.0 days"
    )


def test_a_gap_of_more_than_twice_the_usual_is_told_with_its_ends() -> None:
    found = silence(runs(weekdays(6, *range(14, 18))))
    last, back = minute(11 * DAY + LENGTH), minute(18 * DAY)
    assert found.longer == [Gap(last, back, days(7), None)]
    assert found.says.startswith(f"was silent for 7.0 days until {BACK}; in a usual week ")
    five = runs(weekdays(6, *range(14, 16)))  # no more than twice three
    assert not silence(five).longer


def test_a_silence_that_lasts_until_the_end_is_shown_as_silent_now() -> None:
    found = silence(runs(weekdays(4)))
    [gap] = found.longer
    assert (gap.end, gap.length, found.now) == (None, days(17), days(17))
    assert found.says.startswith("silent for 17.0 days now; ")


def test_others_tell_whether_anything_ran_meanwhile() -> None:
    own = runs(weekdays(6, *range(14, 18)))
    busy = silence([*own, *runs(weekdays(6), "bench-2")])
    idle = silence([*own, *runs(weekdays(6, *range(12, 19)), "bench-2")])
    elsewhere = silence([*own, *runs(weekdays(6), "bench-2", suite="another")])
    assert [one.longer[0].others for one in (busy, idle, elsewhere)] == [4, 0, None]
    assert f"7.0 days until {BACK}, while other boxes ran its tests 4 times;" in busy.says
    assert f"7.0 days until {BACK}, while no other box ran its tests;" in idle.says


def test_earlier_silences_are_counted_beside_the_latest() -> None:
    found = silence(runs(weekdays(8, *range(7, 12), *range(28, 33))), 56)
    assert [one.length for one in found.longer] == [days(10), days(10)]
    assert found.total == days(10) * 2
    assert "; before that 1 time, 10.0 days in all; " in found.says


def test_too_few_weeks_do_not_tell_what_is_usual() -> None:
    for past, weeks in (([*weekdays(2)], 2), ([0], 0)):
        found = silence(runs(past), 21)
        assert (found.weeks, found.usual, found.longer) == (weeks, None, [])
        assert f"not enough data to say what is usual: {weeks} weeks with a gap" in found.says
    assert silence(runs(weekdays(3)), 21).usual == days(3)
    assert silence(runs(weekdays(3)), 20).usual is None  # the period has a part of the first week


def test_the_last_week_that_there_is_does_not_end_after_all_time() -> None:
    last = datetime.max.replace(tzinfo=UTC)
    starts = [last - timedelta(days=day) for day in (21.5, 15, 8, 1)]
    reports = [
        replace(report("a:P", 0, box="bench-1", suite=SUITE), started_at=at, ended_at=at)
        for at in starts
    ]
    history = FullRecordedRuns(ORG, Facts(reports=tuple(reports)))
    [box] = benches(history, ALL, Period(last - timedelta(days=22), last), 100, {}).boxes

    assert box.silence.weeks == 2  # without the part of a week at the start
    assert box.silence.now == timedelta(days=1)


def test_runs_that_overlap_leave_no_gap_and_a_note_does_not_split_it() -> None:
    long = [replace(one, ended_at=one.started_at + 4 * days(1)) for one in runs(range(0, 28, 3))]
    assert silence(long, 28).usual is None  # it was never without a run
    own = runs(weekdays(6, *range(14, 18)))
    note = "bench-1", Note(minute(16 * DAY), "new cable")
    assert silence(own, 42, note) == silence(own)
