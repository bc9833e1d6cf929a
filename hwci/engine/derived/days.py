# SPDX-License-Identifier: Apache-2.0
"""Sums over whole days in UTC, of which tiles and "Flakiest tests" are made (semantics, 9).

This module decides what a report adds to which sum, and which days of a period are whole. A store
keeps the sums as rows, so a page adds up days and counts reports only at the two ends of its
period. It does not know when an item is a flake's: `settlement.py` does.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from hwci.contract.vocabulary import Outcome
from hwci.engine.facts import Report, TestItem
from hwci.engine.periods import Period

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = timedelta(days=1)
_INSTANT = timedelta(microseconds=1)


class RunSum(NamedTuple):
    """A sum of reports: of a product, on a day, from a box, with this set of tests. The set is a
    number that the store gave it; the order in which a report lists its tests does not count.
    """

    product: int
    day: int
    box_key: str
    tests: int


class ItemSum(NamedTuple):
    """A sum of items with a failed attempt: of a test, on a day, with this result."""

    product: int
    day: int
    test: int
    outcome: Outcome
    attempts: int


class DayChanges:
    """What a write adds to the sums, or takes from them where it is negative.

    `reports`: those that reached the hardware. `runs` and `infra`: run reports, first parts only,
    and those of them that never reached it. `items`, and `flakes`: those that are flakes (4.2).
    """

    def __init__(self) -> None:
        self.reports: Counter[RunSum] = Counter()
        self.runs: Counter[RunSum] = Counter()
        self.infra: Counter[RunSum] = Counter()
        self.items: Counter[ItemSum] = Counter()
        self.flakes: Counter[ItemSum] = Counter()

    def count(
        self,
        product: int,
        report: Report,
        tests: int,
        notable: Mapping[int, TestItem],
        times: int = 1,
    ) -> None:
        """Count a report; `times` is -1 for one that goes. `notable`: its items with a failed
        attempt by test, none if it never reached the hardware.
        """
        row = RunSum(product, day_of(report.started_at), report.box_key, tests)
        self.reports[row] += times * report.hello_ok
        self.runs[row] += times * report.is_first_part
        self.infra[row] += times * (report.is_first_part and not report.hello_ok)
        for key in item_sums(product, report, notable):
            self.items[key] += times


def item_sums(product: int, report: Report, items: Mapping[int, TestItem]) -> Iterator[ItemSum]:
    """Yield the sum to which each of these items of a report belongs."""
    day = day_of(report.started_at)
    for test, item in items.items():
        yield ItemSum(product, day, test, item.outcome, item.attempts)


def day_of(at: datetime) -> int:
    """Return the number of the day of an instant: 1970-01-01 is 0, the day before is -1."""
    return (at - _EPOCH) // _DAY


class Days(NamedTuple):
    """A period as its whole days, and what is left of it before and after them."""

    whole: range
    edges: tuple[Period, ...]


def days_of(period: Period) -> Days:
    """Divide a period, both ends of which belong to it."""
    first, beyond = -((_EPOCH - period.start) // _DAY), (period.end - _EPOCH + _INSTANT) // _DAY
    if first >= beyond:
        return Days(range(0), (period,))
    edges = []
    if (period.start - _EPOCH) % _DAY:
        edges.append(Period(period.start, _EPOCH + first * _DAY - _INSTANT))
    if (period.end - _EPOCH + _INSTANT) % _DAY:
        edges.append(Period(_EPOCH + beyond * _DAY, period.end))
    return Days(range(first, beyond), tuple(edges))
