# SPDX-License-Identifier: Apache-2.0
"""The metrics page: the tiles, and the first rows of each table (spec, "Metrics page").

It shows what the whole tables of `reading.py` begin with, but asks for no more than that: what a
store has settled is counted and cut by the store, and only the rest is read and decided here.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from hwci.engine.facts import Announcement
from hwci.engine.history import Decision, Episode, History, Listing, Scope
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
from hwci.engine.rules.flakiness import FlakyTest, flakiest
from hwci.engine.vocabulary import FailureClass

_REAL = frozenset({FailureClass.REAL_FW_BUG})
_OTHER = frozenset(FailureClass) - _REAL


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
    """Return the page with so many rows of each table. `decided`: as in `read_period`."""
    merges = history.merge_counts(scope, period)
    bugs = _Resolved(history, scope, period, [] if decided is None else decided)
    real, other = bugs.first(_REAL, rows), bugs.first(_OTHER, rows)
    described = describe_rows(history, [*real.items, *other.items])
    flaky = history.flaky_items(scope, period)
    tests = flakiest(history.test_runs(scope, period), flaky)
    return Page(
        tiles=Tiles(
            merges_checked=Tally(*merges),
            real_fw_bugs=ClassCounts.of(bugs.counts.elements()),
            flaky_failures=sum(flaky.values()),
            infra_runs=Tally(*history.run_counts(scope, period)),
        ),
        unchecked_merges=Listing(
            history.newest_unchecked(scope, period, rows), merges.total - merges.checked
        ),
        real_bugs=Listing(described[: len(real.items)], real.total),
        other_failures=Listing(described[len(real.items) :], other.total),
        flakiest_tests=Listing(tests[:rows], len(tests)),
    )


class _Resolved:
    """The resolved failures of a period. `counts`: how many there are of each class."""

    def __init__(
        self,
        history: History,
        scope: Scope,
        period: Period,
        decided: list[tuple[Episode, Decision]],
    ) -> None:
        self._asked = scope, period
        self._history = history
        unsettled = resolved_of(history, history.unsettled(scope, period))
        self._read = classified(history, unsettled, decided)
        self.counts = Counter(history.settled_counts(scope, period))
        self.counts.update(one.failure_class for one in self._read)

    def first(self, classes: Collection[FailureClass], rows: int) -> Listing[Classified]:
        """Return the first rows of the table of these classes."""
        read = [one for one in self._read if one.failure_class in classes]
        settled = self._history.settled(*self._asked, classes, rows)
        found = newest_first([*read, *self._of(settled)])
        return Listing(found[:rows], sum(self.counts[one] for one in classes))

    def _of(self, settled: Sequence[Episode]) -> Sequence[Classified]:
        return classified(self._history, [Resolved(one, None) for one in settled], [])
