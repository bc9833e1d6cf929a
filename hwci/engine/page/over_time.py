# SPDX-License-Identifier: Apache-2.0
"""The metrics page over the slots of a period: the trend of the tiles, and flaky tests by box.

"Date basis: merges use `merged_at`; resolved failures use the start time of the first failing run;
flake rates and infra runs use each run's start time." What counts is decided in `reading.py` and
`rules/flakiness.py`, so the slots add up to the tiles and to the rows of the table.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import pairwise

from hwci.contract.flaky.flaky_history import BoxHistory, FlakyTestHistory, SlotAttempts
from hwci.contract.flaky.flaky_tests import FlakyTest
from hwci.contract.page.metrics import Trend, TrendSlot
from hwci.contract.scope import ProductKey
from hwci.contract.vocabulary import FailureClass
from hwci.engine.facts import Product, TestKey
from hwci.engine.history import BoxRuns, History, Listing, Notable, Scope
from hwci.engine.page.reading import Classified, read_classified
from hwci.engine.periods import Period, Slots
from hwci.engine.rules.flakiness import attempts_of, figures_of

BOXES_MAX = 50


Dates = Mapping[str, Sequence[datetime]]
"""The dates of all that the tiles count, each list in order, by the field of `TrendSlot`."""


def read_dates(
    history: History,
    scope: Scope,
    period: Period,
    resolved: Sequence[Classified] | None = None,
) -> Dates:
    """Date what the tiles of a scope and a period count. `resolved`: all resolved failures of the
    period, if they are read.
    """
    merges, kind = history.merges(scope, period), FailureClass.REAL_FW_BUG
    bugs = read_classified(history, scope, period, {kind}) if resolved is None else resolved
    runs = history.run_starts(scope, period)
    return {
        "merges_checked": sorted(merge.merged_at for merge, checked in merges if checked),
        "merges_announced": sorted(merge.merged_at for merge, _ in merges),
        "real_fw_bugs": sorted(row.episode.started_at for row in bugs if row.failure_class is kind),
        "flaky_failures": history.flaky_starts(scope, period),
        "infra_runs": runs.infra,
        "runs": runs.all,
    }


def counted(dates: Dates, slots: Slots) -> list[dict[str, int]]:
    """Count the dates of each slot."""
    counts = zip(*map(slots.counted, dates.values()), strict=True)
    return [dict(zip(dates, row, strict=True)) for row in counts]


def trend(dates: Dates, slots: Slots, product: ProductKey | None) -> Trend:
    """Return the counts of each slot."""
    return Trend(
        period=slots.period,
        product=product,
        slots=tuple(
            TrendSlot(start=start, end=end, **counts)
            for (start, end), counts in zip(
                pairwise(slots.edges()), counted(dates, slots), strict=True
            )
        ),
    )


def flaky_over_time(
    history: History, rows: Listing[FlakyTest], slots: Slots
) -> Listing[FlakyTestHistory]:
    """Return each test of a slice of "Flakiest tests" over time."""
    tests = [(Product(row.repo_key, row.suite), row.test_id) for row in rows.items]
    runs: dict[TestKey, dict[str, list[BoxRuns]]] = defaultdict(dict)
    for box_run in history.box_runs(tests, slots):
        runs[box_run.product, box_run.test_id].setdefault(box_run.box_key, []).append(box_run)
    items = []
    for product, test_id in tests:
        boxes = [_on_box(box, ran) for box, ran in sorted(runs[product, test_id].items())]
        items.append(
            FlakyTestHistory(
                repo_key=product.repo_key,
                suite=product.suite,
                test_id=test_id,
                slots=_slots(run for ran in runs[product, test_id].values() for run in ran),
                boxes=tuple(boxes[:BOXES_MAX]),
                boxes_total=len(boxes),
            )
        )
    return Listing(items, rows.total)


def _on_box(box_key: str, runs: Sequence[BoxRuns]) -> BoxHistory:
    notable = Notable(*map(sum, zip(*(run.notable for run in runs), strict=True)))
    figures = figures_of(sum(run.reports for run in runs), notable)
    return BoxHistory(box_key=box_key, slots=_slots(runs), **vars(figures))


def _slots(runs: Iterable[BoxRuns]) -> tuple[SlotAttempts, ...]:
    """Return the attempts of runs by slot, in order."""
    sums: dict[int, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for run in runs:
        attempts, failed = attempts_of(run.reports, *run.notable)
        before, failed_before = sums[run.slot]
        sums[run.slot] = before + attempts, failed_before + failed
    return tuple(
        SlotAttempts(slot=slot, attempts=attempts, failed_attempts=failed)
        for slot, (attempts, failed) in sorted(sums.items())
    )
