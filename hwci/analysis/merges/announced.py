# SPDX-License-Identifier: Apache-2.0
"""All announced merges, checked or not, each with the runs that checked it or tell why none did.
Which these are is decided by the rules (`engine/rules/merges.py`) and in `unchecked.py`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hwci.analysis.merges.unchecked import UncheckedCause, explain
from hwci.contract.vocabulary import MergeColumn
from hwci.engine.facts import Announcement
from hwci.engine.history import History, Listing, Scope, SightedRun
from hwci.engine.page.tables import Selection, checks_of, with_runs
from hwci.engine.periods import Period
from hwci.engine.rules.merges import in_order


@dataclass(frozen=True, slots=True)
class AnnouncedMerge:
    """A merge. `runs`: those that checked it, else those that tell its `cause`, the earliest first.
    `cause` None: a run checked it. `subject`: of its commit, if a run has it.
    """

    announcement: Announcement
    cause: UncheckedCause | None
    runs: Sequence[SightedRun]
    subject: str | None


def announced(
    history: History,
    scope: Scope,
    period: Period,
    selection: Selection[MergeColumn],
    visible: Callable[[str, Sequence[SightedRun]], Sequence[SightedRun]],
) -> Listing[AnnouncedMerge]:
    """Return the merges of a period, the newest first; of a box those with one of its runs.
    `visible`: those of the runs of a repository that may be told of.
    """
    merges = {one.announcement: one.checked for one in history.merges(scope, period)}

    def described(rows: Sequence[Announcement]) -> list[AnnouncedMerge]:
        checked = checks_of(history, [row for row in rows if merges[row]])
        unchecked = explain(history, [row for row in rows if not merges[row]])
        found: dict[Announcement, AnnouncedMerge] = {}
        for merge, runs, subject in checked:
            found[merge] = AnnouncedMerge(merge, None, visible(merge.repo_key, runs), subject)
        for row in unchecked:
            merge = row.announcement
            runs = visible(merge.repo_key, row.runs)
            found[merge] = AnnouncedMerge(merge, row.cause, runs, row.subject)
        return [found[row] for row in rows]

    return with_runs(in_order(merges), selection, described)
