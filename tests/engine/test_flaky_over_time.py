# SPDX-License-Identifier: Apache-2.0
"""Flaky tests over time and boxes, which add up to their table (contract, "CI metrics")."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple, replace
from itertools import groupby
from operator import itemgetter

from hypothesis import given, settings
from hypothesis import strategies as st

from hwci.contract.flaky.flaky_history import FlakyTestHistory
from hwci.contract.vocabulary import FlakyColumn, Outcome
from hwci.engine.facts import Product, Report
from hwci.engine.history import Scope
from hwci.engine.page.over_time import flaky_over_time
from hwci.engine.page.tables import FlakySelection, Sort, flakiest_tests
from hwci.engine.periods import Period, Slots, equal_slots
from tests.engine.timeline import ALL, REPO, SUITE, Past, item, minute, report, seen

LAW = settings(deadline=None, max_examples=80)  # a busy machine proves nothing
OUTCOMES = st.sampled_from(["P", "P", "P2", "P3", "F", "F2"])


@st.composite
def reports(draw: st.DrawFn) -> list[Report]:
    """Draw runs of three tests on three boxes, of two products, some of them at one instant."""
    made = []
    for number in range(draw(st.integers(1, 12))):
        names = draw(st.lists(st.sampled_from(["adc", "boot", "uart"]), unique=True))
        made.append(
            report(
                draw(st.sampled_from(["a:-", "b:-", "c:L"])),
                draw(st.integers(0, 6)),
                box=draw(st.sampled_from(["box-1", "box-2", "box-10"])),
                suite=draw(st.sampled_from([SUITE, SUITE, "boot"])),
                run_id=number,
                tests=[item(draw(OUTCOMES), name) for name in names],
            )
        )
    return made


ANY = FlakySelection()


def drawn(
    past: Past,
    slots: Slots,
    scope: Scope = ALL,
    limit: int = 99,
    wanted: FlakySelection = ANY,
) -> Sequence[FlakyTestHistory]:
    rows = flakiest_tests(
        past.read(scope, slots.period).flakiest_tests, replace(wanted, limit=limit)
    )
    found = flaky_over_time(past.history, rows, slots)
    assert found.total == rows.total
    return found.items


def slowly(made: Sequence[Report], slots: Slots) -> dict[tuple[Product, str, str, int], list[int]]:
    """Count attempts and failed ones item by item."""
    attempts: Counter[tuple[Product, str, str, int]] = Counter()
    failed: Counter[tuple[Product, str, str, int]] = Counter()
    for one in made:
        if not one.hello_ok or not slots.period.start <= one.started_at <= slots.period.end:
            continue
        for test in one.tests:
            slot = slots.slot(one.started_at)
            cell = (Product(one.repo_key, one.suite), test.id, one.box_key, slot)
            attempts[cell] += test.attempts
            failed[cell] += test.attempts - (test.outcome is Outcome.PASS)
    return {cell: [attempts[cell], failed[cell]] for cell in attempts}


@LAW
@given(
    reports(),
    st.integers(0, 5),
    st.integers(1, 7),
    st.sampled_from([1, 3, 90]),
    st.sampled_from([ALL, Scope(REPO, SUITE), Scope("unknown")]),
)
def test_a_strip_holds_every_attempt_of_its_test_in_its_box_and_slot(
    made: list[Report], first: int, length: int, count: int, scope: Scope
) -> None:
    past = Past(made)
    slots = equal_slots(Period(minute(first), minute(first + length)), count)
    rows = flakiest_tests(
        past.read(scope, slots.period).flakiest_tests, FlakySelection(limit=99)
    ).items
    found = drawn(past, slots, scope)

    flat = {
        (Product(strip.repo_key, strip.suite), strip.test_id, box.box_key, slot.slot): [
            slot.attempts,
            slot.failed_attempts,
        ]
        for strip in found
        for box in strip.boxes
        for slot in box.slots
    }
    shown = {(Product(row.repo_key, row.suite), row.test_id) for row in rows}
    expected = slowly(made, slots)
    assert flat == {cell: result for cell, result in expected.items() if cell[:2] in shown}


@LAW
@given(reports(), st.sampled_from([1, 2, 90]))
def test_the_slots_of_a_test_add_up_to_its_row_and_are_those_of_its_boxes(
    made: list[Report], count: int
) -> None:
    past, slots = Past(made), equal_slots(Period(minute(1), minute(5)), count)
    rows = flakiest_tests(
        past.read(ALL, slots.period).flakiest_tests, FlakySelection(limit=99)
    ).items
    found = drawn(past, slots)

    totals = [
        (
            *(strip.repo_key, strip.suite, strip.test_id, strip.boxes_total),
            sum(slot.attempts for slot in strip.slots),
            sum(slot.failed_attempts for slot in strip.slots),
        )
        for strip in found
    ]
    assert totals == [
        (row.repo_key, row.suite, row.test_id, row.boxes, row.attempts, row.failed_attempts)
        for row in rows
    ]
    for strip in found:  # of no more than three boxes, so that each is shown
        of_boxes = sorted(astuple(slot) for box in strip.boxes for slot in box.slots)
        merged = groupby(of_boxes, key=itemgetter(0))
        assert [astuple(slot) for slot in strip.slots] == [
            (at, *(sum(figures) for figures in list(zip(*slots_at, strict=True))[1:]))
            for at, slots_at in merged
        ]


@LAW
@given(reports(), st.sampled_from([1, 2, 90]))
def test_the_figures_of_a_box_are_of_its_runs_alone(made: list[Report], count: int) -> None:
    period = Period(minute(1), minute(5))
    found = drawn(Past(made), equal_slots(period, count))

    for strip in found:
        for box in strip.boxes:
            results = [
                test
                for one in made
                if one.hello_ok and period.start <= one.started_at <= period.end
                if (one.repo_key, one.suite, one.box_key)
                == (strip.repo_key, strip.suite, box.box_key)
                for test in one.tests
                if test.id == strip.test_id
            ]
            passed = [test for test in results if test.outcome is Outcome.PASS]
            failed = box.attempts - len(passed)
            assert box.run_reports == len(results)
            assert box.attempts == sum(test.attempts for test in results)
            assert box.retry_passes == sum(test.attempts > 1 for test in passed)
            assert (box.failed_attempts, box.flake_rate) == (failed, 100 * failed / box.attempts)


def test_slots_without_an_attempt_are_left_out_and_boxes_stand_by_name() -> None:
    past = seen(
        """
        box-2 | a:P3 b:L c:P d:F2
        box-1 | a:P  b:P
        """
    )
    arrived_late = Past(past.reports[::-1])

    (strip,) = drawn(arrived_late, equal_slots(Period(minute(0), minute(4)), 4))

    assert [(box.box_key, [astuple(slot) for slot in box.slots]) for box in strip.boxes] == [
        ("box-1", [(0, 1, 0), (1, 1, 0)]),
        ("box-2", [(0, 3, 2), (2, 1, 0), (3, 2, 2)]),
    ]
    assert [astuple(slot) for slot in strip.slots] == [(0, 4, 2), (1, 1, 0), (2, 1, 0), (3, 2, 2)]


def test_at_most_50_boxes_are_shown_the_first_by_name_and_all_are_counted() -> None:
    past = Past([report("a:F", n, box=f"box-{n:02}") for n in reversed(range(53))])

    (strip,) = drawn(past, equal_slots(Period(minute(0), minute(60)), 1))

    assert strip.boxes_total == 53
    assert [astuple(slot) for slot in strip.slots] == [(0, 53, 53)]
    assert [box.box_key for box in strip.boxes] == [f"box-{n:02}" for n in range(50)]


def test_the_rows_are_those_of_the_table_as_it_was_asked() -> None:
    names = ["uart", "spi", "Uart 2", "gpio"]
    past = Past([report("a:-", n, tests=[item("F", name)]) for n, name in enumerate(names)])
    slots = equal_slots(Period(minute(0), minute(9)), 1)
    down = Sort(FlakyColumn.TEST_ID, descending=True)

    found = drawn(past, slots, limit=1, wanted=FlakySelection("uart", down))
    assert [strip.test_id for strip in found] == ["uart"]
