# SPDX-License-Identifier: Apache-2.0
"""The questions of when: what a period holds, told by its instants.

Asked for what is drawn over time alone; a page without a drawing asks none of them. As with
`history.py`, `full.FullHistory` is the definition that every store's answers must equal.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol
from uuid import UUID

from hwci.engine.facts import Product
from hwci.engine.history import History, ItemGroup, Period, Scope
from hwci.engine.rules.flakiness import TestKey
from hwci.engine.slots import Slots


class RunStarts(NamedTuple):
    """Starts of the run reports of a period, parts after the first left out, each list in order:
    of those lost to the bench, and of all.
    """

    infra: Sequence[datetime]
    all: Sequence[datetime]


class BoxRuns(NamedTuple):
    """One test on one box over the `hello_ok` reports of one slot. `notable` holds exactly the
    items that are not a pass at the first attempt.
    """

    product: Product
    test_id: str
    box_key: str
    slot: int
    reports: int
    notable: tuple[ItemGroup, ...]


class DatedHistory(History, Protocol):
    """A history that can tell when."""

    def run_starts(self, scope: Scope, period: Period) -> RunStarts:
        """Starts of the run reports that `run_counts` counts."""

    def failing_starts(
        self, scope: Scope, period: Period, failures: Collection[UUID]
    ) -> Sequence[datetime]:
        """Start of each failing item in the period of these failures, in order."""

    def box_runs(self, tests: Collection[TestKey], slots: Slots) -> Sequence[BoxRuns]:
        """What these tests did by box and slot, in any order; nothing where none ran."""
