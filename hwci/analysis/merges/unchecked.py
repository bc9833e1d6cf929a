# SPDX-License-Identifier: Apache-2.0
"""Why no run checked a merge: its one cause, and the run that shows it.

The causes are in one table, in order, and the first that fits is the cause (ADR 0009). Whether a
run checks a merge is a rule (`engine/rules/merges.py`); this module looks only at merges that none
did, and changes no count of them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from hwci.contract.runs.merges import ExplainedMerge, Merge
from hwci.contract.runs.runs import NEVER_REACHED
from hwci.contract.vocabulary import MergeColumn, UncheckedCause
from hwci.engine.history import History, Listing, SightedRun
from hwci.engine.page.merges import checking_run
from hwci.engine.page.tables import (
    Selection,
    shas_by_repository,
    sighted_runs_of,
    subjects_of,
    with_runs,
)
from hwci.engine.rules.merges import checks, is_of_product


@dataclass(frozen=True, slots=True)
class UncheckedMerge:
    """An unchecked merge and its cause. `runs`: those that tell it, the earliest first; of later
    runs only that one. `subject`: the first line of the commit's message, if a run has it.
    """

    merge: Merge
    cause: UncheckedCause
    runs: Sequence[SightedRun]
    subject: str | None


def unchecked_merges(
    history: History,
    merges: Sequence[Merge],
    selection: Selection[MergeColumn],
    visible: Callable[[str, Sequence[SightedRun]], Sequence[SightedRun]],
) -> Listing[ExplainedMerge]:
    """Return the selected ones of these unchecked merges, each with its cause. `visible`: those of
    the runs of a repository that may be told of.
    """

    def explained(some: Sequence[Merge]) -> list[UncheckedMerge]:
        return [
            replace(row, runs=visible(row.merge.repo_key, row.runs))
            for row in explain(history, some)
        ]

    listing = with_runs(merges, selection, explained)
    return Listing([_row(history, row) for row in listing.items], listing.total)


def _row(history: History, row: UncheckedMerge) -> ExplainedMerge:
    merge, cause = row.merge, CAUSES[row.cause]
    first_on: dict[str, SightedRun] = {}
    for run in row.runs:
        first_on.setdefault(run.box_key, run)
    runs = {box: checking_run(history, merge.repo_key, run) for box, run in first_on.items()}
    first = runs.pop(row.runs[0].box_key) if row.runs else None
    return ExplainedMerge(
        **vars(merge),
        cause=row.cause,
        cause_text=cause.text,
        to_do=cause.to_do,
        run=first,
        other_boxes=tuple(sorted(runs)),
        other_runs=tuple(runs[box] for box in sorted(runs)),
        subject=row.subject,
    )


def explain(history: History, merges: Sequence[Merge]) -> list[UncheckedMerge]:
    """Return the cause of each of these unchecked merges."""
    subjects, sighted = subjects_of(history, merges), sighted_runs_of(history, merges)
    # A run that names the commit of an unchecked merge is a cause: a later one is not asked for.
    unseen = [merge for merge in merges if (merge.repo_key, merge.sha) not in sighted]
    later = _later_runs(history, unseen)
    rows = []
    for merge in merges:
        commit = merge.repo_key, merge.sha
        case = _Unchecked(merge, sorted(sighted.get(commit, ())), later.get(commit, ()))
        rows.append(UncheckedMerge(merge, *_cause(case), subjects.get(commit)))
    return rows


class _Unchecked(NamedTuple):
    """An unchecked merge, and the runs that name its commit, the earliest first: as the commit that
    they tested, or in their push list. `later`: those whose changes list it, so that it was in the
    tree that they tested, in the order of the changes; none if a run names it.
    """

    merge: Merge
    runs: Sequence[SightedRun]
    later: Sequence[SightedRun]


def _cause(case: _Unchecked) -> tuple[UncheckedCause, Sequence[SightedRun]]:
    for cause, row in CAUSES.items():
        runs = [*row.told_by(case)]
        if runs:
            return cause, runs
    return UncheckedCause.NOTHING_RAN, ()


def _not_reached(case: _Unchecked) -> Iterator[SightedRun]:
    return (run for run in _of_product(case) if not run.sighting.hello_ok)


def _without_tests(case: _Unchecked) -> Iterator[SightedRun]:
    return (run for run in _of_product(case) if not run.sighting.has_tests)


def _of_product(case: _Unchecked) -> Iterator[SightedRun]:
    return (run for run in case.runs if is_of_product(run.sighting, case.merge))


def _of_another_product(case: _Unchecked) -> Iterator[SightedRun]:
    return (run for run in case.runs if not is_of_product(run.sighting, case.merge))


def _earliest_later(case: _Unchecked) -> Iterator[SightedRun]:
    """Yield the first run that would have checked it, had its push list named it."""
    return islice((run for run in case.later if checks(run.sighting, case.merge)), 1)


def _later_runs(
    history: History, merges: Sequence[Merge]
) -> Mapping[tuple[str, str], Sequence[SightedRun]]:
    """Return the runs whose changes list the commits of these merges, by repository and commit."""
    later = {}
    for repo_key, shas in shas_by_repository(merges).items():
        history.check_time()
        tested = history.tested_with(repo_key, shas)
        sighted = history.sighted_runs(
            repo_key, {sha for runs in tested.values() for sha, _ in runs}
        )
        for sha, runs in tested.items():
            later[repo_key, sha] = [
                run
                for tested_sha, ci_run_id in runs
                for run in sorted(sighted.get(tested_sha, ()))
                if (run.sha, run.ci_run_id) == (tested_sha, ci_run_id)
            ]
    return later


def _none(_: _Unchecked) -> Iterator[SightedRun]:
    return iter(())


class Row(NamedTuple):
    """A cause as people read it, what to do, and the runs that tell it."""

    text: str
    to_do: str
    told_by: Callable[[_Unchecked], Iterator[SightedRun]]


CAUSES = {
    UncheckedCause.HARDWARE_NOT_REACHED: Row(
        NEVER_REACHED,
        "The log of its CI job may say why. Make sure that a bench answers, then run it again:"
        " one run that reaches a board is enough",
        _not_reached,
    ),
    UncheckedCause.NO_TESTS: Row(
        "A run on it ran no test",
        "Mend the job or its result files, then run it again",
        _without_tests,
    ),
    UncheckedCause.OTHER_PRODUCT: Row(
        "Only another product ran on it",
        "Let CI start the suite of this product on such changes, or run it",
        _of_another_product,
    ),
    UncheckedCause.NOT_IN_PUSH_LIST: Row(
        "Tested only within a later commit, whose run does not list it in covers_shas",
        "If one push brought both commits, let CI list both in covers_shas; else run it by itself",
        _earliest_later,
    ),
    UncheckedCause.NOTHING_RAN: Row(
        "No run on it was reported",
        "Let CI start a run on each merge, or run it",
        _none,
    ),
}
"""The causes in the order in which they are tried."""
