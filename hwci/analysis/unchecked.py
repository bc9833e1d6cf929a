# SPDX-License-Identifier: Apache-2.0
"""Why no run checked a merge: the one cause of it, and the run that tells it.

The causes stand in one table, in order, and the first that fits is the cause (ADR 0072). Whether a
run checks a merge is a rule (`engine/rules/merges.py`); this module looks only at merges that none
did, and changes no count of them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from hwci.engine.facts import Announcement
from hwci.engine.history import History, SightedRun, Sighting
from hwci.engine.rules.merges import checks, is_of_product


class Cause(StrEnum):
    """Why a merge is unchecked."""

    HARDWARE_NOT_REACHED = "hardware_not_reached"
    NO_TESTS = "no_tests"
    OTHER_PRODUCT = "other_product"
    NOT_IN_PUSH_LIST = "not_in_push_list"
    NOTHING_RAN = "nothing_ran"


CAUSES = {
    Cause.HARDWARE_NOT_REACHED: "A run of it did not reach the hardware",
    Cause.NO_TESTS: "A run of it ran no test",
    Cause.OTHER_PRODUCT: "Only another product ran on it",
    Cause.NOT_IN_PUSH_LIST: "A later run tested it, but its push list does not name it",
    Cause.NOTHING_RAN: "Nothing ran on it",
}
"""The causes in the order in which they are tried, each as people read it."""

_OF_ITS_RUNS: tuple[tuple[Cause, Callable[[Sighting, Announcement], bool]], ...] = (
    (
        Cause.HARDWARE_NOT_REACHED,
        lambda run, merge: is_of_product(run, merge) and not run.hello_ok,
    ),
    (Cause.NO_TESTS, lambda run, merge: is_of_product(run, merge) and not run.has_tests),
    (Cause.OTHER_PRODUCT, lambda run, merge: not is_of_product(run, merge)),
)
"""The causes that a report tells which names the merge's commit as its own or in its push list."""


@dataclass(frozen=True, slots=True)
class Explained:
    """An unchecked merge and its cause. `run`: of the runs that tell it the earliest; None if
    nothing ran. `subject`: the first line of the commit's message, if a report told it.
    """

    announcement: Announcement
    cause: Cause
    run: SightedRun | None
    subject: str | None


def explain(history: History, merges: Sequence[Announcement]) -> list[Explained]:
    """Return the cause of each of these unchecked merges."""
    subjects = subjects_of(history, merges)
    found = []
    for merge in merges:
        history.check_time()
        cause, run = _cause(history, merge)
        found.append(Explained(merge, cause, run, subjects.get((merge.repo_key, merge.sha))))
    return found


def _cause(history: History, merge: Announcement) -> tuple[Cause, SightedRun | None]:
    runs = sorted(history.sighted_runs(merge.repo_key, merge.sha))
    for cause, tells in _OF_ITS_RUNS:
        for run in runs:
            if tells(run.sighting, merge):
                return cause, run
    later = next(_later_runs(history, merge), None)
    return (Cause.NOTHING_RAN, None) if later is None else (Cause.NOT_IN_PUSH_LIST, later)


def _later_runs(history: History, merge: Announcement) -> Iterator[SightedRun]:
    """Yield the runs whose changes list the commit, so that it was in the tree that they tested,
    and that would have checked it, had their push list named it. The order is that of the changes.
    """
    for listed in history.changes_listing(merge.repo_key, merge.sha):
        for run in sorted(history.sighted_runs(merge.repo_key, listed.sha)):
            is_same = (run.sha, run.ci_run_id) == (listed.sha, listed.ci_run_id)
            if is_same and checks(run.sighting, merge):
                yield run


def subjects_of(history: History, merges: Sequence[Announcement]) -> dict[tuple[str, str], str]:
    """Return the first lines of commit messages that reports told, by repository and commit."""
    found = {}
    for repo_key in {merge.repo_key for merge in merges}:
        shas = sorted({merge.sha for merge in merges if merge.repo_key == repo_key})
        for sha, changes in history.first_listing(repo_key, shas).items():
            subject = next(one.subject for one in changes.commits if one.sha == sha)
            if subject:
                found[repo_key, sha] = subject
    return found
