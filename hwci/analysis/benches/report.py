# SPDX-License-Identifier: Apache-2.0
"""The whole answer about boxes: each against the others, the tests that fail on one of them, and
how each fares; where people noted what they did to a box, before and since. This module puts it
together and decides which rows are shown.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from types import MappingProxyType
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
from hwci.analysis.benches.health import Health, health_of, runs_by_side
from hwci.analysis.benches.strata import Strata, Sum
from hwci.analysis.benches.trials import Earlier, Side, Trial, Trials, alike, box_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    from hwci.analysis.outcomes import ProductOutcomes, RecordedRuns
    from hwci.engine.facts import Product
    from hwci.engine.history import Scope
    from hwci.engine.periods import Period


class Note(NamedTuple):
    """What was done to a box, and when."""

    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class Figures:
    """A box, or a part of its time: its health, its results beside those of the others, and either
    the comparison or what it lacks. `commits`: in common with another box, with a test that failed
    and passed.
    """

    health: Health
    counts: Counts
    commits: int
    comparison: Comparison | None
    missing: Missing | None


@dataclass(frozen=True, slots=True)
class BoxReport:
    """A box. `figures`: since its note, if it has one in the period; `before`: those before it.
    With `idle` nothing ran since, and `figures` are those before.
    """

    box_key: str
    figures: Figures
    note: Note | None = None
    before: Figures | None = None
    idle: bool = False


@dataclass(frozen=True, slots=True)
class TestOnBox:
    """A test that fails more on one box: since its note, if it has one, or `before` it."""

    __test__ = False  # pytest: not a test class

    product: Product
    test_id: str
    box_key: str
    comparison: Comparison
    note: Note | None = None
    before: bool = False

    @property
    def only(self) -> bool:
        """Whether it failed on this box alone."""
        return not self.comparison.counts.others_failed


NO_NOTES: Mapping[str, Note] = MappingProxyType({})


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


def benches(
    history: RecordedRuns,
    scope: Scope,
    period: Period,
    most: int,
    notes: Mapping[str, Note] = NO_NOTES,
) -> Benches:
    """Return what the runs of a period say about boxes, `most` rows of each kind. `notes`: the
    latest one within the period of each box that has any.
    """
    return benches_of(history.outcomes(scope, period), most, notes, history.check_time)


def benches_of(
    outcomes: Sequence[ProductOutcomes],
    most: int,
    notes: Mapping[str, Note],
    check_time: Callable[[], None],
) -> Benches:
    """Return the same of runs that were read already."""
    read = _read(outcomes, notes, check_time)
    products, places, strata, boxes = read.products, read.places, read.strata, read.boxes
    compared = _compared(strata, boxes, check_time)
    order = _worst_first(strata, compared, _trouble(products))
    figures = {
        side: _figures(strata, compared, side, boxes, health_of(places[side]))
        for shown in order[:most]
        for side in {shown, Earlier(box_of(shown))} & places.keys()
    }
    rows = [_box(figures, shown, notes) for shown in order[:most]]
    tests = _named_tests(strata, boxes)
    on_one = [_on_box(read, notes, at, one) for at, one in tests[:most]]
    return Benches(rows, len(order), on_one, len(tests))


def worst_box_of(
    outcomes: ProductOutcomes,
    test_id: str,
    notes: Mapping[str, Note],
    check_time: Callable[[], None],
) -> TestOnBox | None:
    """Return the row of a test among those that fail more on one box; None: it is not among them.
    Where it has several, the one with the highest odds.
    """
    read = _read([outcomes], notes, check_time)
    number = outcomes.number_of(test_id)
    found = (one for one in _named_tests(read.strata, read.boxes) if one[0].test == number)
    worst = next(found, None)
    return None if worst is None else _on_box(read, notes, *worst)


class _Read(NamedTuple):
    """Runs as they are compared. `places`: those of each side; `boxes`: how many there are."""

    products: Sequence[Trials]
    groups: Sequence[tuple[int, Sequence[Trial]]]
    places: Mapping[Side, Sequence[tuple[Trials, int]]]
    strata: Strata
    boxes: int


def _read(
    outcomes: Sequence[ProductOutcomes],
    notes: Mapping[str, Note],
    check_time: Callable[[], None],
) -> _Read:
    noted = {box: note.at for box, note in notes.items()}
    products = [Trials(one, check_time, noted) for one in outcomes]
    places = runs_by_side(products)
    strata = Strata.of(sorted(places, key=lambda side: (box_of(side), isinstance(side, str))))
    groups = [*_groups(products, check_time)]
    for product, group in groups:
        check_time()
        strata.add(product, group)
    strata.gather()
    return _Read(products, groups, places, strata, len({*map(box_of, places)}))


def _on_box(read: _Read, notes: Mapping[str, Note], at: At, found: Comparison) -> TestOnBox:
    of_product, side = read.products[at.product].found, [*read.strata.boxes][at.box]
    return TestOnBox(
        product=of_product.product,
        test_id=of_product.tests[at.test],
        box_key=box_of(side),
        comparison=replace(found, counts=_counts(read.groups, at, side)),
        note=notes.get(box_of(side)),
        before=isinstance(side, Earlier),
    )


def _groups(
    products: Sequence[Trials], check_time: Callable[[], None]
) -> Iterator[tuple[int, Sequence[Trial]]]:
    """Yield the runs that can be compared, each with the number of its product."""
    for number, product in enumerate(products):
        for trials in product.by_commit.values():
            for group in alike(trials, check_time):
                yield number, group


def _compared(
    strata: Strata, boxes: int, check_time: Callable[[], None]
) -> Mapping[int, Comparison]:
    """Return the comparison of each box that has what it takes, by the number of the box."""
    rows = comparable(strata.by_box, boxes)
    if not len(rows):
        return {}
    chances = chances_of_boxes(strata, check_time)[rows]
    return dict(zip(rows.tolist(), compare(strata.by_box[rows], chances), strict=True))


def _named_tests(strata: Strata, boxes: int) -> list[tuple[At, Comparison]]:
    """Return the tests that fail more on one box, the highest odds first."""
    import numpy as np

    keys = [At(*key) for key in strata.by_test]
    rows = np.array([*strata.by_test.values()])
    wanted = comparable(rows, boxes)
    if not len(wanted):
        return []
    found = compare(rows[wanted], chances_by_curve(rows[wanted]))
    named = [(keys[at], one) for at, one in zip(wanted, found, strict=True) if one.named]
    return sorted(named, key=lambda one: (-one[1].odds_ratio, one[0]))


def _counts(groups: Sequence[tuple[int, Sequence[Trial]]], at: At, on: Side) -> Counts:
    """Return the results of a test on a box and on the others at the same commits, wherever both
    ran it and not all failed: also where none did.
    """
    found = [0] * len(Counts._fields)
    for product, group in groups:
        ran = [one for one in group if one.ran >> at.test & 1] if product == at.product else []
        here = [one for one in ran if one.side == on]
        failed = [sum(one.failed >> at.test & 1 for one in runs) for runs in (here, ran)]
        if 0 < len(here) < len(ran) and failed[1] < len(ran):
            for place, number in enumerate(
                (failed[0], len(here), failed[1] - failed[0], len(ran) - len(here))
            ):
                found[place] += number
    return Counts(*found)


def _trouble(products: Sequence[Trials]) -> Mapping[Side, float]:
    """Return the share of runs that never reached the board of each box, or lost it."""
    runs: Counter[Side] = Counter()
    bad: Counter[Side] = Counter()
    for one in products:
        for number, run in enumerate(one.found.runs):
            side = one.side_of(run)
            runs[side] += 1
            bad[side] += not run.hello_ok or number in one.lost
    return {side: bad[side] / runs[side] for side in runs}


def _worst_first(
    strata: Strata, compared: Mapping[int, Comparison], trouble: Mapping[Side, float]
) -> list[Side]:
    """Return the boxes, each as it is now; one that did not run since its note as it was."""

    def key(side: Side) -> tuple[float, float, str]:
        found = compared.get(strata.boxes[side])
        named = found.odds_ratio if found is not None and found.named else 0.0
        return -named, -trouble[side], box_of(side)

    return sorted(
        (side for side in strata.boxes if isinstance(side, str) or side[0] not in strata.boxes),
        key=key,
    )


def _box(figures: Mapping[Side, Figures], shown: Side, notes: Mapping[str, Note]) -> BoxReport:
    box = box_of(shown)
    if isinstance(shown, Earlier):
        return BoxReport(box, figures[shown], notes[box], idle=True)
    return BoxReport(box, figures[shown], notes.get(box), figures.get(Earlier(box)))


def _figures(
    strata: Strata, compared: Mapping[int, Comparison], side: Side, boxes: int, health: Health
) -> Figures:
    number = strata.boxes[side]
    row = strata.by_box[number]
    counts, commits, lacking = counts_of(row), int(row[Sum.COMMITS]), missing(row, boxes)
    return Figures(health, counts, commits, compared.get(number), lacking)
