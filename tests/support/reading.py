# SPDX-License-Identifier: Apache-2.0
"""All tables of a period at once, as the routes of each read them: what tests compare."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from hwci.contract.flaky.flaky_tests import FlakyTest
from hwci.contract.runs.merges import Merge
from hwci.engine.history import Decision, Episode, History, Scope
from hwci.engine.page.reading import Classified, read_flakiest, read_merges, read_resolved
from hwci.engine.periods import Period
from hwci.server.storage.records import Decided


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
    merges = read_merges(history, scope, period)
    resolved = read_resolved(history, scope, period)
    tests = read_flakiest(history, scope, period)
    decided = [*history.decided.values()]
    return Reading(merges.unchecked, *resolved, tests, merges.checked, decided)


def noted(org_id: UUID, version: int, decided: Iterable[tuple[Episode, Decision]]) -> Decided:
    """Return what was decided about a history of this version, as a store keeps it."""
    notes = Decided(org_id, version)
    notes.update({episode.id: (episode, decision) for episode, decision in decided})
    return notes
