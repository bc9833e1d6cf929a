# SPDX-License-Identifier: Apache-2.0
"""The metrics page: the tiles, and the first rows of each table (spec, "Metrics page").

It shows what the whole tables of `reading.py` begin with, but asks for no more than that: what a
store has settled is counted and cut by the store, and only the rest is read and decided here.
"""

from collections import Counter
from collections.abc import Collection
from functools import partial

from hwci.contract.page.metrics import FlakyFailures, InfraRuns, MergesChecked, MetricsPage, Tiles
from hwci.contract.shape import ListPage
from hwci.contract.vocabulary import FailureClass
from hwci.engine.history import History, Listing, ResolvedEpisodes, Scope
from hwci.engine.page.failures import describe_rows
from hwci.engine.page.reading import (
    Classified,
    Resolved,
    bugs_by_class,
    classified,
    newest_first,
    resolved_of,
)
from hwci.engine.periods import Period
from hwci.engine.rules.flakiness import flakiest

_REAL = frozenset({FailureClass.REAL_FW_BUG})
_OTHER = frozenset(FailureClass) - _REAL
_TABLES = (_REAL, _OTHER)


def read_page(history: History, scope: Scope, period: Period, rows: int = 20) -> MetricsPage:
    """Return the page with so many rows of each table."""
    bugs = _Resolved(history, history.resolved(scope, period, _TABLES, rows), rows)
    real, other = bugs.first(_REAL), bugs.first(_OTHER)
    described = describe_rows(history, [*real.items, *other.items])
    tests = history.test_runs(scope, period)
    flakes = sum(test.flakes for test in tests)
    tiles = _tiles(history, scope, period, bugs.counts, flakes)
    unchecked = tiles.merges_checked.announced - tiles.merges_checked.checked
    first = partial(ListPage, page=1, limit=rows)
    return MetricsPage(
        period=period,
        product=scope.product,
        tiles=tiles,
        unchecked_merges=first(
            items=tuple(history.newest_unchecked(scope, period, rows)),
            total=unchecked,
        ),
        real_bugs=first(items=tuple(described[: len(real.items)]), total=real.total),
        other_failures=first(items=tuple(described[len(real.items) :]), total=other.total),
        flakiest_tests=first(items=tuple(flakiest(history, tests, rows)), total=len(tests)),
    )


def read_tiles(history: History, scope: Scope, period: Period) -> Tiles:
    """Return the tiles of the page alone."""
    bugs = _Resolved(history, history.resolved(scope, period, ()), 0)
    return _tiles(history, scope, period, bugs.counts, history.flake_count(scope, period))


def _tiles(
    history: History,
    scope: Scope,
    period: Period,
    classes: Counter[FailureClass],
    flakes: int,
) -> Tiles:
    checked, announced = history.merge_counts(scope, period)
    infra, total = history.run_counts(scope, period)
    return Tiles(
        merges_checked=MergesChecked(checked=checked, announced=announced),
        real_fw_bugs=bugs_by_class(classes),
        flaky_failures=FlakyFailures(count=flakes),
        infra_runs=InfraRuns(infra=infra, total=total),
    )


class _Resolved:
    """The resolved failures of a period. `counts`: how many there are of each class."""

    def __init__(self, history: History, episodes: ResolvedEpisodes, rows: int) -> None:
        self._rows = rows
        self._read = classified(history, resolved_of(history, episodes.unsettled))
        self.counts = Counter(row.failure_class for row in self._read)
        for failure_class, settled in episodes.settled.items():
            self.counts[failure_class] += settled.total
            alone = [Resolved(episode, None) for episode in settled.items]
            self._read += classified(history, alone)

    def first(self, classes: Collection[FailureClass]) -> Listing[Classified]:
        """Return the first rows of the table of these classes."""
        rows = newest_first(row for row in self._read if row.failure_class in classes)
        total = sum(self.counts[failure_class] for failure_class in classes)
        return Listing(rows[: self._rows], total)
