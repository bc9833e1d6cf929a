# SPDX-License-Identifier: Apache-2.0
"""The whole answer about boxes: each against the others, the tests that fail on one of them, and
how each fares; where people noted what they did to a box, before and since. This module puts it
together and decides which rows are shown.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from hwci.analysis.benches.blame import Blame, Blamed
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
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from datetime import datetime

    from hwci.analysis.outcomes import ProductOutcomes, RecordedRuns
    from hwci.engine.facts import Product
    from hwci.engine.history import Scope
    from hwci.engine.periods import Period


FEW = 3
"""So many tests at most are named where most failures of a box are theirs."""


class FewTests(NamedTuple):
    """The tests that most of a box's compared failures are of, and how many of these."""

    test_ids: Sequence[str]
    failed: int


class Note(NamedTuple):
    """What was done to a box, and when."""

    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class Figures:
    """A box, or a part of its time: its health, its results beside those of the others, and either
    the comparison or what it lacks. `others`: the boxes that it is compared with. `commits`: in
    common with another box, with a test that failed and passed. `few`: where it is worse because of
    few of its tests.
    """

    health: Health
    counts: Counts
    others: Sequence[str]
    commits: int
    comparison: Comparison | None
    missing: Missing | None
    few: FewTests | None


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
    """A test whose failures a box explains, alone or in a group (`blame`). `comparison`: of this
    box with all others; `failed_on`: the boxes on which it ever failed. `note`: of the box, if it
    has one; `before`: so it was before the note.
    """

    __test__ = False  # pytest: not a test class

    product: Product
    test_id: str
    box_key: str
    comparison: Comparison
    blame: Blame[Side]
    failed_on: Collection[str]
    notes: Mapping[str, Note]
    before: bool = False

    @property
    def only(self) -> bool:
        """Whether it failed on this box alone."""
        return self.blame.blamed is Blamed.ONE and {*self.failed_on} <= {self.box_key}


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
    notes: Mapping[str, Note],
) -> Benches:
    """Return what the runs of a period say about boxes, `most` rows of each kind. `notes`: the
    latest one within the period of each box that has any.
    """
    read = read_runs(history.outcomes(scope, period), notes, history.check_time)
    compared = compared_boxes(read)
    order = _worst_first(read, compared)
    rows = [report_of(read, compared, shown) for shown in order[:most]]
    tests = named_tests(read)
    return Benches(rows, len(order), tests[:most], len(tests))


class Read(NamedTuple):
    """Runs as they are compared. `groups`: those that can be, each with the number of its product;
    `places`: those of each side; `boxes`: how many there are.
    """

    products: Sequence[Trials]
    groups: Sequence[tuple[int, Sequence[Trial]]]
    places: Mapping[Side, Sequence[tuple[Trials, int]]]
    strata: Strata
    boxes: int
    notes: Mapping[str, Note]
    check_time: Callable[[], None]


def read_runs(
    outcomes: Sequence[ProductOutcomes],
    notes: Mapping[str, Note],
    check_time: Callable[[], None],
) -> Read:
    """Return these runs as they are compared."""
    noted = {box: note.at for box, note in notes.items()}
    products = [Trials(outcome, check_time, noted) for outcome in outcomes]
    places = runs_by_side(products)
    strata = Strata.of(sorted(places, key=lambda side: (box_of(side), isinstance(side, str))))
    groups = [*_groups(products, check_time)]
    for product, group in groups:
        check_time()
        strata.add(product, group)
    strata.gather()
    boxes = len({*map(box_of, places)})
    return Read(products, groups, places, strata, boxes, notes, check_time)


def _groups(
    products: Sequence[Trials], check_time: Callable[[], None]
) -> Iterator[tuple[int, Sequence[Trial]]]:
    """Yield the runs that can be compared, each with the number of its product."""
    for number, product in enumerate(products):
        for trials in product.by_stratum.values():
            for group in alike(trials, check_time):
                yield number, group


def compared_boxes(read: Read) -> Mapping[int, Comparison]:
    """Return the comparison of each box that has what it takes, by the number of the box."""
    by_box = read.strata.by_box
    rows = comparable(by_box, read.boxes)
    if not len(rows):
        return {}
    chances = chances_of_boxes(read.strata, read.check_time)[rows]
    return dict(zip(rows.tolist(), compare(by_box[rows], chances), strict=True))


def named_tests(read: Read) -> list[TestOnBox]:
    """Return the tests that fail more on one box, the highest odds first, where that box explains
    their failures, alone or in a group. A comparison finds a test among many by what is rare among
    all; `blame.py` then weighs which boxes it is.
    """
    import numpy as np

    keys = [At(*key) for key in read.strata.by_test]
    rows = np.array([*read.strata.by_test.values()])
    wanted = comparable(rows, read.boxes)
    if not len(wanted):
        return []
    found = compare(rows[wanted], chances_by_curve(rows[wanted]))
    sides, named = [*read.strata.boxes], []
    for number, comparison in zip(wanted, found, strict=True):
        at = keys[number]
        if comparison.named:
            read.check_time()
            product = read.products[at.product]
            blame, side = product.blame_of(at.test), sides[at.box]
            if blame is not None and side in blame.boxes:
                tests = product.found
                named.append(
                    TestOnBox(
                        product=tests.product,
                        test_id=tests.tests[at.test],
                        box_key=box_of(side),
                        comparison=comparison,
                        blame=blame,
                        failed_on=product.failed_on(tests.tests[at.test]),
                        notes=read.notes,
                        before=isinstance(side, Earlier),
                    )
                )
    return sorted(
        named,
        key=lambda test: (-test.comparison.odds_ratio, test.product, test.test_id, test.box_key),
    )


def _trouble(products: Sequence[Trials]) -> Mapping[Side, float]:
    """Return the share of runs that never reached the board of each box, or lost it."""
    runs: Counter[Side] = Counter()
    bad: Counter[Side] = Counter()
    for product in products:
        for number, run in enumerate(product.found.runs):
            side = product.side_of(run)
            runs[side] += 1
            bad[side] += not run.hello_ok or number in product.lost
    return {side: bad[side] / runs[side] for side in runs}


def _worst_first(read: Read, compared: Mapping[int, Comparison]) -> list[Side]:
    """Return the boxes, each as it is since its note; one that did not run since, as before."""
    boxes, trouble = read.strata.boxes, _trouble(read.products)

    def key(side: Side) -> tuple[float, float, str]:
        found = compared.get(boxes[side])
        named = found.odds_ratio if found is not None and found.named else 0.0
        return -named, -trouble[side], box_of(side)

    return sorted(
        (side for side in boxes if isinstance(side, str) or box_of(side) not in boxes), key=key
    )


def report_of(read: Read, compared: Mapping[int, Comparison], side: Side) -> BoxReport:
    """Return the row of a box. `side`: since its note, or before it if nothing ran since."""
    box, figures = box_of(side), _figures(read, compared, side)
    before, note = Earlier(box), read.notes.get(box)
    if side == before:
        return BoxReport(box, figures, note, idle=True)
    earlier = _figures(read, compared, before) if before in read.places else None
    return BoxReport(box, figures, note, earlier)


def _figures(read: Read, compared: Mapping[int, Comparison], side: Side) -> Figures:
    number = read.strata.boxes[side]
    row = read.strata.by_box[number]
    found = compared.get(number)
    met = {box_of(one) for one, at in read.strata.boxes.items() if read.strata.met[number, at]}
    return Figures(
        health=health_of(read.places[side]),
        counts=counts_of(row),
        others=sorted(met - {box_of(side)}),
        commits=int(row[Sum.COMMITS]),
        comparison=found,
        missing=missing(row, read.boxes),
        few=_few(read, number) if found is not None and found.named else None,
    )


def _few(read: Read, box: int) -> FewTests | None:
    """Return the tests that two thirds of a box's failures are of, if they are few of those that
    failed there: half of them at most.
    """
    failed: Counter[str] = Counter()
    for at, row in ((At(*key), row) for key, row in read.strata.by_test.items()):
        if at.box == box and row[Sum.FAILED]:
            failed[read.products[at.product].found.tests[at.test]] += counts_of(row).failed
    worst = failed.most_common(FEW)
    for number, held in enumerate(accumulate(times for _, times in worst), start=1):
        if 3 * held >= 2 * failed.total():
            named = [name for name, _ in worst[:number]]
            return FewTests(named, held) if 2 * number <= len(failed) else None
    return None
