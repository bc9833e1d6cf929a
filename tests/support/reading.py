# SPDX-License-Identifier: Apache-2.0
"""All tables of a period at once, as the routes of each read them: what tests compare."""

from collections.abc import Sequence
from dataclasses import dataclass

from hwci.contract.flaky.flaky_tests import FlakyTest
from hwci.contract.runs.merges import Merge
from hwci.engine.history import Decision, Episode, History, Scope
from hwci.engine.page.reading import Classified, read_flakiest, read_merges, read_resolved
from hwci.engine.periods import Period


@dataclass(frozen=True, slots=True)
class Reading:
    """The whole tables of a scope and period. `decided`: what was decided for it, as no store kept
    it.
    """

    unchecked_merges: Sequence[Merge]
    real_bugs: Sequence[Classified]
    other_failures: Sequence[Classified]
    flakiest_tests: Sequence[FlakyTest]
    checked_merges: Sequence[Merge]
    decided: Sequence[tuple[Episode, Decision]]


def read_period(history: History, scope: Scope, period: Period) -> Reading:
    """Read and decide all tables of a scope and a period."""
    decided: list[tuple[Episode, Decision]] = []
    merges = read_merges(history, scope, period)
    resolved = read_resolved(history, scope, period, decided)
    tests = read_flakiest(history, scope, period)
    return Reading(merges.unchecked, *resolved, tests, merges.checked, decided)
