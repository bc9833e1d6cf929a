# SPDX-License-Identifier: Apache-2.0
"""The tiles over time: slots of equal width that add up to the tiles (contract, "CI metrics")."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hwci.contract.page.metrics import TrendSlot
from hwci.contract.runs.merges import Merge
from hwci.engine.facts import Part
from hwci.engine.history import Scope
from hwci.engine.page.over_time import read_dates, trend
from hwci.engine.periods import Period, Slots, equal_slots, last_days, slots_of
from tests.engine.drawn import reports
from tests.engine.timeline import ALL, MAIN, REPO, START, SUITE, Past, minute, report, seen

LAW = settings(deadline=None, max_examples=60)  # a busy machine proves nothing
TICK = timedelta(microseconds=1)
FIRST = datetime.min.replace(tzinfo=UTC)


def drawn(past: Past, slots: Slots, scope: Scope = ALL) -> Sequence[TrendSlot]:
    return trend(read_dates(past.history, scope, slots.period), slots, scope.product).slots


def counts(slots: Sequence[TrendSlot]) -> dict[str, list[int]]:
    """Return the counts of each slot by what is counted."""
    names = [*vars(slots[0])][2:]  # without those of its time
    return {name: [getattr(slot, name) for slot in slots] for name in names}


def minutes(first: float, last: float, count: int) -> Slots:
    return equal_slots(Period(minute(first), minute(last)), count)


@st.composite
def slots_and_instant(draw: st.DrawFn) -> tuple[Slots, datetime]:
    length = draw(st.integers(0, 400) | st.integers(0, 10**10))
    slots = equal_slots(Period(START, START + length * TICK), draw(st.integers(1, 90)))
    return slots, START + draw(st.integers(0, length)) * TICK


@LAW
@given(slots_and_instant())
def test_an_instant_lies_in_the_slot_between_whose_edges_it_is(
    asked: tuple[Slots, datetime],
) -> None:
    slots, at = asked
    edges = slots.edges()
    slot = slots.slot(at)

    assert (edges[0], edges[-1]) == (slots.period.start, slots.period.end)
    assert edges == sorted(edges)
    assert len(edges) == len(slots.starts) + 1
    assert edges[slot] <= at
    assert at < edges[slot + 1] or slot == len(slots.starts) - 1


@LAW
@given(slots_and_instant(), st.data())
def test_counting_by_slot_is_asking_each_instant_for_its_slot(
    asked: tuple[Slots, datetime], data: st.DataObject
) -> None:
    slots, at = asked
    length = (slots.period.end - START) // TICK
    times = data.draw(st.lists(st.integers(0, length)))
    instants = sorted([at, *slots.edges(), *(START + time * TICK for time in times)])

    assert slots.counted(instants) == [
        sum(slots.slot(one) == number for one in instants) for number in range(len(slots.starts))
    ]


@pytest.mark.parametrize(("days", "count"), [(1, 1), (7, 7), (90, 90), (91, 90), (3650, 90)])
def test_there_is_a_slot_a_day_and_no_more_than_90_all_of_one_width(days: int, count: int) -> None:
    slots = slots_of(days, last_days(days, START))
    edges = slots.edges()

    assert len(slots.starts) == count
    widths = {edges[n + 1] - edges[n] for n in range(count)}
    assert widths == {timedelta(days=days) / count}
    assert edges[-1] == START


def test_a_period_before_which_there_is_no_time_has_its_slots_too() -> None:
    for as_of in (FIRST, FIRST + TICK, FIRST + timedelta(days=2)):
        slots = slots_of(90, last_days(90, as_of))
        assert slots.slot(as_of) == 89
        assert sum(slots.counted([FIRST, as_of])) == 2


@st.composite
def pasts(draw: st.DrawFn) -> Past:
    made = draw(reports())
    merged = [
        Merge(REPO, suite, sha, MAIN, minute(draw(st.integers(0, 6))))
        for sha in draw(st.lists(st.sampled_from("abcdef"), unique=True))
        for suite in draw(st.sampled_from([(None,), (SUITE,), (SUITE, "boot", None)]))
    ]
    return Past(made).announced(*merged)


@LAW
@given(
    pasts(),
    st.sampled_from([ALL, Scope(REPO), Scope(REPO, SUITE), Scope("unknown")]),
    st.integers(-1, 6),
    st.integers(0, 7),
    st.sampled_from([1, 2, 3, 7, 90]),
)
def test_the_slots_add_up_to_the_tiles(
    past: Past, scope: Scope, first: int, length: int, count: int
) -> None:
    slots = minutes(first, first + length, count)
    tiles = past.page(scope, slots.period).tiles
    found = counts(drawn(past, slots, scope))

    assert {name: sum(each) for name, each in found.items()} == {
        "merges_checked": tiles.merges_checked.checked,
        "merges_announced": tiles.merges_checked.announced,
        "real_fw_bugs": tiles.real_fw_bugs.real,
        "flaky_failures": tiles.flaky_failures.count,
        "infra_runs": tiles.infra_runs.infra,
        "runs": tiles.infra_runs.total,
    }


# "Date basis: merges use `merged_at`; resolved failures use the start time of the first failing
# run; flake rates and infra runs use each run's start time."
def test_each_thing_is_counted_in_the_slot_of_its_date() -> None:
    past = seen("box-1 | a:P b:F c:F d:P e:F e:P e:F f:L", {"b": "fw", "c": "fw", "d": "fw"})
    merges = [Merge(REPO, SUITE, sha, MAIN, minute(at)) for sha, at in [("d", 0), ("z", 6)]]

    assert counts(drawn(past.announced(*merges), minutes(0, 8, 4))) == {
        "merges_checked": [1, 0, 0, 0],
        "merges_announced": [1, 0, 0, 1],
        "real_fw_bugs": [1, 0, 0, 0],
        "flaky_failures": [0, 0, 1, 1],
        "infra_runs": [0, 0, 0, 1],
        "runs": [2, 2, 2, 2],
    }


def test_what_lies_on_a_border_belongs_to_the_later_slot_and_the_end_to_the_last() -> None:
    past = Past([report("a:P", at) for at in (0, 1, 2, 3, 4)])

    slots = drawn(past, minutes(0, 4, 2))

    assert counts(slots)["runs"] == [2, 3]
    assert [(slot.start, slot.end) for slot in slots] == [
        (minute(0), minute(2)),
        (minute(2), minute(4)),
    ]
    assert sum(counts(drawn(past, minutes(1, 3.99, 2)))["runs"]) == 3


def test_a_reviewed_flake_is_counted_as_what_it_was_reviewed_to_be() -> None:
    past = seen("box-1 | b:F b:P").reviewed("b", "confirm")

    found = counts(drawn(past, minutes(0, 2, 2)))

    assert (found["flaky_failures"], found["real_fw_bugs"]) == ([0, 0], [1, 0])


def test_parts_after_the_first_are_not_counted_as_runs() -> None:
    parts = [replace(report("a:L", n, run_id=n), part_of=Part(1, n, 3)) for n in (1, 2, 3)]

    found = counts(drawn(Past(parts), minutes(0, 4, 4)))

    assert (found["runs"], found["infra_runs"]) == ([0, 1, 0, 0], [0, 1, 0, 0])
