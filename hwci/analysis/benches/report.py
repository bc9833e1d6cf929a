# SPDX-License-Identifier: Apache-2.0
"""The whole answer about boxes: each against the others, the tests that fail on one of them, and
how each fares; where people noted what they did to a box, before and since. This module puts it
together and decides which rows are shown.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import accumulate, chain
from typing import TYPE_CHECKING, NamedTuple

from hwci.analysis.benches import words
from hwci.analysis.benches.blame import Blamed
from hwci.analysis.benches.compare import (
    chances_by_curve,
    chances_of_boxes,
    comparable,
    compare,
    counts_of,
    missing,
)
from hwci.analysis.benches.health import health_of, runs_by_side
from hwci.analysis.benches.strata import Strata, Sum
from hwci.analysis.benches.trials import Earlier, Side, Trials, alike, box_of
from hwci.contract.boxes.benches import Benches, BoxFigures, BoxHealth, Counts, TestOnBox

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from hwci.analysis.outcomes import ProductOutcomes, RecordedRuns
    from hwci.contract.boxes.benches import Comparison, Note
    from hwci.engine.history import Scope
    from hwci.engine.periods import Period


FEW = 3
"""So many tests at most are named where most failures of a box are theirs."""
LOST_RUNS = 5
"""So many runs of a box that lost their board are named."""


class At(NamedTuple):
    """The numbers of a product, of a test of it and of a box."""

    product: int
    test: int
    box: int


class KnownOfBoxes(NamedTuple):
    """What is known of boxes beside their runs. `notes`: the latest one within the period of each
    box that has any; `seen`: when each last sent a heartbeat, if that was by the end of the period.
    """

    notes: Mapping[str, Note]
    seen: Mapping[str, datetime]


def benches(
    history: RecordedRuns,
    scope: Scope,
    period: Period,
    most: int,
    known: KnownOfBoxes,
) -> Benches:
    """Return what the runs of a period say about boxes, `most` rows of each kind."""
    read = read_runs(history.outcomes(scope, period), known, history.check_time)
    compared = compared_boxes(read)
    order = worst_first(read, compared)
    tests = named_tests(read)
    return Benches(
        period=period,
        product=scope.product,
        boxes=tuple(box_health(read, compared, side) for side in order[:most]),
        boxes_total=len(order),
        tests=tuple(tests[:most]),
        tests_total=len(tests),
    )


class Read(NamedTuple):
    """Runs as they are compared. `places`: those of each side; `boxes`: how many there are."""

    products: Sequence[Trials]
    places: Mapping[Side, Sequence[tuple[Trials, int]]]
    strata: Strata
    boxes: int
    known: KnownOfBoxes
    check_time: Callable[[], None]


def read_runs(
    outcomes: Sequence[ProductOutcomes],
    known: KnownOfBoxes,
    check_time: Callable[[], None],
) -> Read:
    """Return these runs as they are compared."""
    noted = {box: note.at for box, note in known.notes.items()}
    products = [Trials(outcome, check_time, noted) for outcome in outcomes]
    places = runs_by_side(products)
    strata = Strata.of(sorted(places, key=lambda side: (box_of(side), isinstance(side, str))))
    for number, product in enumerate(products):
        groups = (alike(trials, check_time) for trials in product.by_stratum.values())
        strata.add(number, chain.from_iterable(groups), check_time)
    boxes = len({*map(box_of, places)})
    return Read(products, places, strata, boxes, known, check_time)


def compared_boxes(read: Read) -> Mapping[int, Comparison]:
    """Return the comparison of each box that has what it takes, by the number of the box."""
    by_box = read.strata.by_box
    rows = comparable(by_box, read.boxes)
    if not len(rows):
        return {}
    chances = chances_of_boxes(read.strata, read.check_time)[rows]
    return dict(zip(rows.tolist(), compare(by_box[rows], chances), strict=True))


def named_tests(read: Read, box_key: str | None = None) -> list[TestOnBox]:
    """Return the tests that fail more on one box, the highest odds first, where that box explains
    their failures, alone or in a group. A comparison finds a test among many by what is rare among
    all; `blame.py` then weighs which boxes it is. `box_key`: only those of this box.
    """
    rows = read.strata.by_test
    wanted = comparable(rows, read.boxes)
    if not len(wanted):
        return []
    compared = compare(rows[wanted], chances_by_curve(rows[wanted]))
    sides, named = [*read.strata.boxes], []
    for number, comparison in zip(wanted, compared, strict=True):
        at = At(*read.strata.keys[number].tolist())
        side = sides[at.box]
        if comparison.named and box_key in (None, box_of(side)):
            read.check_time()
            test = _explained(read, at, side, comparison)
            named += [] if test is None else [test]
    return sorted(
        named,
        key=lambda test: (
            *(-test.comparison.odds_ratio, test.repo_key, test.suite),
            *(test.test_id, test.box_key),
        ),
    )


def _explained(read: Read, at: At, side: Side, comparison: Comparison) -> TestOnBox | None:
    """Return a test, if this box explains its failures."""
    trials = read.products[at.product]
    blame = trials.blame_of(at.test)
    if blame is None or side not in blame.boxes:
        return None
    product, box_key = trials.found.product, box_of(side)
    test_id = trials.found.tests[at.test]
    failed_on = trials.failed_on(at.test)
    counts, others = blame.counts, blame.others_counts
    return TestOnBox(
        repo_key=product.repo_key,
        suite=product.suite,
        test_id=test_id,
        box_key=box_key,
        boxes=tuple(map(box_of, blame.boxes)),
        only=blame.blamed is Blamed.ONE and {*failed_on} <= {box_key},
        before=isinstance(side, Earlier),
        says=words.of_blame(blame, failed_on, read.known.notes),
        counts=Counts(
            failed=counts.failed,
            results=counts.runs,
            others_failed=others.failed,
            others_results=others.runs,
        ),
        comparison=comparison,
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


def worst_first(read: Read, compared: Mapping[int, Comparison]) -> list[Side]:
    """Return the boxes, each as it is since its note; one that did not run since, as before."""
    boxes, trouble = read.strata.boxes, _trouble(read.products)

    def key(side: Side) -> tuple[float, float, str]:
        comparison = compared.get(boxes[side])
        odds = comparison.odds_ratio if comparison is not None and comparison.named else 0.0
        return -odds, -trouble[side], box_of(side)

    return sorted(
        (side for side in boxes if isinstance(side, str) or box_of(side) not in boxes), key=key
    )


def box_health(read: Read, compared: Mapping[int, Comparison], side: Side) -> BoxHealth:
    """Return the row of a box. `side`: since its note, or before it if nothing ran since."""
    box_key, figures = box_of(side), figures_of(read, compared, side)
    earlier, note = Earlier(box_key), read.known.notes.get(box_key)
    idle, before = side == earlier, None
    if not idle and earlier in read.places:
        before = figures_of(read, compared, earlier)
    if note is not None:
        about = words.of_note(note, figures, before, idle=idle)
        figures = replace(figures, says=about.text, answer=about.answer, evidence=about.evidence)
    return BoxHealth(
        **vars(figures),
        box_key=box_key,
        note=note,
        before=before,
        idle=idle,
        last_seen_at=read.known.seen.get(box_key),
    )


def figures_of(
    read: Read, compared: Mapping[int, Comparison], side: Side, noun: str = "box"
) -> BoxFigures:
    """Return what is known of a side. `noun`: what sides are called."""
    number = read.strata.boxes[side]
    row = read.strata.by_box[number]
    comparison, health = compared.get(number), health_of(read.places[side])
    met = {box_of(other) for other, at in read.strata.boxes.items() if read.strata.met[number, at]}
    against = words.Against(
        counts=counts_of(row),
        others=sorted(met - {box_of(side)}),
        commits=int(row[Sum.COMMITS]),
        comparison=comparison,
        missing=missing(row, read.boxes),
        few=_few(read, number) if comparison is not None and comparison.named else None,
        noun=noun,
    )
    about = words.of_figures(against)
    return BoxFigures(
        says=about.text,
        answer=about.answer,
        evidence=about.evidence,
        counts=against.counts,
        commits=against.commits,
        comparison=comparison,
        missing=against.missing,
        never_reached=health.unreached,
        lost_board=health.lost,
        lost_runs=tuple(health.lost_runs[-LOST_RUNS:][::-1]),
        board_seconds=health.board_time.total_seconds(),
        last_run_at=health.last_run_at,
        last_clean_run_at=health.last_clean_at,
    )


def _few(read: Read, box: int) -> words.FewTests | None:
    """Return the tests that two thirds of a box's failures are of, if they are few of those that
    failed there: half of them at most.
    """
    failed: Counter[str] = Counter()
    keys, failures = read.strata.keys, read.strata.by_test[:, Sum.FAILED]
    own = (keys[:, At._fields.index("box")] == box) & (failures > 0)
    for key, times in zip(keys[own].tolist(), failures[own].tolist(), strict=True):
        at = At(*key)
        failed[read.products[at.product].found.tests[at.test]] += round(times)
    worst = failed.most_common(FEW)
    for number, held in enumerate(accumulate(times for _, times in worst), start=1):
        if 3 * held >= 2 * failed.total():
            named = [name for name, _ in worst[:number]]
            return words.FewTests(named, held) if 2 * number <= len(failed) else None
    return None
