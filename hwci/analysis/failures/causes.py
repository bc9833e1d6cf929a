# SPDX-License-Identifier: Apache-2.0
"""Causes: resolved failures, those that one commit broke and one fixed as one.

They are failures of the specification's two tables, so that the sizes of all causes sum up to
what the tiles count. `incidents.py` says what failures of one cause have in common.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from hwci.analysis.failures.incidents import CauseKey, Ends, cause_of
from hwci.engine.history import History
from hwci.engine.page.failures import ResolvedFailure, describe_rows
from hwci.engine.page.reading import Classified
from hwci.engine.page.tables import RESOLVED, matching
from hwci.engine.vocabulary import FailureClass, Verdict

_TO_REVIEW = (FailureClass.AMBIGUOUS, FailureClass.REAL_FW_BUG, FailureClass.BENCH_OR_HARNESS)
"""The classes in the order in which people review them: the checks could not decide the first."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Resolved failures with one cause, the first to fail first."""

    failures: tuple[ResolvedFailure, ...]

    @property
    def tests(self) -> int:
        """How many tests failed."""
        return len({one.key.lane.test_id for one in self.failures})

    @property
    def boxes(self) -> int:
        """On how many boxes something of it failed."""
        return len({one.key.lane.box_key for one in self.failures})


def causes(history: History, rows: Sequence[Classified], search: str | None = None) -> list[Cause]:
    """Return the causes of these failures, the newest first. `search`: those with a failure that
    the tables would find by these words, each with all its failures.
    """
    found = {one.episode.key for one in matching(rows, search, RESOLVED.texts)}
    together: dict[CauseKey, list[ResolvedFailure]] = defaultdict(list)
    for row in describe_rows(history, rows) if found else ():
        ends = Ends(row.label, row.fix and row.fix.sha, row.verdict is Verdict.INFRA)
        together[cause_of(row.key, ends, row.broken_by)].append(row)
    members = [one for one in together.values() if not found.isdisjoint(row.key for row in one)]
    return [Cause(tuple(reversed(one))) for one in members]


def to_review(found: Sequence[Cause]) -> list[Cause]:
    """Return causes in the order in which people review them: with an ambiguous failure first, and
    of these the one that settles most failures.
    """
    return sorted(
        found,
        key=lambda one: (
            min(_TO_REVIEW.index(row.shown.failure_class) for row in one.failures),
            -len(one.failures),
        ),
    )
