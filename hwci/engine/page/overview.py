# SPDX-License-Identifier: Apache-2.0
"""The metrics page: the tiles, and the first rows of each table (spec, "Metrics page").

It shows what the whole tables of `reading.py` begin with, but asks for no more than that: what a
store has settled is counted and cut by the store, and only the rest is read and decided here.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from hwci.contract.flaky_tests import FlakyTest
from hwci.contract.vocabulary import FailureClass
from hwci.engine.facts import Announcement
from hwci.engine.history import Decision, Episode, History, Listing, ResolvedEpisodes, Scope
from hwci.engine.page.failures import ResolvedFailure, describe_rows
from hwci.engine.page.reading import (
    ClassCounts,
    Classified,
    Resolved,
    Tally,
    Tiles,
    classified,
    newest_first,
    resolved_of,
)
from hwci.engine.periods import Period
from hwci.engine.rules.flakiness import flakiest

_REAL = frozenset({FailureClass.REAL_FW_BUG})
_OTHER = frozenset(FailureClass) - _REAL
_TABLES = (_REAL, _OTHER)


@dataclass(frozen=True, slots=True)
class Page:
    """The metrics page: the tiles, and the first rows of each table."""

    tiles: Tiles
    unchecked_merges: Listing[Announcement]
    real_bugs: Listing[ResolvedFailure]
    other_failures: Listing[ResolvedFailure]
    flakiest_tests: Listing[FlakyTest]


def read_page(
    history: History,
    scope: Scope,
    period: Period,
    rows: int = 20,
    decided: list[tuple[Episode, Decision]] | None = None,
) -> Page:
    """Return the page with so many rows of each table. `decided`: as in `read_resolved`."""
    decided = [] if decided is None else decided
    bugs = _Resolved(history, history.resolved(scope, period, _TABLES, rows), decided, rows)
    real, other = bugs.first(_REAL), bugs.first(_OTHER)
    described = describe_rows(history, [*real.items, *other.items])
    tests = history.test_runs(scope, period)
    flakes = sum(test.flakes for test in tests)
    tiles = _tiles(history, scope, period, bugs.counts, flakes)
    unchecked = tiles.merges_checked.total - tiles.merges_checked.part
    return Page(
        tiles=tiles,
        unchecked_merges=Listing(history.newest_unchecked(scope, period, rows), unchecked),
        real_bugs=Listing(described[: len(real.items)], real.total),
        other_failures=Listing(described[len(real.items) :], other.total),
        flakiest_tests=Listing(flakiest(history, tests, rows), len(tests)),
    )


def read_tiles(history: History, scope: Scope, period: Period) -> Tiles:
    """Return the tiles of the page alone."""
    bugs = _Resolved(history, history.resolved(scope, period, ()), [], 0)
    return _tiles(history, scope, period, bugs.counts, history.flake_count(scope, period))


def _tiles(
    history: History,
    scope: Scope,
    period: Period,
    classes: Counter[FailureClass],
    flakes: int,
) -> Tiles:
    return Tiles(
        merges_checked=Tally(*history.merge_counts(scope, period)),
        real_fw_bugs=ClassCounts.of(classes),
        flaky_failures=flakes,
        infra_runs=Tally(*history.run_counts(scope, period)),
    )


class _Resolved:
    """The resolved failures of a period. `counts`: how many there are of each class."""

    def __init__(
        self,
        history: History,
        found: ResolvedEpisodes,
        decided: list[tuple[Episode, Decision]],
        rows: int,
    ) -> None:
        self._rows = rows
        self._read = classified(history, resolved_of(history, found.unsettled), decided)
        self.counts = Counter(one.failure_class for one in self._read)
        for failure_class, settled in found.settled.items():
            self.counts[failure_class] += settled.total
            alone = [Resolved(one, None) for one in settled.items]
            self._read += classified(history, alone, [])

    def first(self, classes: Collection[FailureClass]) -> Listing[Classified]:
        """Return the first rows of the table of these classes."""
        found = newest_first(one for one in self._read if one.failure_class in classes)
        return Listing(found[: self._rows], sum(self.counts[one] for one in classes))
