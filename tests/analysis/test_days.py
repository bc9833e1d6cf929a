# SPDX-License-Identifier: Apache-2.0
"""Calendar days of a zone: each instant of a period is in one, and that is its day there."""

import random
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from math import sqrt
from zoneinfo import ZoneInfo, available_timezones

import pytest

from hwci.analysis.certainty import share_of_cases, wilson
from hwci.analysis.periods.days import by_day
from hwci.engine.calendar import DAYS_MAX, calendar_days
from hwci.engine.periods import last_days
from tests.support.soak import rounds

ZONES = sorted(available_timezones())
BERLIN = ZoneInfo("Europe/Berlin")
NEXT, DAY = timedelta(microseconds=1), timedelta(days=1)
FIRST = datetime.min.replace(tzinfo=UTC)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def test_a_day_begins_at_midnight_of_the_zone_and_the_period_cuts_the_first_and_the_last() -> None:
    first, middle, last = calendar_days(last_days(2, at("2026-06-10T12:00:00+02:00")), BERLIN)

    assert (first.first_day, first.whole, first.start) == (
        *(date(2026, 6, 8), False),
        at("2026-06-08T12:00:00+02:00"),
    )
    assert (middle.first_day, middle.last_day, middle.whole) == (*[date(2026, 6, 9)] * 2, True)
    assert (middle.start, middle.end) == (
        at("2026-06-09T00:00:00+02:00"),
        at("2026-06-10T00:00:00+02:00") - NEXT,
    )
    assert (last.whole, last.end) == (False, at("2026-06-10T12:00:00+02:00"))


@pytest.mark.parametrize(("day", "hours"), [("2026-03-29", 23), ("2026-10-25", 25)])
def test_a_day_on_which_clocks_change_has_its_own_length(day: str, hours: int) -> None:
    noon = datetime.fromisoformat(f"{day}T12:00:00").replace(tzinfo=BERLIN).astimezone(UTC)
    (one,) = (
        one
        for one in calendar_days(last_days(4, noon + timedelta(days=2)), BERLIN)
        if one.first_day == date.fromisoformat(day)
    )

    assert one.whole
    assert one.end - one.start == timedelta(hours=hours) - NEXT


def test_a_long_period_groups_several_days() -> None:
    days = calendar_days(last_days(365, at("2026-06-10T12:00:00Z")), UTC)

    assert len(days) == DAYS_MAX
    assert {(one.last_day - one.first_day).days for one in days[:-1]} == {3}
    assert days[-1].last_day == date(2026, 6, 10)


def test_each_instant_is_in_one_day_of_each_zone() -> None:
    for seed in range(rounds(300, 20_000)):
        draw = random.Random(seed)
        zone = ZoneInfo(draw.choice(ZONES))
        end = datetime(1990, 1, 1, tzinfo=UTC) + timedelta(seconds=draw.uniform(0, 1.5e9))
        period = last_days(draw.choice([1, 7, 90, 400]), end)
        days = calendar_days(period, zone)

        assert len(days) <= DAYS_MAX, seed
        assert (days[0].start, days[-1].end) == (period.start, period.end), seed
        for one, after in pairwise(days):
            assert after.start - one.end == NEXT, seed
            assert (after.first_day - one.last_day).days == 1, seed
        inside = period.start + (period.end - period.start) * draw.random()
        (found,) = (one for one in days if one.start <= inside <= one.end)
        # A zone that leaves out a day has no instant of it, and one that changes at midnight may
        # have an hour of the day before after it.
        assert (
            found.first_day - timedelta(days=1) <= inside.astimezone(zone).date() <= found.last_day
        ), seed


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Niue", "UTC"])
@pytest.mark.parametrize("end", [FIRST, datetime.max.replace(tzinfo=UTC), FIRST + 3 * DAY])
def test_the_ends_of_the_calendar_are_days_too(zone: str, end: datetime) -> None:
    period = last_days(7, end)
    days = calendar_days(period, ZoneInfo(zone))

    assert (days[0].start, days[-1].end) == (period.start, period.end)


def test_what_is_counted_is_counted_on_its_day() -> None:
    period = last_days(2, at("2026-06-10T12:00:00+02:00"))
    midnight = at("2026-06-09T00:00:00+02:00")
    times = [period.start, midnight - NEXT, midnight, midnight, period.end]
    others = dict.fromkeys(("merges_checked", "real_fw_bugs", "flaky_failures", "runs"), times)
    dates = {"merges_announced": times, "infra_runs": [midnight], **others}
    counted = by_day(dates, period, calendar_days(period, BERLIN))

    assert [one.merges_announced for one in counted] == [2, 2, 1]
    assert [one.infra_runs for one in counted] == [0, 1, 0]
    middle = counted[1].infra
    assert middle is not None
    assert (middle.part, middle.total) == (1, 2)


def test_a_share_has_the_interval_of_wilson() -> None:
    """Its ends are the shares from which what was seen is 1.96 deviations away."""
    for part, total in ((0, 1), (1, 1), (3, 4), (0, 50), (49, 50), (500, 1000)):
        low, high = wilson(part / total, total)
        assert 0 <= low <= part / total <= high <= 1
        for end in {low, high} - {0.0, 1.0}:
            away = abs(part / total - end) / sqrt(end * (1 - end) / total)
            assert away == pytest.approx(1.959964, abs=1e-6)
    assert share_of_cases(0, 0) is None
