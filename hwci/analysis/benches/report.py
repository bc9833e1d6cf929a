# SPDX-License-Identifier: Apache-2.0
"""The whole answer about boxes: each against the others, the tests that fail on one of them, and
how each fares. This module puts it together and decides which rows are shown.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from hwci.analysis.benches.compare import (
    Comparison,
    Counts,
    Missing,
    chances_by_curve,
    chances_of_boxes,
    comparable,
    compare,
    counts_of,
    missing,
)
from hwci.analysis.benches.health import Health, health_of, runs_by_box
from hwci.analysis.benches.strata import Strata, Sum
from hwci.analysis.benches.trials import Trial, Trials, alike

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from hwci.analysis.outcomes import RecordedRuns
    from hwci.engine.facts import Product
    from hwci.engine.history import Scope
    from hwci.engine.periods import Period


@dataclass(frozen=True, slots=True)
class BoxReport:
    """A box: its health, its results beside those of the others, and either the comparison or what
    it lacks. `commits`: in common with another box, with a test that failed and passed.
    """

    box_key: str
    health: Health
    counts: Counts
    commits: int
    comparison: Comparison | None
    missing: Missing | None


@dataclass(frozen=True, slots=True)
class TestOnBox:
    """A test that fails more on one box."""

    __test__ = False  # pytest: not a test class

    product: Product
    test_id: str
    box_key: str
    comparison: Comparison

    @property
    def only(self) -> bool:
        """Whether it failed on this box alone."""
        return not self.comparison.counts.others_failed


class At(NamedTuple):
    """The numbers of a product, of a test of it and of a box."""

    product: int
    test: int
    box: int


@dataclass(frozen=True, slots=True)
class Benches:
    """The rows that are shown, the worst first; `boxes_total` and `tests_total`: of all."""

    boxes: Sequence[BoxReport]
    boxes_total: int
    tests: Sequence[TestOnBox]
    tests_total: int


def benches(history: RecordedRuns, scope: Scope, period: Period, most: int) -> Benches:
    """Return what the runs of a period say about boxes, `most` rows of each kind."""
    products = [Trials(one, history.check_time) for one in history.outcomes(scope, period)]
    places = runs_by_box(products)
    strata = Strata.of(sorted(places))
    groups = [*_groups(products, history.check_time)]
    for product, group in groups:
        history.check_time()
        strata.add(product, group)
    strata.gather()
    compared = _compared(strata, history.check_time)
    order = _worst_first(strata, compared, _trouble(products))
    boxes = [_box(strata, compared, box, health_of(places[box])) for box in order[:most]]
    tests = _named_tests(strata)
    names = sorted(strata.boxes)
    shown = [
        TestOnBox(
            product=products[at.product].found.product,
            test_id=products[at.product].found.tests[at.test],
            box_key=names[at.box],
            comparison=replace(one, counts=_counts(groups, at, names[at.box])),
        )
        for at, one in tests[:most]
    ]
    return Benches(boxes, len(order), shown, len(tests))


def _groups(
    products: Sequence[Trials], check_time: Callable[[], None]
) -> Iterator[tuple[int, Sequence[Trial]]]:
    """Yield the runs that can be compared, each with the number of its product."""
    for number, product in enumerate(products):
        for trials in product.by_commit.values():
            for group in alike(trials, check_time):
                yield number, group


def _compared(strata: Strata, check_time: Callable[[], None]) -> Mapping[int, Comparison]:
    """Return the comparison of each box that has what it takes, by the number of the box."""
    rows = comparable(strata.by_box, len(strata.boxes))
    if not len(rows):
        return {}
    chances = chances_of_boxes(strata, check_time)[rows]
    return dict(zip(rows.tolist(), compare(strata.by_box[rows], chances), strict=True))


def _named_tests(strata: Strata) -> list[tuple[At, Comparison]]:
    """Return the tests that fail more on one box, the highest odds first."""
    import numpy as np

    keys = [At(*key) for key in strata.by_test]
    rows = np.array([*strata.by_test.values()])
    wanted = comparable(rows, len(strata.boxes))
    if not len(wanted):
        return []
    found = compare(rows[wanted], chances_by_curve(rows[wanted]))
    named = [(keys[at], one) for at, one in zip(wanted, found, strict=True) if one.named]
    return sorted(named, key=lambda one: (-one[1].odds_ratio, one[0]))


def _counts(groups: Sequence[tuple[int, Sequence[Trial]]], at: At, box: str) -> Counts:
    """Return the results of a test on a box and on the others at the same commits, wherever both
    ran it and not all failed: also where none did.
    """
    found = [0] * len(Counts._fields)
    for product, group in groups:
        ran = [one for one in group if one.ran >> at.test & 1] if product == at.product else []
        here = [one for one in ran if one.box_key == box]
        failed = [sum(one.failed >> at.test & 1 for one in runs) for runs in (here, ran)]
        if 0 < len(here) < len(ran) and failed[1] < len(ran):
            for place, number in enumerate(
                (failed[0], len(here), failed[1] - failed[0], len(ran) - len(here))
            ):
                found[place] += number
    return Counts(*found)


def _trouble(products: Sequence[Trials]) -> Mapping[str, float]:
    """Return the share of runs that never reached the board of each box, or lost it."""
    runs: Counter[str] = Counter()
    bad: Counter[str] = Counter()
    for one in products:
        for number, run in enumerate(one.found.runs):
            runs[run.box_key] += 1
            bad[run.box_key] += not run.hello_ok or number in one.lost
    return {box: bad[box] / runs[box] for box in runs}


def _worst_first(
    strata: Strata, compared: Mapping[int, Comparison], trouble: Mapping[str, float]
) -> list[str]:
    def key(box: str) -> tuple[float, float, str]:
        found = compared.get(strata.boxes[box])
        named = found.odds_ratio if found is not None and found.named else 0.0
        return -named, -trouble[box], box

    return sorted(strata.boxes, key=key)


def _box(strata: Strata, compared: Mapping[int, Comparison], box: str, health: Health) -> BoxReport:
    number = strata.boxes[box]
    row, found = strata.by_box[number], compared.get(number)
    lacking = missing(row, len(strata.boxes))
    return BoxReport(box, health, counts_of(row), int(row[Sum.COMMITS]), found, lacking)
