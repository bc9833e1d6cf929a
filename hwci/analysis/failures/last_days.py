# SPDX-License-Identifier: Apache-2.0
"""What the tests of an incident did on each of the last fourteen days (semantics, 17.5).

It reads runs that are there already. Which failures are an incident is decided in `incidents.py`.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta

from hwci.analysis.outcomes import ProductOutcomes, RunOutcomes
from hwci.contract.vocabulary import Outcome
from hwci.engine.periods import Period

DAYS_MAX = 14
_LETTERS = {(): "-", (True,): "p", (False,): "f", (False, True): "b"}
"""By whether results of the day passed, sorted."""


def last_day(period: Period) -> date:
    """Return the day of UTC on which a period ends."""
    return period.end.astimezone(UTC).date()


class LastDays:
    """The last days of a period in the runs of a product."""

    def __init__(self, product: ProductOutcomes, period: Period) -> None:
        self._days = min(DAYS_MAX, period.days + 1)
        self._last = last_day(period)
        self._numbers = {name: number for number, name in product.tests.items()}
        self._runs: Mapping[tuple[str, str], list[RunOutcomes]] = defaultdict(list)
        midnight = datetime.combine(self._last, time(), UTC)
        oldest = midnight - timedelta(days=self._days - 1)
        first = bisect_left(product.runs, oldest, key=lambda run: run.started_at)
        for run in product.runs[first:]:
            if run.hello_ok:
                self._runs[run.branch, run.box_key].append(run)

    def letters(self, branch: str, boxes: Collection[str], tests: Sequence[str]) -> str:
        """Return a letter a day, the oldest first, of what tests did on these boxes."""
        numbers = {self._numbers[name] for name in tests if name in self._numbers}
        wanted = sum(1 << number for number in numbers)
        did: list[set[bool]] = [set() for _ in range(self._days)]
        for run in (run for box in boxes for run in self._runs.get((branch, box), ())):
            day = did[-1 - self._back(run.started_at)]
            failed = sum(
                1 << number
                for number in numbers & run.notable.keys()
                if run.notable[number].outcome is Outcome.FAIL
            )
            ran = run.ran & wanted
            day |= {True} if ran & ~failed else set()
            day |= {False} if ran & failed else set()
        return "".join(_LETTERS[tuple(sorted(day))] for day in did)

    def _back(self, at: datetime) -> int:
        return (self._last - at.astimezone(UTC).date()).days
