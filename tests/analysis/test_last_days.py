# SPDX-License-Identifier: Apache-2.0
"""The last fourteen days of an incident (semantics, 17.5), by hand."""

from dataclasses import replace

import pytest

from hwci.analysis.failures.incidents import described, incidents, seen_products
from hwci.contract.vocabulary import Label
from hwci.engine.facts import Report
from hwci.engine.periods import last_days
from tests.analysis.stories import run
from tests.engine.timeline import ALL, ORG, Past, minute, report
from tests.support.outcomes import FullRecordedRuns

DAY = 24 * 60  # minutes


def letters(*reports: Report, days: int = 90) -> dict[str, str]:
    """The days of each pending incident up to minute 0 of day 20, by its tests."""
    period = last_days(days, minute(20 * DAY))
    history = FullRecordedRuns(ORG, Past([*reports]).facts)
    rows = incidents(history, ALL, period, Label.PENDING)
    shown = described(history, rows, period, seen_products(history, ALL, period, rows))
    return {" ".join(row.incident.tests): row.last_days for row in shown}


STORY = [
    run("a", 5 * DAY, {"boot": "F"}),
    run("b", 8.5 * DAY, {"boot": "P", "spi": "P"}),
    run("b", 10.5 * DAY, {"boot": "P2"}, "box-2"),
    replace(run("t", 11.5 * DAY, {"boot": "P"}), branch="topic"),
    report("l:L", 12.5 * DAY),
    run("c", 16.5 * DAY, {"boot": "P2"}),
    run("d", 16.75 * DAY, {"boot": "F"}),
    run("e", 19.5 * DAY, {"boot": "F"}),
]


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        (90, "-p-------b--f-"),
        (14, "-p-------b--f-"),
        (5, "-b--f-"),
        (1, "f-"),
    ],
)
def test_a_letter_a_day_is_of_its_tests_on_its_boxes_and_its_branch(
    days: int, expected: str
) -> None:
    assert letters(*STORY, days=days) == {"boot": expected}


def test_both_ends_of_the_period_are_in_it() -> None:
    ends = [run("a", 19 * DAY, {"boot": "F"}), run("b", 20 * DAY, {"boot": "F"})]

    assert letters(*ends, days=1) == {"boot": "ff"}
    assert letters(*ends, days=2) == {"boot": "-ff"}


def test_a_day_has_what_any_of_the_tests_did() -> None:
    before = run("a", 15.5 * DAY, {"i2c": "P", "spi": "P"})
    both = [
        run(sha, day * DAY, {"i2c": "F", "spi": "F"}) for sha, day in (("b", 17.5), ("c", 18.5))
    ]

    assert letters(before, *both)["i2c spi"].endswith("p-ff--")
