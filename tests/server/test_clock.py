# SPDX-License-Identifier: Apache-2.0
"""Whether the clock may be believed (`hwci/server/clock.py`)."""

import logging
import time
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwci.server.clock import EVEN_FOR, Evenness, counted_seconds

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
YEAR = 365 * 86_400.0
HOUR = EVEN_FOR.total_seconds()
MINUTE = 60.0


class Machine:
    """A clock that somebody sets, and the counter beside it."""

    def __init__(self) -> None:
        self.ahead = self.counted = 0.0

    def clock(self) -> datetime:
        return NOON + timedelta(seconds=self.counted + self.ahead)

    def counter(self) -> float:
        return self.counted


def looks(steps: list[tuple[float, float]]) -> list[bool]:
    """Return whether the clock was believed at each look. A step: seconds that passed, and by how
    much the clock was set meanwhile.
    """
    machine = Machine()
    evenness = Evenness(machine.clock, machine.counter)
    believed = []
    for passed, jump in steps:
        machine.counted += passed
        machine.ahead += jump
        now = evenness.look()
        assert now is None or now == machine.clock()
        believed.append(now is not None)
    return believed


def test_a_clock_is_believed_an_hour_after_the_start_and_not_before() -> None:
    assert looks([(HOUR - 1, 0), (1, 0), (MINUTE, 0)]) == [False, True, True]


@pytest.mark.parametrize("jump", [YEAR, -YEAR, MINUTE + 1, -MINUTE - 1])
def test_a_clock_that_jumps_for_a_minute_is_believed_an_hour_after_it_came_back(
    jump: float,
) -> None:
    steps = [(HOUR, 0), (MINUTE, jump), (MINUTE, -jump), (HOUR - 1, 0), (1, 0)]
    assert looks(steps) == [True, False, False, False, True]


def test_a_clock_that_is_corrected_a_little_at_a_time_is_believed() -> None:
    assert looks([(HOUR, 0), *[(MINUTE, 5.0), (MINUTE, -5.0)] * 10]) == [True] * 21


@pytest.mark.skipif(not hasattr(time, "CLOCK_BOOTTIME"), reason="the system has no such counter")
def test_the_counter_is_the_one_that_counts_on_while_the_machine_sleeps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine, slept = Machine(), 3 * HOUR
    read = time.clock_gettime
    monkeypatch.setattr(
        time,
        "clock_gettime",
        lambda clock: read(clock) + (machine.counted if clock == time.CLOCK_BOOTTIME else 0),
    )
    evenness = Evenness(machine.clock)
    machine.counted += slept
    assert evenness.look() == machine.clock()


def test_where_there_is_no_such_counter_the_clock_is_compared_with_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(time, "CLOCK_BOOTTIME", raising=False)
    before = time.monotonic()
    assert before <= counted_seconds() <= time.monotonic()


def test_a_jump_is_logged_once_with_what_it_means(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "hwci.server"):
        looks([(HOUR, 0), (MINUTE, YEAR), (MINUTE, 0), (MINUTE, 0)])
    (record,) = caplog.records
    assert record.getMessage() == (
        "The clock of this machine jumped by 31536000 seconds to 2027-03-01 13:01:00 UTC: nothing"
        " old is deleted until it has run evenly for 1 hours; look at it if that is not the time"
    )


@given(
    st.lists(
        st.tuples(st.floats(0, HOUR), st.sampled_from([0.0, 0.0, 0.0, YEAR, -YEAR, 3_600.0])),
        min_size=1,
    )
)
def test_no_look_within_an_hour_after_a_jump_believes_the_clock(
    steps: list[tuple[float, float]],
) -> None:
    since = 0.0
    for (passed, jump), believed in zip(steps, looks(steps), strict=True):
        since = 0.0 if jump else since + passed
        assert believed is (since >= HOUR) or abs(since - HOUR) < 1
