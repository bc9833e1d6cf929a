# SPDX-License-Identifier: Apache-2.0
"""All announced merges, checked or not, each with the runs that checked it or tell why none did.
Which these are is decided by the rules (`engine/rules/merges.py`) and in `unchecked.py`.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from hwci.analysis.merges.unchecked import CAUSES, explain
from hwci.contract.runs.merges import AnnouncedMerge, Merge
from hwci.contract.vocabulary import MergeColumn, UncheckedCause
from hwci.engine.history import History, Listing, Scope, SightedRun
from hwci.engine.page.merges import checking_run
from hwci.engine.page.tables import Selection, checks_of, with_runs
from hwci.engine.periods import Period
from hwci.engine.rules.merges import in_order


class _Told(NamedTuple):
    """A merge. `runs`: those that checked it, else those that tell its `cause`, the earliest first.
    `cause` None: a run checked it. `subject`: of its commit, if a run has it.
    """

    merge: Merge
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
    merges = dict(history.merges(scope, period))

    def described(rows: Sequence[Merge]) -> list[_Told]:
        checked = checks_of(history, [row for row in rows if merges[row]])
        unchecked = explain(history, [row for row in rows if not merges[row]])
        by_merge: dict[Merge, _Told] = {}
        for merge, runs, subject in checked:
            by_merge[merge] = _Told(merge, None, visible(merge.repo_key, runs), subject)
        for row in unchecked:
            merge = row.merge
            runs = visible(merge.repo_key, row.runs)
            by_merge[merge] = _Told(merge, row.cause, runs, row.subject)
        return [by_merge[row] for row in rows]

    listing = with_runs(in_order(merges), selection, described)
    return Listing([_row(history, row) for row in listing.items], listing.total)


def _row(history: History, row: _Told) -> AnnouncedMerge:
    merge, run = row.merge, next(iter(row.runs), None)
    return AnnouncedMerge(
        **vars(merge),
        subject=row.subject,
        checked=row.cause is None,
        run=None if run is None else checking_run(history, merge.repo_key, run),
        cause=row.cause,
        cause_text=None if row.cause is None else CAUSES[row.cause].text,
        boxes=tuple(dict.fromkeys(run.box_key for run in row.runs)),
    )
