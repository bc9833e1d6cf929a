# SPDX-License-Identifier: Apache-2.0
"""A period is its whole days in UTC and what is left at its ends, to the microsecond."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from hwci.engine.derived.days import day_of, days_of
from hwci.engine.periods import Period

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
INSTANT, DAY = timedelta(microseconds=1), timedelta(days=1)

instants = st.one_of(
    st.datetimes(timezones=st.just(UTC)),
    st.builds(
        lambda days, instants: EPOCH + days * DAY + instants * INSTANT,
        st.integers(-3, 3),
        st.integers(-2, 2),
    ),
)


@given(instants, instants)
@example(FIRST, LAST)
@example(EPOCH, EPOCH + DAY - INSTANT)
@example(EPOCH - DAY, EPOCH - INSTANT)
def test_whole_days_and_ends_are_the_period_without_gap_or_overlap(
    one: datetime, other: datetime
) -> None:
    start, end = sorted((one, other))
    period = Period(start, end)
    days = days_of(period)
    parts = list(days.edges)
    if days.whole:
        first, last = EPOCH + days.whole[0] * DAY, EPOCH + days.whole[-1] * DAY
        assert (day_of(first), day_of(last)) == (days.whole[0], days.whole[-1])
        parts.append(Period(first, last + (DAY - INSTANT)))
    parts.sort(key=lambda part: part.start)
    assert (parts[0].start, parts[-1].end) == (period.start, period.end)
    for before, after in pairwise(parts):
        assert after.start - before.end == INSTANT
    assert all(edge.end - edge.start < DAY - INSTANT for edge in days.edges if days.whole)


def test_the_day_before_the_first_is_negative() -> None:
    assert [day_of(EPOCH + number * INSTANT) for number in (-1, 0)] == [-1, 0]
