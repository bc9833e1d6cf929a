# SPDX-License-Identifier: Apache-2.0
"""Flaky tests over time and boxes: where and when attempts failed (contract, "CI metrics").

This module decides how the runs of a test are laid out. Attempts are counted as in the table
"Flakiest tests", so that the slots of a test, of all its boxes whether shown or not, add
up to its row.
"""

from collections import defaultdict
from collections.abc import Iterable

from hwci.engine.answers import FlakyTest, Listing
from hwci.engine.dated import BoxRuns, DatedHistory
from hwci.engine.facts import Product
from hwci.engine.page.over_time import BoxStrip, Strip, StripSlot
from hwci.engine.rules.flakiness import attempts_of, failed_attempts_of
from hwci.engine.slots import Slots

BOXES_MAX = 50


def strips(history: DatedHistory, rows: Listing[FlakyTest], slots: Slots) -> Listing[Strip]:
    """Lay out the runs of each test in the slots of the rows' period."""
    tests = [(Product(row.repo_key, row.suite), row.test_id) for row in rows.items]
    runs: dict[tuple[Product, str], dict[str, list[BoxRuns]]] = defaultdict(dict)
    for one in history.box_runs(tests, slots):
        runs[one.product, one.test_id].setdefault(one.box_key, []).append(one)
    items = []
    for product, test_id in tests:
        boxes = [(box_key, _slots(ran)) for box_key, ran in sorted(runs[product, test_id].items())]
        shown = [BoxStrip(*box) for box in boxes[:BOXES_MAX]]
        merged = _merged(slot for _, of_box in boxes for slot in of_box)
        items.append(Strip(product, test_id, merged, shown, len(boxes)))
    return Listing(items, rows.total)


def _merged(slots: Iterable[StripSlot]) -> list[StripSlot]:
    sums: dict[int, StripSlot] = {}
    for at, attempts, failed in slots:
        before = sums.get(at, StripSlot(at, 0, 0))
        sums[at] = StripSlot(at, before.attempts + attempts, before.failed_attempts + failed)
    return [sums[at] for at in sorted(sums)]


def _slots(runs: Iterable[BoxRuns]) -> list[StripSlot]:
    return sorted(
        StripSlot(one.slot, attempts_of(one.reports, one.notable), failed_attempts_of(one.notable))
        for one in runs
    )
